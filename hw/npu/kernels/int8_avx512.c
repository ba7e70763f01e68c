/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * int8 inner loops for AVX-512 with VNNI: direct convolution. vpdpbusd multiplies unsigned by
 * signed bytes, so weights are packed with their sign bit turned (w + 128) and the surplus, 128
 * times the sum of the inputs, goes out together with the zero point term, which needs that sum
 * anyway:
 *
 *   sum(x * w) + OW * sum(x) = sum(x * (w + 128)) + (OW - 128) * sum(x)
 *
 * A tile is 32 kernels by up to 8 pixels: 16 sums, 2 weights, 1 broadcast quad of inputs.
 */
#include "int8_avx512.h"

#include <string.h>

#include "tiles.h"

/*
 * 16 kernels by 16 channels to [channel quad][kernel][4], quads 4 * GROUP bytes apart; the first
 * `quads` are wanted. Kernels from `count` on are zeros. Register i has kernel 4 * lane + i.
 */
INLINE void pack16(uint8_t *to, const uint8_t *from, size_t width, const unsigned count,
                   unsigned quads)
{
    const __m512i sign = _mm512_set1_epi8((char)0x80);
    __m512i k[4], t[4];

#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++) {
        k[i] = _mm512_setzero_si512();
#pragma GCC unroll 4
        for (unsigned lane = 0; lane < 4; lane++) {
            if (4 * lane + i < count) {
                const uint8_t *row = from + (4 * lane + i) * width;

                k[i] = _mm512_mask_broadcast_i32x4(k[i], (__mmask16)(0xf << 4 * lane),
                                                   _mm_loadu_si128((const __m128i *)row));
            }
        }
        k[i] = _mm512_xor_si512(k[i], sign);
    }
    t[0] = _mm512_unpacklo_epi32(k[0], k[1]);
    t[1] = _mm512_unpackhi_epi32(k[0], k[1]);
    t[2] = _mm512_unpacklo_epi32(k[2], k[3]);
    t[3] = _mm512_unpackhi_epi32(k[2], k[3]);
    k[0] = _mm512_unpacklo_epi64(t[0], t[2]);
    k[1] = _mm512_unpackhi_epi64(t[0], t[2]);
    k[2] = _mm512_unpacklo_epi64(t[1], t[3]);
    k[3] = _mm512_unpackhi_epi64(t[1], t[3]);
#pragma GCC unroll 4
    for (unsigned q = 0; q < 4; q++) {
        if (q < quads) {
            _mm512_storeu_si512(to + (size_t)q * 4 * GROUP, k[q]);
        }
    }
}

/*
 * 16 kernels by 32 channels that lie together, as eight registers of [kernel][4]. Before the last
 * step a register has kernels 0..7 or 8..15 of channel quads i and i + 4.
 */
INLINE void transpose32(const uint8_t *from, __m512i *quads)
{
    const __m512i sign = _mm512_set1_epi8((char)0x80);
    __m512i eight[2][4];

#pragma GCC unroll 2
    for (unsigned h = 0; h < 2; h++, from += 8 * 32) {
        __m512i k[4], t[4]; /* kernels i and i + 4 */

#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++) {
            __m512i two = _mm512_zextsi256_si512(_mm256_loadu_si256((const __m256i *)from + i));

            two = _mm512_inserti64x4(two, _mm256_loadu_si256((const __m256i *)from + 4 + i), 1);
            k[i] = _mm512_xor_si512(two, sign);
        }
        t[0] = _mm512_unpacklo_epi32(k[0], k[1]);
        t[1] = _mm512_unpackhi_epi32(k[0], k[1]);
        t[2] = _mm512_unpacklo_epi32(k[2], k[3]);
        t[3] = _mm512_unpackhi_epi32(k[2], k[3]);
        eight[h][0] = _mm512_unpacklo_epi64(t[0], t[2]);
        eight[h][1] = _mm512_unpackhi_epi64(t[0], t[2]);
        eight[h][2] = _mm512_unpacklo_epi64(t[1], t[3]);
        eight[h][3] = _mm512_unpackhi_epi64(t[1], t[3]);
    }
