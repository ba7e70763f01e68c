/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of one task -> RknpuTask, checked once, and the way of a task to the file that computes
 * it. task_conv.c, task_dpu.c and task_pool.c read the blocks' registers.
 *
 * The unit mask decides what a task is, register contents do not: with DPU_RDMA left out no operand
 * is read, whatever the stage registers say (RK3588 TRM, GLOBAL_OPERATION_ENABLE). A mode that no
 * file of the model computes is reported by name here, so the computing files need no such test.
 */
#include <glib.h>
#include "decode.h"

RknpuTaskResult rknpu_unimplemented(const RknpuJob *job, const char *what, int64_t value)
{
    rknpu_report(job, RKNPU_EVENT_UNIMP, value, "%s = 0x%llx", what, (unsigned long long)value);
    return RKNPU_TASK_UNIMP;
}

RknpuTaskResult rknpu_invalid(const RknpuJob *job, const char *what, int64_t value)
{
    rknpu_report(job, RKNPU_EVENT_GUEST_ERROR, value, "%s = 0x%llx makes no task", what,
                 (unsigned long long)value);
    return RKNPU_TASK_INVALID;
}

uint32_t rknpu_address(const RknpuJob *job, RknpuFieldId id)
{
    return (uint32_t)rknpu_field(job, id) + job->dma_base;
}

RknpuRound rknpu_round_mode(const RknpuJob *job, RknpuFieldId bit, RknpuRound mode)
{
    return rknpu_field(job, bit) ? RKNPU_ROUND_HALF_AWAY : mode;
}

uint32_t rknpu_cube_address(const RknpuCube *cube, unsigned surface, unsigned y, unsigned x)
{
    bool odd = cube->paired && surface % 2;
    unsigned index = cube->paired ? surface / 2 : surface;
    uint32_t base = odd ? cube->odd_base : cube->base;
    int64_t pitch = odd ? cube->odd_surface_pitch : cube->surface_pitch;

    return base + (uint32_t)(index * pitch) + (uint32_t)((y / 4) * cube->group_pitch) +
           (uint32_t)((y % 4) * cube->line_pitch) + x * cube->pixel_bytes;
}

uint32_t rknpu_ew_address(const RknpuEwCube *cube, unsigned surface, unsigned y, unsigned x)
{
    unsigned odd = cube->combined ? surface % 2 : 0;
    unsigned index = cube->combined ? surface / 2 : surface;

    return cube->base[odd] + (uint32_t)(index * cube->surface_pitch[odd]) +
           (uint32_t)(y * cube->line_pitch) + x * RKNPU_ATOM_BYTES;
}

uint32_t rknpu_output_address(const RknpuOutput *out, unsigned atom_index, unsigned y, unsigned x)
{
    uint64_t pass = atom_index / out->pass_atoms;

    if (out->split_width) {
        uint64_t pixel = (pass * out->height + y) * out->width + x;
        uint64_t area = (uint64_t)out->split_width * out->split_height;

        pass = pixel / area;
        y = (unsigned)(pixel % area / out->split_width);
        x = (unsigned)(pixel % out->split_width);
    }
    return out->base + (uint32_t)(pass * (uint64_t)out->pass_pitch) +
           (uint32_t)((atom_index % out->pass_atoms) * out->surface_pitch) +
           (uint32_t)(y * out->line_pitch) + x * RKNPU_ATOM_BYTES;
}

/*
 * Between DPU and PPU the cube is dense and lies at address 0 of a pipe of the model; the
 * programmer sees neither (RK3588 TRM: "pipeline with DPU").
 */
static RknpuTaskResult decode_pipe(const RknpuJob *job, RknpuTask *task)
{
    RknpuOutput *out = &task->dpu.out;
    RknpuTaskResult r = rknpu_decode_pool(job, &task->pool);
    RknpuCube *in = &task->pool.input;

    if (r != RKNPU_TASK_OK) {
        return r;
    }
    if (in->type != out->type) {
        return rknpu_unimplemented(job, "PPU DATA_FORMAT PROC_PRECISION unlike the DPU's output",
                                   in->type);
    }
    if (in->width != out->width || in->height != out->height || in->channels > out->channels) {
        return rknpu_invalid(job, "PPU DATA_CUBE_IN unlike the DPU's output: width", in->width);
    }
    out->base = 0;
    out->line_pitch = (int64_t)out->width * RKNPU_ATOM_BYTES;
    out->surface_pitch = out->height * out->line_pitch;
    out->pass_pitch = out->surface_pitch;
    out->pass_atoms = out->stored_atoms = 1;
    in->base = 0;
    in->line_pitch = out->line_pitch;
    in->group_pitch = 4 * out->line_pitch;
    in->surface_pitch = out->surface_pitch;
    return RKNPU_TASK_OK;
}

