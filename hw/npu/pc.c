/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PC block: fetches register programs, walks tasks, raises interrupts.
 *
 * A command word, 64 bits, little endian:
 *   [15:0] register offset   [47:16] value   [63:48] target: one block bit, bit 0 set for a write
 * A program ends at the word 0x0081:0x0008 = unit mask, wherever that is: drivers ask for up to
 * four words more than a program has, and what lies behind the end is not executed.
 *
 *   OPERATION_ENABLE = 1 -> program at BASE_ADDRESS -> unit mask -> task -> counter + 1
 *        counter < TASK_NUMBER: the program that the last one named (0x10, 0x14), and so on
 *        else: raw status bit of the block that finishes the last task
 *
 * TASK_NUMBER ends the walk, never the end of the chain: drivers submit one task of a longer chain.
 * A named address serves once; the amount stays until overwritten. A next address of 0 before
 * TASK_NUMBER is reached leaves the job hanging, as on boards.
 *
 * Facts: RK3588 TRM Part 1 chapter 36; Linux drivers/accel/rocket; Rockchip's rknpu driver 0.9.8;
 * streams of Rockchip's runtime. docs/hardware-notes.md names the sources of each rule.
 */
#include <string.h>
#include "core.h"

#define TARGET_WRITE 0x0001u   /* bit 0 of a target; alone it fills a gap in a program */
#define TARGET_BARRIER 0x0041u /* orders the enable behind the writes; writes are in order here */
#define TARGET_ENABLE 0x0081u

#define RAW_DMA_READ_ERROR RKNPU_MASK(PC_INTERRUPT_RAW_STATUS__DMA_READ_ERROR)
#define RAW_DMA_WRITE_ERROR RKNPU_MASK(PC_INTERRUPT_RAW_STATUS__DMA_WRITE_ERROR)
#define UNITS_KNOWN 0x7du

/* --- Registers --- */

static uint32_t task_number(const RknpuCore *core)
{
    return core->state.pc[core->npu->chip->task_con / 4] &
           ((1u << core->npu->chip->task_number_bits) - 1);
}

/* TASK_PP_EN and TASK_COUNT_CLEAR follow the task number. */
static uint32_t task_count_clear(const RknpuChip *chip)
{
    return 1u << (chip->task_number_bits + 1);
}

static uint32_t task_status(const RknpuCore *core)
{
    uint32_t bits = core->npu->chip->task_number_bits;

    return core->npu->map.pc[core->npu->chip->task_status / 4].reset |
           (core->state.job_tasks_done & ((1u << bits) - 1));
}

uint32_t rknpu_pc_read(const RknpuCore *core, uint32_t offset)
{
    const RknpuCoreState *state = &core->state;

    switch (offset) {
    case RKNPU_PC_VERSION:
        return core->npu->chip->version;
    case RKNPU_PC_VERSION_NUM:
        return core->npu->chip->version_num;
    case RKNPU_PC_INTERRUPT_CLEAR:
        return 0;
    case RKNPU_PC_INTERRUPT_STATUS:
        return state->raw_status & state->pc[RKNPU_PC_WORD(INTERRUPT_MASK)];
    case RKNPU_PC_INTERRUPT_RAW_STATUS:
        return state->raw_status;
    default:
        if (offset == core->npu->chip->task_status) {
            return task_status(core);
        }
        return offset / 4 < RKNPU_PC_WORDS ? state->pc[offset / 4] : 0;
    }
}

static void start_job(RknpuCore *core)
{
    RknpuCoreState *state = &core->state;

    state->job_active = 1;
    state->job_stalled = 0;
    state->job_tasks_total = task_number(core);
    core->job_notes = 0;
    core->unimp_seen = false;
    core->job_new = true;
    g_cond_signal(&core->work);
}

