/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * int8 convolutions: checks that the kernels' 32-bit sums and exact doubles are enough, then hands
 * over to the direct or the depthwise driver. Also the ways of rows from and to memory that both
 * use.
 *
 * Views are taken only over bytes that the task really reads or writes: two cores may write
 * neighbouring rows of one tensor at the same time, so a view must not cover, and write back, what
 * lies between.
 */
#include "conv_int8.h"

#include <glib.h>
#include <string.h>

#include "convert.h"
#include "scratch.h"

#define ATOM_BYTES 16
#define VIEWED_MAX (16u << 20) /* bytes that views may hold before they are given back */
#define VIEWED_MIN                                                                                 \
    (64u << 10) /* what a strip counts for at least: its views are searched one by one */

static RknpuLayout input_layout(const RknpuCube *in, unsigned surfaces)
{
    bool plain_lines = in->group_pitch == 4 * in->line_pitch;

    if (plain_lines && in->line_pitch == (int64_t)in->width * in->pixel_bytes) {
        return RKNPU_LAYOUT_ROWS;
    }
    if (plain_lines && in->width == 1 && in->surface_pitch == ATOM_BYTES &&
        in->line_pitch == (int64_t)surfaces * ATOM_BYTES) {
        return RKNPU_LAYOUT_LINES;
    }
    return RKNPU_LAYOUT_OTHER;
}

void rknpu_int8_open_input(const RknpuInt8Conv *c, RknpuInputRows *in, unsigned first,
                           unsigned wanted)
{
    const RknpuCube *cube = &c->conv->input;
    unsigned present =
        cube->pixel_bytes == ATOM_BYTES ? (cube->channels + ATOM_BYTES - 1) / ATOM_BYTES : 1;

    *in = (RknpuInputRows){
        .layout = input_layout(cube, present),
        .first_surface = first,
        .surfaces = first < present ? MIN(wanted, present - first) : 0,
        .plain = cube->pixel_bytes == ATOM_BYTES && !c->conv->convert.active
                     ? cube->channels / ATOM_BYTES
                     : 0,
    };
    in->surface = g_new0(const uint8_t *, wanted);
}

void rknpu_int8_close_input(RknpuInputRows *in)
{
    g_free(in->surface);
}

RknpuLayout rknpu_int8_output_layout(const RknpuOutput *out)
{
    unsigned atoms = out->channels / out->atom;

    if (out->channels % out->atom) {
        return RKNPU_LAYOUT_OTHER;
    }
    if (out->line_pitch == (int64_t)out->width * ATOM_BYTES) {
        return RKNPU_LAYOUT_ROWS;
    }
    if (out->width == 1 && out->surface_pitch == ATOM_BYTES &&
        out->line_pitch == (int64_t)atoms * ATOM_BYTES &&
        (atoms <= out->pass_atoms || out->pass_pitch == (int64_t)out->pass_atoms * ATOM_BYTES)) {
        return RKNPU_LAYOUT_LINES;
    }
    return RKNPU_LAYOUT_OTHER;
}

/* First byte that is viewed of the surface with this index among the opened ones. */
static uint32_t surface_address(const RknpuInt8Conv *c, const RknpuInputRows *in, unsigned i)
{
    unsigned surface = in->layout == RKNPU_LAYOUT_LINES ? 0 : in->first_surface + i;

    return rknpu_cube_address(&c->conv->input, surface, in->first_row, in->first_column);
}

bool rknpu_int8_view_input(const RknpuInt8Conv *c, RknpuInputRows *in, int64_t row, int64_t rows,
                           int64_t column, int64_t columns)
{
    const RknpuCube *cube = &c->conv->input;
    int64_t last_row = MIN(row + rows, (int64_t)c->in_height);
    int64_t last_column = MIN(column + columns, (int64_t)c->width_limit);
    unsigned ranges = in->layout == RKNPU_LAYOUT_LINES ? MIN(in->surfaces, 1) : in->surfaces;
    uint64_t len;

    in->first_row = MAX(row, 0);
    in->rows = MAX(last_row - in->first_row, 0);
    in->first_column = MAX(column, 0);
    in->columns = MAX(last_column - in->first_column, 0);
    if (in->layout == RKNPU_LAYOUT_OTHER || in->rows == 0 || in->columns == 0) {
        return true;
    }
    len = (uint64_t)(in->rows - 1) * cube->line_pitch + (uint64_t)in->columns * cube->pixel_bytes;
    if (in->layout == RKNPU_LAYOUT_LINES) {
        len = (uint64_t)in->rows * cube->line_pitch;
    }
    for (unsigned i = 0, next; i < ranges; i = next) {
        uint32_t at = surface_address(c, in, i);
        const uint8_t *view;

        for (next = i + 1; next < ranges && (next - i + 1) * len <= RKNPU_VIEW_MAX &&
                           surface_address(c, in, next) == at + (next - i) * len;) {
            next++; /* surfaces that follow each other are one view */
        }
        view = rknpu_mem_view(c->state->job->mem, RKNPU_STREAM_FEATURE, at, (next - i) * len);
        if (!view) {
            return false;
        }
        for (unsigned k = i; k < next; k++) {
            in->surface[k] = view + (k - i) * len;
        }
    }
    return true;
}

