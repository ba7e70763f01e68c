/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The public face of the model (rknpu/npu.h): cores, their workers, register access by a CPU,
 * reset, pause, snapshots, statistics. core.h has the locking rule.
 *
 *   CPU thread                          worker of the core
 *   rknpu_write(OPERATION_ENABLE)       waits on core->work
 *     sets job_active, signals work ->  rknpu_pc_run_task() until the job ends or stalls
 *   rknpu_reset / rknpu_pause           lets go at the next row when core->cancel is raised,
 *     raise cancel, wait on quiet    <- broadcasts quiet
 */
#include <string.h>
#include "core.h"

/* How long rknpu_pause() waits for running tasks before it breaks them off. */
#define PAUSE_WAIT_US (1000 * 1000)
/* Guest errors that one job may put into the event log; all of them are counted. */
#define JOB_NOTES_MAX 64

/* --- What the host is told --- */

int64_t rknpu_now(RknpuCore *core)
{
    RknpuNpu *npu = core->npu;

    return npu->host.now ? npu->host.now(npu->opaque) : 0;
}

void rknpu_emit(RknpuCore *core, RknpuEvent ev)
{
    RknpuNpu *npu = core->npu;

    if (npu->host.event) {
        ev.core = core->number;
        ev.ns = rknpu_now(core);
        npu->host.event(npu->opaque, &ev);
    }
}

static bool first_report(RknpuCore *core, uint32_t offset)
{
    uint32_t word = (offset & 0xffff) / 4;
    uint32_t bit = 1u << (word % 32);
    bool first = !(core->reported[word / 32] & bit);

    core->reported[word / 32] |= bit;
    return first;
}

void rknpu_note(RknpuCore *core, RknpuNotes *notes, RknpuEventType type, uint32_t offset,
                uint32_t value, const char *what)
{
    if (type == RKNPU_EVENT_UNIMP) {
        core->stats.unimplemented++;
        core->unimp_seen = true;
        if (!first_report(core, offset)) {
            return;
        }
    } else {
        core->stats.guest_errors++;
        if (++core->job_notes > JOB_NOTES_MAX) {
            return;
        }
    }
    if (notes->count < RKNPU_NOTES) {
        notes->note[notes->count++] = (RknpuNote) {
            type, core->job.task_number, offset, value, what,
        };
    }
}

void rknpu_tell_notes(RknpuCore *core, RknpuNotes *notes)
{
    for (unsigned i = 0; core->npu->host.event && i < notes->count; i++) {
        const RknpuNote *note = &notes->note[i];
        g_autofree char *title = rknpu_reg_title(core->npu->chip, note->offset);
        g_autofree char *text = g_strdup_printf("%s %s: 0x%x", title, note->what, note->value);

        rknpu_emit(core, (RknpuEvent) {
            .type = note->type, .task = note->task, .a = note->value, .text = text,
        });
    }
    notes->count = 0;
}

/* Reports of the computing half arrive here, on the worker, without the lock. */
static void report_from_task(void *opaque, RknpuEventType type, const char *text, uint64_t value)
{
    RknpuCore *core = opaque;
    bool tell;

    g_mutex_lock(&core->lock);
    if (type == RKNPU_EVENT_UNIMP) {
        core->stats.unimplemented++;
    } else {
        core->stats.guest_errors++;
    }
    tell = ++core->job_notes <= JOB_NOTES_MAX;
    g_mutex_unlock(&core->lock);
    if (tell) {
        rknpu_emit(core, (RknpuEvent) {
            .type = type, .task = core->job.task_number, .a = value, .text = text,
        });
    }
}

static bool level(const RknpuCore *core)
{
    return (core->state.raw_status & core->state.pc[RKNPU_PC_WORD(INTERRUPT_MASK)] & 0x1ffff) != 0;
}

