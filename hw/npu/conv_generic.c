/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Convolution of any type and size: the definition that every fast path has to equal.
 *
 * Work goes by runs (one output atom, up to 64 pixels of a row). For each tap and each slice of
 * channels the features of the run's pixels and the weights of its kernels are loaded as values,
 * then multiplied. Memory is a fixed few hundred KiB whatever the registers say. Integer sums are
 * exact in 64 bits; floating sums are fp32 and run in the order ky, kx, slice, channel.
 */
#include "conv.h"

#include <glib.h>
#include <string.h>

#include "convert.h"

#define MAX_SLICE 32
#define MAX_COLUMNS                                                                                \
    ((RKNPU_RUN_PIXELS - 1) * 7 + 1) /* input columns under one run: stride is 3 bits */

/* Values of one kind or the other, as the task's type says. */
typedef union Value {
    int32_t i;
    float f;
} Value;

typedef struct Generic {
    RknpuConvState *state;
    const RknpuConv *conv;
    bool is_float;
    Value pad;
    Value features[RKNPU_RUN_PIXELS][MAX_SLICE];
    bool inside[RKNPU_RUN_PIXELS];
    Value weights[RKNPU_RUN_LANES][MAX_SLICE];
    int64_t sums[RKNPU_RUN_PIXELS][RKNPU_RUN_LANES]; /* of inputs; direct: lane 0 alone */
    int64_t ints[RKNPU_RUN_PIXELS * RKNPU_RUN_LANES];
    float floats[RKNPU_RUN_PIXELS * RKNPU_RUN_LANES];
    uint8_t columns[MAX_COLUMNS * 16];
    uint8_t raw[RKNPU_RUN_LANES * MAX_SLICE * 4 + 4];
} Generic;

static Value load(const Generic *g, RknpuType type, const uint8_t *from, size_t index)
{
    Value v;

    if (g->is_float) {
        v.f = rknpu_load_float(type, from, index);
    } else {
        v.i = rknpu_load_int(type, from, index);
    }
    return v;
}

/* `count` elements that start at element `first` behind the weight base, into g->raw; returns their
 * index. */
static bool read_weights(Generic *g, uint64_t first, unsigned count, size_t *index)
{
    unsigned bits = rknpu_type_bits(g->conv->weight_type);
    uint64_t first_byte = first * bits / 8;
    uint64_t end_byte = ((first + count) * bits + 7) / 8;

    *index = bits == 4 ? first % 2 : 0;
    return rknpu_mem_read(g->state->job->mem, RKNPU_STREAM_WEIGHT,
                          g->conv->weight_base + (uint32_t)first_byte, g->raw,
                          end_byte - first_byte);
}

/*
 * Coordinate in the (spread) input of an output coordinate and a tap; may be negative. A
 * deconvolution's input has a pixel only where the coordinate is a multiple of the spread.
 */
static int64_t input_at(unsigned out, unsigned stride, unsigned tap, unsigned dilation,
                        unsigned pad)
{
    return (int64_t)out * stride + (int64_t)tap * dilation - pad;
}

static Value convert_feature(const Generic *g, const uint8_t *from, unsigned lane)
{
    Value v;

    if (g->conv->convert.active) {
        v.i = rknpu_input_convert(&g->conv->convert, lane, from[lane]);
        return v;
    }
    return load(g, g->conv->type, from, lane);
}

/*
 * Fills g->features for channels [channel, channel + count) of one surface under tap (ky, kx).
 * Channels that the cube does not have are 0; places outside the picture hold the pad value in
 * every channel.
 */
