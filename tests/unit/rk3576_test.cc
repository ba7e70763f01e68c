// SPDX-License-Identifier: GPL-2.0-or-later
// RK3576 layers as Rockchip's compiler programs them (register maps and board logs of
// gahingwoo/linux-rk3576-npu): direct and depthwise convolutions with operand records, the two
// shifts, ReLU by clamp, row windows, and the packed 3-channel picture. Expected: plain loops over
// tensors.
#include "fake_host.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

extern "C" {
#include "kernels/isa.h"
}

namespace
{

constexpr uint32_t kIn = 0x100000, kWeights = 0x400000, kRecords = 0x600000, kShifts = 0x610000,
                   kOut = 0x800000;

double Shift(double v, int shift)
{
    return std::nearbyint(std::ldexp(v, -shift));
} // ties to even
double Saturate(double v)
{
    return std::min(127.0, std::max(-128.0, v));
}

struct Map {
    unsigned channels, height, width;
};

struct Window {
    unsigned first_row = 0, rows = 0; // of the input; rows 0: all of them
    unsigned reused = 0;              // rows that an earlier task left in the CBUF
};

// A layer; the defaults are a direct 1x1 convolution of a whole map. A test names what differs.
struct Layer {
    Map in;
    unsigned kernels = in.channels;
    unsigned kernel = 1, stride = 1, pad = kernel / 2; // square, the same on all sides
    bool depthwise = false, relu = false, packed = false;
    Window window;
    int shift_positive = 4, shift_negative = 4;
    unsigned spread = 1; // deconvolution: input pixels lie this far apart
    bool lowest = false; // depthwise: some zero points are -128, which negated is no byte
    bool one_b = false;  // one zero point for all kernels
    bool fours = false;  // packed: a tap's weights of all kernels lie together

    static constexpr int kScale = 20000, kShift = 21, kOffset = -5, kPad = -100;
};

class LayerRun
{
  public:
    LayerRun(const Layer &layer, unsigned seed) : l_(layer), random_(seed)
    {
        in_.resize(l_.in.height * l_.in.width * Channels());
        weights_.resize(l_.kernels * l_.kernel * l_.kernel * (l_.depthwise ? 1 : Channels()));
        a_.resize(l_.kernels);
        b_.resize(l_.kernels);
        c_.resize(l_.kernels);
        for (int &v : in_) {
            v = l_.packed ? (int)(random_() & 255) : Byte();
        }
        for (int &v : weights_) {
            v = Byte() / 4;
        }
        for (unsigned k = 0; k < l_.kernels; k++) {
            a_[k] = (int)(random_() % 20001) - 10000;
            b_[k] = (int)(random_() % 41) - 20;
            b_[k] = l_.lowest && k % 3 == 0 ? 128 : b_[k];
            b_[k] = l_.one_b ? 128 : b_[k];
            c_[k] = 8 + (int)(random_() % 16);
        }
    }

    void CheckWith(unsigned isa)
    {
        FakeHost host;
        TaskRunner task(host, rknpu_rk3576,
                        RKNPU_UNIT_CNA | RKNPU_UNIT_CORE | RKNPU_UNIT_DPU | RKNPU_UNIT_DPU_RDMA);

        task.config.force_isa = isa;
        Store(host);
        ProgramCna(task);
        ProgramDpu(task);
        host.put(kOut, std::vector<uint8_t>(OutBytes(), 0xaa));
        ASSERT_EQ(task.run(), RKNPU_TASK_OK) << task.first_report();
        for (unsigned k = 0; k < (l_.kernels + 15) / 16 * 16; k++) {
            for (unsigned y = 0; y < OutRows(); y++) {
                for (unsigned x = 0; x < OutWidth(); x++) {
                    unsigned g = k / 16, e = Atoms();
                    uint32_t at = kOut + g / e * e * Surface() * 16 + g % e * Surface() * 16 +
                                  (y * OutWidth() + x) * 16 + k % 16;

                    ASSERT_EQ(host.get<int8_t>(at, 1)[0], k < l_.kernels ? Expected(k, y, x) : 0)
                        << "k " << k << " y " << y << " x " << x;
                }
            }
        }
    }

