/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Direct int8 convolution.
 *
 *   for each strip of the output (its input stays in the second cache)
 *       stage the strip's input: pixels with all channels side by side, padding filled in
 *       for each group of kernels (its weights stay in the first cache)
 *           pack the weights, unless an earlier strip has
 *           for each row: kernels->direct() writes output bytes, or accumulators for dpu.c
 */
#include "conv_int8.h"

#include <glib.h>
#include <string.h>

#include "scratch.h"

#define STRIP_OUTPUT_MAX (32u << 20) /* a stride of 0 makes any output from little input */

typedef struct Direct {
    RknpuInt8Conv *c;
    const RknpuConv *conv;
    const RknpuInt8Kernels *kernels;
    RknpuInputRows in;
    RknpuOutputRows out;
    unsigned surfaces; /* of 16 channels, as the weights have them */
    unsigned depth;    /* channels per tap that the kernels run over */
    unsigned groups;
    size_t step;        /* bytes of a staged pixel */
    size_t group_bytes; /* packed */
    unsigned strip_columns, strip_rows;
    bool keep_weights; /* all groups stay packed from strip to strip */
    bool packed;       /* they are */
    uint8_t *staged, *weights;
    int32_t *acc;
    int32_t ow[RKNPU_INT8_GROUP_MAX]; /* of the group under way */
    size_t staged_row;                /* bytes */
} Direct;

static uint64_t input_columns(const RknpuConv *conv, unsigned columns)
{
    return (uint64_t)(columns - 1) * conv->stride_x +
           (uint64_t)(conv->kernel_width - 1) * conv->dilation_x + 1;
}

static uint64_t input_rows(const RknpuConv *conv, unsigned rows)
{
    return (uint64_t)(rows - 1) * conv->stride_y +
           (uint64_t)(conv->kernel_height - 1) * conv->dilation_y + 1;
}

/* Chooses the strip: whole rows if they fit the cache, then as many rows as fit. False = too big at
 * all. */
static bool choose_strip(Direct *d)
{
    uint64_t row, output_row;

    d->strip_columns = d->c->out.width;
    d->strip_rows = 1;
    while (d->strip_columns > 48 &&
           input_columns(d->conv, d->strip_columns) * input_rows(d->conv, 1) * d->step >
               RKNPU_STRIP_BYTES) {
        d->strip_columns = (d->strip_columns / 2 + 11) / 12 * 12;
    }
    row = input_columns(d->conv, d->strip_columns) * d->step;
    output_row = (uint64_t)d->strip_columns * d->c->out.channels;
    if (row * input_rows(d->conv, 1) > RKNPU_STAGED_MAX) {
        return false;
    }
    while (d->strip_rows < d->c->out.height && d->strip_rows < 256 &&
           row * input_rows(d->conv, d->strip_rows + 1) <= RKNPU_STRIP_BYTES &&
           output_row * (d->strip_rows + 1) <= STRIP_OUTPUT_MAX) {
        d->strip_rows++;
    }
    return true;
}

/*
 * Channels of a one-surface input that have any weight behind OW: pictures of three channels come
 * padded to 16 with weights that OW cancels, and need not be multiplied. Counted in fours, the
 * widest step of the sets. False = the weights cannot be read.
 */
static bool find_depth(Direct *d)
{
    const RknpuConv *conv = d->conv;
    uint64_t kernel_bytes = (uint64_t)conv->kernel_width * conv->kernel_height * RKNPU_INT8_LANES;
    unsigned used = 1;

    d->depth = conv->tap_channels;
    for (unsigned first = 0; d->surfaces == 1 && first < conv->kernels;
         first += conv->kernel_group) {
        unsigned n = MIN(conv->kernel_group, conv->kernels - first);
        const uint8_t *w =
            rknpu_mem_view(d->c->state->job->mem, RKNPU_STREAM_WEIGHT,
                           conv->weight_base + (uint32_t)(first * kernel_bytes), n * kernel_bytes);

        for (uint64_t i = 0; w && i < n * kernel_bytes; i++) {
            unsigned channel = i % RKNPU_INT8_LANES, kernel = first + i / RKNPU_INT8_LANES % n;
            int32_t ow = conv->add_ow ? rknpu_conv_ow(d->c->state, kernel) : 0;

            used = channel >= used && (int8_t)w[i] + ow ? channel + 1 : used;
        }
        if (!w) {
            return false;
        }
        d->depth = (used + 3) / 4 * 4;
    }
    return true;
}

