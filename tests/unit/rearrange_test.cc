// SPDX-License-Identifier: GPL-2.0-or-later
// DPU-only tasks that move data. Registers are those that Rockchip's compiler (rknn-toolkit2 2.5.0)
// writes for transposes, reshapes, softmax and nearest resize of a 1x16x12x10 tensor; what belongs
// where follows from the layouts at both ends, by plain loops over tensors here.
#include "dpu_task.h"
#include "halves.h"
#include "numbers.h"
#include "refusal.h"

#include <gtest/gtest.h>

#include <random>

namespace
{

constexpr uint32_t kIn = DpuTask::kIn, kOut = DpuTask::kOut;
constexpr uint32_t kTurn = 1u << 27 | 0x7fe, kHalfWords = 1u << 27;

// A copy of int16 data: all stages bypassed, no second operand. The test says how the data moves.
TaskRunner Copy(FakeHost &host, DpuTask move)
{
    move.in = move.inside = move.out = RKNPU_INT16;
    move.operand = 0;
    move.erdma_cfg = 1;
    move.bs_cfg = move.bn_cfg = 0x53;
    move.ew_cfg = 0x383;
    move.out_cvt_scale = 1;
    return move.runner(host);
}

// reshape, 16 bits: a cube of 16 channels, 12x16 pixels, to one plane a channel.
TEST(Rearrange, CubeToPlanesOfHalfWords)
{
    constexpr unsigned kPixels = 192;
    FakeHost host;
    auto in = Numbers<uint16_t>(16 * kPixels);
    const DpuTask move = {
        .width = 16,
        .height = 12,
        .channels = 16,
        .bs_ow_cfg = kTurn,
        .wdma_size_0 = kHalfWords | 1 << 16 | 15,
        .wdma_size_1 = 3 << 16 | 5,
        .surface_stride = kPixels * 2,
        .surface_add = 8 * kPixels * 2,
    };
    TaskRunner task = Copy(host, move);

    host.put(kIn, in);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint16_t>(kOut, 16 * kPixels);
    for (unsigned c = 0; c < 16; c++) {
        for (unsigned p = 0; p < kPixels; p++) {
            ASSERT_EQ(out[c * kPixels + p], in[(c / 8 * kPixels + p) * 8 + c % 8]) << c << " " << p;
        }
    }
}

// reshape, bytes: one surface of 16 channels, 12x16 pixels, to planes.
TEST(Rearrange, SurfaceToPlanesOfBytes)
{
    constexpr unsigned kPixels = 192;
    FakeHost host;
    auto in = Numbers<uint8_t>(16 * kPixels);
    const DpuTask move = {
        .width = 16,
        .height = 12,
        .bs_ow_cfg = kTurn,
        .wdma_size_0 = 11 << 16 | 7,
        .wdma_size_1 = 1 << 16,
        .notch = 95,
        .surface_stride = kPixels,
        .surface_add = 16,
    };
    TaskRunner task = Copy(host, move);

    host.put(kIn, in);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint8_t>(kOut, 16 * kPixels);
    for (unsigned c = 0; c < 16; c++) {
        for (unsigned p = 0; p < kPixels; p++) {
            ASSERT_EQ(out[c * kPixels + p], in[p * 16 + c]) << c << " " << p;
        }
    }
}

// transpose, bytes: 16 rows of 160 bytes to 160 pixels of 16 rows.
TEST(Rearrange, RowsToLanesOfBytes)
{
    FakeHost host;
    auto in = Numbers<uint8_t>(16 * 160);
    const DpuTask move = {
        .width = 1,
        .height = 16,
        .channels = 80,
        .line_notch = 9,
        .surface_notch = -0x960,
        .bs_ow_cfg = kTurn,
        .wdma_size_0 = 9 << 16 | 79,
        .wdma_size_1 = 1 << 16,
        .notch = 7,
        .surface_stride = 16,
        .surface_add = 256,
    };
    TaskRunner task = Copy(host, move);

    host.put(kIn, in);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint8_t>(kOut, 16 * 160);
    for (unsigned row = 0; row < 16; row++) {
        for (unsigned k = 0; k < 160; k++) {
            ASSERT_EQ(out[k * 16 + row], in[row * 160 + k]) << row << " " << k;
        }
    }
}

// transpose, bytes, 8 rows of 256: a block takes two surfaces' 8 rows.
TEST(Rearrange, BlockOverTwoSurfaces)
{
    FakeHost host;
    auto in = Numbers<uint8_t>(8 * 256);
    const DpuTask move = {
        .width = 1,
        .height = 8,
        .channels = 128,
        .line_notch = 15,
        .surface_notch = -0x700,
        .bs_ow_cfg = kTurn,
        .wdma_size_0 = 7 << 16 | 127,
        .wdma_size_1 = 1 << 16,
        .notch = 63,
        .surface_stride = 128,
        .surface_add = 16,
    };
    TaskRunner task = Copy(host, move);

    host.put(kIn, in);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint8_t>(kOut, in.size());
    for (unsigned row = 0; row < 8; row++) {
        for (unsigned k = 0; k < 256; k++) {
            // Byte k of a row: byte k % 16 of surface k / 16.
            ASSERT_EQ(out[k % 16 * 128 + k / 32 * 16 + k / 16 % 2 * 8 + row], in[row * 256 + k])
                << row << " " << k;
        }
    }
}

// transpose, 16 bits: a cube of two surfaces, 160 pixels each, to pixels of 16 channels.
TEST(Rearrange, SurfacesToPixels)
{
    FakeHost host;
    auto in = Numbers<uint16_t>(2 * 160 * 8);
    const DpuTask move = {
        .width = 8,
        .height = 2,
        .channels = 160,
        .feature_mode_cfg = 0x400001e5,
        .line_notch = 152,
        .surface_notch = -0xa00,
        .bs_ow_cfg = 0x7fe,
        .wdma_size_0 = kHalfWords | 159,
        .wdma_size_1 = 19 << 16 | 1,
        .notch = 14,
        .surface_stride = 32,
        .surface_add = 256,
    };
    TaskRunner task = Copy(host, move);

    host.put(kIn, in);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint16_t>(kOut, in.size());
    for (unsigned c = 0; c < 16; c++) {
        for (unsigned p = 0; p < 160; p++) {
            ASSERT_EQ(out[p * 16 + c], in[(c / 8 * 160 + p) * 8 + c % 8]) << c << " " << p;
        }
    }
}

// Nearest resize by 2: 10x12 to 20x24.
TEST(Rearrange, Enlarge)
{
    FakeHost host;
    auto in = Numbers<uint8_t>(120 * 16);
    const DpuTask move = {
        .width = 10,
        .height = 12,
        .bs_ow_cfg = 0x126,
        .notch = 20,
        .surface_stride = 20 * 16,
        .surface_add = 480 * 16,
    };
    TaskRunner task = Copy(host, move);

    host.put(kIn, in);
    task.set(RK3588_DPU_DATA_CUBE_WIDTH, 19);
    task.set(RK3588_DPU_RDMA_SRC_DMA_CFG, 0x1249);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint8_t>(kOut, 480 * 16);
    for (unsigned i = 0; i < out.size(); i++) {
        unsigned x = i / 16 % 20, y = i / 320;

        ASSERT_EQ(out[i], in[(y / 2 * 10 + x / 2) * 16 + i % 16]) << i;
    }
}

// A matrix in channel 0 of 48x32 pixels to 32 rows of 48 numbers.
TEST(Rearrange, PackOneElementAPixel)
{
    for (unsigned size : { 1u, 2u }) {
        FakeHost host;
        auto in = Numbers<uint8_t>(48 * 32 * 16);
        const DpuTask move = {
            .width = 48,
            .height = 32,
            .feature_mode_cfg = size == 1 ? 0x0a00c1e5u : 0x0e0181e5u,
            .bs_ow_cfg = 2,
        };
        TaskRunner task = Copy(host, move);

        host.put(kIn, in);
        ASSERT_EQ(task.run(), RKNPU_TASK_OK);
        auto out = host.get<uint8_t>(kOut, 48 * 32 * size);
        for (unsigned i = 0; i < out.size(); i++) {
            ASSERT_EQ(out[i], in[i / size * 16 + i % size]) << i;
        }
    }
}

// The first task of softmax: the largest of 10 channels, the other 6 of the cube are padding.
TEST(Rearrange, LargestChannel)
{
    constexpr unsigned kPixels = 61, kChannels = 10;
    FakeHost host;
    std::vector<uint16_t> in(2 * kPixels * 8);
    std::mt19937 random(1);
    const DpuTask move = {
        .width = kPixels,
        .channels = 16,
        .feature_mode_cfg = 0x2001fe5,
    };
    TaskRunner task = Copy(host, move);

    for (uint16_t &v : in) {
        v = Half((float)((int)(random() % 2001) - 1500) / 64);
    }
    host.put(kIn, in);
    task.set(RK3588_DPU_DATA_FORMAT, 2u << 29 | 2 << 26 | 2);
    task.set(RK3588_DPU_DATA_CUBE_HEIGHT, 7 << 22);
    task.set(RK3588_DPU_DATA_CUBE_CHANNEL, (kChannels - 1) << 16 | 15);
    task.set(RK3588_DPU_RDMA_FEATURE_MODE_CFG, 0x17841);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint16_t>(kOut, kPixels);
    for (unsigned p = 0; p < kPixels; p++) {
        float want = -INFINITY;

        for (unsigned c = 0; c < kChannels; c++) {
            want = std::max(want, Value(in[(c / 8 * kPixels + p) * 8 + c % 8]));
        }
        ASSERT_EQ(Value(out[p]), want) << p;
    }
}

// What no program of the compiler uses is refused, not guessed.
TEST(Rearrange, RefusesTheUnknown)
{
    const Refusal refusals[] = {
        { RK3588_DPU_FEATURE_MODE_CFG, 0x2001fe5, "NONALIGN" },
        { RK3588_DPU_FEATURE_MODE_CFG, 0x040001e5, "RGP_TYPE" },
        { RK3588_DPU_DATA_CUBE_HEIGHT, 5 << 22, "MINMAX_CTL" },
        { RK3588_DPU_BS_OW_CFG, 1u << 27 | 2, "TP_ORG_EN" },
        { RK3588_DPU_RDMA_SRC_DMA_CFG, 0x3249, "UNPOOLING" },
    };

    for (const Refusal &refusal : refusals) {
        FakeHost host;
        TaskRunner task = Copy(host, { .width = 4, .height = 4, .channels = 16 });

        ExpectRefused(task, refusal);
    }
}

} // namespace
