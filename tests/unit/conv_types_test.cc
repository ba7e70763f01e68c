// SPDX-License-Identifier: GPL-2.0-or-later
// Convolutions in every type but int8: random shapes, programmed register by register, against
// plain loops over the logical tensors. Sums of floats run in the documented order (ky, kx,
// channel; each product and each sum rounded to fp32), so results are compared bit for bit.
#include "fake_host.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

extern "C" {
#include "types.h"
}

namespace
{

constexpr uint32_t kInput = 0x100000, kWeights = 0x400000, kOperands = 0x700000, kOutput = 0x800000;

struct TypeRow {
    RknpuType type, out;
    unsigned group, slice,
        depthwise_group; // kernels and channels stored together (0: no depthwise)
    unsigned pass_atoms, depthwise_atoms;
};

const TypeRow kTypes[] = {
    { RKNPU_FP16, RKNPU_FP16, 16, 32, 32, 2, 4 }, { RKNPU_FP16, RKNPU_FP32, 16, 32, 32, 4, 8 },
    { RKNPU_BF16, RKNPU_FP32, 16, 32, 32, 4, 8 }, { RKNPU_BF16, RKNPU_BF16, 16, 32, 32, 2, 4 },
    { RKNPU_TF32, RKNPU_FP32, 16, 16, 0, 4, 0 },  { RKNPU_INT16, RKNPU_INT32, 16, 32, 32, 4, 8 },
    { RKNPU_INT4, RKNPU_INT16, 64, 32, 0, 8, 0 }, { RKNPU_FP16, RKNPU_INT8, 16, 32, 32, 1, 2 },
};

// A convolution on logical tensors. Everything that the program needs follows from these numbers.
struct Case {
    TypeRow row;
    unsigned channels, height, width, kernels, kh, kw, stride_x, stride_y, dilation_x, dilation_y;
    unsigned pad_top, pad_left, out_height, out_width, packed;
    bool depthwise, bias, relu;
    uint16_t pad_bits;
    unsigned spread; // deconvolution: input pixels lie this far apart
};

class Convolution
{
  public:
    Convolution(const Case &c, std::mt19937 &random)
        : c_(c), random_(random), bits_(rknpu_type_bits(c.row.type))
    {
        input_ = Random(kInput, InputBytes());
        weights_ = Random(kWeights, WeightBytes());
        biases_.resize(c.kernels);
        for (float &b : biases_) {
            b = (float)((int)(random_() % 2001) - 1000) / 64;
        }
        host_.put(kOperands, biases_);
    }

    void Run()
    {
        TaskRunner task(host_, rknpu_rk3588,
                        RKNPU_UNIT_CNA | RKNPU_UNIT_CORE | RKNPU_UNIT_DPU |
                            (c_.bias ? RKNPU_UNIT_DPU_RDMA : 0));

        ProgramCna(task);
        ProgramDpu(task);
        ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
        Compare();
    }

  private:
    unsigned InputAtom() const { return c_.packed ? c_.packed : 128 / bits_; }
    unsigned PixelBytes() const { return c_.packed ? c_.packed * bits_ / 8 : 16; }
    unsigned Surfaces() const { return c_.packed ? 1 : c_.channels / InputAtom(); }
    unsigned TapChannels() const { return c_.packed ? 8 : c_.channels; }
    size_t InputBytes() const { return (size_t)Surfaces() * c_.height * c_.width * PixelBytes(); }
    unsigned WeightKernels() const { return c_.depthwise ? 1 : c_.kernels; }
    size_t WeightBytes() const
    {
        return (size_t)WeightKernels() * TapChannels() * c_.kh * c_.kw * bits_ / 8;
    }

    // Random elements of moderate size, so that sums neither overflow nor lose everything.
    std::vector<uint8_t> Random(uint32_t at, size_t bytes)
    {
        std::vector<uint8_t> data(bytes);

        for (size_t i = 0; i < bytes * 8 / bits_; i++) {
            float v = (float)((int)(random_() % 4001) - 2000) / 512;

            if (rknpu_type_is_float(c_.row.type)) {
                rknpu_store_float(c_.row.type, data.data(), i,
                                  c_.row.type == RKNPU_TF32 ? v * 1.0003f : v);
            } else {
                rknpu_store_int(c_.row.type, data.data(), i, (int)(random_() % 601) - 300);
            }
        }
        host_.write(at, data.data(), data.size());
        return data;
    }

