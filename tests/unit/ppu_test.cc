// SPDX-License-Identifier: GPL-2.0-or-later
// Pooling against plain loops: methods, types, padding, strides, several surfaces, notches, odd
// reciprocals.
#include "fake_host.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

extern "C" {
#include "types.h"
}

namespace
{

constexpr uint32_t kIn = 0x100000, kOut = 0x300000;

struct Pool {
    RknpuType type;
    unsigned method; // 0 average, 1 maximum, 2 minimum
    unsigned channels, height, width, kh, kw, sy, sx, top, left, right, bottom, notch;
    int pad_value; // int types by value; fp16: bits
    uint32_t recip_w, recip_h;

    unsigned OutWidth() const { return (width + left + right - kw) / sx + 1; }
    unsigned OutHeight() const { return (height + top + bottom - kh) / sy + 1; }
    unsigned Atom() const { return rknpu_type_per_atom(type); }
    unsigned Surfaces() const { return (channels + Atom() - 1) / Atom(); }
};

TaskRunner Program(FakeHost &host, const Pool &p)
{
    TaskRunner task(host, rknpu_rk3588, RKNPU_UNIT_PPU | RKNPU_UNIT_PPU_RDMA);

    task.set(RK3588_PPU_DATA_CUBE_IN_WIDTH, p.width - 1);
    task.set(RK3588_PPU_DATA_CUBE_IN_HEIGHT, p.height - 1);
    task.set(RK3588_PPU_DATA_CUBE_IN_CHANNEL, p.channels - 1);
    task.set(RK3588_PPU_DATA_CUBE_OUT_WIDTH, p.OutWidth() - 1);
    task.set(RK3588_PPU_DATA_CUBE_OUT_HEIGHT, p.OutHeight() - 1);
    task.set(RK3588_PPU_DATA_CUBE_OUT_CHANNEL, p.channels - 1);
    task.set(RK3588_PPU_OPERATION_MODE_CFG, p.notch << 16 | 1 << 4 | p.method);
    task.set(RK3588_PPU_POOLING_KERNEL_CFG,
             (p.sy - 1) << 20 | (p.sx - 1) << 16 | (p.kh - 1) << 8 | (p.kw - 1));
    task.set(RK3588_PPU_RECIP_KERNEL_WIDTH, p.recip_w);
    task.set(RK3588_PPU_RECIP_KERNEL_HEIGHT, p.recip_h);
    task.set(RK3588_PPU_POOLING_PADDING_CFG, p.bottom << 12 | p.right << 8 | p.top << 4 | p.left);
    task.set(RK3588_PPU_PADDING_VALUE_1_CFG, (uint32_t)p.pad_value);
    task.set(RK3588_PPU_DST_BASE_ADDR, kOut);
    task.set(RK3588_PPU_DST_SURF_STRIDE, (p.OutWidth() + p.notch) * p.OutHeight() * 16);
    task.set(RK3588_PPU_DATA_FORMAT, p.type);
    task.set(RK3588_PPU_RDMA_CUBE_IN_WIDTH, p.width - 1);
    task.set(RK3588_PPU_RDMA_CUBE_IN_HEIGHT, p.height - 1);
    task.set(RK3588_PPU_RDMA_CUBE_IN_CHANNEL, p.channels - 1);
    task.set(RK3588_PPU_RDMA_SRC_BASE_ADDR, kIn);
    task.set(RK3588_PPU_RDMA_SRC_LINE_STRIDE, (p.width + 1) * 16);
    task.set(RK3588_PPU_RDMA_SRC_SURF_STRIDE, (p.width + 1) * (p.height + 2) * 16);
    task.set(RK3588_PPU_RDMA_DATA_FORMAT, rknpu_type_bits(p.type) == 8 ? 1 : 2);
    return task;
}

class PoolRun
{
  public:
    PoolRun(const Pool &p, unsigned seed)
        : p_(p), bytes_(p.Surfaces() * (p.width + 1) * (p.height + 2) * 16)
    {
        std::mt19937 random(seed);

        for (size_t i = 0; i < bytes_.size() * 8 / rknpu_type_bits(p.type); i++) {
            if (rknpu_type_is_float(p.type)) {
                rknpu_store_float(p.type, bytes_.data(), i,
                                  (float)((int)(random() % 4001) - 2000) / 256);
            } else {
                rknpu_store_int(p.type, bytes_.data(), i, (int32_t)random() >> 16);
            }
        }
        host_.put(kIn, bytes_);
    }