/* Packed pixels, channels that the cube lacks, the input converter: one byte at a time. */
static const uint8_t *unpack_row(const RknpuInt8Conv *c, const RknpuInputRows *in, unsigned surface,
                                 const uint8_t *from)
{
    const RknpuCube *cube = &c->conv->input;
    unsigned first = surface * ATOM_BYTES;
    unsigned lanes = cube->channels > first ? MIN(cube->channels - first, ATOM_BYTES) : 0;
    uint8_t *row = rknpu_scratch(RKNPU_SCRATCH_ROW, (size_t)in->columns * ATOM_BYTES);

    if (!row) {
        return NULL;
    }
    lanes = MIN(lanes, cube->atom);
    memset(row, 0, (size_t)in->columns * ATOM_BYTES);
    for (unsigned p = 0; p < in->columns; p++) {
        for (unsigned i = 0; i < lanes; i++) {
            row[p * ATOM_BYTES + i] = (uint8_t)rknpu_input_convert(
                &c->conv->convert, i, from[(size_t)p * cube->pixel_bytes + i]);
        }
    }
    return row;
}

bool rknpu_int8_rows_are_memory(const RknpuInputRows *in, unsigned surface)
{
    return surface < in->plain && in->layout != RKNPU_LAYOUT_OTHER;
}

const uint8_t *rknpu_int8_input_row(const RknpuInt8Conv *c, const RknpuInputRows *in,
                                    unsigned surface, unsigned row)
{
    const RknpuCube *cube = &c->conv->input;
    size_t down = (size_t)(row - in->first_row) * cube->line_pitch;
    uint32_t len = in->columns * cube->pixel_bytes;
    const uint8_t *from;

    if (surface >= in->first_surface + in->surfaces) { /* only weights exist there: zeros */
        uint8_t *row_scratch = rknpu_scratch(RKNPU_SCRATCH_ROW, (size_t)in->columns * ATOM_BYTES);

        return row_scratch ? memset(row_scratch, 0, (size_t)in->columns * ATOM_BYTES) : NULL;
    }
    if (in->layout == RKNPU_LAYOUT_LINES) {
        from = in->surface[0] + down + (size_t)surface * ATOM_BYTES;
    } else if (in->layout == RKNPU_LAYOUT_ROWS) {
        from = in->surface[surface - in->first_surface] + down;
    } else {
        uint8_t *copy = rknpu_scratch(RKNPU_SCRATCH_COPY, len);
        uint32_t at = rknpu_cube_address(cube, surface, row, in->first_column);

        if (!copy || !rknpu_mem_read(c->state->job->mem, RKNPU_STREAM_FEATURE, at, copy, len)) {
            return NULL;
        }
        from = copy;
    }
    return surface < in->plain ? from : unpack_row(c, in, surface, from);
}

bool rknpu_int8_view_output(const RknpuInt8Conv *c, RknpuOutputRows *rows)
{
    RknpuMem *mem = c->state->job->mem;
    const RknpuOutput *out = &c->out;
    const RknpuStrip *s = &rows->strip;
    uint64_t len = (uint64_t)(s->rows - 1) * out->line_pitch + (uint64_t)s->columns * ATOM_BYTES;

    switch (rows->layout) {
    case RKNPU_LAYOUT_LINES:
        rows->base = rknpu_mem_view_out(mem, rknpu_output_address(out, 0, s->y, 0),
                                        (uint64_t)s->rows * out->line_pitch);
        return rows->base != NULL;
    case RKNPU_LAYOUT_ROWS:
        for (unsigned i = 0, next; i < rows->atoms; i = next) {
            uint32_t at = rknpu_output_address(out, rows->first_atom + i, s->y, s->x);
            uint8_t *view;

            for (next = i + 1; next < rows->atoms && (next - i + 1) * len <= RKNPU_VIEW_MAX &&
                               rknpu_output_address(out, rows->first_atom + next, s->y, s->x) ==
                                   at + (next - i) * len;) {
                next++; /* atoms that follow each other are one view */
            }
            view = rknpu_mem_view_out(mem, at, (next - i) * len);
            if (!view) {
                return false;
            }
            for (unsigned k = i; k < next; k++) {
                rows->atom[k] = view + (k - i) * len;
            }
        }
        return true;
    case RKNPU_LAYOUT_OTHER:
        break;
    }
    rows->base = rknpu_scratch(RKNPU_SCRATCH_OUTPUT,
                               (size_t)rows->atoms * s->rows * s->columns * ATOM_BYTES);
    return rows->base != NULL;
}

