/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RK3576's packed int8 pictures for the fast paths: the picture, all its padding included, as a
 * cube of 16 channels, and the weights in the plain order. Both lie over the task's streams.
 *
 *   picture  [y][x][channel 1..4]              -> [y][x][channel 16], converted
 *   weights  [group][ky][kernel][kx 4n][ch 4]  -> [group][ky][kx][kernel][channel 16]
 *            [group][ky][kx][kernel][ch 4]
 *
 * Channels that are added hold 0 on both sides, so neither products nor sums change.
 */
#include "conv.h"

#include <glib.h>
#include <string.h>

#include "convert.h"

#define LANES       16
#define QUAD        4
#define PICTURE_MAX (64u << 20)

typedef struct Quads {
    const RknpuConv *conv;
    RknpuMem *mem;
    uint8_t value[QUAD][256]; /* of a byte of the picture */
    uint8_t *row;             /* of the picture */
    unsigned width, height;   /* of the cube */
} Quads;

static void fill_row(const Quads *q, const uint8_t *row, uint8_t *to)
{
    const RknpuConv *conv = q->conv;
    unsigned channels = conv->input.atom;

    for (unsigned column = 0; column < q->width; column++, to += LANES) {
        int64_t x = (int64_t)column - conv->pad_left;

        for (unsigned i = 0; i < channels; i++) {
            bool present = i < conv->input.channels;

            if (!row || x < 0) {
                to[i] = (uint8_t)conv->pad_bits;
            } else if (x >= (int64_t)conv->width_limit) { /* raw zeros behind the picture */
                to[i] = q->value[i][0];
            } else {
                to[i] = present ? q->value[i][row[(size_t)x * channels + i]] : 0;
            }
        }
    }
}

/* False: a read fault. */
static bool fill_picture(const Quads *q, uint8_t *to)
{
    const RknpuCube *in = &q->conv->input;
    int64_t right = (int64_t)q->width - q->conv->pad_left;
    unsigned columns = CLAMP(right, 0, (int64_t)q->conv->width_limit);

    for (unsigned line = 0; line < q->height; line++) {
        int64_t y = (int64_t)line - q->conv->pad_top;
        bool inside = y >= 0 && y < in->height;

        if (inside && columns &&
            !rknpu_mem_read(q->mem, RKNPU_STREAM_FEATURE, rknpu_cube_address(in, 0, (unsigned)y, 0),
                            q->row, (uint64_t)columns * in->pixel_bytes)) {
            return false;
        }
        fill_row(q, inside ? q->row : NULL, to + (size_t)line * q->width * LANES);
    }
    return true;
}

/* Columns that a kernel's row has in memory. */
static unsigned row_columns(const RknpuConv *conv)
{
    return conv->packed_weights == RKNPU_PACKED_WEIGHTS_QUADS
               ? (conv->kernel_width + QUAD - 1) / QUAD * QUAD
               : conv->kernel_width;
}

/* Bytes of `kernels` kernels of a group. */
static size_t group_bytes(const RknpuConv *conv, unsigned kernels)
{
    return (size_t)conv->kernel_height * row_columns(conv) * kernels * QUAD;
}

/* The four channels of a tap of kernel `k` of `kernels`. */
static size_t tap_at(const RknpuConv *conv, unsigned kernels, unsigned k, unsigned ky, unsigned kx)
{
    return conv->packed_weights == RKNPU_PACKED_WEIGHTS_QUADS
               ? (((size_t)ky * kernels + k) * row_columns(conv) + kx) * QUAD
               : (((size_t)ky * conv->kernel_width + kx) * kernels + k) * QUAD;
}

/* False: a read fault. `rows` has room for the kernels of a group. */
static bool fill_weights(const Quads *q, uint8_t *rows, uint8_t *to)
{
    const RknpuConv *conv = q->conv;
    uint32_t at = conv->weight_base;

    for (unsigned first = 0; first < conv->kernels; first += conv->kernel_group) {
        unsigned kernels = MIN(conv->kernel_group, conv->kernels - first);
        size_t bytes = group_bytes(conv, kernels);

        if (!rknpu_mem_read(q->mem, RKNPU_STREAM_WEIGHT, at, rows, bytes)) {
            return false;
        }
        at += (uint32_t)bytes;
        for (unsigned ky = 0; ky < conv->kernel_height; ky++) {
            for (unsigned kx = 0; kx < conv->kernel_width; kx++) {
                for (unsigned k = 0; k < kernels; k++, to += LANES) {
                    memcpy(to, rows + tap_at(conv, kernels, k, ky, kx), conv->input.atom);
                }
            }
        }
    }
    return true;
}

