/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Floating inner loops for AVX2 with FMA and F16C; float.h says why FMA gives the defined sums. */
#include "float.h"

#include <immintrin.h>

#include "types.h"

void rknpu_float_avx2_load_fp16(float *restrict to, const uint8_t *restrict from, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + 2 * i))));
    }
    rknpu_float_portable.load_fp16(to + i, from + 2 * i, n - i);
}

void rknpu_float_avx2_store_fp16(uint8_t *restrict to, const float *restrict from, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m256 v = _mm256_loadu_ps(from + i);

        if (_mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q))) {
            rknpu_float_portable.store_fp16(to + 2 * i, from + i, 8);
        } else {
            _mm_storeu_si128((__m128i *)(to + 2 * i),
                             _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
        }
    }
    rknpu_float_portable.store_fp16(to + 2 * i, from + i, n - i);
}

/* Eight kernels by eight channels: rows are kernels on the way in and channels on the way out. */
static void transpose8(float *to, const uint8_t *from, size_t from_stride)
{
    __m256 r[8], t[8], u[8];

    for (int i = 0; i < 8; i++) {
        r[i] = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i * from_stride)));
    }
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_ps(to + i * RKNPU_FLOAT_LANES, _mm256_permute2f128_ps(u[i], u[i + 4], 0x20));
        _mm256_storeu_ps(to + (i + 4) * RKNPU_FLOAT_LANES,
                         _mm256_permute2f128_ps(u[i], u[i + 4], 0x31));
    }
}

void rknpu_float_avx2_pack_fp16(float *restrict to, const uint8_t *restrict from, unsigned kernels,
                                unsigned channels)
{
    size_t stride = 2 * (size_t)channels;

    if (kernels != RKNPU_FLOAT_LANES || channels % 8) {
        rknpu_float_portable.pack_fp16(to, from, kernels, channels);
        return;
    }
    for (unsigned c = 0; c < channels; c += 8) {
        float *panel = to + c * RKNPU_FLOAT_LANES;

        transpose8(panel, from + 2 * c, stride);
        transpose8(panel + 8, from + 2 * c + 8 * stride, stride);
    }
}

/*
 * Sums of up to six rows in registers: twelve accumulators, written out one by one because
 * compilers keep an array of them in memory. A row count below six leaves the last rows unused.
 */
#define SUMS(X) X(0) X(1) X(2) X(3) X(4) X(5)
#define LOAD(r)                                                                                    \
    __m256 low##r = r < rows ? _mm256_loadu_ps(acc + r * RKNPU_FLOAT_LANES) : _mm256_setzero_ps(); \
    __m256 high##r =                                                                               \
        r < rows ? _mm256_loadu_ps(acc + r * RKNPU_FLOAT_LANES + 8) : _mm256_setzero_ps();
#define STEP(r)                                                                                    \
    if (r < rows) {                                                                                \
        __m256 x = _mm256_broadcast_ss(a + r * a_stride + i);                                      \
        low##r = _mm256_fmadd_ps(x, low, low##r);                                                  \
        high##r = _mm256_fmadd_ps(x, high, high##r);                                               \
    }
#define STORE(r)                                                                                   \
    if (r < rows) {                                                                                \
        _mm256_storeu_ps(acc + r * RKNPU_FLOAT_LANES, low##r);                                     \
        _mm256_storeu_ps(acc + r * RKNPU_FLOAT_LANES + 8, high##r);                                \
    }

static inline __attribute__((always_inline)) void dot_rows(float *restrict acc,
                                                           const float *restrict a, size_t a_stride,
                                                           const float *restrict b, size_t depth,
                                                           const int rows)
{
    SUMS(LOAD)
#pragma GCC unroll 4
    for (size_t i = 0; i < depth; i++) {
        __m256 low = _mm256_loadu_ps(b + i * RKNPU_FLOAT_LANES);
        __m256 high = _mm256_loadu_ps(b + i * RKNPU_FLOAT_LANES + 8);

        SUMS(STEP)
    }
    SUMS(STORE)
}

static void dot_fp16(float *restrict acc, const float *restrict a, size_t a_stride,
                     const float *restrict b, size_t depth, unsigned rows)
{
    switch (rows) {
    case 6:
        dot_rows(acc, a, a_stride, b, depth, 6);
        break;
    case 5:
        dot_rows(acc, a, a_stride, b, depth, 5);
        break;
    case 4:
        dot_rows(acc, a, a_stride, b, depth, 4);
        break;
    case 3:
        dot_rows(acc, a, a_stride, b, depth, 3);
        break;
    case 2:
        dot_rows(acc, a, a_stride, b, depth, 2);
        break;
    case 1:
        dot_rows(acc, a, a_stride, b, depth, 1);
        break;
    }
}

const RknpuFloatKernels rknpu_float_avx2 = {
    .name = "avx2",
    .rows = 6,
    .load_fp16 = rknpu_float_avx2_load_fp16,
    .store_fp16 = rknpu_float_avx2_store_fp16,
    .pack_fp16 = rknpu_float_avx2_pack_fp16,
    .dot_fp16 = dot_fp16,
};
