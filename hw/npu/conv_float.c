/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Floating convolutions: fp16, bf16 and tf32 operands, fp32 sums in the order taps (ky, kx),
 * channels.
 *
 *   block of output pixels       gathered once: [pixel][ky][kx][channel] fp32          (features)
 *     panel of 16 kernels        repacked once a block: [ky][kx][channel][16] fp32     (weights)
 *       piece of the sum         short enough that its weights stay in the first cache
 *         a few pixels           kernels->dot_fp16()
 *     DPU                        runs of the panel's 16 output channels
 *
 * Blocks are as large as fits a few MiB, so ordinary layers are one block and every operand is
 * converted once. A sum that is cut into pieces continues in its accumulator: the order stays.
 */
#include "conv_float.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "conv_int8.h"
#include "kernels/isa.h"
#include "scratch.h"

enum {
    LANES = RKNPU_FLOAT_LANES,
    DEPTH_MAX = 1 << 20,    /* values of a kernel; sixteen of them are 64 MiB */
    BLOCK_FLOATS = 1 << 20, /* features of one block, if more than one pixel fits */
    BLOCK_PIXELS = 1024,
    PIECE = 256,           /* length of a piece of the sum: 16 KiB of weights */
    VIEWS_MAX = 256 << 20, /* bytes of the feature cube that may be held at once */
};

typedef struct FloatConv {
    RknpuJob *job;
    const RknpuConv *conv;
    const RknpuOutput *out;
    const RknpuFloatKernels *kernels;
    RknpuDpuState *dpu;
    const uint8_t **surfaces; /* all rows of each, or NULL: pixels are fetched one by one */
    unsigned surface_count;
    int64_t low;        /* first byte of a surface's view, counted from its first pixel */
    bool plain;         /* the DPU only stores */
    RknpuLayout layout; /* of the output */
    uint8_t *lines;     /* RKNPU_LAYOUT_LINES: the block's rows */
    unsigned channels;  /* with both a feature and a weight */
    unsigned taps;
    size_t depth;   /* products of one sum: taps * tap_channels */
    size_t stride;  /* of a pixel in `a`; off the power of two, for the cache */
    unsigned block; /* pixels */
    float pad;
    float *a, *b, *acc;
    uint8_t *slice; /* weights of one slice as they lie in memory */
} FloatConv;

static float element(RknpuType type, uint16_t bits)
{
    uint8_t bytes[4] = { (uint8_t)bits, (uint8_t)(bits >> 8) };

    return rknpu_load_float(type, bytes, 0);
}

/* First and last byte of a surface's rows, relative to the surface's first pixel. */
static void surface_extent(const RknpuConv *conv, int64_t *low, int64_t *high)
{
    const RknpuCube *in = &conv->input;

    *low = *high = 0;
    for (unsigned y = 0; y < in->height; y++) {
        int64_t at = (y / 4) * in->group_pitch + (y % 4) * in->line_pitch;

        *low = MIN(*low, at);
        *high = MAX(*high, at);
    }
    *high += (int64_t)conv->width_limit * in->pixel_bytes;
}

static bool open_surfaces(FloatConv *f)
{
    const RknpuCube *in = &f->conv->input;
    int64_t high;

    f->surface_count = (f->channels + in->atom - 1) / in->atom;
    f->surfaces = g_new0(const uint8_t *, f->surface_count);
    surface_extent(f->conv, &f->low, &high);
    /* Wild pitches: fetch pixel by pixel. */
    if (high - f->low > (int64_t)MIN(VIEWS_MAX / f->surface_count, RKNPU_VIEW_MAX)) {
        return true;
    }
    for (unsigned s = 0; s < f->surface_count; s++) {
        uint32_t first = rknpu_cube_address(in, s, 0, 0) + (uint32_t)f->low;

        f->surfaces[s] =
            rknpu_mem_view(f->job->mem, RKNPU_STREAM_FEATURE, first, (uint64_t)(high - f->low));
        if (!f->surfaces[s]) {
            return false;
        }
    }
    return true;
}

/* Pixel (y, x) of surface s, `offset` bytes into its view; `spare` serves when it has none. NULL =
 * fault. */
static const uint8_t *pixel_at(const FloatConv *f, unsigned s, unsigned y, unsigned x,
                               int64_t offset, uint8_t *spare)
{
    const RknpuCube *in = &f->conv->input;

    if (f->surfaces[s]) {
        return f->surfaces[s] + offset;
    }
    return rknpu_mem_read(f->job->mem, RKNPU_STREAM_FEATURE, rknpu_cube_address(in, s, y, x), spare,
                          in->pixel_bytes)
               ? spare
               : NULL;
}

