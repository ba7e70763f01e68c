/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A big convolution on several host threads. */
#ifndef HW_NPU_SPLIT_H
#define HW_NPU_SPLIT_H

#include "conv.h"

/*
 * compute(state) for a whole convolution, or for parts of its output rows at the same time on this
 * thread and on idle helpers of the NPU. The bytes in memory are the same either way. Faults of the
 * parts are the window's afterwards; their views are given back.
 */
RknpuTaskResult rknpu_split_run(RknpuConvState *state,
                                RknpuTaskResult (*compute)(RknpuConvState *state));

#endif /* HW_NPU_SPLIT_H */
