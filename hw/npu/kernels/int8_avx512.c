/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * int8 inner loops for AVX-512 with VNNI. vpdpbusd multiplies unsigned by signed bytes, so weights
 * are stored with their sign bit turned (w + 128) and the surplus, 128 times the sum of the inputs,
 * goes out together with the zero point term, which needs that sum anyway: sum(x * w) + OW * sum(x)
 * = sum(x * (w + 128)) + (OW - 128) * sum(x) A tile is 32 kernels by up to 8 pixels: 16 sums, 2
 * weights, 1 broadcast quad of inputs.
 */
#include "int8.h"

#include <immintrin.h>
#include <string.h>

#define GROUP  32
#define TILE   8
#define INLINE static inline __attribute__((always_inline))

static void stage(uint8_t *restrict to, size_t step, const uint8_t *restrict from, size_t pixels)
{
    for (size_t p = 0; p < pixels; p++) {
        memcpy(to + p * step, from + p * RKNPU_INT8_LANES, RKNPU_INT8_LANES);
    }
}

static void fill(uint8_t *to, size_t step, int8_t value, size_t pixels)
{
    for (size_t p = 0; p < pixels; p++) {
        memset(to + p * step, (uint8_t)value, RKNPU_INT8_LANES);
    }
}

static void stage_pair(int16_t *restrict to, const uint8_t *restrict upper,
                       const uint8_t *restrict lower, size_t pixels)
{
    for (size_t p = 0; p < pixels; p++, to += 2 * RKNPU_INT8_LANES) {
        __m128i u = _mm_loadu_si128((const __m128i *)(upper + p * RKNPU_INT8_LANES));
        __m128i l = _mm_loadu_si128((const __m128i *)(lower + p * RKNPU_INT8_LANES));

        _mm256_storeu_si256((__m256i *)to, _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(u, l)));
        _mm256_storeu_si256((__m256i *)(to + RKNPU_INT8_LANES),
                            _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(u, l)));
    }
}

/* 4 kernels by 16 channels to [channel quad][kernel][4], quads 4 * GROUP bytes apart; `quads` are
 * wanted. */
INLINE void pack4(uint8_t *to, const uint8_t *from, size_t width, unsigned count, unsigned quads)
{
    const __m128i sign = _mm_set1_epi8((char)0x80);
    __m128i row[4], t[4], out[4];

    for (unsigned k = 0; k < 4; k++) {
        row[k] = k < count
                     ? _mm_xor_si128(_mm_loadu_si128((const __m128i *)(from + k * width)), sign)
                     : sign;
    }
    t[0] = _mm_unpacklo_epi32(row[0], row[1]);
    t[1] = _mm_unpackhi_epi32(row[0], row[1]);
    t[2] = _mm_unpacklo_epi32(row[2], row[3]);
    t[3] = _mm_unpackhi_epi32(row[2], row[3]);
    out[0] = _mm_unpacklo_epi64(t[0], t[2]);
    out[1] = _mm_unpackhi_epi64(t[0], t[2]);
    out[2] = _mm_unpacklo_epi64(t[1], t[3]);
    out[3] = _mm_unpackhi_epi64(t[1], t[3]);
    for (unsigned q = 0; q < quads; q++) {
        _mm_storeu_si128((__m128i *)(to + (size_t)q * 4 * GROUP), out[q]);
    }
}

/* Packed: [tap][channel quad][kernel][4] bytes with the sign bit turned. */
static void pack(void *restrict to, const RknpuInt8Weights *w)
{
    uint8_t *packed = to;

    for (unsigned t = 0; t < w->taps; t++) {
        for (unsigned c = 0; c < w->depth; c += 16) {
            unsigned slice = c / 32;
            unsigned width = w->tap_channels - slice * 32 < 32 ? w->tap_channels - slice * 32 : 32;
            unsigned quads = w->depth - c < 16 ? (w->depth - c) / 4 : 4;
            const uint8_t *from = w->memory + (size_t)slice * 32 * w->in_memory * w->taps +
                                  ((size_t)t * w->in_memory + w->first) * width + c % 32;

            for (unsigned k = 0; k < GROUP; k += 4) {
                unsigned count = k < w->count ? w->count - k : 0;

                pack4(packed + k * 4, count ? from + (size_t)k * width : NULL, width, count, quads);
            }
            packed += (size_t)quads * 4 * GROUP;
        }
    }
}

