/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "conv_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace
{

unsigned RoundUp(unsigned value, unsigned unit)
{
    return (value + unit - 1) / unit * unit;
}

int64_t Saturate(int64_t v, int64_t low, int64_t high)
{
    return std::max(low, std::min(high, v));
}

/* v / 2^shift to the nearest integer, ties to even; by remainders, on floor division. */
int64_t ShiftHalfEven(int64_t v, unsigned shift)
{
    int64_t unit = INT64_C(1) << shift;
    int64_t quotient = v / unit, rest = v % unit;

    if (rest < 0) {
        quotient--;
        rest += unit;
    }
    if (2 * rest > unit || (2 * rest == unit && quotient % 2 != 0)) {
        quotient++;
    }
    return quotient;
}

} // namespace

std::ostream &operator<<(std::ostream &out, const ConvShape &s)
{
    out << s.channels << "x" << s.height << "x" << s.width << " -> " << s.kernels << " kernel "
        << s.kernel_height << "x" << s.kernel_width << " stride " << s.stride_y << "," << s.stride_x
        << " pad t" << s.pad_top << " l" << s.pad_left << " b" << s.pad_bottom << " r"
        << s.pad_right << " dilation " << s.dilation_y << "," << s.dilation_x << " spread "
        << s.spread_y << "," << s.spread_x;
    if (s.depthwise) {
        out << " depthwise";
    }
    if (s.packed) {
        out << " packed " << s.packed;
    }
    if (s.window_rows) {
        out << " rows " << s.window_first << "+" << s.window_rows;
    }
    return out << " truncate " << s.truncate << " ow " << s.ow << " add " << s.add << " relu "
               << s.relu << " mul " << s.mul_shift << "," << s.mul_shift_negative << " out "
               << s.out << " row_major " << s.row_major;
}

ConvCase::ConvCase(const ConvShape &shape, unsigned seed) : s_(shape)
{
    std::mt19937 random(seed);
    auto byte = [&random]() { return static_cast<int8_t>(random() >> 13); };

    if (s_.depthwise) {
        s_.kernels = s_.channels;
    }
    out_height_ =
        (map_height() + s_.pad_top + s_.pad_bottom - (s_.kernel_height - 1) * s_.dilation_y - 1) /
            s_.stride_y +
        1;
    out_width_ =
        (map_width() + s_.pad_left + s_.pad_right - (s_.kernel_width - 1) * s_.dilation_x - 1) /
            s_.stride_x +
        1;
    padded_channels_ = RoundUp(s_.channels, 16);
    padded_kernels_ = RoundUp(s_.kernels, 2);
    out_channels_ = RoundUp(s_.kernels, s_.depthwise ? 64 : 32);
    x_.resize(size_t(padded_channels_) * s_.height * s_.width);
    std::generate(x_.begin(), x_.end(), byte);
    w_.resize(s_.depthwise ? size_t(padded_channels_) * s_.kernel_height * s_.kernel_width
                           : size_t(padded_kernels_) * padded_channels_ * s_.kernel_height *
                                 s_.kernel_width);
    std::generate(w_.begin(), w_.end(), byte);
    for (size_t i = 0, taps = size_t(s_.kernel_height) * s_.kernel_width;
         s_.neutral_padding && i < w_.size(); i++) {
        w_[i] = i / taps % padded_channels_ >= s_.channels ? static_cast<int8_t>(-s_.ow) : w_[i];
    }
    bias_.resize(out_channels_);
    std::generate(bias_.begin(), bias_.end(),
                  [&]() { return static_cast<int>(random() % 20001) - 10000; });
    mul_.resize(out_channels_);
    std::generate(mul_.begin(), mul_.end(), [&]() { return static_cast<int16_t>(random() >> 7); });
    add_.resize(s_.add ? size_t(out_channels_) * out_height_ * out_width_ : 0);
    std::generate(add_.begin(), add_.end(), byte);
}

int ConvCase::x_at(unsigned c, int y, int x) const
{
    return x_[(size_t(c) * s_.height + s_.window_first + y) * s_.width + x];
}

int ConvCase::w_at(unsigned k, unsigned c, unsigned ky, unsigned kx) const
{
    size_t row = s_.depthwise ? k : size_t(k) * padded_channels_ + c;

    return w_[(row * s_.kernel_height + ky) * s_.kernel_width + kx];
}

