// SPDX-License-Identifier: GPL-2.0-or-later
// RK3576: DPU-only tasks, pooling and floating layers, with the registers that Rockchip's compiler
// (rknn-toolkit2 2.5.0) writes for networks of one operation. Expected: plain C++.
#include "fake_host.h"
#include "halves.h"
#include "refusal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

extern "C" {
#include "kernels/isa.h"
}

namespace
{

constexpr uint32_t kA = 0x100000, kB = 0x200000, kStream = 0x270000, kConst = 0x280000,
                   kOut = 0x300000;
constexpr uint32_t kNoLow = 0x80000000, kNoHigh = 0x7fffffff;
constexpr unsigned kPixels = 40, kValues = kPixels * 8;

uint32_t Bits(float v)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof(bits));
    return bits;
}

void NoClamps(TaskRunner &task)
{
    for (uint32_t reg :
         { RK3576_DPU_BS_CLAMP_MIN_0, RK3576_DPU_BS_CLAMP_MIN_1, RK3576_DPU_BN_CLAMP_MIN_0,
           RK3576_DPU_BN_CLAMP_MIN_1, RK3576_DPU_EW_CLAMP_MIN_0, RK3576_DPU_EW_CLAMP_MIN_1 }) {
        task.set(reg, kNoLow);
        task.set(reg + 4, kNoHigh);
    }
}

// kPixels pixels of one surface, fp16 in and out, every stage bypassed.
TaskRunner Fp16Task(FakeHost &host)
{
    TaskRunner task(host, rknpu_rk3576, RKNPU_UNIT_DPU | RKNPU_UNIT_DPU_RDMA);

    task.set(RK3576_DPU_FEATURE_MODE_CFG, 5);
    task.set(RK3576_DPU_DATA_FORMAT, 0x40000002);
    task.set(RK3576_DPU_DST_BASE_ADDR, kOut);
    task.set(RK3576_DPU_DST_SURF_STRIDE, kPixels);
    task.set(RK3576_DPU_DATA_CUBE_WIDTH, kPixels - 1);
    task.set(RK3576_DPU_DATA_CUBE_CHANNEL, 7);
    task.set(RK3576_DPU_ORIG_CHANNEL, 7 << 16 | 0xf00);
    task.set(RK3576_DPU_BS_CFG, 0x53);
    task.set(RK3576_DPU_BS_OW_SRC, 2);
    task.set(RK3576_DPU_BN_CFG, 0x903);
    task.set(RK3576_DPU_EW_CFG, 0x10041c1);
    task.set(RK3576_DPU_EW_CVT_SCALE_VALUE, 1);
    task.set(RK3576_DPU_OUT_CVT_SCALE, 0x10001);
    task.set(RK3576_DPU_RDMA_DATA_CUBE_WIDTH, kPixels - 1);
    task.set(RK3576_DPU_RDMA_DATA_CUBE_CHANNEL, 7);
    task.set(RK3576_DPU_RDMA_SRC_BASE_ADDR, kA);
    task.set(RK3576_DPU_RDMA_BS_BASE_ADDR, kStream);
    task.set(RK3576_DPU_RDMA_BS_SHARED_ADDR, kConst);
    task.set(RK3576_DPU_RDMA_BN_BASE_ADDR, kStream);
    task.set(RK3576_DPU_RDMA_BN_SHARED_ADDR, kConst);
    task.set(RK3576_DPU_RDMA_ERDMA_CFG, 0x41);
    task.set(RK3576_DPU_RDMA_EW_BASE_ADDR, kB);
    task.set(RK3576_DPU_RDMA_EW_SURF_STRIDE, kPixels);
    task.set(RK3576_DPU_RDMA_FEATURE_MODE_CFG, 0x10049);
    NoClamps(task);
    return task;
}

class Rk3576Dpu : public testing::Test
{
  protected:
    Rk3576Dpu() : a(RandomHalves(kValues, -5, 5, 1)), b(RandomHalves(kValues, 0.5f, 5, 2))
    {
        host.put(kA, a);
        host.put(kB, b);
    }

    void Check(TaskRunner &task, const std::function<float(float, float, unsigned)> &expected)
    {
        ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
        auto out = host.get<uint16_t>(kOut, kValues);
        for (unsigned i = 0; i < kValues; i++) {
            ASSERT_EQ(out[i], Half(expected(Value(a[i]), Value(b[i]), i % 8))) << i;
        }
    }

    FakeHost host;
    std::vector<uint16_t> a, b;
};

