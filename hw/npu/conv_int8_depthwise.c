/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Depthwise int8 convolution, 16 channels at a time.
 *
 * Rows are staged in pairs (row iy and the next tap's row iy + dilation, interleaved), so that one
 * 16-bit multiply-add does two taps. A pair is kept in a ring and serves every output row and tap
 * row that needs it. Kernels of odd height without dilation need only pairs that begin an even
 * number of rows below the top: an output row between them has its own arrangement of the weights.
 *
 *   kernel rows a, b, c    pairs    (0, 1)  (2, 3)
 *   output row 0           weights  (a, b)  (c, 0)
 *   output row 1           weights  (0, a)  (b, c)
 */
#include "conv_int8.h"

#include <glib.h>
#include <string.h>

#include "scratch.h"

#define PAIR_ELEMENTS 32         /* of a pixel in a pair row */
#define ROWS_AT_ONCE  256        /* of output, per view */
#define RUN_BYTES     (8u << 20) /* input and output of atoms that are viewed together */
#define BLOCK_BYTES   (8u << 10) /* of pair rows: they stay in a host core's first cache */
#define PAIRS_MAX     16         /* kernel height is a 5-bit field */
#define BLOCK_MAX     16

typedef struct Depthwise {
    RknpuInt8Conv *c;
    const RknpuConv *conv;
    const RknpuInt8Kernels *kernels;
    RknpuInputRows in;
    RknpuOutputRows out;
    unsigned atom;        /* under way */
    const uint8_t *plane; /* its first viewed row when rows are memory, else NULL */
    unsigned columns;     /* input columns under a row of output */
    int64_t first_column;
    unsigned row_pairs;
    unsigned arrangements;  /* of the weights: 2 when output rows need both */
    size_t weight_elements; /* of one of them */
    unsigned block_rows;    /* of output, that the kernels are given at a time */
    unsigned slots;         /* of the ring: a power of two */
    size_t left, right;     /* columns of padding that all of them have */
    int64_t *slot_row;      /* upper row of the pair in each slot; INT64_MIN: empty */
    size_t slot_elements;
    int16_t *ring;
    uint8_t *copy[2]; /* of two input rows */
    int16_t *weights;
    int32_t *acc;
} Depthwise;

/* Rows of output whose pair rows, of `pair_bytes` each, stay in the first cache. */
static unsigned block_rows(const Depthwise *d, uint64_t pair_bytes)
{
    uint64_t pairs = BLOCK_BYTES / pair_bytes;
    unsigned stride = MAX(d->conv->stride_y, 1), more;

    if (!d->c->fused || pairs <= d->row_pairs) {
        return 1;
    }
    more = (pairs - d->row_pairs) * 2 / stride; /* a new pair every second row of input */
    return MIN(1 + more, BLOCK_MAX);
}

static bool prepare(Depthwise *d)
{
    const RknpuConv *conv = d->conv;
    uint64_t columns = (uint64_t)(d->c->out.width - 1) * conv->stride_x +
                       (uint64_t)(conv->kernel_width - 1) * conv->dilation_x + 1;
    uint64_t ring_bytes;
    size_t acc_bytes = (size_t)d->c->out.width * RKNPU_INT8_LANES * sizeof(int32_t);
    size_t weight_bytes;

    d->row_pairs = (conv->kernel_height + 1) / 2;
    d->arrangements =
        conv->kernel_height % 2 && conv->stride_y % 2 && conv->dilation_y == 1 ? 2 : 1;
    d->weight_elements = (size_t)d->row_pairs * conv->kernel_width * PAIR_ELEMENTS;
    weight_bytes = d->arrangements * d->weight_elements * sizeof(int16_t);
    d->block_rows = block_rows(d, columns * PAIR_ELEMENTS * sizeof(int16_t));
    d->slots = 2; /* an arrangement may begin a row above the first one's */
    while (d->slots <
           (d->block_rows - 1) * conv->stride_y + 2 * conv->dilation_y * (d->row_pairs - 1) + 2) {
        d->slots *= 2;
    }
    ring_bytes = d->slots * columns * PAIR_ELEMENTS * sizeof(int16_t);
    if (ring_bytes > RKNPU_STAGED_MAX) {
        return false;
    }
    d->columns = columns;
    d->first_column = -(int64_t)conv->pad_left;
    d->slot_elements = columns * PAIR_ELEMENTS;
    d->ring = rknpu_scratch(RKNPU_SCRATCH_STAGED, ring_bytes + 2 * columns * RKNPU_INT8_LANES);
    d->weights = rknpu_scratch(RKNPU_SCRATCH_WEIGHTS, weight_bytes + acc_bytes + 64);
    if (!d->ring || !d->weights) {
        return false;
    }
    d->copy[0] = (uint8_t *)d->ring + ring_bytes;
    d->copy[1] = d->copy[0] + columns * RKNPU_INT8_LANES;
    d->acc = (int32_t *)((uint8_t *)d->weights + weight_bytes);
    return true;
}

/* Channels of this atom that have input and weights; the others accumulate 0. */
static unsigned present_lanes(const RknpuConv *conv, unsigned channel)
{
    unsigned groups = (conv->tap_channels + conv->kernel_group - 1) / conv->kernel_group;
    unsigned limit = MIN(conv->input.channels, groups * conv->kernel_group);

    return channel < limit ? MIN(limit - channel, RKNPU_INT8_LANES) : 0;
}

/*
 * One tap's weights of an atom: `at` is the tap's first byte of this atom in memory. `down`: the
 * arrangement with its rows one further down.
 */
static void take_tap(Depthwise *d, unsigned down, const int32_t *ow, unsigned lanes, unsigned tap,
                     const uint8_t *at)
{
    const RknpuConv *conv = d->conv;
    unsigned ky = tap / conv->kernel_width + down, kx = tap % conv->kernel_width;
    int16_t *to = d->weights + down * d->weight_elements +
                  ((size_t)(ky / 2) * conv->kernel_width + kx) * PAIR_ELEMENTS + ky % 2;

    for (unsigned i = 0; i < lanes; i++) {
        const uint8_t *pair = at + i / 2 * 4 + i % 2;
        int w = conv->depthwise_order == RKNPU_DW_ORDER_PLAIN
                    ? (int8_t)at[i]
                    : (int8_t)pair[0] + rknpu_minus_zero_point(pair[2]);

        to[2 * i] = (int16_t)(w + ow[i]);
    }
}

/* take_tap() for all taps of a whole atom in plain order, with the loop that stages input rows. */
static void take_whole(Depthwise *d, unsigned down, const int32_t *ow, const uint8_t *memory,
                       size_t pitch)
{
    static const uint8_t none[RKNPU_INT8_LANES];
    const RknpuConv *conv = d->conv;
    int16_t *to = d->weights + down * d->weight_elements, add[PAIR_ELEMENTS];
    size_t row = conv->kernel_width * pitch;

    for (unsigned pair = 0; pair < d->row_pairs; pair++) {
        bool has_upper = 2 * pair >= down, has_lower = 2 * pair + 1 - down < conv->kernel_height;
        const uint8_t *upper = has_upper ? memory + (2 * pair - down) * row : none;
        const uint8_t *lower = has_lower ? memory + (2 * pair + 1 - down) * row : none;

        for (unsigned i = 0; i < RKNPU_INT8_LANES; i++) {
            add[2 * i] = (int16_t)(ow[i] * has_upper);
            add[2 * i + 1] = (int16_t)(ow[i] * has_lower);
        }
        for (unsigned kx = 0; kx < conv->kernel_width; kx++, to += PAIR_ELEMENTS) {
            d->kernels->stage_pair(to, upper, lower, 1);
            for (unsigned i = 0; i < PAIR_ELEMENTS; i++) {
                to[i] += add[i];
            }
            upper += has_upper ? pitch : 0;
            lower += has_lower ? pitch : 0;
        }
    }
}

static bool load_weights(Depthwise *d, unsigned channel, unsigned lanes)
{
    const RknpuConv *conv = d->conv;
    unsigned taps = conv->kernel_width * conv->kernel_height;
    unsigned groups = (conv->tap_channels + conv->kernel_group - 1) / conv->kernel_group;
    unsigned group = channel / conv->kernel_group, in_group = channel % conv->kernel_group;
    unsigned pitch = group < groups - 1 ? conv->kernel_group : conv->last_pitch;
    bool pairs = conv->depthwise_order == RKNPU_DW_ORDER_PAIRS;
    bool whole = lanes == RKNPU_INT8_LANES && !pairs;
    uint64_t first =
        (uint64_t)group * conv->kernel_group * taps * (pairs ? 2 : 1) + in_group * (pairs ? 2 : 1);
    unsigned last = pairs ? (lanes + 1) / 2 * 4 : lanes;
    int32_t ow[RKNPU_INT8_LANES] = { 0 };
    const uint8_t *memory;

    if (!whole) {
        memset(d->weights, 0, d->arrangements * d->weight_elements * sizeof(*d->weights));
    }
    if (lanes == 0) {
        return true;
    }
    pitch = pairs ? (pitch + 1) / 2 * 4 : pitch;
    memory =
        rknpu_mem_view(d->c->state->job->mem, RKNPU_STREAM_WEIGHT,
                       conv->weight_base + (uint32_t)first, (uint64_t)(taps - 1) * pitch + last);
    for (unsigned i = 0; i < lanes && conv->add_ow; i++) {
        ow[i] = i && !conv->ow_from_memory ? ow[0] : rknpu_conv_ow(d->c->state, channel + i);
    }
    for (unsigned down = 0; memory && down < d->arrangements; down++) {
        if (whole) {
            take_whole(d, down, ow, memory, pitch);
            continue;
        }
        for (unsigned t = 0; t < taps; t++) {
            take_tap(d, down, ow, lanes, t, memory + (size_t)t * pitch);
        }
    }
    return memory != NULL;
}

/*
 * The picture's part of an input row, or of a row of padding. Rows that memory does not hold as
 * they are wanted are copied, because two are in use at a time.
 */
static const uint8_t *picture_row(Depthwise *d, int64_t row, unsigned which)
{
    const RknpuInputRows *in = &d->in;
    size_t bytes = (size_t)in->columns * RKNPU_INT8_LANES;
    const uint8_t *from;

    if (row < in->first_row || row >= (int64_t)in->first_row + in->rows) {
        return memset(d->copy[which], (uint8_t)d->c->pad, bytes);
    }
    if (d->plane) {
        return d->plane + (row - in->first_row) * d->conv->input.line_pitch;
    }
    from = rknpu_int8_input_row(d->c, in, d->atom, row);
    return from ? memcpy(d->copy[which], from, bytes) : NULL;
}

static void fill_pairs(const Depthwise *d, int16_t *to, size_t pixels)
{
    for (size_t i = 0; i < pixels * PAIR_ELEMENTS; i++) {
        to[i] = d->c->pad;
    }
}

/* For a strip whose input is viewed: padding columns are the same in all pair rows. */
static void pad_ring(Depthwise *d)
{
    size_t left = d->in.columns ? d->in.first_column - d->first_column : d->columns;
    size_t right = d->columns - left - d->in.columns;

    if (left == d->left && right == d->right) {
        return;
    }
    d->left = left;
    d->right = right;
    for (unsigned i = 0; i < d->slots; i++) {
        int16_t *pair = d->ring + i * d->slot_elements;

        fill_pairs(d, pair, left);
        fill_pairs(d, pair + (d->columns - right) * PAIR_ELEMENTS, right);
    }
}

static void empty_ring(Depthwise *d)
{
    for (unsigned i = 0; i < d->slots; i++) {
        d->slot_row[i] = INT64_MIN;
    }
}

/* The pair row that begins with input row `row`; NULL = read fault. */
static const int16_t *pair_row(Depthwise *d, int64_t row)
{
    unsigned slot = (unsigned)row & (d->slots - 1);
    int16_t *pair = d->ring + slot * d->slot_elements;
    const uint8_t *upper, *lower;

    if (d->slot_row[slot] != row) {
        upper = picture_row(d, row, 0);
        lower = upper ? picture_row(d, row + d->conv->dilation_y, 1) : NULL;
        if (!lower) {
            return NULL;
        }
        d->kernels->stage_pair(pair + d->left * PAIR_ELEMENTS, upper, lower, d->in.columns);
        d->slot_row[slot] = row;
    }
    return pair;
}

/* Rows [y, y + rows) of the atom; at most `block_rows`. */
static RknpuTaskResult compute_block(Depthwise *d, unsigned y, unsigned rows,
                                     const int8_t *operands)
{
    const RknpuConv *conv = d->conv;
    const int16_t *pairs[BLOCK_MAX * PAIRS_MAX], *weights[BLOCK_MAX];
    unsigned channel = d->atom * RKNPU_INT8_LANES;
    unsigned width = d->c->out.width;
    RknpuInt8Depthwise args = {
        .rows = rows,
        .pairs = pairs,
        .weights = weights,
        .pixel_step = (size_t)conv->stride_x * PAIR_ELEMENTS * sizeof(int16_t),
        .tap_step = (size_t)conv->dilation_x * PAIR_ELEMENTS * sizeof(int16_t),
        .row_pairs = d->row_pairs,
        .kernel_width = conv->kernel_width,
        .pixels = width,
        .out.channel = channel,
    };

    for (unsigned row = 0; row < rows; row++) {
        unsigned down = d->arrangements == 2 ? (y + row) * conv->stride_y % 2 : 0;
        int64_t top = (int64_t)(y + row) * conv->stride_y - conv->pad_top - down;

        weights[row] = d->weights + down * d->weight_elements;
        for (unsigned i = 0; i < d->row_pairs; i++) {
            const int16_t *pair = pair_row(d, top + 2 * i * (int64_t)conv->dilation_y);

            if (!pair) {
                return RKNPU_TASK_READ_FAULT;
            }
            pairs[row * d->row_pairs + i] = pair;
        }
    }
    if (!d->c->fused) {
        args.out.acc = d->acc;
        d->kernels->depthwise(&args);
        return rknpu_int8_stages(d->c, channel, MIN(RKNPU_INT8_LANES, d->c->out.channels - channel),
                                 y, 0, width, d->acc, RKNPU_INT8_LANES);
    }
    args.out.requant = &d->c->plan.requant;
    args.out.bytes[0] = rknpu_int8_output_row(d->c, &d->out, d->atom, y);
    args.out_step = d->out.layout == RKNPU_LAYOUT_OTHER ? (size_t)width * RKNPU_INT8_LANES
                                                        : (size_t)d->c->out.line_pitch;
    args.out.operand[0] =
        operands ? operands + (size_t)(y - d->out.strip.y) * width * RKNPU_INT8_LANES : NULL;
    d->kernels->depthwise(&args);
    return RKNPU_TASK_OK;
}

/* The rows of the strip, one atom. */
static RknpuTaskResult compute_atom(Depthwise *d, const int8_t *operands)
{
    const RknpuStrip *s = &d->out.strip;
    unsigned channel = d->atom * RKNPU_INT8_LANES;
    RknpuTaskResult r = RKNPU_TASK_OK;

    empty_ring(d);
    d->plane = d->in.rows && rknpu_int8_rows_are_memory(&d->in, d->atom)
                   ? rknpu_int8_input_row(d->c, &d->in, d->atom, d->in.first_row)
                   : NULL;
    if (!load_weights(d, channel, present_lanes(d->conv, channel))) {
        return RKNPU_TASK_READ_FAULT;
    }
    for (unsigned i = 0; r == RKNPU_TASK_OK && i < s->rows; i += d->block_rows) {
        r = rknpu_cancelled(d->c->state->job)
                ? RKNPU_TASK_CANCELLED
                : compute_block(d, s->y + i, MIN(d->block_rows, s->rows - i), operands);
    }
    return r;
}

/* The strip, all atoms of a run. */
static RknpuTaskResult compute_strip(Depthwise *d)
{
    const RknpuConv *conv = d->conv;
    const RknpuStrip *s = &d->out.strip;
    int64_t first = (int64_t)s->y * conv->stride_y - conv->pad_top;
    int64_t in_rows =
        (int64_t)(s->rows - 1) * conv->stride_y + (int64_t)conv->kernel_height * conv->dilation_y;
    size_t atom_bytes = (size_t)s->rows * s->columns * RKNPU_INT8_LANES;
    const int8_t *operands = NULL;
    RknpuTaskResult r = RKNPU_TASK_OK;

    if (!rknpu_int8_view_input(d->c, &d->in, first, in_rows, d->first_column, d->columns)) {
        return RKNPU_TASK_READ_FAULT;
    }
    pad_ring(d);
    if (d->c->fused && d->c->plan.needs_operand) {
        operands = rknpu_int8_operands(d->c, &d->out);
        if (!operands) {
            return RKNPU_TASK_READ_FAULT;
        }
    }
    if (d->c->fused && !rknpu_int8_view_output(d->c, &d->out)) {
        return RKNPU_TASK_WRITE_FAULT;
    }
    for (unsigned i = 0; r == RKNPU_TASK_OK && i < d->out.atoms; i++) {
        d->atom = d->out.first_atom + i;
        r = compute_atom(d, operands ? operands + i * atom_bytes : NULL);
    }
    if (r == RKNPU_TASK_OK && d->c->fused && !rknpu_int8_finish_output(d->c, &d->out)) {
        r = RKNPU_TASK_WRITE_FAULT;
    }
    return r;
}

/* The atoms of d->out. */
static RknpuTaskResult compute_run(Depthwise *d, uint64_t row_bytes)
{
    RknpuInt8Conv *c = d->c;
    RknpuTaskResult r = RKNPU_TASK_OK;

    rknpu_int8_open_input(c, &d->in, d->out.first_atom, d->out.atoms);
    if (d->in.layout == RKNPU_LAYOUT_LINES) {
        d->in.layout = RKNPU_LAYOUT_OTHER;
    }
    for (unsigned y = 0; r == RKNPU_TASK_OK && y < c->out.height; y += ROWS_AT_ONCE) {
        unsigned rows = MIN(ROWS_AT_ONCE, c->out.height - y);

        d->out.strip = (RknpuStrip){ .y = y, .rows = rows, .columns = c->out.width };
        r = compute_strip(d);
        if (r == RKNPU_TASK_OK && !rknpu_int8_strip_done(c, rows * row_bytes * d->out.atoms)) {
            r = RKNPU_TASK_WRITE_FAULT;
        }
    }
    rknpu_int8_close_input(&d->in);
    return r;
}

RknpuTaskResult rknpu_int8_depthwise(RknpuInt8Conv *c, bool *taken)
{
    Depthwise d = { .c = c, .conv = c->conv, .kernels = c->kernels };
    unsigned atoms = (c->out.channels + RKNPU_INT8_LANES - 1) / RKNPU_INT8_LANES;
    uint64_t row_bytes; /* input and output of one atom */
    unsigned run;
    RknpuTaskResult r = RKNPU_TASK_OK;

    if (!prepare(&d)) {
        return r;
    }
    *taken = true;
    row_bytes = RKNPU_INT8_LANES * (c->out.width + (uint64_t)d.conv->stride_y * d.columns);
    run = CLAMP(RUN_BYTES / (row_bytes * MIN(ROWS_AT_ONCE, c->out.height)), 1, atoms);
    d.slot_row = g_new(int64_t, d.slots);
    d.out.layout = rknpu_int8_output_layout(&c->out);
    if (d.out.layout == RKNPU_LAYOUT_LINES) {
        d.out.layout = RKNPU_LAYOUT_OTHER; /* one atom at a time: the lines belong to all */
    }
    d.out.atom = g_new(uint8_t *, run);
    for (unsigned first = 0; r == RKNPU_TASK_OK && first < atoms; first += run) {
        d.out.first_atom = first;
        d.out.atoms = MIN(run, atoms - first);
        r = compute_run(&d, row_bytes);
    }
    g_free(d.out.atom);
    g_free(d.slot_row);
    return r;
}