uint8_t *rknpu_int8_output_row(const RknpuInt8Conv *c, const RknpuOutputRows *rows, unsigned atom,
                               unsigned y)
{
    unsigned down = y - rows->strip.y;
    unsigned i = atom - rows->first_atom;

    if (rows->layout == RKNPU_LAYOUT_ROWS) {
        return rows->atom[i] + (size_t)down * c->out.line_pitch;
    }
    if (rows->layout == RKNPU_LAYOUT_LINES) {
        return rows->base + (size_t)down * c->out.line_pitch + (size_t)atom * ATOM_BYTES;
    }
    return rows->base + ((size_t)i * rows->strip.rows + down) * rows->strip.columns * ATOM_BYTES;
}

/* Lanes behind the last channel are written as OFFSET_PEND. */
bool rknpu_int8_finish_output(const RknpuInt8Conv *c, const RknpuOutputRows *rows)
{
    const RknpuStrip *s = &rows->strip;
    unsigned whole = rows->layout == RKNPU_LAYOUT_OTHER ? rows->atoms * s->rows : 0;

    for (unsigned i = 0; i < whole; i++) {
        unsigned atom = rows->first_atom + i / s->rows, y = s->y + i % s->rows;
        unsigned lanes = MIN(c->out.channels - atom * ATOM_BYTES, ATOM_BYTES);
        uint8_t *from = rknpu_int8_output_row(c, rows, atom, y);

        for (unsigned p = 0; lanes < ATOM_BYTES && p < s->columns; p++) {
            memset(from + (size_t)p * ATOM_BYTES + lanes, rknpu_pend_byte(c->out.pend, 0),
                   ATOM_BYTES - lanes);
        }
        if (!rknpu_mem_write(c->state->job->mem, rknpu_output_address(&c->out, atom, y, s->x), from,
                             (uint64_t)s->columns * ATOM_BYTES)) {
            return false;
        }
    }
    return true;
}

bool rknpu_int8_strip_done(RknpuInt8Conv *c, uint64_t bytes)
{
    c->viewed += MAX(bytes, VIEWED_MIN);
    if (c->viewed < VIEWED_MAX) {
        return true;
    }
    c->viewed = 0;
    return rknpu_mem_release(c->state->job->mem);
}

const int8_t *rknpu_int8_operands(const RknpuInt8Conv *c, const RknpuOutputRows *rows)
{
    const RknpuEwCube *cube = &c->state->dpu_desc->ew.cube;
    const RknpuStrip *s = &rows->strip;
    size_t row_bytes = (size_t)s->columns * ATOM_BYTES;
    bool dense = cube->line_pitch == (int64_t)row_bytes && s->x == 0;
    unsigned reads = dense ? 1 : s->rows;
    size_t len = dense ? row_bytes * s->rows : row_bytes;
    uint8_t *to = rknpu_scratch(RKNPU_SCRATCH_OPERAND, (size_t)rows->atoms * s->rows * row_bytes);

    for (unsigned i = 0; to && i < rows->atoms * reads; i++) {
        uint32_t at = rknpu_ew_address(cube, rows->first_atom + i / reads, s->y + i % reads, s->x);

        if (!rknpu_mem_read(c->state->job->mem, RKNPU_STREAM_OPERAND, at, to + i * len, len)) {
            return NULL;
        }
    }
    return (const int8_t *)to;
}

RknpuTaskResult rknpu_int8_stages(const RknpuInt8Conv *c, unsigned channel, unsigned channels,
                                  unsigned y, unsigned x, unsigned pixels, const int32_t *acc,
                                  unsigned acc_step)
{
    const RknpuConv *conv = c->conv;
    int64_t values[RKNPU_RUN_PIXELS * RKNPU_RUN_LANES];
    RknpuTaskResult r = RKNPU_TASK_OK;

    for (unsigned first = 0; first < channels; first += c->out.atom) {
        unsigned lanes = MIN(c->out.atom, channels - first);

        for (unsigned p = 0; r == RKNPU_TASK_OK && p < pixels; p += RKNPU_RUN_PIXELS) {
            RknpuRun run = {
                .channel = channel + first,
                .lanes = lanes,
                .y = y,
                .x = x + p,
                .pixels = MIN(RKNPU_RUN_PIXELS, pixels - p),
            };

            for (unsigned i = 0; i < run.pixels * lanes; i++) {
                int64_t v = acc[(size_t)(p + i / lanes) * acc_step + first + i % lanes];

                values[i] = CLAMP(rknpu_round_shift(v, conv->truncate, conv->truncate_round),
                                  INT32_MIN, INT32_MAX);
            }
            if (!c->identity) {
                r = rknpu_dpu_int(c->state->dpu, &run, values);
            } else if (!rknpu_dpu_store_int(c->state->dpu, &run, values)) {
                r = RKNPU_TASK_WRITE_FAULT;
            }
        }
    }
    return r;
}