    void ProgramCna(TaskRunner &task)
    {
        uint32_t precision = c_.row.type, taps = c_.kh * c_.kw;
        uint32_t con1 = (c_.depthwise ? 3 : 0) | precision << 4 | precision << 7;

        if (c_.packed) {
            con1 |= (7 + c_.packed) << 12 | 1u << 29 | 1u << 30;
        }
        con1 |= c_.spread > 1 ? 1 << 16 : 0;
        task.set(RK3588_CNA_CONV_CON1, con1);
        task.set(RK3588_CNA_CONV_CON3, c_.stride_x | c_.stride_y << 3 | (c_.spread - 1) << 8 |
                                           (c_.spread - 1) << 11 | (c_.dilation_x - 1) << 16 |
                                           (c_.dilation_y - 1) << 21);
        task.set(RK3588_CNA_DATA_SIZE0, c_.width << 16 | c_.height);
        task.set(RK3588_CNA_DATA_SIZE1, ((TapChannels() - 1) & 63) << 16 | TapChannels());
        task.set(RK3588_CNA_WEIGHT_SIZE0, (uint32_t)WeightBytes());
        task.set(RK3588_CNA_WEIGHT_SIZE1, taps * TapChannels() * bits_ / 8);
        task.set(RK3588_CNA_WEIGHT_SIZE2, c_.kw << 24 | c_.kh << 16 | WeightKernels());
        task.set(RK3588_CNA_CVT_CON0, 0xb);
        task.set(RK3588_CNA_PAD_CON0, c_.pad_left << 4 | c_.pad_top);
        task.set(RK3588_CNA_PAD_CON1, c_.pad_bits);
        task.set(RK3588_CNA_FEATURE_DATA_ADDR, kInput);
        task.set(RK3588_CNA_DMA_CON1, c_.packed ? c_.width : 4 * c_.width);
        task.set(RK3588_CNA_DMA_CON2, c_.width * (c_.height - 4) & 0xfffffff);
        task.set(RK3588_CNA_FC_DATA_SIZE0, c_.width << 16 | c_.height);
        task.set(RK3588_CNA_FC_DATA_SIZE1, TapChannels());
        task.set(RK3588_CNA_DCOMP_ADDR0, kWeights);
        task.set(RK3588_CORE_MISC_CFG, (c_.depthwise ? 2 : 0) | precision << 8);
        task.set(RK3588_CORE_DATAOUT_SIZE_0, (c_.out_height - 1) << 16 | (c_.out_width - 1));
        task.set(RK3588_CORE_DATAOUT_SIZE_1, c_.kernels - 1);
    }

    unsigned PassAtoms() const { return c_.depthwise ? c_.row.depthwise_atoms : c_.row.pass_atoms; }
    uint32_t SurfaceStride() const { return (c_.out_width * c_.out_height + 3) * 16; } // with a gap

    void ProgramDpu(TaskRunner &task)
    {
        uint32_t proc = c_.row.type == RKNPU_TF32 ? RKNPU_FP32 : c_.row.type, e = PassAtoms() - 1;

        task.set(RK3588_DPU_FEATURE_MODE_CFG, 0x1e4 | (c_.depthwise ? 0x18 : 0));
        task.set(RK3588_DPU_DATA_FORMAT, (uint32_t)c_.row.out << 29 | proc << 26 | proc);
        task.set(RK3588_DPU_DST_BASE_ADDR, kOutput);
        task.set(RK3588_DPU_DST_SURF_STRIDE, SurfaceStride());
        task.set(RK3588_DPU_DATA_CUBE_WIDTH, c_.out_width - 1);
        task.set(RK3588_DPU_DATA_CUBE_HEIGHT, c_.out_height - 1);
        task.set(RK3588_DPU_DATA_CUBE_CHANNEL, (c_.kernels - 1) << 16 | (c_.kernels - 1));
        // Bypass all, or add from memory, with or without ReLU.
        task.set(RK3588_DPU_BS_CFG, c_.bias ? 0x20110 | (c_.relu ? 0 : 0x40) : 0x53);
        task.set(RK3588_DPU_BS_OW_CFG, e << 2 | e << 5 | e << 8 | 2);
        task.set(RK3588_DPU_BN_CFG, 0x53);
        task.set(RK3588_DPU_EW_CFG, 0x383);
        task.set(RK3588_DPU_OUT_CVT_SCALE, c_.row.out == RKNPU_FP16 ? 0x10001 : 1);
        task.set(RK3588_DPU_SURFACE_ADD, SurfaceStride() * PassAtoms());
        task.set(RK3588_DPU_RDMA_BRDMA_CFG, 2);
        task.set(RK3588_DPU_RDMA_BS_BASE_ADDR, kOperands);
        task.set(RK3588_DPU_RDMA_ERDMA_CFG, 1);
    }