    void Run()
    {
        TaskRunner task = Program(host_, p_);

        ASSERT_EQ(task.run(), RKNPU_TASK_OK);
        for (unsigned c = 0; c < p_.channels; c++) {
            for (unsigned y = 0; y < p_.OutHeight(); y++) {
                for (unsigned x = 0; x < p_.OutWidth(); x++) {
                    CompareOne(c, y, x);
                }
            }
        }
    }

  private:
    double At(unsigned c, int y, int x) const
    {
        unsigned atom = p_.Atom();
        size_t at =
            (((size_t)(c / atom) * (p_.height + 2) + (size_t)y) * (p_.width + 1) + (size_t)x) *
                atom +
            c % atom;

        if (y < 0 || x < 0 || y >= (int)p_.height || x >= (int)p_.width) {
            return p_.type == RKNPU_FP16 ? rknpu_fp16_to_float((uint16_t)p_.pad_value)
                                         : p_.pad_value;
        }
        return rknpu_load_float(p_.type, bytes_.data(), at);
    }

    void CompareOne(unsigned c, unsigned oy, unsigned ox)
    {
        double sum = 0, high = -INFINITY, low = INFINITY, expected;
        float float_sum = 0;
        unsigned atom = p_.Atom();
        uint32_t at =
            kOut + ((c / atom * p_.OutHeight() + oy) * (p_.OutWidth() + p_.notch) + ox) * 16;

        for (unsigned t = 0; t < p_.kh * p_.kw; t++) {
            int y = (int)(oy * p_.sy + t / p_.kw) - (int)p_.top;
            int x = (int)(ox * p_.sx + t % p_.kw) - (int)p_.left;
            double v = At(c, y, x);

            sum += v;
            float_sum += (float)v;
            if (y >= 0 && x >= 0 && y < (int)p_.height && x < (int)p_.width) {
                high = std::max(high, v);
                low = std::min(low, v);
            }
        }
        if (std::isinf(high)) { // padding alone
            high = low = At(c, -1, -1);
        }
        if (p_.method) {
            expected = p_.method == 1 ? high : low;
        } else if (p_.type == RKNPU_FP16) {
            // Three roundings to fp32, then one to fp16.
            expected = float_sum * (float)(ValueOf(p_.recip_w) / 65536) *
                       (float)(ValueOf(p_.recip_h) / 65536);
            expected = rknpu_fp16_to_float(rknpu_float_to_fp16((float)expected));
        } else {
            expected = std::nearbyint(sum * p_.recip_w * p_.recip_h /
                                      4294967296.0); // exact in double: < 2^53
        }
        ASSERT_EQ(rknpu_load_float(p_.type, host_.get<uint8_t>(at, 16).data(), c % atom),
                  (float)expected)
            << "c " << c << " y " << oy << " x " << ox;
    }

    static double ValueOf(uint32_t bits) { return rknpu_fp16_to_float((uint16_t)bits); }

