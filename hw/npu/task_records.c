/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DPU stages of the RK3576. A stage does what its reader fetches for it (DPU_RDMA BRDMA_CFG,
 * NRDMA_CFG): operands a channel in records (DATA_USE) at one address, and behind another what all
 * channels share: the ALU's operand, the multiplier's and the multiplier's two shifts. Add A,
 * multiply by C, and B feeds the sum of inputs. Activations are clamp pairs.
 *
 * Facts: board logs in gahingwoo/linux-rk3576-npu; programs that rknn-toolkit2 2.5.0 makes of one
 * network for this chip and for the RK3588; docs/hardware-notes.md, "RK3576".
 */
#include <glib.h>
#include "decode.h"

enum {
    STAGE_BYPASS = 1u << 0,
    BS_ALGORITHM_SHIFT = 16,
    SHIFT_WORD_MASK = 0x3f,
    SHIFT_WORD_NEGATIVE_AT = 8,
    /* BRDMA_CFG, NRDMA_CFG: what all channels share; absent members are left out */
    SHARED_ALU = 1u << 1,
    SHARED_CPEND = 1u << 2,
    SHARED_MUL = 1u << 3,
    SHARED_SHIFTS = 1u << 4,
    SHARED_ALU_BYTES = 0x20,
    SHARED_HALF_WORD_BYTES = 0x10, /* CPEND and MUL */
    /* EW_CFG */
    EW_DIV = 1u << 3,
    EW_MUL_SRC_MEMORY = 1u << 4,
    EW_MUL_BYPASS = 1u << 6,
    EW_LUT_BYPASS = 1u << 7,
    EW_CVT_BYPASS = 1u << 8,
    EW_ALU_SRC_MEMORY = 1u << 15,
    EW_ALU_BYPASS = 1u << 24,
    EW_CVT_ADD_FIRST = 1u << 31,
    /* LUT_CFG: LE below, LO above; lut.c knows this as 0x68 */
    LUT_CFG_BELOW_ABOVE = 0x2000006,
};

/* Where one of the two like stages, BS and BN, has its fields. */
typedef struct StageFields {
    RknpuFieldId cfg, prelu, use, shared, base, shared_base, min0, max0, min1, max1;
} StageFields;

static const StageFields bs_fields = {
    RKNPU_F_BS_CFG,         RKNPU_F_BS_MUL_PRELU,   RKNPU_F_BRDMA_DATA_USE, RKNPU_F_BRDMA_SHARED,
    RKNPU_F_BS_BASE_ADDR,   RKNPU_F_BS_SHARED_ADDR, RKNPU_F_BS_CLAMP_MIN_0, RKNPU_F_BS_CLAMP_MAX_0,
    RKNPU_F_BS_CLAMP_MIN_1, RKNPU_F_BS_CLAMP_MAX_1,
};
static const StageFields bn_fields = {
    RKNPU_F_BN_CFG,         RKNPU_F_BN_MUL_PRELU,   RKNPU_F_NRDMA_DATA_USE, RKNPU_F_NRDMA_SHARED,
    RKNPU_F_BN_BASE_ADDR,   RKNPU_F_BN_SHARED_ADDR, RKNPU_F_BN_CLAMP_MIN_0, RKNPU_F_BN_CLAMP_MAX_0,
    RKNPU_F_BN_CLAMP_MIN_1, RKNPU_F_BN_CLAMP_MAX_1,
};

/* Both pairs of a stage limit its values; floating ones are bits of fp32, written alike in both. */
static void decode_clamps(const RknpuJob *job, const StageFields *f, bool floating,
                          RknpuStage *stage)
{
    int64_t min0 = rknpu_field(job, f->min0), min1 = rknpu_field(job, f->min1);
    int64_t max0 = rknpu_field(job, f->max0), max1 = rknpu_field(job, f->max1);

    if (floating) {
        stage->clamp_min = (int32_t)(min0 != INT32_MIN ? min0 : min1);
        stage->clamp_max = (int32_t)(max0 != INT32_MAX ? max0 : max1);
        return;
    }
    stage->clamp_min = (int32_t)MAX(min0, min1);
    stage->clamp_max = (int32_t)MIN(max0, max1);
    if (stage->clamp_min > stage->clamp_max) {
        rknpu_report(job, RKNPU_EVENT_GUEST_ERROR, (uint32_t)stage->clamp_min,
                     "DPU clamp pair: minimum %d above maximum %d", stage->clamp_min,
                     stage->clamp_max);
        stage->clamp_max = stage->clamp_min;
    }
}

