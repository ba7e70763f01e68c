/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * int8 inner loops in plain C: what the other sets have to equal. Sums run along channels that lie
 * side by side for input and weights, which compilers turn into the host's 16-bit dot products.
 */
#include "int8.h"

#include <string.h>

#define GROUP  16
#define PIXELS 4 /* of a tile; with two kernels eight sums stay in registers */

static void stage(uint8_t *restrict to, size_t step, const uint8_t *restrict from, size_t pixels)
{
    for (size_t p = 0; p < pixels; p++, to += step, from += RKNPU_INT8_LANES) {
        int16_t wide[RKNPU_INT8_LANES];

        for (unsigned i = 0; i < RKNPU_INT8_LANES; i++) {
            wide[i] = (int8_t)from[i];
        }
        memcpy(to, wide, sizeof(wide));
    }
}

static void fill(uint8_t *to, size_t step, int8_t value, size_t pixels)
{
    for (size_t p = 0; p < pixels; p++, to += step) {
        int16_t wide[RKNPU_INT8_LANES];

        for (unsigned i = 0; i < RKNPU_INT8_LANES; i++) {
            wide[i] = value;
        }
        memcpy(to, wide, sizeof(wide));
    }
}

static void stage_pair(int16_t *restrict to, const uint8_t *restrict upper,
                       const uint8_t *restrict lower, size_t pixels)
{
    for (size_t i = 0; i < pixels * RKNPU_INT8_LANES; i++) {
        to[2 * i] = (int8_t)upper[i];
        to[2 * i + 1] = (int8_t)lower[i];
    }
}

/* One kernel's weights of one tap: they lie in memory by slices of 32 channels. */
static void pack_tap(int16_t *restrict to, const RknpuInt8Weights *w, unsigned kernel, unsigned tap)
{
    int16_t ow = (int16_t)w->ow[kernel];

    for (unsigned c = 0; c < w->depth; c += 32) {
        unsigned width = w->tap_channels - c < 32 ? w->tap_channels - c : 32;
        size_t wanted = w->depth - c < width ? w->depth - c : width;
        const uint8_t *restrict from = w->memory + (size_t)c * w->in_memory * w->taps +
                                       ((size_t)tap * w->in_memory + w->first + kernel) * width;

        for (size_t i = 0; i < wanted; i++, to++) {
            *to = (int16_t)((int8_t)from[i] + ow);
        }
    }
}

/* Packed: [kernel][tap][depth] s16. */
static void pack(void *restrict to, const RknpuInt8Weights *w)
{
    int16_t *packed = to;
    size_t taps = w->taps;

    for (unsigned k = 0; k < w->count; k++) {
        for (unsigned t = 0; t < taps; t++, packed += w->depth) {
            pack_tap(packed, w, k, t);
        }
    }
    memset(packed, 0, (GROUP - w->count) * taps * w->depth * sizeof(*packed));
}

static double round_even(double v)
{
    const double magic = 0x1.8p52; /* its last bit is worth 1: the sum rounds to an integer */

    return v + magic - magic;
}

static int32_t truncate_acc(int32_t acc, unsigned shift)
{
    return shift ? (acc + (1 << (shift - 1)) - 1 + (acc >> shift & 1)) >> shift : acc;
}

static void apply(const RknpuRequantOp *op, unsigned channel, const int8_t *operand, double *v)
{
    for (unsigned i = 0; i < RKNPU_INT8_LANES; i++) {
        switch (op->kind) {
        case RKNPU_REQUANT_ADD:
            v[i] += op->a[channel + i];
            break;
        case RKNPU_REQUANT_MUL:
            v[i] = round_even(v[i] * (v[i] >= 0 ? op->a : op->b)[channel + i]);
            break;
        case RKNPU_REQUANT_CLAMP:
            v[i] = v[i] < op->low ? op->low : v[i];
            v[i] = v[i] > op->high ? op->high : v[i];
            break;
        case RKNPU_REQUANT_EW_ADD:
            v[i] += op->sign * round_even(operand[i] * op->high + op->low);
            break;
        }
    }
}

void rknpu_requant_row(const RknpuRequant *requant, unsigned channel, const int32_t *acc,
                       size_t acc_step, const int8_t *operand, uint8_t *out, unsigned pixels)
{
    for (unsigned p = 0; p < pixels; p++, acc += acc_step, out += RKNPU_INT8_LANES) {
        double v[RKNPU_INT8_LANES];

        for (unsigned i = 0; i < RKNPU_INT8_LANES; i++) {
            v[i] = truncate_acc(acc[i], requant->truncate) + requant->bias[channel + i];
        }
        for (unsigned o = 0; o < requant->ops; o++) {
            apply(&requant->op[o], channel, operand ? operand + p * RKNPU_INT8_LANES : NULL, v);
        }
        for (unsigned i = 0; i < RKNPU_INT8_LANES; i++) {
            v[i] = round_even(v[i] * requant->scale + requant->offset);
            v[i] = v[i] < -128 ? -128 : v[i];
            v[i] = v[i] > 127 ? 127 : v[i];
        }
        for (unsigned i = 0; i < RKNPU_INT8_LANES; i++) {
            out[i] = (uint8_t)(int)v[i];
        }
    }
}