void rknpu_update_irq(RknpuCore *core)
{
    RknpuNpu *npu = core->npu;
    uint32_t raw, mask;
    bool now, changed;

    g_mutex_lock(&core->lock);
    now = level(core);
    changed = now != core->irq_level;
    core->irq_level = now;
    raw = core->state.raw_status;
    mask = core->state.pc[RKNPU_PC_WORD(INTERRUPT_MASK)];
    g_mutex_unlock(&core->lock);
    if (!changed) {
        return;
    }
    if (now) {
        rknpu_emit(core, (RknpuEvent) { .type = RKNPU_EVENT_IRQ, .a = raw, .b = mask });
    }
    if (npu->host.irq) {
        npu->host.irq(npu->opaque, core->number);
    }
}

/*
 * --- Traffic counters of the chips that have them: in core 0's window, the other cores' under
 * "core" ---
 */

enum { COUNT_WRITE, COUNT_READ, COUNT_WEIGHT };

void rknpu_count_traffic(RknpuCore *core, const RknpuTraffic *traffic)
{
    RknpuCore *owner = &core->npu->core[0];
    uint64_t *bytes = owner->state.counter_bytes[core->number ? 1 : 0];

    if (!core->npu->chip->counters[0].clear) {
        return;
    }
    g_mutex_lock(&owner->lock);
    bytes[COUNT_WRITE] += rknpu_traffic_stream(traffic, RKNPU_STREAM_OUTPUT);
    bytes[COUNT_READ] += rknpu_traffic_stream(traffic, RKNPU_STREAM_FEATURE) +
                         rknpu_traffic_stream(traffic, RKNPU_STREAM_OPERAND);
    bytes[COUNT_WEIGHT] += rknpu_traffic_stream(traffic, RKNPU_STREAM_WEIGHT);
    g_mutex_unlock(&owner->lock);
}

/*
 * The counter register at `offset`: which set, and which of its registers (-1: control); false =
 * none.
 */
static bool find_counter(const RknpuCore *core, uint32_t offset, int *set, int *kind)
{
    if (core->number != 0) {
        return false;
    }
    for (*set = 0; *set < 2; (*set)++) {
        const RknpuCounterRegs *regs = &core->npu->chip->counters[*set];
        const uint32_t at[] = {
            [COUNT_WRITE] = regs->write, [COUNT_READ] = regs->read, [COUNT_WEIGHT] = regs->weight,
        };

        if (!regs->clear) {
            continue;
        }
        *kind = -1;
        if (offset == regs->clear) {
            return true;
        }
        for (*kind = 0; *kind < RKNPU_COUNTER_KINDS; (*kind)++) {
            if (offset == at[*kind]) {
                return true;
            }
        }
    }
    return false;
}

static uint32_t read_counter(const RknpuCore *core, int set, int kind)
{
    return kind < 0 ? core->state.counter_control[set]
                    : core->state.counter_bytes[set][kind] / core->npu->chip->amount_scale;
}

/* Drivers write 0x80000101 and then 0x101: bit 31 clears. */
static void write_counter(RknpuCore *core, int set, int kind, uint32_t offset, uint32_t value,
                          RknpuNotes *notes)
{
    if (kind >= 0) {
        rknpu_note(core, notes, RKNPU_EVENT_GUEST_ERROR, offset, value, "is read only");
        return;
    }
    core->state.counter_control[set] = value & ~(1u << 31);
    if (value >> 31) {
        memset(core->state.counter_bytes[set], 0, sizeof(core->state.counter_bytes[set]));
    }
}

/* --- Register access by a CPU --- */

static bool is_dma(const RknpuCore *core, uint32_t offset)
{
    uint32_t base = core->npu->chip->dma_config;
    uint32_t word = (offset & 0xfff) / 4;

    return base && (offset & ~0xfffu) == base && word < RKNPU_DMA_WORDS &&
           core->npu->map.dma[word].known;
}

static void write_dma(RknpuCore *core, uint32_t offset, uint32_t value)
{
    uint32_t word = (offset & 0xfff) / 4;

    core->state.dma[word] = value & core->npu->map.dma[word].bits;
}

static bool is_global(const RknpuCore *core, uint32_t offset)
{
    return core->npu->chip->global_enable && offset == core->npu->chip->global_enable;
}

