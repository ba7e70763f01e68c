// SPDX-License-Identifier: GPL-2.0-or-later
// Programs of Rockchip's compiler and runtime, executed on their recorded buffers. Expected values are
// plain arithmetic on the network's own weights (ONNX or raw), never the packed buffers.
#include "recorded.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

extern "C" {
#include "types.h"
}

namespace {

// The first tensor of `bytes` raw bytes in an ONNX file (TensorProto.raw_data: field 9, a byte string).
std::vector<float> OnnxFloats(const std::vector<uint8_t> &file, size_t count)
{
    std::vector<uint8_t> key = { 0x4a };
    std::vector<float> values(count);
    size_t bytes = count * 4;

    for (size_t left = bytes; left; left >>= 7) {
        key.push_back((uint8_t)((left & 0x7f) | (left >= 0x80 ? 0x80 : 0)));
    }
    for (size_t at = 0; at + key.size() + bytes <= file.size(); at++) {
        if (std::memcmp(&file[at], key.data(), key.size()) == 0) {
            std::memcpy(values.data(), &file[at + key.size()], bytes);
            return values;
        }
    }
    ADD_FAILURE() << "no tensor of " << count << " floats";
    return values;
}

float Half(float v) { return rknpu_fp16_to_float(rknpu_float_to_fp16(v)); }

// allbilly/rk3588's model, 32x14x14 -> 128 channels, 3x3, no padding; runtime 1.6.0, fp16.
TEST(Recorded, Fp16Convolution)
{
    constexpr unsigned kC = 32, kSize = 14, kK = 128, kOut = 12;
    std::string log = RecordedPath("vendor-runtime/ab32.ioctl.log");

    if (log.empty()) {
        GTEST_SKIP() << "RKNPU_TEST_DATA names no folder with vendor-runtime/ab32.ioctl.log";
    }
    FakeHost host;
    auto submits = ReadIoctlLog(log);
    auto weights = OnnxFloats(ReadFile(RecordedPath("vendor-runtime/ab32.onnx")), kK * kC * 9);

    LoadBuffers(host, RecordedPath("vendor-runtime/ab32-buffers"), 0);
    auto input = host.get<uint16_t>(0xffed9000, kC * kSize * kSize);
    ASSERT_EQ(submits.size(), 1u);
    ASSERT_EQ(RunRecorded(host, rknpu_rk3588, submits[0].tasks[0]), RKNPU_TASK_OK);
    auto output = host.get<uint16_t>(0xffed0000, kK * kOut * kOut);
    ASSERT_NE(output, std::vector<uint16_t>(output.size()));
    for (unsigned k = 0; k < kK; k++) {
        for (unsigned y = 0; y < kOut; y++) {
            for (unsigned x = 0; x < kOut; x++) {
                float sum = 0;
                double exact = 0, magnitude = 0;

                for (unsigned t = 0; t < 9; t++) {
                    for (unsigned c = 0; c < kC; c++) {
                        unsigned at = ((c / 8 * kSize + y + t / 3) * kSize + x + t % 3) * 8 + c % 8;
                        float product = rknpu_fp16_to_float(input[at]) * Half(weights[(k * kC + c) * 9 + t]);

                        sum += product;
                        exact += product;
                        magnitude += std::fabs(product);
                    }
                }
                uint16_t got = output[((k / 8 * kOut + y) * kOut + x) * 8 + k % 8];

                ASSERT_EQ(got, rknpu_float_to_fp16(sum)) << k << " " << y << " " << x;
                // fp16's half step plus 288 fp32 roundings of partial sums.
                ASSERT_LE(std::fabs(rknpu_fp16_to_float(got) - exact),
                          std::fabs(exact) * 0x1p-11 + 288 * magnitude * 0x1p-24);
            }
        }
    }
}

// The same run's last task: a pooling job that copies inside the weight buffer.
TEST(Recorded, PoolingTaskOfAConvolutionModel)
{
    std::string log = RecordedPath("vendor-runtime/ab32.ioctl.log");

    if (log.empty()) {
        GTEST_SKIP() << "RKNPU_TEST_DATA names no folder with vendor-runtime/ab32.ioctl.log";
    }
    FakeHost host;
    auto submits = ReadIoctlLog(log);

    LoadBuffers(host, RecordedPath("vendor-runtime/ab32-buffers"), 0);
    ASSERT_EQ(submits[0].tasks[2].unit_mask, 0x60u);
    auto source = host.get<uint8_t>(0xffefc400, 32);
    ASSERT_EQ(RunRecorded(host, rknpu_rk3588, submits[0].tasks[2]), RKNPU_TASK_OK);
    EXPECT_EQ(host.get<uint8_t>(0xffefc000, 32), source);
}

} // namespace