static void plain_form(const Quads *q, RknpuConv *conv)
{
    *conv = *q->conv;
    conv->input = (RknpuCube){
        .type = RKNPU_INT8,
        .width = q->width,
        .height = q->height,
        .channels = LANES,
        .atom = LANES,
        .pixel_bytes = LANES,
        .line_pitch = (int64_t)q->width * LANES,
        .group_pitch = (int64_t)q->width * LANES * 4,
        .surface_pitch = (int64_t)q->width * LANES * q->height,
    };
    conv->width_limit = q->width;
    conv->pad_left = conv->pad_top = 0;
    conv->right_pad_is_zero = false;
    conv->packed_weights = RKNPU_PACKED_WEIGHTS_PLAIN;
    conv->convert.active = false;
    conv->weight_base = 0;
    conv->tap_channels = LANES;
}

static bool shape_fits(const RknpuConvState *state, Quads *q)
{
    const RknpuConv *conv = state->conv;
    const RknpuOutput *out = &state->dpu_desc->out;

    q->width = (out->width - 1) * conv->stride_x + (conv->kernel_width - 1) * conv->dilation_x + 1;
    q->height =
        (out->height - 1) * conv->stride_y + (conv->kernel_height - 1) * conv->dilation_y + 1;
    return out->width && out->height && conv->type == RKNPU_INT8 && !conv->depthwise &&
           conv->input.pixel_bytes <= QUAD && !conv->compressed &&
           !(conv->add_ow && conv->sum_without_padding) &&
           (uint64_t)q->width * q->height * LANES <= PICTURE_MAX &&
           (uint64_t)conv->kernels * conv->kernel_width * conv->kernel_height * LANES <=
               PICTURE_MAX;
}

RknpuTaskResult rknpu_conv_quads(RknpuConvState *state, bool *taken)
{
    const RknpuConv *conv = state->conv;
    Quads q = { .conv = conv, .mem = state->job->mem };
    size_t taps = (size_t)conv->kernel_width * conv->kernel_height;
    size_t weight_bytes = conv->kernels * taps * LANES, picture_bytes;
    uint8_t *picture, *weights, *rows;
    RknpuTaskResult r = RKNPU_TASK_READ_FAULT;
    RknpuConv plain;

    *taken = false;
    if (!shape_fits(state, &q)) {
        return RKNPU_TASK_OK;
    }
    for (unsigned i = 0; i < QUAD; i++) {
        for (unsigned b = 0; b < 256; b++) {
            q.value[i][b] = (uint8_t)rknpu_input_convert(&conv->convert, i, (uint8_t)b);
        }
    }
    picture_bytes = (size_t)q.width * q.height * LANES;
    picture = g_try_malloc0(picture_bytes);
    weights = g_try_malloc0(weight_bytes);
    rows = g_try_malloc(group_bytes(conv, conv->kernel_group));
    q.row = g_try_malloc((size_t)conv->width_limit * QUAD);
    if (!picture || !weights || !rows || !q.row) {
        g_free(picture);
        g_free(weights);
    } else if (!fill_picture(&q, picture) || !fill_weights(&q, rows, weights)) {
        *taken = true;
        g_free(picture);
        g_free(weights);
    } else {
        plain_form(&q, &plain);
        rknpu_mem_overlay(q.mem, RKNPU_STREAM_FEATURE, 0, picture, picture_bytes);
        rknpu_mem_overlay(q.mem, RKNPU_STREAM_WEIGHT, 0, weights, weight_bytes);
        state->conv = &plain;
        r = rknpu_conv_int8(state, taken);
        state->conv = conv;
        rknpu_mem_overlay(q.mem, RKNPU_STREAM_FEATURE, 0, NULL, 0);
        rknpu_mem_overlay(q.mem, RKNPU_STREAM_WEIGHT, 0, NULL, 0);
        *taken |= r != RKNPU_TASK_OK;
    }
    g_free(rows);
    g_free(q.row);
    return r;
}
