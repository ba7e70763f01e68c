/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Floating inner loops for AVX-512: a register is one panel's width, so a tile is up to 14 rows
 * with one accumulator each. What only moves and converts numbers is AVX2's.
 */
#include "float.h"

#include <immintrin.h>

#define ROWS 14

/* Row pointers hang on five bases: more would not fit the registers. */
static inline __attribute__((always_inline)) void dot_rows(float *restrict acc,
                                                           const float *restrict a, size_t a_stride,
                                                           const float *restrict b, size_t depth,
                                                           const unsigned rows)
{
    const float *base[(ROWS + 2) / 3];
    __m512 sum[ROWS];

#pragma GCC unroll 14
    for (unsigned r = 0; r < rows; r++) {
        sum[r] = _mm512_loadu_ps(acc + r * RKNPU_FLOAT_LANES);
        base[r / 3] = a + r / 3 * 3 * a_stride;
    }
    for (size_t i = 0; i < depth; i++) {
        const __m512 w = _mm512_loadu_ps(b + i * RKNPU_FLOAT_LANES);

#pragma GCC unroll 14
        for (unsigned r = 0; r < rows; r++) {
            sum[r] = _mm512_fmadd_ps(_mm512_set1_ps(base[r / 3][r % 3 * a_stride + i]), w, sum[r]);
        }
    }
#pragma GCC unroll 14
    for (unsigned r = 0; r < rows; r++) {
        _mm512_storeu_ps(acc + r * RKNPU_FLOAT_LANES, sum[r]);
    }
}

#define CASE(n)                                                                                    \
    case n:                                                                                        \
        dot_rows(acc, a, a_stride, b, depth, n);                                                   \
        break;

static void dot_fp16(float *restrict acc, const float *restrict a, size_t a_stride,
                     const float *restrict b, size_t depth, unsigned rows)
{
    switch (rows) {
        CASE(1)
        CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)
            CASE(13) CASE(14)
    }
}

const RknpuFloatKernels rknpu_float_avx512 = {
    .name = "avx512",
    .rows = ROWS,
    .load_fp16 = rknpu_float_avx2_load_fp16,
    .store_fp16 = rknpu_float_avx2_store_fp16,
    .pack_fp16 = rknpu_float_avx2_pack_fp16,
    .dot_fp16 = dot_fp16,
};