#pragma GCC unroll 4
    for (unsigned q = 0; q < 4; q++) {
        quads[q] = _mm512_shuffle_i64x2(eight[0][q], eight[1][q], 0x88);
        quads[q + 4] = _mm512_shuffle_i64x2(eight[0][q], eight[1][q], 0xdd);
    }
}

INLINE void pack32(uint8_t *to, const uint8_t *from)
{
    __m512i quads[8];

    transpose32(from, quads);
#pragma GCC unroll 8
    for (unsigned q = 0; q < 8; q++) {
        _mm512_storeu_si512(to + (size_t)q * 4 * GROUP, quads[q]);
    }
}

/* Packed: [tap][channel quad][kernel][4] bytes with the sign bit turned. */
static void pack(void *restrict to, const RknpuInt8Weights *w)
{
    uint8_t *packed = to;

    if (w->count == 0) {
        memset(to, 0x80, (size_t)w->taps * w->depth * GROUP);
        return;
    }
    for (unsigned t = 0; t < w->taps; t++) {
        for (unsigned c = 0, step; c < w->depth; c += step) {
            unsigned slice = c / 32;
            unsigned width = w->tap_channels - slice * 32 < 32 ? w->tap_channels - slice * 32 : 32;
            unsigned quads = w->depth - c < 16 ? (w->depth - c) / 4 : 4;
            const uint8_t *from = w->memory + (size_t)slice * 32 * w->in_memory * w->taps +
                                  ((size_t)t * w->in_memory + w->first) * width + c % 32;

            step = 16;
            if (w->count == GROUP && width == 32 && w->depth - c >= 32) {
                pack32(packed, from);
                pack32(packed + 64, from + 16 * 32);
                step = 32;
                quads = 8;
            } else {
                pack16(packed, from, width, w->count, quads);
                pack16(packed + 64, from + 16 * width, width, w->count < 16 ? 0 : w->count - 16,
                       quads);
            }
            packed += (size_t)quads * 4 * GROUP;
        }
    }
}

/* What the sum of inputs counts for: OW, less the 128 that every weight has too much. */
INLINE __m512i ow_behind_sign(const RknpuInt8Direct *d, unsigned half)
{
    return _mm512_sub_epi32(_mm512_loadu_si512(d->ow + half * RKNPU_INT8_LANES),
                            _mm512_set1_epi32(128));
}

INLINE __m512i quad(const uint8_t *p)
{
    int32_t four;

    memcpy(&four, p, sizeof(four));
    return _mm512_set1_epi32(four);
}

/* Memory that tiles fetch into the second cache while they compute, `step` bytes on each turn. */
typedef struct Fetch {
    const char *at;
    size_t step; /* asking for a line several times costs less than counting */
} Fetch;

/* NULL: nothing is to be fetched. */
INLINE void fetch_more(Fetch *fetch)
{
    if (fetch) {
        _mm_prefetch(fetch->at, _MM_HINT_T1);
        fetch->at += fetch->step;
    }
}

/* Pixels hang on few addresses: a register each would be too many. */
INLINE __m512i quad_of(const uint8_t *x, const size_t step, const unsigned p)
{
    return quad(p < 3   ? x + p * step
                : p < 6 ? x + 3 * step + (p - 3) * step
                        : x + 6 * step + (p - 6) * step);
}

/* Four channels of a tile's pixels, at `x`, with their weights. */
INLINE void multiply_quad(const uint8_t *w, const uint8_t *x, const size_t step,
                          const unsigned pixels, __m512i *lo, __m512i *hi)
{
    const __m512i w0 = _mm512_loadu_si512(w), w1 = _mm512_loadu_si512(w + 64);

#pragma GCC unroll 8
    for (unsigned p = 0; p < pixels; p++) {
        const __m512i four = quad_of(x, step, p);

        lo[p] = _mm512_dpbusd_epi32(lo[p], w0, four);
        hi[p] = _mm512_dpbusd_epi32(hi[p], w1, four);
    }
}

INLINE void start(const RknpuInt8Direct *d, unsigned pixel, const unsigned pixels, __m512i *lo,
                  __m512i *hi)
{
#pragma GCC unroll 8
    for (unsigned p = 0; p < pixels; p++) {
        const __m512i all = _mm512_set1_epi32(d->sums[pixel + p]);

        lo[p] = _mm512_mullo_epi32(all, ow_behind_sign(d, 0));
        hi[p] = _mm512_mullo_epi32(all, ow_behind_sign(d, 1));
        lo[p] = _mm512_add_epi32(lo[p], first_value(&d->out, 0));
        hi[p] = _mm512_add_epi32(hi[p], first_value(&d->out, 1));
    }
}

