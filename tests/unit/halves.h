/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fp16 numbers in tests: their bits, their values, and random ones. */
#ifndef TESTS_UNIT_HALVES_H
#define TESTS_UNIT_HALVES_H

#include <cstdint>
#include <random>
#include <vector>

extern "C" {
#include "types.h"
}

inline uint16_t Half(float v)
{
    return rknpu_float_to_fp16(v);
}
inline float Value(uint16_t bits)
{
    return rknpu_fp16_to_float(bits);
}

/* `n` numbers from [low, high), the same for the same seed. */
inline std::vector<uint16_t> RandomHalves(unsigned n, float low, float high, unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> value(low, high);
    std::vector<uint16_t> v(n);

    for (uint16_t &bits : v) {
        bits = Half(value(random));
    }
    return v;
}

#endif /* TESTS_UNIT_HALVES_H */
