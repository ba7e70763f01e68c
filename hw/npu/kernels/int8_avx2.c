/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * int8 inner loops for AVX2. Products are 16-bit multiply-adds (vpmaddwd), which are exact; the
 * byte form (vpmaddubsw) saturates. A tile of 16 kernels by up to 6 pixels fills the registers: 12
 * sums, 2 weights, 1 broadcast pair of inputs.
 */
#include "int8.h"

#include <immintrin.h>
#include <string.h>

#include "tiles.h"

#define GROUP          16
#define TILE           6
#define DEPTHWISE_TILE 4
#define INLINE         static inline __attribute__((always_inline))

INLINE __m256i load(const void *p)
{
    return _mm256_loadu_si256(p);
}

INLINE __m256i widen(const uint8_t *p)
{
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)p));
}

static void stage(uint8_t *restrict to, size_t step, const uint8_t *restrict from, size_t pixels)
{
    for (size_t p = 0; p < pixels; p++) {
        _mm256_storeu_si256((__m256i *)(to + p * step), widen(from + p * RKNPU_INT8_LANES));
    }
}

static void fill(uint8_t *to, size_t step, int8_t value, size_t pixels)
{
    for (size_t p = 0; p < pixels; p++) {
        _mm256_storeu_si256((__m256i *)(to + p * step), _mm256_set1_epi16(value));
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

/* Eight rows of eight dwords: to[i][j] = r[j][i], rows of `to` 64 bytes apart. */
INLINE void transpose8(int16_t *to, const __m256i *r)
{
    __m256i t[8], u[8];

    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_epi32(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        u[i] = _mm256_unpacklo_epi64(t[i], t[i + 2]);
        u[i + 1] = _mm256_unpackhi_epi64(t[i], t[i + 2]);
        u[i + 2] = _mm256_unpacklo_epi64(t[i + 1], t[i + 3]);
        u[i + 3] = _mm256_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_si256((__m256i *)(to + i * 2 * GROUP),
                            _mm256_permute2x128_si256(u[i], u[i + 4], 0x20));
        _mm256_storeu_si256((__m256i *)(to + (i + 4) * 2 * GROUP),
                            _mm256_permute2x128_si256(u[i], u[i + 4], 0x31));
    }
}

/* 16 kernels by 16 channels of one tap to [channel pair][kernel][2]; rows of memory are `width`
 * bytes apart. */
INLINE void pack_block(int16_t *to, const uint8_t *from, size_t width, unsigned count,
                       const int32_t *ow)
{
    for (unsigned half = 0; half < 2; half++) {
        __m256i rows[8];

        for (unsigned i = 0; i < 8; i++) {
            unsigned k = half * 8 + i;

            rows[i] = k < count ? _mm256_add_epi16(widen(from + k * width),
                                                   _mm256_set1_epi16((int16_t)ow[k]))
                                : _mm256_setzero_si256();
        }
        transpose8(to + half * GROUP, rows);
    }
}

/* Packed: [tap][channel pair][kernel][2] s16. */
static void pack(void *restrict to, const RknpuInt8Weights *w)
{
    int16_t *packed = to;

    for (unsigned t = 0; t < w->taps; t++) {
        for (unsigned c = 0; c < w->depth; c += 16) {
            unsigned slice = c / 32;
            unsigned width = w->tap_channels - slice * 32 < 32 ? w->tap_channels - slice * 32 : 32;
            const uint8_t *from = w->memory + (size_t)slice * 32 * w->in_memory * w->taps +
                                  ((size_t)t * w->in_memory + w->first) * width + c % 32;

            if (w->depth - c < 16) {
                int16_t block[16 * GROUP];

                pack_block(block, from, width, w->count, w->ow);
                memcpy(packed, block, (w->depth - c) * GROUP * sizeof(*packed));
                packed += (w->depth - c) * GROUP;
            } else {
                pack_block(packed, from, width, w->count, w->ow);
                packed += 16 * GROUP;
            }
        }
    }
}

INLINE __m256i truncate_acc(__m256i acc, unsigned shift)
{
    __m128i s = _mm_cvtsi32_si128((int)shift);
    __m256i odd = _mm256_and_si256(_mm256_sra_epi32(acc, s), _mm256_set1_epi32(1));
    __m256i half = _mm256_set1_epi32((1 << (shift - 1)) - 1);

    return _mm256_sra_epi32(_mm256_add_epi32(acc, _mm256_add_epi32(half, odd)), s);
}

/* Four lanes of one operation; `channel` is the first one's. */
INLINE __m256d apply(const RknpuRequantOp *op, __m256d v, unsigned channel, __m128i operand)
{
    const int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

    switch (op->kind) {
    case RKNPU_REQUANT_ADD:
        return _mm256_add_pd(v, _mm256_loadu_pd(op->a + channel));
    case RKNPU_REQUANT_MUL: /* the sign bit picks the factor; -0.0 gives 0 with either */
        v = _mm256_mul_pd(v, _mm256_blendv_pd(_mm256_loadu_pd(op->a + channel),
                                              _mm256_loadu_pd(op->b + channel), v));
        return _mm256_round_pd(v, nearest);
    case RKNPU_REQUANT_CLAMP:
        return _mm256_min_pd(_mm256_max_pd(v, _mm256_set1_pd(op->low)), _mm256_set1_pd(op->high));
    case RKNPU_REQUANT_EW_ADD: {
        __m256d e = _mm256_fmadd_pd(_mm256_cvtepi32_pd(operand), _mm256_set1_pd(op->high),
                                    _mm256_set1_pd(op->low));

        return _mm256_fmadd_pd(_mm256_round_pd(e, nearest), _mm256_set1_pd(op->sign), v);
    }
    }
    return v;
}

INLINE void store_doubles(const __m256d *v, __m256d scale, __m256d offset, uint8_t *out)
{
    __m128i q[4];

#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++) {
        q[i] = _mm256_cvtpd_epi32(_mm256_fmadd_pd(v[i], scale, offset));
    }
    _mm_storeu_si128((__m128i *)out,
                     _mm_packs_epi16(_mm_packs_epi32(q[0], q[1]), _mm_packs_epi32(q[2], q[3])));
}

INLINE void to_doubles(__m256d *v, __m256i lo, __m256i hi)
{
    v[0] = _mm256_cvtepi32_pd(_mm256_castsi256_si128(lo));
    v[1] = _mm256_cvtepi32_pd(_mm256_extracti128_si256(lo, 1));
    v[2] = _mm256_cvtepi32_pd(_mm256_castsi256_si128(hi));
    v[3] = _mm256_cvtepi32_pd(_mm256_extracti128_si256(hi, 1));
}

/* 16 sums of one pixel to 16 bytes. */
static __attribute__((noinline)) void requant(const RknpuRequant *r, unsigned channel, __m256i lo,
                                              __m256i hi, const int8_t *operand, uint8_t *out)
{
    __m256d v[4];

    if (r->truncate) {
        lo = truncate_acc(lo, r->truncate);
        hi = truncate_acc(hi, r->truncate);
    }
    lo = _mm256_add_epi32(lo, load(r->bias + channel));
    hi = _mm256_add_epi32(hi, load(r->bias + channel + 8));
    to_doubles(v, lo, hi);
    for (unsigned o = 0; o < r->ops; o++) {
        for (unsigned i = 0; i < 4; i++) {
            int32_t four = 0;

            if (r->op[o].kind == RKNPU_REQUANT_EW_ADD) {
                memcpy(&four, operand + 4 * i, sizeof(four));
            }
            v[i] =
                apply(&r->op[o], v[i], channel + 4 * i, _mm_cvtepi8_epi32(_mm_cvtsi32_si128(four)));
        }
    }
    store_doubles(v, _mm256_set1_pd(r->scale), _mm256_set1_pd(r->offset), out);
}

/* RknpuRequant.single with its constants at hand. */
typedef struct Single {
    __m256 scale, offset;
    unsigned truncate; /* 0: the sums start from the bias */
    __m256i bias[2];
} Single;

/* What the sums of a half start from. */
INLINE __m256i first_value(const RknpuInt8Output *out, const Single *s, unsigned half)
{
    return out->requant && out->requant->single && !s->truncate ? s->bias[half]
                                                                : _mm256_setzero_si256();
}

INLINE __m256i round_single(const Single *s, __m256i acc, unsigned half)
{
    __m256 v;

    if (s->truncate) {
        acc = _mm256_add_epi32(truncate_acc(acc, s->truncate), s->bias[half]);
    }
    v = _mm256_cvtepi32_ps(acc);
    v = _mm256_fmadd_ps(v, s->scale, s->offset);
    return _mm256_sub_epi32(_mm256_castps_si256(v), _mm256_set1_epi32(RKNPU_REQUANT_MAGIC_BITS));
}

/* Once for all tiles: their stores could change what it is made from, for all the compiler knows.
 */
INLINE Single single_of(const RknpuInt8Output *out)
{
    const RknpuRequant *r = out->requant;

    return !r || !r->single
               ? (Single){ 0 }
               : (Single){
                     .scale = _mm256_set1_ps((float)r->scale),
                     .offset = _mm256_set1_ps((float)r->offset + RKNPU_REQUANT_MAGIC),
                     .truncate = r->truncate,
                     .bias = { load(r->bias + out->channel), load(r->bias + out->channel + 8) },
                 };
}

/* The common pipeline: two pixels are packed and stored together. */
INLINE void finish_single(const RknpuInt8Output *out, const Single *s, const __m256i *lo,
                          const __m256i *hi, unsigned pixel, const unsigned pixels)
{
    const __m256i by_pixel = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    uint8_t *to = out->bytes[0] + pixel * RKNPU_INT8_LANES;

#pragma GCC unroll 3
    for (unsigned p = 0; p < pixels; p += 2, to += 2 * RKNPU_INT8_LANES) {
        const unsigned q = p + 1 < pixels ? p + 1 : p;
        __m256i a = _mm256_packs_epi32(round_single(s, lo[p], 0), round_single(s, hi[p], 1));
        __m256i b = _mm256_packs_epi32(round_single(s, lo[q], 0), round_single(s, hi[q], 1));

        a = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(a, b), by_pixel);
        if (q > p) {
            _mm256_storeu_si256((__m256i *)to, a);
        } else {
            _mm_storeu_si128((__m128i *)to, _mm256_castsi256_si128(a));
        }
    }
}