static bool load_surface(Generic *g, const RknpuRun *run, unsigned ky, unsigned kx,
                         unsigned channel, unsigned count, unsigned at)
{
    static const uint8_t zeros[16];
    const RknpuConv *conv = g->conv;
    const RknpuCube *in = &conv->input;
    int64_t y = input_at(run->y, conv->stride_y, ky, conv->dilation_y, conv->pad_top);
    int64_t x0 = input_at(run->x, conv->stride_x, kx, conv->dilation_x, conv->pad_left);
    int64_t x1 = x0 + (int64_t)(run->pixels - 1) * conv->stride_x;
    int64_t first = (MAX(x0, 0) + conv->spread_x - 1) / conv->spread_x;
    int64_t last = MIN(x1 < 0 ? -1 : x1 / conv->spread_x, (int64_t)conv->width_limit - 1);
    bool on_row = y >= 0 && y % conv->spread_y == 0 && y / conv->spread_y < in->height;
    bool row_inside = on_row && first <= last;
    unsigned surface = channel / in->atom;
    bool present = channel < in->channels && (in->pixel_bytes == 16 || surface == 0);

    if (row_inside && present &&
        !rknpu_mem_read(
            g->state->job->mem, RKNPU_STREAM_FEATURE,
            rknpu_cube_address(in, surface, (unsigned)(y / conv->spread_y), (unsigned)first),
            g->columns, (uint64_t)(last - first + 1) * in->pixel_bytes)) {
        return false;
    }
    for (unsigned p = 0; p < run->pixels; p++) {
        int64_t spread = x0 + (int64_t)p * conv->stride_x;
        int64_t x = spread / conv->spread_x;
        const uint8_t *pixel = g->columns + (x - first) * in->pixel_bytes;
        bool right =
            conv->right_pad_is_zero && spread >= 0 && x >= (int64_t)conv->width_limit && on_row;

        g->inside[p] =
            row_inside && spread >= 0 && spread % conv->spread_x == 0 && x >= first && x <= last;
        for (unsigned i = 0; i < count; i++) {
            Value *v = &g->features[p][at + i];

            if (right) {
                *v = convert_feature(g, zeros, channel % in->atom + i);
            } else if (!g->inside[p]) {
                *v = g->pad;
            } else if (present && channel + i < in->channels) {
                *v = convert_feature(g, pixel, channel % in->atom + i);
            } else {
                memset(v, 0, sizeof(*v));
            }
        }
    }
    return true;
}

/* Channels [channel, channel + count), surface by surface. */
static bool load_features(Generic *g, const RknpuRun *run, unsigned ky, unsigned kx,
                          unsigned channel, unsigned count)
{
    for (unsigned at = 0; at < count;) {
        unsigned left = g->conv->input.atom - (channel + at) % g->conv->input.atom;
        unsigned n = MIN(left, count - at);

        if (!load_surface(g, run, ky, kx, channel + at, n, at)) {
            return false;
        }
        at += n;
    }
    return true;
}

/* acc[pixel][lane] += dot(features, weights); sums[pixel] += sum(features). */
static void multiply_direct(Generic *g, const RknpuRun *run, unsigned lanes, unsigned count)
{
    for (unsigned p = 0; p < run->pixels; p++) {
        const Value *f = g->features[p];

        for (unsigned l = 0; l < lanes; l++) {
            const Value *w = g->weights[l];
            unsigned at = p * run->lanes + l;

            if (g->is_float) {
                for (unsigned i = 0; i < count; i++) {
                    g->floats[at] += f[i].f * w[i].f;
                }
            } else {
                int64_t acc = 0;

                for (unsigned i = 0; i < count; i++) {
                    acc += (int64_t)f[i].i * w[i].i;
                }
                g->ints[at] += acc;
            }
        }
        if (!g->is_float && (g->inside[p] || !g->conv->sum_without_padding)) {
            for (unsigned i = 0; i < count; i++) {
                g->sums[p][0] += f[i].i;
            }
        }
    }
}

/*
 * Weights of packed pixels: four channels of a tap lie together. In quads the taps of a row follow
 * for each kernel, [ky][kernel][kx], their number a multiple of four; else each tap has all
 * kernels, [ky][kx][kernel].
 */
static bool load_packed_weights(Generic *g, const RknpuRun *run, unsigned lanes, unsigned ky,
                                unsigned kx)
{
    const RknpuConv *conv = g->conv;
    bool quads = conv->packed_weights == RKNPU_PACKED_WEIGHTS_QUADS;
    unsigned group = run->channel / conv->kernel_group;
    unsigned in_group = MIN(conv->kernel_group, conv->kernels - group * conv->kernel_group);
    unsigned pitch = quads ? (conv->kernel_width + 3) / 4 * 16 : 4; /* of a kernel */
    unsigned rows = conv->kernel_height * (quads ? 1 : conv->kernel_width);
    unsigned row = quads ? ky : ky * conv->kernel_width + kx;
    uint64_t base = (uint64_t)group * conv->kernel_group * rows + (uint64_t)row * in_group +
                    run->channel % conv->kernel_group;
    size_t index;

    if (!read_weights(g, base * pitch, lanes * pitch, &index)) {
        return false;
    }
    index += quads ? kx * 4 : 0;
    for (unsigned l = 0; l < lanes; l++) {
        for (unsigned i = 0; i < conv->tap_channels; i++) {
            g->weights[l][i] = load(g, conv->weight_type, g->raw, index + l * pitch + i);
        }
    }
    return true;
}

