/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Working memory that a worker thread keeps from task to task: a fresh allocation costs a page
 * fault per 4 KiB, more than packing the weights that go into it.
 */
#ifndef HW_NPU_SCRATCH_H
#define HW_NPU_SCRATCH_H

#include <stddef.h>

typedef enum RknpuScratch {
    RKNPU_SCRATCH_STAGED,  /* input pixels as the kernels want them */
    RKNPU_SCRATCH_WEIGHTS, /* packed weights */
    RKNPU_SCRATCH_OUTPUT,  /* results on their way to memory, accumulators */
    RKNPU_SCRATCH_OPERAND, /* EW operands */
    RKNPU_SCRATCH_COPY,    /* one row of input as it lies in memory */
    RKNPU_SCRATCH_ROW,     /* one row of input as 16-byte pixels */
    RKNPU_SCRATCH_SUMS,    /* sums of the inputs of a strip's output pixels */
    RKNPU_SCRATCHES
} RknpuScratch;

/*
 * At least `bytes` bytes, 64-byte aligned, contents undefined; valid until the thread asks for the
 * same buffer again. NULL = no memory. The thread's end frees it.
 */
void *rknpu_scratch(RknpuScratch which, size_t bytes);

#endif /* HW_NPU_SCRATCH_H */
