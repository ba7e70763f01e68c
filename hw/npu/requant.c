/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From stage registers to kernel operations (requant.h). Every step keeps a bound on |v|; a step is
 * accepted when all its values, times their power of two, stay below 2^51. Then a double holds them
 * exactly and rounding a double to the nearest even integer is the converter's half-even.
 */
#include "requant.h"

#include <glib.h>
#include <math.h>

#define EXACT       0x1p51
#define INT32_BOUND 0x1p31

typedef struct Builder {
    RknpuRequantPlan *plan;
    const RknpuDpuState *dpu;
    unsigned channels; /* padded to a group */
    double bound;
} Builder;

static RknpuRequantOp *new_op(Builder *b, RknpuRequantKind kind)
{
    RknpuRequant *r = &b->plan->requant;
    RknpuRequantOp *op;

    if (r->ops == RKNPU_REQUANT_OPS) {
        return NULL;
    }
    op = &r->op[r->ops++];
    op->kind = kind;
    return op;
}

static double *new_array(Builder *b, unsigned which)
{
    double *array = g_new0(double, b->channels);

    b->plan->arrays[b->plan->requant.ops - 1][which] = array;
    return array;
}

static int32_t alu_operand(const Builder *b, const RknpuStage *stage, unsigned which,
                           unsigned channel)
{
    return stage->alu_from_memory ? b->dpu->alu[which][channel] : stage->alu_operand;
}

static int16_t mul_operand(const Builder *b, const RknpuStage *stage, unsigned which,
                           unsigned channel)
{
    return stage->mul_from_memory ? b->dpu->mul[which][channel] : stage->mul_operand;
}

/* BS adds in 32 bits, right behind the accumulator. */
static bool plan_bias(Builder *b, const RknpuStage *stage)
{
    int64_t most = 0;

    b->plan->bias = g_new0(int32_t, b->channels);
    b->plan->requant.bias = b->plan->bias;
    for (unsigned k = 0; stage->active && stage->alu && k < b->dpu->channels; k++) {
        int64_t v = alu_operand(b, stage, 0, k);

        v = stage->alu_minus ? -v : v;
        most = MAX(most, ABS(v));
        b->plan->bias[k] = (int32_t)CLAMP(v, INT32_MIN, INT32_MAX);
    }
    b->bound += most;
    return b->bound < INT32_BOUND;
}

static bool plan_add(Builder *b, const RknpuStage *stage, unsigned which)
{
    RknpuRequantOp *op = new_op(b, RKNPU_REQUANT_ADD);
    double *a, most = 0;

    if (!op) {
        return false;
    }
    op->a = a = new_array(b, 0);
    for (unsigned k = 0; k < b->dpu->channels; k++) {
        a[k] = alu_operand(b, stage, which, k) * (stage->alu_minus ? -1.0 : 1.0);
        most = MAX(most, fabs(a[k]));
    }
    b->bound += most;
    return b->bound < EXACT;
}

static bool plan_mul(Builder *b, const RknpuStage *stage, unsigned which)
{
    RknpuRequantOp *op = new_op(b, RKNPU_REQUANT_MUL);
    double *positive, *negative, most = 1;
    unsigned least = MIN(stage->shift, stage->shift_negative);

    if (!op || stage->mul_round != RKNPU_ROUND_HALF_EVEN ||
        MAX(stage->shift, stage->shift_negative) > 63) {
        return false;
    }
    op->a = positive = new_array(b, 0);
    op->b = negative = new_array(b, 1);
    for (unsigned k = 0; k < b->dpu->channels; k++) {
        double m = mul_operand(b, stage, which, k);

        positive[k] = stage->prelu ? 1 : ldexp(m, -(int)stage->shift);
        negative[k] = ldexp(m, -(int)stage->shift_negative);
        most = MAX(most, fabs(m));
    }
    if (b->bound * most >= EXACT) {
        return false;
    }
    b->bound = MAX(ldexp(b->bound * most, -(int)least) + 1, stage->prelu ? b->bound : 0);
    return true;
}

static bool plan_clamp(Builder *b, double low, double high)
{
    RknpuRequantOp *op = new_op(b, RKNPU_REQUANT_CLAMP);

    if (!op) {
        return false;
    }
    op->low = low;
    op->high = high;
    return true;
}

static bool plan_relu(Builder *b, bool relu, bool limited, uint32_t limit)
{
    return !relu || plan_clamp(b, 0, limited ? MAX((int32_t)limit, 0) : EXACT);
}