  private:
    int Byte() { return (int)(random_() & 255) - 128; }
    unsigned Channels() const { return l_.packed ? 3 : l_.in.channels; }
    unsigned Span() const { return l_.window.rows ? l_.window.rows : l_.in.height; }
    unsigned Top() const
    {
        return l_.window.first_row ? 0 : l_.pad;
    } // a window below the top has no top padding
    // The map that the kernel walks over.
    unsigned MapRows() const { return (Span() - 1) * l_.spread + 1; }
    unsigned MapWidth() const { return (l_.in.width - 1) * l_.spread + 1; }
    unsigned OutRows() const
    {
        return (MapRows() + Top() + (l_.window.rows ? 0 : l_.pad) - l_.kernel) / l_.stride + 1;
    }
    unsigned OutWidth() const { return (MapWidth() + 2 * l_.pad - l_.kernel) / l_.stride + 1; }
    unsigned Surface() const { return (OutRows() * OutWidth() + 3) / 4 * 4 + 8; } // px, with a gap
    bool BInRecords() const { return !l_.depthwise && !l_.one_b; }
    unsigned QuadRow() const { return (l_.kernel + 3) / 4 * 16; }
    unsigned OutBytes() const { return (l_.kernels + 63) / 64 * 4 * Surface() * 16; }
    unsigned Atoms() const { return l_.depthwise ? 4 : 2; }
    int In(unsigned c, unsigned y, unsigned x) const
    {
        return in_[(y * l_.in.width + x) * Channels() + c];
    }
    int Weight(unsigned k, unsigned tap, unsigned c) const
    {
        return l_.depthwise ? weights_[k * l_.kernel * l_.kernel + tap]
                            : weights_[(k * l_.kernel * l_.kernel + tap) * Channels() + c];
    }

    // One value the multipliers see; a packed picture is unsigned and goes through the converter.
    int Value(unsigned c, int y, int x) const
    {
        bool on_map = y % (int)l_.spread == 0 && x % (int)l_.spread == 0;
        bool row = y >= 0 && y < (int)MapRows() && on_map;

        if (row && x >= (int)l_.in.width && l_.packed) {
            return -128; // behind the picture: raw zero, then the converter's offset
        }
        if (!row || x < 0 || x >= (int)MapWidth()) {
            return Layer::kPad;
        }
        return In(c, l_.window.first_row + (unsigned)y / l_.spread, (unsigned)x / l_.spread) -
               (l_.packed ? 128 : 0);
    }

    double Expected(unsigned k, unsigned oy, unsigned ox) const
    {
        int64_t sum = 0, inputs = 0;

        for (unsigned t = 0; t < l_.kernel * l_.kernel; t++) {
            int y = (int)(oy * l_.stride + t / l_.kernel) - (int)Top();
            int x = (int)(ox * l_.stride + t % l_.kernel) - (int)l_.pad;

            for (unsigned c = l_.depthwise ? k : 0; c < (l_.depthwise ? k + 1 : Channels()); c++) {
                sum += Value(c, y, x) * Weight(k, t, c);
                inputs += Value(c, y, x);
            }
        }
        // Depthwise: B stands for the weight's negated zero point, beside each weight in memory.
        double v = (double)(sum + b_[k] * inputs + a_[k]);

        v = Shift(v * c_[k], v >= 0 ? l_.shift_positive : l_.shift_negative);
        v = l_.relu ? std::max(v, 0.0) : v;
        return Saturate(
            Shift(v * Layer::kScale + std::ldexp(Layer::kOffset, Layer::kShift), Layer::kShift));
    }

    void Put8(FakeHost &host, uint32_t at, int value)
    {
        int8_t byte = (int8_t)value;

        host.write(at, &byte, 1);
    }

    void Store(FakeHost &host)
    {
        for (unsigned y = 0; y < l_.in.height; y++) {
            for (unsigned x = 0; x < l_.in.width; x++) {
                for (unsigned c = 0; c < Channels(); c++) {
                    Put8(host,
                         l_.packed
                             ? kIn + (y * l_.in.width + x) * 3 + c
                             : kIn + ((c / 16 * l_.in.height + y) * l_.in.width + x) * 16 + c % 16,
                         In(c, y, x));
                }
            }
        }
        for (unsigned k = 0; k < l_.kernels; k++) {
            for (unsigned t = 0; t < l_.kernel * l_.kernel; t++) {
                StoreWeights(host, k, t);
            }
            StoreRecord(host, k);
        }
        uint32_t shifts = kShifts;
        if (l_.one_b && !l_.depthwise) {
            host.put(kShifts, std::vector<int16_t>{ (int16_t)b_[0] });
            shifts += 16;
        }
        host.put(shifts, std::vector<uint8_t>{ (uint8_t)l_.shift_positive,
                                               (uint8_t)(l_.shift_negative | 0xc0), 0xff, 0xff });
    }