static uint32_t read_register(RknpuCore *core, uint32_t offset, RknpuNotes *notes)
{
    int set, kind;

    if (offset < 0x1000) {
        return rknpu_pc_read(core, offset);
    }
    if (rknpu_block_of(offset) >= 0) {
        return rknpu_regfile_read(core, offset);
    }
    if (find_counter(core, offset, &set, &kind)) {
        return read_counter(core, set, kind);
    }
    if (is_dma(core, offset)) {
        return core->state.dma[(offset & 0xfff) / 4];
    }
    if (is_global(core, offset)) {
        return core->state.global_enable;
    }
    rknpu_note(core, notes, RKNPU_EVENT_UNIMP, offset, 0, "read");
    return 0;
}

static void write_register(RknpuCore *core, uint32_t offset, uint32_t value, RknpuNotes *notes)
{
    int set, kind;

    if (offset < 0x1000) {
        rknpu_pc_write(core, offset, value, notes);
    } else if (rknpu_block_of(offset) >= 0) {
        rknpu_regfile_write(core, offset, value, notes);
    } else if (find_counter(core, offset, &set, &kind)) {
        write_counter(core, set, kind, offset, value, notes);
    } else if (is_dma(core, offset)) {
        write_dma(core, offset, value);
    } else if (is_global(core, offset)) {
        rknpu_pc_global_enable(core, value, notes);
    } else {
        rknpu_note(core, notes, RKNPU_EVENT_UNIMP, offset, value, "written");
    }
}

uint32_t rknpu_read(RknpuNpu *npu, unsigned number, uint32_t offset)
{
    RknpuCore *core = &npu->core[number];
    RknpuNotes notes = { .count = 0 };
    uint32_t value;

    g_mutex_lock(&core->lock);
    value = read_register(core, offset & ~3u, &notes);
    g_mutex_unlock(&core->lock);
    rknpu_tell_notes(core, &notes);
    return value;
}

void rknpu_write(RknpuNpu *npu, unsigned number, uint32_t offset, uint32_t value)
{
    RknpuCore *core = &npu->core[number];
    RknpuNotes notes = { .count = 0 };

    g_mutex_lock(&core->lock);
    core->last_offset = offset & ~3u;
    core->last_value = value;
    write_register(core, offset & ~3u, value, &notes);
    g_mutex_unlock(&core->lock);
    rknpu_tell_notes(core, &notes);
    rknpu_update_irq(core);
}

bool rknpu_irq_level(RknpuNpu *npu, unsigned number)
{
    RknpuCore *core = &npu->core[number];
    bool now;

    g_mutex_lock(&core->lock);
    now = level(core);
    g_mutex_unlock(&core->lock);
    return now;
}

/* --- Workers --- */

static gpointer worker(gpointer opaque)
{
    RknpuCore *core = opaque;
    const RknpuHost *host = &core->npu->host;

    if (host->thread) {
        host->thread(core->npu->opaque, true);
    }
    g_mutex_lock(&core->lock);
    while (!core->stopping) {
        if (rknpu_pc_runnable(core)) {
            rknpu_pc_run_task(core);
        } else {
            g_cond_wait(&core->work, &core->lock);
        }
    }
    g_mutex_unlock(&core->lock);
    if (host->thread) {
        host->thread(core->npu->opaque, false);
    }
    return NULL;
}

static void core_init(RknpuNpu *npu, unsigned number)
{
    RknpuCore *core = &npu->core[number];

    core->npu = npu;
    core->number = number;
    g_mutex_init(&core->lock);
    g_cond_init(&core->work);
    g_cond_init(&core->quiet);
    core->job.chip = npu->chip;
    core->job.config = &npu->config;
    core->job.cancel = &core->cancel;
    core->job.team = npu->team;
    core->job.report_opaque = core;
    core->job.report = report_from_task;
    rknpu_regfile_reset(&npu->map, &core->state);
}

RknpuNpu *rknpu_new(const RknpuChip *chip, const RknpuHost *host, void *opaque,
                    const RknpuConfig *config)
{
    RknpuNpu *npu = g_new0(RknpuNpu, 1);

    npu->chip = chip;
    npu->host = *host;
    npu->opaque = opaque;
    if (config) {
        npu->config = *config;
    }
    rknpu_regmap_init(&npu->map, chip);
    npu->team = rknpu_team_new(MAX(npu->config.threads, 1) - 1, &npu->host, opaque);
    for (unsigned i = 0; i < chip->cores; i++) {
        core_init(npu, i);
    }
    for (unsigned i = 0; i < chip->cores; i++) {
        g_autofree char *name = g_strdup_printf("npu%u", i);

        npu->core[i].thread = g_thread_new(name, worker, &npu->core[i]);
    }
    return npu;
}

