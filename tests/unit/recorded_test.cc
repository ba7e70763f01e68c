// SPDX-License-Identifier: GPL-2.0-or-later
// Programs of Rockchip's compiler and runtime, executed on their recorded buffers. Expected values
// are plain arithmetic on the network's own weights (ONNX or raw), never the packed buffers.
#include "recorded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>

extern "C" {
#include "types.h"
}

namespace
{

// The first tensor of `bytes` raw bytes in an ONNX file (TensorProto.raw_data: field 9, a byte
// string).
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

float Half(float v)
{
    return rknpu_fp16_to_float(rknpu_float_to_fp16(v));
}

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
                        float product =
                            rknpu_fp16_to_float(input[at]) * Half(weights[(k * kC + c) * 9 + t]);

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

// The multiple_input demo (airockchip/rknn-toolkit2; runtime 1.6.0, int8): two 3x3 convolutions to
// 8 channels, of a 3-channel and of a 1-channel picture, and their sum fused into the second.
// Packed pixels, compressed weights, per-channel zero points and scales. Expected: integer
// arithmetic on weights quantised here from the ONNX model (asymmetric, per channel, 255 steps);
// only the biases come from the recorded buffers.
class MultipleInput : public testing::Test
{
  protected:
    static constexpr unsigned kSize = 128, kK = 8;

    struct Layer {
        unsigned channels;
        std::vector<int> weights; // [k][c][3][3]
        int zero_point[kK], scale[kK];
        std::vector<int32_t> bias;
        std::vector<uint8_t> picture; // [y][x][c]
    };

    // To nearest, ties to even; exact in double.
    static double Shift(double v, int shift) { return std::nearbyint(std::ldexp(v, -shift)); }
    static double Saturate(double v) { return std::min(127.0, std::max(-128.0, v)); }

    static Layer Quantise(FakeHost &host, const std::vector<uint8_t> &onnx, unsigned channels,
                          uint32_t records, uint32_t picture)
    {
        unsigned n = channels * 9;
        std::vector<float> w = OnnxFloats(onnx, kK * n), steps;
        Layer layer = { channels,
                        {},
                        {},
                        {},
                        host.get<int32_t>(records, kK),
                        host.get<uint8_t>(picture, kSize * kSize * channels) };

        for (unsigned k = 0; k < kK; k++) {
            auto range = std::minmax_element(w.begin() + k * n, w.begin() + (k + 1) * n);
            float low = std::min(0.0f, *range.first),
                  step = (std::max(0.0f, *range.second) - low) / 255;

            steps.push_back(step);
            layer.zero_point[k] = (int)std::nearbyint(-128 - low / step);
            for (unsigned i = 0; i < n; i++) {
                layer.weights.push_back(
                    (int)Saturate(std::nearbyint(w[k * n + i] / step) + layer.zero_point[k]));
            }
        }
        for (unsigned k = 0; k < kK; k++) {
            layer.scale[k] = (int)std::nearbyint(
                steps[k] / *std::max_element(steps.begin(), steps.end()) * 0x4000);
        }
        return layer;
    }

