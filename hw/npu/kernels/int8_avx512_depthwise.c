/* SPDX-License-Identifier: GPL-2.0-or-later */
/* int8 inner loops for AVX-512: depthwise convolution. */
#include "int8_avx512.h"

#include "tiles.h"

#define PAIR_BYTES 64 /* of a pixel in a pair row */

/* Bytes that are asked for ahead; rows and surfaces mostly follow each other. */
#define AHEAD 4096

void rknpu_int8_avx512_stage_pair(int16_t *restrict to, const uint8_t *restrict upper,
                                  const uint8_t *restrict lower, size_t pixels)
{
    size_t p = 0;

    for (; p + 2 <= pixels; p += 2, to += 2 * PAIR_BYTES / 2) {
        const __m256i u = _mm256_loadu_si256((const __m256i *)(upper + p * RKNPU_INT8_LANES));
        const __m256i l = _mm256_loadu_si256((const __m256i *)(lower + p * RKNPU_INT8_LANES));
        const __m256i lo = _mm256_unpacklo_epi8(u, l), hi = _mm256_unpackhi_epi8(u, l);

        _mm_prefetch((const char *)lower + p * RKNPU_INT8_LANES + AHEAD, _MM_HINT_T0);
        _mm512_storeu_si512(to, _mm512_cvtepi8_epi16(_mm256_permute2x128_si256(lo, hi, 0x20)));
        _mm512_storeu_si512(to + PAIR_BYTES / 2,
                            _mm512_cvtepi8_epi16(_mm256_permute2x128_si256(lo, hi, 0x31)));
    }
    if (p < pixels) {
        const __m128i u = _mm_loadu_si128((const __m128i *)(upper + p * RKNPU_INT8_LANES));
        const __m128i l = _mm_loadu_si128((const __m128i *)(lower + p * RKNPU_INT8_LANES));

        _mm512_storeu_si512(to, _mm512_cvtepi8_epi16(_mm256_set_m128i(_mm_unpackhi_epi8(u, l),
                                                                      _mm_unpacklo_epi8(u, l))));
    }
}

/* A tile of any shape. */
INLINE void depthwise_tile(const RknpuInt8Depthwise *d, unsigned pixel, const unsigned pixels)
{
    const int16_t *w = d->weights[0];
    __m512i acc[TILE];

#pragma GCC unroll 8
    for (unsigned p = 0; p < pixels; p++) {
        acc[p] = first_value(&d->out, 0);
    }
    for (unsigned r = 0; r < d->row_pairs; r++) {
        const uint8_t *x = (const uint8_t *)d->pairs[r] + pixel * d->pixel_step;

        for (unsigned kx = 0; kx < d->kernel_width; kx++, x += d->tap_step, w += PAIR_BYTES / 2) {
            const __m512i tap = _mm512_loadu_si512(w);

#pragma GCC unroll 8
            for (unsigned p = 0; p < pixels; p++) {
                acc[p] =
                    _mm512_dpwssd_epi32(acc[p], _mm512_loadu_si512(x + p * d->pixel_step), tap);
            }
        }
    }
    finish(&d->out, 0, acc, pixel, pixels, RKNPU_INT8_LANES);
}

/* Three taps side by side of one pair row: every input pixel is loaded once. */
INLINE void three_taps(__m512i *acc, const uint8_t *x, const __m512i *tap, const unsigned pixels,
                       const unsigned stride)
{
#pragma GCC unroll 17
    for (unsigned i = 0; i < (pixels - 1) * stride + 3; i++) {
        const __m512i pixel = _mm512_loadu_si512(x + i * PAIR_BYTES);

#pragma GCC unroll 3
        for (unsigned kx = 0; kx < 3; kx++) {
            if (i >= kx && (i - kx) % stride == 0 && (i - kx) / stride < pixels) {
                __m512i *sum = &acc[(i - kx) / stride];

                *sum = _mm512_dpwssd_epi32(*sum, pixel, tap[kx]);
            }
        }
    }
}

/* The tile of most layers: a 3x3 kernel, its taps in registers, and a single multiply-add behind.
 */
INLINE void three_tile(const RknpuInt8Depthwise *d, unsigned pixel, const unsigned pixels,
                       const __m512i *tap, const Single *s, const unsigned stride)
{
    const size_t at = (size_t)pixel * stride * PAIR_BYTES;
    __m512i acc[TILE];

#pragma GCC unroll 8
    for (unsigned p = 0; p < pixels; p++) {
        acc[p] = s->bias;
    }
    three_taps(acc, (const uint8_t *)d->pairs[0] + at, tap, pixels, stride);
    three_taps(acc, (const uint8_t *)d->pairs[1] + at, tap + 3, pixels, stride);
    finish_single(s, acc, pixels, d->out.bytes[0] + (size_t)pixel * RKNPU_INT8_LANES);
}

INLINE void depthwise_three(const RknpuInt8Depthwise *d, const unsigned stride)
{
    Single s = single_of(&d->out, 0);

    s.truncate = 0;
    for (RknpuInt8Depthwise left = *d; left.rows; rknpu_int8_next_row(&left)) {
        __m512i tap[6];

#pragma GCC unroll 6
        for (unsigned i = 0; i < 6; i++) {
            tap[i] = _mm512_loadu_si512(left.weights[0] + i * PAIR_BYTES / 2);
        }
        RKNPU_FOR_TILES(TILE, three_tile, &left, tap, &s, stride)
    }
}

void rknpu_int8_avx512_depthwise(const RknpuInt8Depthwise *d)
{
    const bool three = d->kernel_width == 3 && d->row_pairs == 2 && d->tap_step == PAIR_BYTES &&
                       is_single(&d->out) && !d->out.requant->truncate && d->out.bytes[0];

    if (three && d->pixel_step == PAIR_BYTES) {
        depthwise_three(d, 1);
    } else if (three && d->pixel_step == 2 * PAIR_BYTES) {
        depthwise_three(d, 2);
    } else {
        for (RknpuInt8Depthwise left = *d; left.rows; rknpu_int8_next_row(&left)) {
            RKNPU_FOR_TILES(TILE, depthwise_tile, &left)
        }
    }
}