    // Memory index of a logical element.
    size_t FeatureIndex(unsigned ch, unsigned y, unsigned x) const
    {
        unsigned atom = InputAtom();

        return (((size_t)(ch / atom) * c_.height + y) * c_.width + x) * atom + ch % atom;
    }

    size_t WeightIndex(unsigned k, unsigned tap, unsigned ch) const
    {
        size_t taps = c_.kh * c_.kw, t = TapChannels();
        auto part = [](size_t index, size_t size, size_t total) {
            return std::min(size, total - index * size);
        };

        if (c_.depthwise) {
            size_t g = k / c_.row.depthwise_group, pitch = part(g, c_.row.depthwise_group, t);

            return g * c_.row.depthwise_group * taps + tap * pitch + k % c_.row.depthwise_group;
        }
        size_t g = k / c_.row.group, s = ch / c_.row.slice;
        size_t in_group = part(g, c_.row.group, c_.kernels), in_slice = part(s, c_.row.slice, t);

        return g * c_.row.group * t * taps + s * c_.row.slice * in_group * taps +
               (tap * in_group + k % c_.row.group) * in_slice + ch % c_.row.slice;
    }

    template <typename T> T Load(const std::vector<uint8_t> &data, size_t index) const
    {
        return std::is_same_v<T, float> ? (T)rknpu_load_float(c_.row.type, data.data(), index)
                                        : (T)rknpu_load_int(c_.row.type, data.data(), index);
    }

    template <typename T> T Sum(unsigned k, unsigned oy, unsigned ox) const
    {
        std::vector<uint8_t> pad = { (uint8_t)c_.pad_bits, (uint8_t)(c_.pad_bits >> 8), 0, 0 };
        unsigned first = c_.depthwise ? k : 0, last = c_.depthwise ? k + 1 : TapChannels();
        T sum = 0;

        for (unsigned tap = 0; tap < c_.kh * c_.kw; tap++) {
            int y = (int)(oy * c_.stride_y + tap / c_.kw * c_.dilation_y) - (int)c_.pad_top;
            int x = (int)(ox * c_.stride_x + tap % c_.kw * c_.dilation_x) - (int)c_.pad_left;
            int spread = (int)c_.spread;
            bool inside = y >= 0 && x >= 0 && y % spread == 0 && x % spread == 0 &&
                          y / spread < (int)c_.height && x / spread < (int)c_.width;

            for (unsigned ch = first; ch < last; ch++) {
                T v = !inside ? Load<T>(pad, 0)
                      : c_.packed && ch >= c_.packed
                          ? 0
                          : Load<T>(input_, FeatureIndex(ch, y / spread, x / spread));

                sum = sum + v * Load<T>(weights_, WeightIndex(k, tap, ch));
            }
        }
        return sum;
    }

