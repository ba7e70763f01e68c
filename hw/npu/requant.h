/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The DPU's stages of an int8 task as the short list of exact operations that the kernels run. */
#ifndef HW_NPU_REQUANT_H
#define HW_NPU_REQUANT_H

#include "dpu.h"
#include "kernels/int8.h"

typedef struct RknpuRequantPlan {
    RknpuRequant requant;
    bool needs_operand; /* an EW operand byte per output */
    int32_t *bias;
    double *arrays[RKNPU_REQUANT_OPS][2];
} RknpuRequantPlan;

/*
 * True when the task's stages have such a list and no value can leave the range in which doubles
 * are exact; `acc_bound` limits |accumulator|. False: run the stages of dpu.c. Free the plan in
 * both cases.
 */
bool rknpu_requant_plan(RknpuRequantPlan *plan, const RknpuDpuState *dpu, const RknpuConv *conv,
                        int64_t acc_bound);
void rknpu_requant_plan_free(RknpuRequantPlan *plan);

/* True when accumulators reach memory unchanged (matrix products with int32 or fp32 results). */
bool rknpu_requant_is_identity(const RknpuDpu *dpu, const RknpuConv *conv);

#endif /* HW_NPU_REQUANT_H */
