/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Direct int8 convolution.
 *
 *   for each strip of the output (its input stays in the second cache)
 *       stage the strip's input: pixels with all channels side by side, padding filled in
 *           (pointwise layers mostly need not)
 *       for each group of kernels (its weights stay in the first cache)
 *           pack the weights, unless an earlier strip has
 *           for each row: kernels->direct() writes output bytes, or accumulators for dpu.c
 */
#include "conv_int8.h"

#include <glib.h>
#include <string.h>

#include "scratch.h"

#define UNPACKED_PIXELS  3           /* that take less time than packing */
#define STAGE_BYTES      (16u << 10) /* staged at a time: half of a host core's first cache */
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
    uintptr_t next; /* where the weights of the group after the packed one should lie */
    size_t next_bytes;
    bool keep_weights;    /* all groups stay packed from strip to strip */
    bool packed;          /* they are */
    bool whole;           /* the kernels' groups are memory's, and all slices have 32 channels */
    bool unpacked;        /* for direct_unpacked() */
    bool in_place;        /* the kernels read the strip's input where it lies: nothing is staged */
    const uint8_t **rows; /* of input under a row of output; in place: its surfaces */
    uint8_t *staged, *weights;
    int32_t *acc;
    int32_t *pixel_sums;              /* of the channels of each staged pixel */
    int32_t *column_sums;             /* of those, down the taps of a column */
    int32_t *sums;                    /* of the inputs of each output pixel */
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

/* One more than the last channel from `used` on that has a weight behind OW; w: [tap][kernel][16].
 */
static unsigned used_channels(const Direct *d, const uint8_t *w, unsigned first, unsigned kernels,
                              unsigned used)
{
    unsigned taps = d->conv->kernel_width * d->conv->kernel_height;

    for (unsigned k = 0; k < kernels; k++) {
        int32_t ow = d->conv->add_ow ? rknpu_conv_ow(d->c->state, first + k) : 0;

        for (unsigned t = 0; t < taps; t++) {
            const uint8_t *tap = w + ((size_t)t * kernels + k) * RKNPU_INT8_LANES;

            for (unsigned c = used; c < RKNPU_INT8_LANES; c++) {
                used = (int8_t)tap[c] + ow ? c + 1 : used;
            }
        }
    }
    return used;
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

        if (!w) {
            return false;
        }
        used = used_channels(d, w, first, n, used);
        d->depth = (used + 3) / 4 * 4;
    }
    return true;
}

static bool allocate_sums(Direct *d)
{
    size_t columns = input_columns(d->conv, d->strip_columns);
    size_t staged = columns * input_rows(d->conv, d->strip_rows);
    size_t results = (size_t)d->strip_columns * d->strip_rows;

    if (!d->kernels->sum) {
        return true;
    }
    d->pixel_sums =
        rknpu_scratch(RKNPU_SCRATCH_SUMS, (staged + columns + results) * sizeof(*d->pixel_sums));
    if (!d->pixel_sums) {
        return false;
    }
    d->column_sums = d->pixel_sums + staged;
    d->sums = d->column_sums + columns;
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
    d->whole = conv->kernel_group == group && d->depth == conv->tap_channels && d->depth % 32 == 0;
    d->unpacked = d->kernels->direct_unpacked && d->whole &&
                  (uint64_t)d->c->out.width * d->c->out.height <= UNPACKED_PIXELS;
    d->keep_weights =
        strips > 1 && !d->unpacked && d->groups * d->group_bytes <= 4 * RKNPU_PACKED_MAX;
    d->weights =
        rknpu_scratch(RKNPU_SCRATCH_WEIGHTS, d->group_bytes * (d->keep_weights ? d->groups : 1));
    d->staged_row = input_columns(conv, d->strip_columns) * d->step;
    d->staged =
        rknpu_scratch(RKNPU_SCRATCH_STAGED, d->staged_row * input_rows(conv, d->strip_rows));
    if (!d->c->fused) {
        d->acc =
            rknpu_scratch(RKNPU_SCRATCH_OUTPUT, (size_t)d->strip_columns * group * sizeof(*d->acc));
    }
    return d->weights && d->staged && (d->c->fused || d->acc) && allocate_sums(d);
}