/* Lock not held: asks the host to end, or to allow again, waiting inside map. */
static void interrupt_host(RknpuCore *core, bool on)
{
    RknpuNpu *npu = core->npu;

    if (npu->host.interrupt) {
        npu->host.interrupt(npu->opaque, core->number, on);
    }
}

static void core_stop(RknpuCore *core)
{
    g_atomic_int_inc(&core->cancel);
    interrupt_host(core, true);
    g_mutex_lock(&core->lock);
    core->stopping = true;
    g_cond_signal(&core->work);
    g_mutex_unlock(&core->lock);
    g_thread_join(core->thread);
    g_free(core->stall_reason);
    g_mutex_clear(&core->lock);
    g_cond_clear(&core->work);
    g_cond_clear(&core->quiet);
}

void rknpu_free(RknpuNpu *npu)
{
    if (!npu) {
        return;
    }
    for (unsigned i = 0; i < npu->chip->cores; i++) {
        core_stop(&npu->core[i]);
    }
    rknpu_team_free(npu->team);
    g_free(npu);
}

const RknpuChip *rknpu_chip(const RknpuNpu *npu)
{
    return npu->chip;
}

/* Lock not held: makes the worker let go of its task, and waits until it has. */
static void cancel_and_wait(RknpuCore *core)
{
    g_atomic_int_inc(&core->cancel);
    interrupt_host(core, true);
    g_mutex_lock(&core->lock);
    while (core->busy) {
        g_cond_wait(&core->quiet, &core->lock);
    }
    g_mutex_unlock(&core->lock);
    interrupt_host(core, false);
    g_atomic_int_add(&core->cancel, -1);
}

void rknpu_reset(RknpuNpu *npu, unsigned number)
{
    RknpuCore *core = &npu->core[number];
    bool had_job;

    g_mutex_lock(&core->lock);
    core->resets++; /* keeps the worker from taking up the next task */
    had_job = core->state.job_active;
    g_mutex_unlock(&core->lock);
    cancel_and_wait(core);
    g_mutex_lock(&core->lock);
    rknpu_pc_drop_job(core);
    rknpu_regfile_reset(&npu->map, &core->state);
    memset(core->reported, 0, sizeof(core->reported));
    core->resets--;
    g_cond_broadcast(&core->quiet);
    g_mutex_unlock(&core->lock);
    if (had_job) {
        rknpu_emit(core, (RknpuEvent) { .type = RKNPU_EVENT_JOB_CANCEL });
    }
    rknpu_emit(core, (RknpuEvent) { .type = RKNPU_EVENT_RESET });
    rknpu_update_irq(core);
}

void rknpu_pause(RknpuNpu *npu)
{
    gint64 deadline = g_get_monotonic_time() + PAUSE_WAIT_US;

    for (unsigned i = 0; i < npu->chip->cores; i++) {
        g_mutex_lock(&npu->core[i].lock);
        npu->core[i].paused = true;
        g_mutex_unlock(&npu->core[i].lock);
    }
    for (unsigned i = 0; i < npu->chip->cores; i++) {
        RknpuCore *core = &npu->core[i];

        g_mutex_lock(&core->lock);
        while (core->busy && g_cond_wait_until(&core->quiet, &core->lock, deadline)) {
            continue;
        }
        g_mutex_unlock(&core->lock);
        cancel_and_wait(core);
    }
}

void rknpu_resume(RknpuNpu *npu)
{
    for (unsigned i = 0; i < npu->chip->cores; i++) {
        g_mutex_lock(&npu->core[i].lock);
        npu->core[i].paused = false;
        g_cond_signal(&npu->core[i].work);
        g_mutex_unlock(&npu->core[i].lock);
    }
}

static bool is_idle(const RknpuCore *core)
{
    return !core->state.job_active && !core->busy;
}

