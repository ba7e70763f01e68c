/* SPDX-License-Identifier: GPL-2.0-or-later */
/* int8 inner loops for AVX-512: the pipelines that are more than one multiply-add. */
#include "int8_avx512.h"

/* Eight lanes of one operation; `channel` is the first one's. */
INLINE __m512d apply(const RknpuRequantOp *op, __m512d v, unsigned channel, const int8_t *operand)
{
    const int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

    switch (op->kind) {
    case RKNPU_REQUANT_ADD:
        return _mm512_add_pd(v, _mm512_loadu_pd(op->a + channel));
    case RKNPU_REQUANT_MUL: {
        __mmask8 negative = _mm512_cmp_pd_mask(v, _mm512_setzero_pd(), _CMP_LT_OQ);
        __m512d factor = _mm512_mask_blend_pd(negative, _mm512_loadu_pd(op->a + channel),
                                              _mm512_loadu_pd(op->b + channel));

        return _mm512_roundscale_pd(_mm512_mul_pd(v, factor), nearest);
    }
    case RKNPU_REQUANT_CLAMP:
        return _mm512_min_pd(_mm512_max_pd(v, _mm512_set1_pd(op->low)), _mm512_set1_pd(op->high));
    case RKNPU_REQUANT_EW_ADD: {
        __m256i e = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)operand));
        __m512d r = _mm512_fmadd_pd(_mm512_cvtepi32_pd(e), _mm512_set1_pd(op->high),
                                    _mm512_set1_pd(op->low));

        return _mm512_fmadd_pd(_mm512_roundscale_pd(r, nearest), _mm512_set1_pd(op->sign), v);
    }
    }
    return v;
}

/* 16 sums of one pixel to 16 bytes. */
INLINE void requant(const RknpuRequant *r, unsigned channel, __m512i acc, const int8_t *operand,
                    uint8_t *out)
{
    const __m512d scale = _mm512_set1_pd(r->scale), offset = _mm512_set1_pd(r->offset);
    __m512d lo, hi;
    __m512i bytes;

    if (r->truncate) {
        acc = truncate_acc(acc, r->truncate);
    }
    acc = _mm512_add_epi32(acc, _mm512_loadu_si512(r->bias + channel));
    lo = _mm512_cvtepi32_pd(_mm512_castsi512_si256(acc));
    hi = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(acc, 1));
    for (unsigned o = 0; o < r->ops; o++) {
        lo = apply(&r->op[o], lo, channel, operand);
        hi = apply(&r->op[o], hi, channel + 8, operand ? operand + 8 : NULL);
    }
    bytes = _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm512_cvtpd_epi32(_mm512_fmadd_pd(lo, scale, offset))),
        _mm512_cvtpd_epi32(_mm512_fmadd_pd(hi, scale, offset)), 1);
    _mm_storeu_si128((__m128i *)out, _mm512_cvtsepi32_epi8(bytes));
}

void rknpu_int8_avx512_finish_any(const RknpuInt8Output *out, unsigned half, const __m512i *acc,
                                  unsigned pixel, unsigned pixels, unsigned width)
{
    for (unsigned p = 0; p < pixels; p++) {
        size_t at = (size_t)(pixel + p) * RKNPU_INT8_LANES;

        if (!out->requant) {
            _mm512_storeu_si512(out->acc + (size_t)(pixel + p) * width + half * RKNPU_INT8_LANES,
                                acc[p]);
        } else {
            requant(out->requant, out->channel + half * RKNPU_INT8_LANES, acc[p],
                    out->operand[half] ? out->operand[half] + at : NULL, out->bytes[half] + at);
        }
    }
}
