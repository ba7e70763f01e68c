// SPDX-License-Identifier: GPL-2.0-or-later
// Number formats. The expected values are made here from the formats' definitions with exact double
// arithmetic (sign * fraction * 2^exponent), never with the code under test.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

extern "C" {
#include "types.h"
}

namespace
{

// Value of a format with `fraction_bits` and `exponent_bits`, exact in double.
double ValueOf(uint32_t bits, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    uint32_t fraction = bits & ((1u << fraction_bits) - 1);
    int exponent = (bits >> fraction_bits) & ((1u << exponent_bits) - 1);
    bool negative = bits >> (exponent_bits + fraction_bits) & 1;
    double value;

    if (exponent == (1 << exponent_bits) - 1) {
        value = fraction ? std::nan("") : std::numeric_limits<double>::infinity();
    } else if (exponent == 0) {
        value = std::ldexp(fraction, 1 - bias - fraction_bits);
    } else {
        value = std::ldexp(fraction + (1u << fraction_bits), exponent - bias - fraction_bits);
    }
    return negative ? -value : value;
}

float Next(float v, float to)
{
    return std::nextafterf(v, to);
}

TEST(Types, SizesAndNames)
{
    EXPECT_EQ(rknpu_type_bits(RKNPU_INT4), 4u);
    EXPECT_EQ(rknpu_type_per_atom(RKNPU_INT4), 32u);
    EXPECT_EQ(rknpu_type_per_atom(RKNPU_INT8), 16u);
    EXPECT_EQ(rknpu_type_per_atom(RKNPU_FP16), 8u);
    EXPECT_EQ(rknpu_type_per_atom(RKNPU_TF32), 4u);
    EXPECT_TRUE(rknpu_type_is_float(RKNPU_BF16));
    EXPECT_FALSE(rknpu_type_is_float(RKNPU_INT32));
    EXPECT_STREQ(rknpu_type_name(RKNPU_FP16), "fp16");
}

TEST(Types, Fp16LoadIsExactForAllPatterns)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        double expected = ValueOf(bits, 5, 10);
        float got = rknpu_fp16_to_float((uint16_t)bits);

        if (std::isnan(expected)) {
            EXPECT_TRUE(std::isnan(got)) << std::hex << bits;
        } else {
            ASSERT_EQ(got, expected) << std::hex << bits;
            ASSERT_EQ(std::signbit(got), (bits & 0x8000) != 0) << std::hex << bits;
        }
    }
}

// Between every two neighbours: just below the middle, the middle (to even), just above it.
TEST(Types, Fp16StoreRoundsToNearestEven)
{
    for (uint32_t bits = 0; bits < 0x7bff; bits++) {
        float low = (float)ValueOf(bits, 5, 10);
        float high = (float)ValueOf(bits + 1, 5, 10);
        float middle = (low + high) / 2; // exact: 12 significant bits
        uint32_t even = bits & 1 ? bits + 1 : bits;

        ASSERT_EQ(rknpu_float_to_fp16(low), bits);
        ASSERT_EQ(rknpu_float_to_fp16(Next(middle, 0.0f)), bits) << std::hex << bits;
        ASSERT_EQ(rknpu_float_to_fp16(middle), even) << std::hex << bits;
        ASSERT_EQ(rknpu_float_to_fp16(Next(middle, INFINITY)), bits + 1) << std::hex << bits;
        ASSERT_EQ(rknpu_float_to_fp16(-middle), even | 0x8000) << std::hex << bits;
    }
}

TEST(Types, Fp16StoreEdges)
{
    EXPECT_EQ(rknpu_float_to_fp16(65504.0f), 0x7bff);
    EXPECT_EQ(rknpu_float_to_fp16(Next(65520.0f, 0.0f)), 0x7bff);
    EXPECT_EQ(rknpu_float_to_fp16(65520.0f), 0x7c00); // half way to 65536 goes to infinity
    EXPECT_EQ(rknpu_float_to_fp16(INFINITY), 0x7c00);
    EXPECT_EQ(rknpu_float_to_fp16(-INFINITY), 0xfc00);
    EXPECT_EQ(rknpu_float_to_fp16(-0.0f), 0x8000);
    EXPECT_EQ(rknpu_float_to_fp16(1e-40f), 0);
    EXPECT_EQ(rknpu_float_to_fp16(std::numeric_limits<float>::max()), 0x7c00);
    EXPECT_EQ(rknpu_float_to_fp16(NAN), RKNPU_FP16_NAN);
    EXPECT_EQ(rknpu_float_to_fp16(-NAN), RKNPU_FP16_NAN);
}