    void StoreWeights(FakeHost &host, unsigned k, unsigned tap)
    {
        unsigned taps = l_.kernel * l_.kernel;

        if (l_.depthwise) { // groups of 64: per tap, pairs w, w, -zp, -zp
            unsigned g = k / 64, size = std::min(64u, l_.kernels - 64 * g), in_group = k % 64;
            if (l_.one_b) { // per tap, plain
                Put8(host, kWeights + g * 64 * taps + tap * size + in_group, Weight(k, tap, 0));
                return;
            }
            uint32_t pair = kWeights + g * 64 * taps * 2 + tap * ((size + 1) / 2 * 4) +
                            in_group / 2 * 4 + in_group % 2;

            Put8(host, pair, Weight(k, tap, 0));
            Put8(host, pair + 2, b_[k]);
            return;
        }
        for (unsigned c = 0; c < Channels(); c++) {
            unsigned kernels = std::min(32u, l_.kernels - k / 32 * 32),
                     slice = std::min(32u, l_.in.channels - c / 32 * 32);

            if (l_.packed) {
                unsigned quad = k / 32 * 32 * l_.kernel + tap / l_.kernel * kernels + k % 32;
                unsigned four = k / 32 * 32 * taps + tap * kernels + k % 32;

                Put8(host,
                     kWeights + (l_.fours ? four * 4 : quad * QuadRow() + tap % l_.kernel * 4) + c,
                     Weight(k, tap, c));
                continue;
            }

            Put8(host,
                 kWeights + k / 32 * 32 * taps * l_.in.channels + c / 32 * 32 * taps * kernels +
                     (tap * kernels + k % 32) * slice + c % 32,
                 Weight(k, tap, c));
        }
    }

    void StoreRecord(FakeHost &host, unsigned k)
    {
        uint32_t record = kRecords + k / 8 * (BInRecords() ? 64 : 48);
        int16_t b = (int16_t)b_[k], c = (int16_t)c_[k];

        host.write(record + k % 8 * 4, &a_[k], 4);
        if (BInRecords()) {
            host.write(record + 32 + k % 8 * 2, &b, 2);
        }
        host.write(record + (BInRecords() ? 48 : 32) + k % 8 * 2, &c, 2);
    }

    void ProgramCna(TaskRunner &task)
    {
        unsigned staged = Span() - l_.window.reused, taps = l_.kernel * l_.kernel;
        uint32_t line = l_.packed ? l_.in.width * 3 / 16 : 4 * l_.in.width;

        task.set(RK3576_CNA_CONV_CON1, l_.packed      ? 0x2000a002 | !l_.fours << 2
                                       : l_.depthwise ? 1
                                                      : 0);
        task.set(RK3576_CNA_CONV_CON3,
                 l_.stride | l_.stride << 3 | (l_.spread - 1) << 8 | (l_.spread - 1) << 11);
        task.set(RK3576_CNA_CBUF_DATA_BANKS, 0x40000404 | (l_.window.reused ? 1u << 31 : 0));
        uint32_t bytes = l_.packed ? l_.kernel * (l_.fours ? l_.kernel * 4 : QuadRow())
                                   : taps * (l_.depthwise ? l_.kernels : l_.in.channels);
        task.set(RK3576_CNA_WEIGHT_SIZE0, bytes * (!l_.depthwise ? l_.kernels : l_.one_b ? 1 : 2));
        task.set(RK3576_CNA_WEIGHT_SIZE1, bytes);
        task.set(RK3576_CNA_WEIGHT_ZERO_POINT, l_.depthwise && l_.one_b ? 0x8080 : 0);
        task.set(RK3576_CNA_WEIGHT_SIZE2,
                 (l_.kernel - 1) << 24 | (l_.kernel - 1) << 16 | (l_.kernels - 1));
        task.set(RK3576_CNA_DATA_SIZE1, Channels() - 1);
        task.set(RK3576_CNA_DATA_SIZE0, (l_.in.width - 1) << 16 | (Span() - 1));
        task.set(RK3576_CNA_CVT_CON0, l_.packed ? 0xe38e0 : 0xb);
        task.set(RK3576_CNA_CVT_CON1, l_.packed ? 0x40004000 : 0x10001);
        task.set(RK3576_CNA_CVT_CON2, l_.packed ? 0x00014000 : 0x10001);
        for (uint32_t i = 0; i < 3 && l_.packed; i++) {
            task.set(RK3576_CNA_CVT_OFFSET0 + 4 * i, (uint32_t)-128);
        }
        task.set(RK3576_CNA_CVT_CON5, l_.packed ? 0x777 : 0);
        task.set(RK3576_CNA_FC_DATA_SIZE0,
                 (l_.packed ? line - 1 : l_.in.width - 1) << 16 | (staged - 1));
        task.set(RK3576_CNA_FC_DATA_SIZE1, Channels() - 1);
        task.set(RK3576_CNA_PAD_CON0, l_.pad << 24 | l_.pad << 8 | Top());
        task.set(RK3576_CNA_PAD_CON1, (uint32_t)Layer::kPad);
        task.set(RK3576_CNA_FEATURE_DATA_ADDR, kIn + (l_.window.first_row + l_.window.reused) *
                                                         l_.in.width * (l_.packed ? 3 : 16));
        task.set(RK3576_CNA_DMA_CON1, line);
        task.set(RK3576_CNA_DMA_CON2, l_.packed ? line * l_.in.height : l_.in.width * l_.in.height);
        task.set(RK3576_CNA_DCOMP_ADDR0, kWeights);
        task.set(RK3576_CORE_MISC_CFG, l_.depthwise ? 0x1000000a : 0x10000001);
    }

