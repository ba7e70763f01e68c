/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pooling unit: maximum, minimum or average over a window, one surface of channels at a time.
 *
 * Pixels outside the map count as the pad value in an average and not at all in a maximum or
 * minimum: Rockchip's compiler pads maxima of negative numbers with 0. The average divides by the
 * whole window, padding included: sum * RECIP_KERNEL_WIDTH * RECIP_KERNEL_HEIGHT / 2^32 with the
 * reciprocals as the program gives them (a program may give others, allbilly/rk3588's global
 * average does). Integers are rounded once, to nearest even: dnhkng/open-rknpu measured that for
 * 2x2 on a board. In the float formats the reciprocals are fp16 numbers; sum, then width, then
 * height, each rounded to fp32.
 */
#include "task.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "convert.h"

/* One row of input, converted; slot = y mod kernel height. */
typedef struct Row {
    bool valid;
    unsigned y;
} Row;

typedef struct Pooling {
    RknpuJob *job;
    const RknpuPool *pool;
    bool floating;
    unsigned atom;
    unsigned elements; /* of one input row of one surface */
    uint8_t *raw;      /* one row as in memory */
    Row *rows;
    int32_t *ints; /* [slot][pixel][lane] */
    float *floats;
    uint8_t *out; /* one output row of one surface */
    float pad_float;
} Pooling;

static float pad_as_float(RknpuType type, int64_t pad)
{
    uint8_t bytes[4] = { (uint8_t)pad, (uint8_t)(pad >> 8), (uint8_t)(pad >> 16),
                         (uint8_t)(pad >> 24) };

    return rknpu_load_float(type, bytes, 0);
}

static bool fetch_row(Pooling *p, unsigned surface, unsigned y)
{
    const RknpuCube *in = &p->pool->input;
    unsigned slot = y % p->pool->kernel_height;
    size_t bytes = (size_t)in->width * in->pixel_bytes;
    uint32_t address = rknpu_cube_address(in, surface, y, 0);

    if (p->rows[slot].valid && p->rows[slot].y == y) {
        return true;
    }
    if (!rknpu_mem_read(p->job->mem, RKNPU_STREAM_FEATURE, address, p->raw, bytes)) {
        return false;
    }
    rknpu_mem_count(p->job->mem, RKNPU_STREAM_FEATURE, address, bytes);
    for (unsigned i = 0; i < p->elements; i++) {
        size_t at = (size_t)slot * p->elements + i;

        if (p->floating) {
            p->floats[at] = rknpu_load_float(in->type, p->raw, i);
        } else {
            p->ints[at] = rknpu_load_int(in->type, p->raw, i);
        }
    }
    p->rows[slot] = (Row){ .valid = true, .y = y };
    return true;
}

/* Position of a tap: true and its element index, or false for padding. */
static bool tap(const Pooling *p, int64_t iy, int64_t ix, unsigned lane, size_t *at)
{
    const RknpuCube *in = &p->pool->input;

    if (iy < 0 || iy >= in->height || ix < 0 || ix >= in->width) {
        return false;
    }
    *at = (size_t)(iy % p->pool->kernel_height) * p->elements + (size_t)ix * p->atom + lane;
    return true;
}

static int64_t pool_int(const Pooling *p, int64_t top, int64_t left, unsigned lane)
{
    const RknpuPool *pool = p->pool;
    int64_t sum = 0, high = INT64_MIN, low = INT64_MAX;
    bool none = true;
    size_t at = 0;

    for (unsigned ky = 0; ky < pool->kernel_height; ky++) {
        for (unsigned kx = 0; kx < pool->kernel_width; kx++) {
            if (!tap(p, top + ky, left + kx, lane, &at)) {
                sum += pool->pad_value;
                continue;
            }
            none = false;
            sum += p->ints[at];
            high = MAX(high, p->ints[at]);
            low = MIN(low, p->ints[at]);
        }
    }
    if (pool->method == RKNPU_POOL_AVERAGE) {
        int64_t product = rknpu_mul_sat(sum, (int64_t)pool->recip_width * pool->recip_height);

        return rknpu_round_shift(product, 32, RKNPU_ROUND_HALF_EVEN);
    }
    return none ? pool->pad_value : pool->method == RKNPU_POOL_MAX ? high : low;
}

static float pool_float(const Pooling *p, int64_t top, int64_t left, unsigned lane)
{
    const RknpuPool *pool = p->pool;
    float sum = 0, best = p->pad_float;
    bool first = true;
    size_t at = 0;

    for (unsigned ky = 0; ky < pool->kernel_height; ky++) {
        for (unsigned kx = 0; kx < pool->kernel_width; kx++) {
            bool inside = tap(p, top + ky, left + kx, lane, &at);
            float v = inside ? p->floats[at] : p->pad_float;
            bool better = pool->method == RKNPU_POOL_MAX ? v > best : v < best;

            sum += v;
            if (inside && (first || better || v != v)) {
                best = v;
                first = false;
            }
        }
    }
    if (pool->method == RKNPU_POOL_AVERAGE) {
        float width = rknpu_fp16_to_float((uint16_t)pool->recip_width) * 0x1p-16f;
        float height = rknpu_fp16_to_float((uint16_t)pool->recip_height) * 0x1p-16f;

        return sum * width * height;
    }
    return best;
}