int64_t ConvCase::expected(unsigned k, unsigned y, unsigned x) const
{
    unsigned from = s_.depthwise ? k : 0, to = s_.depthwise ? k + 1 : padded_channels_;
    bool exists = s_.depthwise ? k < padded_channels_ : k < padded_kernels_;
    int64_t dot = 0, sum = 0, v;

    for (unsigned ky = 0; exists && ky < s_.kernel_height; ky++) {
        for (unsigned kx = 0; kx < s_.kernel_width; kx++) {
            int iy = int(y * s_.stride_y + ky * s_.dilation_y) - int(s_.pad_top);
            int ix = int(x * s_.stride_x + kx * s_.dilation_x) - int(s_.pad_left);
            bool inside = iy >= 0 && iy < int(window_rows()) && ix >= 0 && ix < int(s_.width);

            if (s_.spread_y * s_.spread_x > 1) { /* pad values between the pixels */
                inside = iy >= 0 && iy < int(map_height()) && ix >= 0 && ix < int(map_width()) &&
                         iy % int(s_.spread_y) == 0 && ix % int(s_.spread_x) == 0;
                iy /= int(s_.spread_y);
                ix /= int(s_.spread_x);
            }

            for (unsigned c = from; c < to; c++) {
                bool absent = s_.packed && c >= s_.packed;
                int value = !inside ? s_.pad_value : absent ? 0 : x_at(c, iy, ix);

                dot += value * w_at(k, c, ky, kx);
                sum += value;
            }
        }
    }
    v = Saturate(ShiftHalfEven(dot + (s_.qd_en ? s_.ow * sum : 0), s_.truncate), INT32_MIN,
                 INT32_MAX);
    v += s_.bias_from_memory ? bias_[k] : 0;
    if (s_.mul_shift) {
        unsigned negative = s_.mul_shift_negative ? s_.mul_shift_negative : s_.mul_shift;

        v = ShiftHalfEven(v * mul_[k], v >= 0 ? s_.mul_shift : negative);
    }
    if (s_.relu) {
        v = std::max<int64_t>(v, 0);
    }
    if (s_.add) { /* operand converter: add 11, times 20000, shift 9 */
        v += ShiftHalfEven(
            (add_[(size_t(k) * out_height_ + y) * out_width_ + x] + 11) * INT64_C(20000), 9);
    }
    if (s_.out != RKNPU_INT8) {
        return Saturate(v, INT32_MIN, INT32_MAX);
    }
    v = ShiftHalfEven(v * s_.scale + s_.offset * (INT64_C(1) << s_.shift), s_.shift);
    return Saturate(v, -128, 127);
}

unsigned ConvCase::pass_atoms() const
{
    return s_.out != RKNPU_INT8 ? 8 : s_.depthwise ? 4 : 2;
}

uint32_t ConvCase::surface_stride() const
{
    return s_.row_major ? 16 : (out_width_ + s_.extra_notch) * out_height_ * 16;
}

uint32_t ConvCase::out_address(unsigned k, unsigned y, unsigned x) const
{
    unsigned bytes = s_.out == RKNPU_INT8 ? 1 : 4;
    unsigned line = s_.row_major ? out_channels_ * bytes : (out_width_ + s_.extra_notch) * 16;

    return kOutput + k * bytes / 16 * surface_stride() + y * line + x * 16 + k * bytes % 16;
}

int64_t ConvCase::actual(const FakeHost &host, unsigned k, unsigned y, unsigned x) const
{
    if (s_.out == RKNPU_INT8) {
        return host.get<int8_t>(out_address(k, y, x), 1)[0];
    }
    if (s_.out == RKNPU_FP32) {
        return static_cast<int64_t>(host.get<float>(out_address(k, y, x), 1)[0]);
    }
    return host.get<int32_t>(out_address(k, y, x), 1)[0];
}

/*
 * Surfaces behind the last original channel are not written: Mesa's buffers end there. ORIG_CHANNEL
 * 0, one kernel, is what an unwritten register reads, and hides nothing.
 */
unsigned ConvCase::written_channels() const
{
    unsigned atom = s_.out == RKNPU_INT8 ? 16 : 4;

    return s_.kernels > 1 ? std::min(out_channels_, RoundUp(s_.kernels, atom)) : out_channels_;
}

