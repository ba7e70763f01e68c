/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Convolutions against plain loops (conv_case.cc). Random cases print their seed; replay one with
 *   RKNPU_TEST_SEED=12345 build/tests/unit/rknpu-unit --gtest_filter='Conv.Random*'
 */
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "conv_case.h"
#include "refusal.h"

extern "C" {
#include "kernels/isa.h"
}

namespace
{

constexpr uint32_t kConvMask = 0x1d;

/* Every instruction set of this host: the definition against plain loops, the others against its
 * bytes. */
void Check(const ConvShape &shape, unsigned seed = 1)
{
    FakeHost host(ConvCase::kMemory);
    ConvCase conv(shape, seed);
    TaskRunner task(host, rknpu_rk3588, kConvMask);
    const std::vector<uint8_t> empty(conv.output_bytes() + 256, ConvCase::kUntouched);
    std::vector<uint8_t> defined;

    conv.load(host, task);
    for (unsigned isa = RKNPU_ISA_NONE; isa < RKNPU_ISAS; isa++) {
        if (!rknpu_isa_available(static_cast<RknpuIsa>(isa))) {
            continue;
        }
        SCOPED_TRACE(rknpu_isa_name(static_cast<RknpuIsa>(isa)));
        task.config.force_isa = isa;
        host.put(ConvCase::kOutput, empty);
        ASSERT_EQ(RKNPU_TASK_OK, task.run()) << shape << " seed " << seed;
        EXPECT_TRUE(task.reports.empty()) << task.reports[0];
        if (isa == RKNPU_ISA_NONE) {
            conv.check(host);
            defined = host.get<uint8_t>(ConvCase::kOutput, empty.size());
        } else {
            ASSERT_TRUE(defined == host.get<uint8_t>(ConvCase::kOutput, empty.size()))
                << shape << " seed " << seed;
        }
    }
}

TEST(Conv, OneByOne)
{
    Check({.channels = 128, .kernels = 256, .height = 7, .width = 5, .pad_value = -128});
}

TEST(Conv, AsymmetricKernelStridePaddingAndDilation)
{
    ConvShape s;

    s.channels = 40;
    s.kernels = 34;
    s.height = 9;
    s.width = 6;
    s.kernel_height = 3;
    s.kernel_width = 2;
    s.stride_y = 2;
    s.stride_x = 3;
    s.pad_top = 1;
    s.pad_left = 1;
    s.pad_bottom = 2;
    s.pad_right = 1;
    s.dilation_y = 2;
    s.pad_value = 17;
    Check(s);
}

/* Strides 2 and 3 of a 4x4 and a 3x2 kernel; padding is what is left of the kernel's size. */
TEST(Conv, Deconvolution)
{
    ConvShape s;

    s.channels = 24;
    s.kernels = 34;
    s.height = 5;
    s.width = 7;
    s.kernel_height = s.kernel_width = 4;
    s.spread_y = s.spread_x = 2;
    s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = 2;
    s.pad_value = -5;
    Check(s);
    s.depthwise = true;
    Check(s);
    s.depthwise = false;
    s.kernel_height = 3;
    s.kernel_width = 2;
    s.spread_y = 3;
    s.spread_x = 1;
    s.pad_left = s.pad_right = 0;
    Check(s);
}

/* C = 17..31 has a full 32-channel slice; 33..47 a slice of 32 and one of 16. */
TEST(Conv, ChannelTails)
{
    for (unsigned channels : {1u, 3u, 16u, 17u, 20u, 24u, 28u, 31u, 33u, 40u, 47u, 48u, 120u}) {
        ConvShape s;

        s.channels = channels;
        s.kernels = channels + 3;
        s.height = 3;
        s.width = 4;
        s.kernel_height = s.kernel_width = 2;
        Check(s, channels);
    }
}

/* Pictures of few channels: kernels may leave out channels whose weights OW cancels. */
TEST(Conv, NeutralPaddingChannels)
{
    for (unsigned channels : {1u, 3u, 5u, 9u, 13u}) {
        ConvShape s;

        s.channels = channels;
        s.kernels = 37;
        s.height = 9;
        s.width = 10;
        s.kernel_height = s.kernel_width = 3;
        s.stride_y = s.stride_x = 2;
        s.pad_bottom = s.pad_right = 1;
        s.pad_value = -128;
        s.neutral_padding = true;
        Check(s, channels);
    }
}

TEST(Conv, DepthwiseTails)
{
    for (unsigned channels :
         {8u, 16u, 24u, 32u, 40u, 56u, 64u, 72u, 80u, 88u, 96u, 104u, 112u, 152u, 200u}) {
        ConvShape s;

        s.channels = channels;
        s.depthwise = true;
        s.height = 5;
        s.width = 7;
        s.kernel_height = s.kernel_width = 3;
        s.pad_top = s.pad_left = s.pad_right = 1;
        s.pad_value = -5;
        Check(s, channels);
        s.mesa_tail = true;
        Check(s, channels);
    }
}

/* More rows than the kernels are given at a time, in every arrangement of the pairs of rows. */
TEST(Conv, DepthwiseBlocks)
{
    for (unsigned kernel : {2u, 3u, 5u}) {
        for (unsigned stride : {1u, 2u, 3u}) {
            ConvShape s;

            s.channels = 48;
            s.depthwise = true;
            s.height = 53;
            s.width = 4 * kernel + stride;
            s.kernel_height = s.kernel_width = kernel;
            s.stride_y = s.stride_x = stride;
            s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = kernel / 2;
            s.pad_value = 7;
            Check(s, kernel);
            s.dilation_y = 3;
            Check(s, kernel);
        }
    }
}

TEST(Conv, RowWindows)
{
    for (unsigned first : {0u, 3u, 7u}) {
        ConvShape s;

        s.channels = 48;
        s.height = 11;
        s.width = 5;
        s.window_first = first;
        s.window_rows = 4;
        s.kernel_height = s.kernel_width = 3;
        s.pad_left = s.pad_right = 1;
        Check(s, first);
    }
}

/* Odd accumulators of both signs are ties when one bit is cut: half to even. */
TEST(Conv, ClipTruncateRoundsHalfToEven)
{
    ConvShape s;

    s.channels = 32;
    s.height = s.width = 6;
    s.truncate = 1;
    s.scale = 0x4000;
    s.shift = 20;
    Check(s);
    s.out = RKNPU_INT32;
    Check(s);
    s.truncate = 5;
    Check(s);
}

TEST(Conv, StagesBsMulBnReluEwAdd)
{
    ConvShape s;

    s.channels = 24;
    s.kernels = 40;
    s.height = 6;
    s.width = 5;
    s.relu = true;
    Check(s);
    s.mul_shift = 14;
    s.shift = 19;
    Check(s);
    s.mul_shift_negative = 9;
    s.relu = false;
    Check(s);
    s.add = true;
    Check(s);
    s.mul_shift = s.mul_shift_negative = 0;
    s.shift = 21;
    Check(s);
    s.depthwise = true;
    s.kernel_height = 3;
    s.kernel_width = 2;
    Check(s);
}

TEST(Conv, MatrixProductRowMajor)
{
    ConvShape s;

    s.channels = 64;
    s.kernels = 96;
    s.height = 13; /* M */
    s.width = 1;
    s.row_major = true;
    s.qd_en = false;
    s.bias_from_memory = false;
    s.out = RKNPU_INT32;
    Check(s);
    s.out = RKNPU_FP32;
    Check(s);
}

TEST(Conv, OutputNotch)
{
    ConvShape s;

    s.height = 3;
    s.width = 4;
    s.extra_notch = 3;
    Check(s);
}

TEST(Conv, PackedPixels)
{
    for (unsigned packed = 1; packed <= 4; packed++) {
        ConvShape s;

        s.channels = packed;
        s.packed = packed;
        s.height = 8;
        s.width = 11;
        s.kernel_height = s.kernel_width = 3;
        s.stride_y = s.stride_x = 2;
        s.pad_top = s.pad_left = s.pad_right = 1;
        Check(s, packed);
    }
}

/*
 * The layer of docs/arithmetic.md's worked example: MobileNetV1 operator 8 as Mesa 26.2.6 programs
 * it (1x1, 28x28x128 -> 28x28x256, weight zero point 151). Every word of that program that matters.
 */
TEST(Conv, MobileNetOperator8)
{
    ConvShape s;

    s.channels = 128;
    s.kernels = 256;
    s.height = s.width = 28;
    s.pad_value = -128;
    Check(s);
}

/* Pointwise over more input than one strip holds, and over too few pixels for the widest tiles. */
TEST(Conv, PointwiseStrips)
{
    ConvShape s;

    s.channels = 160;
    s.kernels = 72;
    s.height = s.width = 41;
    s.pad_value = -128;
    Check(s);
    s.channels = 1056;
    s.kernels = 40;
    s.height = 1;
    for (unsigned width : {4u, 6u, 19u}) {
        s.width = width;
        s.shift = 24;
        Check(s, width);
    }
}

/* The kernels read a small map before they write: a pointwise task may write over its input. */
TEST(Conv, PointwiseOverItsInput)
{
    FakeHost host(ConvCase::kMemory);
    ConvShape s;

    s.channels = s.kernels = 64;
    s.height = s.width = 14;
    s.pad_value = -128;
    ConvCase conv(s, 1);
    TaskRunner task(host, rknpu_rk3588, kConvMask);

    conv.load(host, task);
    ASSERT_EQ(RKNPU_TASK_OK, task.run());
    conv.check(host);
    const auto want = host.get<uint8_t>(ConvCase::kOutput, conv.output_bytes());
    for (unsigned isa = RKNPU_ISA_PORTABLE; isa < RKNPU_ISAS; isa++) {
        if (rknpu_isa_available(static_cast<RknpuIsa>(isa))) {
            conv.load(host, task);
            task.config.force_isa = isa;
            task.set(RK3588_DPU_DST_BASE_ADDR, ConvCase::kInput);
            ASSERT_EQ(RKNPU_TASK_OK, task.run());
            EXPECT_EQ(want, host.get<uint8_t>(ConvCase::kInput, want.size()))
                << rknpu_isa_name(static_cast<RknpuIsa>(isa));
        }
    }
}

/*
 * One element of that layer by hand: dot -6027, sum -283, OW -23, stored bias -2851, so the value
 * behind BS is -2369; scale 31885, shift 22, offset -128 give -128 - 18.01, the byte 0x80. With
 * offset 0 it is -18.
 */
TEST(Conv, WorkedElement)
{
    for (int offset : {-128, 0}) {
        FakeHost host(ConvCase::kMemory);
        ConvShape s;
        std::vector<int8_t> pixel(16), kernel(16);
        int8_t out;

        s.height = 28;
        s.width = 28;
        s.offset = offset;
        ConvCase conv(s, 1);
        TaskRunner task(host, rknpu_rk3588, kConvMask);

        conv.load(host, task);
        /* -128 -128 -27 = -283; 127*-128... chosen so that the dot product is -6027 */
        pixel[0] = -128, pixel[1] = -128, pixel[2] = -27;
        kernel[0] = 40, kernel[1] = 6, kernel[2] = 5; /* -5120 - 768 - 135 = -6023 */
        pixel[3] = 4, pixel[4] = -4;
        kernel[3] = -1; /* -4: -6027 */
        host.put(ConvCase::kInput + (1 * 28 + 2) * 16, pixel);
        host.put(ConvCase::kWeights + 5 * 16, kernel);
        host.put(ConvCase::kOperands + 5 * 4, std::vector<int32_t>{-2851});
        ASSERT_EQ(RKNPU_TASK_OK, task.run());
        out = host.get<int8_t>(ConvCase::kOutput + 0x1e5, 1)[0];
        EXPECT_EQ(offset ? -128 : -18, out);
    }
}

/* SURF_STRIDE is a signed 28-bit number: a 1x1 map has 0x0ffffffd, -3 + 4 = one pixel a surface. */
TEST(Conv, ZeroSkip)
{
    FakeHost host(ConvCase::kMemory);
    ConvShape s;

    s.channels = 64;
    ConvCase conv(s, 2);
    TaskRunner task(host, rknpu_rk3588, kConvMask);

    conv.load(host, task);
    task.set(RK3588_CNA_FC_CON0, 1);
    ASSERT_EQ(RKNPU_TASK_OK, task.run());
    conv.check(host);
    ExpectRefused(task, { RK3588_CNA_FC_CON0, 5 << 16 | 1, "FC_SKIP_DATA" });
}

TEST(Conv, NegativeSurfStride)
{
    ConvShape s;

    s.channels = 1024;
    s.kernels = 40;
    s.height = s.width = 1;
    s.shift = 24;
    Check(s);
}

/*
 * Mesa programs tensors 8 pixels wide that meet an ADD with DATAIN_WIDTH 16 and DMA_WIDTH 8:
 * columns from DMA_WIDTH on are padding.
 */
TEST(Conv, ColumnsBehindDmaWidthArePadding)
{
    FakeHost host(ConvCase::kMemory);
    ConvShape s;

    s.height = s.width = 8;
    s.kernel_height = s.kernel_width = 3;
    s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = 1;
    s.pad_value = 9;
    ConvCase conv(s, 3);
    TaskRunner task(host, rknpu_rk3588, kConvMask);

    conv.load(host, task);
    task.set(RK3588_CNA_DATA_SIZE0, 16 << 16 | 8);
    ASSERT_EQ(RKNPU_TASK_OK, task.run());
    conv.check(host);
}

/* Without DPU_RDMA in the unit mask no operand is read, whatever the stage registers say. */
TEST(Conv, MaskWithoutReaderIgnoresBias)
{
    FakeHost host(ConvCase::kMemory);
    ConvShape s;
    ConvCase with(s, 1);
    TaskRunner task(host, rknpu_rk3588, 0x0d);

    with.load(host, task);
    ASSERT_EQ(RKNPU_TASK_OK, task.run());
    s.bias_from_memory = false;
    ConvCase without(s, 1);
    without.check(host);
}

/* Counted by hand: 2 surfaces of 6x5 pixels, 40 kernels of 32 bytes, 64 biases, 4 output surfaces.
 */
TEST(Conv, Traffic)
{
    FakeHost host(ConvCase::kMemory);
    ConvShape s;

    s.channels = 32;
    s.kernels = 40;
    s.height = 6;
    s.width = 5;
    ConvCase conv(s, 1);
    TaskRunner task(host, rknpu_rk3588, kConvMask);

    conv.load(host, task);
    ASSERT_EQ(RKNPU_TASK_OK, task.run());
    EXPECT_EQ(2u * 6 * 5 * 16, task.traffic.bytes[RKNPU_MEM_DRAM][RKNPU_STREAM_FEATURE]);
    EXPECT_EQ(40u * 32, task.traffic.bytes[RKNPU_MEM_DRAM][RKNPU_STREAM_WEIGHT]);
    /* 40 channels lie in three surfaces of 16. */
    EXPECT_EQ(48u * 4, task.traffic.bytes[RKNPU_MEM_DRAM][RKNPU_STREAM_OPERAND]);
    EXPECT_EQ(3u * 6 * 5 * 16, task.traffic.bytes[RKNPU_MEM_DRAM][RKNPU_STREAM_OUTPUT]);
    EXPECT_EQ(UINT64_C(6) * 5 * 32 * 40, task.job.macs);
}

ConvShape FaultShape()
{
    ConvShape s;

    s.channels = 64;
    s.kernels = 96;
    s.height = 12;
    s.width = 19;
    s.kernel_height = s.kernel_width = 3;
    s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = 1;
    s.add = true;
    s.pad_value = -3;
    return s;
}

/* Pages in reverse order give the bytes of a contiguous buffer. */
TEST(Conv, ScatteredMemory)
{
    for (bool depthwise : {false, true}) {
        FakeHost host(ConvCase::kMemory);
        ConvShape s = FaultShape();

        s.depthwise = depthwise;
        ConvCase conv(s, 5);
        TaskRunner task(host, rknpu_rk3588, kConvMask);

        conv.load(host, task);
        host.scatter(ConvCase::kInput, conv.input_bytes());
        host.scatter(ConvCase::kWeights, conv.weight_bytes());
        host.scatter(ConvCase::kOperands, conv.operand_bytes());
        host.scatter(ConvCase::kAdd, conv.add_bytes());
        host.scatter(ConvCase::kOutput, conv.output_bytes());
        ASSERT_EQ(RKNPU_TASK_OK, task.run());
        conv.check(host);
    }
}

void CheckFaults(uint32_t base, uint32_t bytes, RknpuTaskResult want)
{
    for (uint32_t page = base; page < base + bytes; page += FakeHost::kPage) {
        FakeHost host(ConvCase::kMemory);
        ConvCase conv(FaultShape(), 5);
        TaskRunner task(host, rknpu_rk3588, kConvMask);

        conv.load(host, task);
        host.unmap(page, FakeHost::kPage);
        EXPECT_EQ(want, task.run()) << std::hex << page;
    }
}

TEST(Conv, EveryMissingPageFaults)
{
    ConvCase conv(FaultShape(), 5);

    CheckFaults(ConvCase::kInput, conv.input_bytes(), RKNPU_TASK_READ_FAULT);
    CheckFaults(ConvCase::kWeights, conv.weight_bytes(), RKNPU_TASK_READ_FAULT);
    CheckFaults(ConvCase::kOperands, conv.operand_bytes(), RKNPU_TASK_READ_FAULT);
    CheckFaults(ConvCase::kAdd, conv.add_bytes(), RKNPU_TASK_READ_FAULT);
    CheckFaults(ConvCase::kOutput, conv.output_bytes(), RKNPU_TASK_WRITE_FAULT);
}

/* The biggest numbers registers can hold: the task ends at the first cancel point, memory stays
 * small. */
TEST(Conv, HugeSizesAreCancelled)
{
    FakeHost host(ConvCase::kMemory);
    ConvShape s;
    ConvCase conv(s, 1);
    TaskRunner task(host, rknpu_rk3588, kConvMask);
    int cancel = 1;

    conv.load(host, task);
    task.job.cancel = &cancel;
    for (uint32_t reg = 0x1010; reg < 0x1090; reg += 4) {
        if (reg != RK3588_CNA_CVT_CON0 && reg != RK3588_CNA_FC_CON0 &&
            reg != RK3588_CNA_FEATURE_DATA_ADDR) {
            task.set(reg, 0xffffffff);
        }
    }
    task.set(RK3588_DPU_DATA_CUBE_WIDTH, 0x1fff);
    task.set(RK3588_DPU_DATA_CUBE_HEIGHT, 0x1fff);
    task.set(RK3588_DPU_DATA_CUBE_CHANNEL, 0x1fff1fff);
    RknpuTaskResult r = task.run();
    EXPECT_TRUE(r == RKNPU_TASK_CANCELLED || r == RKNPU_TASK_READ_FAULT) << r;
}

class Draw
{
  public:
    explicit Draw(unsigned seed) : random_(seed) {}

