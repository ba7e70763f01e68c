/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A convolution task: traffic and work are counted as the hardware would move and do them, then the
 * fastest path that gives the defined bits computes it.
 */
#include "conv.h"

#include <glib.h>

#include "conv_float.h"
#include "dcomp.h"
#include "kernels/isa.h"
#include "split.h"

#define ADDRESS_END (INT64_C(1) << 32)

int32_t rknpu_conv_ow(const RknpuConvState *state, unsigned channel)
{
    if (state->conv->ow_from_memory && state->dpu->cpend) {
        /* Kernels behind the output's last channel have no record, and no output either. */
        return channel < state->dpu->channels ? state->dpu->cpend[channel] : 0;
    }
    return state->conv->ow;
}

int64_t rknpu_conv_input_row(const RknpuConv *conv, unsigned y)
{
    return (int64_t)y * conv->stride_y - conv->pad_top;
}

/* False: not known. */
static bool input_range(const RknpuConv *conv, const RknpuOutput *out, int64_t range[2])
{
    const RknpuCube *in = &conv->input;
    int64_t rows = rknpu_conv_input_row(conv, out->height - 1) +
                   (int64_t)(conv->kernel_height - 1) * conv->dilation_y + 1;

    range[0] = in->base;
    range[1] = in->base + in->surface_pitch * ((in->channels - 1) / in->atom) +
               in->line_pitch * MIN(rows, in->height);
    return in->surface_pitch >= 0 && in->line_pitch >= 0 && range[1] <= ADDRESS_END;
}

static bool output_range(const RknpuOutput *out, int64_t range[2])
{
    unsigned passes = (out->channels - 1) / out->atom / out->pass_atoms;

    range[0] = out->base;
    range[1] = out->base + out->pass_pitch * passes + out->surface_pitch * (out->pass_atoms - 1) +
               out->line_pitch * out->height;
    return out->pass_pitch >= 0 && out->surface_pitch >= 0 && out->line_pitch >= 0 &&
           range[1] <= ADDRESS_END;
}

bool rknpu_conv_is_apart(const RknpuConvState *state)
{
    int64_t in[2], out[2];

    return input_range(state->conv, &state->dpu_desc->out, in) &&
           output_range(&state->dpu_desc->out, out) && (in[1] <= out[0] || out[1] <= in[0]);
}

/* The feature reader moves every row of the window once, unless the CBUF still holds it. */
static void count_features(RknpuJob *job, const RknpuConv *conv)
{
    const RknpuCube *in = &conv->input;
    uint64_t row = (uint64_t)conv->width_limit * in->pixel_bytes;
    bool dense = in->line_pitch == (int64_t)row && in->group_pitch == 4 * in->line_pitch;
    unsigned surfaces = in->pixel_bytes == 16 ? (in->channels + in->atom - 1) / in->atom : 1;

    for (unsigned s = 0; s < surfaces && conv->reads_features && !rknpu_cancelled(job); s++) {
        for (unsigned y = conv->first_staged_row; y < in->height; y++) {
            unsigned rows = dense ? in->height - y : 1;

            rknpu_mem_count(job->mem, RKNPU_STREAM_FEATURE, rknpu_cube_address(in, s, y, 0),
                            row * rows);
            y += rows - 1;
        }
    }
}

static uint64_t count_macs(const RknpuConv *conv, const RknpuOutput *out)
{
    uint64_t pixels = (uint64_t)out->width * out->height;
    uint64_t taps = (uint64_t)conv->kernel_width * conv->kernel_height;

    return pixels * taps * MIN(out->channels, out->original_channels) *
           (conv->depthwise ? 1 : conv->real_channels);
}

/* NULL: the definition alone. */
static RknpuConvPath *fast_path(const RknpuConv *conv)
{
    if (conv->packed_weights != RKNPU_PACKED_WEIGHTS_PLAIN) {
        return rknpu_conv_quads;
    }
    if (rknpu_type_is_float(conv->type)) {
        return rknpu_conv_float;
    }
    return conv->type == RKNPU_INT8 ? rknpu_conv_int8 : NULL;
}

static RknpuTaskResult compute(RknpuConvState *state)
{
    const RknpuConv *conv = state->conv;
    RknpuConvPath *path = fast_path(conv);
    bool spread = conv->spread_x > 1 || conv->spread_y > 1;
    bool taken = false;
    RknpuTaskResult r = RKNPU_TASK_OK;

    if (state->job->config->force_isa == RKNPU_ISA_NONE || state->dpu_desc->out.split_width ||
        !path || (spread && conv->packed_weights != RKNPU_PACKED_WEIGHTS_PLAIN)) {
        return rknpu_conv_generic(state);
    }
    r = spread ? rknpu_conv_spread(state, path, &taken) : path(state, &taken);
    return taken ? r : rknpu_conv_generic(state);
}

RknpuTaskResult rknpu_conv_run(RknpuJob *job, const RknpuTask *task)
{
    RknpuTaskResult r;
    RknpuConvState state = {
        .job = job,
        .task = task,
        .conv = &task->conv,
        .dpu_desc = &task->dpu,
    };

    state.dpu = rknpu_dpu_open(job, &task->dpu, &r);
    if (!state.dpu) {
        return r;
    }
    count_features(job, state.conv);
    if (state.conv->reads_weights && !state.conv->compressed) {
        rknpu_mem_count(job->mem, RKNPU_STREAM_WEIGHT, state.conv->weight_base,
                        state.conv->weight_bytes);
    }
    r = state.conv->compressed ? rknpu_dcomp_unpack(job, state.conv) : RKNPU_TASK_OK;
    if (r == RKNPU_TASK_OK) {
        r = rknpu_split_run(&state, compute);
    }
    if (!rknpu_mem_release(job->mem) && r == RKNPU_TASK_OK) {
        r = RKNPU_TASK_WRITE_FAULT;
    }
    if (r == RKNPU_TASK_OK) {
        rknpu_dpu_count_output(state.dpu);
        job->macs = count_macs(state.conv, &task->dpu.out);
    }
    rknpu_dpu_close(state.dpu);
    return r;
}