bool rknpu_idle(RknpuNpu *npu, unsigned number)
{
    return rknpu_wait_idle(npu, number, 0);
}

bool rknpu_wait_idle(RknpuNpu *npu, unsigned number, unsigned timeout_ms)
{
    gint64 deadline = g_get_monotonic_time() + (gint64)timeout_ms * 1000;
    RknpuCore *core = &npu->core[number];
    bool idle;

    g_mutex_lock(&core->lock);
    while (!is_idle(core) && timeout_ms &&
           g_cond_wait_until(&core->quiet, &core->lock, deadline)) {
        continue;
    }
    idle = is_idle(core);
    g_mutex_unlock(&core->lock);
    return idle;
}

/* --- What people and tests want to know --- */

void rknpu_stats(RknpuNpu *npu, unsigned number, RknpuStats *out)
{
    RknpuCore *core = &npu->core[number];

    g_mutex_lock(&core->lock);
    *out = core->stats;
    g_mutex_unlock(&core->lock);
}

void rknpu_clear_stats(RknpuNpu *npu, unsigned number)
{
    RknpuCore *core = &npu->core[number];

    g_mutex_lock(&core->lock);
    memset(&core->stats, 0, sizeof(core->stats));
    g_mutex_unlock(&core->lock);
}

static void describe_job(const RknpuCore *core, GString *out)
{
    const RknpuCoreState *state = &core->state;

    if (!state->job_active) {
        g_string_append(out, "idle");
        return;
    }
    g_string_append_printf(out, "%s task %u of %u", state->job_stalled ? "stalled in" : "running",
                           state->job_tasks_done + 1, state->job_tasks_total);
    if (core->stall_reason) {
        g_string_append_printf(out, " (%s)", core->stall_reason);
    }
    if (core->paused) {
        g_string_append(out, ", paused");
    }
}

char *rknpu_describe(RknpuNpu *npu, unsigned number)
{
    RknpuCore *core = &npu->core[number];
    GString *out = g_string_new(NULL);
    g_autofree char *last = NULL;

    g_mutex_lock(&core->lock);
    last = rknpu_reg_title(npu->chip, core->last_offset);
    g_string_append_printf(out, "%s NPU core %u: ", npu->chip->name, number);
    describe_job(core, out);
    g_string_append_printf(out, "; last register written %s = 0x%08x", last, core->last_value);
    g_string_append_printf(out, "; raw status 0x%x, mask 0x%x, interrupt %s",
                           core->state.raw_status, core->state.pc[RKNPU_PC_WORD(INTERRUPT_MASK)],
                           level(core) ? "high" : "low");
    g_mutex_unlock(&core->lock);
    return g_string_free(out, FALSE);
}

/* --- Snapshots --- */

void rknpu_get_state(RknpuNpu *npu, unsigned number, RknpuCoreState *out)
{
    RknpuCore *core = &npu->core[number];

    g_mutex_lock(&core->lock);
    *out = core->state;
    g_mutex_unlock(&core->lock);
}

static bool state_is_sane(const RknpuNpu *npu, const RknpuCoreState *in)
{
    uint32_t count_max = (1u << npu->chip->task_number_bits) - 1;

    for (int block = 0; block < RKNPU_BLOCKS; block++) {
        if (in->pointer[block] & ~npu->map.block[block][1].bits) {
            return false;
        }
    }
    return in->job_active <= 1 && in->job_stalled <= 1 && in->job_by_host <= 1 &&
           in->job_stalled <= in->job_active && in->job_tasks_done <= count_max &&
           in->job_tasks_total <= count_max;
}

bool rknpu_set_state(RknpuNpu *npu, unsigned number, const RknpuCoreState *in)
{
    RknpuCore *core = &npu->core[number];
    bool ok = state_is_sane(npu, in);

    g_mutex_lock(&core->lock);
    ok = ok && !core->busy;
    if (ok) {
        core->state = *in;
        core->job_new = false;
        core->job_start_ns = rknpu_now(core);
        g_clear_pointer(&core->stall_reason, g_free);
        g_cond_signal(&core->work);
    }
    g_mutex_unlock(&core->lock);
    if (ok) {
        rknpu_update_irq(core);
    }
    return ok;
}
