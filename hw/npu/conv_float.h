/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Convolutions and matrix products in fp16, bf16 and tf32; the sum's order is in kernels/float.h.
 */
#ifndef HW_NPU_CONV_FLOAT_H
#define HW_NPU_CONV_FLOAT_H

#include "conv.h"
#include "kernels/float.h"

/*
 * A convolution whose conv.type is a floating type. False in `*taken` = a shape for the generic
 * path, or no memory for it; nothing has happened then. Bits are those of the generic path.
 */
RknpuTaskResult rknpu_conv_float(RknpuConvState *state, bool *taken);

/* The inner loops for the job's configuration (RknpuConfig.force_isa) on this host. */
const RknpuFloatKernels *rknpu_float_kernels(const RknpuConfig *config);

#endif /* HW_NPU_CONV_FLOAT_H */