static void write_enable(RknpuCore *core, uint32_t value, RknpuNotes *notes)
{
    RknpuCoreState *state = &core->state;
    uint32_t base = state->pc[RKNPU_PC_WORD(BASE_ADDRESS)];

    state->pc[RKNPU_PC_WORD(OPERATION_ENABLE)] = value & RKNPU_MASK(PC_OPERATION_ENABLE__OP_EN);
    if (!(value & RKNPU_MASK(PC_OPERATION_ENABLE__OP_EN))) {
        return; /* never stops a job: Rockchip's driver writes 1 and at once 0 */
    }
    if (state->job_active) {
        rknpu_note(core, notes, RKNPU_EVENT_GUEST_ERROR, RKNPU_PC_OPERATION_ENABLE, value,
                   "written while a job runs; ignored");
    } else if (base & RKNPU_MASK(PC_BASE_ADDRESS__PC_SEL)) {
        rknpu_note(core, notes, RKNPU_EVENT_GUEST_ERROR, RKNPU_PC_OPERATION_ENABLE, value,
                   "written while BASE_ADDRESS selects the CPU as source of registers; ignored");
    } else {
        state->job_by_host = 0;
        state->job_address = base & RKNPU_MASK(PC_BASE_ADDRESS__PC_SOURCE_ADDR);
        state->job_amount = state->pc[RKNPU_PC_WORD(REGISTER_AMOUNTS)];
        start_job(core);
    }
}

void rknpu_pc_global_enable(RknpuCore *core, uint32_t units, RknpuNotes *notes)
{
    RknpuCoreState *state = &core->state;

    state->global_enable = units & UNITS_KNOWN;
    if (!(units & UNITS_KNOWN)) {
        return;
    }
    if (state->job_active) {
        rknpu_note(core, notes, RKNPU_EVENT_GUEST_ERROR, core->npu->chip->global_enable, units,
                   "written while a job runs; ignored");
    } else if (!(state->pc[RKNPU_PC_WORD(BASE_ADDRESS)] & RKNPU_MASK(PC_BASE_ADDRESS__PC_SEL))) {
        rknpu_note(core, notes, RKNPU_EVENT_GUEST_ERROR, core->npu->chip->global_enable, units,
                   "written while BASE_ADDRESS selects programs as source of registers; ignored");
    } else {
        state->job_by_host = 1;
        state->job_address = 0;
        state->job_amount = 0;
        start_job(core);
        state->job_tasks_total = 1;
        state->job_tasks_done = 0;
    }
}

static void write_task_con(RknpuCore *core, uint32_t offset, uint32_t value, RknpuNotes *notes)
{
    uint32_t clear = task_count_clear(core->npu->chip);

    core->state.pc[offset / 4] = value & core->npu->map.pc[offset / 4].bits & ~clear;
    if (!(value & clear)) {
        return;
    }
    if (core->state.job_active) {
        rknpu_note(core, notes, RKNPU_EVENT_GUEST_ERROR, offset, value,
                   "clears the counter of a running job; ignored");
    } else {
        core->state.job_tasks_done = 0;
    }
}

void rknpu_pc_write(RknpuCore *core, uint32_t offset, uint32_t value, RknpuNotes *notes)
{
    const RknpuWord *info = offset / 4 < RKNPU_PC_WORDS ? &core->npu->map.pc[offset / 4] : NULL;

    if (!info || !info->known) {
        rknpu_note(core, notes, RKNPU_EVENT_UNIMP, offset, value, "written");
        return;
    }
    if (offset == core->npu->chip->task_status) {
        rknpu_note(core, notes, RKNPU_EVENT_GUEST_ERROR, offset, value, "is read only");
        return;
    }
    switch (offset) {
    case RKNPU_PC_VERSION:
    case RKNPU_PC_VERSION_NUM:
    case RKNPU_PC_INTERRUPT_STATUS:
    case RKNPU_PC_INTERRUPT_RAW_STATUS:
        rknpu_note(core, notes, RKNPU_EVENT_GUEST_ERROR, offset, value, "is read only");
        break;
    case RKNPU_PC_OPERATION_ENABLE:
        write_enable(core, value, notes);
        break;
    case RKNPU_PC_INTERRUPT_CLEAR:
        core->state.raw_status &= ~value;
        break;
    default:
        if (offset == core->npu->chip->task_con) {
            write_task_con(core, offset, value, notes);
        } else {
            core->state.pc[offset / 4] = value & info->bits;
        }
        break;
    }
}