    unsigned operator()(unsigned low, unsigned high) { return low + random_() % (high - low + 1); }

  private:
    std::mt19937 random_;
};

ConvShape RandomShape(unsigned seed)
{
    Draw draw(seed);
    ConvShape s;

    s.depthwise = draw(0, 2) == 0;
    s.channels = draw(0, 9) == 0 ? draw(1, 2048) : draw(1, 130);
    s.kernels = draw(0, 9) == 0 ? draw(1, 600) : draw(1, 100);
    s.kernel_height = draw(1, draw(0, 1) ? 1 : 5);
    s.kernel_width = draw(1, draw(0, 1) ? s.kernel_height : 5);
    s.dilation_y = draw(0, 3) == 0 ? draw(2, 3) : 1;
    s.dilation_x = draw(0, 3) == 0 ? draw(2, 3) : 1;
    s.stride_y = draw(1, 3);
    s.stride_x = draw(1, 3);
    s.pad_top = draw(0, s.kernel_height - 1);
    s.pad_left = draw(0, s.kernel_width - 1);
    s.pad_bottom = draw(0, s.kernel_height - 1);
    s.pad_right = draw(0, s.kernel_width - 1);
    s.height = draw(1, 14) + (s.kernel_height - 1) * s.dilation_y;
    s.width = draw(1, 30) + (s.kernel_width - 1) * s.dilation_x;
    s.pad_value = int(draw(0, 255)) - 128;
    s.ow = int(draw(0, 255)) - 128;
    s.qd_en = draw(0, 4) != 0;
    s.truncate = draw(0, 2) == 0 ? draw(1, 3) : 0;
    s.bias_from_memory = draw(0, 4) != 0;
    s.relu = draw(0, 3) == 0;
    s.mul_shift = draw(0, 4) == 0 ? 14 : 0;
    s.bias_from_memory |= s.mul_shift != 0; /* the records hold both */
    s.add = draw(0, 3) == 0;
    s.scale = int(draw(0x4000, 0x7fff));
    s.shift = draw(15, 30);
    s.offset = int(draw(0, 255)) - 128;
    s.out = draw(0, 6) == 0 ? RKNPU_INT32 : RKNPU_INT8;
    s.extra_notch = draw(0, 3) == 0 ? draw(1, 5) : 0;
    if (!s.depthwise && draw(0, 8) == 0) {
        s.channels = s.packed = draw(1, 4);
    }
    /* keep one case below some ten million products */
    while (uint64_t(s.channels) * (s.depthwise ? 1 : s.kernels) * s.kernel_height * s.kernel_width *
                   s.height * s.width >
               20000000 ||
           uint64_t(s.channels + 16) * (s.kernels + 2) * s.kernel_height * s.kernel_width >
               4000000) {
        (s.height > s.width ? s.height : s.width) /= 2;
        s.height = std::max(s.height, (s.kernel_height - 1) * s.dilation_y + 1);
        s.width = std::max(s.width, (s.kernel_width - 1) * s.dilation_x + 1);
        s.kernels = std::max(1u, s.kernels / 2);
    }
    return s;
}

TEST(Conv, RandomShapes)
{
    const char *replay = std::getenv("RKNPU_TEST_SEED");
    unsigned first = replay ? std::strtoul(replay, nullptr, 0) : std::random_device{}();

    for (unsigned i = 0; i < (replay ? 1u : 60u) && !HasFailure(); i++) {
        SCOPED_TRACE("RKNPU_TEST_SEED=" + std::to_string(first + i));
        Check(RandomShape(first + i), first + i);
    }
}

} // namespace
