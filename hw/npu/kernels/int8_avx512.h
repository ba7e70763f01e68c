/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * int8 inner loops for AVX-512 with VNNI: what their files share. Results leave the registers here,
 * in the common pipeline; any other one is int8_avx512_any.c's.
 */
#ifndef HW_NPU_KERNELS_INT8_AVX512_H
#define HW_NPU_KERNELS_INT8_AVX512_H

#include "int8.h"

#include <immintrin.h>

#define GROUP  32
#define TILE   8 /* most pixels */
#define INLINE static inline __attribute__((always_inline))

/* For the table; int8.h says what they do. */
void rknpu_int8_avx512_stage(uint8_t *restrict to, size_t step, const uint8_t *restrict from,
                             size_t pixels);
void rknpu_int8_avx512_fill(uint8_t *to, size_t step, int8_t value, size_t pixels);
void rknpu_int8_avx512_sum(int32_t *restrict sums, const uint8_t *restrict staged, size_t step,
                           unsigned depth, size_t pixels);
void rknpu_int8_avx512_sum_atoms(int32_t *restrict sums, const uint8_t *const *surface,
                                 unsigned surfaces, unsigned depth, size_t pixels);
void rknpu_int8_avx512_stage_pair(int16_t *restrict to, const uint8_t *restrict upper,
                                  const uint8_t *restrict lower, size_t pixels);
void rknpu_int8_avx512_depthwise(const RknpuInt8Depthwise *d);

/*
 * Any pipeline: one half (16 channels) of a tile of `pixels` pixels from `pixel` on. Pixels lie
 * `width` apart in out->acc.
 */
void rknpu_int8_avx512_finish_any(const RknpuInt8Output *out, unsigned half, const __m512i *acc,
                                  unsigned pixel, unsigned pixels, unsigned width);

INLINE __m512i truncate_acc(__m512i acc, unsigned shift)
{
    __m128i s = _mm_cvtsi32_si128((int)shift);
    __m512i odd = _mm512_and_si512(_mm512_sra_epi32(acc, s), _mm512_set1_epi32(1));
    __m512i half = _mm512_set1_epi32((1 << (shift - 1)) - 1);

    return _mm512_sra_epi32(_mm512_add_epi32(acc, _mm512_add_epi32(half, odd)), s);
}

INLINE bool is_single(const RknpuInt8Output *out)
{
    return out->requant && out->requant->single;
}

/* What the sums of a half start from: the bias, if nothing happens before it is added. */
INLINE __m512i first_value(const RknpuInt8Output *out, unsigned half)
{
    return is_single(out) && !out->requant->truncate
               ? _mm512_loadu_si512(out->requant->bias + out->channel + half * RKNPU_INT8_LANES)
               : _mm512_setzero_si512();
}

/* RknpuRequant.single with its constants at hand. */
typedef struct Single {
    __m512 scale, offset;
    unsigned truncate; /* 0: the bias is in the sums */
    __m512i bias;
} Single;

INLINE Single single_of(const RknpuInt8Output *out, unsigned half)
{
    const RknpuRequant *r = out->requant;

    return (Single){
        .scale = _mm512_set1_ps((float)r->scale),
        .offset = _mm512_set1_ps((float)r->offset + RKNPU_REQUANT_MAGIC),
        .truncate = r->truncate,
        .bias = _mm512_loadu_si512(r->bias + out->channel + half * RKNPU_INT8_LANES),
    };
}

INLINE __m512i round_single(const Single *s, __m512i acc)
{
    __m512 v;

    if (s->truncate) {
        acc = _mm512_add_epi32(truncate_acc(acc, s->truncate), s->bias);
    }
    v = _mm512_fmadd_ps(_mm512_cvtepi32_ps(acc), s->scale, s->offset);
    return _mm512_sub_epi32(_mm512_castps_si512(v), _mm512_set1_epi32(RKNPU_REQUANT_MAGIC_BITS));
}

/* Four pixels' rounded values to bytes. */
INLINE __m512i pack_four(__m512i v0, __m512i v1, __m512i v2, __m512i v3)
{
    const __m512i by_pixel =
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512i a = _mm512_packs_epi32(v0, v1), b = _mm512_packs_epi32(v2, v3);

    return _mm512_permutexvar_epi32(by_pixel, _mm512_packs_epi16(a, b));
}

/* Four pixels are packed and stored together. */
INLINE void finish_single(const Single *s, const __m512i *acc, const unsigned pixels, uint8_t *to)
{
    unsigned p = 0;

#pragma GCC unroll 2
    for (; p + 4 <= pixels; p += 4) {
        _mm512_storeu_si512(to + p * RKNPU_INT8_LANES,
                            pack_four(round_single(s, acc[p]), round_single(s, acc[p + 1]),
                                      round_single(s, acc[p + 2]), round_single(s, acc[p + 3])));
    }
#pragma GCC unroll 4
    for (; p < pixels; p++) {
        _mm_storeu_si128((__m128i *)(to + p * RKNPU_INT8_LANES),
                         _mm512_cvtsepi32_epi8(round_single(s, acc[p])));
    }
}

/* One half of a tile's sums goes where it is wanted. `width` as above. */
INLINE void finish(const RknpuInt8Output *out, unsigned half, const __m512i *acc, unsigned pixel,
                   const unsigned pixels, const unsigned width)
{
    if (out->requant && !out->bytes[half]) {
        return;
    }
    if (is_single(out)) {
        const Single s = single_of(out, half);

        finish_single(&s, acc, pixels, out->bytes[half] + (size_t)pixel * RKNPU_INT8_LANES);
    } else {
        __m512i copy[TILE];

#pragma GCC unroll 8
        for (unsigned p = 0; p < pixels; p++) {
            copy[p] = acc[p];
        }
        rknpu_int8_avx512_finish_any(out, half, copy, pixel, pixels, width);
    }
}

#endif /* HW_NPU_KERNELS_INT8_AVX512_H */