/* Loads the weights of the run's kernels for one tap and slice: `count` channels each. */
static bool load_direct_weights(Generic *g, const RknpuRun *run, unsigned lanes, unsigned ky,
                                unsigned kx, unsigned slice, unsigned count)
{
    const RknpuConv *conv = g->conv;
    unsigned group = run->channel / conv->kernel_group;
    unsigned in_group = MIN(conv->kernel_group, conv->kernels - group * conv->kernel_group);
    uint64_t taps = (uint64_t)conv->kernel_width * conv->kernel_height;
    uint64_t tap = (uint64_t)ky * conv->kernel_width + kx;
    uint64_t base = (uint64_t)group * conv->kernel_group * conv->tap_channels * taps +
                    (uint64_t)slice * conv->slice * in_group * taps + tap * in_group * count;
    size_t index;

    base += (uint64_t)(run->channel % conv->kernel_group) * count;
    if (conv->packed_weights != RKNPU_PACKED_WEIGHTS_PLAIN) {
        return load_packed_weights(g, run, lanes, ky, kx);
    }
    if (!read_weights(g, base, lanes * count, &index)) {
        return false;
    }
    for (unsigned l = 0; l < lanes; l++) {
        for (unsigned i = 0; i < count; i++) {
            g->weights[l][i] = load(g, conv->weight_type, g->raw, index + l * count + i);
        }
    }
    return true;
}

static bool accumulate_direct(Generic *g, const RknpuRun *run)
{
    const RknpuConv *conv = g->conv;
    unsigned lanes =
        run->channel < conv->kernels ? MIN(run->lanes, conv->kernels - run->channel) : 0;
    unsigned slices = (conv->tap_channels + conv->slice - 1) / conv->slice;

    for (unsigned ky = 0; lanes && ky < conv->kernel_height; ky++) {
        for (unsigned kx = 0; kx < conv->kernel_width; kx++) {
            for (unsigned s = 0; s < slices; s++) {
                unsigned count = MIN(conv->slice, conv->tap_channels - s * conv->slice);

                if (!load_direct_weights(g, run, lanes, ky, kx, s, count) ||
                    !load_features(g, run, ky, kx, s * conv->slice, count)) {
                    return false;
                }
                multiply_direct(g, run, lanes, count);
            }
            if (rknpu_cancelled(g->state->job)) {
                return true;
            }
        }
    }
    return true;
}

/* Weights of the run's channels at one tap of a depthwise kernel, one per lane. */
static bool load_depthwise_weights(Generic *g, const RknpuRun *run, unsigned lanes, unsigned ky,
                                   unsigned kx)
{
    const RknpuConv *conv = g->conv;
    unsigned groups = (conv->tap_channels + conv->kernel_group - 1) / conv->kernel_group;
    unsigned group = run->channel / conv->kernel_group;
    unsigned pitch = group < groups - 1 ? conv->kernel_group : conv->last_pitch;
    unsigned in_group = run->channel % conv->kernel_group;
    uint64_t tap = (uint64_t)ky * conv->kernel_width + kx;
    uint64_t group_size = (uint64_t)conv->kernel_group * conv->kernel_width * conv->kernel_height;
    size_t index;

    if (conv->depthwise_order == RKNPU_DW_ORDER_PLAIN) {
        if (!read_weights(g, group * group_size + tap * pitch + in_group, lanes, &index)) {
            return false;
        }
        for (unsigned l = 0; l < lanes; l++) {
            g->weights[l][0] = load(g, conv->weight_type, g->raw, index + l);
        }
        return true;
    }
    if (conv->type != RKNPU_INT8) { /* each weight beside its negated zero point */
        if (!read_weights(g, 2 * (group * group_size + tap * pitch + in_group), 2 * lanes,
                          &index)) {
            return false;
        }
        for (unsigned l = 0; l < lanes; l++) {
            g->weights[l][0].i = rknpu_load_int(conv->type, g->raw, 2 * l) +
                                 rknpu_load_int(conv->type, g->raw, 2 * l + 1);
        }
        return true;
    }
    /* Pairs of channels: two weights, then their two negated zero points. */
    pitch = (pitch + 1) / 2 * 4;
    if (!read_weights(g, group * group_size * 2 + tap * pitch + in_group * 2, (lanes + 1) / 2 * 4,
                      &index)) {
        return false;
    }
    for (unsigned l = 0; l < lanes; l++) {
        const uint8_t *pair = g->raw + l / 2 * 4 + l % 2;

        g->weights[l][0].i = (int8_t)pair[0] + rknpu_minus_zero_point(pair[2]);
    }
    return true;
}