INLINE __m512i truncate_acc(__m512i acc, unsigned shift)
{
    __m128i s = _mm_cvtsi32_si128((int)shift);
    __m512i odd = _mm512_and_si512(_mm512_sra_epi32(acc, s), _mm512_set1_epi32(1));
    __m512i half = _mm512_set1_epi32((1 << (shift - 1)) - 1);

    return _mm512_sra_epi32(_mm512_add_epi32(acc, _mm512_add_epi32(half, odd)), s);
}

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

/* One half (16 channels) of a group's sums of one pixel. `width` is the distance of pixels in
 * `acc`. */
INLINE void finish(const RknpuInt8Output *out, unsigned half, __m512i acc, unsigned pixel,
                   const unsigned width)
{
    size_t at = (size_t)pixel * RKNPU_INT8_LANES;

    if (!out->requant) {
        _mm512_storeu_si512(out->acc + (size_t)pixel * width + half * RKNPU_INT8_LANES, acc);
    } else if (out->bytes[half]) {
        requant(out->requant, out->channel + half * RKNPU_INT8_LANES, acc,
                out->operand[half] ? out->operand[half] + at : NULL, out->bytes[half] + at);
    }
}

INLINE __m512i quad(const uint8_t *p)
{
    int32_t four;

    memcpy(&four, p, sizeof(four));
    return _mm512_set1_epi32(four);
}

/* Sum of all inputs under one output pixel. */
INLINE int32_t sum_inputs(const RknpuInt8Direct *d, unsigned pixel)
{
    const __m512i ones = _mm512_set1_epi8(1);
    __m512i sum = _mm512_setzero_si512();

    for (unsigned ky = 0; ky < d->kernel_height; ky++) {
        const uint8_t *x = d->rows[ky] + pixel * d->pixel_step;

        for (unsigned kx = 0; kx < d->kernel_width; kx++, x += d->tap_step) {
            unsigned c = 0;

            for (; c + 64 <= d->depth; c += 64) {
                sum = _mm512_dpbusd_epi32(sum, ones, _mm512_loadu_si512(x + c));
            }
            if (c < d->depth) {
                __mmask64 rest = ((__mmask64)1 << (d->depth - c)) - 1;

                sum = _mm512_dpbusd_epi32(sum, ones, _mm512_maskz_loadu_epi8(rest, x + c));
            }
        }
    }
    return _mm512_reduce_add_epi32(sum);
}

