/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Floating inner loops in plain C: the definition (float.h). Compile without floating contraction.
 */
#include "float.h"

#include "types.h"

static uint16_t get16(const uint8_t *from)
{
    return (uint16_t)(from[0] | from[1] << 8);
}

static void load_fp16(float *restrict to, const uint8_t *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = rknpu_fp16_to_float(get16(from + 2 * i));
    }
}

static void store_fp16(uint8_t *restrict to, const float *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t bits = rknpu_float_to_fp16(from[i]);

        to[2 * i] = (uint8_t)bits;
        to[2 * i + 1] = (uint8_t)(bits >> 8);
    }
}

static void pack_fp16(float *restrict to, const uint8_t *restrict from, unsigned kernels,
                      unsigned channels)
{
    for (unsigned c = 0; c < channels; c++) {
        for (unsigned k = 0; k < RKNPU_FLOAT_LANES; k++) {
            size_t at = 2 * ((size_t)k * channels + c);

            to[c * RKNPU_FLOAT_LANES + k] = k < kernels ? rknpu_fp16_to_float(get16(from + at)) : 0;
        }
    }
}

void rknpu_float_dot(float *restrict acc, const float *restrict a, size_t a_stride,
                     const float *restrict b, size_t depth, unsigned rows)
{
    for (unsigned row = 0; row < rows; row++) {
        float *restrict sum = acc + row * RKNPU_FLOAT_LANES;
        const float *x = a + row * a_stride;

        for (size_t i = 0; i < depth; i++) {
            for (unsigned lane = 0; lane < RKNPU_FLOAT_LANES; lane++) {
                sum[lane] += x[i] * b[i * RKNPU_FLOAT_LANES + lane];
            }
        }
    }
}

const RknpuFloatKernels rknpu_float_portable = {
    .name = "portable",
    .rows = 6,
    .load_fp16 = load_fp16,
    .store_fp16 = store_fp16,
    .pack_fp16 = pack_fp16,
    .dot_fp16 = rknpu_float_dot,
};