    void Compare()
    {
        unsigned atom = 128 / rknpu_type_bits(c_.row.out), e = PassAtoms();

        for (unsigned k = 0; k < c_.kernels; k++) {
            uint32_t surface =
                kOutput + k / atom / e * SurfaceStride() * e + k / atom % e * SurfaceStride();

            for (unsigned p = 0; p < c_.out_width * c_.out_height; p++) {
                std::vector<uint8_t> expected(16), got = host_.get<uint8_t>(surface + p * 16, 16);
                unsigned oy = p / c_.out_width, ox = p % c_.out_width, bytes = 16 / atom;

                if (rknpu_type_is_float(c_.row.type)) {
                    float v = Sum<float>(k, oy, ox);

                    v = c_.bias ? v + biases_[k] : v;
                    v = c_.bias && c_.relu && v < 0 ? 0 : v;
                    rknpu_store_float(c_.row.out, expected.data(), k % atom, v);
                } else {
                    rknpu_store_int(c_.row.out, expected.data(), k % atom, Sum<int64_t>(k, oy, ox));
                }
                ASSERT_EQ(0,
                          std::memcmp(&expected[k % atom * bytes], &got[k % atom * bytes], bytes))
                    << rknpu_type_name(c_.row.type) << " to " << rknpu_type_name(c_.row.out)
                    << " kernel " << k << " y " << oy << " x " << ox << ": "
                    << rknpu_load_float(c_.row.out, got.data(), k % atom) << " instead of "
                    << rknpu_load_float(c_.row.out, expected.data(), k % atom);
            }
        }
    }

