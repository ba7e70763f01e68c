// SPDX-License-Identifier: GPL-2.0-or-later
// The floating inner loops: portable against plain loops over doubles, then every set against
// portable, bit for bit. The seed of a failing case is printed; RKNPU_TEST_SEED replays it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

extern "C" {
#include "kernels/float.h"
#include "kernels/isa.h"
#include "types.h"
}

namespace
{

constexpr size_t kLanes = RKNPU_FLOAT_LANES;

unsigned Seed()
{
    const char *text = std::getenv("RKNPU_TEST_SEED");

    return text ? (unsigned)std::strtoul(text, nullptr, 0) : std::random_device{}();
}

std::vector<const RknpuFloatKernels *> HostKernels()
{
    std::vector<const RknpuFloatKernels *> sets;

#if defined(__x86_64__)
    if (rknpu_isa_available(RKNPU_ISA_AVX2)) {
        sets.push_back(&rknpu_float_avx2);
    }
    if (rknpu_isa_available(RKNPU_ISA_AVX512)) {
        sets.push_back(&rknpu_float_avx512);
    }
#elif defined(__aarch64__)
    sets.push_back(&rknpu_float_neon);
#endif
    return sets;
}

// NaNs are one value: the model canonicalises them when it stores.
void ExpectSame(const std::vector<float> &a, const std::vector<float> &b)
{
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); i++) {
        if (!std::isnan(a[i]) || !std::isnan(b[i])) {
            ASSERT_EQ(std::memcmp(&a[i], &b[i], 4), 0)
                << "at " << i << ": " << a[i] << " and " << b[i];
        }
    }
}

std::vector<uint8_t> RandomHalves(std::mt19937 &random, size_t n, bool any_pattern)
{
    std::vector<uint8_t> bytes(2 * n);

    for (size_t i = 0; i < n; i++) {
        uint16_t bits = (uint16_t)random();

        if (!any_pattern) {
            bits = (uint16_t)((bits & 0x83ff) | (10 + random() % 8) << 10);
        }
        bytes[2 * i] = (uint8_t)bits;
        bytes[2 * i + 1] = (uint8_t)(bits >> 8);
    }
    return bytes;
}

std::vector<float> RandomFloats(std::mt19937 &random, size_t n, bool any_pattern)
{
    std::vector<uint8_t> bytes = RandomHalves(random, n, any_pattern);
    std::vector<float> values(n);

    for (size_t i = 0; i < n; i++) {
        values[i] = rknpu_load_float(RKNPU_FP16, bytes.data(), i);
    }
    return values;
}

// The definition, written with doubles: an fp16 product and the sum of two fp32 numbers are exact
// or correctly rounded there, and rounding to fp32 afterwards gives the fp32 sum (53 >= 2 * 24 + 2
// bits).
TEST(FloatKernels, PortableSumsInOrder)
{
    unsigned seed = Seed();
    std::mt19937 random(seed);
    SCOPED_TRACE(testing::Message() << "RKNPU_TEST_SEED=" << seed);

    for (size_t depth : { 0, 1, 7, 33 }) {
        unsigned rows = 1 + random() % rknpu_float_portable.rows;
        std::vector<float> a = RandomFloats(random, rows * (depth + 3), false);
        std::vector<float> b = RandomFloats(random, depth * kLanes, false);
        std::vector<float> acc = RandomFloats(random, rows * kLanes, false), expected = acc;

        for (size_t r = 0; r < rows; r++) {
            for (size_t lane = 0; lane < kLanes; lane++) {
                float sum = expected[r * kLanes + lane];

                for (size_t i = 0; i < depth; i++) {
                    sum = (float)((double)sum +
                                  (double)a[r * (depth + 3) + i] * b[i * kLanes + lane]);
                }
                expected[r * kLanes + lane] = sum;
            }
        }
        rknpu_float_dot(acc.data(), a.data(), depth + 3, b.data(), depth, rows);
        ExpectSame(acc, expected);
    }
}