    void ProgramDpu(TaskRunner &task)
    {
        task.set(RK3576_DPU_FEATURE_MODE_CFG, l_.depthwise ? 0x4000000c : 0x40000004);
        task.set(RK3576_DPU_DST_BASE_ADDR, kOut);
        task.set(RK3576_DPU_DST_SURF_STRIDE, Surface());
        task.set(RK3576_DPU_DATA_CUBE_WIDTH, OutWidth() - 1);
        task.set(RK3576_DPU_DATA_CUBE_HEIGHT, OutRows() - 1);
        task.set(RK3576_DPU_DATA_CUBE_CHANNEL, l_.kernels - 1);
        task.set(RK3576_DPU_ORIG_CHANNEL, (l_.kernels - 1) << 16 | (l_.depthwise ? 0x310 : 0x710));
        task.set(RK3576_DPU_BS_CFG, l_.depthwise ? 0x100092 : 0x120080);
        task.set(RK3576_DPU_BS_OW_SRC, !l_.depthwise);
        task.set(RK3576_DPU_BS_OW_CFG, l_.depthwise ? 0x13333 : 0x80011111);
        task.set(RK3576_DPU_BN_CFG, l_.relu ? 0x902 : 0x903);
        for (uint32_t reg : { RK3576_DPU_BS_CLAMP_MIN_0, RK3576_DPU_BS_CLAMP_MIN_1,
                              RK3576_DPU_BN_CLAMP_MIN_0, RK3576_DPU_BN_CLAMP_MIN_1 }) {
            bool bn = reg >= RK3576_DPU_BN_CLAMP_MIN_0;

            task.set(reg, bn && l_.relu ? 0 : 0x80000000);
            task.set(reg + 4, 0x7fffffff);
        }
        task.set(RK3576_DPU_EW_CFG, 0x10041c1);
        task.set(RK3576_DPU_OUT_CVT_OFFSET, (uint32_t)Layer::kOffset);
        task.set(RK3576_DPU_OUT_CVT_SCALE, Layer::kScale);
        task.set(RK3576_DPU_OUT_CVT_SHIFT, Layer::kShift);
        task.set(RK3576_DPU_SURFACE_ADD, Atoms() * Surface() - OutWidth() * OutRows());
        task.set(RK3576_DPU_RDMA_BRDMA_CFG, BInRecords() ? 0x710 : l_.depthwise ? 0x510 : 0x514);
        task.set(RK3576_DPU_RDMA_BS_BASE_ADDR, kRecords);
        task.set(RK3576_DPU_RDMA_BS_SHARED_ADDR, kShifts);
        task.set(RK3576_DPU_RDMA_ERDMA_CFG, 0x41);
    }