/* What the enabled units make together; FLYING_MODE has to agree with the mask. */
static RknpuTaskResult decode_kind(const RknpuJob *job, RknpuTask *task)
{
    const uint32_t conv = RKNPU_UNIT_CNA | RKNPU_UNIT_CORE | RKNPU_UNIT_DPU;
    const uint32_t pool = RKNPU_UNIT_PPU | RKNPU_UNIT_PPU_RDMA;
    uint32_t units = job->unit_mask & (conv | pool | RKNPU_UNIT_DPU_RDMA);
    bool flying = rknpu_field(job, RKNPU_F_FLYING_MODE);

    if (units == pool) {
        task->kind = RKNPU_TASK_POOL;
        return RKNPU_TASK_OK;
    }
    task->pool_follows =
        (units & pool) == RKNPU_UNIT_PPU && !rknpu_field(job, RKNPU_F_PPU_FLYING_MODE);
    if (units & pool && !task->pool_follows) {
        return rknpu_unimplemented(job, "unit mask with DPU and PPU together", job->unit_mask);
    }
    units &= ~pool;
    if ((units & conv) == conv && !flying) {
        task->kind = RKNPU_TASK_CONV;
    } else if (units == (RKNPU_UNIT_DPU | RKNPU_UNIT_DPU_RDMA) && flying) {
        task->kind = RKNPU_TASK_FLYING;
    } else {
        rknpu_report(job, RKNPU_EVENT_GUEST_ERROR, job->unit_mask,
                     "unit mask 0x%x with DPU FLYING_MODE %u makes no task", job->unit_mask,
                     flying);
        return RKNPU_TASK_INVALID;
    }
    if (rknpu_field(job, RKNPU_F_OUTPUT_MODE) != (task->pool_follows ? 1 : 2)) {
        return rknpu_unimplemented(job, "DPU FEATURE_MODE_CFG OUTPUT_MODE",
                                   rknpu_field(job, RKNPU_F_OUTPUT_MODE));
    }
    return RKNPU_TASK_OK;
}

RknpuTaskResult rknpu_task_decode(const RknpuJob *job, RknpuTask *task)
{
    RknpuTaskResult r;

    *task = (RknpuTask){ 0 };
    r = decode_kind(job, task);
    if (r != RKNPU_TASK_OK) {
        return r;
    }
    if (task->kind == RKNPU_TASK_POOL) {
        return rknpu_decode_pool(job, &task->pool);
    }
    if (task->kind == RKNPU_TASK_CONV) {
        r = rknpu_decode_conv(job, &task->conv);
        if (r != RKNPU_TASK_OK) {
            return r;
        }
    }
    r = rknpu_decode_dpu(job, task);
    if (r != RKNPU_TASK_OK) {
        return r;
    }
    r = task->kind == RKNPU_TASK_FLYING ? rknpu_decode_flying(job, task) : RKNPU_TASK_OK;
    if (r == RKNPU_TASK_OK) {
        r = rknpu_decode_rearrange(job, task);
    }
    if (r != RKNPU_TASK_OK) {
        return r;
    }
    if (task->kind == RKNPU_TASK_CONV &&
        rknpu_type_is_float(task->conv.type) != rknpu_type_is_float(task->dpu.type)) {
        return rknpu_unimplemented(job, "CNA and DPU PROC_PRECISION differ in kind: DPU",
                                   task->dpu.type);
    }
    return task->pool_follows ? decode_pipe(job, task) : RKNPU_TASK_OK;
}

/* A task whose results are not written as they come: the first half fills a pipe, the PPU or the
 * search for the largest empties it. */
static RknpuTaskResult run_piped(RknpuJob *job, const RknpuTask *task)
{
    const RknpuOutput *out = &task->dpu.out;
    uint64_t surfaces = (out->channels + out->atom - 1) / out->atom;
    uint64_t bytes = surfaces * (uint64_t)out->surface_pitch;
    uint8_t *pipe = bytes <= RKNPU_VIEW_MAX ? g_try_malloc0(bytes) : NULL;
    RknpuTaskResult r;

    if (!pipe) {
        return rknpu_invalid(job, "a cube between two halves of a task of bytes", (int64_t)bytes);
    }
    rknpu_mem_overlay(job->mem, RKNPU_STREAM_OUTPUT, 0, pipe, bytes);
    r = task->kind == RKNPU_TASK_CONV ? rknpu_conv_run(job, task) : rknpu_flying_run(job, task);
    rknpu_mem_turn_pipe(job->mem);
    if (r != RKNPU_TASK_OK) {
        return r;
    }
    return task->pool_follows ? rknpu_pool_run(job, task) : rknpu_rearrange_run(job, task);
}

RknpuTaskResult rknpu_task_run(RknpuJob *job)
{
    RknpuTask task;
    RknpuTaskResult r = rknpu_task_decode(job, &task);

    if (r != RKNPU_TASK_OK) {
        return r;
    }
    if (task.pool_follows || task.rearrange == RKNPU_REARRANGE_PIECES) {
        return run_piped(job, &task);
    }
    switch (task.kind) {
    case RKNPU_TASK_CONV:
        return rknpu_conv_run(job, &task);
    case RKNPU_TASK_FLYING:
        return task.rearrange ? rknpu_rearrange_run(job, &task) : rknpu_flying_run(job, &task);
    case RKNPU_TASK_POOL:
        break;
    }
    return rknpu_pool_run(job, &task);
}
