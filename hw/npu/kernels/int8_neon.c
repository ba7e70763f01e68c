/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * int8 inner loops for AArch64. Weights are 16 bits wide with OW added; one input channel of a
 * pixel multiplies 16 kernels at a time (smlal by lane). A tile is 16 kernels by up to 4 pixels.
 */
#include "int8.h"

#include <arm_neon.h>
#include <string.h>

#include "tiles.h"

#define GROUP  16
#define TILE   4
#define INLINE static inline __attribute__((always_inline))

static void stage(uint8_t *restrict to, size_t step, const uint8_t *restrict from, size_t pixels)
{
    for (size_t p = 0; p < pixels; p++) {
        int8x16_t v = vld1q_s8((const int8_t *)from + p * RKNPU_INT8_LANES);
        int16_t *wide = (int16_t *)(to + p * step);

        vst1q_s16(wide, vmovl_s8(vget_low_s8(v)));
        vst1q_s16(wide + 8, vmovl_s8(vget_high_s8(v)));
    }
}

static void fill(uint8_t *to, size_t step, int8_t value, size_t pixels)
{
    for (size_t p = 0; p < pixels; p++) {
        int16_t *wide = (int16_t *)(to + p * step);

        vst1q_s16(wide, vdupq_n_s16(value));
        vst1q_s16(wide + 8, vdupq_n_s16(value));
    }
}

static void stage_pair(int16_t *restrict to, const uint8_t *restrict upper,
                       const uint8_t *restrict lower, size_t pixels)
{
    for (size_t p = 0; p < pixels; p++, to += 2 * RKNPU_INT8_LANES) {
        int8x16_t u = vld1q_s8((const int8_t *)upper + p * RKNPU_INT8_LANES);
        int8x16_t l = vld1q_s8((const int8_t *)lower + p * RKNPU_INT8_LANES);
        int16x8x2_t lo = { { vmovl_s8(vget_low_s8(u)), vmovl_s8(vget_low_s8(l)) } };
        int16x8x2_t hi = { { vmovl_s8(vget_high_s8(u)), vmovl_s8(vget_high_s8(l)) } };

        vst2q_s16(to, lo);
        vst2q_s16(to + RKNPU_INT8_LANES, hi);
    }
}

/* Packed: [tap][channel][kernel] s16. */
static void pack(void *restrict to, const RknpuInt8Weights *w)
{
    int16_t *packed = to;

    for (unsigned t = 0; t < w->taps; t++) {
        for (unsigned c = 0; c < w->depth; c++, packed += GROUP) {
            unsigned slice = c / 32;
            unsigned width = w->tap_channels - slice * 32 < 32 ? w->tap_channels - slice * 32 : 32;
            const uint8_t *from = w->memory + (size_t)slice * 32 * w->in_memory * w->taps +
                                  ((size_t)t * w->in_memory + w->first) * width + c % 32;

            for (unsigned k = 0; k < GROUP; k++) {
                packed[k] =
                    k < w->count ? (int16_t)((int8_t)from[(size_t)k * width] + w->ow[k]) : 0;
            }
        }
    }
}

INLINE int32x4_t truncate_acc(int32x4_t acc, unsigned shift)
{
    int32x4_t down = vdupq_n_s32(-(int)shift);
    int32x4_t odd = vandq_s32(vshlq_s32(acc, down), vdupq_n_s32(1));
    int32x4_t half = vdupq_n_s32((1 << (shift - 1)) - 1);

    return vshlq_s32(vaddq_s32(acc, vaddq_s32(half, odd)), down);
}

/* Two lanes of one operation; `channel` is the first one's. */
INLINE float64x2_t apply(const RknpuRequantOp *op, float64x2_t v, unsigned channel,
                         const int8_t *operand)
{
    switch (op->kind) {
    case RKNPU_REQUANT_ADD:
        return vaddq_f64(v, vld1q_f64(op->a + channel));
    case RKNPU_REQUANT_MUL:
        return vrndnq_f64(vmulq_f64(
            v, vbslq_f64(vcltzq_f64(v), vld1q_f64(op->b + channel), vld1q_f64(op->a + channel))));
    case RKNPU_REQUANT_CLAMP:
        return vminq_f64(vmaxq_f64(v, vdupq_n_f64(op->low)), vdupq_n_f64(op->high));
    case RKNPU_REQUANT_EW_ADD: {
        float64x2_t e = { operand[0], operand[1] };

        e = vrndnq_f64(vfmaq_f64(vdupq_n_f64(op->low), e, vdupq_n_f64(op->high)));
        return vfmaq_f64(v, e, vdupq_n_f64(op->sign));
    }
    }
    return v;
}

/* Four sums of one pixel to four values within 32 bits. */
INLINE int32x4_t requant4(const RknpuRequant *r, unsigned channel, int32x4_t acc,
                          const int8_t *operand)
{
    const float64x2_t scale = vdupq_n_f64(r->scale), offset = vdupq_n_f64(r->offset);
    float64x2_t lo, hi;

    if (r->truncate) {
        acc = truncate_acc(acc, r->truncate);
    }
    acc = vaddq_s32(acc, vld1q_s32(r->bias + channel));
    lo = vcvtq_f64_s64(vmovl_s32(vget_low_s32(acc)));
    hi = vcvtq_f64_s64(vmovl_s32(vget_high_s32(acc)));
    for (unsigned o = 0; o < r->ops; o++) {
        lo = apply(&r->op[o], lo, channel, operand);
        hi = apply(&r->op[o], hi, channel + 2, operand ? operand + 2 : NULL);
    }
    return vcombine_s32(vqmovn_s64(vcvtnq_s64_f64(vfmaq_f64(offset, lo, scale))),
                        vqmovn_s64(vcvtnq_s64_f64(vfmaq_f64(offset, hi, scale))));
}

