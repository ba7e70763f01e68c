/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of PPU and PPU_RDMA -> RknpuPool.
 */
#include "decode.h"

RknpuTaskResult rknpu_decode_pool(const RknpuJob *job, RknpuPool *pool)
{
    RknpuCube *in = &pool->input;

    if (rknpu_field(job, RKNPU_F_PPU_INDEX_EN)) {
        return rknpu_unimplemented(job, "PPU OPERATION_MODE_CFG INDEX_EN", 1);
    }
    if (rknpu_field(job, RKNPU_F_POOLING_METHOD) > RKNPU_POOL_MIN) {
        return rknpu_unimplemented(job, "PPU OPERATION_MODE_CFG POOLING_METHOD",
                                   rknpu_field(job, RKNPU_F_POOLING_METHOD));
    }
    pool->method = rknpu_field(job, RKNPU_F_POOLING_METHOD);
    in->type = rknpu_field(job, RKNPU_F_PPU_PROC_PRECISION);
    in->base = rknpu_address(job, RKNPU_F_PPU_SRC_BASE_ADDR);
    in->width = rknpu_field(job, RKNPU_F_PPU_IN_WIDTH);
    in->height = rknpu_field(job, RKNPU_F_PPU_IN_HEIGHT);
    in->channels = rknpu_field(job, RKNPU_F_PPU_IN_CHANNEL);
    in->atom = rknpu_type_per_atom(in->type);
    in->pixel_bytes = RKNPU_ATOM_BYTES;
    in->line_pitch = rknpu_field(job, RKNPU_F_PPU_SRC_LINE_STRIDE);
    in->group_pitch = 4 * in->line_pitch;
    in->surface_pitch = rknpu_field(job, RKNPU_F_PPU_SRC_SURF_STRIDE);
    pool->kernel_width = rknpu_field(job, RKNPU_F_KERNEL_WIDTH);
    pool->kernel_height = rknpu_field(job, RKNPU_F_KERNEL_HEIGHT);
    pool->stride_x = rknpu_field(job, RKNPU_F_KERNEL_STRIDE_WIDTH);
    pool->stride_y = rknpu_field(job, RKNPU_F_KERNEL_STRIDE_HEIGHT);
    pool->pad_left = rknpu_field(job, RKNPU_F_PPU_PAD_LEFT);
    pool->pad_top = rknpu_field(job, RKNPU_F_PPU_PAD_TOP);
    pool->pad_right = rknpu_field(job, RKNPU_F_PPU_PAD_RIGHT);
    pool->pad_bottom = rknpu_field(job, RKNPU_F_PPU_PAD_BOTTOM);
    pool->pad_value = rknpu_field(job, RKNPU_F_PPU_PAD_VALUE);
    pool->recip_width = rknpu_field(job, RKNPU_F_RECIP_KERNEL_WIDTH);
    pool->recip_height = rknpu_field(job, RKNPU_F_RECIP_KERNEL_HEIGHT);
    pool->out_width = rknpu_field(job, RKNPU_F_PPU_OUT_WIDTH);
    pool->out_height = rknpu_field(job, RKNPU_F_PPU_OUT_HEIGHT);
    pool->out_channels = rknpu_field(job, RKNPU_F_PPU_OUT_CHANNEL);
    pool->out_base = rknpu_address(job, RKNPU_F_PPU_DST_BASE_ADDR);
    pool->out_surface_pitch = rknpu_field(job, RKNPU_F_PPU_DST_SURF_STRIDE);
    pool->out_line_pitch =
        (pool->out_width + rknpu_field(job, RKNPU_F_PPU_NOTCH)) * RKNPU_ATOM_BYTES;
    return RKNPU_TASK_OK;
}