    Pool p_;
    FakeHost host_;
    std::vector<uint8_t> bytes_;
};

TEST(Ppu, EqualsPlainLoops)
{
    const char *text = std::getenv("RKNPU_TEST_SEED");
    unsigned seed = text ? (unsigned)std::strtoul(text, nullptr, 0) : std::random_device{}();

    for (unsigned round = 0; round < 60; round++) {
        std::mt19937 random(seed + round);
        auto pick = [&](unsigned low, unsigned high) {
            return low + (unsigned)(random() % (high - low + 1));
        };
        Pool p = {};

        p.type = (RknpuType[]){ RKNPU_INT8, RKNPU_INT16, RKNPU_FP16 }[random() % 3];
        p.method = random() % 3;
        p.channels = pick(1, 3 * p.Atom());
        p.height = pick(1, 12);
        p.width = pick(1, 12);
        p.top = pick(0, 3);
        p.left = pick(0, 3);
        p.right = pick(0, 3);
        p.bottom = pick(0, 3);
        p.kh = std::min(pick(1, 16), p.height + p.top + p.bottom);
        p.kw = std::min(pick(1, 5), p.width + p.left + p.right);
        p.sy = pick(1, 4);
        p.sx = pick(1, 4);
        p.notch = pick(0, 2);
        p.pad_value = p.type == RKNPU_FP16 ? rknpu_float_to_fp16(-1.5f) : -7;
        p.recip_w =
            p.type == RKNPU_FP16 ? rknpu_float_to_fp16(65504.0f / (float)p.kw) : 65536 / p.kw;
        p.recip_h =
            p.type == RKNPU_FP16 ? rknpu_float_to_fp16(65504.0f / (float)p.kh) : 65536 / p.kh;
        SCOPED_TRACE(testing::Message()
                     << "RKNPU_TEST_SEED=" << seed + round << " " << rknpu_type_name(p.type)
                     << " method " << p.method << " " << p.height << "x" << p.width << " kernel "
                     << p.kh << "x" << p.kw);
        PoolRun(p, seed + round).Run();
        if (HasFatalFailure()) {
            return;
        }
    }
}

// dnhkng/open-rknpu measured on a board: a 2x2 int8 average is the sum over four, ties to even.
TEST(Ppu, Int8AverageOfFourRoundsToEven)
{
    const int8_t windows[][4] = {
        { 1, 0, 0, 1 }, { 1, 2, 2, 1 }, { -1, -1, 0, 0 }, { -2, -2, -1, -1 }, { 127, 127, 127, 127 }
    };
    const int expected[] = { 0, 2, 0, -2, 127 };

    for (unsigned i = 0; i < 5; i++) {
        Pool p = { RKNPU_INT8, 0, 1, 2, 2, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0, 32768, 32768 };
        FakeHost host;
        TaskRunner task = Program(host, p);

        for (unsigned t = 0; t < 4; t++) {
            host.write(kIn + (t / 2 * 3 + t % 2) * 16, &windows[i][t], 1);
        }
        ASSERT_EQ(task.run(), RKNPU_TASK_OK);
        EXPECT_EQ(host.get<int8_t>(kOut, 1)[0], expected[i]) << i;
    }
}

// A window outside input plus padding is a guest's mistake; it is told and the pad value is used.
TEST(Ppu, WindowOutsideIsReported)
{
    Pool p = { RKNPU_INT8, 1, 16, 4, 4, 2, 2, 2, 2, 0, 0, 0, 0, 0, -128, 0, 0 };
    FakeHost host;
    TaskRunner task = Program(host, p);

    task.set(RK3588_PPU_DATA_CUBE_OUT_WIDTH, 2);
    EXPECT_EQ(task.run(), RKNPU_TASK_OK);
    ASSERT_EQ(task.reports.size(), 1u);
    EXPECT_NE(task.reports[0].find("PPU"), std::string::npos);
    EXPECT_EQ(host.get<int8_t>(kOut + 2 * 16, 1)[0], -128);
}

TEST(Ppu, FaultsAreResults)
{
    Pool p = { RKNPU_INT8, 1, 16, 4, 4, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0 };
    FakeHost host;
    TaskRunner task = Program(host, p);

    task.set(RK3588_PPU_RDMA_SRC_BASE_ADDR, 0x8000000);
    EXPECT_EQ(task.run(), RKNPU_TASK_READ_FAULT);
    task.set(RK3588_PPU_RDMA_SRC_BASE_ADDR, kIn);
    task.set(RK3588_PPU_DST_BASE_ADDR, 0x8000000);
    EXPECT_EQ(task.run(), RKNPU_TASK_WRITE_FAULT);
}

// The DPU's sum goes straight into a 2x2 maximum: units DPU, DPU_RDMA and PPU, OUTPUT_MODE 1, PPU
// FLYING_MODE 0. Nothing is written but the maxima, and only they and the operands are counted.
TEST(Ppu, FedByTheDpu)
{
    constexpr unsigned kSize = 6, kC = 24, kPooled = 3;
    constexpr uint32_t kB = 0x200000;
    FakeHost host;
    TaskRunner task(host, rknpu_rk3588, RKNPU_UNIT_DPU | RKNPU_UNIT_DPU_RDMA | RKNPU_UNIT_PPU);
    std::mt19937 random(6);
    std::vector<uint16_t> a(kSize * kSize * kC), b(a.size());

    for (size_t i = 0; i < a.size(); i++) {
        a[i] = rknpu_float_to_fp16((float)((int)(random() % 2001) - 1000) / 64);
        b[i] = rknpu_float_to_fp16((float)((int)(random() % 2001) - 1000) / 64);
    }
    host.put(kIn, a);
    host.put(kB, b);
    task.set(RK3588_DPU_FEATURE_MODE_CFG, 0x1e3);
    task.set(RK3588_DPU_DATA_FORMAT, 2u << 29 | 2 << 26 | 2);
    task.set(RK3588_DPU_DATA_CUBE_WIDTH, kSize - 1);
    task.set(RK3588_DPU_DATA_CUBE_HEIGHT, kSize - 1);
    task.set(RK3588_DPU_DATA_CUBE_CHANNEL, (kC - 1) << 16 | (kC - 1));
    task.set(RK3588_DPU_EW_CFG, 0x108202c0);
    task.set(RK3588_DPU_RDMA_DATA_CUBE_WIDTH, kSize - 1);
    task.set(RK3588_DPU_RDMA_DATA_CUBE_HEIGHT, kSize - 1);
    task.set(RK3588_DPU_RDMA_DATA_CUBE_CHANNEL, kC - 1);
    task.set(RK3588_DPU_RDMA_ERDMA_CFG, 1u << 30 | 2 << 2);
    task.set(RK3588_DPU_RDMA_SRC_BASE_ADDR, kIn);
    task.set(RK3588_DPU_RDMA_EW_BASE_ADDR, kB);
    task.set(RK3588_DPU_RDMA_EW_SURF_STRIDE, kSize * kSize * 16);
    task.set(RK3588_DPU_RDMA_FEATURE_MODE_CFG, 0x17849);
    task.set(RK3588_PPU_DATA_CUBE_IN_WIDTH, kSize - 1);
    task.set(RK3588_PPU_DATA_CUBE_IN_HEIGHT, kSize - 1);
    task.set(RK3588_PPU_DATA_CUBE_IN_CHANNEL, kC - 1);
    task.set(RK3588_PPU_DATA_CUBE_OUT_WIDTH, kPooled - 1);
    task.set(RK3588_PPU_DATA_CUBE_OUT_HEIGHT, kPooled - 1);
    task.set(RK3588_PPU_DATA_CUBE_OUT_CHANNEL, kC - 1);
    task.set(RK3588_PPU_OPERATION_MODE_CFG, 1);
    task.set(RK3588_PPU_POOLING_KERNEL_CFG, 1 << 20 | 1 << 16 | 1 << 8 | 1);
    task.set(RK3588_PPU_DST_BASE_ADDR, kOut);
    task.set(RK3588_PPU_DST_SURF_STRIDE, kPooled * kPooled * 16);
    task.set(RK3588_PPU_DATA_FORMAT, 2);
    ASSERT_EQ(task.run(), RKNPU_TASK_OK);
    auto out = host.get<uint16_t>(kOut, kPooled * kPooled * kC);
    for (size_t i = 0; i < out.size(); i++) {
        size_t surface = i / 8 / (kPooled * kPooled), p = i / 8 % (kPooled * kPooled);
        float high = -INFINITY;

        for (size_t t = 0; t < 4; t++) {
            size_t y = p / kPooled * 2 + t / 2, x = p % kPooled * 2 + t % 2;
            size_t at = ((surface * kSize + y) * kSize + x) * 8 + i % 8;

            high = std::max(high, rknpu_fp16_to_float(a[at]) + rknpu_fp16_to_float(b[at]));
        }
        ASSERT_EQ(out[i], rknpu_float_to_fp16(high)) << i;
    }
    EXPECT_EQ(rknpu_traffic_written(&task.traffic), out.size() * 2);
    EXPECT_EQ(rknpu_traffic_read(&task.traffic), a.size() * 2 * 2);
    EXPECT_EQ(host.get<uint8_t>(0, 16), std::vector<uint8_t>(16));
}

} // namespace