TEST(FloatKernels, EverySetEqualsPortable)
{
    if (HostKernels().empty()) {
        GTEST_SKIP() << "this host has no vector set beside the portable one";
    }
    for (const RknpuFloatKernels *set : HostKernels()) {
        for (int round = 0; round < 200; round++) {
            unsigned seed = Seed() + (unsigned)round;
            std::mt19937 random(seed);
            SCOPED_TRACE(testing::Message()
                         << set->name << " RKNPU_TEST_SEED=" << seed - (unsigned)round);
            bool wild = round % 4 == 0;
            unsigned rows = 1 + random() % set->rows;
            size_t depth = random() % 70, stride = depth + random() % 20;
            std::vector<float> a = RandomFloats(random, rows * stride + 1, wild);
            std::vector<float> b = RandomFloats(random, depth * kLanes, wild);
            std::vector<float> acc = RandomFloats(random, rows * kLanes, wild), other = acc;

            rknpu_float_portable.dot_fp16(acc.data(), a.data(), stride, b.data(), depth, rows);
            set->dot_fp16(other.data(), a.data(), stride, b.data(), depth, rows);
            ExpectSame(acc, other);
        }
    }
}

TEST(FloatKernels, EverySetConvertsAllHalves)
{
    std::vector<uint8_t> all(2 * 0x10000);

    for (unsigned i = 0; i < 0x10000; i++) {
        all[2 * i] = (uint8_t)i;
        all[2 * i + 1] = (uint8_t)(i >> 8);
    }
    for (const RknpuFloatKernels *set : HostKernels()) {
        for (size_t n : { 0x10000, 13, 3, 0 }) {
            std::vector<float> expected(n), got(n);
            std::vector<uint8_t> back(2 * n), back_expected(2 * n);

            rknpu_float_portable.load_fp16(expected.data(), all.data(), n);
            set->load_fp16(got.data(), all.data(), n);
            ExpectSame(got, expected);
            rknpu_float_portable.store_fp16(back_expected.data(), expected.data(), n);
            set->store_fp16(back.data(), got.data(), n);
            ASSERT_EQ(back, back_expected) << set->name << " n=" << n;
        }
    }
}

TEST(FloatKernels, EverySetRoundsAsTypesDo)
{
    std::mt19937 random(1);
    std::vector<float> values(4096);

    for (float &v : values) { // random fp32 patterns around the fp16 range, ties included
        v = rknpu_bits_to_float((uint32_t)(random() & 0x80fff000u) | (uint32_t)(96 + random() % 50)
                                                                         << 23);
    }
    for (const RknpuFloatKernels *set : HostKernels()) {
        std::vector<uint8_t> bytes(2 * values.size());

        set->store_fp16(bytes.data(), values.data(), values.size());
        for (size_t i = 0; i < values.size(); i++) {
            unsigned got = bytes[2 * i] | bytes[2 * i + 1] << 8;

            ASSERT_EQ(got, rknpu_float_to_fp16(values[i])) << set->name << " " << values[i];
        }
    }
}

TEST(FloatKernels, EverySetPacksWeights)
{
    std::mt19937 random(2);

    for (const RknpuFloatKernels *set : HostKernels()) {
        for (unsigned kernels : { 1u, 9u, 16u }) {
            for (unsigned channels : { 1u, 8u, 20u, 32u }) {
                std::vector<uint8_t> from = RandomHalves(random, kernels * channels, true);
                std::vector<float> expected(channels * kLanes), got(channels * kLanes, 7);

                for (unsigned k = 0; k < kernels; k++) {
                    for (unsigned c = 0; c < channels; c++) {
                        expected[c * kLanes + k] =
                            rknpu_load_float(RKNPU_FP16, from.data(), k * channels + c);
                    }
                }
                set->pack_fp16(got.data(), from.data(), kernels, channels);
                ExpectSame(got, expected);
                rknpu_float_portable.pack_fp16(got.data(), from.data(), kernels, channels);
                ExpectSame(got, expected);
            }
        }
    }
}

} // namespace
