// SPDX-License-Identifier: GPL-2.0-or-later
// RK3576: DPU-only tasks that move data, with the registers that Rockchip's compiler
// (rknn-toolkit2 2.5.0) writes for transposes, reshapes and reductions of a 1x16x12x10 tensor. What
// belongs where follows from the layouts at both ends, by plain loops over tensors here.
#include "fake_host.h"
#include "halves.h"
#include "numbers.h"
#include "refusal.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace
{

constexpr uint32_t kIn = 0x100000, kOut = 0x300000;
constexpr uint32_t kPacked = 1u << 20, kTurnBytes = 2u << 20 | 0xffff, kSpread = 3u << 20 | 0x7777,
                   kTurnHalfWords = 6u << 20 | 0x7777;
constexpr uint32_t kNonalign = 1u << 25;

// A copy: all stages bypassed. Sizes are plain, strides and notches in atoms.
struct Move {
    uint32_t width = 1, height = 1, channels = 16;
    uint32_t line_notch = 0;
    int32_t surface_notch = 0;
    uint32_t feature_mode = 0, bs_ow_cfg = 0, minmax = 0;
    uint32_t writer_width = 1, writer_height = 1, notch = 0;
    uint32_t surface_stride = 1;
    int32_t surface_add = 0;
    uint32_t surf_len = 0, line_bytes = 16;
    uint32_t data_format = 0, rdma_mode = 9;

    TaskRunner runner(FakeHost &host) const
    {
        TaskRunner task(host, rknpu_rk3576, RKNPU_UNIT_DPU | RKNPU_UNIT_DPU_RDMA);

        task.set(RK3576_DPU_FEATURE_MODE_CFG, feature_mode | 5);
        task.set(RK3576_DPU_DATA_FORMAT, data_format);
        task.set(RK3576_DPU_DST_BASE_ADDR, kOut);
        task.set(RK3576_DPU_DST_SURF_STRIDE, surface_stride);
        task.set(RK3576_DPU_DATA_CUBE_WIDTH, width - 1);
        task.set(RK3576_DPU_DATA_CUBE_HEIGHT, minmax << 16 | (height - 1));
        task.set(RK3576_DPU_DATA_CUBE_NOTCH_ADDR, notch);
        task.set(RK3576_DPU_DATA_CUBE_CHANNEL, channels - 1);
        task.set(RK3576_DPU_ORIG_CHANNEL, (channels - 1) << 16 | 0xf00);
        task.set(RK3576_DPU_WDMA_SIZE_1, (writer_height - 1) << 16 | (writer_width - 1));
        task.set(RK3576_DPU_BS_CFG, 0x53);
        task.set(RK3576_DPU_BS_OW_CFG, bs_ow_cfg);
        task.set(RK3576_DPU_BN_CFG, 0x903);
        task.set(RK3576_DPU_EW_CFG, 0x10041c1);
        task.set(RK3576_DPU_OUT_CVT_SCALE, 0x10001);
        task.set(RK3576_DPU_SURFACE_ADD, (uint32_t)surface_add & 0xfffffff);
        task.set(RK3576_DPU_SURF_LEN, surf_len);
        task.set(RK3576_DPU_LINE_BYTES, line_bytes);
        task.set(RK3576_DPU_RDMA_DATA_CUBE_WIDTH, width - 1);
        task.set(RK3576_DPU_RDMA_DATA_CUBE_HEIGHT, height - 1);
        task.set(RK3576_DPU_RDMA_DATA_CUBE_CHANNEL, channels - 1);
        task.set(RK3576_DPU_RDMA_SRC_BASE_ADDR, kIn);
        task.set(RK3576_DPU_RDMA_ERDMA_CFG, 1);
        task.set(RK3576_DPU_RDMA_FEATURE_MODE_CFG, rdma_mode);
        task.set(RK3576_DPU_RDMA_SRC_LINE_NOTCH, line_notch);
        task.set(RK3576_DPU_RDMA_SURF_NOTCH, (uint32_t)surface_notch);
        return task;
    }
};

// transpose of rows and columns, bytes of one surface: the writer's rows are the reader's columns.
// The same with two surfaces as half words: passes count from the last atom of the writer's rows.
TEST(Rk3576Rearrange, RowsAndColumns)
{
    constexpr unsigned kW = 10, kH = 12;

    for (unsigned surfaces : { 1u, 2u }) {
        FakeHost host;
        auto in = Numbers<uint32_t>(surfaces * kH * kW * 4);
        const int rows = (int)(surfaces * kH);
        const Move move = {
            .width = 1,
            .height = surfaces * kH,
            .channels = kW * 16,
            .line_notch = kW - 1,
            .surface_notch = -(rows - 1) * (int)kW,
            .writer_width = kH,
            .writer_height = surfaces,
            .notch = kH * (kW - 1),
            .surface_add = -(int)((surfaces - 1) * kW * kH),
        };
        TaskRunner task = move.runner(host);

        SCOPED_TRACE(surfaces);
        host.put(kIn, in);
        ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
        auto out = host.get<uint32_t>(kOut, in.size());
        for (unsigned i = 0; i < in.size(); i++) {
            unsigned s = i / 4 / (kW * kH), y = i / 4 / kW % kH, x = i / 4 % kW;

            ASSERT_EQ(out[((s * kW + x) * kH + y) * 4 + i % 4], in[i]) << i;
        }
    }
}

// Behind a row that is written the next pass begins SURFACE_ADD later, whatever NOTCH leaves free.
TEST(Rk3576Rearrange, CopyIntoAWiderTensor)
{
    constexpr unsigned kW = 10, kH = 12, kWide = 13, kSurface = 208;
    FakeHost host;
    auto in = Numbers<uint32_t>(2 * kH * kW * 4);
    const Move move = {
        .width = kW,
        .height = kH,
        .channels = 32,
        .writer_width = kW,
        .writer_height = kH,
        .notch = kWide - kW,
        .surface_stride = kSurface,
        .surface_add = kSurface - (kWide * (kH - 1) + kW),
    };
    TaskRunner task = move.runner(host);

    host.put(kIn, in);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
    auto out = host.get<uint32_t>(kOut, 2 * kSurface * 4);
    for (unsigned i = 0; i < in.size(); i++) {
        unsigned s = i / 4 / (kW * kH), y = i / 4 / kW % kH, x = i / 4 % kW;

        ASSERT_EQ(out[(s * kSurface + y * kWide + x) * 4 + i % 4], in[i]) << i;
    }
}

// transpose, bytes: 16 rows of 160 bytes to 160 pixels of 16 rows; a block fills one pass.
TEST(Rk3576Rearrange, RowsToLanesOfBytes)
{
    FakeHost host;
    auto in = Numbers<uint8_t>(16 * 160);
    const Move move = {
        .width = 1,
        .height = 16,
        .channels = 160,
        .line_notch = 9,
        .surface_notch = -150,
        .bs_ow_cfg = kTurnBytes,
        .notch = 159,
        .surface_add = 15,
        .surf_len = 160,
    };
    TaskRunner task = move.runner(host);

    host.put(kIn, in);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
    auto out = host.get<uint8_t>(kOut, in.size());
    for (unsigned row = 0; row < 16; row++) {
        for (unsigned k = 0; k < 160; k++) {
            ASSERT_EQ(out[k * 16 + row], in[row * 160 + k]) << row << " " << k;
        }
    }
}

// reshape, half words: a cube of 16 channels, 12x10 pixels, to one plane a channel.
TEST(Rk3576Rearrange, CubeToPlanesOfHalfWords)
{
    constexpr unsigned kPixels = 120;
    FakeHost host;
    auto in = Numbers<uint16_t>(16 * kPixels);
    const Move move = {
        .width = 12,
        .height = 10,
        .channels = 16,
        .bs_ow_cfg = kTurnHalfWords,
        .writer_width = 5,
        .writer_height = 3,
        .surface_stride = 15,
        .surface_add = 105,
        .surf_len = 240,
        .data_format = 0x20000001,
        .rdma_mode = 0x8029,
    };
    TaskRunner task = move.runner(host);

    host.put(kIn, in);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
    auto out = host.get<uint16_t>(kOut, in.size());
    for (unsigned c = 0; c < 16; c++) {
        for (unsigned p = 0; p < kPixels; p++) {
            ASSERT_EQ(out[c * kPixels + p], in[(c / 8 * kPixels + p) * 8 + c % 8]) << c << " " << p;
        }
    }
}

// transpose: a row's eight pixels become the eight atoms of a pass.
TEST(Rk3576Rearrange, PixelsToAtoms)
{
    constexpr unsigned kRows = 40;
    FakeHost host;
    auto in = Numbers<uint32_t>(kRows * 8 * 4);
    const Move move = {
        .width = 8,
        .height = 2,
        .channels = 160,
        .bs_ow_cfg = kSpread,
        .writer_width = 2,
        .writer_height = 20,
        .notch = 14,
        .surface_stride = 2,
        .surface_add = 14,
        .data_format = 0x20000001,
        .rdma_mode = 0x8029,
    };
    TaskRunner task = move.runner(host);

    host.put(kIn, in);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
    auto out = host.get<uint32_t>(kOut, in.size());
    for (unsigned row = 0; row < kRows; row++) {
        for (unsigned i = 0; i < 32; i++) {
            ASSERT_EQ(out[(row / 2 * 16 + i / 4 * 2 + row % 2) * 4 + i % 4], in[row * 32 + i])
                << row << " " << i;
        }
    }
}

// reshape, reductions: lines of 120, 60, 2 and 1 bytes each get atoms of their own.
TEST(Rk3576Rearrange, Lines)
{
    const struct {
        unsigned width, height, bytes, lines;
    } cases[] = { { 16, 15, 120, 32 }, { 12, 10, 60, 32 }, { 5, 3, 2, 120 }, { 4, 2, 1, 120 } };

    for (auto &c : cases) {
        FakeHost host;
        auto in = Numbers<uint8_t>(c.width * c.height * 16);
        unsigned atoms = (c.bytes + 15) / 16;
        const Move move = {
            .width = c.width,
            .height = c.height,
            .feature_mode = kNonalign,
            .bs_ow_cfg = kPacked,
            .surface_stride = atoms * c.lines,
            .surf_len = atoms * c.lines,
            .line_bytes = c.bytes,
        };
        TaskRunner task = move.runner(host);

        SCOPED_TRACE(c.bytes);
        host.put(kIn, in);
        host.put(kOut, std::vector<uint8_t>((atoms * c.lines + 1) * 16, 0xaa));
        ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
        auto out = host.get<uint8_t>(kOut, (atoms * c.lines + 1) * 16);
        for (unsigned i = 0; i < c.lines * c.bytes; i++) {
            ASSERT_EQ(out[i / c.bytes * atoms * 16 + i % c.bytes], in[i]) << i;
        }
        EXPECT_EQ(out[atoms * c.lines * 16], 0xaa);
    }
}

// reshape, matrix products: RGP_TYPE bytes of the last atom of each surface are kept.
TEST(Rk3576Rearrange, LastAtoms)
{
    const struct {
        unsigned width, height, surfaces, keep;
    } cases[] = { { 4, 2, 16, 8 }, { 1, 1, 512, 2 }, { 1, 1, 512, 1 } };

    for (auto &c : cases) {
        FakeHost host;
        unsigned surface = c.width * c.height * 16, kept = surface - 16 + c.keep;
        auto in = Numbers<uint8_t>(surface * c.surfaces);
        const Move move = {
            .width = c.width,
            .height = c.height,
            .channels = c.surfaces * 16,
            .feature_mode = kNonalign | c.keep << 26,
            .bs_ow_cfg = kPacked,
            .surf_len = kept * c.surfaces / 16,
        };
        TaskRunner task = move.runner(host);

        SCOPED_TRACE(c.keep);
        host.put(kIn, in);
        ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
        auto out = host.get<uint8_t>(kOut, kept * c.surfaces);
        for (unsigned i = 0; i < out.size(); i++) {
            ASSERT_EQ(out[i], in[i / kept * surface + i % kept]) << i;
        }
    }
}

// reductions: the largest of all channels that are read, two bytes a pixel without gaps.
TEST(Rk3576Rearrange, LargestChannel)
{
    constexpr unsigned kPixels = 120;

    for (bool floats : { false, true }) {
        FakeHost host;
        auto in = floats ? RandomHalves(16 * kPixels, -5, 5, 1) : Numbers<uint16_t>(16 * kPixels);
        const Move move = {
            .width = kPixels,
            .channels = 16,
            .feature_mode = kNonalign,
            .bs_ow_cfg = kPacked,
            .minmax = 0x25,
            .writer_width = kPixels,
            .surf_len = 15,
            .line_bytes = 0,
            .data_format = floats ? 0x40000002u : 0x20000001u,
            .rdma_mode = floats ? 0x10041u : 0x8021u,
        };
        TaskRunner task = move.runner(host);

        host.put(kIn, in);
        ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
        auto out = host.get<uint16_t>(kOut, kPixels);
        for (unsigned p = 0; p < kPixels; p++) {
            float best = -1e9f;

            for (unsigned c = 0; c < 16; c++) {
                uint16_t bits = in[(c / 8 * kPixels + p) * 8 + c % 8];

                best = std::max(best, floats ? Value(bits) : (float)(int16_t)bits);
            }
            ASSERT_EQ(floats ? Value(out[p]) : (float)(int16_t)out[p], best) << p;
        }
    }
}

// nearest resize: each pixel twice along, and a pass's two atoms are two rows.
TEST(Rk3576Rearrange, Enlarge)
{
    constexpr unsigned kW = 10, kH = 12;
    FakeHost host;
    auto in = Numbers<uint32_t>(kW * kH * 4);
    TaskRunner task =
        Move{
            .width = kW,
            .height = kH,
            .channels = 4,
            .bs_ow_cfg = 0x20111,
            .writer_width = 2 * kW,
            .writer_height = kH,
            .notch = 2 * kW,
            .surface_stride = 2 * kW,
            .surface_add = 2 * kW,
            .data_format = 0x40000002,
            .rdma_mode = 0x20049,
        }
            .runner(host);

    task.set(RK3576_DPU_DATA_CUBE_WIDTH, 2 * kW - 1);
    task.set(RK3576_DPU_DATA_CUBE_CHANNEL, 7);
    task.set(RK3576_DPU_ORIG_CHANNEL, 7 << 16 | 0x700);
    task.set(RK3576_DPU_RDMA_SRC_DMA_CFG, 0x1249);
    host.put(kIn, in);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
    auto out = host.get<uint32_t>(kOut, 4 * kW * kH * 4);
    for (unsigned i = 0; i < out.size(); i++) {
        unsigned y = i / 4 / (2 * kW), x = i / 4 % (2 * kW);

        ASSERT_EQ(out[i], in[(y / 2 * kW + x / 2) * 4 + i % 4]) << i;
    }
}

TEST(Rk3576Rearrange, RefusesTheUnknown)
{
    const Refusal refusals[] = {
        { RK3576_DPU_BS_OW_CFG, 4u << 20, "OUTPUT_TURN" },
        { RK3576_DPU_RDMA_SRC_DMA_CFG, 0x3249, "UNPOOLING" },
        { RK3576_DPU_BS_OW_CFG, 1u << 20, "OUTPUT_TURN" },        // without NONALIGN
        { RK3576_DPU_BS_OW_CFG, 2u << 20 | 0x3333, "TP_ORG_EN" }, // passes of 4 atoms
        { RK3576_DPU_BS_OW_CFG, 3u << 20 | 0x3333, "TP_EN" },     // 8 pixels to 4 atoms
    };

    for (const Refusal &refusal : refusals) {
        FakeHost host;
        TaskRunner task = Move{ .width = 8 }.runner(host);

        ExpectRefused(task, refusal);
    }
}

} // namespace