INLINE void tile(const RknpuInt8Direct *d, unsigned pixel, const unsigned pixels)
{
    const size_t step = d->pixel_step;
    const uint8_t *w = d->weights;
    const __m512i surplus = _mm512_set1_epi32(128);
    const __m512i ow0 = _mm512_sub_epi32(_mm512_loadu_si512(d->ow), surplus);
    const __m512i ow1 = _mm512_sub_epi32(_mm512_loadu_si512(d->ow + 16), surplus);
    __m512i lo[TILE], hi[TILE];

#pragma GCC unroll 8
    for (unsigned p = 0; p < pixels; p++) {
        lo[p] = hi[p] = _mm512_setzero_si512();
    }
    for (unsigned ky = 0; ky < d->kernel_height; ky++) {
        const uint8_t *tap = d->rows[ky] + pixel * step;

        for (unsigned kx = 0; kx < d->kernel_width; kx++, tap += d->tap_step) {
            const uint8_t *a = tap, *b = tap + 3 * step, *c = tap + 6 * step;

            for (unsigned i = 0; i < d->depth; i += 4, a += 4, b += 4, c += 4, w += 4 * GROUP) {
                const __m512i w0 = _mm512_loadu_si512(w), w1 = _mm512_loadu_si512(w + 64);

#pragma GCC unroll 8
                for (unsigned p = 0; p < pixels; p++) {
                    const __m512i x = quad(p < 3   ? a + p * step
                                           : p < 6 ? b + (p - 3) * step
                                                   : c + (p - 6) * step);

                    lo[p] = _mm512_dpbusd_epi32(lo[p], w0, x);
                    hi[p] = _mm512_dpbusd_epi32(hi[p], w1, x);
                }
            }
        }
    }
#pragma GCC unroll 8
    for (unsigned p = 0; p < pixels; p++) {
        const __m512i sum = _mm512_set1_epi32(sum_inputs(d, pixel + p));

        finish(&d->out, 0, _mm512_add_epi32(lo[p], _mm512_mullo_epi32(sum, ow0)), pixel + p, GROUP);
        finish(&d->out, 1, _mm512_add_epi32(hi[p], _mm512_mullo_epi32(sum, ow1)), pixel + p, GROUP);
    }
}

/* Tiles of nearly equal width. */
static void direct(const RknpuInt8Direct *d)
{
    unsigned tiles = (d->pixels + TILE - 1) / TILE;

    for (unsigned pixel = 0; tiles; tiles--) {
        unsigned width = (d->pixels - pixel + tiles - 1) / tiles;

        switch (width) {
        case 8:
            tile(d, pixel, 8);
            break;
        case 7:
            tile(d, pixel, 7);
            break;
        case 6:
            tile(d, pixel, 6);
            break;
        case 5:
            tile(d, pixel, 5);
            break;
        case 4:
            tile(d, pixel, 4);
            break;
        case 3:
            tile(d, pixel, 3);
            break;
        case 2:
            tile(d, pixel, 2);
            break;
        default:
            tile(d, pixel, 1);
            break;
        }
        pixel += width;
    }
}

INLINE void depthwise_tile(const RknpuInt8Depthwise *d, unsigned pixel, const unsigned pixels)
{
    const int16_t *w = d->weights;
    __m512i acc[TILE];

#pragma GCC unroll 8
    for (unsigned p = 0; p < pixels; p++) {
        acc[p] = _mm512_setzero_si512();
    }
    for (unsigned r = 0; r < d->row_pairs; r++) {
        const uint8_t *x = (const uint8_t *)d->pairs[r] + pixel * d->pixel_step;

        for (unsigned kx = 0; kx < d->kernel_width;
             kx++, x += d->tap_step, w += 2 * RKNPU_INT8_LANES) {
            const __m512i tap = _mm512_loadu_si512(w);

#pragma GCC unroll 8
            for (unsigned p = 0; p < pixels; p++) {
                acc[p] =
                    _mm512_dpwssd_epi32(acc[p], _mm512_loadu_si512(x + p * d->pixel_step), tap);
            }
        }
    }
#pragma GCC unroll 8
    for (unsigned p = 0; p < pixels; p++) {
        finish(&d->out, 0, acc[p], pixel + p, RKNPU_INT8_LANES);
    }
}

static void depthwise(const RknpuInt8Depthwise *d)
{
    unsigned pixel = 0;

    for (; pixel + TILE <= d->pixels; pixel += TILE) {
        depthwise_tile(d, pixel, TILE);
    }
    for (; pixel < d->pixels; pixel++) {
        depthwise_tile(d, pixel, 1);
    }
}

const RknpuInt8Kernels rknpu_int8_avx512 = {
    .name = "avx512",
    .group = GROUP,
    .stage_bytes = 1,
    .stage = stage,
    .fill = fill,
    .stage_pair = stage_pair,
    .pack = pack,
    .direct = direct,
    .depthwise = depthwise,
};