/* --- Decoding --- */

/* What a chunk of command words came to. */
typedef enum Decoded {
    DECODED_MORE, /* no enable word yet */
    DECODED_END,
} Decoded;

/* The target that belongs to the block of an offset, or 0. */
static uint32_t target_of(uint32_t offset)
{
    static const uint16_t targets[16] = {
        [0] = 0x0101, [1] = 0x0201, [3] = 0x0801, [4] = 0x1001, [5] = 0x2001, [6] = 0x4001,
        [7] = 0x8001,
    };

    return targets[(offset >> 12) & 15];
}

/* Programs may name the next program; everything else of the PC belongs to the CPU. */
static void write_pc_from_program(RknpuCore *core, uint32_t offset, uint32_t value,
                                  RknpuNotes *notes)
{
    RknpuCoreState *state = &core->state;

    switch (offset) {
    case RKNPU_PC_BASE_ADDRESS:
        state->job_address = value & RKNPU_MASK(PC_BASE_ADDRESS__PC_SOURCE_ADDR);
        state->pc[RKNPU_PC_WORD(BASE_ADDRESS)] = state->job_address;
        break;
    case RKNPU_PC_REGISTER_AMOUNTS:
        state->job_amount = value;
        state->pc[RKNPU_PC_WORD(REGISTER_AMOUNTS)] = value;
        break;
    default:
        rknpu_note(core, notes, RKNPU_EVENT_GUEST_ERROR, offset, value,
                   "cannot be written by a program; ignored");
        break;
    }
}

static void write_from_program(RknpuCore *core, uint32_t target, uint32_t offset, uint32_t value,
                               RknpuNotes *notes)
{
    if (!(target & TARGET_WRITE) || !target_of(offset)) {
        rknpu_note(core, notes, RKNPU_EVENT_GUEST_ERROR, offset, value,
                   "is not what a command word can write; ignored");
        return;
    }
    if (target != target_of(offset)) {
        rknpu_note(core, notes, RKNPU_EVENT_GUEST_ERROR, offset, value,
                   "is in another block than the command word's target");
    }
    core->last_offset = offset;
    core->last_value = value;
    if (offset < 0x1000) {
        write_pc_from_program(core, offset, value, notes);
    } else {
        rknpu_regfile_write(core, offset & ~3u, value, notes);
    }
}

/* Applies words up to the enable word; `*used` receives how many were decoded. Lock held. */
static Decoded decode(RknpuCore *core, unsigned count, unsigned *used, uint32_t *units,
                      RknpuNotes *notes)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t word = GUINT64_FROM_LE(core->words[i]);
        uint32_t target = word >> 48;
        uint32_t value = (word >> 16) & UINT32_MAX;
        uint32_t offset = word & 0xffff;

        if (word == 0 || word == (uint64_t)TARGET_WRITE << 48 || target == TARGET_BARRIER) {
            continue;
        }
        if (target == TARGET_ENABLE && offset == RKNPU_PC_OPERATION_ENABLE) {
            *units = value;
            *used = i + 1;
            return DECODED_END;
        }
        write_from_program(core, target, offset, value, notes);
    }
    *used = count;
    return DECODED_MORE;
}

/* --- One task --- */

/* A program while it is being fetched; lives on the worker's stack. */
typedef struct Program {
    uint32_t address;
    uint32_t amount;
    uint32_t task;      /* number inside the job */
    uint32_t units;     /* unit mask of its enable word */
    uint32_t words;     /* executed, the enable word included */
    uint32_t pointer[RKNPU_BLOCKS]; /* S_POINTERs before it, to run it again */
} Program;

/*
 * Fetches and decodes page by page, so that nothing behind the end is read beyond its page, and so
 * that a program is applied as far as it could be read. Lock not held.
 */