TEST_F(Rk3576Dpu, Elementwise)
{
    struct {
        uint32_t cfg;
        std::function<float(float, float)> f;
    } operations[] = {
        { 0x0000c0c0, [](float x, float y) { return std::max(x, y); } },
        { 0x0002c0c0, [](float x, float y) { return x + y; } },
        { 0x0004c0c0, [](float x, float y) { return x - y; } },
        { 0x010f4194, [](float x, float y) { return x * y; } },
        { 0x010321c8, [](float x, float y) { return x / y; } },
        { 0x000741c0, [](float x, float) { return std::floor(x); } },
        { 0x0002c080, [](float x, float y) { return (x + y) * 0.5f; } }, // of a square root
    };

    for (auto &op : operations) {
        TaskRunner task = Fp16Task(host);

        SCOPED_TRACE(testing::Message() << std::hex << op.cfg);
        task.set(RK3576_DPU_EW_CFG, op.cfg);
        task.set(RK3576_DPU_EW_MUL_OPERAND, Half(0.5f));
        task.set(RK3576_DPU_RDMA_ERDMA_CFG, 0x40000048);
        Check(task, [&](float x, float y, unsigned) { return op.f(x, y); });
    }
}

TEST_F(Rk3576Dpu, PerChannelElementwise)
{
    TaskRunner task = Fp16Task(host);

    task.set(RK3576_DPU_EW_CFG, 0x010f4194);
    task.set(RK3576_DPU_RDMA_ERDMA_CFG, 0x48);
    Check(task, [&](float x, float, unsigned c) { return x * Value(b[c]); });
}

// relu, relu6: clamp pairs of BS hold fp32; kNoLow and kNoHigh are no limits, not -0 and NaN.
TEST_F(Rk3576Dpu, FloatingClamps)
{
    for (float high : { 0.0f, 3.5f }) {
        TaskRunner task = Fp16Task(host);

        task.set(RK3576_DPU_BS_CFG, 0x52);
        for (uint32_t reg : { RK3576_DPU_BS_CLAMP_MIN_0, RK3576_DPU_BS_CLAMP_MIN_1 }) {
            task.set(reg, 0);
            task.set(reg + 4, high != 0 ? Bits(high) : kNoHigh);
        }
        Check(task, [&](float x, float, unsigned) {
            return std::max(0.0f, high != 0 ? std::min(x, high) : x);
        });
    }
}

// BRDMA_CFG: one operand for all channels (neg, leaky relu, add of a number) at the address of what
// they share, one a channel at the other, or both (conv_leaky).
TEST_F(Rk3576Dpu, OperandsOfBs)
{
    struct {
        const char *name;
        uint32_t cfg, prelu, brdma;
        std::function<float(float, unsigned)> f;
    } cases[] = {
        { "neg", 0x52, 2, 8, [](float x, unsigned) { return -x; } },
        { "leaky", 0x52, 4, 0x18, [](float x, unsigned) { return x < 0 ? -x : x; } },
        { "mul", 0x52, 2, 0x400, [&](float x, unsigned c) { return x * Value(b[c]); } },
        { "prelu", 0x52, 6, 0x400,
          [&](float x, unsigned c) { return x < 0 ? x * Value(b[c]) : x; } },
        { "add number", 0x100012, 2, 2, [](float x, unsigned) { return x + 0.5f; } },
        { "add", 0x100092, 2, 0x100, [](float x, unsigned c) { return x + 0.25f * (float)c; } },
        { "bias, leaky", 0x100092, 4, 0x108,
          [](float x, unsigned c) { return std::abs(x + 0.25f * (float)c); } },
    };

    for (auto &c : cases) {
        TaskRunner task = Fp16Task(host);
        std::vector<float> quarters(8);

        SCOPED_TRACE(c.name);
        for (unsigned i = 0; i < 8; i++) {
            quarters[i] = 0.25f * (float)i;
        }
        if (c.brdma == 0x400) {
            host.put(kStream, std::vector<uint16_t>(b.begin(), b.begin() + 8));
        }
        if (c.brdma & 8) {
            host.put(kConst, std::vector<uint16_t>{ Half(-1), 0xffff });
        }
        if (c.brdma & 2) {
            host.put(kConst, std::vector<float>{ 0.5f });
        }
        if (c.brdma & 0x100) {
            host.put(kStream, quarters);
        }
        task.set(RK3576_DPU_BS_CFG, c.cfg);
        task.set(RK3576_DPU_BS_OW_SRC, c.prelu);
        task.set(RK3576_DPU_RDMA_BRDMA_CFG, c.brdma);
        Check(task, [&](float x, float, unsigned channel) { return c.f(x, channel); });
    }
}

// layernorm's end: two fp16 surfaces in different places become the one surface of int8.
TEST_F(Rk3576Dpu, SurfacesInTwoPlaces)
{
    TaskRunner task = Fp16Task(host);

    task.set(RK3576_DPU_DATA_FORMAT, 2);
    task.set(RK3576_DPU_DATA_CUBE_CHANNEL, 15);
    task.set(RK3576_DPU_ORIG_CHANNEL, 15 << 16 | 0xf00);
    task.set(RK3576_DPU_RDMA_DATA_CUBE_CHANNEL, 15);
    task.set(RK3576_DPU_RDMA_FEATURE_MODE_CFG, 0x10149);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
    auto out = host.get<int8_t>(kOut, 2 * kValues);
    for (unsigned i = 0; i < out.size(); i++) {
        const auto &from = i % 16 < 8 ? a : b;

        ASSERT_EQ(out[i], std::nearbyint(Value(from[i / 16 * 8 + i % 8]))) << i;
    }
}