static bool prepare(Direct *d)
{
    const RknpuConv *conv = d->conv;
    unsigned taps = conv->kernel_width * conv->kernel_height;
    unsigned group = d->kernels->group;
    unsigned strips;

    d->surfaces = conv->tap_channels / RKNPU_INT8_LANES;
    if (!find_depth(d)) {
        return false;
    }
    d->step = (size_t)conv->tap_channels * d->kernels->stage_bytes;
    d->groups = (d->c->out.channels + group - 1) / group;
    d->group_bytes = (size_t)taps * d->depth * group * d->kernels->stage_bytes;
    if (d->group_bytes > RKNPU_PACKED_MAX || !choose_strip(d)) {
        return false;
    }
    strips = (d->c->out.width + d->strip_columns - 1) / d->strip_columns *
             ((d->c->out.height + d->strip_rows - 1) / d->strip_rows);
    d->keep_weights = strips > 1 && d->groups * d->group_bytes <= 4 * RKNPU_PACKED_MAX;
    d->weights =
        rknpu_scratch(RKNPU_SCRATCH_WEIGHTS, d->group_bytes * (d->keep_weights ? d->groups : 1));
    d->staged_row = input_columns(conv, d->strip_columns) * d->step;
    d->staged =
        rknpu_scratch(RKNPU_SCRATCH_STAGED, d->staged_row * input_rows(conv, d->strip_rows));
    if (!d->c->fused) {
        d->acc =
            rknpu_scratch(RKNPU_SCRATCH_OUTPUT, (size_t)d->strip_columns * group * sizeof(*d->acc));
    }
    return d->weights && d->staged && (d->c->fused || d->acc);
}

/* One input row of the strip: padding left, picture, padding right. */
static bool stage_row(Direct *d, uint8_t *to, int64_t row, int64_t column, unsigned columns)
{
    const RknpuInputRows *in = &d->in;
    size_t surface_step = (size_t)RKNPU_INT8_LANES * d->kernels->stage_bytes;
    bool inside = in->columns && row >= 0 && row < d->c->in_height;
    unsigned left = inside ? in->first_column - column : columns;
    unsigned right = inside ? columns - left - in->columns : 0;

    for (unsigned s = 0; s < d->surfaces; s++, to += surface_step) {
        d->kernels->fill(to, d->step, d->c->pad, left);
        if (inside) {
            const uint8_t *from = rknpu_int8_input_row(d->c, in, s, row);

            if (!from) {
                return false;
            }
            d->kernels->stage(to + left * d->step, d->step, from, in->columns);
            d->kernels->fill(to + (left + in->columns) * d->step, d->step, d->c->pad, right);
        }
    }
    return true;
}

static bool stage_strip(Direct *d, const RknpuStrip *s)
{
    int64_t row = (int64_t)s->y * d->conv->stride_y - d->conv->pad_top;
    int64_t column = (int64_t)s->x * d->conv->stride_x - d->conv->pad_left;
    unsigned rows = input_rows(d->conv, s->rows), columns = input_columns(d->conv, s->columns);
    bool ok = rknpu_int8_view_input(d->c, &d->in, row, rows, column, columns);

    for (unsigned i = 0; ok && i < rows; i++) {
        ok = stage_row(d, d->staged + i * d->staged_row, row + i, column, columns);
    }
    return ok;
}

/* Packs a group of kernels; groups behind the last kernel are all zero. */
static bool pack_group(Direct *d, unsigned group, uint8_t *to)
{
    const RknpuConv *conv = d->conv;
    unsigned taps = conv->kernel_width * conv->kernel_height;
    unsigned first = group * d->kernels->group;
    unsigned in_memory_first = first / conv->kernel_group * conv->kernel_group;
    RknpuInt8Weights w = {
        .first = first - in_memory_first,
        .taps = taps,
        .tap_channels = conv->tap_channels,
        .depth = d->depth,
        .ow = d->ow,
    };
    uint64_t kernel_bytes = (uint64_t)taps * conv->tap_channels;

    if (first < conv->kernels) {
        w.in_memory = MIN(conv->kernel_group, conv->kernels - in_memory_first);
        w.count = MIN(d->kernels->group, conv->kernels - first);
        w.memory = rknpu_mem_view(d->c->state->job->mem, RKNPU_STREAM_WEIGHT,
                                  conv->weight_base + (uint32_t)(in_memory_first * kernel_bytes),
                                  w.in_memory * kernel_bytes);
        if (!w.memory) {
            return false;
        }
    }
    d->kernels->pack(to, &w);
    return true;
}

