/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of a DPU-only task -> does it rearrange, and how. Bits that no program of Rockchip's
 * compiler uses in this way, and stages that would compute on the moved data, are refused.
 *
 * The RK3588 has a bit for each way. The RK3576 has one field for the writer's part, OUTPUT_TURN;
 * what its values do follows from the programs that one network becomes for either chip.
 */
#include "decode.h"

enum {
    PASS_ATOMS = 8, /* of a transposed output */
    RGP_BYTE = 2,   /* RGP_TYPE: size of the element that is kept */
    RGP_HALF_WORD = 3,
    MINMAX_MAXIMUM = 7, /* MINMAX_CTL: on, maximum, values without their index */
    /* RK3576 */
    OUTPUT_TURN_NONE = 0,
    OUTPUT_TURN_PACKED = 1,
    OUTPUT_TURN_BYTES = 2,
    OUTPUT_TURN_SPREAD = 3,
    OUTPUT_TURN_HALF_WORDS = 6,
    MINMAX_MAXIMUM_76 = 0x25,
    LINE_BYTES_MAX = 1 << 20, /* of which the model keeps a line; programs have 120 */
};

static bool identity(const RknpuDpu *dpu)
{
    const RknpuOutConvert *cvt = &dpu->convert;

    return !dpu->bs.active && !dpu->bn.active && !dpu->ew.active && cvt->shift == 0 &&
           cvt->offset == 0 && cvt->minus_exp == 0 && cvt->scale == 1;
}

/* The writer's rows; WDMA_SIZE speaks of them alone. */
static void take_writer_rows(const RknpuJob *job, RknpuOutput *out)
{
    out->split_width = (unsigned)rknpu_field(job, RKNPU_F_WDMA_WIDTH);
    out->split_height = (unsigned)rknpu_field(job, RKNPU_F_WDMA_HEIGHT);
    out->line_pitch = (out->split_width + rknpu_field(job, RKNPU_F_NOTCH)) * RKNPU_ATOM_BYTES;
    rknpu_decode_pass_pitch(job, out);
}

/* A block of a transposed output is as many atoms as an atom has elements; a pass takes them all,
 * or eight. */