INLINE void tile(const RknpuInt8Direct *d, unsigned pixel, const unsigned pixels, Fetch *fetch)
{
    const size_t step = d->pixel_step;
    const uint8_t *w = d->weights;
    __m512i lo[TILE], hi[TILE];

    start(d, pixel, pixels, lo, hi);
    for (unsigned ky = 0; ky < d->kernel_height; ky++) {
        const uint8_t *tap = d->rows[ky] + pixel * step;

        for (unsigned kx = 0; kx < d->kernel_width; kx++, tap += d->tap_step) {
            for (unsigned i = 0; i < d->depth; i += 4, w += 4 * GROUP) {
                fetch_more(fetch);
                multiply_quad(w, tap + i, step, pixels, lo, hi);
            }
        }
    }
    finish(&d->out, 0, lo, pixel, pixels, GROUP);
    finish(&d->out, 1, hi, pixel, pixels, GROUP);
}

/* 16 channels of pixels that are single atoms, side by side: addresses that the compiler knows. */
INLINE void multiply_atoms(const uint8_t *w, const uint8_t *x, const unsigned pixels, __m512i *lo,
                           __m512i *hi, Fetch *fetch)
{
    fetch_more(fetch);
    fetch_more(fetch);
#pragma GCC unroll 4
    for (unsigned i = 0; i < RKNPU_INT8_LANES; i += 4, w += 4 * GROUP) {
        multiply_quad(w, x + i, RKNPU_INT8_LANES, pixels, lo, hi);
    }
}

/* Pointwise, straight from memory: d->rows are the surfaces. */
INLINE void atoms_tile(const RknpuInt8Direct *d, unsigned pixel, const unsigned pixels,
                       Fetch *fetch)
{
    const uint8_t *w = d->weights;
    __m512i lo[TILE], hi[TILE];

    start(d, pixel, pixels, lo, hi);
    for (unsigned s = 0; s < d->kernel_height; s++, w += RKNPU_INT8_LANES * GROUP) {
        multiply_atoms(w, d->rows[s] + pixel * RKNPU_INT8_LANES, pixels, lo, hi, fetch);
    }
    finish(&d->out, 0, lo, pixel, pixels, GROUP);
    finish(&d->out, 1, hi, pixel, pixels, GROUP);
}

/*
 * Under few surfaces a tile spends a fifth of its time on what follows the multiply-adds. So it is
 * four pixels wide, its sums stay in registers, and the next tile rounds and stores them between
 * its own multiply-adds. One OW for all kernels, as tasks mostly have it, makes the term of a
 * pixel's inputs one number. With more surfaces the weights leave the first cache; wide tiles read
 * them less often.
 */
#define NARROW          4
#define NARROW_SURFACES 32
#define FETCH_AT_ONCE   4096 /* bytes, so few that they are asked for before the tiles */

static bool may_be_narrow(const RknpuInt8Direct *d)
{
    const RknpuInt8Output *out = &d->out;

    for (unsigned k = 1; k < GROUP; k++) {
        if (d->ow[k] != d->ow[0]) {
            return false;
        }
    }
    if (d->pixels < NARROW || (d->pixels % NARROW && d->pixels < 16 * NARROW)) {
        return false; /* the last tile would compute too much twice */
    }
    return d->kernel_height >= 2 && d->kernel_height <= NARROW_SURFACES && is_single(out) &&
           !out->requant->truncate && out->bytes[0] && out->bytes[1];
}

INLINE void finish_four(uint8_t *to, const Single *s, const __m512i *acc)
{
    _mm512_storeu_si512(to, pack_four(round_single(s, acc[0]), round_single(s, acc[1]),
                                      round_single(s, acc[2]), round_single(s, acc[3])));
}

/* What the inputs of some pixels count for with all kernels, ready to be broadcast. */
typedef struct Terms {
    size_t first, end; /* pixels */
    int32_t value[64];
} Terms;