// layernorm clears the lanes behind the tensor's last channel by copying the others in place,
// softmax gives them the lowest number.
TEST_F(Rk3576Dpu, LanesBehindTheLastChannel)
{
    for (uint32_t pend : { 0u, 0xfbffu }) {
        TaskRunner task = Fp16Task(host);

        host.put(kA, a);
        task.set(RK3576_DPU_OFFSET_PEND, pend);
        task.set(RK3576_DPU_DST_BASE_ADDR, kA);
        task.set(RK3576_DPU_DATA_CUBE_CHANNEL, 1);
        task.set(RK3576_DPU_ORIG_CHANNEL, 1 << 16 | 0xf00);
        task.set(RK3576_DPU_RDMA_DATA_CUBE_CHANNEL, 1);
        ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
        auto out = host.get<uint16_t>(kA, kValues);
        for (unsigned i = 0; i < out.size(); i++) {
            ASSERT_EQ(out[i], i % 8 < 2 ? a[i] : pend) << i;
        }
    }
}

// w4a16: fp16 features, weights of four bits in the usual order, low one first; BN scales.
TEST(Rk3576Float, WeightsOfFourBits)
{
    constexpr unsigned kC = 64, kK = 24;
    FakeHost host;
    auto in = RandomHalves(kPixels * kC, -1, 1, 7), scales = RandomHalves(kK, 0.5f, 2, 8);
    std::vector<uint8_t> packed(kK * kC / 2);
    std::vector<int> weights(kK * kC);
    std::mt19937 random(9);

    for (unsigned k = 0; k < kK; k++) {
        for (unsigned c = 0; c < kC; c++) {
            unsigned kernels = std::min(16u, kK - k / 16 * 16);
            unsigned at = k / 16 * 16 * kC + c / 32 * 32 * kernels + k % 16 * 32 + c % 32;
            int w = (int)(random() % 16) - 8;

            weights[k * kC + c] = w;
            packed[at / 2] |= (uint8_t)((w & 15) << at % 2 * 4);
        }
    }
    host.put(kA, in);
    host.put(kB, packed);
    host.put(kStream, scales);
    for (unsigned isa : { RKNPU_ISA_NONE, RKNPU_ISA_BEST }) {
        TaskRunner task = Fp16Task(host);

        task.config.force_isa = isa;
        task.job.unit_mask =
            RKNPU_UNIT_CNA | RKNPU_UNIT_CORE | RKNPU_UNIT_DPU | RKNPU_UNIT_DPU_RDMA;
        task.set(RK3576_CNA_CONV_CON1, 0x600120);
        task.set(RK3576_CNA_CONV_CON3, 9);
        task.set(RK3576_CNA_WEIGHT_SIZE0, kK * kC / 2);
        task.set(RK3576_CNA_WEIGHT_SIZE1, kC / 2);
        task.set(RK3576_CNA_WEIGHT_SIZE2, kK - 1);
        task.set(RK3576_CNA_DATA_SIZE1, kC - 1);
        task.set(RK3576_CNA_DATA_SIZE0, (kPixels - 1) << 16);
        task.set(RK3576_CNA_FC_DATA_SIZE0, (kPixels - 1) << 16);
        task.set(RK3576_CNA_CVT_CON0, 0xb);
        task.set(RK3576_CNA_FEATURE_DATA_ADDR, kA);
        task.set(RK3576_CNA_DMA_CON1, 4 * kPixels);
        task.set(RK3576_CNA_DMA_CON2, kPixels);
        task.set(RK3576_CNA_DCOMP_ADDR0, kB);
        task.set(RK3576_CORE_MISC_CFG, 0x10000200);
        task.set(RK3576_DPU_FEATURE_MODE_CFG, 0x40000004);
        task.set(RK3576_DPU_DATA_CUBE_CHANNEL, kK - 1);
        task.set(RK3576_DPU_ORIG_CHANNEL, (kK - 1) << 16 | 0x710);
        task.set(RK3576_DPU_BN_CFG, 0xa02);
        task.set(RK3576_DPU_BS_OW_CFG, 0x21111);
        task.set(RK3576_DPU_SURFACE_ADD, kPixels);
        task.set(RK3576_DPU_RDMA_NRDMA_CFG, 0x400);
        ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
        auto out = host.get<uint16_t>(kOut, kK * kPixels);
        for (unsigned k = 0; k < kK; k++) {
            for (unsigned p = 0; p < kPixels; p++) {
                float sum = 0;

                for (unsigned c = 0; c < kC; c++) {
                    sum +=
                        Value(in[(c / 8 * kPixels + p) * 8 + c % 8]) * (float)weights[k * kC + c];
                }
                ASSERT_EQ(out[(k / 8 * kPixels + p) * 8 + k % 8], Half(sum * Value(scales[k])))
                    << k << " " << p;
            }
        }
    }
}