/* 16 sums of one pixel to where the output wants them. */
INLINE void finish(const RknpuInt8Output *out, const int32x4_t *acc, unsigned pixel)
{
    size_t at = (size_t)pixel * RKNPU_INT8_LANES;
    int32x4_t q[4];

    if (!out->requant) {
        for (unsigned i = 0; i < 4; i++) {
            vst1q_s32(out->acc + at + 4 * i, acc[i]);
        }
        return;
    }
    if (!out->bytes[0]) {
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        q[i] = requant4(out->requant, out->channel + 4 * i, acc[i],
                        out->operand[0] ? out->operand[0] + at + 4 * i : NULL);
    }
    vst1q_s8((int8_t *)out->bytes[0] + at,
             vcombine_s8(vqmovn_s16(vcombine_s16(vqmovn_s32(q[0]), vqmovn_s32(q[1]))),
                         vqmovn_s16(vcombine_s16(vqmovn_s32(q[2]), vqmovn_s32(q[3])))));
}

/* One channel of a pixel times 16 kernels. */
#define LANE(acc, w0, w1, x, lane)                                                                 \
    do {                                                                                           \
        (acc)[0] = vmlal_lane_s16((acc)[0], vget_low_s16(w0), x, lane);                            \
        (acc)[1] = vmlal_lane_s16((acc)[1], vget_high_s16(w0), x, lane);                           \
        (acc)[2] = vmlal_lane_s16((acc)[2], vget_low_s16(w1), x, lane);                            \
        (acc)[3] = vmlal_lane_s16((acc)[3], vget_high_s16(w1), x, lane);                           \
    } while (0)

INLINE void tile(const RknpuInt8Direct *d, unsigned pixel, const unsigned pixels)
{
    const int16_t *w = d->weights;
    int32x4_t acc[TILE][4];

#pragma GCC unroll 4
    for (unsigned p = 0; p < pixels; p++) {
        acc[p][0] = acc[p][1] = acc[p][2] = acc[p][3] = vdupq_n_s32(0);
    }
    for (unsigned ky = 0; ky < d->kernel_height; ky++) {
        const uint8_t *tap = d->rows[ky] + pixel * d->pixel_step;

        for (unsigned kx = 0; kx < d->kernel_width; kx++, tap += d->tap_step) {
            for (unsigned c = 0; c < d->depth; c += 4, w += 4 * GROUP) {
                int16x4_t x[TILE];

#pragma GCC unroll 4
                for (unsigned p = 0; p < pixels; p++) {
                    x[p] = vld1_s16((const int16_t *)(tap + p * d->pixel_step) + c);
                }
#define CHANNEL(lane)                                                                              \
    do {                                                                                           \
        const int16x8_t w0 = vld1q_s16(w + (lane)*GROUP), w1 = vld1q_s16(w + (lane)*GROUP + 8);    \
        _Pragma("GCC unroll 4") for (unsigned p = 0; p < pixels; p++)                              \
        {                                                                                          \
            LANE(acc[p], w0, w1, x[p], lane);                                                      \
        }                                                                                          \
    } while (0)
                CHANNEL(0);
                CHANNEL(1);
                CHANNEL(2);
                CHANNEL(3);
#undef CHANNEL
            }
        }
    }
#pragma GCC unroll 4
    for (unsigned p = 0; p < pixels; p++) {
        finish(&d->out, acc[p], pixel + p);
    }
}

static void direct(const RknpuInt8Direct *d)
{
    RKNPU_FOR_TILES(TILE, tile, d)
}

static void depthwise_row(const RknpuInt8Depthwise *d)
{
    for (unsigned pixel = 0; pixel < d->pixels; pixel++) {
        const int16_t *w = d->weights[0];
        int32x4_t acc[4] = { vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0) };

        for (unsigned r = 0; r < d->row_pairs; r++) {
            const uint8_t *x = (const uint8_t *)d->pairs[r] + pixel * d->pixel_step;

            for (unsigned kx = 0; kx < d->kernel_width; kx++, x += d->tap_step, w += 2 * GROUP) {
                for (unsigned i = 0; i < 4; i++) { /* four channels, two rows each */
                    int16x8_t v = vld1q_s16((const int16_t *)x + 8 * i), t = vld1q_s16(w + 8 * i);

                    acc[i] = vaddq_s32(acc[i],
                                       vpaddq_s32(vmull_s16(vget_low_s16(v), vget_low_s16(t)),
                                                  vmull_s16(vget_high_s16(v), vget_high_s16(t))));
                }
            }
        }
        finish(&d->out, acc, pixel);
    }
}

static void depthwise(const RknpuInt8Depthwise *d)
{
    for (RknpuInt8Depthwise left = *d; left.rows; rknpu_int8_next_row(&left)) {
        depthwise_row(&left);
    }
}

const RknpuInt8Kernels rknpu_int8_neon = {
    .name = "neon",
    .group = GROUP,
    .stage_bytes = 2,
    .stage = stage,
    .fill = fill,
    .stage_pair = stage_pair,
    .pack = pack,
    .direct = direct,
    .depthwise = depthwise,
};
