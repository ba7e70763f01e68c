/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seam between the half that walks command streams (pc.c, regfile.c, memory.c) and the half
 * that computes (task.c, conv.c, dpu.c, ppu.c ...). Internal to the model.
 *
 * pc.c fills a RknpuJob for one task: a private copy of the executer groups of all blocks, the unit
 * mask, and a memory window. task.c turns the registers into one validated description and runs it.
 * The computing half never touches live registers, locks or interrupts.
 */
#ifndef HW_NPU_JOB_H
#define HW_NPU_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "rknpu/chip.h"
#include "rknpu/npu.h"

/* Unit mask of a program's last word (TRM: GLOBAL_OPERATION_ENABLE). */
enum {
    RKNPU_UNIT_CNA = 1u << 0,
    RKNPU_UNIT_CORE = 1u << 2,
    RKNPU_UNIT_DPU = 1u << 3,
    RKNPU_UNIT_DPU_RDMA = 1u << 4,
    RKNPU_UNIT_PPU = 1u << 5,
    RKNPU_UNIT_PPU_RDMA = 1u << 6,
};

/*
 * How a task ended. Everything but OK keeps the job from completing (the driver's timeout finds
 * it).
 */
typedef enum RknpuTaskResult {
    RKNPU_TASK_OK,
    RKNPU_TASK_READ_FAULT,  /* raw status bit 12 */
    RKNPU_TASK_WRITE_FAULT, /* raw status bit 13 */
    RKNPU_TASK_UNIMP,       /* a mode that is not modelled; already reported by name */
    RKNPU_TASK_INVALID,     /* registers that make no task; already reported by name */
    RKNPU_TASK_CANCELLED,
} RknpuTaskResult;

typedef struct RknpuMem RknpuMem; /* memory window of one task, memory.c */

typedef struct RknpuJob {
    const RknpuChip *chip;
    const RknpuConfig *config;
    uint32_t unit_mask;
    uint32_t task_number;                          /* inside its job, for reports */
    /* executer groups; index = (offset & 0xfff) / 4 */
    uint32_t reg[RKNPU_BLOCKS][RKNPU_BLOCK_WORDS];
    int16_t lut[2][RKNPU_LUT_ENTRIES];             /* [0] LE, [1] LO */
    uint32_t dma_base; /* TASK_DMA_BASE_ADDR, added to every DMA address */
    RknpuMem *mem;
    struct RknpuTeam *team;                        /* threads that may help; NULL: none */
    uint64_t macs;                                 /* filled by the computing half */
    const int *cancel;                             /* atomic flag: a reset wants the worker back */
    void *report_opaque;
    void (*report)(void *opaque, RknpuEventType type, const char *text, uint64_t value);
} RknpuJob;

/*
 * Decodes and computes one task. Never blocks on locks; looks at job->cancel at least once a row.
 */
RknpuTaskResult rknpu_task_run(RknpuJob *job);

/* Value of a field in the job's registers, normalised as chip.h says. */
int64_t rknpu_field(const RknpuJob *job, RknpuFieldId id);

/* True when a reset wants the worker back. */
bool rknpu_cancelled(const RknpuJob *job);

/*
 * Reports a guest mistake (RKNPU_EVENT_GUEST_ERROR) or an unmodelled mode (RKNPU_EVENT_UNIMP) by
 * name.
 */
void rknpu_report(const RknpuJob *job, RknpuEventType type, uint64_t value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * Memory window. Addresses are IOVAs after dma_base has been added; ranges that pass 4 GiB fail.
 *
 * rknpu_mem_read/write copy; false = fault (already recorded and reported).
 * rknpu_mem_view gives a read-only pointer to `len` bytes: straight into guest memory when they are
 *   one span, else gathered into a buffer of the window. NULL = fault, or `len` above
 *   RKNPU_VIEW_MAX (then nothing is recorded: ask for less). Valid until rknpu_mem_release.
 * rknpu_mem_view_out is the same for writing; what is stored reaches guest memory at
 *   rknpu_mem_release at the latest. The gathered form holds the old bytes, so gaps between rows
 *   stay as they were.
 * rknpu_mem_release ends all views; false = a gathered output could not be written back.
 * rknpu_mem_faulted_write tells whether the window's first fault was a write.
 * rknpu_mem_count adds the bytes [iova, iova + len) to the traffic counters, split by kind of
 *   memory, and reports them as one event a span. Views and copies count nothing by themselves: the
 *   computing half says what the hardware would have moved, once.
 */
#define RKNPU_VIEW_MAX (64u << 20)
bool rknpu_mem_read(RknpuMem *mem, RknpuStream stream, uint32_t iova, void *to, uint64_t len);
bool rknpu_mem_write(RknpuMem *mem, uint32_t iova, const void *from, uint64_t len);
const uint8_t *rknpu_mem_view(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len);
uint8_t *rknpu_mem_view_out(RknpuMem *mem, uint32_t iova, uint64_t len);
bool rknpu_mem_release(RknpuMem *mem);
bool rknpu_mem_faulted_write(const RknpuMem *mem);
/*
 * Until the window ends, accesses of `stream` that begin inside [iova, iova + len) go to `bytes`
 * instead of guest memory and are not counted; what reaches beyond fails. WEIGHT: unpacked weights.
 * FEATURE: an unpacked picture. OUTPUT: the pipe from the DPU to the PPU; rknpu_mem_turn_pipe()
 * makes it the PPU's FEATURE stream. One of each; takes `bytes` over (g_free); NULL and 0 end it.
 */
void rknpu_mem_overlay(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint8_t *bytes,
                       uint64_t len);
void rknpu_mem_turn_pipe(RknpuMem *mem);
/* Maps output bytes [iova, iova + len), which shows their faults. False: there is one. */
bool rknpu_mem_map_out(RknpuMem *mem, uint32_t iova, uint64_t len);
void rknpu_mem_count(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len);

#endif /* HW_NPU_JOB_H */
