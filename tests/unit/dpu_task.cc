/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dpu_task.h"

TaskRunner DpuTask::runner(FakeHost &host) const
{
    bool floating = inside == RKNPU_FP16 || inside == RKNPU_BF16 || inside == RKNPU_FP32;
    TaskRunner task(host, rknpu_rk3588, RKNPU_UNIT_DPU | RKNPU_UNIT_DPU_RDMA);

    task.set(RK3588_DPU_FEATURE_MODE_CFG, feature_mode_cfg);
    task.set(RK3588_DPU_DATA_FORMAT, (uint32_t)out << 29 | (uint32_t)in << 26 | inside);
    task.set(RK3588_DPU_DST_BASE_ADDR, kOut);
    task.set(RK3588_DPU_DST_SURF_STRIDE, surface_stride);
    task.set(RK3588_DPU_DATA_CUBE_WIDTH, width - 1);
    task.set(RK3588_DPU_DATA_CUBE_HEIGHT, height - 1);
    task.set(RK3588_DPU_DATA_CUBE_NOTCH_ADDR, notch << 16 | notch);
    task.set(RK3588_DPU_DATA_CUBE_CHANNEL, (channels - 1) << 16 | (channels - 1));
    task.set(RK3588_DPU_BS_CFG, bs_cfg);
    task.set(RK3588_DPU_BS_OW_CFG, bs_ow_cfg);
    task.set(RK3588_DPU_WDMA_SIZE_0, wdma_size_0);
    task.set(RK3588_DPU_WDMA_SIZE_1, wdma_size_1);
    task.set(RK3588_DPU_BN_CFG, bn_cfg);
    task.set(RK3588_DPU_EW_CFG, ew_cfg);
    task.set(RK3588_DPU_OUT_CVT_SCALE, out_cvt_scale);
    task.set(RK3588_DPU_SURFACE_ADD, surface_add);
    task.set(RK3588_DPU_RDMA_DATA_CUBE_WIDTH, width - 1);
    task.set(RK3588_DPU_RDMA_DATA_CUBE_HEIGHT, height - 1);
    task.set(RK3588_DPU_RDMA_DATA_CUBE_CHANNEL, channels - 1);
    task.set(RK3588_DPU_RDMA_SRC_BASE_ADDR, source);
    task.set(RK3588_DPU_RDMA_SRC_DMA_CFG, line_notch << 19);
    task.set(RK3588_DPU_RDMA_SURF_NOTCH, (uint32_t)surface_notch);
    task.set(RK3588_DPU_RDMA_ERDMA_CFG, erdma_cfg);
    task.set(RK3588_DPU_RDMA_EW_BASE_ADDR, operand);
    // IN_PRECISION, BURST_LEN 15, PROC_PRECISION, MRDMA_FP16TOFP32_EN, FLYING_MODE
    task.set(RK3588_DPU_RDMA_FEATURE_MODE_CFG,
             (uint32_t)in << 15 | 0x7800 | (uint32_t)inside << 5 | (floating ? 8 : 0) | 1);
    return task;
}