    // Accumulator with bias, per-channel scale applied: pixels and padding count from -128.
    static double Sum(const Layer &l, unsigned k, unsigned oy, unsigned ox)
    {
        int64_t sum = l.bias[k];

        for (unsigned c = 0; c < l.channels; c++) {
            for (unsigned t = 0; t < 9; t++) {
                unsigned y = oy + t / 3 - 1, x = ox + t % 3 - 1;
                int v = y < kSize && x < kSize ? l.picture[(y * kSize + x) * l.channels + c] - 128
                                               : -128;

                sum += v * (l.weights[(k * l.channels + c) * 9 + t] - l.zero_point[k]);
            }
        }
        return Shift((double)sum * l.scale[k], 14);
    }
};

TEST_F(MultipleInput, WholeNetwork)
{
    std::string log = RecordedPath("vendor-runtime/mi_base.ioctl.log");

    if (log.empty()) {
        GTEST_SKIP() << "RKNPU_TEST_DATA names no folder with vendor-runtime/mi_base.ioctl.log";
    }
    FakeHost host;
    auto submits = ReadIoctlLog(log);
    auto onnx = ReadFile(RecordedPath("vendor-runtime/multiple_input.onnx"));

    LoadBuffers(host, RecordedPath("vendor-runtime/mi_base-buffers"), 0);
    Layer colour = Quantise(host, onnx, 3, 0xffefb680, 0xffdd5000);
    Layer grey = Quantise(host, onnx, 1, 0xffefb000, 0xffde1000);
    ASSERT_EQ(submits.size(), 2u);
    ASSERT_EQ(RunRecorded(host, rknpu_rk3588, submits[0].tasks[0]), RKNPU_TASK_OK);
    ASSERT_EQ(RunRecorded(host, rknpu_rk3588, submits[1].tasks[0]), RKNPU_TASK_OK);
    auto between = host.get<int8_t>(0xffdf5000, kSize * kSize * 16);
    auto output = host.get<int8_t>(0xffd55000, kSize * kSize * 16);
    EXPECT_GT(std::set<int8_t>(output.begin(), output.end()).size(), 100u);
    for (unsigned k = 0; k < kK; k++) {
        for (unsigned y = 0; y < kSize; y++) {
            for (unsigned x = 0; x < kSize; x++) {
                double first =
                    Saturate(Shift(Sum(colour, k, y, x) * 0x49eb + std::ldexp(16, 25), 25));
                double second = Sum(grey, k, y, x) + Shift((first - 16) * 0x4159, 4);
                size_t at = (y * kSize + x) * 16 + k;

                ASSERT_EQ(between[at], first) << k << " " << y << " " << x;
                ASSERT_EQ(output[at], Saturate(Shift(second * 0x4f3c + std::ldexp(20, 25), 25)))
                    << k << " " << y << " " << x;
            }
        }
    }
}

// The same network on three cores (core mask 7): sub-core entries 2, 3 and 4 name one program of
// the first layer each, then two of the second, the last of them on the pooling unit. Expected:
// what one core computes in the recording above, whose buffers have the same addresses.
TEST_F(MultipleInput, ThreeCoresShareEachLayer)
{
    constexpr size_t kBytes = kSize * kSize * 16;
    constexpr uint32_t kBetween = 0xffdf5000, kOutput = 0xffd55000;
    std::string log = RecordedPath("vendor-runtime/mi_cores012.ioctl.log");

    if (log.empty()) {
        GTEST_SKIP() << "RKNPU_TEST_DATA names no folder with vendor-runtime/mi_cores012.ioctl.log";
    }
    std::string folder = RecordedPath("vendor-runtime/mi_base-buffers");
    const std::vector<uint8_t> untouched(kBytes, 0x55);
    std::map<unsigned, RecordedTask> tasks;
    FakeHost one, three;

    LoadBuffers(one, folder, 0);
    for (const auto &submit : ReadIoctlLog(RecordedPath("vendor-runtime/mi_base.ioctl.log"))) {
        ASSERT_EQ(RunRecorded(one, rknpu_rk3588, submit.tasks[0]), RKNPU_TASK_OK);
    }
    LoadBuffers(three, folder, 0);
    three.write(kBetween, untouched.data(), kBytes);
    three.write(kOutput, untouched.data(), kBytes);
    for (const auto &submit : ReadIoctlLog(log)) {
        for (const auto &task : submit.tasks) {
            tasks[task.number] = task;
        }
    }
    for (unsigned first : { 12, 15, 18 }) {
        EXPECT_NE(three.get<uint8_t>(kBetween, kBytes), one.get<uint8_t>(kBetween, kBytes));
        ASSERT_EQ(RunRecorded(three, rknpu_rk3588, tasks.at(first)), RKNPU_TASK_OK) << first;
    }
    EXPECT_EQ(three.get<uint8_t>(kBetween, kBytes), one.get<uint8_t>(kBetween, kBytes));
    for (unsigned second : { 13, 16, 19 }) {
        EXPECT_NE(three.get<uint8_t>(kOutput, kBytes), one.get<uint8_t>(kOutput, kBytes));
        ASSERT_EQ(RunRecorded(three, rknpu_rk3588, tasks.at(second)), RKNPU_TASK_OK) << second;
        ASSERT_EQ(tasks.at(second + 1).unit_mask, 0x60u);
        ASSERT_EQ(RunRecorded(three, rknpu_rk3588, tasks.at(second + 1)), RKNPU_TASK_OK);
    }
    EXPECT_EQ(three.get<uint8_t>(kOutput, kBytes), one.get<uint8_t>(kOutput, kBytes));
}

// A job captured on an RK3576 board (gahingwoo/linux-rk3576-npu): 5x5 stride 2, 80x80x16 to
// 40x40x128, int8. It holds the layer as one program and as two halves for two cores.
class Rk3576Job : public testing::Test
{
  protected:
    static constexpr unsigned kC = 16, kSize = 80, kK = 128, kOut = 40, kTaps = 25;
    static constexpr uint32_t kPrograms = 0xfffec000, kInput = 0xfff88000, kOutput = 0xfff56000;
    static constexpr uint32_t kRecords = 0xffff8800, kShiftWord = 0xffff8c00;