static RknpuTaskResult fetch(RknpuCore *core, RknpuMem *mem, Program *program)
{
    uint64_t amount = program->amount & RKNPU_MASK(PC_REGISTER_AMOUNTS__PC_DATA_AMOUNT);
    uint64_t left = (amount + 1) * core->npu->chip->amount_scale;
    uint32_t at = program->address;
    Decoded decoded = DECODED_MORE;

    while (left && decoded == DECODED_MORE) {
        unsigned page_words = (4096 - (at & 4095)) / sizeof(uint64_t);
        unsigned count = MIN(left, MIN(page_words, RKNPU_FETCH_WORDS));
        RknpuNotes notes = { .count = 0 };
        const uint8_t *bytes;
        unsigned used;

        if (rknpu_cancelled(&core->job)) {
            return RKNPU_TASK_CANCELLED;
        }
        bytes = rknpu_mem_view(mem, RKNPU_STREAM_COMMAND, at, count * sizeof(uint64_t));
        if (!bytes) {
            return RKNPU_TASK_READ_FAULT;
        }
        /* the guest may rewrite it meanwhile */
        memcpy(core->words, bytes, count * sizeof(uint64_t));
        g_mutex_lock(&core->lock);
        decoded = decode(core, count, &used, &program->units, &notes);
        g_mutex_unlock(&core->lock);
        rknpu_tell_notes(core, &notes);
        program->words += used;
        left -= count;
        at += count * sizeof(uint64_t);
        if (at == 0) {
            break; /* the address space ends here */
        }
    }
    return decoded == DECODED_END ? RKNPU_TASK_OK : RKNPU_TASK_INVALID;
}

/* Copies what the computing half needs. Lock held. */
static void fill_job(RknpuCore *core, uint32_t units)
{
    RknpuCoreState *state = &core->state;
    RknpuJob *job = &core->job;

    for (int block = 0; block < RKNPU_BLOCKS; block++) {
        memcpy(job->reg[block], state->group[block][rknpu_regfile_executer(state, block)],
               sizeof(job->reg[block]));
    }
    memcpy(job->lut, state->lut, sizeof(job->lut));
    job->unit_mask = units & UNITS_KNOWN;
    job->dma_base = state->pc[RKNPU_PC_WORD(TASK_DMA_BASE_ADDR)];
    job->macs = 0;
}

/* Lock not held; the program is decoded. */
static RknpuTaskResult compute(RknpuCore *core, RknpuMem *mem, const Program *program)
{
    int64_t start = rknpu_now(core);
    RknpuTaskResult result;
    bool refused;

    rknpu_emit(core, (RknpuEvent) {
        .type = RKNPU_EVENT_TASK_START, .task = program->task, .address = program->address,
        .a = program->units, .b = program->words,
    });
    g_mutex_lock(&core->lock);
    fill_job(core, program->units);
    refused = core->npu->config.strict && core->unimp_seen;
    core->running = core->job.unit_mask;
    rknpu_regfile_task_started(&core->state, core->job.unit_mask);
    g_mutex_unlock(&core->lock);

    if (refused) {
        return RKNPU_TASK_UNIMP;
    }
    if (core->job.unit_mask == 0) {
        return RKNPU_TASK_INVALID;
    }
    core->job.mem = mem;
    result = rknpu_task_run(&core->job);
    if (!rknpu_mem_release(mem) && result == RKNPU_TASK_OK) {
        result = RKNPU_TASK_WRITE_FAULT;
    }
    rknpu_emit(core, (RknpuEvent) {
        .type = RKNPU_EVENT_TASK_END, .task = program->task, .a = program->units,
        .b = core->job.macs, .duration_ns = rknpu_now(core) - start,
    });
    return result;
}

/* --- Ends --- */

/*
 * Raw bits of a finished task: the last block of the pipe tells, PPU behind DPU, both when both
 * run.
 */
