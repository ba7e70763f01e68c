/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Floating inner loops for AArch64; float.h says why fused multiply-adds give the defined sums. */
#include "float.h"

#include <arm_neon.h>

#include "types.h"

enum { ROWS = 6, VECTORS = RKNPU_FLOAT_LANES / 4 };

static void load_fp16(float *restrict to, const uint8_t *restrict from, size_t n)
{
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        float16x4_t half = vreinterpret_f16_u8(vld1_u8(from + 2 * i));

        vst1q_f32(to + i, vcvt_f32_f16(half));
    }
    rknpu_float_portable.load_fp16(to + i, from + 2 * i, n - i);
}

static void store_fp16(uint8_t *restrict to, const float *restrict from, size_t n)
{
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        float32x4_t v = vld1q_f32(from + i);

        if (vminvq_u32(vceqq_f32(v, v)) == 0) {
            rknpu_float_portable.store_fp16(to + 2 * i, from + i, 4);
        } else {
            vst1_u8(to + 2 * i, vreinterpret_u8_f16(vcvt_f16_f32(v)));
        }
    }
    rknpu_float_portable.store_fp16(to + 2 * i, from + i, n - i);
}

static void pack_fp16(float *restrict to, const uint8_t *restrict from, unsigned kernels,
                      unsigned channels)
{
    rknpu_float_portable.pack_fp16(to, from, kernels, channels);
}

static inline __attribute__((always_inline)) void dot_rows(float *restrict acc,
                                                           const float *restrict a, size_t a_stride,
                                                           const float *restrict b, size_t depth,
                                                           const int rows)
{
    float32x4_t sum[ROWS][VECTORS];

    for (int r = 0; r < rows; r++) {
        for (int v = 0; v < VECTORS; v++) {
            sum[r][v] = vld1q_f32(acc + r * RKNPU_FLOAT_LANES + 4 * v);
        }
    }
    for (size_t i = 0; i < depth; i++) {
        float32x4_t w[VECTORS];

        for (int v = 0; v < VECTORS; v++) {
            w[v] = vld1q_f32(b + i * RKNPU_FLOAT_LANES + 4 * v);
        }
        for (int r = 0; r < rows; r++) {
            float32x4_t x = vdupq_n_f32(a[r * a_stride + i]);

            for (int v = 0; v < VECTORS; v++) {
                sum[r][v] = vfmaq_f32(sum[r][v], x, w[v]);
            }
        }
    }
    for (int r = 0; r < rows; r++) {
        for (int v = 0; v < VECTORS; v++) {
            vst1q_f32(acc + r * RKNPU_FLOAT_LANES + 4 * v, sum[r][v]);
        }
    }
}

static void dot_fp16(float *restrict acc, const float *restrict a, size_t a_stride,
                     const float *restrict b, size_t depth, unsigned rows)
{
    for (; rows >= 4; rows -= 4, acc += 4 * RKNPU_FLOAT_LANES, a += 4 * a_stride) {
        dot_rows(acc, a, a_stride, b, depth, 4);
    }
    for (; rows; rows--, acc += RKNPU_FLOAT_LANES, a += a_stride) {
        dot_rows(acc, a, a_stride, b, depth, 1);
    }
}

const RknpuFloatKernels rknpu_float_neon = {
    .name = "neon",
    .rows = ROWS,
    .load_fp16 = load_fp16,
    .store_fp16 = store_fp16,
    .pack_fp16 = pack_fp16,
    .dot_fp16 = dot_fp16,
};