TEST(Rk3576Float, RefusesOtherWeights)
{
    FakeHost host;
    TaskRunner task = Fp16Task(host);

    task.job.unit_mask = RKNPU_UNIT_CNA | RKNPU_UNIT_CORE | RKNPU_UNIT_DPU | RKNPU_UNIT_DPU_RDMA;
    task.set(RK3576_DPU_FEATURE_MODE_CFG, 0x40000004);
    ExpectRefused(task, { RK3576_CNA_CONV_CON1, 0x120, "WEIGHT_PRECISION" });
}

// softmax over 40 channels of 32 pixels, its first step: a convolution copies each surface's eight
// channels to kernels 0..3 and 8..11, and each pixel's five surfaces make two pieces of 40 results.
// All numbers are negative: the kernels between take no part.
TEST(Rk3576Float, LargestOfPieces)
{
    constexpr unsigned kPitch = 36, kSurfaces = 5;
    FakeHost host;
    TaskRunner task = Fp16Task(host);
    auto in = RandomHalves(kPitch * kSurfaces * 8, -9, -1, 7);
    std::vector<uint16_t> weights(16 * 8);

    for (unsigned c = 0; c < 8; c++) {
        weights[(c / 4 * 8 + c % 4) * 8 + c] = Half(1);
    }
    host.put(kA, in);
    host.put(kB, weights);
    task.job.unit_mask = RKNPU_UNIT_CNA | RKNPU_UNIT_CORE | RKNPU_UNIT_DPU;
    task.set(RK3576_CNA_CONV_CON1, 0x20200120);
    task.set(RK3576_CNA_CONV_CON3, 9);
    task.set(RK3576_CNA_WEIGHT_SIZE0, 0x100);
    task.set(RK3576_CNA_WEIGHT_SIZE1, 0x10);
    task.set(RK3576_CNA_WEIGHT_SIZE2, 15);
    task.set(RK3576_CNA_DATA_SIZE1, 7);
    task.set(RK3576_CNA_DATA_SIZE0, (32 * kSurfaces - 1) << 16);
    task.set(RK3576_CNA_FC_DATA_SIZE0, 31 << 16 | (kSurfaces - 1));
    task.set(RK3576_CNA_FC_DATA_SIZE1, 7);
    task.set(RK3576_CNA_CVT_CON0, 0xb);
    task.set(RK3576_CNA_FEATURE_DATA_ADDR, kA);
    task.set(RK3576_CNA_DMA_CON1, kPitch);
    task.set(RK3576_CNA_DMA_CON2, kPitch);
    task.set(RK3576_CNA_DCOMP_ADDR0, kB);
    task.set(RK3576_CORE_MISC_CFG, 0x10000200);
    task.set(RK3576_DPU_FEATURE_MODE_CFG, 0x40000004);
    task.set(RK3576_DPU_OFFSET_PEND, 0xfbfb);
    task.set(RK3576_DPU_DST_SURF_STRIDE, 32);
    task.set(RK3576_DPU_DATA_CUBE_WIDTH, 63);
    task.set(RK3576_DPU_DATA_CUBE_HEIGHT, 0x250000);
    task.set(RK3576_DPU_DATA_CUBE_CHANNEL, 39);
    task.set(RK3576_DPU_ORIG_CHANNEL, 0xf10);
    task.set(RK3576_DPU_WDMA_SIZE_1, 0x1f0000);
    task.set(RK3576_DPU_BS_OW_CFG, 0x120000);
    task.set(RK3576_DPU_SURF_LEN, 32);
    task.set(RK3576_DPU_LINE_BYTES, 4);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
    auto out = host.get<uint16_t>(kOut, 32 * 8);
    for (unsigned p = 0; p < 32; p++) {
        float best[2] = { -99, -99 };

        for (unsigned c = 0; c < 40; c++) {
            // Kernel c % 8 / 4 * 8 of surface c / 8, 16 to a surface, 40 to a piece.
            float &b = best[(c / 8 * 16 + c % 8 / 4 * 8) / 40];

            b = std::max(b, Value(in[(c / 8 * kPitch + p) * 8 + c % 8]));
        }
        EXPECT_EQ(Value(out[p * 8]), best[0]) << p;
        EXPECT_EQ(Value(out[p * 8 + 1]), best[1]) << p;
        EXPECT_EQ(out[p * 8 + 2], 0xfbfb) << p;
    }
}