/*
 * Pointwise layers can read memory as it is: a pixel of a surface is one atom, and the surfaces are
 * for the kernels like the rows of a tall window. Sets that stage bytes can do that.
 */
static bool may_stay_in_place(const Direct *d)
{
    const RknpuConv *conv = d->conv;

    return d->kernels->sum_atoms && !d->unpacked && d->depth == conv->tap_channels &&
           conv->kernel_width == 1 && conv->kernel_height == 1 && conv->stride_x == 1 &&
           conv->stride_y == 1 && rknpu_int8_rows_are_memory(&d->in, d->surfaces - 1) &&
           d->in.layout == RKNPU_LAYOUT_ROWS && rknpu_conv_is_apart(d->c->state);
}

static void sum_pixels(const Direct *d, int32_t *sums, const uint8_t *staged, size_t pixels)
{
    if (!d->kernels->sum) {
        return;
    }
    if (d->step == RKNPU_INT8_LANES) {
        d->kernels->sum_atoms(sums, &staged, 1, d->depth, pixels);
    } else {
        d->kernels->sum(sums, staged, d->step, d->depth, pixels);
    }
}

/*
 * The picture's part of an input row. A block of pixels gets all its surfaces before the next one,
 * while its lines are in the first cache; rows that need a conversion are made whole.
 */
static bool stage_pixels(Direct *d, uint8_t *to, int32_t *sums, unsigned row)
{
    const RknpuInputRows *in = &d->in;
    size_t surface_step = (size_t)RKNPU_INT8_LANES * d->kernels->stage_bytes;
    unsigned block = rknpu_int8_rows_are_memory(in, d->surfaces - 1) ? MAX(STAGE_BYTES / d->step, 1)
                                                                     : in->columns;

    for (unsigned p = 0; p < in->columns; p += block) {
        for (unsigned s = 0; s < d->surfaces; s++) {
            const uint8_t *from = rknpu_int8_input_row(d->c, in, s, row);

            if (!from) {
                return false;
            }
            d->kernels->stage(to + p * d->step + s * surface_step, d->step,
                              from + (size_t)p * RKNPU_INT8_LANES, MIN(block, in->columns - p));
        }
        sum_pixels(d, sums + p, to + p * d->step, MIN(block, in->columns - p));
    }
    return true;
}

/* One input row of the strip: padding left, picture, padding right. */
static bool stage_row(Direct *d, uint8_t *to, int32_t *sums, int64_t row, int64_t column,
                      unsigned columns)
{
    const RknpuInputRows *in = &d->in;
    size_t surface_step = (size_t)RKNPU_INT8_LANES * d->kernels->stage_bytes;
    bool inside = in->columns && row >= 0 && row < d->c->in_height;
    unsigned left = inside ? in->first_column - column : columns;
    unsigned right = inside ? columns - left - in->columns : 0;

    for (unsigned s = 0; s < d->surfaces; s++) {
        uint8_t *pixel = to + s * surface_step;

        d->kernels->fill(pixel, d->step, d->c->pad, left);
        d->kernels->fill(pixel + (columns - right) * d->step, d->step, d->c->pad, right);
    }
    sum_pixels(d, sums, to, left);
    sum_pixels(d, sums + columns - right, to + (columns - right) * d->step, right);
    return !inside || stage_pixels(d, to + left * d->step, sums + left, row);
}

static bool stage_strip(Direct *d, const RknpuStrip *s)
{
    int64_t row = (int64_t)s->y * d->conv->stride_y - d->conv->pad_top;
    int64_t column = (int64_t)s->x * d->conv->stride_x - d->conv->pad_left;
    unsigned rows = input_rows(d->conv, s->rows), columns = input_columns(d->conv, s->columns);
    bool ok = rknpu_int8_view_input(d->c, &d->in, row, rows, column, columns);

    d->in_place = may_stay_in_place(d) && d->in.rows == rows && d->in.columns == columns;
    for (unsigned i = 0; ok && !d->in_place && i < rows; i++) {
        ok = stage_row(d, d->staged + i * d->staged_row, d->pixel_sums + (size_t)i * columns,
                       row + i, column, columns);
    }
    return ok;
}

