/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DPU's stage pipeline over runs of values, shared by convolutions and DPU-only (flying) tasks.
 *
 * Calling sequence
 *   RknpuTaskResult r;
 *   RknpuDpuState *dpu = rknpu_dpu_open(job, &task->dpu, &r);   // NULL: r says why
 *   rknpu_dpu_int(dpu, &run, values)  or  rknpu_dpu_float(dpu, &run, values)
 *   ...
 *   rknpu_dpu_close(dpu);
 */
#ifndef HW_NPU_DPU_H
#define HW_NPU_DPU_H

#include "task.h"

/* Byte `i` of an element that is filled with OFFSET_PEND, which has two. */
static inline uint8_t rknpu_pend_byte(uint16_t pend, unsigned i)
{
    return (uint8_t)(i < 2 ? pend >> 8 * i : 0);
}

/*
 * A run: `pixels` output pixels of row y from column x on, for the channels of one output atom.
 * Values are laid out [pixel][lanes]. lanes is at most the output's atom; the last run of a row of
 * surfaces may have fewer.
 */
typedef struct RknpuRun {
    unsigned channel; /* first channel, a multiple of the output's atom */
    unsigned lanes;
    unsigned y, x;
    unsigned pixels;
} RknpuRun;

#define RKNPU_RUN_PIXELS 64 /* most pixels of one run */
#define RKNPU_RUN_LANES  32 /* most lanes of one run (int4) */

/* Per-channel operands of BS and BN, read once a task; EW operands are read a run at a time. */
typedef struct RknpuDpuState {
    RknpuJob *job;
    const RknpuDpu *dpu;
    unsigned channels; /* entries of the arrays below */
    uint32_t *alu[2];  /* [0] BS, [1] BN: operand bits per channel, or NULL: from the register */
    uint16_t *mul[2];
    int16_t *cpend; /* BS stream's CPEND members, or NULL */
} RknpuDpuState;

/* Reads the operand streams and counts their traffic. NULL = `*result` tells: READ_FAULT or
 * INVALID. */
RknpuDpuState *rknpu_dpu_open(RknpuJob *job, const RknpuDpu *dpu, RknpuTaskResult *result);
void rknpu_dpu_close(RknpuDpuState *dpu);

/*
 * BS, BN, EW, LUT, OUT_CVT on a run, in place, then stored to memory in the output's type.
 * OK, READ_FAULT or WRITE_FAULT.
 */
RknpuTaskResult rknpu_dpu_int(RknpuDpuState *dpu, const RknpuRun *run, int64_t *values);
RknpuTaskResult rknpu_dpu_float(RknpuDpuState *dpu, const RknpuRun *run, float *values);

/*
 * EW's operands of a run, raw bits sign-extended (integer types) or as stored (floating types), one
 * per value. False = read fault.
 */
bool rknpu_dpu_ew_operands(RknpuDpuState *dpu, const RknpuRun *run, int64_t *operands);

/*
 * Stores a run to memory; values are already in the output's range. Floating types are given as
 * float. False = write fault.
 */
bool rknpu_dpu_store_int(RknpuDpuState *dpu, const RknpuRun *run, const int64_t *values);
bool rknpu_dpu_store_float(RknpuDpuState *dpu, const RknpuRun *run, const float *values);

/* True when rknpu_dpu_float() would do nothing but store. */
bool rknpu_dpu_float_stores_only(const RknpuDpu *dpu);

/* Maps the output before anything is computed. False: a write fault, or cancelled. */
bool rknpu_dpu_map_output(RknpuDpuState *dpu);

/* Output bytes of the task for the traffic counters. */
void rknpu_dpu_count_output(RknpuDpuState *dpu);

/* One LUT look-up (lut.c); `x` is the rounded integer input. */
int64_t rknpu_lut(const RknpuJob *job, const RknpuLut *lut, int64_t x);

#endif /* HW_NPU_DPU_H */