TEST(Types, Bf16)
{
    for (uint32_t bits = 0; bits < 0x7f80; bits++) {
        float low = (float)ValueOf(bits, 8, 7);
        uint32_t even = bits & 1 ? bits + 1 : bits;

        ASSERT_EQ(rknpu_bf16_to_float((uint16_t)bits), low);
        ASSERT_EQ(rknpu_float_to_bf16(low), bits);
        if (bits < 0x7f7f) {
            float high = (float)ValueOf(bits + 1, 8, 7);
            float middle = (float)((ValueOf(bits, 8, 7) + ValueOf(bits + 1, 8, 7)) / 2);

            ASSERT_LT(low, high);
            ASSERT_EQ(rknpu_float_to_bf16(middle), even) << std::hex << bits;
            ASSERT_EQ(rknpu_float_to_bf16(Next(middle, INFINITY)), bits + 1) << std::hex << bits;
            ASSERT_EQ(rknpu_float_to_bf16(-Next(middle, 0.0f)), bits | 0x8000) << std::hex << bits;
        }
    }
    EXPECT_EQ(rknpu_float_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
    EXPECT_EQ(rknpu_float_to_bf16(NAN), RKNPU_BF16_NAN);
}

// tf32 operands are cut, not rounded (happyme531/rknpu2_matmul_open, checked on a board).
TEST(Types, Tf32CutsThirteenBits)
{
    EXPECT_EQ(rknpu_tf32_to_float(0x3f801fff), 1.0f);
    EXPECT_EQ(rknpu_tf32_to_float(0x3f802000), 1.0009765625f);
    EXPECT_EQ(rknpu_tf32_to_float(0xbf803fff), -1.0009765625f);
    EXPECT_TRUE(std::isnan(rknpu_tf32_to_float(0x7f800001)));
    EXPECT_TRUE(std::isinf(rknpu_tf32_to_float(0x7f800000)));
}

TEST(Types, Int4LowNibbleFirst)
{
    const uint8_t bytes[2] = { 0x8f, 0x70 };
    uint8_t out[2] = { 0, 0 };

    EXPECT_EQ(rknpu_load_int(RKNPU_INT4, bytes, 0), -1);
    EXPECT_EQ(rknpu_load_int(RKNPU_INT4, bytes, 1), -8);
    EXPECT_EQ(rknpu_load_int(RKNPU_INT4, bytes, 2), 0);
    EXPECT_EQ(rknpu_load_int(RKNPU_INT4, bytes, 3), 7);
    for (size_t i = 0; i < 4; i++) {
        rknpu_store_int(RKNPU_INT4, out, i, rknpu_load_int(RKNPU_INT4, bytes, i));
    }
    EXPECT_EQ(std::memcmp(out, bytes, 2), 0);
}

TEST(Types, IntegerStoresSaturate)
{
    struct {
        RknpuType type;
        int64_t min, max;
    } cases[] = {
        { RKNPU_INT4, -8, 7 },
        { RKNPU_INT8, -128, 127 },
        { RKNPU_INT16, -32768, 32767 },
        { RKNPU_INT32, INT32_MIN, INT32_MAX },
    };
    uint8_t word[4] = {};

    for (auto &c : cases) {
        for (int64_t v : { c.min - 1, c.min, (int64_t)-1, (int64_t)0, c.max, c.max + 1, INT64_MAX,
                           INT64_MIN }) {
            int64_t expected = v < c.min ? c.min : v > c.max ? c.max : v;

            rknpu_store_int(c.type, word, 0, v);
            EXPECT_EQ(rknpu_load_int(c.type, word, 0), expected)
                << rknpu_type_name(c.type) << " " << v;
        }
    }
}

TEST(Types, FloatsInIntegerFormats)
{
    uint8_t word[4] = {};

    EXPECT_EQ(rknpu_float_to_int32(2.5f), 2);
    EXPECT_EQ(rknpu_float_to_int32(3.5f), 4);
    EXPECT_EQ(rknpu_float_to_int32(-2.5f), -2);
    EXPECT_EQ(rknpu_float_to_int32(NAN), 0);
    EXPECT_EQ(rknpu_float_to_int32(INFINITY), INT32_MAX);
    EXPECT_EQ(rknpu_float_to_int32(-INFINITY), INT32_MIN);
    EXPECT_EQ(rknpu_float_to_int32(2147483648.0f), INT32_MAX);
    EXPECT_EQ(rknpu_float_to_int32(-2147483648.0f), INT32_MIN);
    rknpu_store_float(RKNPU_INT8, word, 0, -300.0f);
    EXPECT_EQ(rknpu_load_int(RKNPU_INT8, word, 0), -128);
    rknpu_store_int(RKNPU_FP16, word, 1, 2049); // 12 bits: ties to even
    EXPECT_EQ(rknpu_load_float(RKNPU_FP16, word, 1), 2048.0f);
    rknpu_store_float(RKNPU_FP32, word, 0, 1.5f);
    EXPECT_EQ(word[3], 0x3f);
    EXPECT_EQ(rknpu_load_int(RKNPU_FP32, word, 0), 2);
}

} // namespace
