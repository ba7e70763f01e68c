// SPDX-License-Identifier: GPL-2.0-or-later
// RK3576's convolutions of int16, programmed as its compiler does, against plain integer loops.
#include "fake_host.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace
{

constexpr uint32_t kIn = 0x100000, kWeights = 0x400000, kOut = 0x800000;
constexpr unsigned kW = 16, kH = 12, kK = 40; // one-channel groups of 32 and 8

std::vector<int16_t> Random(size_t count, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<int16_t> v(count);

    for (int16_t &x : v) {
        x = (int16_t)((int)(random() % 4001) - 2000);
    }
    return v;
}

TaskRunner Task(FakeHost &host, bool depthwise, unsigned channels, unsigned tap_bytes)
{
    TaskRunner task(host, rknpu_rk3576, RKNPU_UNIT_CNA | RKNPU_UNIT_CORE | RKNPU_UNIT_DPU);

    task.set(RK3576_CNA_CONV_CON3, 9);
    task.set(RK3576_CNA_WEIGHT_SIZE1, 9 * tap_bytes);
    task.set(RK3576_CNA_WEIGHT_SIZE0, 9 * tap_bytes * (depthwise ? 2 : kK));
    task.set(RK3576_CNA_WEIGHT_SIZE2, 2 << 24 | 2 << 16 | (kK - 1));
    task.set(RK3576_CNA_DATA_SIZE1, channels - 1);
    task.set(RK3576_CNA_DATA_SIZE0, (kW - 1) << 16 | (kH - 1));
    task.set(RK3576_CNA_FC_DATA_SIZE1, channels - 1);
    task.set(RK3576_CNA_CVT_CON0, 0xb);
    task.set(RK3576_CNA_PAD_CON0, 0x1010101);
    task.set(RK3576_CNA_FEATURE_DATA_ADDR, kIn);
    task.set(RK3576_CNA_DCOMP_ADDR0, kWeights);
    task.set(RK3576_DPU_FEATURE_MODE_CFG, depthwise ? 0x4000000c : 0x40000004);
    task.set(RK3576_DPU_DATA_FORMAT, 0x20000001);
    task.set(RK3576_DPU_DST_BASE_ADDR, kOut);
    task.set(RK3576_DPU_DST_SURF_STRIDE, kW * kH);
    task.set(RK3576_DPU_DATA_CUBE_WIDTH, kW - 1);
    task.set(RK3576_DPU_DATA_CUBE_HEIGHT, kH - 1);
    task.set(RK3576_DPU_DATA_CUBE_CHANNEL, kK - 1);
    task.set(RK3576_DPU_ORIG_CHANNEL, (kK - 1) << 16 | (depthwise ? 0x310 : 0x710));
    task.set(RK3576_DPU_WDMA_SIZE_1, (kH - 1) << 16 | (kW - 1));
    task.set(RK3576_DPU_BS_CFG, 0x53);
    task.set(RK3576_DPU_BS_OW_CFG, depthwise ? 0x13133 : 0x11111);
    task.set(RK3576_DPU_BN_CFG, 0x903);
    task.set(RK3576_DPU_EW_CFG, 0x10041c1);
    task.set(RK3576_DPU_EW_CVT_SCALE_VALUE, 1);
    task.set(RK3576_DPU_OUT_CVT_SCALE, 0x4000);
    task.set(RK3576_DPU_OUT_CVT_SHIFT, 0x1c);
    task.set(RK3576_DPU_SURFACE_ADD, (depthwise ? 3 : 1) * kW * kH);
    return task;
}

// sum(k, iy, ix, tap) is what a tap adds to an output.
template <class Sum> void Check(FakeHost &host, TaskRunner &task, Sum sum)
{
    ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
    auto out = host.get<int16_t>(kOut, kK * kW * kH);
    for (unsigned i = 0; i < out.size(); i++) {
        unsigned k = i / 8 / (kW * kH) * 8 + i % 8;
        int64_t acc = 0;

        for (int t = 0; t < 9; t++) {
            int y = (int)(i / 8 / kW % kH) + t / 3 - 1, x = (int)(i / 8 % kW) + t % 3 - 1;

            if (y >= 0 && x >= 0 && y < (int)kH && x < (int)kW) {
                acc += sum(k, (unsigned)y, (unsigned)x, (unsigned)t);
            }
        }
        ASSERT_EQ(out[i], std::nearbyint(std::ldexp((double)acc, -14))) << i;
    }
}

// Each weight has its negated zero point beside it.
TEST(Rk3576Int16, Depthwise)
{
    FakeHost host;
    TaskRunner task = Task(host, true, kK, kK * 2);
    auto in = Random(kK * kW * kH, 1);
    auto weights = Random(9 * kK * 2, 2);

    host.put(kIn, in);
    host.put(kWeights, weights);
    task.set(RK3576_CNA_CONV_CON1, 0x100091);
    task.set(RK3576_CNA_FC_DATA_SIZE0, (kW - 1) << 16 | (kH - 1));
    task.set(RK3576_CNA_DMA_CON1, 4 * kW);
    task.set(RK3576_CNA_DMA_CON2, kW * kH);
    task.set(RK3576_CORE_MISC_CFG, 0x1000010a);
    Check(host, task, [&](unsigned k, unsigned y, unsigned x, unsigned t) {
        const int16_t *w = &weights[(k < 32 ? t * 32 + k : 9 * 32 + t * 8 + k - 32) * 2];

        return (int64_t)in[((k / 8 * kH + y) * kW + x) * 8 + k % 8] * (w[0] + w[1]);
    });
}

// Three channels: lines in atoms, taps of four channels in the usual order.
TEST(Rk3576Int16, PackedPicture)
{
    FakeHost host;
    TaskRunner task = Task(host, false, 3, 8);
    auto in = Random(3 * kW * kH, 3);
    auto weights = Random(9 * kK * 4, 4);

    host.put(kIn, in);
    host.put(kWeights, weights);
    task.set(RK3576_CNA_CONV_CON1, 0x2010a092);
    task.set(RK3576_CNA_CVT_CON0, 9);
    task.set(RK3576_CNA_FC_DATA_SIZE0, (kW * 6 / 16 - 1) << 16 | (kH - 1));
    task.set(RK3576_CNA_DMA_CON1, kW * 6 / 16);
    task.set(RK3576_CNA_DMA_CON2, kW * 6 / 16 * kH);
    task.set(RK3576_CORE_MISC_CFG, 0x10000181);
    Check(host, task, [&](unsigned k, unsigned y, unsigned x, unsigned t) {
        unsigned group = k / 16 * 16, kernels = std::min(16u, kK - group);
        int64_t sum = 0;

        for (unsigned c = 0; c < 3; c++) {
            sum += (int64_t)in[(y * kW + x) * 3 + c] *
                   weights[(group * 9 + t * kernels + k % 16) * 4 + c];
        }
        return sum;
    });
}

} // namespace