// e_add: x * 16384 + RND((e - 3) * 32766, 1), then OUT_CVT; the constants stand as ALU's at +0,
// multiplier's at +0x20, shifts at +0x30.
TEST(Rk3576Int8, AddOfTwoTensors)
{
    FakeHost host;
    TaskRunner task = Fp16Task(host);
    std::vector<int8_t> x(kPixels * 16), e(kPixels * 16);
    std::mt19937 random(3);

    for (unsigned i = 0; i < x.size(); i++) {
        x[i] = (int8_t)random();
        e[i] = (int8_t)random();
    }
    host.put(kA, x);
    host.put(kB, e);
    host.put(kConst, std::vector<int32_t>{ 3, 0, 0, 0, 3, 0, 0, 0, 0x4000, 0, 0, 0, 0x101 });
    task.set(RK3576_DPU_DATA_FORMAT, 0);
    task.set(RK3576_DPU_DATA_CUBE_CHANNEL, 15);
    task.set(RK3576_DPU_ORIG_CHANNEL, 15 << 16 | 0xf00);
    task.set(RK3576_DPU_BS_CFG, 0x100012);
    task.set(RK3576_DPU_BS_OW_SRC, 0);
    task.set(RK3576_DPU_EW_CFG, 0x8002c0c0);
    task.set(RK3576_DPU_EW_CVT_OFFSET_VALUE, 0xfffd); // 16 bits are the offset
    task.set(RK3576_DPU_EW_CVT_SCALE_VALUE, 0x17ffe);
    task.set(RK3576_DPU_OUT_CVT_OFFSET, (uint32_t)-1);
    task.set(RK3576_DPU_OUT_CVT_SCALE, 0x14066);
    task.set(RK3576_DPU_OUT_CVT_SHIFT, 28);
    task.set(RK3576_DPU_RDMA_DATA_CUBE_CHANNEL, 15);
    task.set(RK3576_DPU_RDMA_BRDMA_CFG, 0x1a);
    task.set(RK3576_DPU_RDMA_ERDMA_CFG, 0x40000044);
    task.set(RK3576_DPU_RDMA_FEATURE_MODE_CFG, 9);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
    auto out = host.get<int8_t>(kOut, kPixels * 16);
    for (unsigned i = 0; i < out.size(); i++) {
        double v = std::nearbyint((x[i] + 3) * 16384 / 2.0) + std::nearbyint((e[i] - 3) * 16383.0);

        v = std::nearbyint((v * 0x4066 - std::ldexp(1, 28)) / std::ldexp(1, 28));
        ASSERT_EQ(out[i], std::min(127.0, std::max(-128.0, v))) << i;
    }
}

// elu: (x + 5) * 3276 by BN's two numbers, tables of 513, a limit of 0 in EW behind the table.
TEST_F(Rk3576Dpu, LookUp)
{
    for (bool limit : { false, true }) {
        TaskRunner task = Fp16Task(host);
        std::vector<uint8_t> numbers(0x22);
        const float five = 5;
        const uint16_t factor = 0x6a66;

        memcpy(numbers.data(), &five, 4);
        memcpy(numbers.data() + 0x20, &factor, 2);
        host.put(kConst, numbers);
        for (int i = 0; i < RKNPU_LUT_ENTRIES; i++) {
            task.job.lut[0][i] = (int16_t)(i - 512);
            task.job.lut[1][i] = (int16_t)(2 * i);
        }
        task.set(RK3576_DPU_BN_CFG, 0x20);
        task.set(RK3576_DPU_RDMA_NRDMA_CFG, 0x1a);
        task.set(RK3576_DPU_EW_CFG, 0x1004140);
        task.set(RK3576_DPU_EW_CLAMP_MIN_0, limit ? 0 : kNoLow);
        task.set(RK3576_DPU_LUT_CFG, 0x2000006);
        task.set(RK3576_DPU_LUT_INFO, 0x50500);
        task.set(RK3576_DPU_LUT_LE_START, (uint32_t)-16384);
        task.set(RK3576_DPU_LUT_LO_END, 16384);
        task.set(RK3576_DPU_LUT_LO_SLOPE_SCALE, 0x40004000);
        task.set(RK3576_DPU_LUT_LO_SLOPE_SHIFT, 0x0b0b0b0b);
        Check(task, [&](float x, float, unsigned) {
            double at = std::nearbyint((x + 5.0f) * 3276.0f);
            double y = at < 0        ? std::floor(at / 32)
                       : at <= 16384 ? std::floor(at / 16)
                                     : 1024 + std::floor((at - 16384) * 0x4000 / 2048);

            return (float)(limit ? std::max(0.0, y) : y);
        });
    }
}

// softplus: what the table gives is scaled behind it; the 1 in OUT_CVT_OFFSET adds nothing.
TEST_F(Rk3576Dpu, OutputScale)
{
    TaskRunner task = Fp16Task(host);

    task.set(RK3576_DPU_OUT_CVT_OFFSET, 1);
    task.set(RK3576_DPU_OUT_CVT_SCALE, 0x164fe);
    task.set(RK3576_DPU_OUT_CVT_SHIFT, 0xf00c);
    Check(task, [](float x, float, unsigned) { return (float)(x * 0x64fe * std::ldexp(1, -27)); });
}

