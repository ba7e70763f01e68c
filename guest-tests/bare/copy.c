/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The copy task of copy.h, in RK3588's registers. */
#include "copy.h"

#if defined(BOARD_RK3588)

void emit_copy(Program *p, uint32_t from, uint32_t to)
{
    emit(p, RK3588_DPU_S_POINTER, 0xe);
    emit(p, RK3588_DPU_RDMA_S_POINTER, 0xe);
    emit(p, RK3588_DPU_FEATURE_MODE_CFG, 0x1e5);
    emit(p, RK3588_DPU_DATA_FORMAT, 0);
    emit(p, RK3588_DPU_DST_BASE_ADDR, to);
    emit(p, RK3588_DPU_DST_SURF_STRIDE, 16);
    emit(p, RK3588_DPU_DATA_CUBE_WIDTH, 0);
    emit(p, RK3588_DPU_DATA_CUBE_HEIGHT, 0);
    emit(p, RK3588_DPU_DATA_CUBE_NOTCH_ADDR, 0);
    emit(p, RK3588_DPU_DATA_CUBE_CHANNEL, 15u << 16 | 15);
    emit(p, RK3588_DPU_BS_CFG, 0x53);
    emit(p, RK3588_DPU_BS_OW_CFG, 2);
    emit(p, RK3588_DPU_BN_CFG, 0x53);
    emit(p, RK3588_DPU_EW_CFG, 0x383);
    emit(p, RK3588_DPU_OUT_CVT_OFFSET, 0);
    emit(p, RK3588_DPU_OUT_CVT_SCALE, 1);
    emit(p, RK3588_DPU_OUT_CVT_SHIFT, 0);
    emit(p, RK3588_DPU_SURFACE_ADD, 16);
    emit(p, RK3588_DPU_RDMA_DATA_CUBE_WIDTH, 0);
    emit(p, RK3588_DPU_RDMA_DATA_CUBE_HEIGHT, 0);
    emit(p, RK3588_DPU_RDMA_DATA_CUBE_CHANNEL, 15);
    emit(p, RK3588_DPU_RDMA_SRC_BASE_ADDR, from);
    emit(p, RK3588_DPU_RDMA_BRDMA_CFG, 0);
    emit(p, RK3588_DPU_RDMA_ERDMA_CFG, 1);
    emit(p, RK3588_DPU_RDMA_FEATURE_MODE_CFG, 0x7801);
    emit(p, RK3588_DPU_RDMA_SURF_NOTCH, 0);
}

#endif
