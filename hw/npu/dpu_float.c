/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DPU's stages for floating types (PROC_PRECISION fp16, bf16, fp32): values are fp32 from stage
 * to stage. ALU operands are fp32, multiplier operands fp16; shifts and EW's integer scale have no
 * part in it, nor has OUT_CVT's on the RK3588 (programs that run on boards leave them 0 or 1:
 * mtx512/rk3588-npu, allbilly/rk3588). The LUT takes the nearest integer and gives an integer.
 *
 * Every operation is rounded once, so all hosts give the same bits. A NaN stays a NaN through min,
 * max and the ReLUs.
 */
#include "dpu.h"

#include <math.h>

static float relu(float v, bool capped, uint32_t cap_bits)
{
    float cap;

    if (v < 0) {
        return 0;
    }
    cap = rknpu_bits_to_float(cap_bits);
    return capped && v > cap ? cap : v;
}

static float stage_lane(const RknpuStage *s, float alu, float mul, float v)
{
    bool last = s->mul_first && s->mul && !(s->prelu && v >= 0);

    if (s->alu && !last) {
        v = s->alu_minus ? v - alu : v + alu;
    }
    if (s->mul && !(s->prelu && v >= 0)) {
        v *= mul;
    }
    if (s->alu && last) {
        v = s->alu_minus ? v - alu : v + alu;
    }
    v = s->relu || s->relux ? relu(v, s->relux, s->relux_max) : v;
    if (s->clamp_min != INT32_MIN && v < rknpu_bits_to_float((uint32_t)s->clamp_min)) {
        v = rknpu_bits_to_float((uint32_t)s->clamp_min);
    }
    if (s->clamp_max != INT32_MAX && v > rknpu_bits_to_float((uint32_t)s->clamp_max)) {
        v = rknpu_bits_to_float((uint32_t)s->clamp_max);
    }
    return v;
}

static void run_stage(const RknpuDpuState *dpu, const RknpuStage *s, unsigned which,
                      const RknpuRun *run, float *values)
{
    for (unsigned lane = 0; lane < run->lanes; lane++) {
        unsigned c = run->channel + lane;
        float alu = rknpu_bits_to_float(dpu->alu[which] && s->alu_from_memory ? dpu->alu[which][c]
                                                                              : s->alu_operand);
        uint16_t bits = dpu->mul[which] && s->mul_from_memory ? dpu->mul[which][c] : s->mul_operand;
        float mul =
            dpu->dpu->type == RKNPU_BF16 ? rknpu_bf16_to_float(bits) : rknpu_fp16_to_float(bits);

        for (unsigned p = 0; p < run->pixels; p++) {
            float *v = &values[p * run->lanes + lane];

            *v = stage_lane(s, alu, mul, *v);
        }
    }
}

static float larger(float a, float b)
{
    return isnan(a) || a > b ? a : b;
}

static float smaller(float a, float b)
{
    return isnan(a) || a < b ? a : b;
}

static float ew_alu(RknpuAlu alu, float v, float e)
{
    switch (alu) {
    case RKNPU_ALU_MAX:
        return larger(v, e);
    case RKNPU_ALU_MIN:
        return smaller(v, e);
    case RKNPU_ALU_ADD:
        return v + e;
    case RKNPU_ALU_DIV:
        return v / e;
    case RKNPU_ALU_MINUS:
        return v - e;
    case RKNPU_ALU_ABS:
        return fabsf(v);
    case RKNPU_ALU_NEG:
        return -v;
    case RKNPU_ALU_FLOOR:
        return floorf(v);
    default:
        return ceilf(v);
    }
}

static float ew_operand(RknpuType type, int64_t bits)
{
    switch (type) {
    case RKNPU_FP16:
        return rknpu_fp16_to_float((uint16_t)bits);
    case RKNPU_BF16:
        return rknpu_bf16_to_float((uint16_t)bits);
    case RKNPU_FP32:
    case RKNPU_TF32:
        return rknpu_bits_to_float((uint32_t)bits);
    default:
        return (float)bits;
    }
}

static bool run_ew(RknpuDpuState *dpu, const RknpuRun *run, float *values)
{
    const RknpuEw *ew = &dpu->dpu->ew;
    int64_t operands[RKNPU_RUN_PIXELS * RKNPU_RUN_LANES];
    unsigned count = run->pixels * run->lanes;

    if (ew->op && !rknpu_dpu_ew_operands(dpu, run, operands)) {
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        float v = values[i];

        if (ew->op) {
            float e = ew->source == RKNPU_EW_REGISTER ? rknpu_bits_to_float((uint32_t)operands[i])
                                                      : ew_operand(ew->cube.type, operands[i]);

            if (!ew->mul) {
                v = ew_alu(ew->alu, v, e);
                v *= ew->then_mul ? rknpu_fp16_to_float(ew->then_mul_operand) : 1;
            } else if (!(ew->prelu && v >= 0)) {
                v *= e;
            }
        }
        values[i] = ew->relu || ew->relux ? relu(v, ew->relux, ew->relux_max) : v;
    }
    return true;
}

/*
 * OUT_CVT: value * scale * 2^-MINUS_EXP. On the way to fp16 infinity and NaN are patterns like any
 * other there: their exponent goes down and they come out as 2^16 * 2^-k and (2^16 + 2^6) * 2^-k.
 * allbilly/rk3588's "cmpeq" is built on that (k = 1 turns NaN into 32800).
 */
static float out_convert(const RknpuOutConvert *cvt, RknpuType type, float v)
{
    v *= cvt->float_scale;
    if (!cvt->minus_exp) {
        return v;
    }
    if (type == RKNPU_FP16 && isnan(v)) {
        v = 0x1.004p16f;
    } else if (type == RKNPU_FP16 && isinf(v)) {
        v = copysignf(0x1p16f, v);
    }
    return ldexpf(v, -(int)cvt->minus_exp);
}

static bool converts(const RknpuOutConvert *cvt)
{
    return cvt->minus_exp || cvt->float_scale != 1;
}

bool rknpu_dpu_float_stores_only(const RknpuDpu *d)
{
    return !d->bs.active && !d->bn.active && !d->ew.active && !d->lut.active &&
           !converts(&d->convert);
}

RknpuTaskResult rknpu_dpu_float(RknpuDpuState *dpu, const RknpuRun *run, float *values)
{
    const RknpuDpu *d = dpu->dpu;
    unsigned count = run->pixels * run->lanes;

    if (d->bs.active) {
        run_stage(dpu, &d->bs, 0, run, values);
    }
    if (d->bn.active) {
        run_stage(dpu, &d->bn, 1, run, values);
    }
    for (unsigned i = 0; d->lut.active && i < count; i++) {
        values[i] = (float)rknpu_lut(dpu->job, &d->lut, rknpu_float_to_int32(values[i]));
    }
    if (d->ew.active && !run_ew(dpu, run, values)) {
        return RKNPU_TASK_READ_FAULT;
    }
    for (unsigned i = 0; converts(&d->convert) && i < count; i++) {
        values[i] = out_convert(&d->convert, d->out.type, values[i]);
    }
    return rknpu_dpu_store_float(dpu, run, values) ? RKNPU_TASK_OK : RKNPU_TASK_WRITE_FAULT;
}