    Layer l_;
    std::mt19937 random_;
    std::vector<int> in_, weights_, a_, b_, c_;
};

// By the definition, and by the fast path where there is one.
void Check(unsigned seed, const Layer &layer)
{
    LayerRun run(layer, seed);

    run.CheckWith(RKNPU_ISA_NONE);
    run.CheckWith(RKNPU_ISA_BEST);
}

TEST(Rk3576, Direct)
{
    Check(1, { .in = { 16, 8, 8 }, .kernels = 32 });
    Check(2, { .in = { 48, 9, 7 }, .kernels = 80, .kernel = 3, .stride = 2 });
    Check(3, { .in = { 80, 6, 10 }, .kernels = 34, .kernel = 5, .relu = true });
}

// No bit says deconvolution here, only the strides (rknn-toolkit2 2.5.0).
TEST(Rk3576, Deconvolution)
{
    Check(12, { .in = { 32, 5, 6 }, .kernels = 48, .kernel = 4, .spread = 2 });
    Check(13, { .in = { 32, 4, 7 }, .kernel = 3, .depthwise = true, .spread = 3 });
}

// Mesa's shift word for this chip is 0x1004: negative values are shifted by 16 and nearly vanish.
TEST(Rk3576, TwoShifts)
{
    Check(4, { .in = { 32, 6, 6 }, .kernels = 48, .kernel = 3, .shift_negative = 16 });
}

TEST(Rk3576, Depthwise)
{
    Check(5, { .in = { 32, 8, 9 }, .kernel = 3, .depthwise = true });
    Check(6, { .in = { 80, 9, 8 }, .kernel = 3, .stride = 2, .depthwise = true, .relu = true });
    Check(7, { .in = { 144, 7, 7 }, .kernel = 5, .depthwise = true });
}

// global pooling: the weights are 127 with zero points of -128.
TEST(Rk3576, LowestZeroPoints)
{
    Check(15, { .in = { 32, 8, 9 }, .kernel = 3, .depthwise = true, .lowest = true });
}

// A mean over channels and a bilinear resize: one zero point for all kernels, among what BS's
// operands share or, depthwise, in a register.
TEST(Rk3576, OneZeroPoint)
{
    Check(16, { .in = { 48, 9, 7 }, .kernels = 32, .kernel = 3, .one_b = true });
    Check(17, { .in = { 80, 9, 8 }, .kernel = 3, .depthwise = true, .one_b = true });
}

// A window below the top: the address is that of its first staged row, two rows stay in the CBUF.
TEST(Rk3576, WindowWithReusedRows)
{
    const Window depthwise = { .first_row = 9, .rows = 6, .reused = 2 };
    const Window direct = { .first_row = 5, .rows = 7, .reused = 2 };

    Check(8, { .in = { 32, 20, 8 }, .kernel = 3, .depthwise = true, .window = depthwise });
    Check(9, { .in = { 48, 20, 8 }, .kernels = 32, .kernel = 3, .window = direct });
}

// Packed 3-channel picture: lines in 16-byte units, weights [ky][kernel][kx 4][channel 4], leading
// padding by the pad value, trailing columns as raw zeros behind the converter's offset.
TEST(Rk3576, PackedPicture)
{
    Check(10, { .in = { 3, 12, 16 }, .kernels = 32, .kernel = 3, .stride = 2, .packed = true });
    Check(11, { .in = { 3, 7, 32 }, .kernels = 32, .kernel = 3, .relu = true, .packed = true });
    Check(
        14,
        { .in = { 3, 9, 48 }, .kernels = 80, .kernel = 4, .stride = 3, .pad = 3, .packed = true });
}

// Rows of a kernel over 4 wide take two quads: ResNet's first layer.
TEST(Rk3576, PackedPictureOfWideQuads)
{
    Check(20, { .in = { 3, 20, 32 }, .kernels = 34, .kernel = 7, .stride = 2, .packed = true });
}

// The other order: [ky][kx][kernel][channel 4].
TEST(Rk3576, PackedPictureOfFours)
{
    Check(18, { .in = { 3, 20, 32 },
                .kernels = 64,
                .kernel = 7,
                .stride = 2,
                .packed = true,
                .fours = true });
    Check(19, { .in = { 3, 9, 16 }, .kernels = 34, .kernel = 5, .packed = true, .fours = true });
}

} // namespace