static bool read_operand(const RknpuJob *job, uint32_t at, uint8_t *to, unsigned len)
{
    if (!rknpu_mem_read(job->mem, RKNPU_STREAM_OPERAND, at, to, len)) {
        return false;
    }
    rknpu_mem_count(job->mem, RKNPU_STREAM_OPERAND, at, len);
    return true;
}

/*
 * The operands of all channels, in the registers' place: the ALU's 32 bits, B's and the
 * multiplier's 16, the shifts: [5:0] of products of values >= 0, [13:8] of values < 0; the rest has
 * no effect.
 */
static bool read_shared(const RknpuJob *job, unsigned shared, uint32_t at, RknpuStage *stage,
                        int16_t *cpend)
{
    uint8_t word[4];

    if (shared & SHARED_ALU) {
        if (!read_operand(job, at, word, sizeof(word))) {
            return false;
        }
        stage->alu = true;
        stage->alu_from_memory = false;
        stage->alu_operand = word[0] | word[1] << 8 | word[2] << 16 | (uint32_t)word[3] << 24;
        at += SHARED_ALU_BYTES;
    }
    if (shared & SHARED_CPEND) {
        if (!read_operand(job, at, word, 2)) {
            return false;
        }
        *cpend = (int16_t)(word[0] | word[1] << 8);
        at += SHARED_HALF_WORD_BYTES;
    }
    if (shared & SHARED_MUL) {
        if (!read_operand(job, at, word, 2)) {
            return false;
        }
        stage->mul = true;
        stage->mul_from_memory = false;
        stage->mul_operand = word[0] | word[1] << 8;
        at += SHARED_HALF_WORD_BYTES;
    }
    if (shared & SHARED_SHIFTS) {
        if (!read_operand(job, at, word, sizeof(word))) {
            return false;
        }
        stage->shift = word[0] & SHIFT_WORD_MASK;
        stage->shift_negative = word[SHIFT_WORD_NEGATIVE_AT / 8] & SHIFT_WORD_MASK;
    }
    return true;
}

/* `cpend` gets B, the factor of the sum of inputs, where all channels share one. */
static RknpuTaskResult decode_stage(const RknpuJob *job, const StageFields *f, bool floating,
                                    RknpuStage *stage, int16_t *cpend)
{
    bool reader = job->unit_mask & RKNPU_UNIT_DPU_RDMA;
    unsigned shared = reader ? (unsigned)rknpu_field(job, f->shared) : 0;

    stage->stream.use = reader ? (unsigned)rknpu_field(job, f->use) : 0;
    stage->stream.base = rknpu_address(job, f->base);
    decode_clamps(job, f, floating, stage);
    stage->active = !(rknpu_field(job, f->cfg) & STAGE_BYPASS);
    if (!stage->active) {
        return RKNPU_TASK_OK;
    }
    stage->alu = stage->alu_from_memory = stage->stream.use & RKNPU_OPERAND_ALU;
    stage->mul = stage->mul_from_memory = stage->stream.use & RKNPU_OPERAND_MUL;
    stage->alu_minus = (rknpu_field(job, f->cfg) >> BS_ALGORITHM_SHIFT & 15) == RKNPU_ALU_MINUS;
    stage->mul_round = job->config->round_mul;
    stage->prelu = rknpu_field(job, f->prelu);
    if (!read_shared(job, shared, rknpu_address(job, f->shared_base), stage, cpend)) {
        return RKNPU_TASK_READ_FAULT;
    }
    return RKNPU_TASK_OK;
}

/* EW's clamp pair: no limits, or ReLU and ReLUX. */
static RknpuTaskResult decode_ew_clamps(const RknpuJob *job, RknpuEw *ew)
{
    int64_t min = rknpu_field(job, RKNPU_F_EW_CLAMP_MIN);
    int64_t max = rknpu_field(job, RKNPU_F_EW_CLAMP_MAX);

    ew->relu = min == 0;
    ew->relux = ew->relu && max != INT32_MAX;
    ew->relux_max = (uint32_t)max;
    if (!ew->relu && (min != INT32_MIN || max != INT32_MAX)) {
        return rknpu_unimplemented(job, "DPU EW clamp pair", min);
    }
    return RKNPU_TASK_OK;
}

/*
 * One operation, ALU, multiplier or divider. Of two at once one pair is known: the compiler's
 * square root, y = (y + x / y) * 0.5, adds a number from memory and multiplies by one from a
 * register.
 */