// bilinear resize: the writer cuts the convolution's pixels into passes of a row each, which then
// lie two rows apart.
TEST(Rk3576Float, ConvolutionByRows)
{
    constexpr unsigned kW = 10, kH = 12;
    FakeHost host;
    TaskRunner task = Fp16Task(host);
    auto in = RandomHalves(16 * kW * kH, -1, 1, 7);
    std::vector<uint16_t> weights(16 * 16);

    for (unsigned k = 0; k < 16; k++) {
        weights[k * 16 + k] = Half(1);
    }
    host.put(kA, in);
    host.put(kB, weights);
    task.job.unit_mask = RKNPU_UNIT_CNA | RKNPU_UNIT_CORE | RKNPU_UNIT_DPU | RKNPU_UNIT_DPU_RDMA;
    task.set(RK3576_CNA_CONV_CON1, 0x200120);
    task.set(RK3576_CNA_CONV_CON3, 9);
    task.set(RK3576_CNA_WEIGHT_SIZE0, 512);
    task.set(RK3576_CNA_WEIGHT_SIZE1, 32);
    task.set(RK3576_CNA_WEIGHT_SIZE2, 15);
    task.set(RK3576_CNA_DATA_SIZE1, 15);
    task.set(RK3576_CNA_DATA_SIZE0, (kW - 1) << 16 | (kH - 1));
    task.set(RK3576_CNA_FC_DATA_SIZE0, (kW - 1) << 16 | (kH - 1));
    task.set(RK3576_CNA_CVT_CON0, 0xb);
    task.set(RK3576_CNA_FEATURE_DATA_ADDR, kA);
    task.set(RK3576_CNA_DMA_CON1, 4 * kW);
    task.set(RK3576_CNA_DMA_CON2, kW * kH);
    task.set(RK3576_CNA_DCOMP_ADDR0, kB);
    task.set(RK3576_CORE_MISC_CFG, 0x10000200);
    task.set(RK3576_DPU_FEATURE_MODE_CFG, 0x40000004);
    task.set(RK3576_DPU_DST_SURF_STRIDE, 480);
    task.set(RK3576_DPU_DATA_CUBE_WIDTH, kW - 1);
    task.set(RK3576_DPU_DATA_CUBE_HEIGHT, kH - 1);
    task.set(RK3576_DPU_DATA_CUBE_NOTCH_ADDR, 1);
    task.set(RK3576_DPU_DATA_CUBE_CHANNEL, 15);
    task.set(RK3576_DPU_ORIG_CHANNEL, (kH * 16 - 1) << 16 | 0x300);
    task.set(RK3576_DPU_WDMA_SIZE_1, (kW - 1) << 16);
    task.set(RK3576_DPU_BS_OW_CFG, 0x21111);
    task.set(RK3576_DPU_SURFACE_ADD, 21);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
    auto out = host.get<uint16_t>(kOut, 2 * 480 * 8);
    for (unsigned i = 0; i < in.size(); i++) {
        unsigned s = i / 8 / (kW * kH), y = i / 8 / kW % kH, x = i / 8 % kW;

        ASSERT_EQ(out[(s * 480 + y * 40 + x * 2) * 8 + i % 8], in[i]) << i;
    }
}

// A packed fp16 picture of three channels: lines in atoms, taps of four channels in the usual
// order.
TEST(Rk3576Float, PackedPicture)
{
    constexpr unsigned kW = 32, kH = 12, kK = 16, kOutW = kW / 2, kOutH = kH / 2;
    FakeHost host;
    TaskRunner task = Fp16Task(host);
    auto in = RandomHalves(kW * kH * 3, -1, 1, 7);
    auto weights = RandomHalves(9 * kK * 4, -1, 1, 8);

    host.put(kA, in);
    host.put(kB, weights);
    task.job.unit_mask = RKNPU_UNIT_CNA | RKNPU_UNIT_CORE | RKNPU_UNIT_DPU;
    task.set(RK3576_CNA_CONV_CON1, 0x2020a122);
    task.set(RK3576_CNA_CONV_CON3, 0x12);
    task.set(RK3576_CNA_WEIGHT_SIZE0, 9 * kK * 8);
    task.set(RK3576_CNA_WEIGHT_SIZE1, 9 * 8);
    task.set(RK3576_CNA_WEIGHT_SIZE2, 2 << 24 | 2 << 16 | (kK - 1));
    task.set(RK3576_CNA_DATA_SIZE1, 2);
    task.set(RK3576_CNA_DATA_SIZE0, (kW - 1) << 16 | (kH - 1));
    task.set(RK3576_CNA_FC_DATA_SIZE0, (kW * 6 / 16 - 1) << 16 | (kH - 1));
    task.set(RK3576_CNA_FC_DATA_SIZE1, 2);
    task.set(RK3576_CNA_CVT_CON0, 0xe38e9);
    task.set(RK3576_CNA_PAD_CON0, 0x101);
    task.set(RK3576_CNA_FEATURE_DATA_ADDR, kA);
    task.set(RK3576_CNA_DMA_CON1, kW * 6 / 16);
    task.set(RK3576_CNA_DMA_CON2, kW * 6 / 16 * kH);
    task.set(RK3576_CNA_DCOMP_ADDR0, kB);
    task.set(RK3576_CORE_MISC_CFG, 0x10000280);
    task.set(RK3576_DPU_FEATURE_MODE_CFG, 0x40000004);
    task.set(RK3576_DPU_DST_SURF_STRIDE, kOutW * kOutH);
    task.set(RK3576_DPU_DATA_CUBE_WIDTH, kOutW - 1);
    task.set(RK3576_DPU_DATA_CUBE_HEIGHT, kOutH - 1);
    task.set(RK3576_DPU_DATA_CUBE_CHANNEL, kK - 1);
    task.set(RK3576_DPU_ORIG_CHANNEL, (kK - 1) << 16 | 0x710);
    task.set(RK3576_DPU_WDMA_SIZE_1, (kOutH - 1) << 16 | (kOutW - 1));
    task.set(RK3576_DPU_BS_OW_CFG, 0x21111);
    task.set(RK3576_DPU_SURFACE_ADD, kOutW * kOutH);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
    auto out = host.get<uint16_t>(kOut, kK * kOutW * kOutH);
    for (unsigned i = 0; i < out.size(); i++) {
        unsigned k = i / 8 / (kOutW * kOutH) * 8 + i % 8;
        int y = (int)(i / 8 / kOutW % kOutH * 2), x = (int)(i / 8 % kOutW * 2);
        float sum = 0;

        for (int t = 0; t < 9; t++) {
            int iy = y + t / 3 - 1, ix = x + t % 3 - 1;

            for (unsigned c = 0; c < 3 && iy >= 0 && ix >= 0; c++) {
                sum += Value(in[(iy * kW + ix) * 3 + c]) *
                       Value(weights[((unsigned)t * kK + k) * 4 + c]);
            }
        }
        ASSERT_EQ(out[i], Half(sum)) << i;
    }
}