    Case c_;
    std::mt19937 &random_;
    unsigned bits_;
    FakeHost host_;
    std::vector<uint8_t> input_, weights_;
    std::vector<float> biases_;
};

Case RandomCase(const TypeRow &row, std::mt19937 &random)
{
    auto pick = [&](unsigned low, unsigned high) {
        return low + (unsigned)(random() % (high - low + 1));
    };
    bool floating = rknpu_type_is_float(row.type);
    unsigned atom = rknpu_type_per_atom(row.type);
    Case c = { .row = row };

    c.depthwise = row.depthwise_group && random() % 4 == 0;
    c.packed = !c.depthwise && row.type == RKNPU_FP16 && random() % 4 == 0 ? pick(1, 4) : 0;
    c.channels = c.packed ? c.packed : atom * pick(1, 90 / atom + 1);
    c.kernels = c.depthwise ? c.channels : row.type == RKNPU_INT4 ? 64 * pick(1, 2) : pick(1, 40);
    c.kh = pick(1, 4);
    c.kw = pick(1, 4);
    c.stride_x = pick(1, 3);
    c.stride_y = pick(1, 3);
    c.dilation_x = pick(1, 2);
    c.dilation_y = pick(1, 3);
    c.pad_top = pick(0, 3);
    c.pad_left = pick(0, 3);
    c.out_height = pick(1, 6);
    c.out_width = random() % 8 == 0 ? pick(60, 70) : pick(1, 9);
    // Right and bottom padding follow from the output's size: the map may end early.
    c.height = pick(1, 12);
    c.width = pick(4, 14);
    if (c.packed) { // rows are whole 16-byte units
        c.width = 8 * pick(1, 2);
    }
    c.pad_bits = row.type == RKNPU_TF32 ? 0 : floating ? rknpu_float_to_fp16(0.5f) : 3;
    c.bias = floating && random() % 2;
    c.relu = random() % 2;
    c.spread = !c.packed && random() % 3 == 0 ? pick(2, 3) : 1;
    return c;
}

// A matrix product with row-major operands, as happyme531/rknpu2_matmul_open programs it: rows of A
// in line-by-line addressing, rows of C side by side in memory. N beyond one panel, M beyond one
// tile.
TEST(MatrixProduct, RowMajorFp16)
{
    constexpr unsigned kM = 37, kK = 96, kN = 48;
    FakeHost host;
    TaskRunner task(host, rknpu_rk3588, RKNPU_UNIT_CNA | RKNPU_UNIT_CORE | RKNPU_UNIT_DPU);
    std::mt19937 random(5);
    std::vector<uint16_t> a(kM * kK), b(kN * kK), packed(kN * kK);

    for (auto *matrix : { &a, &b }) {
        for (uint16_t &v : *matrix) {
            v = rknpu_float_to_fp16((float)((int)(random() % 4001) - 2000) / 512);
        }
    }
    for (unsigned n = 0; n < kN; n++) {
        for (unsigned k = 0; k < kK; k++) { // [n / 16][k / 32][n % 16][k % 32]
            packed[(n / 16 * kK + k / 32 * 32) * 16 + n % 16 * 32 + k % 32] = b[n * kK + k];
        }
    }
    host.put(kInput, a);
    host.put(kWeights, packed);
    task.set(RK3588_CNA_CONV_CON1, RKNPU_FP16 << 4 | RKNPU_FP16 << 7 | 1u << 29);
    task.set(RK3588_CNA_CONV_CON3, 1 | 1 << 3);
    task.set(RK3588_CNA_DATA_SIZE0, 1 << 16 | kM);
    task.set(RK3588_CNA_DATA_SIZE1, (kK - 1) << 16 | kK);
    task.set(RK3588_CNA_WEIGHT_SIZE0, 2 * kK * kN);
    task.set(RK3588_CNA_WEIGHT_SIZE1, 2 * kK);
    task.set(RK3588_CNA_WEIGHT_SIZE2, 1 << 24 | 1 << 16 | kN);
    task.set(RK3588_CNA_CVT_CON0, 0xb);
    task.set(RK3588_CNA_FEATURE_DATA_ADDR, kInput);
    task.set(RK3588_CNA_DMA_CON1, kK / 8);
    task.set(RK3588_CNA_DMA_CON2, 0);
    task.set(RK3588_CNA_FC_DATA_SIZE0, 1 << 16 | kM);
    task.set(RK3588_CNA_DCOMP_ADDR0, kWeights);
    task.set(RK3588_CORE_MISC_CFG, RKNPU_FP16 << 8);
    task.set(RK3588_DPU_FEATURE_MODE_CFG, 0x1e4);
    task.set(RK3588_DPU_DATA_FORMAT, (uint32_t)RKNPU_FP32 << 29 | RKNPU_FP16 << 26 | RKNPU_FP16);
    task.set(RK3588_DPU_DST_BASE_ADDR, kOutput);
    task.set(RK3588_DPU_DST_SURF_STRIDE, 16);
    task.set(RK3588_DPU_DATA_CUBE_HEIGHT, kM - 1);
    task.set(RK3588_DPU_DATA_CUBE_NOTCH_ADDR, kN / 4 - 1);
    task.set(RK3588_DPU_DATA_CUBE_CHANNEL, (kN - 1) << 16 | (kN - 1));
    task.set(RK3588_DPU_BS_CFG, 0x53);
    task.set(RK3588_DPU_BS_OW_CFG, 3 << 2 | 2);
    task.set(RK3588_DPU_BN_CFG, 0x53);
    task.set(RK3588_DPU_EW_CFG, 0x383);
    task.set(RK3588_DPU_OUT_CVT_SCALE, 1);
    task.set(RK3588_DPU_SURFACE_ADD, 64);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto c = host.get<float>(kOutput, kM * kN);
    for (unsigned m = 0; m < kM; m++) {
        for (unsigned n = 0; n < kN; n++) {
            float sum = 0;

            for (unsigned k = 0; k < kK; k++) {
                sum += rknpu_fp16_to_float(a[m * kK + k]) * rknpu_fp16_to_float(b[n * kK + k]);
            }
            ASSERT_EQ(c[m * kN + n], sum) << m << " " << n;
        }
    }
}

class ConvTypes : public testing::TestWithParam<size_t>
{
};

TEST_P(ConvTypes, EqualsPlainLoops)
{
    const char *text = std::getenv("RKNPU_TEST_SEED");
    unsigned seed = text ? (unsigned)std::strtoul(text, nullptr, 0) : std::random_device{}();

    for (unsigned round = 0; round < 12; round++) {
        std::mt19937 random(seed + round);
        Case c = RandomCase(kTypes[GetParam()], random);
        SCOPED_TRACE(testing::Message()
                     << "RKNPU_TEST_SEED=" << seed + round << " C=" << c.channels
                     << " H=" << c.height << " W=" << c.width << " K=" << c.kernels << " kernel "
                     << c.kh << "x" << c.kw << " depthwise " << c.depthwise << " packed "
                     << c.packed << " bias " << c.bias);

        Convolution(c, random).Run();
        if (HasFatalFailure()) {
            return;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, ConvTypes, testing::Range((size_t)0, sizeof(kTypes) / sizeof(kTypes[0])),
                         [](const testing::TestParamInfo<size_t> &info) {
                             const TypeRow &row = kTypes[info.param];

                             return std::string(rknpu_type_name(row.type)) + "_to_" +
                                    rknpu_type_name(row.out);
                         });

} // namespace