static inline const int32_t *terms_of(Terms *t, const RknpuInt8Direct *d, size_t pixel)
{
    const __m512i ow = _mm512_set1_epi32(d->ow[0] - 128);

    if (pixel < t->first || pixel + NARROW > t->end) {
        t->first = pixel;
        t->end = pixel + 64 < d->pixels ? pixel + 64 : d->pixels;
        for (size_t i = 0; pixel + i < t->end; i += 16) {
            const size_t left = t->end - pixel - i;
            const __mmask16 there = left < 16 ? (__mmask16)((1u << left) - 1) : 0xffff;

            _mm512_storeu_si512(
                t->value + i,
                _mm512_mullo_epi32(ow, _mm512_maskz_loadu_epi32(there, d->sums + pixel + i)));
        }
    }
    return t->value + (pixel - t->first);
}

INLINE void narrow_tiles(const RknpuInt8Direct *d, unsigned from, Fetch *fetch)
{
    const Single single = {
        .scale = _mm512_set1_ps((float)d->out.requant->scale),
        .offset = _mm512_set1_ps((float)d->out.requant->offset + RKNPU_REQUANT_MAGIC),
    };
    const __m512i first[2] = { first_value(&d->out, 0), first_value(&d->out, 1) };
    const uint8_t *const *surface = d->rows;
    const uint8_t *weights = d->weights;
    const unsigned surfaces = d->kernel_height;
    uint8_t *out[2] = { d->out.bytes[0], d->out.bytes[1] };
    const size_t pixels = d->pixels;
    Terms terms = { 0 };
    __m512i old[2][NARROW] = { 0 };
    size_t behind = (size_t)from * RKNPU_INT8_LANES; /* where the old sums belong */

    for (size_t pixel = from, end = pixel + NARROW; pixel < pixels; pixel = end, end += NARROW) {
        const uint8_t *w = weights;
        const int32_t *term;
        __m512i acc[2][NARROW];

        if (end > pixels) { /* the last tile computes some pixels again */
            pixel = pixels - NARROW;
        }
        term = terms_of(&terms, d, pixel);
#pragma GCC unroll 4
        for (unsigned p = 0; p < NARROW; p++) {
            acc[0][p] = _mm512_add_epi32(first[0], _mm512_set1_epi32(term[p]));
            acc[1][p] = _mm512_add_epi32(first[1], _mm512_set1_epi32(term[p]));
        }
#pragma GCC unroll 2
        for (unsigned half = 0; half < 2; half++, w += RKNPU_INT8_LANES * GROUP) {
            finish_four(out[half] + behind, &single, old[half]);
            multiply_atoms(w, surface[half] + pixel * RKNPU_INT8_LANES, NARROW, acc[0], acc[1],
                           fetch);
        }
        for (unsigned s = 2; s < surfaces; s++, w += RKNPU_INT8_LANES * GROUP) {
            multiply_atoms(w, surface[s] + pixel * RKNPU_INT8_LANES, NARROW, acc[0], acc[1], fetch);
        }
#pragma GCC unroll 4
        for (unsigned p = 0; p < NARROW; p++) {
            old[0][p] = acc[0][p];
            old[1][p] = acc[1][p];
        }
        behind = pixel * RKNPU_INT8_LANES;
    }
    finish_four(out[0] + behind, &single, old[0]);
    finish_four(out[1] + behind, &single, old[1]);
}

static __attribute__((noinline)) void direct_narrow(const RknpuInt8Direct *d, unsigned from)
{
    narrow_tiles(d, from, NULL);
}

static __attribute__((noinline)) void direct_narrow_fetching(const RknpuInt8Direct *d,
                                                             unsigned from, Fetch fetch)
{
    narrow_tiles(d, from, &fetch);
}

/* `turns` times one line, or more each time. */
static Fetch fetch_in(const RknpuInt8Direct *d, size_t turns)
{
    return (Fetch){ .at = (const char *)d->next, .step = d->next_bytes / turns + 1 };
}

INLINE bool is_atoms(const RknpuInt8Direct *d)
{
    return d->pixel_step == RKNPU_INT8_LANES && d->depth == RKNPU_INT8_LANES &&
           d->kernel_width == 1;
}