/* A group's weights in memory; none for groups behind the last kernel. False = read fault. */
static bool view_group(Direct *d, unsigned group, RknpuInt8Weights *w)
{
    const RknpuConv *conv = d->conv;
    unsigned taps = conv->kernel_width * conv->kernel_height;
    unsigned first = group * d->kernels->group;
    unsigned in_memory_first = first / conv->kernel_group * conv->kernel_group;
    uint64_t kernel_bytes = (uint64_t)taps * conv->tap_channels;

    *w = (RknpuInt8Weights){
        .first = first - in_memory_first,
        .taps = taps,
        .tap_channels = conv->tap_channels,
        .depth = d->depth,
        .ow = d->ow,
    };
    if (first >= conv->kernels) {
        return true;
    }
    w->in_memory = MIN(conv->kernel_group, conv->kernels - in_memory_first);
    w->count = MIN(d->kernels->group, conv->kernels - first);
    w->memory = rknpu_mem_view(d->c->state->job->mem, RKNPU_STREAM_WEIGHT,
                               conv->weight_base + (uint32_t)(in_memory_first * kernel_bytes),
                               w->in_memory * kernel_bytes);
    d->next = (uintptr_t)w->memory + w->in_memory * kernel_bytes;
    d->next_bytes = first + w->count < conv->kernels ? w->count * kernel_bytes : 0;
    return w->memory;
}

/* Where a row of output finds its input; the caller adds the rest. */
static RknpuInt8Direct row_input(const Direct *d, unsigned row)
{
    const RknpuConv *conv = d->conv;

    for (unsigned ky = 0; ky < conv->kernel_height; ky++) {
        d->rows[ky] =
            d->staged + ((size_t)row * conv->stride_y + ky * conv->dilation_y) * d->staged_row;
    }
    return (RknpuInt8Direct){
        .rows = d->rows,
        .pixel_step = conv->stride_x * d->step,
        .tap_step = conv->dilation_x * d->step,
        .kernel_height = conv->kernel_height,
        .kernel_width = conv->kernel_width,
        .depth = d->depth,
        .sums = d->sums ? d->sums + (size_t)row * d->out.strip.columns : NULL,
        .pixels = d->out.strip.columns,
    };
}

/* The same when nothing is staged. */
static RknpuInt8Direct row_in_place(const Direct *d, unsigned row)
{
    for (unsigned s = 0; s < d->surfaces; s++) {
        d->rows[s] = d->in.surface[s] + (size_t)row * d->conv->input.line_pitch;
    }
    return (RknpuInt8Direct){
        .rows = d->rows,
        .pixel_step = RKNPU_INT8_LANES,
        .kernel_height = d->surfaces,
        .kernel_width = 1,
        .depth = RKNPU_INT8_LANES,
        .sums = d->sums + (size_t)row * d->out.strip.columns,
        .pixels = d->out.strip.columns,
    };
}

static void sum_in_place(Direct *d)
{
    for (unsigned row = 0; row < d->out.strip.rows; row++) {
        size_t columns = d->out.strip.columns;
        RknpuInt8Direct in = row_in_place(d, row);

        d->kernels->sum_atoms(d->sums + row * columns, in.rows, d->surfaces, RKNPU_INT8_LANES,
                              columns);
    }
}

/* From the sums of staged pixels to those of output pixels: down the columns, then along the taps.
 */
static void sum_strip(Direct *d)
{
    const RknpuConv *conv = d->conv;
    const RknpuStrip *s = &d->out.strip;
    size_t columns = input_columns(conv, s->columns);
    size_t step = columns * conv->dilation_y;

    for (unsigned row = 0; row < s->rows; row++) {
        const int32_t *from = d->pixel_sums + (size_t)row * conv->stride_y * columns;
        int32_t *to = d->sums + (size_t)row * s->columns;

        memcpy(d->column_sums, from, columns * sizeof(*to));
        for (unsigned ky = 1; ky < conv->kernel_height; ky++) {
            for (size_t x = 0; x < columns; x++) {
                d->column_sums[x] += from[ky * step + x];
            }
        }
        for (unsigned p = 0; p < s->columns; p++) {
            const int32_t *column = d->column_sums + (size_t)p * conv->stride_x;
            int32_t sum = 0;

            for (unsigned kx = 0; kx < conv->kernel_width; kx++, column += conv->dilation_x) {
                sum += *column;
            }
            to[p] = sum;
        }
    }
}

