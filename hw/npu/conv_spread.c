/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deconvolutions for the fast paths: the map that the kernel walks over, written out as a feature
 * cube that lies over the task's feature stream.
 *
 *   a b        a . b      . = the pad value, in every channel
 *   c d   ->   . . .
 *              c . d      (spread 2)
 */
#include "conv.h"

#include <glib.h>
#include <string.h>

#define ATOM_BYTES 16
#define MAP_MAX    (64u << 20)

typedef struct Spread {
    const RknpuConv *conv;
    RknpuMem *mem;
    RknpuCube map;
    unsigned surfaces;
    unsigned rows; /* of the input that the output needs */
    uint8_t gap[ATOM_BYTES];
    uint8_t *row; /* of the input */
} Spread;

static bool describe_map(const RknpuConv *conv, const RknpuOutput *out, Spread *s)
{
    const RknpuCube *in = &conv->input;
    unsigned bytes = rknpu_type_bits(conv->type) / 8;
    uint64_t width = (uint64_t)(conv->width_limit - 1) * conv->spread_x + 1;
    uint64_t height = (uint64_t)(in->height - 1) * conv->spread_y + 1;
    int64_t last = (int64_t)out->height * conv->stride_y - conv->stride_y +
                   (int64_t)(conv->kernel_height - 1) * conv->dilation_y - conv->pad_top;

    if (bytes == 0 || in->pixel_bytes != ATOM_BYTES || conv->convert.active ||
        conv->width_limit == 0 || width * height > MAP_MAX / ATOM_BYTES) {
        return false;
    }
    s->map = *in;
    s->map.base = 0;
    s->map.width = (unsigned)width;
    s->map.height = (unsigned)height;
    if (!conv->depthwise) {
        s->map.channels = MAX(in->channels, conv->tap_channels);
    }
    s->map.line_pitch = (int64_t)width * ATOM_BYTES;
    s->map.group_pitch = 4 * s->map.line_pitch;
    s->map.surface_pitch = (int64_t)height * s->map.line_pitch;
    s->surfaces = (s->map.channels + in->atom - 1) / in->atom;
    s->rows = last < 0 ? 0 : (unsigned)MIN(last / conv->spread_y + 1, (int64_t)in->height);
    for (unsigned i = 0; i < ATOM_BYTES; i++) {
        s->gap[i] = (uint8_t)(conv->pad_bits >> (i % bytes * 8));
    }
    return s->surfaces * (uint64_t)s->map.surface_pitch <= MAP_MAX;
}

/* A row of the input in its places; lanes behind the last channel become 0. */
static void place_row(const Spread *s, unsigned surface, uint8_t *to)
{
    const RknpuCube *in = &s->conv->input;
    unsigned first = surface * in->atom;
    unsigned lanes = in->channels > first ? MIN(in->channels - first, in->atom) : 0;
    unsigned used = lanes * ATOM_BYTES / in->atom;
    size_t step = (size_t)s->conv->spread_x * ATOM_BYTES;

    for (unsigned x = 0; x < s->conv->width_limit; x++) {
        memcpy(to + x * step, s->row + (size_t)x * ATOM_BYTES, used);
        memset(to + x * step + used, 0, ATOM_BYTES - used);
    }
}

/* False: a read fault. */
static bool fill_map(const Spread *s, uint8_t *map)
{
    const RknpuCube *in = &s->conv->input;
    unsigned present = (in->channels + in->atom - 1) / in->atom;
    size_t places = (size_t)s->surfaces * s->map.width * s->map.height;

    for (size_t i = 0; i < places; i++) {
        memcpy(map + i * ATOM_BYTES, s->gap, ATOM_BYTES);
    }
    for (unsigned surface = 0; surface < s->surfaces; surface++) {
        for (unsigned y = 0; y < s->rows; y++) {
            uint32_t to = rknpu_cube_address(&s->map, surface, y * s->conv->spread_y, 0);

            if (surface < present &&
                !rknpu_mem_read(s->mem, RKNPU_STREAM_FEATURE, rknpu_cube_address(in, surface, y, 0),
                                s->row, (uint64_t)s->conv->width_limit * ATOM_BYTES)) {
                return false;
            }
            place_row(s, surface, map + to);
        }
    }
    return true;
}

RknpuTaskResult rknpu_conv_spread(RknpuConvState *state, RknpuConvPath *path, bool *taken)
{
    const RknpuConv *conv = state->conv;
    Spread s = { .conv = conv, .mem = state->job->mem };
    RknpuTaskResult r = RKNPU_TASK_READ_FAULT;
    RknpuConv plain;
    uint8_t *map;

    *taken = false;
    if (!describe_map(conv, &state->dpu_desc->out, &s)) {
        return RKNPU_TASK_OK;
    }
    map = g_try_malloc(s.surfaces * (size_t)s.map.surface_pitch);
    s.row = g_try_malloc((size_t)conv->width_limit * ATOM_BYTES);
    if (!map || !s.row || !fill_map(&s, map)) {
        *taken = map && s.row;
        g_free(map);
        g_free(s.row);
        return r;
    }
    g_free(s.row);
    plain = *conv;
    plain.input = s.map;
    plain.width_limit = s.map.width;
    plain.spread_x = plain.spread_y = 1;
    rknpu_mem_overlay(s.mem, RKNPU_STREAM_FEATURE, 0, map,
                      s.surfaces * (uint64_t)s.map.surface_pitch);
    state->conv = &plain;
    r = path(state, taken);
    state->conv = conv;
    rknpu_mem_overlay(s.mem, RKNPU_STREAM_FEATURE, 0, NULL, 0);
    return r;
}