static bool plan_stage(Builder *b, const RknpuStage *stage, unsigned which)
{
    if (!stage->active) {
        return true;
    }
    if (stage->mul_first && stage->mul && stage->alu) {
        return false; /* one rounding behind both */
    }
    if (which == 1 && stage->alu && !plan_add(b, stage, which)) {
        return false;
    }
    if (stage->mul && !plan_mul(b, stage, which)) {
        return false;
    }
    if (stage->clamp_min != INT32_MIN || stage->clamp_max != INT32_MAX) {
        if (!plan_clamp(b, stage->clamp_min == INT32_MIN ? -EXACT : stage->clamp_min,
                        stage->clamp_max == INT32_MAX ? EXACT : stage->clamp_max)) {
            return false;
        }
    }
    return plan_relu(b, stage->relu, stage->relux, stage->relux_max);
}

static bool plan_ew(Builder *b, const RknpuEw *ew)
{
    RknpuRequantOp *op;
    double most;

    if (!ew->active) {
        return true;
    }
    if (ew->op) {
        if (ew->mul || (ew->alu != RKNPU_ALU_ADD && ew->alu != RKNPU_ALU_MINUS) ||
            ew->source != RKNPU_EW_PIXEL || ew->cube.type != RKNPU_INT8 ||
            (ew->convert &&
             (ew->convert_round != RKNPU_ROUND_HALF_EVEN || ew->convert_shift > 63))) {
            return false;
        }
        op = new_op(b, RKNPU_REQUANT_EW_ADD);
        if (!op) {
            return false;
        }
        b->plan->needs_operand = true;
        op->sign = ew->alu == RKNPU_ALU_MINUS ? -1 : 1;
        op->high = ew->convert ? ldexp(ew->convert_scale, -(int)ew->convert_shift) : 1;
        op->low = !ew->convert ? 0 : ew->convert_offset * (ew->convert_add_first ? op->high : 1.0);
        most = fabs(op->high) * 128 + fabs(op->low);
        if (ew->convert && ldexp(most, (int)ew->convert_shift) >= EXACT) {
            return false;
        }
        b->bound += most + 1;
    }
    return plan_relu(b, ew->relu, ew->relux, ew->relux_max) && b->bound < EXACT;
}

static bool plan_output(Builder *b, const RknpuDpu *dpu)
{
    const RknpuOutConvert *cvt = &dpu->convert;
    RknpuRequant *r = &b->plan->requant;

    if (dpu->out.type != RKNPU_INT8 || dpu->lut.active || cvt->round != RKNPU_ROUND_HALF_EVEN ||
        cvt->shift > 62) {
        return false;
    }
    r->scale = ldexp(cvt->scale, -(int)cvt->shift);
    r->offset = cvt->add_first ? cvt->offset * r->scale : cvt->offset;
    r->single = rknpu_requant_is_single(r, b->bound);
    b->bound = b->bound * fabs(r->scale) + fabs(r->offset);
    return b->bound + 1 < INT32_BOUND && ldexp(b->bound, (int)cvt->shift) < EXACT;
}

bool rknpu_requant_plan(RknpuRequantPlan *plan, const RknpuDpuState *dpu, const RknpuConv *conv,
                        int64_t acc_bound)
{
    Builder b = {
        .plan = plan,
        .dpu = dpu,
        .channels = (dpu->channels + RKNPU_INT8_GROUP_MAX - 1) / RKNPU_INT8_GROUP_MAX *
                    RKNPU_INT8_GROUP_MAX,
        .bound = acc_bound,
    };
    const RknpuDpu *d = dpu->dpu;

    *plan = (RknpuRequantPlan){ 0 };
    if (conv->truncate) {
        if (conv->truncate_round != RKNPU_ROUND_HALF_EVEN ||
            b.bound + ldexp(1, (int)conv->truncate) >= INT32_BOUND) {
            return false;
        }
        plan->requant.truncate = conv->truncate;
        b.bound = ldexp(b.bound, -(int)conv->truncate) + 1;
    }
    return plan_bias(&b, &d->bs) && plan_stage(&b, &d->bs, 0) && plan_stage(&b, &d->bn, 1) &&
           plan_ew(&b, &d->ew) && plan_output(&b, d);
}

void rknpu_requant_plan_free(RknpuRequantPlan *plan)
{
    g_free(plan->bias);
    for (unsigned i = 0; i < RKNPU_REQUANT_OPS; i++) {
        g_free(plan->arrays[i][0]);
        g_free(plan->arrays[i][1]);
    }
}

bool rknpu_requant_is_identity(const RknpuDpu *dpu, const RknpuConv *conv)
{
    return !dpu->bs.active && !dpu->bn.active && !dpu->ew.active && !dpu->lut.active &&
           !conv->truncate && dpu->convert.scale == 1 && dpu->convert.shift == 0 &&
           dpu->convert.offset == 0 && dpu->convert.minus_exp == 0 &&
           (dpu->out.type == RKNPU_INT32 || dpu->out.type == RKNPU_FP32);
}