static void multiply_depthwise(Generic *g, const RknpuRun *run, unsigned lanes)
{
    for (unsigned p = 0; p < run->pixels; p++) {
        for (unsigned l = 0; l < lanes; l++) {
            Value f = g->features[p][l];
            unsigned at = p * run->lanes + l;

            if (g->is_float) {
                g->floats[at] += f.f * g->weights[l][0].f;
                continue;
            }
            g->ints[at] += (int64_t)f.i * g->weights[l][0].i;
            if (g->inside[p] || !g->conv->sum_without_padding) {
                g->sums[p][l] += f.i;
            }
        }
    }
}

/* Output channel k sees input channel k alone; channels that the input or the weights lack give 0.
 */
static bool accumulate_depthwise(Generic *g, const RknpuRun *run)
{
    const RknpuConv *conv = g->conv;
    unsigned groups = (conv->tap_channels + conv->kernel_group - 1) / conv->kernel_group;
    unsigned limit = MIN(conv->input.channels, groups * conv->kernel_group);
    unsigned lanes = run->channel < limit ? MIN(run->lanes, limit - run->channel) : 0;

    for (unsigned ky = 0; lanes && ky < conv->kernel_height; ky++) {
        for (unsigned kx = 0; kx < conv->kernel_width; kx++) {
            if (!load_depthwise_weights(g, run, lanes, ky, kx) ||
                !load_features(g, run, ky, kx, run->channel, lanes)) {
                return false;
            }
            multiply_depthwise(g, run, lanes);
        }
    }
    return true;
}

/* OW term, CLIP_TRUNCATE and the accumulator's saturation, in this order. */
static void finish_accumulators(Generic *g, const RknpuRun *run)
{
    const RknpuConv *conv = g->conv;

    for (unsigned i = 0; i < run->pixels * run->lanes; i++) {
        unsigned lane = i % run->lanes;
        int64_t sum = g->sums[i / run->lanes][conv->depthwise ? lane : 0];
        int64_t v = g->ints[i];

        /* Kernels that do not exist have no sum either. */
        if (conv->add_ow && (conv->depthwise || run->channel + lane < conv->kernels)) {
            v += rknpu_conv_ow(g->state, run->channel + lane) * sum;
        }
        v = rknpu_round_shift(v, conv->truncate, conv->truncate_round);
        g->ints[i] = conv->type == RKNPU_INT8 ? CLAMP(v, INT32_MIN, INT32_MAX) : v;
    }
}

static RknpuTaskResult compute_run(Generic *g, const RknpuRun *run)
{
    unsigned count = run->pixels * run->lanes;

    memset(g->ints, 0, count * sizeof(g->ints[0]));
    memset(g->floats, 0, count * sizeof(g->floats[0]));
    memset(g->sums, 0, run->pixels * sizeof(g->sums[0]));
    if (!(g->conv->depthwise ? accumulate_depthwise(g, run) : accumulate_direct(g, run))) {
        return RKNPU_TASK_READ_FAULT;
    }
    if (g->is_float) {
        return rknpu_dpu_float(g->state->dpu, run, g->floats);
    }
    finish_accumulators(g, run);
    return rknpu_dpu_int(g->state->dpu, run, g->ints);
}

static RknpuTaskResult compute_row(Generic *g, unsigned y)
{
    const RknpuOutput *out = &g->state->dpu_desc->out;

    for (unsigned channel = 0; channel < out->channels; channel += out->atom) {
        for (unsigned x = 0; x < out->width; x += RKNPU_RUN_PIXELS) {
            RknpuRun run = {
                .channel = channel,
                .lanes = MIN(out->atom, out->channels - channel),
                .y = y,
                .x = x,
                .pixels = MIN(RKNPU_RUN_PIXELS, out->width - x),
            };
            RknpuTaskResult r;

            if (rknpu_cancelled(g->state->job)) {
                return RKNPU_TASK_CANCELLED;
            }
            r = compute_run(g, &run);
            if (r != RKNPU_TASK_OK) {
                return r;
            }
        }
    }
    return RKNPU_TASK_OK;
}

/* PAD_CON1 as a value: int8 takes the low byte, 16-bit types the low half word. */
static Value pad_value(const Generic *g)
{
    uint8_t bits[4] = { (uint8_t)g->conv->pad_bits, (uint8_t)(g->conv->pad_bits >> 8) };

    return load(g, g->conv->type, bits, 0);
}

RknpuTaskResult rknpu_conv_generic(RknpuConvState *state)
{
    Generic *g = g_new0(Generic, 1);
    RknpuTaskResult r = RKNPU_TASK_OK;

    g->state = state;
    g->conv = state->conv;
    g->is_float = rknpu_type_is_float(state->conv->type);
    g->pad = pad_value(g);
    for (unsigned y = 0; r == RKNPU_TASK_OK && y < state->dpu_desc->out.height; y++) {
        r = compute_row(g, y);
    }
    g_free(g);
    return r;
}