    void SetUp() override
    {
        std::string folder = RecordedPath("rk3576-vendor-job");
        uint32_t iovas[] = { 0xfffff000, kPrograms, 0xfffa1000, kInput, kOutput };
        uint64_t phys = 0;

        if (folder.empty()) {
            GTEST_SKIP() << "RKNPU_TEST_DATA names no folder with rk3576-vendor-job";
        }
        for (unsigned i = 0; i < 5; i++) {
            auto bytes = ReadFile(folder + "/bo0" + std::to_string(i) + ".bin");

            host.map(iovas[i], phys, bytes.size());
            host.write(iovas[i], bytes.data(), bytes.size());
            phys += bytes.size();
        }
        host.write(kOutput, std::vector<uint8_t>(kOut * kOut * kK, 0x55).data(), kOut * kOut * kK);
        programs = host.get<uint8_t>(kPrograms, 77824);
        input = host.get<int8_t>(kInput, kSize * kSize * kC);
        std::mt19937 random(1); // the captured input is nearly constant
        for (int8_t &v : input) {
            v = (int8_t)random();
        }
        host.put(kInput, input);
    }

    void Run(uint32_t program)
    {
        ASSERT_EQ(RunRecorded(host, rknpu_rk3576, ReadProgram(programs, program - kPrograms)),
                  RKNPU_TASK_OK);
    }

    // To nearest, ties to even; all values are exact in double.
    static double Shift(double v, unsigned shift)
    {
        return std::nearbyint(std::ldexp(v, -(int)shift));
    }

    int Expected(unsigned k, unsigned oy, unsigned ox) const
    {
        constexpr int kScale = 0x5d58, kShift = 0x1a, kOffset = 9, kPad = -128;
        const uint8_t *record = &programs[kRecords - kPrograms + k / 8 * 64];
        const uint8_t *word = &programs[kShiftWord - kPrograms];
        int32_t a;
        int16_t b, c;
        int64_t sum = 0, inputs = 0;

        std::memcpy(&a, record + k % 8 * 4, 4);
        std::memcpy(&b, record + 32 + k % 8 * 2, 2);
        std::memcpy(&c, record + 48 + k % 8 * 2, 2);
        for (unsigned t = 0; t < kTaps; t++) {
            int y = (int)(oy * 2 + t / 5) - 1, x = (int)(ox * 2 + t % 5) - 1;
            bool inside = y >= 0 && x >= 0 && y < (int)kSize && x < (int)kSize;

            for (unsigned ch = 0; ch < kC; ch++) {
                int v = inside ? input[((unsigned)y * kSize + (unsigned)x) * 16 + ch] : kPad;

                sum += v * (int8_t)programs[(k / 32 * 32 * kTaps + t * 32 + k % 32) * kC + ch];
                inputs += v;
            }
        }
        double v = (double)(sum + b * inputs + a);

        v = Shift(v * c, v >= 0 ? word[0] & 63u : word[1] & 63u);
        v = Shift(v * kScale + std::ldexp(kOffset, kShift), kShift);
        return (int)std::min(127.0, std::max(-128.0, v));
    }

    void Check(unsigned first_row, unsigned rows) const
    {
        auto output = host.get<int8_t>(kOutput, kOut * kOut * kK);

        for (unsigned k = 0; k < kK; k++) {
            for (unsigned y = 0; y < kOut; y++) {
                for (unsigned x = 0; x < kOut; x++) {
                    bool done = y >= first_row && y < first_row + rows;

                    ASSERT_EQ(output[((k / 16 * kOut + y) * kOut + x) * 16 + k % 16],
                              done ? Expected(k, y, x) : 0x55)
                        << k << " " << y << " " << x;
                }
            }
        }
    }

    FakeHost host;
    std::vector<uint8_t> programs;
    std::vector<int8_t> input;
};

TEST_F(Rk3576Job, WholeLayer)
{
    Run(0xffffd940);
    auto output = host.get<int8_t>(kOutput, kOut * kOut * kK);
    EXPECT_GT(std::set<int8_t>(output.begin(), output.end()).size(), 100u);
    Check(0, kOut);
}

TEST_F(Rk3576Job, TwoCoresShareTheLayer)
{
    Run(0xffffe240);
    Check(0, kOut / 2);
    Run(0xffffe6c0);
    Check(0, kOut);
}

} // namespace