/*
 * Surfaces that follow each other are one range, all of which the task writes: viewed once, they
 * are mapped once. False = write fault.
 */
static bool view_whole_output(const RknpuInt8Conv *c)
{
    const RknpuOutput *out = &c->out;
    unsigned atoms = out->channels / ATOM_BYTES;
    bool passes_follow = atoms <= out->pass_atoms ||
                         out->pass_pitch == (int64_t)out->pass_atoms * out->surface_pitch;

    if (rknpu_int8_output_layout(out) == RKNPU_LAYOUT_ROWS && passes_follow &&
        out->surface_pitch == (int64_t)out->height * out->line_pitch) {
        rknpu_mem_view_out(c->state->job->mem, out->base, (uint64_t)atoms * out->surface_pitch);
    }
    return !rknpu_mem_faulted_write(c->state->job->mem);
}

/*
 * A 1x1 convolution over whole rows is the same over one row that holds all pixels; long rows fill
 * the kernels' tiles better.
 */
static void flatten(RknpuInt8Conv *c)
{
    const RknpuConv *conv = c->conv;
    const RknpuCube *in = &conv->input;
    const RknpuEw *ew = &c->state->dpu_desc->ew;
    int64_t row = (int64_t)c->out.width * ATOM_BYTES;
    bool unit = conv->kernel_width == 1 && conv->kernel_height == 1 && conv->stride_x == 1 &&
                conv->stride_y == 1 && conv->pad_left == 0 && conv->pad_top == 0;
    bool whole =
        c->out.width == in->width && c->width_limit == in->width && c->out.height <= in->height;
    bool dense = in->pixel_bytes == ATOM_BYTES && in->line_pitch == row &&
                 in->group_pitch == 4 * row && c->out.line_pitch == row &&
                 (!ew->active || ew->source != RKNPU_EW_PIXEL || ew->cube.line_pitch == row);

    if (!unit || !whole || !dense || conv->depthwise) {
        return;
    }
    c->in_width = c->width_limit = in->width * c->out.height;
    c->in_height = 1;
    c->out.width *= c->out.height;
    c->out.line_pitch = (int64_t)c->out.width * ATOM_BYTES;
    c->out.height = 1;
}

/* A limit for |accumulator|, all OW operands considered; or more than 32 bits when they do not fit.
 */
static int64_t accumulator_bound(const RknpuInt8Conv *c)
{
    const RknpuConv *conv = c->conv;
    int64_t taps = (int64_t)conv->kernel_width * conv->kernel_height;
    int64_t depth = conv->depthwise ? 1 : conv->tap_channels;
    int64_t weight = conv->depthwise_order == RKNPU_DW_ORDER_PAIRS && conv->depthwise ? 256 : 128;
    int64_t ow = 0;

    for (unsigned k = 0; conv->add_ow && k < c->out.channels; k++) {
        ow = MAX(ow, ABS((int64_t)rknpu_conv_ow(c->state, k)));
        if (!conv->ow_from_memory) {
            break;
        }
    }
    /* The kernels keep weight + OW in 16 bits, or (unsigned weights) sums of up to twice the size.
     */
    return weight + ow > INT16_MAX ? INT64_MAX : 2 * 128 * (weight + ow) * taps * depth;
}

RknpuTaskResult rknpu_conv_int8(RknpuConvState *state, bool *taken)
{
    const RknpuConv *conv = state->conv;
    RknpuInt8Conv c = {
        .state = state,
        .conv = conv,
        .out = state->dpu_desc->out,
        .in_width = conv->input.width,
        .in_height = conv->input.height,
        .width_limit = conv->width_limit,
        .kernels = rknpu_int8_kernels(state->job->config->force_isa),
        .pad = (int8_t)conv->pad_bits,
    };
    int64_t bound = accumulator_bound(&c);
    RknpuTaskResult r;

    *taken = false;
    if (bound > INT32_MAX || (conv->add_ow && conv->sum_without_padding) ||
        conv->tap_channels % 16) {
        return RKNPU_TASK_OK;
    }
    flatten(&c);
    c.identity = rknpu_requant_is_identity(state->dpu_desc, conv);
    c.fused = rknpu_requant_plan(&c.plan, state->dpu, conv, bound);
    if (c.fused && !view_whole_output(&c)) {
        *taken = true;
        r = RKNPU_TASK_WRITE_FAULT;
    } else {
        r = conv->depthwise ? rknpu_int8_depthwise(&c, taken) : rknpu_int8_direct(&c, taken);
    }
    rknpu_requant_plan_free(&c.plan);
    return r;
}
