/* SPDX-License-Identifier: GPL-2.0-or-later */
/* int8 inner loops for AVX-512: staged pixels and the sums of their channels. */
#include "int8_avx512.h"

#include <string.h>

void rknpu_int8_avx512_stage(uint8_t *restrict to, size_t step, const uint8_t *restrict from,
                             size_t pixels)
{
    for (size_t p = 0; p < pixels; p++, to += step, from += RKNPU_INT8_LANES) {
        _mm_prefetch((const char *)from + pixels * RKNPU_INT8_LANES, _MM_HINT_T1);
        _mm_storeu_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)from));
    }
}

void rknpu_int8_avx512_fill(uint8_t *to, size_t step, int8_t value, size_t pixels)
{
    for (size_t p = 0; p < pixels; p++) {
        memset(to + p * step, (uint8_t)value, RKNPU_INT8_LANES);
    }
}

/* Of 16 lanes those that belong to the first `n`, when `before` lanes come before them. */
INLINE __mmask16 first_lanes(unsigned n, unsigned before)
{
    return n >= before + 16 ? 0xffff : n > before ? (__mmask16)((1u << (n - before)) - 1) : 0;
}

/* One pixel's channels in 16 partial sums. */
INLINE __m512i sum_pixel(const uint8_t *x, unsigned depth)
{
    const __m512i ones = _mm512_set1_epi8(1);
    const __m128i last = _mm_maskz_set1_epi8((__mmask16)((1u << depth % 16) - 1), 1);
    __m512i wide = _mm512_setzero_si512();
    __m128i narrow = _mm_setzero_si128();
    unsigned c = 0;

    for (; c + 64 <= depth; c += 64) {
        wide = _mm512_dpbusd_epi32(wide, ones, _mm512_loadu_si512(x + c));
    }
    for (; c < depth; c += 16) {
        narrow = _mm_dpbusd_epi32(narrow, c + 16 <= depth ? _mm512_castsi512_si128(ones) : last,
                                  _mm_loadu_si128((const __m128i *)(x + c)));
    }
    return _mm512_add_epi32(wide, _mm512_zextsi128_si512(narrow));
}

void rknpu_int8_avx512_sum(int32_t *restrict sums, const uint8_t *restrict staged, size_t step,
                           unsigned depth, size_t pixels)
{
    for (size_t p = 0; p < pixels; p += 4) {
        size_t left = pixels - p;
        __m512i v[4], t[2];
        __m256i u;

#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++) {
            v[i] = i < left ? sum_pixel(staged + (p + i) * step, depth) : _mm512_setzero_si512();
        }
#pragma GCC unroll 2
        for (unsigned i = 0; i < 2; i++) {
            t[i] = _mm512_add_epi32(_mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]),
                                    _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]));
        }
        t[0] =
            _mm512_add_epi32(_mm512_unpacklo_epi64(t[0], t[1]), _mm512_unpackhi_epi64(t[0], t[1]));
        u = _mm256_add_epi32(_mm512_castsi512_si256(t[0]), _mm512_extracti64x4_epi64(t[0], 1));
        _mm_mask_storeu_epi32(
            sums + p, left < 4 ? (__mmask8)((1u << left) - 1) : 15,
            _mm_add_epi32(_mm256_castsi256_si128(u), _mm256_extracti128_si256(u, 1)));
    }
}

/* Four pixels of one surface are one vector; four of those at a time. */
void rknpu_int8_avx512_sum_atoms(int32_t *restrict sums, const uint8_t *const *surface,
                                 unsigned surfaces, unsigned depth, size_t pixels)
{
    const __m512i ones =
        _mm512_broadcast_i32x4(_mm_maskz_set1_epi8((__mmask16)((1u << depth) - 1), 1));
    const __m512i by_pixel =
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);

    for (size_t p = 0; p < pixels; p += 16) {
        const unsigned left = pixels - p < 16 ? (unsigned)(pixels - p) : 16;
        __m512i v[4] = { 0 }, t[2];

        for (unsigned s = 0; s < surfaces; s++) {
#pragma GCC unroll 4
            for (unsigned i = 0; i < 4; i++) {
                const uint8_t *x = surface[s] + 16 * (p + 4 * i);

                v[i] = _mm512_dpbusd_epi32(
                    v[i], ones, _mm512_maskz_loadu_epi32(first_lanes(4 * left, 16 * i), x));
            }
        }
        t[0] =
            _mm512_add_epi32(_mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));
        t[1] =
            _mm512_add_epi32(_mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));
        t[0] =
            _mm512_add_epi32(_mm512_unpacklo_epi64(t[0], t[1]), _mm512_unpackhi_epi64(t[0], t[1]));
        _mm512_mask_storeu_epi32(sums + p, first_lanes(left, 0),
                                 _mm512_permutexvar_epi32(by_pixel, t[0]));
    }
}
