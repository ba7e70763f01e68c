/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DPU stages of the RK3576. Its BS stage does what the operand records hold (DPU_RDMA BRDMA_CFG
 * DATA_USE): add A, multiply by C, and B feeds the sum of inputs; the multiplier's two shifts are
 * in a word of their own in memory. Activations are clamp pairs. EW has only its bypass
 * established.
 *
 * Facts: programs of Rockchip's compiler and board logs in gahingwoo/linux-rk3576-npu;
 * docs/hardware-notes.md, "RK3576".
 */
#include <glib.h>
#include "decode.h"

enum {
    BN_BYPASS = 1u << 0,
    EW_BYPASS = 1u << 0,
    BS_ALGORITHM_SHIFT = 16,
    SHIFT_WORD_POSITIVE = 0x3f,
    SHIFT_WORD_NEGATIVE_AT = 8,
};

/* Both pairs of a stage limit its values. */
static void decode_clamps(const RknpuJob *job, RknpuFieldId min0, RknpuFieldId max0,
                          RknpuFieldId min1, RknpuFieldId max1, RknpuStage *stage)
{
    stage->clamp_min = (int32_t)MAX(rknpu_field(job, min0), rknpu_field(job, min1));
    stage->clamp_max = (int32_t)MIN(rknpu_field(job, max0), rknpu_field(job, max1));
    if (stage->clamp_min > stage->clamp_max) {
        rknpu_report(job, RKNPU_EVENT_GUEST_ERROR, (uint32_t)stage->clamp_min,
                     "DPU clamp pair: minimum %d above maximum %d", stage->clamp_min,
                     stage->clamp_max);
        stage->clamp_max = stage->clamp_min;
    }
}

/* [5:0] shift of products of values >= 0, [13:8] of values < 0; the rest of the word has no effect.
 */
static RknpuTaskResult read_shifts(const RknpuJob *job, RknpuStage *bs)
{
    uint32_t at = (uint32_t)rknpu_field(job, RKNPU_F_BS_SHIFT_ADDR) + job->dma_base;
    uint8_t word[4];

    if (!rknpu_mem_read(job->mem, RKNPU_STREAM_OPERAND, at, word, sizeof(word))) {
        return RKNPU_TASK_READ_FAULT;
    }
    rknpu_mem_count(job->mem, RKNPU_STREAM_OPERAND, at, sizeof(word));
    bs->shift = word[0] & SHIFT_WORD_POSITIVE;
    bs->shift_negative = word[SHIFT_WORD_NEGATIVE_AT / 8] & SHIFT_WORD_POSITIVE;
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_bs(const RknpuJob *job, RknpuStage *bs)
{
    bs->stream.use = (unsigned)rknpu_field(job, RKNPU_F_BRDMA_DATA_USE);
    bs->stream.base = (uint32_t)rknpu_field(job, RKNPU_F_BS_BASE_ADDR) + job->dma_base;
    if (!(job->unit_mask & RKNPU_UNIT_DPU_RDMA)) {
        bs->stream.use = 0;
    }
    bs->active = true;
    bs->alu = bs->alu_from_memory = bs->stream.use & RKNPU_OPERAND_ALU;
    bs->alu_minus =
        (rknpu_field(job, RKNPU_F_BS_CFG) >> BS_ALGORITHM_SHIFT & 15) == RKNPU_ALU_MINUS;
    bs->mul = bs->mul_from_memory = bs->stream.use & RKNPU_OPERAND_MUL;
    bs->mul_round = job->config->round_mul;
    decode_clamps(job, RKNPU_F_BS_CLAMP_MIN_0, RKNPU_F_BS_CLAMP_MAX_0, RKNPU_F_BS_CLAMP_MIN_1,
                  RKNPU_F_BS_CLAMP_MAX_1, bs);
    return bs->mul ? read_shifts(job, bs) : RKNPU_TASK_OK;
}

RknpuTaskResult rknpu_decode_records(const RknpuJob *job, RknpuTask *task)
{
    RknpuDpu *dpu = &task->dpu;
    RknpuTaskResult r = decode_bs(job, &dpu->bs);

    if (r != RKNPU_TASK_OK) {
        return r;
    }
    /* The register that names B's source changed no result on a board: the record decides. */
    task->conv.ow_from_memory = dpu->bs.stream.use & RKNPU_OPERAND_CPEND;
    dpu->bn.active = !(rknpu_field(job, RKNPU_F_BN_CFG) & BN_BYPASS);
    decode_clamps(job, RKNPU_F_BN_CLAMP_MIN_0, RKNPU_F_BN_CLAMP_MAX_0, RKNPU_F_BN_CLAMP_MIN_1,
                  RKNPU_F_BN_CLAMP_MAX_1, &dpu->bn);
    if (!(rknpu_field(job, RKNPU_F_EW_CFG) & EW_BYPASS)) {
        rknpu_report(job, RKNPU_EVENT_UNIMP, (uint64_t)rknpu_field(job, RKNPU_F_EW_CFG),
                     "DPU EW_CFG without bypass = 0x%x",
                     (unsigned)rknpu_field(job, RKNPU_F_EW_CFG));
        return RKNPU_TASK_UNIMP;
    }
    return RKNPU_TASK_OK;
}
