/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DPU-only tasks ("flying"): the main input comes from memory through the MRDMA, walks through the
 * DPU's stages and returns to memory. Elementwise operations, scalings, type changes and look-ups
 * are such tasks.
 *
 * The input's atoms and the output's may hold different numbers of channels (fp16 in, fp32 out), so
 * a row of the input is fetched whole and the runs pick their channels from it.
 */
#include "dpu.h"

#include <glib.h>

typedef struct Flying {
    RknpuJob *job;
    const RknpuCube *in;
    RknpuDpuState *dpu;
    bool floating;
    unsigned width;    /* pixels of a row */
    unsigned surfaces; /* input surfaces that the output's channels need */
    size_t row_bytes;  /* of one surface */
    uint8_t *row;      /* [surface][pixel][atom] */
    int64_t *ints;     /* one run, [pixel][lane] */
    float *floats;
} Flying;

static bool fetch_row(Flying *f, unsigned y)
{
    for (unsigned s = 0; s < f->surfaces; s++) {
        uint32_t address = rknpu_cube_address(f->in, s, y, 0);

        if (!rknpu_mem_read(f->job->mem, RKNPU_STREAM_FEATURE, address, f->row + s * f->row_bytes,
                            f->row_bytes)) {
            return false;
        }
        rknpu_mem_count(f->job->mem, RKNPU_STREAM_FEATURE, address, f->row_bytes);
    }
    return true;
}

/* Element index inside the fetched row; channels beyond the input cube do not exist. */
static bool locate(const Flying *f, unsigned channel, unsigned pixel, const uint8_t **from,
                   size_t *index)
{
    if (channel >= f->in->channels) {
        return false;
    }
    *from = f->row + channel / f->in->atom * f->row_bytes + (size_t)pixel * f->in->pixel_bytes;
    *index = channel % f->in->atom;
    return true;
}

static RknpuTaskResult compute_run(Flying *f, const RknpuRun *run)
{
    for (unsigned p = 0; p < run->pixels; p++) {
        for (unsigned lane = 0; lane < run->lanes; lane++) {
            const uint8_t *from;
            size_t index;
            bool there = locate(f, run->channel + lane, run->x + p, &from, &index);
            unsigned at = p * run->lanes + lane;

            if (f->floating) {
                f->floats[at] = there ? rknpu_load_float(f->in->type, from, index) : 0;
            } else {
                f->ints[at] = there ? rknpu_load_int(f->in->type, from, index) : 0;
            }
        }
    }
    return f->floating ? rknpu_dpu_float(f->dpu, run, f->floats)
                       : rknpu_dpu_int(f->dpu, run, f->ints);
}

static RknpuTaskResult compute_row(Flying *f, const RknpuOutput *out, unsigned y)
{
    for (unsigned c = 0; c < out->channels; c += out->atom) {
        if (c / out->atom % out->pass_atoms >= out->stored_atoms) {
            continue;
        }
        for (unsigned x = 0; x < f->width; x += RKNPU_RUN_PIXELS) {
            RknpuRun run = {
                .channel = c,
                .lanes = MIN(out->atom, out->channels - c),
                .y = y,
                .x = x,
                .pixels = MIN(RKNPU_RUN_PIXELS, f->width - x),
            };
            RknpuTaskResult r = compute_run(f, &run);

            if (r != RKNPU_TASK_OK) {
                return r;
            }
        }
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult compute(Flying *f, const RknpuOutput *out)
{
    for (unsigned y = 0; y < out->height; y++) {
        RknpuTaskResult r;

        if (rknpu_cancelled(f->job)) {
            return RKNPU_TASK_CANCELLED;
        }
        if (!fetch_row(f, y)) {
            return RKNPU_TASK_READ_FAULT;
        }
        r = compute_row(f, out, y);
        if (r != RKNPU_TASK_OK) {
            return r;
        }
    }
    rknpu_dpu_count_output(f->dpu);
    return RKNPU_TASK_OK;
}

RknpuTaskResult rknpu_flying_run(RknpuJob *job, const RknpuTask *task)
{
    const RknpuOutput *out = &task->dpu.out;
    const RknpuCube *in = &task->flying;
    RknpuTaskResult result = RKNPU_TASK_OK;
    Flying f = { .job = job, .in = in };

    f.floating = rknpu_type_is_float(task->dpu.type);
    f.width = out->width;
    f.surfaces = (MIN(in->channels, out->channels) + in->atom - 1) / in->atom;
    f.row_bytes = (size_t)f.width * in->pixel_bytes;
    f.dpu = rknpu_dpu_open(job, &task->dpu, &result);
    if (!f.dpu) {
        return result;
    }
    f.row = g_try_malloc_n(f.surfaces, f.row_bytes);
    f.ints = g_new(int64_t, RKNPU_RUN_PIXELS * RKNPU_RUN_LANES);
    f.floats = g_new(float, RKNPU_RUN_PIXELS *RKNPU_RUN_LANES);
    if (f.row) {
        result = compute(&f, out);
    } else {
        rknpu_report(job, RKNPU_EVENT_GUEST_ERROR, f.surfaces,
                     "DPU: no memory for a row of %u surfaces", f.surfaces);
        result = RKNPU_TASK_INVALID;
    }
    g_free(f.floats);
    g_free(f.ints);
    g_free(f.row);
    rknpu_dpu_close(f.dpu);
    return result;
}