// The compiler pads a maximum with -128 here and lists the multiples of the pad value for averages.
TEST(Rk3576Ppu, MaximumAndAverage)
{
    constexpr int kW = 10, kH = 12, kPad = -7;
    FakeHost host;
    std::vector<int8_t> in(kW * kH * 16);
    std::mt19937 random(5);

    for (int8_t &v : in) {
        v = (int8_t)random();
    }
    host.put(kA, in);
    for (bool average : { false, true }) {
        TaskRunner task(host, rknpu_rk3576, RKNPU_UNIT_PPU | RKNPU_UNIT_PPU_RDMA);

        task.set(RK3576_PPU_DATA_CUBE_IN_WIDTH, kW - 1);
        task.set(RK3576_PPU_DATA_CUBE_IN_HEIGHT, kH - 1);
        task.set(RK3576_PPU_DATA_CUBE_IN_CHANNEL, 15);
        task.set(RK3576_PPU_DATA_CUBE_OUT_WIDTH, kW - 1);
        task.set(RK3576_PPU_DATA_CUBE_OUT_HEIGHT, kH - 1);
        task.set(RK3576_PPU_DATA_CUBE_OUT_CHANNEL, 15);
        task.set(RK3576_PPU_OPERATION_MODE_CFG, average ? 0x10 : 0x11);
        task.set(RK3576_PPU_POOLING_KERNEL_CFG, 0x202);
        task.set(RK3576_PPU_RECIP_KERNEL_WIDTH, average ? 0x5555 : 0);
        task.set(RK3576_PPU_RECIP_KERNEL_HEIGHT, average ? 0x5555 : 0);
        task.set(RK3576_PPU_POOLING_PADDING_CFG, 0x1111);
        for (uint32_t i = 0; i < 4; i++) {
            task.set(RK3576_PPU_PADDING_VALUE_1_CFG + 4 * i,
                     (uint32_t)(average ? kPad * (int)(i + 1) : -128) & 0x7ffff);
        }
        task.set(RK3576_PPU_DST_BASE_ADDR, kOut);
        task.set(RK3576_PPU_DST_SURF_STRIDE, kW * kH * 16);
        task.set(RK3576_PPU_DATA_FORMAT, kW * kH << 4);
        task.set(RK3576_PPU_RDMA_CUBE_IN_WIDTH, kW - 1);
        task.set(RK3576_PPU_RDMA_CUBE_IN_HEIGHT, kH - 1);
        task.set(RK3576_PPU_RDMA_CUBE_IN_CHANNEL, 15);
        task.set(RK3576_PPU_RDMA_SRC_BASE_ADDR, kA);
        task.set(RK3576_PPU_RDMA_SRC_LINE_STRIDE, kW * 16);
        task.set(RK3576_PPU_RDMA_SRC_SURF_STRIDE, kW * kH * 16);
        task.set(RK3576_PPU_RDMA_DATA_FORMAT, 0x40);
        ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
        auto out = host.get<int8_t>(kOut, in.size());
        for (int i = 0; i < (int)out.size(); i++) {
            int x0 = i / 16 % kW, y0 = i / 16 / kW, high = -128, sum = 0;

            for (int y = y0 - 1; y <= y0 + 1; y++) {
                for (int x = x0 - 1; x <= x0 + 1; x++) {
                    bool inside = y >= 0 && x >= 0 && y < kH && x < kW;
                    int v = inside ? in[(y * kW + x) * 16 + i % 16] : kPad;

                    sum += v;
                    high = inside ? std::max(high, v) : high;
                }
            }
            ASSERT_EQ(out[i],
                      average ? std::nearbyint(sum * 21845.0 * 21845.0 / 4294967296.0) : high)
                << i;
        }
    }
}