static uint32_t completion_bits(const RknpuCoreState *state, uint32_t units)
{
    static const struct {
        uint32_t unit;
        RknpuBlock block;
        unsigned shift;
    } last[] = {
        { RKNPU_UNIT_PPU, RKNPU_PPU, RKNPU_PC_INTERRUPT_RAW_STATUS__PPU_0_SHIFT },
        { RKNPU_UNIT_DPU, RKNPU_DPU, RKNPU_PC_INTERRUPT_RAW_STATUS__DPU_0_SHIFT },
        { RKNPU_UNIT_CORE, RKNPU_CORE, RKNPU_PC_INTERRUPT_RAW_STATUS__CORE_0_SHIFT },
        { RKNPU_UNIT_CNA, RKNPU_CNA, RKNPU_PC_INTERRUPT_RAW_STATUS__CNA_CSC_0_SHIFT },
    };
    uint32_t bits = 0;

    for (unsigned i = 0; i < G_N_ELEMENTS(last); i++) {
        bool outer = last[i].unit & (RKNPU_UNIT_PPU | RKNPU_UNIT_DPU);

        if ((units & last[i].unit) && (outer || !bits)) {
            bits |= 1u << (last[i].shift + rknpu_regfile_executer(state, last[i].block));
        }
    }
    return bits;
}

static void stall(RknpuCore *core, const char *reason)
{
    core->state.job_stalled = 1;
    g_free(core->stall_reason);
    core->stall_reason = g_strdup(reason);
}

/* Lock held: the task is done; returns the raw bits when it was the job's last. */
static uint32_t finish_task(RknpuCore *core)
{
    RknpuCoreState *state = &core->state;
    uint32_t units = core->running;
    uint32_t bits = completion_bits(state, units);
    uint32_t counter_max = (1u << core->npu->chip->task_number_bits) - 1;

    rknpu_regfile_task_done(state, units);
    core->stats.tasks++;
    core->stats.macs += core->job.macs;
    state->job_tasks_done = MIN(state->job_tasks_done + 1, counter_max);
    if (state->job_tasks_done < state->job_tasks_total && state->job_address == 0 &&
        !core->npu->config.chain_null_completes) {
        stall(core, "the program names no next program, but TASK_NUMBER is not reached");
        return 0;
    }
    if (state->job_tasks_done < state->job_tasks_total && state->job_address != 0) {
        return 0;
    }
    state->job_active = 0;
    state->raw_status |= bits;
    core->stats.jobs++;
    return bits;
}

/* Lock held: the task cannot finish. */
static void fail_task(RknpuCore *core, RknpuTaskResult result, const Program *program)
{
    switch (result) {
    case RKNPU_TASK_READ_FAULT:
        core->state.raw_status |= RAW_DMA_READ_ERROR;
        stall(core, "a DMA read failed");
        break;
    case RKNPU_TASK_WRITE_FAULT:
        core->state.raw_status |= RAW_DMA_WRITE_ERROR;
        stall(core, "a DMA write failed");
        break;
    case RKNPU_TASK_UNIMP:
        stall(core, "the task uses what is not modelled");
        break;
    default:
        stall(core, program->units ? "the registers make no task"
                                   : "the program has no enable word, or enables no block");
        break;
    }
}

/* Lock held: puts the job back to the start of the program that was broken off. */
static void rewind_task(RknpuCore *core, const Program *program)
{
    memcpy(core->state.pointer, program->pointer, sizeof(program->pointer));
    core->state.job_address = program->address;
    core->state.job_amount = program->amount;
}

void rknpu_pc_drop_job(RknpuCore *core)
{
    core->state.job_active = 0;
    core->state.job_stalled = 0;
    g_clear_pointer(&core->stall_reason, g_free);
}

bool rknpu_pc_runnable(const RknpuCore *core)
{
    return core->state.job_active && !core->state.job_stalled && !core->paused && !core->resets;
}

/* Lock held: what the task starts from. The address of a program serves once. */
static Program take_program(RknpuCore *core)
{
    RknpuCoreState *state = &core->state;
    Program program = {
        .address = state->job_address, .amount = state->job_amount, .task = state->job_tasks_done,
        .units = state->job_by_host ? state->global_enable : 0,
    };

    memcpy(program.pointer, state->pointer, sizeof(program.pointer));
    state->job_address = 0;
    return program;
}