static RknpuTaskResult compute_row(Direct *d, unsigned group, const uint8_t *weights, unsigned row,
                                   const int8_t *operands)
{
    const RknpuConv *conv = d->conv;
    const RknpuStrip *s = &d->out.strip;
    unsigned y = s->y + row, first = group * d->kernels->group;
    unsigned atoms = d->kernels->group / RKNPU_INT8_LANES;
    const uint8_t *rows[32]; /* kernel height is a 5-bit field */
    RknpuInt8Direct args = {
        .rows = rows,
        .pixel_step = conv->stride_x * d->step,
        .tap_step = conv->dilation_x * d->step,
        .kernel_height = conv->kernel_height,
        .kernel_width = conv->kernel_width,
        .depth = d->depth,
        .weights = weights,
        .ow = d->ow,
        .pixels = s->columns,
        .out.channel = first,
    };

    for (unsigned ky = 0; ky < conv->kernel_height; ky++) {
        rows[ky] =
            d->staged + ((size_t)row * conv->stride_y + ky * conv->dilation_y) * d->staged_row;
    }
    if (!d->c->fused) {
        args.out.acc = d->acc;
        d->kernels->direct(&args);
        return rknpu_int8_stages(d->c, first, MIN(d->kernels->group, d->c->out.channels - first), y,
                                 s->x, s->columns, d->acc, d->kernels->group);
    }
    args.out.requant = &d->c->plan.requant;
    for (unsigned i = 0; i < atoms && first + i * RKNPU_INT8_LANES < d->c->out.channels; i++) {
        unsigned atom = first / RKNPU_INT8_LANES + i;

        args.out.bytes[i] = rknpu_int8_output_row(d->c, &d->out, atom, y);
        if (operands) {
            args.out.operand[i] =
                operands + ((size_t)atom * s->rows + row) * s->columns * RKNPU_INT8_LANES;
        }
    }
    d->kernels->direct(&args);
    return RKNPU_TASK_OK;
}

/* OW of a group's kernels; lanes without a kernel have none. */
static void load_ow(Direct *d, unsigned group)
{
    unsigned first = group * d->kernels->group;

    for (unsigned k = 0; k < d->kernels->group; k++) {
        d->ow[k] = d->conv->add_ow && first + k < d->conv->kernels
                       ? rknpu_conv_ow(d->c->state, first + k)
                       : 0;
    }
}

static RknpuTaskResult compute_groups(Direct *d, const int8_t *operands)
{
    RknpuTaskResult r = RKNPU_TASK_OK;

    for (unsigned g = 0; g < d->groups; g++) {
        uint8_t *weights = d->weights + (d->keep_weights ? g * d->group_bytes : 0);

        load_ow(d, g);
        if (!(d->keep_weights && d->packed) && !pack_group(d, g, weights)) {
            return RKNPU_TASK_READ_FAULT;
        }
        for (unsigned row = 0; r == RKNPU_TASK_OK && row < d->out.strip.rows; row++) {
            if (rknpu_cancelled(d->c->state->job)) {
                return RKNPU_TASK_CANCELLED;
            }
            r = compute_row(d, g, weights, row, operands);
        }
        if (r != RKNPU_TASK_OK) {
            return r;
        }
    }
    d->packed = true;
    return r;
}

static RknpuTaskResult compute_strip(Direct *d, const RknpuStrip *strip)
{
    const int8_t *operands = NULL;
    RknpuTaskResult r;

    d->out.strip = *strip;
    if (!stage_strip(d, strip)) {
        return RKNPU_TASK_READ_FAULT;
    }
    if (d->c->fused && d->c->plan.needs_operand) {
        operands = rknpu_int8_operands(d->c, &d->out);
        if (!operands) {
            return RKNPU_TASK_READ_FAULT;
        }
    }
    if (d->c->fused && !rknpu_int8_view_output(d->c, &d->out)) {
        return RKNPU_TASK_WRITE_FAULT;
    }
    r = compute_groups(d, operands);
    if (r == RKNPU_TASK_OK && d->c->fused && !rknpu_int8_finish_output(d->c, &d->out)) {
        r = RKNPU_TASK_WRITE_FAULT;
    }
    return rknpu_mem_release(d->c->state->job->mem) || r != RKNPU_TASK_OK ? r
                                                                          : RKNPU_TASK_WRITE_FAULT;
}

RknpuTaskResult rknpu_int8_direct(RknpuInt8Conv *c, bool *taken)
{
    Direct d = {.c = c, .conv = c->conv, .kernels = c->kernels};
    RknpuTaskResult r = RKNPU_TASK_OK;

    if (!prepare(&d)) {
        return r;
    }
    *taken = true;
    rknpu_int8_open_input(c, &d.in, 0, d.surfaces);
    d.out.layout = rknpu_int8_output_layout(&c->out);
    d.out.atoms = (c->out.channels + RKNPU_INT8_LANES - 1) / RKNPU_INT8_LANES;
    d.out.atom = g_new0(uint8_t *, d.out.atoms);
    for (unsigned y = 0; r == RKNPU_TASK_OK && y < c->out.height; y += d.strip_rows) {
        for (unsigned x = 0; r == RKNPU_TASK_OK && x < c->out.width; x += d.strip_columns) {
            RknpuStrip strip = {
                .y = y,
                .rows = MIN(d.strip_rows, c->out.height - y),
                .x = x,
                .columns = MIN(d.strip_columns, c->out.width - x),
            };

            r = compute_strip(&d, &strip);
        }
    }
    rknpu_int8_close_input(&d.in);
    g_free(d.out.atom);
    return r;
}