void ConvCase::check(const FakeHost &host) const
{
    unsigned wrong = 0;

    for (unsigned k = written_channels(); k < out_channels_; k++) {
        uint8_t byte = host.get<uint8_t>(out_address(k, 0, 0), 1)[0];

        ASSERT_TRUE(byte == 0 || byte == kUntouched) << "channel " << k << " was written\n  " << s_;
    }
    for (unsigned k = 0; k < written_channels(); k++) {
        if (s_.mesa_tail && k >= s_.channels && k < padded_channels_ &&
            k % 64 >= last_depthwise_pitch()) {
            continue;
        }
        for (unsigned y = 0; y < out_height_; y++) {
            for (unsigned x = 0; x < out_width_; x++) {
                int64_t want = expected(k, y, x), got = actual(host, k, y, x);

                if (s_.out == RKNPU_FP32) {
                    want = static_cast<int64_t>(static_cast<float>(want));
                }
                if (want != got && wrong++ < 5) {
                    ADD_FAILURE() << "channel " << k << " y " << y << " x " << x << ": expected "
                                  << want << ", got " << got << "\n  " << s_;
                }
            }
        }
    }
    EXPECT_EQ(0u, wrong) << s_;
}

/* [C/16][H][W][16], or rows of packed pixels, or (row_major) one row of all channels per line. */
void ConvCase::put_input(FakeHost &host) const
{
    std::vector<int8_t> image(input_bytes());

    for (unsigned c = 0; c < padded_channels_; c++) {
        for (unsigned y = 0; y < s_.height; y++) {
            for (unsigned x = 0; x < s_.width; x++) {
                int8_t v = x_[(size_t(c) * s_.height + y) * s_.width + x];

                if (s_.row_major) {
                    image[size_t(y) * padded_channels_ + c] = v;
                } else if (!s_.packed) {
                    image[((size_t(c / 16) * s_.height + y) * s_.width + x) * 16 + c % 16] = v;
                } else if (c < s_.packed) {
                    image[(size_t(y) * RoundUp(s_.width, 16) + x) * s_.packed + c] = v;
                }
            }
        }
    }
    host.put(kInput, image);
}

/*
 * Channels stored for the last group of 64: 16, 32 or 64 (Rockchip's compiler). Mesa packs t real
 * channels with pitch 64 (or all, if fewer are stored) when t mod 32 is above 16, else with t, at
 * least 16.
 */
unsigned ConvCase::last_depthwise_pitch() const
{
    unsigned t = (s_.channels - 1) % 64 + 1;

    if (s_.mesa_tail) {
        return t % 32 > 16 ? std::min(padded_channels_, 64u) : std::max(t, 16u);
    }
    return t <= 16 ? 16 : t <= 32 ? 32 : 64;
}

/* Channels that WEIGHT_SIZE1 counts for a tap. */
unsigned ConvCase::tap_channels() const
{
    return s_.depthwise && !s_.mesa_tail ? (padded_channels_ - 1) / 64 * 64 + last_depthwise_pitch()
                                         : padded_channels_;
}

/* [group][slice][ky][kx][kernel][channel]; depthwise [group][ky][kx][channel]. */
void ConvCase::put_weights(FakeHost &host) const
{
    std::vector<int8_t> image(weight_bytes());
    size_t at = 0;

    if (s_.depthwise) {
        for (unsigned c = 0; c < padded_channels_; c++) {
            unsigned group = c / 64, groups = (padded_channels_ + 63) / 64;
            unsigned pitch = group + 1 < groups ? 64 : last_depthwise_pitch();

            for (unsigned t = 0; c % 64 < pitch && t < s_.kernel_height * s_.kernel_width; t++) {
                image[size_t(group) * 64 * s_.kernel_height * s_.kernel_width + t * pitch +
                      c % 64] = w_at(c, 0, t / s_.kernel_width, t % s_.kernel_width);
            }
        }
        host.put(kWeights, image);
        return;
    }
    for (unsigned k0 = 0; k0 < padded_kernels_; k0 += 32) {
        for (unsigned c0 = 0; c0 < padded_channels_; c0 += 32) {
            for (unsigned t = 0; t < s_.kernel_height * s_.kernel_width; t++) {
                for (unsigned k = k0; k < std::min(k0 + 32, padded_kernels_); k++) {
                    for (unsigned c = c0; c < std::min(c0 + 32, padded_channels_); c++) {
                        image[at++] = w_at(k, c, t / s_.kernel_width, t % s_.kernel_width);
                    }
                }
            }
        }
    }
    host.put(kWeights, image);
}

/* DATA_USE 1: packed s32; 7: records of 8 channels, 8 s32, 8 s16 (unused here), 8 s16. */
void ConvCase::put_operands(FakeHost &host) const
{
    std::vector<uint8_t> image(operand_bytes());

    for (unsigned k = 0; k < out_channels_; k++) {
        uint8_t *record = s_.mul_shift ? &image[k / 8 * 64] + k % 8 * 4 : &image[k * 4];

        memcpy(record, &bias_[k], 4);
        if (s_.mul_shift) {
            memcpy(&image[k / 8 * 64 + 48 + k % 8 * 2], &mul_[k], 2);
        }
    }
    host.put(kOperands, image);
}