/* Hands a finished tile of [pixel][GROUP] sums on. */
static void finish(const RknpuInt8Output *out, const int32_t *acc, unsigned pixel, unsigned pixels)
{
    if (!out->requant) {
        memcpy(out->acc + (size_t)pixel * GROUP, acc, pixels * GROUP * sizeof(*acc));
    } else if (out->bytes[0]) {
        const int8_t *operand = out->operand[0] ? out->operand[0] + pixel * RKNPU_INT8_LANES : NULL;

        rknpu_requant_row(out->requant, out->channel, acc, GROUP, operand,
                          out->bytes[0] + pixel * RKNPU_INT8_LANES, pixels);
    }
}

/* Four pixels by two kernels along one run of channels. */
static void dot4x2(int32_t *sums, const int16_t *const x[PIXELS], const int16_t *w0,
                   const int16_t *w1, unsigned depth)
{
    int32_t s[8] = { 0 };

    for (unsigned i = 0; i < depth; i++) {
        s[0] += x[0][i] * w0[i];
        s[1] += x[0][i] * w1[i];
        s[2] += x[1][i] * w0[i];
        s[3] += x[1][i] * w1[i];
        s[4] += x[2][i] * w0[i];
        s[5] += x[2][i] * w1[i];
        s[6] += x[3][i] * w0[i];
        s[7] += x[3][i] * w1[i];
    }
    for (unsigned p = 0; p < PIXELS; p++) {
        sums[p * GROUP] += s[2 * p];
        sums[p * GROUP + 1] += s[2 * p + 1];
    }
}

/* The taps of a kernel row are one run of channels when they lie side by side. */
static void direct(const RknpuInt8Direct *d)
{
    size_t kernel_size = (size_t)d->kernel_height * d->kernel_width * d->depth;
    bool merge = d->tap_step == d->depth * sizeof(int16_t);
    unsigned taps = merge ? 1 : d->kernel_width;
    unsigned depth = merge ? d->kernel_width * d->depth : d->depth;
    int32_t acc[PIXELS * GROUP];

    for (unsigned p = 0; p < d->pixels; p += PIXELS) {
        unsigned pixels = d->pixels - p < PIXELS ? d->pixels - p : PIXELS;

        memset(acc, 0, sizeof(acc));
        for (unsigned t = 0; t < d->kernel_height * taps; t++) {
            const uint8_t *row = d->rows[t / taps] + t % taps * d->tap_step;
            const int16_t *w = (const int16_t *)d->weights + (size_t)t * depth;
            const int16_t *x[PIXELS];

            for (unsigned i = 0; i < PIXELS; i++) { /* lanes behind the last pixel repeat it */
                x[i] = (const int16_t *)(row + (p + (i < pixels ? i : pixels - 1)) * d->pixel_step);
            }
            for (unsigned k = 0; k < GROUP; k += 2) {
                dot4x2(acc + k, x, w + k * kernel_size, w + (k + 1) * kernel_size, depth);
            }
        }
        finish(&d->out, acc, p, pixels);
    }
}

static void depthwise_row(const RknpuInt8Depthwise *d)
{
    for (unsigned p = 0; p < d->pixels; p++) {
        int32_t acc[GROUP] = { 0 };

        for (unsigned r = 0; r < d->row_pairs; r++) {
            const uint8_t *row = (const uint8_t *)d->pairs[r] + p * d->pixel_step;

            for (unsigned kx = 0; kx < d->kernel_width; kx++) {
                const int16_t *x = (const int16_t *)(row + kx * d->tap_step);
                const int16_t *w = d->weights[0] + ((size_t)r * d->kernel_width + kx) * 2 * GROUP;

                for (unsigned c = 0; c < GROUP; c++) {
                    acc[c] += x[2 * c] * w[2 * c] + x[2 * c + 1] * w[2 * c + 1];
                }
            }
        }
        finish(&d->out, acc, p, 1);
    }
}

static void depthwise(const RknpuInt8Depthwise *d)
{
    for (RknpuInt8Depthwise left = *d; left.rows; rknpu_int8_next_row(&left)) {
        depthwise_row(&left);
    }
}

const RknpuInt8Kernels rknpu_int8_portable = {
    .name = "portable",
    .group = GROUP,
    .stage_bytes = 2,
    .stage = stage,
    .fill = fill,
    .stage_pair = stage_pair,
    .pack = pack,
    .direct = direct,
    .depthwise = depthwise,
};