static void load_row(const FloatConv *f, float *to, const uint8_t *from, unsigned n)
{
    if (f->conv->type == RKNPU_FP16) {
        f->kernels->load_fp16(to, from, n);
    } else {
        rknpu_load_float_row(f->conv->type, to, from, n);
    }
}

/* The channels [first, first + count) that one tap of one output pixel sees. */
static bool gather_tap(const FloatConv *f, float *to, int64_t iy, int64_t ix, unsigned first,
                       unsigned count)
{
    const RknpuCube *in = &f->conv->input;
    unsigned there = first < f->channels ? MIN(count, f->channels - first) : 0;
    int64_t offset =
        iy / 4 * in->group_pitch + iy % 4 * in->line_pitch + ix * in->pixel_bytes - f->low;
    uint8_t spare[16];

    if (iy < 0 || iy >= in->height || ix < 0 || ix >= f->conv->width_limit) {
        for (unsigned c = 0; c < count; c++) {
            to[c] = f->pad;
        }
        return true;
    }
    for (unsigned c = 0; c < there; c += in->atom) {
        const uint8_t *from =
            pixel_at(f, (first + c) / in->atom, (unsigned)iy, (unsigned)ix, offset, spare);

        if (!from) {
            return false;
        }
        load_row(f, to + c, from, MIN(in->atom, there - c));
    }
    memset(to + there, 0, (count - there) * sizeof(*to));
    return true;
}

/* One output pixel's inputs: [tap][count]. */
static bool gather_pixel(const FloatConv *f, float *to, unsigned pixel, unsigned first,
                         unsigned count)
{
    const RknpuConv *conv = f->conv;
    int64_t top = (int64_t)(pixel / f->out->width) * conv->stride_y - conv->pad_top;
    int64_t left = (int64_t)(pixel % f->out->width) * conv->stride_x - conv->pad_left;

    for (unsigned ky = 0; ky < conv->kernel_height; ky++) {
        for (unsigned kx = 0; kx < conv->kernel_width; kx++, to += count) {
            if (!gather_tap(f, to, top + (int64_t)ky * conv->dilation_y,
                            left + (int64_t)kx * conv->dilation_x, first, count)) {
                return false;
            }
        }
    }
    return true;
}

/*
 * The slice of `width` channels from `first` on of a panel's weights, [tap][kernel][channel] in
 * memory, to `b`: [tap][channel][LANES], taps tap_channels apart.
 */
static bool pack_slice(FloatConv *f, float *b, unsigned panel, unsigned first, unsigned width)
{
    const RknpuConv *conv = f->conv;
    unsigned kernels = MIN(LANES, conv->kernels - panel * LANES);
    unsigned bits = rknpu_type_bits(conv->weight_type);
    size_t tap_bytes = (size_t)kernels * width * bits / 8;
    uint64_t offset = ((uint64_t)panel * LANES * f->depth + (uint64_t)first * kernels * f->taps) *
                      bits / 8;
    uint32_t at = conv->weight_base + (uint32_t)offset;
    const uint8_t *from = rknpu_mem_view(f->job->mem, RKNPU_STREAM_WEIGHT, at, f->taps * tap_bytes);

    if (!from) { /* a fault, or more views than may be held */
        from = f->slice;
        if (!rknpu_mem_read(f->job->mem, RKNPU_STREAM_WEIGHT, at, f->slice, f->taps * tap_bytes)) {
            return false;
        }
    }
    for (unsigned t = 0; t < f->taps; t++, from += tap_bytes) {
        float *to = b + (size_t)t * conv->tap_channels * LANES;

        if (conv->weight_type == RKNPU_FP16) {
            f->kernels->pack_fp16(to, from, kernels, width);
            continue;
        }
        for (unsigned c = 0; c < width; c++) {
            for (unsigned k = 0; k < LANES; k++) {
                to[c * LANES + k] =
                    k < kernels ? rknpu_load_float(conv->weight_type, from, (size_t)k * width + c)
                                : 0;
            }
        }
    }
    return true;
}