INLINE void finish(const RknpuInt8Output *out, const Single *s, const __m256i *lo,
                   const __m256i *hi, unsigned pixel, const unsigned pixels)
{
    const RknpuRequant *r = out->requant;

    if (r && r->single) {
        finish_single(out, s, lo, hi, pixel, pixels);
        return;
    }
#pragma GCC unroll 6
    for (unsigned p = 0; p < pixels; p++) {
        size_t at = (size_t)(pixel + p) * RKNPU_INT8_LANES;

        if (r) {
            requant(r, out->channel, lo[p], hi[p], out->operand[0] ? out->operand[0] + at : NULL,
                    out->bytes[0] + at);
        } else {
            _mm256_storeu_si256((__m256i *)(out->acc + at), lo[p]);
            _mm256_storeu_si256((__m256i *)(out->acc + at + 8), hi[p]);
        }
    }
}

INLINE __m256i pair(const uint8_t *p)
{
    int32_t two;

    memcpy(&two, p, sizeof(two));
    return _mm256_set1_epi32(two);
}

/*
 * The sums of `pixels` pixels from `pixel` on. Six addresses would cost six registers: pixels 3..5
 * hang on a second base.
 */
INLINE void tile(const RknpuInt8Direct *d, unsigned pixel, const unsigned pixels, const Single *s)
{
    const size_t step = d->pixel_step;
    const int16_t *w = d->weights;
    __m256i lo[TILE], hi[TILE];

#pragma GCC unroll 6
    for (unsigned p = 0; p < pixels; p++) {
        lo[p] = first_value(&d->out, s, 0);
        hi[p] = first_value(&d->out, s, 1);
    }
    for (unsigned ky = 0; ky < d->kernel_height; ky++) {
        const uint8_t *tap = d->rows[ky] + pixel * step;

        for (unsigned kx = 0; kx < d->kernel_width; kx++, tap += d->tap_step) {
            const uint8_t *a = tap, *b = tap + 3 * step;

#pragma GCC unroll 2
            for (unsigned c = 0; c < d->depth; c += 2, a += 4, b += 4, w += 2 * GROUP) {
                const __m256i w0 = load(w), w1 = load(w + GROUP);

#pragma GCC unroll 6
                for (unsigned p = 0; p < pixels; p++) {
                    const __m256i x = pair(p < 3 ? a + p * step : b + (p - 3) * step);

                    lo[p] = _mm256_add_epi32(lo[p], _mm256_madd_epi16(x, w0));
                    hi[p] = _mm256_add_epi32(hi[p], _mm256_madd_epi16(x, w1));
                }
            }
        }
    }
    finish(&d->out, s, lo, hi, pixel, pixels);
}

