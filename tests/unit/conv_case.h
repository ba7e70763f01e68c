/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One int8 convolution for tests: random tensors, memory images and registers as a driver would
 * write them, and the expected output from plain nested loops over tensors. The loops know no
 * memory layout and share no code with the model; layouts are written from the manual's tables by
 * the packers here.
 */
#ifndef TESTS_UNIT_CONV_CASE_H
#define TESTS_UNIT_CONV_CASE_H

#include <cstdint>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "fake_host.h"

extern "C" {
#include "types.h"
}

/* Everything that a case may vary; the defaults are a 1x1 layer as Mesa programs it. */
struct ConvShape {
    unsigned channels = 16, kernels = 32; /* real counts */
    unsigned height = 4, width = 4;
    unsigned kernel_height = 1, kernel_width = 1;
    unsigned stride_y = 1, stride_x = 1;
    unsigned pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
    unsigned dilation_y = 1, dilation_x = 1;
    unsigned spread_y = 1, spread_x = 1; /* deconvolution: input pixels lie this far apart */
    bool depthwise = false;
    bool mesa_tail = false;       /* depthwise tail packed by Mesa's rule */
    bool neutral_padding = false; /* weights of padding channels are -OW, as drivers store them */
    unsigned packed = 0;          /* ARGB pixels of 1..4 channels instead of the cube */
    unsigned window_first = 0,
             window_rows = 0; /* input rows of a row-window task; rows 0 = whole */
    int pad_value = 0;
    bool qd_en = true;
    int ow = -23;
    unsigned truncate = 0;
    bool bias_from_memory = true;
    bool relu = false;      /* BN stage */
    unsigned mul_shift = 0; /* BS multiplier per channel from memory when not 0 (DATA_USE 7) */
    unsigned mul_shift_negative = 0;
    bool add = false; /* fused EW ADD, per pixel, combined cubes */
    int scale = 0x7c8d;
    unsigned shift = 22;
    int offset = -128;
    RknpuType out = RKNPU_INT8;
    bool row_major = false; /* C matrix in rows: NOTCH, SURFACE_ADD */
    int extra_notch = 0;    /* pixels behind each output row */
};

std::ostream &operator<<(std::ostream &out, const ConvShape &shape);

class ConvCase
{
  public:
    ConvCase(const ConvShape &shape, unsigned seed);

    /* Puts tensors into memory and sets the registers. */
    void load(FakeHost &host, TaskRunner &task) const;

    unsigned out_height() const { return out_height_; }
    unsigned out_width() const { return out_width_; }
    unsigned out_channels() const { return out_channels_; }

    /* Expected value of an output element; channels at or above shape.kernels are padding. */
    int64_t expected(unsigned k, unsigned y, unsigned x) const;
    /* Channels whose surfaces are written, padding lanes included. */
    unsigned written_channels() const;
    /* What the model left in memory. */
    int64_t actual(const FakeHost &host, unsigned k, unsigned y, unsigned x) const;
    uint32_t out_address(unsigned k, unsigned y, unsigned x) const;
    /*
     * Compares every element; on a mismatch says where. Left out are padding channels of a
     * depthwise tail that the packer does not store: they repeat other weights, and no driver looks
     * at them.
     */
    void check(const FakeHost &host) const;

    static constexpr uint32_t kInput = 0x00100000, kWeights = 0x00500000, kOperands = 0x00b00000,
                              kAdd = 0x00b80000, kOutput = 0x01000000, kMemory = 0x02000000;

    /* What a test fills the output with beforehand, if not with 0. */
    static constexpr uint8_t kUntouched = 0x5a;

    /* Extents of the buffers in bytes, for tests that unmap or scatter them. */
    uint32_t input_bytes() const;
    uint32_t weight_bytes() const;
    uint32_t operand_bytes() const;
    uint32_t add_bytes() const;
    uint32_t output_bytes() const;

  private:
    int x_at(unsigned c, int y, int x) const;
    int w_at(unsigned k, unsigned c, unsigned ky, unsigned kx) const;
    unsigned last_depthwise_pitch() const;
    unsigned tap_channels() const;
    void put_input(FakeHost &host) const;
    void put_weights(FakeHost &host) const;
    void put_operands(FakeHost &host) const;
    void put_add(FakeHost &host) const;
    void set_cna(TaskRunner &task) const;
    void set_dpu(TaskRunner &task) const;
    void set_rdma(TaskRunner &task) const;
    uint32_t surface_stride() const;
    unsigned pass_atoms() const;
    /* The map that the kernel walks over. */
    unsigned map_height() const { return (window_rows() - 1) * s_.spread_y + 1; }
    unsigned map_width() const { return (s_.width - 1) * s_.spread_x + 1; }
    unsigned window_rows() const { return s_.window_rows ? s_.window_rows : s_.height; }

    ConvShape s_;
    unsigned out_height_, out_width_, out_channels_;
    unsigned padded_channels_, padded_kernels_;
    std::vector<int8_t> x_, w_, add_; /* x [c][y][x]; w [k][c][ky][kx]; add [k][y][x] */
    std::vector<int32_t> bias_;
    std::vector<int16_t> mul_;
};

#endif /* TESTS_UNIT_CONV_CASE_H */
