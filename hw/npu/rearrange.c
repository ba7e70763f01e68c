/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DPU-only tasks that move data instead of computing it: transposes, enlarging, and packed output.
 *
 * Rockchip's compiler builds transpose, reshape, softmax, nearest resize and matrix products of two
 * inputs from such tasks; which register bits do what was read from its programs, with the layouts
 * at both ends known (docs/hardware-notes.md, "Tasks that rearrange").
 */
#include <glib.h>
#include <math.h>
#include <string.h>
#include "convert.h"
#include "dpu.h"

#define ATOM     16
#define RUN      8  /* pixels that are packed at a time */
#define MAX_LANE 16 /* elements of an atom */
#define MAX_PASS 16 /* atoms of a pass */

typedef struct Mover {
    RknpuJob *job;
    const RknpuTask *task;
    const RknpuCube *in;
    const RknpuOutput *out;
    uint64_t pixels;   /* of a surface */
    unsigned surfaces; /* of the input */
    unsigned lanes;    /* elements of an atom */
    RknpuTaskResult result;
} Mover;

static bool fail(Mover *m, RknpuTaskResult result)
{
    m->result = result;
    return false;
}

/* Pixels [first, first + count) of a surface in rows' order; what lies behind the last one is 0. */
static bool read_pixels(Mover *m, unsigned surface, uint64_t first, unsigned count, uint8_t *to)
{
    if (rknpu_cancelled(m->job)) {
        return fail(m, RKNPU_TASK_CANCELLED);
    }
    memset(to, 0, (size_t)count * ATOM);
    for (unsigned i = 0; i < count && first + i < m->pixels;) {
        unsigned y = (unsigned)((first + i) / m->in->width);
        unsigned x = (unsigned)((first + i) % m->in->width);
        unsigned n = MIN(count - i, m->in->width - x);
        uint32_t at = rknpu_cube_address(m->in, surface, y, x);

        if (!rknpu_mem_read(m->job->mem, RKNPU_STREAM_FEATURE, at, to + (size_t)i * ATOM,
                            (uint64_t)n * ATOM)) {
            return fail(m, RKNPU_TASK_READ_FAULT);
        }
        rknpu_mem_count(m->job->mem, RKNPU_STREAM_FEATURE, at, (uint64_t)n * ATOM);
        i += n;
    }
    return true;
}

static bool write_bytes(Mover *m, uint32_t at, const uint8_t *bytes, uint64_t len)
{
    if (!rknpu_mem_write(m->job->mem, at, bytes, len)) {
        return fail(m, RKNPU_TASK_WRITE_FAULT);
    }
    rknpu_mem_count(m->job->mem, RKNPU_STREAM_OUTPUT, at, len);
    return true;
}

/* Atoms [first, first + count) of the stream: surface behind surface, each by rows. */
static bool read_stream(Mover *m, uint64_t first, unsigned count, uint8_t *to)
{
    memset(to, 0, (size_t)count * ATOM);
    for (unsigned i = 0; i < count && (first + i) / m->pixels < m->surfaces;) {
        uint64_t pixel = (first + i) % m->pixels;
        unsigned n = (unsigned)MIN((uint64_t)(count - i), m->pixels - pixel);

        if (!read_pixels(m, (unsigned)((first + i) / m->pixels), pixel, n, to + (size_t)i * ATOM)) {
            return false;
        }
        i += n;
    }
    return true;
}

/* Atom `e` at position `n` of what the writer counts: passes of split_width by split_height. */
static uint32_t place(const Mover *m, uint64_t n, unsigned e)
{
    const RknpuOutput *out = m->out;
    uint64_t area = (uint64_t)out->split_width * out->split_height;
    uint64_t pass = n / area, row = n % area / out->split_width, column = n % out->split_width;

    return out->base + (uint32_t)(pass * (uint64_t)out->pass_pitch) +
           (uint32_t)(e * (uint64_t)out->surface_pitch) +
           (uint32_t)(row * (uint64_t)out->line_pitch) + (uint32_t)(column * ATOM);
}

/*
 * TP_ORG_EN: blocks of as many atoms of the stream as an atom has elements are turned, so pixels
 * become elements. A position of the writer takes the atoms of a pass; a block of bytes fills one
 * or two.
 */
static bool turn_block(Mover *m, uint64_t block)
{
    uint8_t in[MAX_LANE * ATOM], out[ATOM];
    unsigned size = ATOM / m->lanes;

    if (!read_stream(m, block * m->lanes, m->lanes, in)) {
        return false;
    }
    for (unsigned lane = 0; lane < m->lanes; lane++) {
        uint64_t atom = block * m->lanes + lane;

        for (unsigned p = 0; p < m->lanes; p++) {
            memcpy(out + p * size, in + p * ATOM + lane * size, size);
        }
        if (!write_bytes(m,
                         place(m, atom / m->out->pass_atoms, (unsigned)(atom % m->out->pass_atoms)),
                         out, ATOM)) {
            return false;
        }
    }
    return true;
}

