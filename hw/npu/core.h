/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One NPU and its cores, as regfile.c, pc.c and npu.c share them. Internal to the model.
 *
 * Locking
 *   core->lock guards everything in RknpuCore except what is marked "worker" or "fixed". It is held
 *   for register accesses and short state changes only. Nobody holds it during a host callback
 *   (map, unmap, irq, event) or while a task computes, and nobody holds two cores' locks at once.
 *   What has to be told to the host while the lock is held is collected in a RknpuNotes and told
 *   after it was released. core->cancel is an atomic counter, raised by whoever wants the worker
 *   back, looked at without lock.
 *
 *   work   signalled when the worker may have something to do
 *   quiet  broadcast when the worker has let go of a task, or a job ended
 */
#ifndef HW_NPU_CORE_H
#define HW_NPU_CORE_H

#include <glib.h>
#include "job.h"
#include "mem.h"
#include "team.h"
#include "rknpu/regs.h"

#define RKNPU_PC_WORDS 64
#define RKNPU_WINDOW_WORDS (0x10000 / 4)
#define RKNPU_FETCH_WORDS 512 /* command words decoded at a time: one page */

/* What a chip's register list says about one word, for quick access. */
typedef struct RknpuWord {
    uint32_t bits;
    uint32_t unimp;
    uint32_t reset;
    bool known;
} RknpuWord;

typedef struct RknpuRegMap {
    RknpuWord pc[RKNPU_PC_WORDS];
    RknpuWord block[RKNPU_BLOCKS][RKNPU_BLOCK_WORDS];
    RknpuWord dma[RKNPU_DMA_WORDS];
} RknpuRegMap;

/* Something to be reported about the register at `offset`. */
typedef struct RknpuNote {
    RknpuEventType type;
    uint32_t task;
    uint32_t offset;
    uint32_t value;
    const char *what; /* static: "is read only" */
} RknpuNote;

#define RKNPU_NOTES 32
typedef struct RknpuNotes {
    RknpuNote note[RKNPU_NOTES];
    unsigned count;
} RknpuNotes;

typedef struct RknpuCore {
    RknpuNpu *npu;   /* fixed */
    unsigned number; /* fixed */
    GThread *thread; /* fixed */

    GMutex lock;
    GCond work;
    GCond quiet;

    RknpuCoreState state;
    RknpuStats stats;
    uint32_t running;       /* unit mask of the task that computes, else 0 */
    uint32_t last_offset;   /* last register written, by CPU or program */
    uint32_t last_value;
    bool irq_level;         /* as last told to the host */
    bool busy;              /* the worker works on a task */
    bool paused;
    bool stopping;
    unsigned resets;        /* rknpu_reset() calls under way */
    bool job_new;           /* the host has not heard of the job yet */
    bool unimp_seen;        /* since job start; with config.strict it stalls the job */
    unsigned job_notes; /* guest errors reported since job start: the event log is not flooded */
    int64_t job_start_ns;
    char *stall_reason;     /* why job_stalled; may be NULL after a load */
    /* registers already reported as unknown or unmodelled */
    uint32_t reported[RKNPU_WINDOW_WORDS / 32];

    int cancel;             /* atomic */
    RknpuJob job;           /* worker */
    uint64_t words[RKNPU_FETCH_WORDS]; /* worker */
} RknpuCore;

struct RknpuNpu {
    const RknpuChip *chip;
    RknpuHost host;
    void *opaque;
    RknpuConfig config;
    RknpuRegMap map;
    RknpuTeam *team;
    RknpuCore core[RKNPU_MAX_CORES];
};

/* Bits of a field, and index of a PC register, by the common names of regs.h. */
#define RKNPU_MASK(reg_field) \
    ((uint32_t)(((UINT64_C(1) << RKNPU_##reg_field##_WIDTH) - 1) << RKNPU_##reg_field##_SHIFT))
#define RKNPU_PC_WORD(reg) (RKNPU_PC_##reg / 4)

/* --- regfile.c: grouped registers. Callers hold the core's lock. --- */

void rknpu_regmap_init(RknpuRegMap *map, const RknpuChip *chip);

/* Reset values in all registers, pointers and tables; no job. */
void rknpu_regfile_reset(const RknpuRegMap *map, RknpuCoreState *state);

/* The block behind a window offset, or -1. */
int rknpu_block_of(uint32_t offset);

/* Access through the block's pointer, as the CPU and command words do it. */
uint32_t rknpu_regfile_read(RknpuCore *core, uint32_t offset);
void rknpu_regfile_write(RknpuCore *core, uint32_t offset, uint32_t value, RknpuNotes *notes);

/* Group that executes next in a block: 0 or 1. */
unsigned rknpu_regfile_executer(const RknpuCoreState *state, RknpuBlock block);

/* What the pointers of the blocks of `units` do when a task starts, and when it is done. */
void rknpu_regfile_task_started(RknpuCoreState *state, uint32_t units);
void rknpu_regfile_task_done(RknpuCoreState *state, uint32_t units);

/* Unit mask bit of a block. */
uint32_t rknpu_unit_of(RknpuBlock block);

/* --- pc.c: the PC block and the walk over tasks --- */

/* Access to the PC block (offsets below 0x1000). The lock is held. */
uint32_t rknpu_pc_read(const RknpuCore *core, uint32_t offset);
void rknpu_pc_write(RknpuCore *core, uint32_t offset, uint32_t value, RknpuNotes *notes);

/*
 * A write of GLOBAL OPERATION_ENABLE: starts blocks whose registers the CPU has written. Lock held.
 */
void rknpu_pc_global_enable(RknpuCore *core, uint32_t units, RknpuNotes *notes);

/* True when the worker has a task to run. Lock held. */
bool rknpu_pc_runnable(const RknpuCore *core);

/*
 * Fetches, decodes and runs the next task of the job. Called by the worker, lock held; it is
 * released inside and held again on return.
 */
void rknpu_pc_run_task(RknpuCore *core);

/* Forgets the job. Lock held, worker not busy. */
void rknpu_pc_drop_job(RknpuCore *core);

/* --- npu.c --- */

/*
 * Lock held: takes down that `offset` deserves a report; unknown and unmodelled registers once
 * each.
 */
void rknpu_note(RknpuCore *core, RknpuNotes *notes, RknpuEventType type, uint32_t offset,
                uint32_t value, const char *what);

/* Lock not held: tells the host the notes, and empties them. */
void rknpu_tell_notes(RknpuCore *core, RknpuNotes *notes);

/* Lock not held: fills core and time of the event and hands it to the host, if it listens. */
void rknpu_emit(RknpuCore *core, RknpuEvent ev);

/* Lock not held: tells the host about a changed interrupt level. */
void rknpu_update_irq(RknpuCore *core);

int64_t rknpu_now(RknpuCore *core);

/*
 * No lock held: adds a task's traffic to the counters that the guest can read, if the chip has
 * them.
 */
void rknpu_count_traffic(RknpuCore *core, const RknpuTraffic *traffic);

#endif /* HW_NPU_CORE_H */