static void direct(const RknpuInt8Direct *d)
{
    const Single s = single_of(&d->out);

    if (!d->out.requant || d->out.bytes[0]) {
        RKNPU_FOR_TILES(TILE, tile, d, &s)
    }
}

INLINE void depthwise_tile(const RknpuInt8Depthwise *d, unsigned pixel, const unsigned pixels,
                           const Single *s)
{
    const int16_t *w = d->weights[0];
    __m256i lo[DEPTHWISE_TILE], hi[DEPTHWISE_TILE];

#pragma GCC unroll 4
    for (unsigned p = 0; p < pixels; p++) {
        lo[p] = first_value(&d->out, s, 0);
        hi[p] = first_value(&d->out, s, 1);
    }
    for (unsigned r = 0; r < d->row_pairs; r++) {
        const uint8_t *x = (const uint8_t *)d->pairs[r] + pixel * d->pixel_step;

        for (unsigned kx = 0; kx < d->kernel_width; kx++, x += d->tap_step, w += 2 * GROUP) {
            const __m256i w0 = load(w), w1 = load(w + GROUP);

#pragma GCC unroll 4
            for (unsigned p = 0; p < pixels; p++) {
                const uint8_t *at = x + p * d->pixel_step;

                lo[p] = _mm256_add_epi32(lo[p], _mm256_madd_epi16(load(at), w0));
                hi[p] = _mm256_add_epi32(hi[p], _mm256_madd_epi16(load(at + 32), w1));
            }
        }
    }
    finish(&d->out, s, lo, hi, pixel, pixels);
}

static void depthwise(const RknpuInt8Depthwise *d)
{
    const Single s = single_of(&d->out);

    for (RknpuInt8Depthwise left = *d; left.rows; rknpu_int8_next_row(&left)) {
        RKNPU_FOR_TILES(DEPTHWISE_TILE, depthwise_tile, &left, &s)
    }
}

const RknpuInt8Kernels rknpu_int8_avx2 = {
    .name = "avx2",
    .group = GROUP,
    .stage_bytes = 2,
    .stage = stage,
    .fill = fill,
    .stage_pair = stage_pair,
    .pack = pack,
    .direct = direct,
    .depthwise = depthwise,
};