static bool turn(Mover *m)
{
    uint64_t blocks = (m->pixels * m->surfaces + m->lanes - 1) / m->lanes;

    for (uint64_t b = 0; b < blocks; b++) {
        if (!turn_block(m, b)) {
            return false;
        }
    }
    return true;
}

/* TP_EN: the pixels of a row become the atoms of one position of the writer. */
static bool spread_rows(Mover *m)
{
    uint8_t row[MAX_PASS * ATOM];

    for (unsigned s = 0; s < m->surfaces; s++) {
        for (unsigned y = 0; y < m->in->height; y++) {
            uint64_t n = (uint64_t)s * m->in->height + y;

            if (!read_pixels(m, s, (uint64_t)y * m->in->width, m->in->width, row)) {
                return false;
            }
            for (unsigned x = 0; x < m->in->width; x++) {
                if (!write_bytes(m, place(m, n, x), row + x * ATOM, ATOM)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* Unpooling: each pixel repeats along its row; the rows below it are the other atoms of a pass. */
static bool enlarge_row(Mover *m, unsigned surface, unsigned y, uint8_t *in, uint8_t *row)
{
    unsigned times = m->task->enlarge_x;

    if (!read_pixels(m, surface, (uint64_t)y * m->in->width, m->in->width, in)) {
        return false;
    }
    for (unsigned x = 0; x < m->in->width * times; x++) {
        memcpy(row + (size_t)x * ATOM, in + (size_t)(x / times) * ATOM, ATOM);
    }
    for (unsigned e = 0; e < m->task->enlarge_y; e++) {
        uint32_t at = m->out->base + (uint32_t)(surface * m->out->pass_pitch) +
                      (uint32_t)(e * m->out->surface_pitch) + (uint32_t)(y * m->out->line_pitch);

        if (!write_bytes(m, at, row, (uint64_t)m->in->width * times * ATOM)) {
            return false;
        }
    }
    return true;
}

static bool enlarge(Mover *m)
{
    g_autofree uint8_t *in = g_malloc((size_t)m->in->width * ATOM);
    g_autofree uint8_t *row = g_malloc((size_t)m->in->width * m->task->enlarge_x * ATOM);

    for (unsigned s = 0; s < m->surfaces; s++) {
        for (unsigned y = 0; y < m->in->height; y++) {
            if (!enlarge_row(m, s, y, in, row)) {
                return false;
            }
        }
    }
    return true;
}

/* Largest of the tensor's own channels, pixel by pixel; a NaN stays. */
static bool largest(Mover *m, uint64_t first, unsigned count, uint8_t *packed)
{
    unsigned channels = MIN(m->out->original_channels, m->in->channels);
    uint8_t pixels[RUN * ATOM];
    float best[RUN];

    for (unsigned c = 0; c < channels; c++) {
        if (c % m->in->atom == 0 && !read_pixels(m, c / m->in->atom, first, count, pixels)) {
            return false;
        }
        for (unsigned p = 0; p < count; p++) {
            float v = rknpu_load_float(m->in->type, pixels + p * ATOM, c % m->in->atom);

            best[p] = c == 0 || v > best[p] || v != v ? v : best[p];
        }
    }
    for (unsigned p = 0; p < count; p++) {
        rknpu_store_float(m->in->type, packed, p, best[p]);
    }
    return true;
}

/* One element a pixel, without gaps (NONALIGN): the first one, or the largest. */
static bool pack(Mover *m)
{
    unsigned size = m->task->element_bytes;
    uint32_t at = m->out->base;

    for (uint64_t first = 0; first < m->pixels; first += RUN) {
        unsigned count = (unsigned)MIN((uint64_t)RUN, m->pixels - first);
        uint8_t pixels[RUN * ATOM], packed[RUN * 4];

        if (m->task->rearrange == RKNPU_REARRANGE_MAXIMUM) {
            if (!largest(m, first, count, packed)) {
                return false;
            }
        } else {
            if (!read_pixels(m, 0, first, count, pixels)) {
                return false;
            }
            for (unsigned p = 0; p < count; p++) {
                memcpy(packed + p * size, pixels + p * ATOM, size);
            }
        }
        if (!write_bytes(m, at, packed, count * size)) {
            return false;
        }
        at += count * size;
    }
    return true;
}

/* The writer of bytes without gaps: a line at a time, filled up to whole atoms. */
typedef struct Lines {
    Mover *m;
    uint8_t *line;
    unsigned filled;
    uint64_t atoms; /* written so far */
} Lines;

static bool flush_line(Lines *l)
{
    const RknpuTask *task = l->m->task;
    uint64_t atoms = (l->filled + ATOM - 1) / ATOM;
    uint64_t left = task->line_atoms > l->atoms ? task->line_atoms - l->atoms : 0;
    bool ok;

    atoms = MIN(atoms, left);
    for (unsigned i = 0; i < ATOM; i++) {
        l->line[l->filled + i] = rknpu_pend_byte(l->m->out->pend, (l->filled + i) % 2);
    }
    ok = write_bytes(l->m, task->line_base + (uint32_t)(l->atoms * ATOM), l->line, atoms * ATOM);
    l->atoms += atoms;
    l->filled = 0;
    return ok;
}

static bool put_bytes(Lines *l, const uint8_t *bytes, unsigned len)
{
    while (len) {
        unsigned n = MIN(len, l->m->task->line_bytes - l->filled);

        memcpy(l->line + l->filled, bytes, n);
        l->filled += n;
        bytes += n;
        len -= n;
        if (l->filled == l->m->task->line_bytes && !flush_line(l)) {
            return false;
        }
    }
    return true;
}

static bool write_atoms(Mover *m, uint8_t *line)
{
    Lines l = { .m = m, .line = line };

    for (unsigned s = 0; s < m->surfaces; s++) {
        for (uint64_t first = 0; first < m->pixels && l.atoms < m->task->line_atoms; first += RUN) {
            unsigned count = (unsigned)MIN((uint64_t)RUN, m->pixels - first);
            bool last = first + count == m->pixels;
            uint8_t pixels[RUN * ATOM];

            if (!read_pixels(m, s, first, count, pixels) ||
                !put_bytes(&l, pixels,
                           last ? (count - 1) * ATOM + m->task->last_bytes : count * ATOM)) {
                return false;
            }
        }
    }
    return l.filled == 0 || flush_line(&l);
}

/* One pixel of the convolution's results, by kernels; the pipe is no traffic. */
static bool read_result(Mover *m, uint64_t n, uint8_t *to)
{
    unsigned y = (unsigned)(n % m->in->height), x = (unsigned)(n / m->in->height);

    for (unsigned s = 0; s < m->surfaces; s++) {
        if (!rknpu_mem_read(m->job->mem, RKNPU_STREAM_FEATURE, rknpu_cube_address(m->in, s, y, x),
                            to + (size_t)s * ATOM, ATOM)) {
            return fail(m, RKNPU_TASK_READ_FAULT);
        }
    }
    return true;
}

/*
 * Of eight kernels the first four are searched: Rockchip's compiler leaves the others zero, and the
 * networks whose numbers are all negative want no zero among them.
 */
static bool write_pieces(Mover *m, uint8_t *line)
{
    g_autofree uint8_t *pixel = g_malloc((size_t)m->surfaces * ATOM);
    Lines l = { .m = m, .line = line };
    uint64_t at = 0;
    float best = -INFINITY;

    for (uint64_t n = 0; n < m->pixels && l.atoms < m->task->line_atoms; n++) {
        if (rknpu_cancelled(m->job)) {
            return fail(m, RKNPU_TASK_CANCELLED);
        }
        if (!read_result(m, n, pixel)) {
            return false;
        }
        for (unsigned k = 0; k < m->in->channels; k++) {
            float v = rknpu_load_float(m->in->type, pixel, k);
            uint8_t packed[2];

            best = k % 8 < 4 && (v > best || v != v) ? v : best;
            if (++at == m->task->piece) {
                rknpu_store_float(m->in->type, packed, 0, best);
                if (!put_bytes(&l, packed, sizeof(packed))) {
                    return false;
                }
                at = 0;
                best = -INFINITY;
            }
        }
    }
    return l.filled == 0 || flush_line(&l);
}

static bool lines(Mover *m)
{
    g_autofree uint8_t *line = g_try_malloc((size_t)m->task->line_bytes + ATOM);

    if (!line) {
        rknpu_report(m->job, RKNPU_EVENT_GUEST_ERROR, m->task->line_bytes,
                     "DPU LINE_BYTES: no memory for a line of %u bytes", m->task->line_bytes);
        return fail(m, RKNPU_TASK_INVALID);
    }
    return m->task->rearrange == RKNPU_REARRANGE_PIECES ? write_pieces(m, line)
                                                        : write_atoms(m, line);
}

RknpuTaskResult rknpu_rearrange_run(RknpuJob *job, const RknpuTask *task)
{
    const RknpuCube *in = &task->flying;
    Mover m = {
        .job = job,
        .task = task,
        .in = in,
        .out = &task->dpu.out,
        .pixels = (uint64_t)in->width * in->height,
        .surfaces = (in->channels + in->atom - 1) / in->atom,
        .lanes = task->element_bytes ? ATOM / task->element_bytes : 0,
    };

    switch (task->rearrange) {
    case RKNPU_REARRANGE_TURN:
        turn(&m);
        break;
    case RKNPU_REARRANGE_SPREAD:
        spread_rows(&m);
        break;
    case RKNPU_REARRANGE_ENLARGE:
        enlarge(&m);
        break;
    case RKNPU_REARRANGE_LINES:
    case RKNPU_REARRANGE_PIECES:
        lines(&m);
        break;
    default:
        pack(&m);
    }
    return m.result;
}
