/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of a DPU-only task -> does it rearrange, and how. Bits that no program of Rockchip's
 * compiler uses in this way, and stages that would compute on the moved data, are refused.
 */
#include "decode.h"

enum {
    PASS_ATOMS = 8, /* of a transposed output */
    RGP_BYTE = 2,   /* RGP_TYPE: size of the element that is kept */
    RGP_HALF_WORD = 3,
    MINMAX_MAXIMUM = 7, /* MINMAX_CTL: on, maximum, values without their index */
};

static bool identity(const RknpuDpu *dpu)
{
    const RknpuOutConvert *cvt = &dpu->convert;

    return !dpu->bs.active && !dpu->bn.active && !dpu->ew.active && cvt->shift == 0 &&
           cvt->offset == 0 && cvt->minus_exp == 0 && cvt->scale == 1;
}

/* The writer's rows; WDMA_SIZE speaks of them alone. */
static void take_writer_rows(const RknpuJob *job, RknpuOutput *out)
{
    out->split_width = (unsigned)rknpu_field(job, RKNPU_F_WDMA_WIDTH);
    out->split_height = (unsigned)rknpu_field(job, RKNPU_F_WDMA_HEIGHT);
    out->line_pitch = (out->split_width + rknpu_field(job, RKNPU_F_NOTCH)) * RKNPU_ATOM_BYTES;
}

static RknpuTaskResult decode_turn(const RknpuJob *job, RknpuTask *task)
{
    task->rearrange = RKNPU_REARRANGE_TURN;
    task->element_bytes = rknpu_field(job, RKNPU_F_TP_PRECISION) ? 2 : 1;
    take_writer_rows(job, &task->dpu.out);
    if (task->dpu.out.pass_atoms != PASS_ATOMS) {
        return rknpu_unimplemented(job, "DPU BS_OW_CFG TP_ORG_EN", task->dpu.out.pass_atoms);
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_spread(const RknpuJob *job, RknpuTask *task)
{
    task->rearrange = RKNPU_REARRANGE_SPREAD;
    take_writer_rows(job, &task->dpu.out);
    if (task->flying.width > task->dpu.out.pass_atoms) {
        return rknpu_unimplemented(job, "DPU FEATURE_MODE_CFG TP_EN", task->flying.width);
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_enlarge(const RknpuJob *job, RknpuTask *task)
{
    int64_t width = rknpu_field(job, RKNPU_F_UNPOOLING_WIDTH);
    int64_t height = rknpu_field(job, RKNPU_F_UNPOOLING_HEIGHT);

    task->rearrange = RKNPU_REARRANGE_ENLARGE;
    task->enlarge_x = (unsigned)width;
    task->enlarge_y = (unsigned)height;
    if (rknpu_field(job, RKNPU_F_UNPOOLING_METHOD) ||
        width != rknpu_field(job, RKNPU_F_UNPOOLING_STRIDE_X) ||
        height != rknpu_field(job, RKNPU_F_UNPOOLING_STRIDE_Y) ||
        height != task->dpu.out.pass_atoms || task->dpu.out.split_width) {
        return rknpu_unimplemented(job, "DPU_RDMA SRC_DMA_CFG UNPOOLING", width);
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_pack(const RknpuJob *job, RknpuTask *task)
{
    int64_t type = rknpu_field(job, RKNPU_F_RGP_TYPE);

    task->rearrange = RKNPU_REARRANGE_PACK;
    task->element_bytes = type == RGP_BYTE ? 1 : 2;
    if ((type != RGP_BYTE && type != RGP_HALF_WORD) || !rknpu_field(job, RKNPU_F_DPU_NONALIGN) ||
        rknpu_field(job, RKNPU_F_RGP_CNTER) || task->flying.channels > task->flying.atom) {
        return rknpu_unimplemented(job, "DPU FEATURE_MODE_CFG RGP_TYPE", type);
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_maximum(const RknpuJob *job, RknpuTask *task)
{
    int64_t control = rknpu_field(job, RKNPU_F_MINMAX_CTL);

    task->rearrange = RKNPU_REARRANGE_MAXIMUM;
    task->element_bytes = 2;
    if (control != MINMAX_MAXIMUM || !rknpu_field(job, RKNPU_F_DPU_NONALIGN) ||
        task->flying.type != RKNPU_FP16 || task->dpu.out.type != RKNPU_FP16) {
        return rknpu_unimplemented(job, "DPU DATA_CUBE_HEIGHT MINMAX_CTL", control);
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_kind(const RknpuJob *job, RknpuTask *task)
{
    /* Of the reader of the main input, which convolutions do not use. */
    if (rknpu_field(job, RKNPU_F_UNPOOLING) && task->kind == RKNPU_TASK_FLYING) {
        return decode_enlarge(job, task);
    }
    if (rknpu_field(job, RKNPU_F_MINMAX_CTL)) {
        return decode_maximum(job, task);
    }
    if (rknpu_field(job, RKNPU_F_RGP_TYPE)) {
        return decode_pack(job, task);
    }
    if (rknpu_field(job, RKNPU_F_TP_EN)) {
        return decode_spread(job, task);
    }
    if (rknpu_field(job, RKNPU_F_TP_ORG_EN)) {
        return decode_turn(job, task);
    }
    if (rknpu_field(job, RKNPU_F_DPU_NONALIGN)) {
        return rknpu_unimplemented(job, "DPU FEATURE_MODE_CFG NONALIGN", 1);
    }
    return RKNPU_TASK_OK;
}

RknpuTaskResult rknpu_decode_rearrange(const RknpuJob *job, RknpuTask *task)
{
    RknpuTaskResult r = decode_kind(job, task);

    if (r != RKNPU_TASK_OK || task->rearrange == RKNPU_REARRANGE_NONE) {
        return r;
    }
    if (task->kind != RKNPU_TASK_FLYING || task->pool_follows) {
        return rknpu_unimplemented(job, "DPU: rearranged output of a convolution or to the PPU",
                                   task->rearrange);
    }
    /* Whole atoms move: int16 in and int8 out are the same 16 bytes. */
    if (rknpu_type_bits(task->flying.type) < 8 || !identity(&task->dpu)) {
        return rknpu_unimplemented(job, "DPU stages in a task that rearranges", task->dpu.type);
    }
    return RKNPU_TASK_OK;
}