// A 1x1 fp16 layer with bias and ReLU; sums run over channels upwards in fp32.
TEST(Rk3576Float, Convolution)
{
    constexpr unsigned kC = 16, kK = 24;
    FakeHost host;
    TaskRunner task = Fp16Task(host);
    std::mt19937 random(7);
    std::uniform_real_distribution<float> value(-1, 1);
    std::vector<uint16_t> in(kPixels * kC), weights(kK * kC);
    std::vector<float> bias(kK);

    task.job.unit_mask |= RKNPU_UNIT_CNA | RKNPU_UNIT_CORE;
    for (uint16_t &v : in) {
        v = Half(value(random));
    }
    for (uint16_t &v : weights) {
        v = Half(value(random)); // [kernel][channel]: one slice, groups follow each other
    }
    for (float &v : bias) {
        v = value(random);
    }
    host.put(kA, in); // [surface][pixel][8]
    host.put(kB, weights);
    host.put(kStream, bias);
    task.set(RK3576_CNA_CONV_CON1, 0x200120);
    task.set(RK3576_CNA_CONV_CON3, 9);
    task.set(RK3576_CNA_WEIGHT_SIZE0, kK * kC * 2);
    task.set(RK3576_CNA_WEIGHT_SIZE1, kC * 2);
    task.set(RK3576_CNA_WEIGHT_SIZE2, kK - 1);
    task.set(RK3576_CNA_DATA_SIZE1, kC - 1);
    task.set(RK3576_CNA_DATA_SIZE0, (kPixels - 1) << 16);
    task.set(RK3576_CNA_CVT_CON0, 0xb);
    task.set(RK3576_CNA_FC_DATA_SIZE0, (kPixels - 1) << 16);
    task.set(RK3576_CNA_FC_DATA_SIZE1, kC - 1);
    task.set(RK3576_CNA_FEATURE_DATA_ADDR, kA);
    task.set(RK3576_CNA_DMA_CON1, 4 * kPixels);
    task.set(RK3576_CNA_DMA_CON2, kPixels);
    task.set(RK3576_CNA_DCOMP_ADDR0, kB);
    task.set(RK3576_CORE_MISC_CFG, 0x10000200);
    task.set(RK3576_DPU_FEATURE_MODE_CFG, 0x40000004);
    task.set(RK3576_DPU_DATA_CUBE_CHANNEL, kK - 1);
    task.set(RK3576_DPU_ORIG_CHANNEL, (kK - 1) << 16 | 0x710);
    task.set(RK3576_DPU_BS_CFG, 0x100092);
    task.set(RK3576_DPU_BS_OW_CFG, 0x21011);
    task.set(RK3576_DPU_BN_CFG, 0x902);
    task.set(RK3576_DPU_BN_CLAMP_MIN_0, 0);
    task.set(RK3576_DPU_BN_CLAMP_MIN_1, 0);
    task.set(RK3576_DPU_SURFACE_ADD, kPixels);
    task.set(RK3576_DPU_RDMA_BRDMA_CFG, 0x100);
    task.set(RK3576_DPU_RDMA_FEATURE_MODE_CFG, 0x40010050);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
    auto out = host.get<uint16_t>(kOut, kK * kPixels);
    for (unsigned k = 0; k < kK; k++) {
        for (unsigned p = 0; p < kPixels; p++) {
            float sum = 0;

            for (unsigned c = 0; c < kC; c++) {
                sum += Value(in[(c / 8 * kPixels + p) * 8 + c % 8]) * Value(weights[k * kC + c]);
            }
            sum = std::max(0.0f, sum + bias[k]);
            ASSERT_EQ(out[(k / 8 * kPixels + p) * 8 + k % 8], Half(sum)) << k << " " << p;
        }
    }
}

TEST_F(Rk3576Dpu, RefusesTheUnknown)
{
    const Refusal refusals[] = {
        { RK3576_DPU_EW_CFG, 0x0002c090, "EW_CFG operation" }, // both operands from memory
        { RK3576_DPU_EW_CFG, 0x1004140, "LUT_CFG" },
        { RK3576_DPU_OUT_CVT_OFFSET, 2, "OUT_CVT_OFFSET" },
    };

    for (const Refusal &refusal : refusals) {
        TaskRunner task = Fp16Task(host);

        task.set(RK3576_DPU_RDMA_ERDMA_CFG, 0x40000048);
        ExpectRefused(task, refusal);
    }
}

} // namespace
