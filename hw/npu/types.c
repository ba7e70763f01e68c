/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Number formats; see types.h. Plain integer arithmetic, so every host gives the same bits. */
#include "types.h"

#include <math.h>
#include <string.h>

typedef struct TypeInfo {
    const char *name;
    uint8_t bits;
    bool is_float;
} TypeInfo;

static const TypeInfo type_info[8] = {
    [RKNPU_INT8] = { "int8", 8, false },    [RKNPU_INT16] = { "int16", 16, false },
    [RKNPU_FP16] = { "fp16", 16, true },    [RKNPU_BF16] = { "bf16", 16, true },
    [RKNPU_INT32] = { "int32", 32, false }, [RKNPU_FP32] = { "fp32", 32, true },
    [RKNPU_INT4] = { "int4", 4, false },    [RKNPU_TF32] = { "tf32", 32, true },
};

unsigned rknpu_type_bits(RknpuType type)
{
    return type_info[type & 7].bits;
}

unsigned rknpu_type_per_atom(RknpuType type)
{
    return 128 / type_info[type & 7].bits;
}

bool rknpu_type_is_float(RknpuType type)
{
    return type_info[type & 7].is_float;
}

const char *rknpu_type_name(RknpuType type)
{
    return type_info[type & 7].name;
}

float rknpu_bits_to_float(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint32_t float_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

uint32_t rknpu_float_to_bits(float value)
{
    return isnan(value) ? RKNPU_FP32_NAN : float_bits(value);
}

float rknpu_fp16_to_float(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    uint32_t exponent = (bits >> 10) & 0x1f;
    uint32_t fraction = bits & 0x3ff;

    if (exponent == 0x1f) {
        return rknpu_bits_to_float(sign | 0x7f800000 | (fraction << 13));
    }
    if (exponent == 0) {
        float magnitude = (float)fraction * 0x1p-24f;

        return sign ? -magnitude : magnitude;
    }
    return rknpu_bits_to_float(sign | ((exponent + 112) << 23) | (fraction << 13));
}

/* `value` >> `shift`, to nearest, ties to even; 1 <= shift <= 31. */
static uint32_t shift_half_even(uint32_t value, unsigned shift)
{
    uint32_t half = 1u << (shift - 1);
    uint32_t odd = (value >> shift) & 1;

    return (value + half - 1 + odd) >> shift;
}

uint16_t rknpu_float_to_fp16(float value)
{
    uint32_t bits = float_bits(value);
    uint32_t sign = (bits >> 16) & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    int exponent = (int)(magnitude >> 23) - 112;

    if (magnitude > 0x7f800000) {
        return RKNPU_FP16_NAN;
    }
    if (exponent >= 31) {
        return (uint16_t)(sign | 0x7c00);
    }
    if (exponent > 0) {
        /* A carry out of the fraction moves into the exponent, up to infinity, as it should. */
        return (uint16_t)(sign | shift_half_even(magnitude - (112u << 23), 13));
    }
    if (exponent < -10) {
        return (uint16_t)sign;
    }
    return (uint16_t)(sign | shift_half_even((magnitude & 0x7fffff) | 0x800000,
                                             (unsigned)(14 - exponent)));
}

float rknpu_bf16_to_float(uint16_t bits)
{
    return rknpu_bits_to_float((uint32_t)bits << 16);
}

uint16_t rknpu_float_to_bf16(float value)
{
    uint32_t bits = float_bits(value);

    if (isnan(value)) {
        return RKNPU_BF16_NAN;
    }
    return (uint16_t)(((bits >> 16) & 0x8000) | shift_half_even(bits & 0x7fffffff, 16));
}

float rknpu_tf32_to_float(uint32_t bits)
{
    bool nan = (bits & 0x7fffffff) > 0x7f800000;

    return rknpu_bits_to_float(nan ? bits : bits & ~0x1fffu);
}

static uint16_t load16(const uint8_t *from)
{
    return (uint16_t)(from[0] | from[1] << 8);
}

static uint32_t load32(const uint8_t *from)
{
    return load16(from) | (uint32_t)load16(from + 2) << 16;
}

static void store16(uint8_t *to, uint16_t value)
{
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}

static void store32(uint8_t *to, uint32_t value)
{
    store16(to, (uint16_t)value);
    store16(to + 2, (uint16_t)(value >> 16));
}

int32_t rknpu_float_to_int32(float value)
{
    if (isnan(value)) {
        return 0;
    }
    if (value >= 0x1p31f) {
        return INT32_MAX;
    }
    if (value < -0x1p31f) {
        return INT32_MIN;
    }
    return (int32_t)rintf(value);
}

int32_t rknpu_load_int(RknpuType type, const uint8_t *from, size_t index)
{
    switch (type & 7) {
    case RKNPU_INT4: {
        int nibble = (from[index / 2] >> (index % 2 * 4)) & 0xf;

        return nibble >= 8 ? nibble - 16 : nibble;
    }
    case RKNPU_INT8:
        return (int8_t)from[index];
    case RKNPU_INT16:
        return (int16_t)load16(from + 2 * index);
    case RKNPU_INT32:
        return (int32_t)load32(from + 4 * index);
    default:
        return rknpu_float_to_int32(rknpu_load_float(type, from, index));
    }
}

float rknpu_load_float(RknpuType type, const uint8_t *from, size_t index)
{
    switch (type & 7) {
    case RKNPU_FP16:
        return rknpu_fp16_to_float(load16(from + 2 * index));
    case RKNPU_BF16:
        return rknpu_bf16_to_float(load16(from + 2 * index));
    case RKNPU_FP32:
        return rknpu_bits_to_float(load32(from + 4 * index));
    case RKNPU_TF32:
        return rknpu_tf32_to_float(load32(from + 4 * index));
    default:
        return (float)rknpu_load_int(type, from, index);
    }
}

int64_t rknpu_saturate(RknpuType type, int64_t value)
{
    int64_t max;

    if (rknpu_type_is_float(type)) {
        return value;
    }
    max = ((int64_t)1 << (rknpu_type_bits(type) - 1)) - 1;
    return value > max ? max : value < -max - 1 ? -max - 1 : value;
}

void rknpu_store_int(RknpuType type, uint8_t *to, size_t index, int64_t value)
{
    int64_t limited = rknpu_saturate(type, value);

    switch (type & 7) {
    case RKNPU_INT4: {
        unsigned shift = index % 2 * 4;
        uint8_t nibble = (uint8_t)(limited & 0xf);

        to[index / 2] = (uint8_t)((to[index / 2] & ~(0xf << shift)) | nibble << shift);
        break;
    }
    case RKNPU_INT8:
        to[index] = (uint8_t)limited;
        break;
    case RKNPU_INT16:
        store16(to + 2 * index, (uint16_t)limited);
        break;
    case RKNPU_INT32:
        store32(to + 4 * index, (uint32_t)limited);
        break;
    default:
        rknpu_store_float(type, to, index, (float)limited);
    }
}

void rknpu_store_float(RknpuType type, uint8_t *to, size_t index, float value)
{
    switch (type & 7) {
    case RKNPU_FP16:
        store16(to + 2 * index, rknpu_float_to_fp16(value));
        break;
    case RKNPU_BF16:
        store16(to + 2 * index, rknpu_float_to_bf16(value));
        break;
    case RKNPU_FP32:
    case RKNPU_TF32:
        store32(to + 4 * index, rknpu_float_to_bits(value));
        break;
    default:
        rknpu_store_int(type, to, index, rknpu_float_to_int32(value));
    }
}

void rknpu_load_float_row(RknpuType type, float *to, const uint8_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = rknpu_load_float(type, from, i);
    }
}
