/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NPU model: registers, command streams, tasks and arithmetic of one chip's NPU as a plain
 * library.
 *
 * Calling sequence
 *   npu = rknpu_new(chip, &host, opaque, &config);
 *   rknpu_write(npu, core, offset, value);    // as a CPU would; OPERATION_ENABLE starts the worker
 *   ... host->irq(opaque, core) is called from the worker; rknpu_irq_level() tells the line's level
 *   rknpu_free(npu);
 *
 * Threads: every core has one worker thread that fetches, decodes and computes. All functions here
 * may be called from any thread; none waits for a computation except where its comment says so.
 * The model prints nothing and never ends the process because of a guest's value.
 */
#ifndef RKNPU_NPU_H
#define RKNPU_NPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "rknpu/chip.h"
#include "rknpu/events.h"
#include "rknpu/memory.h"

/*
 * How halves are rounded (TRM: CVT_ROUND; see docs/hardware-notes.md for the disagreement of
 * sources).
 */
typedef enum RknpuRound {
    RKNPU_ROUND_HALF_EVEN,
    RKNPU_ROUND_HALF_AWAY,
    RKNPU_ROUND_HALF_UP,
    RKNPU_ROUND_TRUNCATE,
} RknpuRound;

/* Points on which sources disagree or are silent. Zero-initialised = the defaults. */
typedef struct RknpuConfig {
    RknpuRound round_truncate;  /* CORE CLIP_TRUNCATE, round bit 0 */
    RknpuRound round_mul;       /* BS/BN multiplier */
    RknpuRound round_ew;        /* EW operand converter */
    RknpuRound round_out;       /* OUT_CVT, CVT_ROUND 0 */
    /* depthwise tails of 17..47 channels lie as Mesa 26.2.6 packs them, not by WEIGHT_SIZE1 */
    bool dw_tail_as_mesa_packs;
    bool ow_sum_without_padding; /* sum of inputs leaves padding out */
    /* next program address 0 before TASK_NUMBER is reached: complete, not hang */
    bool chain_null_completes;
    bool strict; /* an unmodelled register or mode stalls the job (the owner stops the VM) */
    unsigned threads;           /* of the host that may compute one task; 0 is 1 */
    unsigned force_isa;         /* kernels: 0 = best of the host; else rknpu_isa_by_name() */
} RknpuConfig;

/*
 * What the model asks of its owner. map/unmap/event run on worker threads (event also on the thread
 * that writes a register); irq may run on any thread, must not block and must not call back into
 * the model except rknpu_irq_level().
 *
 * map    Fills `span` for at least 1 and at most `len` bytes from `iova` on, through the core's
 *        IOMMU. Returns false when the address does not translate, the permission is missing, or no
 *        RAM is behind it; the owner has then recorded the fault in its IOMMU. A worker never holds
 *        a model lock during map.
 * unmap  Gives a span back; `written` = true when the model stored into it.
 * irq    The interrupt level of `core` may have changed.
 * now    Nanoseconds of a monotonic clock. May be NULL (events then carry 0). Must not block: it is
 *        also called with a model lock held.
 * event  Receives the event log. May be NULL.
 *
 * interrupt  on: a worker shall let go, so a map of `core` that waits (for a stalled IOMMU) returns
 *        false soon, and so do later ones, until off. Called without locks of the model, on the
 *        thread that resets, pauses or frees. May be NULL when map never waits.
 *
 * thread    A thread that calls map, unmap and event starts (on) or ends, on that thread. May be
 *        NULL.
 *
 * rknpu_reset(), rknpu_pause() and rknpu_free() wait for workers: map, unmap and event must not
 * wait for a lock that their caller holds (QEMU: not for the big lock).
 */
typedef struct RknpuHost {
    bool (*map)(void *opaque, unsigned core, uint32_t iova, uint64_t len, bool write,
                RknpuSpan *span);
    void (*unmap)(void *opaque, unsigned core, const RknpuSpan *span, bool written);
    void (*irq)(void *opaque, unsigned core);
    int64_t (*now)(void *opaque);
    void (*event)(void *opaque, const RknpuEvent *ev);
    void (*interrupt)(void *opaque, unsigned core, bool on);
    void (*thread)(void *opaque, bool on);
} RknpuHost;

typedef struct RknpuNpu RknpuNpu;

/*
 * The value of RknpuConfig.force_isa for a name: "best", "none" (no kernels but the definition,
 * slow), "portable", "avx2", "avx512", "neon". False: no such name, or this host or build has none.
 */
bool rknpu_isa_by_name(const char *name, unsigned *isa);

/*
 * Creates the NPU of `chip`, all cores in reset state, one idle worker a core. `host` and `config`
 * are copied (`config` may be NULL for the defaults). Never fails.
 */
RknpuNpu *rknpu_new(const RknpuChip *chip, const RknpuHost *host, void *opaque,
                    const RknpuConfig *config);