static RknpuTaskResult decode_ew_operation(const RknpuJob *job, RknpuEw *ew, RknpuType type)
{
    bool floating = rknpu_type_is_float(type);
    uint32_t cfg = (uint32_t)rknpu_field(job, RKNPU_F_EW_CFG);
    bool alu = !(cfg & EW_ALU_BYPASS), mul = !(cfg & EW_MUL_BYPASS), div = cfg & EW_DIV;
    bool memory = div || cfg & (alu ? (uint32_t)EW_ALU_SRC_MEMORY : (uint32_t)EW_MUL_SRC_MEMORY);
    bool alone;

    ew->then_mul = alu && mul && !div && floating && cfg & EW_ALU_SRC_MEMORY &&
                   !(cfg & EW_MUL_SRC_MEMORY) && type == RKNPU_FP16;
    ew->then_mul_operand = (uint16_t)rknpu_field(job, RKNPU_F_EW_MUL_OPERAND);
    mul = mul && !ew->then_mul;
    ew->op = alu || mul || div;
    ew->mul = mul;
    ew->alu = div ? RKNPU_ALU_DIV : (RknpuAlu)(cfg >> 16 & 15);
    alone = ew->alu >= RKNPU_ALU_ABS && ew->alu <= RKNPU_ALU_CEIL && alu;
    if (alu + mul + div > 1 || (ew->op && !memory && !alone) || (div && !floating) ||
        (alu && (floating ? ew->alu > RKNPU_ALU_CEIL : ew->alu > RKNPU_ALU_MINUS))) {
        return rknpu_unimplemented(job, "DPU EW_CFG operation", cfg);
    }
    return ew->op && memory ? rknpu_decode_ew_source(job, type, ew) : RKNPU_TASK_OK;
}

static RknpuTaskResult decode_ew(const RknpuJob *job, RknpuDpu *dpu)
{
    uint32_t cfg = (uint32_t)rknpu_field(job, RKNPU_F_EW_CFG);
    RknpuEw *ew = &dpu->ew;
    RknpuTaskResult r;

    ew->active = !(cfg & STAGE_BYPASS);
    if (!ew->active) {
        return RKNPU_TASK_OK;
    }
    dpu->lut.active = !(cfg & EW_LUT_BYPASS);
    ew->convert = !(cfg & EW_CVT_BYPASS);
    ew->convert_add_first = cfg & EW_CVT_ADD_FIRST;
    ew->convert_offset = (int32_t)rknpu_field(job, RKNPU_F_EW_CVT_OFFSET);
    ew->convert_scale = (int32_t)rknpu_field(job, RKNPU_F_EW_CVT_SCALE);
    ew->convert_shift = (unsigned)rknpu_field(job, RKNPU_F_EW_CVT_SHIFT);
    ew->convert_round = job->config->round_ew;
    ew->truncate = ew->truncate_negative = (unsigned)rknpu_field(job, RKNPU_F_EW_TRUNCATE);
    ew->mul_round = job->config->round_mul;
    if (dpu->lut.active && rknpu_field(job, RKNPU_F_LUT_CFG) != LUT_CFG_BELOW_ABOVE) {
        return rknpu_unimplemented(job, "DPU LUT_CFG", rknpu_field(job, RKNPU_F_LUT_CFG));
    }
    r = decode_ew_clamps(job, ew);
    return r == RKNPU_TASK_OK ? decode_ew_operation(job, ew, dpu->type) : r;
}

RknpuTaskResult rknpu_decode_records(const RknpuJob *job, RknpuTask *task)
{
    RknpuDpu *dpu = &task->dpu;
    bool floating = rknpu_type_is_float(dpu->type);
    int16_t cpend = 0, ignored;
    RknpuTaskResult r;

    r = decode_stage(job, &bs_fields, floating, &dpu->bs, &cpend);
    if (r == RKNPU_TASK_OK) {
        r = decode_stage(job, &bn_fields, floating, &dpu->bn, &ignored);
    }
    /* The register that names B's source changed no result on a board: the record decides. */
    task->conv.ow_from_memory = dpu->bs.stream.use & RKNPU_OPERAND_CPEND;
    if (rknpu_field(job, RKNPU_F_BRDMA_SHARED) & SHARED_CPEND) {
        task->conv.ow = cpend;
        task->conv.ow_from_memory = false;
    }
    return r == RKNPU_TASK_OK ? decode_ew(job, dpu) : r;
}