static RknpuTaskResult decode_turn(const RknpuJob *job, RknpuTask *task, unsigned element_bytes)
{
    unsigned atoms = task->dpu.out.pass_atoms;

    task->rearrange = RKNPU_REARRANGE_TURN;
    task->element_bytes = element_bytes;
    take_writer_rows(job, &task->dpu.out);
    if (atoms != PASS_ATOMS && atoms != RKNPU_ATOM_BYTES / element_bytes) {
        return rknpu_unimplemented(job, "DPU BS_OW_CFG TP_ORG_EN", atoms);
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_spread(const RknpuJob *job, RknpuTask *task)
{
    task->rearrange = RKNPU_REARRANGE_SPREAD;
    take_writer_rows(job, &task->dpu.out);
    if (task->flying.width > task->dpu.out.pass_atoms) {
        return rknpu_unimplemented(job, "DPU FEATURE_MODE_CFG TP_EN", task->flying.width);
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_enlarge(const RknpuJob *job, RknpuTask *task)
{
    int64_t width = rknpu_field(job, RKNPU_F_UNPOOLING_WIDTH);
    int64_t height = rknpu_field(job, RKNPU_F_UNPOOLING_HEIGHT);

    task->rearrange = RKNPU_REARRANGE_ENLARGE;
    task->enlarge_x = (unsigned)width;
    task->enlarge_y = (unsigned)height;
    if (rknpu_field(job, RKNPU_F_UNPOOLING_METHOD) ||
        width != rknpu_field(job, RKNPU_F_UNPOOLING_STRIDE_X) ||
        height != rknpu_field(job, RKNPU_F_UNPOOLING_STRIDE_Y) ||
        height != task->dpu.out.pass_atoms || task->dpu.out.split_width) {
        return rknpu_unimplemented(job, "DPU_RDMA SRC_DMA_CFG UNPOOLING", width);
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_pack(const RknpuJob *job, RknpuTask *task)
{
    int64_t type = rknpu_field(job, RKNPU_F_RGP_TYPE);

    task->rearrange = RKNPU_REARRANGE_PACK;
    task->element_bytes = type == RGP_BYTE ? 1 : 2;
    if ((type != RGP_BYTE && type != RGP_HALF_WORD) || !rknpu_field(job, RKNPU_F_DPU_NONALIGN) ||
        rknpu_field(job, RKNPU_F_RGP_CNTER) || task->flying.channels > task->flying.atom) {
        return rknpu_unimplemented(job, "DPU FEATURE_MODE_CFG RGP_TYPE", type);
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_maximum(const RknpuJob *job, RknpuTask *task)
{
    int64_t control = rknpu_field(job, RKNPU_F_MINMAX_CTL);

    task->rearrange = RKNPU_REARRANGE_MAXIMUM;
    task->element_bytes = 2;
    if (control != MINMAX_MAXIMUM || !rknpu_field(job, RKNPU_F_DPU_NONALIGN) ||
        task->flying.type != RKNPU_FP16 || task->dpu.out.type != RKNPU_FP16) {
        return rknpu_unimplemented(job, "DPU DATA_CUBE_HEIGHT MINMAX_CTL", control);
    }
    return RKNPU_TASK_OK;
}

/* RK3576: ORIG_CHANNEL is not a count here; 16-bit integers are searched too. */
static RknpuTaskResult decode_maximum_76(const RknpuJob *job, RknpuTask *task)
{
    int64_t control = rknpu_field(job, RKNPU_F_MINMAX_CTL);
    RknpuType type = task->flying.type;

    task->rearrange = RKNPU_REARRANGE_MAXIMUM;
    task->element_bytes = 2;
    task->dpu.out.original_channels = task->flying.channels;
    if (control != MINMAX_MAXIMUM_76 || rknpu_field(job, RKNPU_F_LINE_BYTES) ||
        (type != RKNPU_FP16 && type != RKNPU_INT16) || task->dpu.out.type != type) {
        return rknpu_unimplemented(job, "DPU DATA_CUBE_HEIGHT MINMAX_CTL", control);
    }
    return RKNPU_TASK_OK;
}

/* Lines of LINE_BYTES where the output is turned, else without gaps. */
static RknpuTaskResult decode_line_shape(const RknpuJob *job, RknpuTask *task)
{
    int64_t bytes = rknpu_field(job, RKNPU_F_OUTPUT_TURN) == OUTPUT_TURN_PACKED
                        ? rknpu_field(job, RKNPU_F_LINE_BYTES)
                        : 0;

    task->line_bytes = bytes ? (unsigned)bytes : RKNPU_ATOM_BYTES;
    task->line_atoms = (uint64_t)rknpu_field(job, RKNPU_F_SURF_LEN);
    task->line_base = task->dpu.out.base;
    return bytes > LINE_BYTES_MAX ? rknpu_invalid(job, "DPU LINE_BYTES", bytes) : RKNPU_TASK_OK;
}

/* RK3576: atoms become bytes without gaps; lines of LINE_BYTES of them begin at atoms. */
static RknpuTaskResult decode_lines(const RknpuJob *job, RknpuTask *task)
{
    int64_t last = rknpu_field(job, RKNPU_F_RGP_TYPE);

    task->rearrange = RKNPU_REARRANGE_LINES;
    task->last_bytes = last ? (unsigned)last : RKNPU_ATOM_BYTES;
    return decode_line_shape(job, task);
}

/* The results of a convolution dense in a pipe of the model, pixels as its reader finds them. */
static void decode_results(const RknpuJob *job, RknpuTask *task)
{
    RknpuConv *conv = &task->conv;
    RknpuOutput *out = &task->dpu.out;
    RknpuCube *in = &task->flying;

    conv->input.width = conv->width_limit = (unsigned)rknpu_field(job, RKNPU_F_DMA_WIDTH);
    conv->input.height = (unsigned)rknpu_field(job, RKNPU_F_DMA_HEIGHT);
    out->base = 0;
    out->width = conv->input.width;
    out->height = conv->input.height;
    out->channels = out->original_channels = conv->kernels;
    out->line_pitch = (int64_t)out->width * RKNPU_ATOM_BYTES;
    out->surface_pitch = out->pass_pitch = out->height * out->line_pitch;
    out->pass_atoms = out->stored_atoms = 1;
    out->split_width = 0;
    *in = (RknpuCube){
        .type = out->type,
        .width = out->width,
        .height = out->height,
        .channels = out->channels,
        .atom = out->atom,
        .pixel_bytes = RKNPU_ATOM_BYTES,
        .line_pitch = out->line_pitch,
        .group_pitch = 4 * out->line_pitch,
        .surface_pitch = out->surface_pitch,
    };
}

/*
 * RK3576: a 1x1 convolution whose results are searched. The DPU's cube cuts their stream, pixel
 * behind pixel with all kernels, into pieces. Pixels that the reader finds in several lines are
 * taken across these; DATA_SIZE0 then has them in one line.
 */
static RknpuTaskResult decode_pieces(const RknpuJob *job, RknpuTask *task)
{
    const RknpuConv *conv = &task->conv;
    RknpuTaskResult r;
    uint64_t pixels = (uint64_t)rknpu_field(job, RKNPU_F_DMA_WIDTH) *
                      (uint64_t)rknpu_field(job, RKNPU_F_DMA_HEIGHT);
    uint64_t pieces = (uint64_t)task->dpu.out.width * task->dpu.out.height;
    bool plain = conv->kernel_width == 1 && conv->kernel_height == 1 && conv->stride_x == 1 &&
                 conv->stride_y == 1 && conv->spread_x == 1 && conv->spread_y == 1 &&
                 conv->pad_left == 0 && conv->pad_top == 0 && !conv->depthwise;

    task->rearrange = RKNPU_REARRANGE_PIECES;
    task->element_bytes = 2;
    task->piece = (uint64_t)rknpu_field(job, RKNPU_F_CUBE_CHANNEL);
    if (rknpu_field(job, RKNPU_F_MINMAX_CTL) != MINMAX_MAXIMUM_76 || !plain ||
        task->dpu.out.type != RKNPU_FP16 || conv->input.pixel_bytes != RKNPU_ATOM_BYTES ||
        pixels != (uint64_t)conv->input.width * conv->input.height || conv->kernels % 8 ||
        pieces * task->piece != pixels * conv->kernels) {
        return rknpu_unimplemented(job, "DPU DATA_CUBE_HEIGHT MINMAX_CTL",
                                   rknpu_field(job, RKNPU_F_MINMAX_CTL));
    }
    r = decode_line_shape(job, task);
    decode_results(job, task);
    return r;
}

/* RK3576: by OUTPUT_TURN. */
static RknpuTaskResult decode_kind_76(const RknpuJob *job, RknpuTask *task)
{
    int64_t turn = rknpu_field(job, RKNPU_F_OUTPUT_TURN);
    bool packed = rknpu_field(job, RKNPU_F_DPU_NONALIGN);

    if (rknpu_field(job, RKNPU_F_UNPOOLING) && task->kind == RKNPU_TASK_FLYING) {
        return decode_enlarge(job, task);
    }
    if (task->kind == RKNPU_TASK_CONV && rknpu_field(job, RKNPU_F_MINMAX_CTL)) {
        return decode_pieces(job, task);
    }
    if (packed != (turn == OUTPUT_TURN_PACKED)) {
        return rknpu_unimplemented(job, "DPU BS_OW_CFG OUTPUT_TURN", turn);
    }
    switch (turn) {
    case OUTPUT_TURN_PACKED:
        return rknpu_field(job, RKNPU_F_MINMAX_CTL) ? decode_maximum_76(job, task)
                                                    : decode_lines(job, task);
    case OUTPUT_TURN_BYTES:
        return decode_turn(job, task, 1);
    case OUTPUT_TURN_SPREAD:
        return decode_spread(job, task);
    case OUTPUT_TURN_HALF_WORDS:
        return decode_turn(job, task, 2);
    case OUTPUT_TURN_NONE:
        return RKNPU_TASK_OK;
    default:
        return rknpu_unimplemented(job, "DPU BS_OW_CFG OUTPUT_TURN", turn);
    }
}

static RknpuTaskResult decode_kind(const RknpuJob *job, RknpuTask *task)
{
    /* Of the reader of the main input, which convolutions do not use. */
    if (rknpu_field(job, RKNPU_F_UNPOOLING) && task->kind == RKNPU_TASK_FLYING) {
        return decode_enlarge(job, task);
    }
    if (rknpu_field(job, RKNPU_F_MINMAX_CTL)) {
        return decode_maximum(job, task);
    }
    if (rknpu_field(job, RKNPU_F_RGP_TYPE)) {
        return decode_pack(job, task);
    }
    if (rknpu_field(job, RKNPU_F_TP_EN)) {
        return decode_spread(job, task);
    }
    if (rknpu_field(job, RKNPU_F_TP_ORG_EN)) {
        return decode_turn(job, task, rknpu_field(job, RKNPU_F_TP_PRECISION) ? 2 : 1);
    }
    if (rknpu_field(job, RKNPU_F_DPU_NONALIGN)) {
        return rknpu_unimplemented(job, "DPU FEATURE_MODE_CFG NONALIGN", 1);
    }
    return RKNPU_TASK_OK;
}

RknpuTaskResult rknpu_decode_rearrange(const RknpuJob *job, RknpuTask *task)
{
    RknpuTaskResult r = rknpu_has_field(job->chip, RKNPU_F_OUTPUT_TURN) ? decode_kind_76(job, task)
                                                                        : decode_kind(job, task);

    if (r != RKNPU_TASK_OK || task->rearrange == RKNPU_REARRANGE_NONE) {
        return r;
    }
    if ((task->kind != RKNPU_TASK_FLYING && task->rearrange != RKNPU_REARRANGE_PIECES) ||
        task->pool_follows) {
        return rknpu_unimplemented(job, "DPU: rearranged output of a convolution or to the PPU",
                                   task->rearrange);
    }
    /* Whole atoms move: int16 in and int8 out are the same 16 bytes. */
    if (rknpu_type_bits(task->flying.type) < 8 || !identity(&task->dpu)) {
        return rknpu_unimplemented(job, "DPU stages in a task that rearranges", task->dpu.type);
    }
    return RKNPU_TASK_OK;
}