void ConvCase::put_add(FakeHost &host) const
{
    std::vector<int8_t> image(add_bytes());

    for (unsigned k = 0; s_.add && k < out_channels_; k++) {
        for (unsigned p = 0; p < out_height_ * out_width_; p++) {
            image[(size_t(k / 16) * out_height_ * out_width_ + p) * 16 + k % 16] =
                add_[size_t(k) * out_height_ * out_width_ + p];
        }
    }
    host.put(kAdd, image);
}

uint32_t ConvCase::input_bytes() const
{
    unsigned pixels = s_.height * (s_.packed ? RoundUp(s_.width, 16) : s_.width);

    return pixels * (s_.packed ? s_.packed : padded_channels_);
}

uint32_t ConvCase::weight_bytes() const
{
    unsigned taps = s_.kernel_height * s_.kernel_width;

    /* A depthwise tail may be read with a pitch of up to 64 channels. */
    return s_.depthwise ? RoundUp(padded_channels_, 64) * taps
                        : padded_kernels_ * padded_channels_ * taps;
}

uint32_t ConvCase::operand_bytes() const
{
    return s_.mul_shift ? out_channels_ * 8 : out_channels_ * 4;
}

uint32_t ConvCase::add_bytes() const
{
    return s_.add ? out_channels_ * out_height_ * out_width_ : 16;
}

uint32_t ConvCase::output_bytes() const
{
    return out_address(out_channels_ - 1, out_height_ - 1, out_width_ - 1) + 4 - kOutput;
}

void ConvCase::set_cna(TaskRunner &task) const
{
    unsigned taps = s_.kernel_height * s_.kernel_width;
    unsigned rows = window_rows();
    uint32_t con1 = s_.depthwise ? 3 : 0;
    uint32_t line = 4 * s_.width, surface = (s_.width * s_.height - 4 * s_.width) & 0x0fffffff;

    if (s_.packed) {
        con1 |= (7 + s_.packed) << 12 | 1u << 29 | 1u << 30;
        line = RoundUp(s_.width, 16);
        surface = 0;
    } else if (s_.row_major) {
        con1 |= 1u << 29;
        line = padded_channels_ / 16;
        surface = 0;
    }
    con1 |= s_.spread_y * s_.spread_x > 1 ? 1 << 16 : 0;
    task.set(RK3588_CNA_CONV_CON1, con1);
    task.set(RK3588_CNA_CONV_CON3, s_.stride_x | s_.stride_y << 3 | (s_.spread_x - 1) << 8 |
                                       (s_.spread_y - 1) << 11 | (s_.dilation_x - 1) << 16 |
                                       (s_.dilation_y - 1) << 21);
    task.set(RK3588_CNA_DATA_SIZE0, s_.width << 16 | rows);
    task.set(RK3588_CNA_DATA_SIZE1, ((s_.channels - 1) & 63) << 16 | padded_channels_);
    task.set(RK3588_CNA_WEIGHT_SIZE0, weight_bytes());
    task.set(RK3588_CNA_WEIGHT_SIZE1, taps * tap_channels());
    task.config.dw_tail_as_mesa_packs = s_.mesa_tail;
    task.set(RK3588_CNA_WEIGHT_SIZE2,
             s_.kernel_width << 24 | s_.kernel_height << 16 | (s_.depthwise ? 1 : padded_kernels_));
    task.set(RK3588_CNA_CVT_CON0, 0xb);
    task.set(RK3588_CNA_PAD_CON0, s_.pad_left << 4 | s_.pad_top);
    task.set(RK3588_CNA_PAD_CON1, static_cast<uint32_t>(s_.pad_value));
    task.set(RK3588_CNA_FEATURE_DATA_ADDR,
             kInput + s_.window_first * (s_.packed ? line * s_.packed : s_.width * 16));
    task.set(RK3588_CNA_DMA_CON1, line);
    task.set(RK3588_CNA_DMA_CON2, surface);
    task.set(RK3588_CNA_FC_DATA_SIZE0, s_.width << 16 | rows);
    task.set(RK3588_CNA_DCOMP_ADDR0, kWeights);
    task.set(RK3588_CORE_MISC_CFG, (s_.qd_en ? 1 : 0) | (s_.depthwise ? 2 : 0));
    task.set(RK3588_CORE_CLIP_TRUNCATE, s_.truncate);
}

