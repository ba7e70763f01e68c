// SPDX-License-Identifier: GPL-2.0-or-later
/* Helpers of soc.h. */
#include "soc.h"

namespace soc {

unsigned put_copy(QTest &q, uint64_t at, uint32_t from, uint32_t to)
{
    const struct {
        uint32_t reg, value;
    } writes[] = {
        {RK3588_DPU_S_POINTER, 0xe},
        {RK3588_DPU_RDMA_S_POINTER, 0xe},
        {RK3588_DPU_FEATURE_MODE_CFG, 0x1e5},
        {RK3588_DPU_DATA_FORMAT, 0},
        {RK3588_DPU_DST_BASE_ADDR, to},
        {RK3588_DPU_DST_SURF_STRIDE, 16},
        {RK3588_DPU_DATA_CUBE_WIDTH, 0},
        {RK3588_DPU_DATA_CUBE_HEIGHT, 0},
        {RK3588_DPU_DATA_CUBE_NOTCH_ADDR, 0},
        {RK3588_DPU_DATA_CUBE_CHANNEL, 15u << 16 | 15},
        {RK3588_DPU_BS_CFG, 0x53},
        {RK3588_DPU_BS_OW_CFG, 2},
        {RK3588_DPU_BN_CFG, 0x53},
        {RK3588_DPU_EW_CFG, 0x383},
        {RK3588_DPU_OUT_CVT_OFFSET, 0},
        {RK3588_DPU_OUT_CVT_SCALE, 1},
        {RK3588_DPU_OUT_CVT_SHIFT, 0},
        {RK3588_DPU_SURFACE_ADD, 16},
        {RK3588_DPU_RDMA_DATA_CUBE_WIDTH, 0},
        {RK3588_DPU_RDMA_DATA_CUBE_HEIGHT, 0},
        {RK3588_DPU_RDMA_DATA_CUBE_CHANNEL, 15},
        {RK3588_DPU_RDMA_SRC_BASE_ADDR, from},
        {RK3588_DPU_RDMA_BRDMA_CFG, 0},
        {RK3588_DPU_RDMA_ERDMA_CFG, 1},
        {RK3588_DPU_RDMA_FEATURE_MODE_CFG, 0x7801},
        {RK3588_DPU_RDMA_SURF_NOTCH, 0},
    };
    unsigned n = 0;

    for (const auto &w : writes) {
        uint64_t block = 1ull << (w.reg >> 12) << 56 | 1ull << 48; /* target of a command word */

        q.write64(at + 8 * n++, block | uint64_t(w.value) << 16 | w.reg);
    }
    q.write64(at + 8 * n++, 0);
    q.write64(at + 8 * n++, 0x0101000000000014);
    q.write64(at + 8 * n++, 0x0041000000000000);
    q.write64(at + 8 * n++, 0x0081000000180008); /* DPU and DPU_RDMA */
    return n;
}

void start(QTest &q, unsigned n, uint32_t address, unsigned words, unsigned tasks)
{
    q.write(core[n] + RK3588_PC_BASE_ADDRESS, 1);
    q.write(core[n] + RK3588_CNA_S_POINTER, 0xe + 0x10000000 * n);
    q.write(core[n] + RK3588_CORE_S_POINTER, 0xe + 0x10000000 * n);
    q.write(core[n] + RK3588_PC_BASE_ADDRESS, address);
    q.write(core[n] + RK3588_PC_REGISTER_AMOUNTS, (words + 1) / 2 - 1);
    q.write(core[n] + RK3588_PC_INTERRUPT_MASK, dpu_done);
    q.write(core[n] + RK3588_PC_INTERRUPT_CLEAR, dpu_done);
    q.write(core[n] + RK3588_PC_TASK_CON, 0x7000 | tasks);
    q.write(core[n] + RK3588_PC_TASK_DMA_BASE_ADDR, 0);
    q.write(core[n] + RK3588_PC_OPERATION_ENABLE, 1);
}

void Soc::SetUp()
{
    if (QTest::emulator().empty()) {
        GTEST_SKIP() << "qemu-system-aarch64 is not built; make all builds it";
    }
    boot();
}

void Soc::boot(const std::vector<std::string> &more)
{
    q = std::make_unique<QTest>("rk3588", more);
    ASSERT_TRUE(q->ok());
    q->spi(0); /* only changes after the first call are seen */
}

} // namespace soc