/* How a task left its job, for the host. */
typedef struct TaskEnd {
    bool finished; /* the job is done */
    bool stalled;
    uint32_t tasks;
    uint32_t raised;
    char *reason;
} TaskEnd;

/* Lock held: books the result. A job that a reset drops is left to the reset. */
static TaskEnd settle(RknpuCore *core, RknpuTaskResult result, const Program *program)
{
    TaskEnd end = { .finished = false };

    if (result == RKNPU_TASK_CANCELLED) {
        rewind_task(core, program);
    } else if (result == RKNPU_TASK_OK) {
        end.raised = finish_task(core);
    } else {
        fail_task(core, result, program);
    }
    core->running = 0;
    end.finished = !core->state.job_active;
    end.stalled = core->state.job_stalled;
    end.tasks = core->state.job_tasks_done;
    end.reason = g_strdup(core->stall_reason);
    if (end.finished || end.stalled) {
        core->stats.busy_ns += rknpu_now(core) - core->job_start_ns;
    }
    return end;
}

/* Lock not held. */
static void report_end(RknpuCore *core, TaskEnd *end, const Program *program)
{
    if (end->stalled) {
        rknpu_emit(core, (RknpuEvent) {
            .type = RKNPU_EVENT_JOB_STALL, .task = program->task, .address = program->address,
            .text = end->reason,
        });
    } else if (end->finished) {
        rknpu_emit(core, (RknpuEvent) {
            .type = RKNPU_EVENT_JOB_END, .task = program->task, .a = end->tasks, .b = end->raised,
        });
    }
    g_free(end->reason);
    rknpu_update_irq(core);
}

/* Lock held on entry and return. Tells the host of a job's start, once. */
static void announce_job(RknpuCore *core, const Program *program)
{
    uint32_t total = core->state.job_tasks_total;

    if (!core->job_new) {
        return;
    }
    core->job_new = false;
    core->job_start_ns = rknpu_now(core);
    g_mutex_unlock(&core->lock);
    rknpu_emit(core, (RknpuEvent) {
        .type = RKNPU_EVENT_JOB_START, .task = program->task, .address = program->address,
        .a = total, .b = program->amount,
    });
    g_mutex_lock(&core->lock);
}

void rknpu_pc_run_task(RknpuCore *core)
{
    Program program = take_program(core);
    bool by_host = core->state.job_by_host;
    RknpuTaskResult result = RKNPU_TASK_OK;
    uint32_t fault_address;
    RknpuMem *mem;
    TaskEnd end;

    core->busy = true;
    core->job.task_number = program.task;
    announce_job(core, &program);
    g_mutex_unlock(&core->lock);

    mem = rknpu_mem_new(&core->npu->host, core->npu->opaque, core->number, program.task);
    if (!by_host) {
        result = fetch(core, mem, &program);
        rknpu_mem_count(mem, RKNPU_STREAM_COMMAND, program.address,
                        program.words * sizeof(uint64_t));
    }
    if (result == RKNPU_TASK_OK) {
        result = compute(core, mem, &program);
    }
    if (result == RKNPU_TASK_OK && rknpu_mem_faults(mem, &fault_address)) {
        result = rknpu_mem_faulted_write(mem) ? RKNPU_TASK_WRITE_FAULT : RKNPU_TASK_READ_FAULT;
    }
    if (result != RKNPU_TASK_OK && rknpu_cancelled(&core->job)) {
        result = RKNPU_TASK_CANCELLED; /* a map that was told to give up is no fault */
    }

    g_mutex_lock(&core->lock);
    rknpu_traffic_add(&core->stats.traffic, rknpu_mem_traffic(mem));
    core->stats.faults += rknpu_mem_faults(mem, &fault_address);
    end = settle(core, result, &program);
    g_mutex_unlock(&core->lock);

    rknpu_count_traffic(core, rknpu_mem_traffic(mem));
    rknpu_mem_free(mem);
    report_end(core, &end, &program);

    g_mutex_lock(&core->lock);
    core->busy = false;
    g_cond_broadcast(&core->quiet);
}