static bool pack_panel(FloatConv *f, unsigned panel)
{
    const RknpuConv *conv = f->conv;

    for (unsigned first = 0; first < conv->tap_channels; first += conv->slice) {
        if (!pack_slice(f, f->b + (size_t)first * LANES, panel, first,
                        MIN(conv->slice, conv->tap_channels - first))) {
            return false;
        }
    }
    return true;
}

static void dot(const FloatConv *f, float *acc, const float *a, const float *b, size_t length,
                unsigned rows)
{
    (f->conv->type == RKNPU_FP16 ? f->kernels->dot_fp16
                                 : rknpu_float_dot)(acc, a, f->stride, b, length, rows);
}

/* One tap and few pixels: each weight is used while it is in the first cache. */
static bool multiply_slices(FloatConv *f, unsigned panel, unsigned pixels)
{
    const RknpuConv *conv = f->conv;

    for (unsigned first = 0; first < conv->tap_channels; first += conv->slice) {
        unsigned width = MIN(conv->slice, conv->tap_channels - first);

        if (!pack_slice(f, f->b, panel, first, width)) {
            return false;
        }
        dot(f, f->acc, f->a + first, f->b, width, pixels);
    }
    return true;
}

static bool multiply_panel(FloatConv *f, unsigned panel, unsigned pixels)
{
    if (f->taps == 1 && pixels <= f->kernels->rows) {
        return multiply_slices(f, panel, pixels);
    }
    if (!pack_panel(f, panel)) {
        return false;
    }
    for (size_t at = 0; at < f->depth; at += PIECE) {
        size_t length = MIN((size_t)PIECE, f->depth - at);

        for (unsigned p = 0; p < pixels; p += f->kernels->rows) {
            dot(f, f->acc + (size_t)p * LANES, f->a + p * f->stride + at, f->b + at * LANES, length,
                MIN(f->kernels->rows, pixels - p));
        }
    }
    return true;
}

static void store_atom(const FloatConv *f, uint8_t *to, const float *from)
{
    if (f->out->type == RKNPU_FP16) {
        f->kernels->store_fp16(to, from, f->out->atom);
        return;
    }
    if (f->out->type == RKNPU_FP32 && G_BYTE_ORDER == G_LITTLE_ENDIAN && !isnan(from[0]) &&
        !isnan(from[1]) && !isnan(from[2]) && !isnan(from[3])) {
        memcpy(to, from, 16);
        return;
    }
    for (unsigned i = 0; i < f->out->atom; i++) {
        rknpu_store_float(f->out->type, to, i, from[i]);
    }
}

/* Rows of several atoms side by side are one range of memory, and the task writes all of it. */
static bool open_lines(FloatConv *f, unsigned first, unsigned pixels)
{
    if (!f->plain || f->layout != RKNPU_LAYOUT_LINES) {
        return true;
    }
    f->lines = rknpu_mem_view_out(f->job->mem, rknpu_output_address(f->out, 0, first, 0),
                                  (uint64_t)pixels * f->out->line_pitch);
    return f->lines;
}

/* finish() without stages: the panel's sums straight to memory. */
static RknpuTaskResult store_plain(const FloatConv *f, unsigned channel, unsigned first_pixel,
                                   unsigned pixels)
{
    const RknpuOutput *out = f->out;
    bool lines = f->layout == RKNPU_LAYOUT_LINES;
    size_t step = lines ? (size_t)out->line_pitch : 16;

    for (unsigned c = channel; c < MIN(channel + LANES, out->channels); c += out->atom) {
        uint32_t at = rknpu_output_address(out, c / out->atom, first_pixel / out->width,
                                           first_pixel % out->width);
        uint8_t *to = lines ? f->lines + c / out->atom * 16
                            : rknpu_mem_view_out(f->job->mem, at, (uint64_t)pixels * 16);

        if (!to) {
            return RKNPU_TASK_WRITE_FAULT;
        }
        for (unsigned p = 0; p < pixels; p++) {
            store_atom(f, to + p * step, f->acc + (size_t)p * LANES + (c - channel));
        }
    }
    return RKNPU_TASK_OK;
}

