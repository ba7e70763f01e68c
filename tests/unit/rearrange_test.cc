// SPDX-License-Identifier: GPL-2.0-or-later
// DPU-only tasks that move data. Registers are those that Rockchip's compiler (rknn-toolkit2 2.5.0)
// writes for transposes, reshapes, softmax and nearest resize of a 1x16x12x10 tensor; what belongs
// where follows from the layouts at both ends, by plain loops over tensors here.
#include "fake_host.h"

#include <gtest/gtest.h>

#include <random>

extern "C" {
#include "types.h"
}

namespace
{

constexpr uint32_t kIn = 0x100000, kOut = 0x300000;
constexpr uint32_t kTurn = 1u << 27 | 0x7fe, kHalfWords = 1u << 27;

// A copy of int16 data: `width` x `height` pixels, rows `pitch` pixels apart, `channels` lanes.
TaskRunner Copy(FakeHost &host, unsigned width, unsigned height, unsigned channels)
{
    TaskRunner task(host, rknpu_rk3588, RKNPU_UNIT_DPU | RKNPU_UNIT_DPU_RDMA);

    task.set(RK3588_DPU_FEATURE_MODE_CFG, 0x1e5);
    task.set(RK3588_DPU_DATA_FORMAT, 1u << 29 | 1 << 26 | 1);
    task.set(RK3588_DPU_DST_BASE_ADDR, kOut);
    task.set(RK3588_DPU_DATA_CUBE_WIDTH, width - 1);
    task.set(RK3588_DPU_DATA_CUBE_HEIGHT, height - 1);
    task.set(RK3588_DPU_DATA_CUBE_CHANNEL, (channels - 1) << 16 | (channels - 1));
    task.set(RK3588_DPU_BS_CFG, 0x53);
    task.set(RK3588_DPU_BN_CFG, 0x53);
    task.set(RK3588_DPU_EW_CFG, 0x383);
    task.set(RK3588_DPU_OUT_CVT_SCALE, 1);
    task.set(RK3588_DPU_RDMA_DATA_CUBE_WIDTH, width - 1);
    task.set(RK3588_DPU_RDMA_DATA_CUBE_HEIGHT, height - 1);
    task.set(RK3588_DPU_RDMA_DATA_CUBE_CHANNEL, channels - 1);
    task.set(RK3588_DPU_RDMA_SRC_BASE_ADDR, kIn);
    task.set(RK3588_DPU_RDMA_ERDMA_CFG, 1);
    task.set(RK3588_DPU_RDMA_FEATURE_MODE_CFG, 0xf821);
    return task;
}

template <typename T> std::vector<T> Numbers(size_t n)
{
    std::mt19937 random(1);
    std::vector<T> v(n);

    for (T &x : v) {
        x = (T)random();
    }
    return v;
}

// reshape, 16 bits: a cube of 16 channels, 12x16 pixels, to one plane a channel.
TEST(Rearrange, CubeToPlanesOfHalfWords)
{
    constexpr unsigned kPixels = 192;
    FakeHost host;
    auto in = Numbers<uint16_t>(16 * kPixels);
    TaskRunner task = Copy(host, 16, 12, 16);

    host.put(kIn, in);
    task.set(RK3588_DPU_BS_OW_CFG, kTurn);
    task.set(RK3588_DPU_WDMA_SIZE_0, kHalfWords | 1 << 16 | 15);
    task.set(RK3588_DPU_WDMA_SIZE_1, 3 << 16 | 5);
    task.set(RK3588_DPU_DST_SURF_STRIDE, kPixels * 2);
    task.set(RK3588_DPU_SURFACE_ADD, 8 * kPixels * 2);
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
    TaskRunner task = Copy(host, 16, 12, 8);

    host.put(kIn, in);
    task.set(RK3588_DPU_BS_OW_CFG, kTurn);
    task.set(RK3588_DPU_WDMA_SIZE_0, 11 << 16 | 7);
    task.set(RK3588_DPU_WDMA_SIZE_1, 1 << 16);
    task.set(RK3588_DPU_DATA_CUBE_NOTCH_ADDR, 95 << 16 | 95);
    task.set(RK3588_DPU_DST_SURF_STRIDE, kPixels);
    task.set(RK3588_DPU_SURFACE_ADD, 16);
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
    TaskRunner task = Copy(host, 1, 16, 80);

    host.put(kIn, in);
    task.set(RK3588_DPU_RDMA_SRC_DMA_CFG, 9 << 19);
    task.set(RK3588_DPU_RDMA_SURF_NOTCH, 0xfffff6a0);
    task.set(RK3588_DPU_BS_OW_CFG, kTurn);
    task.set(RK3588_DPU_WDMA_SIZE_0, 9 << 16 | 79);
    task.set(RK3588_DPU_WDMA_SIZE_1, 1 << 16);
    task.set(RK3588_DPU_DATA_CUBE_NOTCH_ADDR, 7 << 16 | 7);
    task.set(RK3588_DPU_DST_SURF_STRIDE, 16);
    task.set(RK3588_DPU_SURFACE_ADD, 256);
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
    TaskRunner task = Copy(host, 1, 8, 128);

    host.put(kIn, in);
    task.set(RK3588_DPU_RDMA_SRC_DMA_CFG, 15 << 19);
    task.set(RK3588_DPU_RDMA_SURF_NOTCH, 0xfffff900);
    task.set(RK3588_DPU_BS_OW_CFG, kTurn);
    task.set(RK3588_DPU_WDMA_SIZE_0, 7 << 16 | 127);
    task.set(RK3588_DPU_WDMA_SIZE_1, 1 << 16);
    task.set(RK3588_DPU_DATA_CUBE_NOTCH_ADDR, 63 << 16 | 63);
    task.set(RK3588_DPU_DST_SURF_STRIDE, 128);
    task.set(RK3588_DPU_SURFACE_ADD, 16);
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
    TaskRunner task = Copy(host, 8, 2, 160);

    host.put(kIn, in);
    task.set(RK3588_DPU_FEATURE_MODE_CFG, 0x400001e5);
    task.set(RK3588_DPU_RDMA_SRC_DMA_CFG, 152 << 19);
    task.set(RK3588_DPU_RDMA_SURF_NOTCH, 0xfffff600);
    task.set(RK3588_DPU_BS_OW_CFG, 0x7fe);
    task.set(RK3588_DPU_WDMA_SIZE_0, kHalfWords | 159);
    task.set(RK3588_DPU_WDMA_SIZE_1, 19 << 16 | 1);
    task.set(RK3588_DPU_DATA_CUBE_NOTCH_ADDR, 14 << 16 | 14);
    task.set(RK3588_DPU_DST_SURF_STRIDE, 32);
    task.set(RK3588_DPU_SURFACE_ADD, 256);
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
    TaskRunner task = Copy(host, 10, 12, 8);

    host.put(kIn, in);
    task.set(RK3588_DPU_DATA_CUBE_WIDTH, 19);
    task.set(RK3588_DPU_RDMA_SRC_DMA_CFG, 0x1249);
    task.set(RK3588_DPU_BS_OW_CFG, 0x126);
    task.set(RK3588_DPU_DATA_CUBE_NOTCH_ADDR, 20 << 16 | 20);
    task.set(RK3588_DPU_DST_SURF_STRIDE, 20 * 16);
    task.set(RK3588_DPU_SURFACE_ADD, 480 * 16);
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
        TaskRunner task = Copy(host, 48, 32, 8);

        host.put(kIn, in);
        task.set(RK3588_DPU_FEATURE_MODE_CFG, size == 1 ? 0x0a00c1e5 : 0x0e0181e5);
        task.set(RK3588_DPU_BS_OW_CFG, 2);
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
    TaskRunner task = Copy(host, kPixels, 1, 16);

    for (uint16_t &v : in) {
        v = rknpu_float_to_fp16((float)((int)(random() % 2001) - 1500) / 64);
    }
    host.put(kIn, in);
    task.set(RK3588_DPU_DATA_FORMAT, 2u << 29 | 2 << 26 | 2);
    task.set(RK3588_DPU_FEATURE_MODE_CFG, 0x2001fe5);
    task.set(RK3588_DPU_DATA_CUBE_HEIGHT, 7 << 22);
    task.set(RK3588_DPU_DATA_CUBE_CHANNEL, (kChannels - 1) << 16 | 15);
    task.set(RK3588_DPU_RDMA_FEATURE_MODE_CFG, 0x17841);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint16_t>(kOut, kPixels);
    for (unsigned p = 0; p < kPixels; p++) {
        float want = -INFINITY;

        for (unsigned c = 0; c < kChannels; c++) {
            want = std::max(want, rknpu_fp16_to_float(in[(c / 8 * kPixels + p) * 8 + c % 8]));
        }
        ASSERT_EQ(rknpu_fp16_to_float(out[p]), want) << p;
    }
}

// What no program of the compiler uses is refused, not guessed.
TEST(Rearrange, RefusesTheUnknown)
{
    struct {
        uint32_t offset, value;
        const char *name;
    } cases[] = {
        { RK3588_DPU_FEATURE_MODE_CFG, 0x2001fe5, "NONALIGN" },
        { RK3588_DPU_FEATURE_MODE_CFG, 0x040001e5, "RGP_TYPE" },
        { RK3588_DPU_DATA_CUBE_HEIGHT, 5 << 22, "MINMAX_CTL" },
        { RK3588_DPU_BS_OW_CFG, 1u << 27 | 2, "TP_ORG_EN" },
        { RK3588_DPU_RDMA_SRC_DMA_CFG, 0x3249, "UNPOOLING" },
    };

    for (auto &c : cases) {
        FakeHost host;
        TaskRunner task = Copy(host, 4, 4, 16);

        task.set(c.offset, c.value);
        EXPECT_EQ(task.run(), RKNPU_TASK_UNIMP) << c.name;
        ASSERT_FALSE(task.reports.empty()) << c.name;
        EXPECT_NE(task.reports[0].find(c.name), std::string::npos) << task.reports[0];
    }
}

} // namespace