/* Pixels from `from` on. */
static void direct_from(const RknpuInt8Direct *d, unsigned from)
{
    const size_t tiles = (d->pixels - from + TILE - 1) / TILE;
    const size_t taps = (size_t)d->kernel_height * d->kernel_width;
    Fetch fetch;

    if (tiles == 0) {
        return;
    }
    if (!is_atoms(d)) {
        fetch = fetch_in(d, tiles * taps * d->depth / 4);
        RKNPU_FOR_TILES_FROM(from, TILE, tile, d, &fetch)
    } else if (may_be_narrow(d) && d->next_bytes <= FETCH_AT_ONCE) {
        for (size_t i = 0; i < d->next_bytes; i += 64) {
            _mm_prefetch((const char *)d->next + i, _MM_HINT_T1);
        }
        direct_narrow(d, from);
    } else if (may_be_narrow(d)) {
        direct_narrow_fetching(d, from,
                               fetch_in(d, 2 * (d->pixels - from + NARROW - 1) / NARROW * taps));
    } else {
        fetch = fetch_in(d, 2 * tiles * taps);
        RKNPU_FOR_TILES_FROM(from, TILE, atoms_tile, d, &fetch)
    }
}

static void direct(const RknpuInt8Direct *d)
{
    direct_from(d, 0);
}

/* 32 channels of a tile's pixels (16 at `x`, 16 at `x1`) with 16 kernels, packed just now. */
INLINE void multiply_and_pack(uint8_t *to, const uint8_t *from, const uint8_t *x, const uint8_t *x1,
                              const size_t step, const unsigned pixels, __m512i *acc)
{
    __m512i quads[8];

    transpose32(from, quads);
#pragma GCC unroll 8
    for (unsigned q = 0; q < 8; q++) {
        const uint8_t *four = (q < 4 ? x : x1) + q % 4 * 4;

        _mm512_storeu_si512(to + (size_t)q * 4 * GROUP, quads[q]);
#pragma GCC unroll 8
        for (unsigned p = 0; p < pixels; p++) {
            acc[p] = _mm512_dpbusd_epi32(acc[p], quads[q], quad_of(four, step, p));
        }
    }
}

/*
 * The first tile of a row packs the weights for all others. One half of the kernels after the
 * other: the sums of both and what is being packed are too much for the registers.
 */
INLINE void packing_tile(uint8_t *to, const RknpuInt8Direct *d, const RknpuInt8Weights *w,
                         const unsigned pixels, const bool atoms, Fetch *fetch)
{
    const size_t step = atoms ? RKNPU_INT8_LANES : d->pixel_step, slice = (size_t)w->taps * 32;
    __m512i acc[2][TILE];

    start(d, 0, pixels, acc[0], acc[1]);
#pragma GCC unroll 2
    for (unsigned half = 0; half < 2; half++) {
        uint8_t *packed = to + half * 64;

        for (unsigned t = 0; t < w->taps; t++) {
            const uint8_t *from = w->memory + ((size_t)t * GROUP + half * 16) * 32;
            const uint8_t *x = d->rows[t / d->kernel_width] + t % d->kernel_width * d->tap_step;

            for (unsigned c = 0; c < w->depth; c += 32) {
                fetch_more(fetch);
                fetch_more(fetch);
                multiply_and_pack(packed, from, atoms ? d->rows[c / 16] : x + c,
                                  atoms ? d->rows[c / 16 + 1] : x + c + 16, step, pixels,
                                  acc[half]);
                packed += 32 * GROUP;
                from += slice * GROUP;
            }
        }
        finish(&d->out, half, acc[half], 0, pixels, GROUP);
    }
}

static void pack_direct(void *restrict to, const RknpuInt8Direct *d, const RknpuInt8Weights *w)
{
    const unsigned tiles = (d->pixels + TILE - 1) / TILE, width = (d->pixels + tiles - 1) / tiles;
    RknpuInt8Direct left = *d;
    Fetch fetch = { .at = (const char *)d->next };

    left.next_bytes = d->next_bytes / tiles;
    fetch.step = fetch_in(&left, (size_t)w->taps * w->depth / 8).step;
    left.next += left.next_bytes;
    left.next_bytes = d->next_bytes - left.next_bytes;
    if (width == 7 && is_atoms(d)) {
        packing_tile(to, d, w, 7, true, &fetch);
    } else if (width == 8 && is_atoms(d)) {
        packing_tile(to, d, w, 8, true, &fetch);
    } else if (width == 7) {
        packing_tile(to, d, w, 7, false, &fetch);
    } else if (width == 8) {
        packing_tile(to, d, w, 8, false, &fetch);
    } else {
        pack(to, w);
        direct_from(d, 0);
        return;
    }
    direct_from(&left, width);
}