static RknpuTaskResult pool_row(Pooling *p, unsigned surface, unsigned oy)
{
    const RknpuPool *pool = p->pool;
    unsigned lanes = MIN(p->atom, pool->out_channels - surface * p->atom);
    int64_t top = (int64_t)oy * pool->stride_y - pool->pad_top;
    uint32_t address =
        (uint32_t)(pool->out_base + surface * pool->out_surface_pitch + oy * pool->out_line_pitch);
    size_t bytes = (size_t)pool->out_width * 16;

    for (int64_t iy = MAX(top, 0); iy < MIN(top + pool->kernel_height, (int64_t)pool->input.height);
         iy++) {
        if (!fetch_row(p, surface, (unsigned)iy)) {
            return RKNPU_TASK_READ_FAULT;
        }
    }
    memset(p->out, 0, bytes);
    for (unsigned ox = 0; ox < pool->out_width; ox++) {
        int64_t left = (int64_t)ox * pool->stride_x - pool->pad_left;
        uint8_t *to = p->out + (size_t)ox * 16;

        for (unsigned lane = 0; lane < lanes; lane++) {
            if (p->floating) {
                rknpu_store_float(pool->input.type, to, lane, pool_float(p, top, left, lane));
            } else {
                rknpu_store_int(pool->input.type, to, lane, pool_int(p, top, left, lane));
            }
        }
    }
    if (!rknpu_mem_write(p->job->mem, address, p->out, bytes)) {
        return RKNPU_TASK_WRITE_FAULT;
    }
    rknpu_mem_count(p->job->mem, RKNPU_STREAM_OUTPUT, address, bytes);
    return RKNPU_TASK_OK;
}

static RknpuTaskResult pool_surfaces(Pooling *p)
{
    unsigned surfaces = (p->pool->out_channels + p->atom - 1) / p->atom;

    for (unsigned s = 0; s < surfaces; s++) {
        for (unsigned i = 0; i < p->pool->kernel_height; i++) {
            p->rows[i].valid = false;
        }
        for (unsigned oy = 0; oy < p->pool->out_height; oy++) {
            RknpuTaskResult r;

            if (rknpu_cancelled(p->job)) {
                return RKNPU_TASK_CANCELLED;
            }
            r = pool_row(p, s, oy);
            if (r != RKNPU_TASK_OK) {
                return r;
            }
        }
    }
    return RKNPU_TASK_OK;
}

/* A window that leaves the padded map stops the chip for ever (seen on RK3568 boards); say so. */
static void check_windows(const RknpuJob *job, const RknpuPool *pool)
{
    uint64_t right = (uint64_t)(pool->out_width - 1) * pool->stride_x + pool->kernel_width;
    uint64_t bottom = (uint64_t)(pool->out_height - 1) * pool->stride_y + pool->kernel_height;

    if (right > (uint64_t)pool->input.width + pool->pad_left + pool->pad_right ||
        bottom > (uint64_t)pool->input.height + pool->pad_top + pool->pad_bottom) {
        rknpu_report(job, RKNPU_EVENT_GUEST_ERROR, right,
                     "PPU: a window leaves the padded map at %" PRIu64 "x%" PRIu64
                     "; a chip may hang here",
                     right, bottom);
    }
}

RknpuTaskResult rknpu_pool_run(RknpuJob *job, const RknpuTask *task)
{
    const RknpuPool *pool = &task->pool;
    RknpuTaskResult result = RKNPU_TASK_INVALID;
    Pooling p = { .job = job, .pool = pool };
    size_t window;

    check_windows(job, pool);
    p.floating = rknpu_type_is_float(pool->input.type);
    p.atom = pool->input.atom;
    p.elements = pool->input.width * p.atom;
    p.pad_float = pad_as_float(pool->input.type, pool->pad_value);
    window = (size_t)pool->kernel_height * p.elements; /* at most 16 * 8192 * 32 */
    p.rows = g_new0(Row, pool->kernel_height);
    p.raw = g_try_malloc((size_t)pool->input.width * pool->input.pixel_bytes);
    p.out = g_try_malloc((size_t)pool->out_width * 16);
    p.ints = p.floating ? NULL : g_try_new(int32_t, window);
    p.floats = p.floating ? g_try_new(float, window) : NULL;
    if (p.raw && p.out && (p.ints || p.floats)) {
        result = pool_surfaces(&p);
    } else {
        rknpu_report(job, RKNPU_EVENT_GUEST_ERROR, window, "PPU: no memory for %zu elements",
                     window);
    }
    g_free(p.floats);
    g_free(p.ints);
    g_free(p.out);
    g_free(p.raw);
    g_free(p.rows);
    return result;
}
