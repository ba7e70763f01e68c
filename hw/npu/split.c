/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each part is a task of its own over some of the output rows, with its own memory window, so that
 * the files that compute know nothing of it. What one thread would find first has to be found first
 * here too: inputs are mapped when their traffic is counted, the output is mapped before the parts
 * start, and a task that overwrites its own input stays on one thread.
 */
#include "split.h"

#include <glib.h>

#include "mem.h"
#include "team.h"

#define PARTS_MAX 8
/* What a part is worth waking a thread for. */
#define PART_MACS (8u << 20)

typedef struct Part {
    RknpuJob job;
    RknpuTask task;
    RknpuDpuState dpu;
    RknpuConvState state;
    RknpuTaskResult result;
} Part;

typedef struct Split {
    Part part[PARTS_MAX];
    RknpuTaskResult (*compute)(RknpuConvState *state);
} Split;

static uint64_t count_work(const RknpuConv *conv, const RknpuOutput *out)
{
    uint64_t depth = conv->depthwise ? 1 : conv->tap_channels;

    return (uint64_t)out->width * out->height * out->channels * depth * conv->kernel_width *
           conv->kernel_height;
}

/* True when the parts may run in any order. */
static bool may_split(const RknpuConvState *state)
{
    const RknpuConv *conv = state->conv;
    const RknpuOutput *out = &state->dpu_desc->out;

    return conv->spread_y == 1 && !out->split_width &&
           conv->input.group_pitch == 4 * conv->input.line_pitch &&
           rknpu_conv_input_row(conv, out->height - 1) < (int64_t)conv->input.height &&
           rknpu_conv_is_apart(state);
}

static void keep_rows(RknpuTask *task, unsigned first, unsigned rows)
{
    RknpuConv *conv = &task->conv;
    RknpuOutput *out = &task->dpu.out;
    RknpuEwCube *ew = &task->dpu.ew.cube;
    int64_t top = rknpu_conv_input_row(conv, first);
    unsigned above = MAX(top, 0);

    conv->input.base += (uint32_t)(above * conv->input.line_pitch);
    conv->input.height -= above;
    conv->pad_top = above - top;
    out->base += (uint32_t)(first * out->line_pitch);
    out->height = rows;
    if (task->dpu.ew.source == RKNPU_EW_PIXEL) {
        ew->base[0] += (uint32_t)(first * ew->line_pitch);
        ew->base[1] += (uint32_t)(first * ew->line_pitch);
    }
}

static void open_part(Part *part, const RknpuConvState *whole, unsigned first, unsigned rows)
{
    part->job = *whole->job;
    part->job.mem = rknpu_mem_part(whole->job->mem);
    part->task = *whole->task;
    keep_rows(&part->task, first, rows);
    part->dpu = *whole->dpu;
    part->dpu.job = &part->job;
    part->dpu.dpu = &part->task.dpu;
    part->state = (RknpuConvState){
        .job = &part->job,
        .task = &part->task,
        .conv = &part->task.conv,
        .dpu_desc = &part->task.dpu,
        .dpu = &part->dpu,
    };
}

static void run_part(void *opaque, unsigned number)
{
    Split *split = opaque;
    Part *part = &split->part[number];

    part->result = split->compute(&part->state);
    if (!rknpu_mem_release(part->job.mem) && part->result == RKNPU_TASK_OK) {
        part->result = RKNPU_TASK_WRITE_FAULT;
    }
}

RknpuTaskResult rknpu_split_run(RknpuConvState *state,
                                RknpuTaskResult (*compute)(RknpuConvState *state))
{
    const RknpuOutput *out = &state->dpu_desc->out;
    uint64_t wanted = MIN(count_work(state->conv, out) / PART_MACS, MIN(PARTS_MAX, out->height));
    unsigned helpers = 0;
    RknpuTaskResult result = RKNPU_TASK_OK;
    Split *split;

    if (state->job->team && wanted > 1 && may_split(state) && rknpu_dpu_map_output(state->dpu)) {
        helpers = rknpu_team_take(state->job->team, (unsigned)wanted - 1);
    }
    if (!helpers) {
        return compute(state);
    }
    split = g_new0(Split, 1);
    split->compute = compute;
    for (unsigned i = 0; i <= helpers; i++) {
        unsigned first = out->height * i / (helpers + 1);

        open_part(&split->part[i], state, first, out->height * (i + 1) / (helpers + 1) - first);
    }
    rknpu_team_run(state->job->team, helpers, run_part, split);
    for (unsigned i = 0; i <= helpers; i++) {
        rknpu_mem_end_part(state->job->mem, split->part[i].job.mem);
        result = result == RKNPU_TASK_OK ? split->part[i].result : result;
    }
    g_free(split);
    return result;
}