/*
 * Cancels running jobs, joins the workers (bounded by one row of one task each) and frees. NULL is
 * allowed.
 */
void rknpu_free(RknpuNpu *npu);

const RknpuChip *rknpu_chip(const RknpuNpu *npu);

/*
 * 32-bit register access by a CPU. `offset` is inside the core's window (block nibble included, so
 * 0x4084 is DPU OUT_CVT_SCALE); unaligned offsets are rounded down. Unknown registers of
 * a computing block are kept, others read 0; all are counted and reported by RKNPU_EVENT_UNIMP.
 * Returns immediately.
 */
uint32_t rknpu_read(RknpuNpu *npu, unsigned core, uint32_t offset);
void rknpu_write(RknpuNpu *npu, unsigned core, uint32_t offset, uint32_t value);

/* Level of the core's interrupt line: (raw AND mask) != 0 over the documented bits. */
bool rknpu_irq_level(RknpuNpu *npu, unsigned core);

/*
 * Reset of one core (SOFTRST, or power-off): cancels a running job, waits for the worker to let go
 * (bounded by one row of one task), then restores reset values in both groups.
 */
void rknpu_reset(RknpuNpu *npu, unsigned core);

/*
 * VM stop and save: after rknpu_pause() no worker touches guest memory; a running job stands at a
 * task boundary and continues there after rknpu_resume(). Waits for the current tasks to finish,
 * one second in all; a task that needs longer is broken off (bounded by one row) and runs again
 * after resume, which gives the same bytes unless it overwrites its own input.
 */
void rknpu_pause(RknpuNpu *npu);
void rknpu_resume(RknpuNpu *npu);

/*
 * True when the core has no job. rknpu_wait_idle() waits for it, at most `timeout_ms`; false =
 * timeout.
 */
bool rknpu_idle(RknpuNpu *npu, unsigned core);
bool rknpu_wait_idle(RknpuNpu *npu, unsigned core, unsigned timeout_ms);

/* Snapshot of a core's counters since creation or the last rknpu_clear_stats(). */
typedef struct RknpuStats {
    RknpuTraffic traffic;
    uint64_t jobs;         /* completed */
    uint64_t tasks;        /* completed */
    uint64_t macs;         /* multiply-accumulates of completed tasks, padding lanes excluded */
    uint64_t busy_ns;      /* worker time from job start to completion */
    uint64_t faults;       /* map failures */
    uint64_t guest_errors;
    uint64_t unimplemented;
} RknpuStats;

void rknpu_stats(RknpuNpu *npu, unsigned core, RknpuStats *out);
void rknpu_clear_stats(RknpuNpu *npu, unsigned core);

/*
 * One paragraph for a person who waits for a job: state (idle, running task n of m, stalled and
 * why), last register written by name and value, raw status and mask. The caller frees it with
 * g_free().
 */
char *rknpu_describe(RknpuNpu *npu, unsigned core);

/*
 * Everything a guest can see of one core, as plain data for a snapshot; call between rknpu_pause()
 * and rknpu_resume(). A loaded state is input: rknpu_set_state() checks it and returns false (state
 * unchanged) when an index or size is out of range.
 */
#define RKNPU_LUT_ENTRIES 513 /* per table, LE and LO */
#define RKNPU_DMA_WORDS 16
#define RKNPU_COUNTER_KINDS 3
typedef struct RknpuCoreState {
    uint32_t pc[64];                                     /* PC block, one word a register */
    uint32_t group[RKNPU_BLOCKS][2][RKNPU_BLOCK_WORDS];  /* both ping-pong groups of each block */
    uint32_t pointer[RKNPU_BLOCKS];                      /* S_POINTER, live EXECUTER bit included */
    int16_t lut[2][RKNPU_LUT_ENTRIES];
    uint32_t raw_status;
    uint32_t job_active;      /* 1: a job runs or is stalled */
    uint32_t job_stalled;
    uint32_t job_by_host; /* 1: started through 0xf008, registers written by the CPU, no program */
    uint32_t job_address;     /* program of the next task */
    uint32_t job_amount;      /* its REGISTER_AMOUNTS */
    /* TASK_STATUS counter: cleared by TASK_COUNT_CLEAR, not by a new job */
    uint32_t job_tasks_done;
    uint32_t job_tasks_total;
    uint32_t global_enable;   /* 0xf008 */
    uint32_t dma[RKNPU_DMA_WORDS];                 /* DDMA block */
    uint32_t counter_control[2]; /* traffic counters, top and core: last control write */
    /* since their last clear: written, read, weights */
    uint64_t counter_bytes[2][RKNPU_COUNTER_KINDS];
} RknpuCoreState;

void rknpu_get_state(RknpuNpu *npu, unsigned core, RknpuCoreState *out);
bool rknpu_set_state(RknpuNpu *npu, unsigned core, const RknpuCoreState *in);

#endif /* RKNPU_NPU_H */