/* `pixels` results from `first_pixel` on for the 16 channels from `channel` on, through the DPU. */
static RknpuTaskResult finish(FloatConv *f, unsigned channel, unsigned first_pixel, unsigned pixels)
{
    const RknpuOutput *out = f->out;
    float values[RKNPU_RUN_PIXELS * RKNPU_RUN_LANES];

    if (f->plain) {
        return store_plain(f, channel, first_pixel, pixels);
    }
    for (unsigned c = channel; c < MIN(channel + LANES, out->channels); c += out->atom) {
        unsigned lanes = MIN(out->atom, out->channels - c);

        for (unsigned p = 0; p < pixels;) {
            unsigned pixel = first_pixel + p;
            unsigned x = pixel % out->width;
            unsigned n = MIN(MIN(pixels - p, out->width - x), RKNPU_RUN_PIXELS);
            RknpuRun run = {
                .channel = c, .lanes = lanes, .y = pixel / out->width, .x = x, .pixels = n
            };
            RknpuTaskResult r;

            for (unsigned i = 0; i < n; i++) {
                memcpy(values + i * lanes, f->acc + (size_t)(p + i) * LANES + (c - channel),
                       lanes * sizeof(*values));
            }
            r = rknpu_dpu_float(f->dpu, &run, values);
            if (r != RKNPU_TASK_OK) {
                return r;
            }
            p += n;
        }
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult direct_block(FloatConv *f, unsigned first, unsigned pixels)
{
    for (unsigned p = 0; p < pixels; p++) {
        if (!gather_pixel(f, f->a + p * f->stride, first + p, 0, f->conv->tap_channels)) {
            return RKNPU_TASK_READ_FAULT;
        }
    }
    for (unsigned channel = 0; channel < f->out->channels; channel += LANES) {
        RknpuTaskResult r;

        if (rknpu_cancelled(f->job)) {
            return RKNPU_TASK_CANCELLED;
        }
        memset(f->acc, 0, (size_t)pixels * LANES * sizeof(*f->acc));
        if (channel < f->conv->kernels && !multiply_panel(f, channel / LANES, pixels)) {
            return RKNPU_TASK_READ_FAULT;
        }
        r = finish(f, channel, first, pixels);
        if (r != RKNPU_TASK_OK) {
            return r;
        }
    }
    return RKNPU_TASK_OK;
}

/* Depthwise weights of `count` channels from `first` on: [tap][16]. */
static bool pack_depthwise(FloatConv *f, unsigned first, unsigned count)
{
    const RknpuConv *conv = f->conv;
    unsigned group = first / conv->kernel_group;
    unsigned bytes = rknpu_type_bits(conv->type) / 8;
    bool last = (group + 1) * conv->kernel_group >= conv->tap_channels;
    unsigned pitch = last ? conv->last_pitch : conv->kernel_group;
    uint64_t base = (uint64_t)group * conv->kernel_group * f->taps * bytes;

    memset(f->b, 0, (size_t)f->taps * LANES * sizeof(*f->b));
    for (unsigned t = 0; t < f->taps; t++) {
        uint64_t at = base + ((uint64_t)t * pitch + first % conv->kernel_group) * bytes;
        uint8_t raw[LANES * 4];

        if (!rknpu_mem_read(f->job->mem, RKNPU_STREAM_WEIGHT, conv->weight_base + (uint32_t)at, raw,
                            (uint64_t)count * bytes)) {
            return false;
        }
        load_row(f, f->b + t * LANES, raw, count);
    }
    return true;
}

static RknpuTaskResult depthwise_block(FloatConv *f, unsigned first, unsigned pixels)
{
    for (unsigned channel = 0; channel < f->out->channels; channel += LANES) {
        unsigned count = channel < f->channels ? MIN(LANES, f->channels - channel) : 0;
        RknpuTaskResult r;

        if (rknpu_cancelled(f->job)) {
            return RKNPU_TASK_CANCELLED;
        }
        memset(f->acc, 0, (size_t)pixels * LANES * sizeof(*f->acc));
        if (count && !pack_depthwise(f, channel, count)) {
            return RKNPU_TASK_READ_FAULT;
        }
        for (unsigned p = 0; count && p < pixels; p++) {
            if (!gather_pixel(f, f->a, first + p, channel, LANES)) {
                return RKNPU_TASK_READ_FAULT;
            }
            for (unsigned t = 0; t < f->taps; t++) {
                for (unsigned lane = 0; lane < LANES; lane++) {
                    f->acc[(size_t)p * LANES + lane] +=
                        f->a[t * LANES + lane] * f->b[t * LANES + lane];
                }
            }
        }
        r = finish(f, channel, first, pixels);
        if (r != RKNPU_TASK_OK) {
            return r;
        }
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult run_blocks(FloatConv *f)
{
    unsigned pixels = f->out->width * f->out->height;

    for (unsigned first = 0; first < pixels; first += f->block) {
        unsigned n = MIN(f->block, pixels - first);
        RknpuTaskResult r;

        if (!open_lines(f, first, n)) {
            return RKNPU_TASK_WRITE_FAULT;
        }
        r = f->conv->depthwise ? depthwise_block(f, first, n) : direct_block(f, first, n);
        if (r != RKNPU_TASK_OK) {
            return r;
        }
    }
    return RKNPU_TASK_OK;
}

/* Buffers by the guest's sizes; false = the host has no memory. */
static bool allocate(FloatConv *f)
{
    bool depthwise = f->conv->depthwise;
    size_t a = depthwise ? (size_t)f->taps * LANES : f->block * f->stride;
    size_t b = (depthwise ? f->taps : f->depth) * LANES;
    size_t slice = (size_t)f->taps * LANES * f->conv->slice *
                   sizeof(float); /* at most 31 * 31 * 16 * 32 * 4 */

    f->a = rknpu_scratch(RKNPU_SCRATCH_STAGED, a * sizeof(float));
    f->b = rknpu_scratch(RKNPU_SCRATCH_WEIGHTS, b * sizeof(float));
    f->acc = rknpu_scratch(RKNPU_SCRATCH_OUTPUT, (size_t)f->block * LANES * sizeof(float));
    f->slice = rknpu_scratch(RKNPU_SCRATCH_COPY, slice);
    return f->a && f->b && f->acc && f->slice;
}

static void prepare(FloatConv *f)
{
    const RknpuConv *conv = f->conv;
    unsigned fit;

    f->taps = conv->kernel_width * conv->kernel_height;
    f->channels = MIN(conv->input.channels, conv->tap_channels);
    if (conv->input.pixel_bytes != 16) {
        f->channels = MIN(f->channels, conv->input.atom); /* packed pixels have no second surface */
    }
    f->depth = (size_t)f->taps * conv->tap_channels;
    f->stride = f->depth + 16;
    fit = (unsigned)(BLOCK_FLOATS / f->stride) / f->kernels->rows * f->kernels->rows;
    f->block = CLAMP(fit, f->kernels->rows, BLOCK_PIXELS);
    f->pad = element(conv->type, conv->pad_bits);
    f->layout = rknpu_int8_output_layout(f->out);
    f->plain = f->layout != RKNPU_LAYOUT_OTHER && rknpu_dpu_float_stores_only(f->dpu->dpu);
}

/* Panels are whole weight groups and hold whole output atoms, weights begin at whole bytes; what
 * does not fit is left to conv_generic.c. */
static bool suits(const RknpuConvState *state)
{
    const RknpuConv *conv = state->conv;

    return (conv->weight_type == conv->type || conv->tap_channels % 2 == 0) &&
           conv->kernel_group % LANES == 0 && state->dpu_desc->out.atom <= LANES &&
           (conv->depthwise ? conv->depthwise_order == RKNPU_DW_ORDER_PLAIN
                            : conv->kernel_group == LANES);
}

RknpuTaskResult rknpu_conv_float(RknpuConvState *state, bool *taken)
{
    RknpuTaskResult result = RKNPU_TASK_OK;
    FloatConv f = {
        .job = state->job,
        .conv = state->conv,
        .out = &state->dpu_desc->out,
        .dpu = state->dpu,
        .kernels = rknpu_float_kernels(state->job->config),
    };

    *taken = false;
    if (!suits(state)) {
        return RKNPU_TASK_OK;
    }
    prepare(&f);
    if (f.depth > DEPTH_MAX) {
        return RKNPU_TASK_OK;
    }
    if (allocate(&f)) {
        *taken = true;
        result = open_surfaces(&f) ? run_blocks(&f) : RKNPU_TASK_READ_FAULT;
    }
    g_free(f.surfaces);
    return result;
}

const RknpuFloatKernels *rknpu_float_kernels(const RknpuConfig *config)
{
    switch (rknpu_isa_choose(config->force_isa)) {
#if defined(__x86_64__)
    case RKNPU_ISA_AVX2:
        return &rknpu_float_avx2;
    case RKNPU_ISA_AVX512:
        return &rknpu_float_avx512;
#elif defined(__aarch64__)
    case RKNPU_ISA_NEON:
        return &rknpu_float_neon;
#endif
    default:
        return &rknpu_float_portable;
    }
}