/* Sums of 16 kernels from eight registers of two kernels each. */
INLINE __m512i reduce(const __m512i *acc)
{
    const __m512i in_order =
        _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 16, 24, 17, 25, 18, 26, 19, 27);
    __m512i four[2];

#pragma GCC unroll 2
    for (unsigned i = 0; i < 2; i++, acc += 4) {
        __m512i a = _mm512_add_epi32(_mm512_unpacklo_epi32(acc[0], acc[1]),
                                     _mm512_unpackhi_epi32(acc[0], acc[1]));
        __m512i b = _mm512_add_epi32(_mm512_unpacklo_epi32(acc[2], acc[3]),
                                     _mm512_unpackhi_epi32(acc[2], acc[3]));

        a = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
        four[i] = _mm512_add_epi32(a, _mm512_shuffle_i64x2(a, a, 0xb1));
    }
    return _mm512_permutex2var_epi32(four[0], in_order, four[1]);
}

/* One pixel: a register has 32 channels of two kernels, the inputs are the same in both halves. */
INLINE void dot(const RknpuInt8Direct *d, const RknpuInt8Weights *w, unsigned pixel,
                const bool whole)
{
    const __m512i sign = _mm512_set1_epi8((char)0x80);
    const uint8_t *from = w->memory;
    __m512i acc[GROUP / 2], sums;

#pragma GCC unroll 16
    for (unsigned i = 0; i < GROUP / 2; i++) {
        acc[i] = _mm512_setzero_si512();
    }
    for (unsigned c = 0; c < d->depth; c += 32) {
        for (unsigned t = 0; t < w->taps; t++, from += (size_t)w->in_memory * 32) {
            const uint8_t *x = d->rows[t / d->kernel_width] + pixel * d->pixel_step +
                               t % d->kernel_width * d->tap_step + c;
            const __m512i both = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)x));

#pragma GCC unroll 16
            for (unsigned i = 0; i < GROUP / 2; i++) {
                unsigned left = w->count > 2 * i ? w->count - 2 * i : 0;
                __mmask16 there = whole || left > 1 ? 0xffff : left ? 0xff : 0;
                __m512i two = _mm512_maskz_loadu_epi32(there, from + i * 64);

                acc[i] = _mm512_dpbusd_epi32(acc[i], _mm512_xor_si512(two, sign), both);
            }
        }
    }
    for (unsigned half = 0; half < 2; half++) {
        sums = _mm512_mullo_epi32(_mm512_set1_epi32(d->sums[pixel]), ow_behind_sign(d, half));
        sums = _mm512_add_epi32(sums, first_value(&d->out, half));
        sums = _mm512_add_epi32(sums, reduce(acc + half * 8));
        finish(&d->out, half, &sums, pixel, 1, GROUP);
    }
}

static void direct_unpacked(const RknpuInt8Direct *d, const RknpuInt8Weights *w)
{
    for (unsigned pixel = 0; pixel < d->pixels; pixel++) {
        if (w->count == GROUP) {
            dot(d, w, pixel, true);
        } else {
            dot(d, w, pixel, false);
        }
    }
}

const RknpuInt8Kernels rknpu_int8_avx512 = {
    .name = "avx512",
    .group = GROUP,
    .stage_bytes = 1,
    .stage = rknpu_int8_avx512_stage,
    .fill = rknpu_int8_avx512_fill,
    .stage_pair = rknpu_int8_avx512_stage_pair,
    .pack = pack,
    .sum = rknpu_int8_avx512_sum,
    .sum_atoms = rknpu_int8_avx512_sum_atoms,
    .direct = direct,
    .pack_direct = pack_direct,
    .direct_unpacked = direct_unpacked,
    .depthwise = rknpu_int8_avx512_depthwise,
};
