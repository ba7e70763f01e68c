/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the convolution files share; conv.c chooses between the others. */
#ifndef HW_NPU_CONV_H
#define HW_NPU_CONV_H

#include "dpu.h"

/* A convolution under way. */
typedef struct RknpuConvState {
    RknpuJob *job;
    const RknpuTask *task;
    const RknpuConv *conv;
    const RknpuDpu *dpu_desc;
    RknpuDpuState *dpu;
} RknpuConvState;

/* OW of an output channel: from the operand records or from the register. */
int32_t rknpu_conv_ow(const RknpuConvState *state, unsigned channel);

/* First input row that output row `y` needs; negative: padding. */
int64_t rknpu_conv_input_row(const RknpuConv *conv, unsigned y);

/* True when the output lies wholly before or behind the input; false also when it is not known. */
bool rknpu_conv_is_apart(const RknpuConvState *state);

/*
 * The definition: any type, mode and size with a fixed amount of memory; slow.
 * docs/arithmetic.md has the same text as formulas.
 */
RknpuTaskResult rknpu_conv_generic(RknpuConvState *state);

/*
 * int8 through the kernels of hw/npu/kernels. False in `*taken` = the shape needs more room than
 * the kernels' scratch memory or has sums beyond 32 bits; nothing has happened then.
 */
RknpuTaskResult rknpu_conv_int8(RknpuConvState *state, bool *taken);

/* RK3576's packed int8 pictures, made plain for rknpu_conv_int8(); `*taken` as there. */
RknpuTaskResult rknpu_conv_quads(RknpuConvState *state, bool *taken);

/* One of the two above, or rknpu_conv_float(). */
typedef RknpuTaskResult RknpuConvPath(RknpuConvState *state, bool *taken);

/* A deconvolution, its map written out, through `path`; `*taken` as there. */
RknpuTaskResult rknpu_conv_spread(RknpuConvState *state, RknpuConvPath *path, bool *taken);

#endif /* HW_NPU_CONV_H */
