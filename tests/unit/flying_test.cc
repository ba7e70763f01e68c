// SPDX-License-Identifier: GPL-2.0-or-later
// DPU-only tasks: elementwise operations, stages, LUT and type changes. The programs are those that
// public projects run on RK3588 boards (allbilly/rk3588: elementwise, "ops"); expected values are
// plain C++.
#include "dpu_task.h"
#include "halves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace
{

constexpr uint32_t kA = DpuTask::kIn, kB = DpuTask::kOperand, kOut = DpuTask::kOut;

struct Operation {
    const char *name;
    uint32_t ew_cfg;
    std::function<float(float, float)> f;
};

constexpr uint32_t kEwBase = 0x108002c0, kEwAdd = kEwBase | 2 << 16; // one operand a pixel

TEST(Flying, Fp16Elementwise)
{
    const Operation operations[] = {
        { "max", kEwBase, [](float a, float b) { return std::max(a, b); } },
        { "min", kEwBase | 1 << 16, [](float a, float b) { return std::min(a, b); } },
        { "add", kEwBase | 2 << 16, [](float a, float b) { return a + b; } },
        { "div", kEwBase | 3 << 16 | 1 << 8, [](float a, float b) { return a / b; } },
        { "sub", kEwBase | 4 << 16, [](float a, float b) { return a - b; } },
        { "abs", kEwBase | 5 << 16, [](float a, float) { return std::fabs(a); } },
        { "neg", kEwBase | 6 << 16, [](float a, float) { return -a; } },
        { "floor", kEwBase | 7 << 16, [](float a, float) { return std::floor(a); } },
        { "ceil", kEwBase | 8 << 16, [](float a, float) { return std::ceil(a); } },
        { "mul", kEwBase | 1 << 2 | 1 << 8, [](float a, float b) { return a * b; } },
        { "prelu", kEwBase | 1 << 2 | 1 << 5 | 1 << 8,
          [](float a, float b) { return a < 0 ? a * b : a; } },
        { "add, relu", (kEwBase | 2 << 16) & ~(1u << 9),
          [](float a, float b) { return std::max(a + b, 0.0f); } },
    };

    for (const Operation &op : operations) {
        for (unsigned n : { 8u, 1000u, 64000u }) {
            SCOPED_TRACE(testing::Message() << op.name << " n=" << n);
            FakeHost host;
            auto a = RandomHalves(n, -5, 5, n), b = RandomHalves(n, 0.5f, 5, n + 1);
            TaskRunner task = DpuTask{ .width = n / 8, .ew_cfg = op.ew_cfg }.runner(host);

            host.put(kA, a);
            host.put(kB, b);
            ASSERT_EQ(task.run(), RKNPU_TASK_OK);
            auto out = host.get<uint16_t>(kOut, n);
            for (unsigned i = 0; i < n; i++) {
                ASSERT_EQ(out[i], Half(op.f(Value(a[i]), Value(b[i])))) << i;
            }
        }
    }
}

// A register that is never written is transparent: the elementwise programs above leave BS_CFG and
// BN_CFG at zero and give right sums on boards.
TEST(Flying, Fp16InFp32Out)
{
    FakeHost host;
    auto a = RandomHalves(8, -5, 5, 1), b = RandomHalves(8, -5, 5, 2);
    const DpuTask dpu = { .out = RKNPU_FP32, .ew_cfg = kEwAdd, .out_cvt_scale = 0 };
    TaskRunner task = dpu.runner(host);

    host.put(kA, a);
    host.put(kB, b);
    // SIZE_E 0, strides 0: the board's program finds its first four sums, so the other four are not
    // written.
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<float>(kOut, 8);
    for (unsigned i = 0; i < 8; i++) {
        ASSERT_EQ(out[i], i < 4 ? Value(a[i]) + Value(b[i]) : 0);
    }
    // Two atoms a pass: all eight.
    task.set(RK3588_DPU_BS_OW_CFG, 1 << 2);
    task.set(RK3588_DPU_DST_SURF_STRIDE, 16);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    out = host.get<float>(kOut, 8);
    for (unsigned i = 0; i < 8; i++) {
        ASSERT_EQ(out[i], Value(a[i]) + Value(b[i]));
    }
}

// Several surfaces and rows with notches on all three streams.
TEST(Flying, NotchesAndSurfaces)
{
    constexpr unsigned kW = 5, kH = 3, kC = 24, kNotchA = 2, kNotchB = 3, kNotchOut = 4;
    constexpr unsigned kRowA = kW + kNotchA, kRowB = kW + kNotchB, kRowOut = kW + kNotchOut;
    constexpr unsigned kSurfA = kRowA * kH, kSurfB = kRowB * kH + 1, kSurfOut = kRowOut * kH + 7;
    FakeHost host;
    const DpuTask dpu = {
        .width = kW,
        .height = kH,
        .channels = kC,
        .line_notch = kNotchA,
        .surface_notch = (kSurfA - kRowA * kH + kNotchA) * 16,
        .ew_cfg = kEwAdd,
        .notch = kNotchOut,
        .surface_add = kSurfOut * 16,
    };
    TaskRunner task = dpu.runner(host);
    auto a = RandomHalves(kSurfA * 3 * 8, -5, 5, 1), b = RandomHalves(kSurfB * 3 * 8, -5, 5, 2);

    host.put(kA, a);
    host.put(kB, b);
    task.set(RK3588_DPU_RDMA_DATA_CUBE_HEIGHT, kNotchB << 16 | (kH - 1));
    task.set(RK3588_DPU_RDMA_EW_SURF_STRIDE, kSurfB * 16);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    for (unsigned c = 0; c < kC; c++) {
        for (unsigned y = 0; y < kH; y++) {
            for (unsigned x = 0; x < kW; x++) {
                auto at = [&](unsigned surf, unsigned row) {
                    return (c / 8 * surf + y * row + x) * 8 + c % 8;
                };
                uint16_t got = host.get<uint16_t>(kOut + at(kSurfOut, kRowOut) * 2, 1)[0];

                ASSERT_EQ(got, Half(Value(a[at(kSurfA, kRowA)]) + Value(b[at(kSurfB, kRowB)])))
                    << c << y << x;
            }
        }
    }
}

// One value per channel from memory instead of a cube.
TEST(Flying, PerChannelOperand)
{
    FakeHost host;
    const DpuTask dpu = { .width = 80 / 8, .erdma_cfg = 2 << 2, .ew_cfg = kEwAdd & ~(3u << 28) };
    TaskRunner task = dpu.runner(host);
    auto a = RandomHalves(80, -5, 5, 1), b = RandomHalves(8, -5, 5, 2);

    host.put(kA, a);
    host.put(kB, b);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint16_t>(kOut, 80);
    for (unsigned i = 0; i < 80; i++) {
        ASSERT_EQ(out[i], Half(Value(a[i]) + Value(b[i % 8]))) << i;
    }
}

// "a < b" as allbilly/rk3588 computes it on the board: ((a - b) - 2^-24) * 2 * inf, clamped to [0,
// 1].
TEST(Flying, CompareByInfinity)
{
    FakeHost host;
    const DpuTask dpu = { .bs_cfg = 4 << 16 | 1 << 6, .bn_cfg = 4 << 16 | 1 << 7 | 1 << 1 };
    TaskRunner task = dpu.runner(host);
    std::vector<uint16_t> difference = { Half(1),   Half(-1),        Half(0),     Half(0x1p-24f),
                                         Half(300), Half(-0x1p-24f), Half(0.25f), Half(-200) };
    std::vector<uint16_t> expected = { Half(1), 0, 0, 0, Half(1), 0, Half(1), 0 };

    host.put(kA, difference);
    task.set(RK3588_DPU_BS_ALU_CFG, 0x33800000);
    task.set(RK3588_DPU_BS_MUL_CFG, 0x4000u << 16);
    task.set(RK3588_DPU_BN_MUL_CFG, 0x7c00u << 16);
    task.set(RK3588_DPU_BN_RELUX_CMP_VALUE, 0x3f800000);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint16_t>(kOut, 8);
    // 2^-24 - 2^-24 = 0, and 0 * inf is a NaN: the board's program leaves that case open.
    out[3] = 0;
    EXPECT_EQ(out, expected);
}

// Programs of Rockchip's compiler for elu: x * 3276 + 16380 in front of the table, and int8 for
// tanh with zero point -1: (q * 21785 + 21785) / 2^9. BN multiplies first; BS adds first.
TEST(Flying, BnMultipliesThenAdds)
{
    FakeHost host;
    const DpuTask dpu = {
        .out = RKNPU_FP32,
        .bn_cfg = 0x20040,
        .out_cvt_scale = 0,
        .bs_ow_cfg = 1 << 2,
        .surface_stride = 16,
    };
    TaskRunner task = dpu.runner(host);
    std::vector<uint16_t> x = { Half(-10),  Half(-1), Half(0),  Half(2),
                                Half(0.5f), Half(-7), Half(-5), Half(3) };

    host.put(kA, x);
    task.set(RK3588_DPU_BN_ALU_CFG, 0x467ff000);
    task.set(RK3588_DPU_BN_MUL_CFG, 0x6a66u << 16);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<float>(kOut, 8);
    for (unsigned i = 0; i < 8; i++) {
        EXPECT_EQ(out[i], Value(x[i]) * 3276 + 16380) << i;
    }
}

TEST(Flying, BnMultipliesThenAddsThenShifts)
{
    FakeHost host;
    const DpuTask dpu = {
        .channels = 16,
        .in = RKNPU_INT8,
        .out = RKNPU_INT32,
        .bn_cfg = 0x20040,
        .out_cvt_scale = 1,
        .bs_ow_cfg = 3 << 2,
        .surface_stride = 16,
    };
    TaskRunner task = dpu.runner(host);
    std::vector<int8_t> q = { -128, -2, -1, 0, 1, 2, 50, 127, 3, 4, 5, 6, 7, 8, 9, 10 };

    host.put(kA, q);
    task.set(RK3588_DPU_DATA_FORMAT, 4u << 29 | 9 << 10);
    task.set(RK3588_DPU_BN_ALU_CFG, 21785);
    task.set(RK3588_DPU_BN_MUL_CFG, 21785u << 16 | 9 << 8);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<int32_t>(kOut, 16);
    for (unsigned i = 0; i < 16; i++) {
        EXPECT_EQ(out[i], std::nearbyint((q[i] + 1) * 21785 / 512.0)) << i;
    }
}

// Two fp32 atoms make one fp16 atom: even surfaces at SRC_BASE, odd ones at EW_BASE (COMB_USE 3),
// as the last task of Rockchip's softplus reads the one before it.
TEST(Flying, PairedMainInput)
{
    constexpr unsigned kPixels = 6, kChannels = 16;
    FakeHost host;
    const DpuTask dpu = {
        .width = kPixels,
        .channels = kChannels,
        .in = RKNPU_FP32,
        .out = RKNPU_FP16,
        .surface_notch = kPixels * 16,
        .operand = kA + kPixels * 16,
        .surface_add = kPixels * 16,
    };
    TaskRunner task = dpu.runner(host);
    std::vector<float> a(kPixels * kChannels);

    for (unsigned i = 0; i < a.size(); i++) {
        a[i] = (float)i / 4; // [surface of 4][pixel][4]
    }
    host.put(kA, a);
    task.set(RK3588_DPU_RDMA_EW_SURF_NOTCH, kPixels * 16);
    task.set(RK3588_DPU_RDMA_FEATURE_MODE_CFG, 0x2fba9);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint16_t>(kOut, kPixels * kChannels);
    for (unsigned c = 0; c < kChannels; c++) {
        for (unsigned p = 0; p < kPixels; p++) {
            float want = a[(c / 4 * kPixels + p) * 4 + c % 4];

            EXPECT_EQ(Value(out[(c / 8 * kPixels + p) * 8 + c % 8]), want) << c << " " << p;
        }
    }
}

// WDMA_SIZE cuts the stream anew: 3 rows of 4 pixels leave as 3 passes of a column of 4, so pixels
// can stand apart (Rockchip's bilinear resize writes every second pixel of every second row).
TEST(Flying, WriterCutsTheStream)
{
    FakeHost host;
    auto a = RandomHalves(3 * 4 * 8, -5, 5, 1);
    const DpuTask dpu = {
        .width = 4,
        .height = 3,
        .wdma_size_0 = 3 * 8 - 1,
        .wdma_size_1 = 3 << 16,
        .notch = 1,
        .surface_add = 2 * 8 * 16,
    };
    TaskRunner task = dpu.runner(host);

    host.put(kA, a);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    for (unsigned y = 0; y < 3; y++) {
        for (unsigned x = 0; x < 4; x++) {
            std::vector<uint16_t> want(&a[(y * 4 + x) * 8], &a[(y * 4 + x) * 8] + 8);

            EXPECT_EQ(host.get<uint16_t>(kOut + (2 * y * 8 + 2 * x) * 16, 8), want) << y << x;
        }
    }
}

// 16-bit numbers that a program calls int16, with the bits that turn fp16 into fp32 and back set:
// Rockchip's square root divides so.
TEST(Flying, HalvesCalledInt16)
{
    FakeHost host;
    auto a = RandomHalves(64, -5, 5, 1), b = RandomHalves(64, 0.5f, 5, 2);
    const DpuTask dpu = {
        .width = 64 / 8,
        .in = RKNPU_INT16,
        .inside = RKNPU_FP16,
        .out = RKNPU_INT16,
        .ew_cfg = 0x100303c0,
    };
    TaskRunner task = dpu.runner(host);

    host.put(kA, a);
    host.put(kB, b);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint16_t>(kOut, 64);
    for (unsigned i = 0; i < 64; i++) {
        EXPECT_EQ(out[i], Half(Value(a[i]) / Value(b[i]))) << i;
    }
}

// int8 to fp16 as Rockchip's compiler dequantizes: integer scale and shift, then 2^-MINUS_EXP.
TEST(Flying, Int8ToHalf)
{
    FakeHost host;
    const DpuTask dpu = {
        .channels = 16,
        .in = RKNPU_INT8,
        .out = RKNPU_FP16,
        .bn_cfg = 0x20050,
        .out_cvt_scale = 0x15c0c,
        .bs_ow_cfg = 0x126,
        .surface_stride = 16,
    };
    TaskRunner task = dpu.runner(host);
    std::vector<int8_t> q = { -128, -2, -1, 0, 1, 2, 50, 127, 3, 4, 5, 6, 7, 8, 9, 10 };

    host.put(kA, q);
    task.set(RK3588_DPU_BN_ALU_CFG, (uint32_t)-2);
    task.set(RK3588_DPU_OUT_CVT_OFFSET, 1);
    task.set(RK3588_DPU_OUT_CVT_SHIFT, 0xe007);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint16_t>(kOut, 16);
    for (unsigned i = 0; i < 16; i++) {
        double v = std::nearbyint((q[i] - 2) * 23564 / 128.0) + 1;

        EXPECT_EQ(out[i], Half((float)(v / 16384))) << i;
    }
}

// Multiplier operands have the type that the DPU works in: 0x3ea2 is 0.316 as bf16 (Rockchip's
// layer norm scales by its square, 1 / 10).
TEST(Flying, Bf16MultiplierOperand)
{
    FakeHost host;
    const DpuTask dpu = {
        .in = RKNPU_BF16,
        .out = RKNPU_FP32,
        .bs_cfg = 0x42,
        .out_cvt_scale = 0,
        .bs_ow_cfg = 1 << 2,
        .surface_stride = 16,
    };
    TaskRunner task = dpu.runner(host);
    std::vector<uint16_t> x = { 0x3f80, 0x4000, 0xc0a0, 0, 0x3f00, 0x4120, 0x42c8, 0xbf80 };

    host.put(kA, x);
    task.set(RK3588_DPU_BS_MUL_CFG, 0x3ea2u << 16);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<float>(kOut, 8);
    const float values[] = { 1, 2, -5, 0, 0.5f, 10, 100, -1 };
    for (unsigned i = 0; i < 8; i++) {
        EXPECT_EQ(out[i], values[i] * 0.31640625f) << i;
    }
}

// "a == b" on the board: (a - b) * inf is NaN only for 0; MINUS_EXP 1 makes 32800 of a NaN and
// 32768 of an infinity; a second task subtracts 32799 and applies ReLU.
TEST(Flying, CompareEqualByNan)
{
    FakeHost host;
    TaskRunner first = DpuTask{ .bs_cfg = 2 << 16 | 1 << 6 }.runner(host);
    TaskRunner second = DpuTask{ .source = kOut, .bs_cfg = 4 << 16 }.runner(host);
    std::vector<uint16_t> difference = { Half(0),        Half(1),  Half(-1), Half(-0.0f),
                                         Half(0x1p-24f), Half(-5), Half(0),  Half(100) };
    std::vector<uint16_t> expected = { Half(1), 0, 0, Half(1), 0, 0, Half(1), 0 };

    host.put(kA, difference);
    first.set(RK3588_DPU_BS_MUL_CFG, 0x7c00u << 16);
    first.set(RK3588_DPU_OUT_CVT_SHIFT, 1 << 12);
    ASSERT_EQ(first.run(), RKNPU_TASK_OK);
    EXPECT_EQ(host.get<uint16_t>(kOut, 3),
              (std::vector<uint16_t>{ Half(32800), Half(32768), Half(-32768) }));
    second.set(RK3588_DPU_BS_ALU_CFG, 0x47001f00);
    second.set(RK3588_DPU_BS_MUL_CFG, 0x3c00u << 16);
    ASSERT_EQ(second.run(), RKNPU_TASK_OK);
    EXPECT_EQ(host.get<uint16_t>(kOut, 8), expected);
}

// int8 scale and add, int32 copy: the other types of main input.
TEST(Flying, Int8Add)
{
    FakeHost host;
    const DpuTask dpu = {
        .width = 256 / 16,
        .channels = 16,
        .in = RKNPU_INT8,
        .erdma_cfg = 1u << 30 | 1 << 2,
        .ew_cfg = 0x904202c0,
        .out_cvt_scale = 20000,
    };
    TaskRunner task = dpu.runner(host);
    std::vector<int8_t> a(256), b(256);
    std::mt19937 random(3);

    for (unsigned i = 0; i < 256; i++) {
        a[i] = (int8_t)random();
        b[i] = (int8_t)random();
    }
    host.put(kA, a);
    host.put(kB, b);
    task.set(RK3588_DPU_EW_CVT_OFFSET_VALUE, 5);
    task.set(RK3588_DPU_EW_CVT_SCALE_VALUE, 12 << 16 | 3000);
    task.set(RK3588_DPU_OUT_CVT_OFFSET, (uint32_t)-3);
    task.set(RK3588_DPU_OUT_CVT_SHIFT, 15);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<int8_t>(kOut, 256);
    for (unsigned i = 0; i < 256; i++) {
        // To nearest, ties to even, as std::nearbyint does; the values are exact in double.
        double e = std::nearbyint((b[i] + 5.0) * 3000 / 4096);
        double v = std::nearbyint(((a[i] + e) * 20000 + -3.0 * 32768) / 32768);

        ASSERT_EQ(out[i], std::min(127.0, std::max(-128.0, v))) << i;
    }
}

TEST(Flying, Int32Copy)
{
    FakeHost host;
    const DpuTask dpu = {
        .width = 2,
        .channels = 4,
        .in = RKNPU_INT32,
        .ew_cfg = 0,
        .out_cvt_scale = 1,
    };
    TaskRunner task = dpu.runner(host);
    std::vector<int32_t> a = { 1, -1, INT32_MAX, INT32_MIN, 77, -12345678, 0, 9 };

    host.put(kA, a);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    EXPECT_EQ(host.get<int32_t>(kOut, 8), a);
}

// The look-up tables as happyme531/rknpu2_matmul_open and allbilly/rk3588 set them: LE below zero,
// LO from zero on, LUT_CFG 0x68, step 2^5; x is scaled by BN's fp16 multiplier, the result is
// Q0.15.
class Lut : public testing::Test
{
  protected:
    static constexpr unsigned kShift = 5;

    TaskRunner Task(unsigned n)
    {
        const DpuTask dpu = { .width = n / 8, .bn_cfg = 2 << 16 | 1 << 6, .ew_cfg = 0x302 };
        TaskRunner task = dpu.runner(host);

        for (int i = 0; i < RKNPU_LUT_ENTRIES; i++) {
            task.job.lut[0][i] = (int16_t)std::lrint(32767 * std::tanh((i - 512) / 128.0));
            task.job.lut[1][i] = (int16_t)std::lrint(32767 * std::tanh(i / 128.0));
        }
        task.set(RK3588_DPU_BN_MUL_CFG, (uint32_t)Half(4096) << 16);
        task.set(RK3588_DPU_OUT_CVT_SHIFT, 15 << 12);
        task.set(RK3588_DPU_LUT_CFG, 0x68);
        task.set(RK3588_DPU_LUT_INFO, kShift << 16 | kShift << 8);
        task.set(RK3588_DPU_LUT_LE_START, (uint32_t) - (512 << kShift));
        task.set(RK3588_DPU_LUT_LO_END, 512 << kShift);
        task.set(RK3588_DPU_LUT_LE_SLOPE_SCALE, 1000);
        task.set(RK3588_DPU_LUT_LE_SLOPE_SHIFT, 12);
        task.set(RK3588_DPU_LUT_LO_SLOPE_SCALE, 2000u << 16);
        task.set(RK3588_DPU_LUT_LO_SLOPE_SHIFT, 13 << 5);
        return task;
    }

    // The table's curve at integer x, interpolated and rounded down.
    static double Curve(double x)
    {
        double low = -(512 << kShift), high = 512 << kShift, position = x / (1 << kShift);
        auto entry = [](double i) { return (double)std::lrint(32767 * std::tanh(i / 128.0)); };

        if (x < low) {
            return entry(-512) + std::floor((x - low) * 1000 / 4096);
        }
        if (x > high) {
            return entry(512) + std::floor((x - high) * 2000 / 8192);
        }
        double i = std::floor(position);

        return entry(i) + std::floor((entry(std::min(i + 1, 512.0)) - entry(i)) * (position - i));
    }

    FakeHost host;
};

TEST_F(Lut, TanhOverItsRangeAndBeyond)
{
    auto a = RandomHalves(4096, -5, 5, 4);

    a[0] = Half(0);
    a[1] = Half(4);
    a[2] = Half(-4);
    a[3] = Half(4.5f);
    a[4] = Half(-4.5f);
    host.put(kA, a);
    TaskRunner task = Task(4096);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint16_t>(kOut, 4096);
    for (unsigned i = 0; i < 4096; i++) {
        double x = std::nearbyint(Value(a[i]) * 4096.0);
        double in_range =
            std::fabs(Value(a[i])) <= 4 ? std::fabs(Value(out[i]) - std::tanh(Value(a[i]))) : 0;

        ASSERT_EQ(out[i], Half((float)(Curve(x) / 32768))) << Value(a[i]);
        // Half a step of fp16 below 1, one count rounded down, curvature of 1/128 steps.
        ASSERT_LE(in_range, 0x1p-12 + 0x1p-14) << Value(a[i]);
    }
}

// EW_CFG 0x300: behind the table, the maximum with EW operand 0 (Rockchip's sigmoid). In front of
// it all negative x would give the table's value at 0.
TEST_F(Lut, MaximumWithZeroBehindTheTable)
{
    auto a = RandomHalves(256, -4, 4, 4);

    host.put(kA, a);
    TaskRunner task = Task(256);
    for (int i = 0; i < RKNPU_LUT_ENTRIES; i++) {
        task.job.lut[0][i] = (int16_t)(i - 100); // negative below entry 100
        task.job.lut[1][i] = (int16_t)(412 + i);
    }
    task.set(RK3588_DPU_EW_CFG, 0x300);
    task.set(RK3588_DPU_OUT_CVT_SHIFT, 0);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint16_t>(kOut, 256);
    for (unsigned i = 0; i < 256; i++) {
        double x = std::nearbyint(Value(a[i]) * 4096.0);

        EXPECT_EQ(Value(out[i]), Value(Half((float)std::max(0.0, std::floor(x / 32) + 412))))
            << Value(a[i]);
    }
}

// Overlapping ranges: HYBRID_PRIORITY decides; one hit decides alone; both missed go by the two
// others.
TEST_F(Lut, WhichTableAnswers)
{
    struct {
        uint32_t cfg;
        int x;
        int expected;
    } cases[] = {
        { 0x00, 10, 1 },   { 0x40, 10, 2 },   // in both
        { 0x40, -50, 1 },  { 0x00, 150, 2 },  // in one
        { 0x00, -200, 1 }, { 0x10, -200, 2 }, // below both
        { 0x00, 300, 1 },  { 0x20, 300, 2 },  // above both
    };

    for (auto &c : cases) {
        TaskRunner task = DpuTask{ .ew_cfg = 0x302 }.runner(host);

        for (int i = 0; i < RKNPU_LUT_ENTRIES; i++) {
            task.job.lut[0][i] = 1;
            task.job.lut[1][i] = 2;
        }
        task.set(RK3588_DPU_LUT_CFG, c.cfg);
        task.set(RK3588_DPU_LUT_LE_START, (uint32_t)-100);
        task.set(RK3588_DPU_LUT_LE_END, 100);
        task.set(RK3588_DPU_LUT_LO_START, 0);
        task.set(RK3588_DPU_LUT_LO_END, 200);
        host.put(kA, std::vector<uint16_t>(8, Half((float)c.x)));
        ASSERT_EQ(task.run(), RKNPU_TASK_OK);
        EXPECT_EQ(Value(host.get<uint16_t>(kOut, 1)[0]), (float)c.expected) << c.cfg << " " << c.x;
    }
}

} // namespace