void ConvCase::set_dpu(TaskRunner &task) const
{
    unsigned e = pass_atoms() - 1;
    bool int8_out = s_.out == RKNPU_INT8;
    unsigned notch = s_.row_major ? out_channels_ * (int8_out ? 1 : 4) / 16 - 1 : s_.extra_notch;

    task.set(RK3588_DPU_FEATURE_MODE_CFG, s_.depthwise ? 0x1fc : 0x1e4);
    task.set(RK3588_DPU_DATA_FORMAT,
             static_cast<uint32_t>(s_.out) << 29 | s_.mul_shift_negative << 4);
    task.set(RK3588_DPU_DST_BASE_ADDR, kOutput);
    task.set(RK3588_DPU_DST_SURF_STRIDE, surface_stride());
    task.set(RK3588_DPU_DATA_CUBE_WIDTH, out_width_ - 1);
    task.set(RK3588_DPU_DATA_CUBE_HEIGHT, out_height_ - 1);
    task.set(RK3588_DPU_DATA_CUBE_NOTCH_ADDR, notch << 16 | notch);
    task.set(RK3588_DPU_DATA_CUBE_CHANNEL, (s_.kernels - 1) << 16 | (out_channels_ - 1));
    task.set(RK3588_DPU_BS_CFG, !s_.bias_from_memory && !s_.mul_shift ? 0x53
                                : s_.mul_shift                        ? 0x20140
                                                                      : 0x20150);
    task.set(RK3588_DPU_BS_MUL_CFG, s_.mul_shift << 8 | (s_.mul_shift ? 1 : 0));
    task.set(RK3588_DPU_BS_OW_CFG, e << 2 | e << 5 | e << 8 | (s_.qd_en ? 0 : 2));
    task.set(RK3588_DPU_BS_OW_OP, static_cast<uint16_t>(s_.ow));
    task.set(RK3588_DPU_BN_CFG, s_.relu ? 0x12 : 0x53);
    task.set(RK3588_DPU_EW_CFG, s_.add ? 0x904202c0 : 0x383);
    task.set(RK3588_DPU_EW_CVT_OFFSET_VALUE, s_.add ? 11 : 0);
    task.set(RK3588_DPU_EW_CVT_SCALE_VALUE, s_.add ? 20000 | 9 << 16 : 1);
    task.set(RK3588_DPU_OUT_CVT_OFFSET, int8_out ? static_cast<uint32_t>(s_.offset) : 0);
    task.set(RK3588_DPU_OUT_CVT_SCALE, int8_out ? s_.scale & 0xffff : 1);
    task.set(RK3588_DPU_OUT_CVT_SHIFT, int8_out ? s_.shift : 0);
    task.set(RK3588_DPU_SURFACE_ADD, surface_stride() * pass_atoms());
}

void ConvCase::set_rdma(TaskRunner &task) const
{
    uint32_t surface = out_width_ * out_height_ * 16;

    task.set(RK3588_DPU_RDMA_DATA_CUBE_WIDTH, out_width_ - 1);
    task.set(RK3588_DPU_RDMA_DATA_CUBE_HEIGHT, out_height_ - 1);
    task.set(RK3588_DPU_RDMA_DATA_CUBE_CHANNEL, out_channels_ - 1);
    task.set(RK3588_DPU_RDMA_BRDMA_CFG, s_.mul_shift ? 7 << 1 : s_.bias_from_memory ? 1 << 1 : 0);
    task.set(RK3588_DPU_RDMA_BS_BASE_ADDR, kOperands);
    task.set(RK3588_DPU_RDMA_ERDMA_CFG, s_.add ? 0x40000004 : 1);
    task.set(RK3588_DPU_RDMA_FEATURE_MODE_CFG, s_.add ? 0x7d00 : s_.depthwise ? 0x7816 : 0x7810);
    if (s_.add) { /* combined: even surfaces from SRC, odd ones from EW, each skipping the other's
                   */
        task.set(RK3588_DPU_RDMA_SRC_BASE_ADDR, kAdd);
        task.set(RK3588_DPU_RDMA_EW_BASE_ADDR, kAdd + surface);
        task.set(RK3588_DPU_RDMA_SURF_NOTCH, surface);
        task.set(RK3588_DPU_RDMA_EW_SURF_NOTCH, surface);
    }
}

void ConvCase::load(FakeHost &host, TaskRunner &task) const
{
    put_input(host);
    put_weights(host);
    put_operands(host);
    put_add(host);
    set_cna(task);
    set_dpu(task);
    set_rdma(task);
}