/* `packed` has the weights, unless there is `w`, which says where they are. */
static void run_kernel(const Direct *d, const RknpuInt8Direct *args, uint8_t *packed,
                       const RknpuInt8Weights *w)
{
    if (!w) {
        d->kernels->direct(args);
    } else if (d->unpacked) {
        d->kernels->direct_unpacked(args, w);
    } else if (d->kernels->pack_direct && d->whole && w->count == d->kernels->group) {
        d->kernels->pack_direct(packed, args, w);
    } else {
        d->kernels->pack(packed, w);
        d->kernels->direct(args);
    }
}

static RknpuTaskResult compute_row(Direct *d, unsigned group, uint8_t *packed,
                                   const RknpuInt8Weights *w, unsigned row, const int8_t *operands)
{
    const RknpuStrip *s = &d->out.strip;
    unsigned y = s->y + row, first = group * d->kernels->group;
    unsigned atoms = d->kernels->group / RKNPU_INT8_LANES;
    RknpuInt8Direct args = d->in_place ? row_in_place(d, row) : row_input(d, row);

    args.weights = packed;
    args.next = (const uint8_t *)(d->next + d->next_bytes * row / s->rows);
    args.next_bytes = d->next_bytes / s->rows;
    args.ow = d->ow;
    args.out.channel = first;
    if (!d->c->fused) {
        args.out.acc = d->acc;
        run_kernel(d, &args, packed, w);
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
    run_kernel(d, &args, packed, w);
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
        uint8_t *packed = d->weights + (d->keep_weights ? g * d->group_bytes : 0);
        const RknpuInt8Weights *to_pack = NULL;
        RknpuInt8Weights w;

        load_ow(d, g);
        d->next_bytes = 0;
        if (!(d->keep_weights && d->packed)) {
            if (!view_group(d, g, &w)) {
                return RKNPU_TASK_READ_FAULT;
            }
            to_pack = &w;
        }
        for (unsigned row = 0; r == RKNPU_TASK_OK && row < d->out.strip.rows; row++) {
            if (rknpu_cancelled(d->c->state->job)) {
                return RKNPU_TASK_CANCELLED;
            }
            r = compute_row(d, g, packed, to_pack, row, operands);
            to_pack = d->unpacked ? to_pack : NULL;
        }
        if (r != RKNPU_TASK_OK) {
            return r;
        }
    }
    d->packed = true;
    return r;
}

/* Input, output and weights. */
static uint64_t strip_bytes(const Direct *d, const RknpuStrip *s)
{
    return input_rows(d->conv, s->rows) * d->staged_row +
           (uint64_t)s->rows * s->columns * d->c->out.channels + d->groups * d->group_bytes;
}

static RknpuTaskResult compute_strip(Direct *d, const RknpuStrip *strip)
{
    const int8_t *operands = NULL;
    RknpuTaskResult r;

    d->out.strip = *strip;
    if (!stage_strip(d, strip)) {
        return RKNPU_TASK_READ_FAULT;
    }
    if (d->in_place) {
        sum_in_place(d);
    } else if (d->kernels->sum) {
        sum_strip(d);
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
    if (r == RKNPU_TASK_OK && !rknpu_int8_strip_done(d->c, strip_bytes(d, strip))) {
        r = RKNPU_TASK_WRITE_FAULT;
    }
    return r;
}

RknpuTaskResult rknpu_int8_direct(RknpuInt8Conv *c, bool *taken)
{
    Direct d = { .c = c, .conv = c->conv, .kernels = c->kernels };
    RknpuTaskResult r = RKNPU_TASK_OK;

    if (!prepare(&d)) {
        return r;
    }
    *taken = true;
    d.rows = g_new(const uint8_t *, MAX(d.conv->kernel_height, d.surfaces));
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
    g_free(d.rows);
    return r;
}
