/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of one task -> RknpuTask, checked once.
 *
 * The unit mask decides what a task is, register contents do not: with DPU_RDMA left out no operand
 * is read, whatever the stage registers say (RK3588 TRM, GLOBAL_OPERATION_ENABLE). A mode that no
 * file of the model computes is reported by name here, so the computing files need no such test.
 */
#include "task.h"

#include <glib.h>

#define ATOM_BYTES 16

/* Bits of BS_CFG, BN_CFG and (those marked) EW_CFG. */
enum {
    STAGE_BYPASS = 1u << 0,     /* EW too */
    STAGE_ALU_BYPASS = 1u << 1, /* EW: operation bypass */
    EW_OP_TYPE_MUL = 1u << 2,
    STAGE_MUL_BYPASS = 1u << 4,
    STAGE_PRELU = 1u << 5, /* EW too */
    STAGE_RELU_BYPASS = 1u << 6,
    EW_OP_SRC_MEMORY = 1u << 6,
    STAGE_RELUX = 1u << 7,
    EW_LUT_BYPASS = 1u << 7,
    STAGE_ALU_SRC_MEMORY = 1u << 8,
    EW_CVT_BYPASS = 1u << 8,
    EW_RELU_BYPASS = 1u << 9,
    EW_RELUX = 1u << 10,
    EW_BINARY = 1u << 20,
    EW_EQUAL = 1u << 21,
    EW_CVT_ROUND = 1u << 30,
    EW_CVT_ADD_FIRST = 1u << 31,
};

static RknpuTaskResult unimplemented(const RknpuJob *job, const char *what, int64_t value)
{
    rknpu_report(job, RKNPU_EVENT_UNIMP, value, "%s = 0x%llx", what, (unsigned long long)value);
    return RKNPU_TASK_UNIMP;
}

static RknpuTaskResult invalid(const RknpuJob *job, const char *what, int64_t value)
{
    rknpu_report(job, RKNPU_EVENT_GUEST_ERROR, value, "%s = 0x%llx makes no task", what,
                 (unsigned long long)value);
    return RKNPU_TASK_INVALID;
}

static int64_t field(const RknpuJob *job, RknpuFieldId id)
{
    return rknpu_field(job, id);
}

/* An address field plus TASK_DMA_BASE_ADDR. */
static uint32_t address(const RknpuJob *job, RknpuFieldId id)
{
    return (uint32_t)field(job, id) + job->dma_base;
}

/* The round bit of a converter: 0 is the configured mode (half even), 1 half away from zero. */
static RknpuRound round_mode(const RknpuJob *job, RknpuFieldId bit, RknpuRound mode)
{
    return field(job, bit) ? RKNPU_ROUND_HALF_AWAY : mode;
}

uint32_t rknpu_cube_address(const RknpuCube *cube, unsigned surface, unsigned y, unsigned x)
{
    return cube->base + (uint32_t)(surface * cube->surface_pitch) +
           (uint32_t)((y / 4) * cube->group_pitch) + (uint32_t)((y % 4) * cube->line_pitch) +
           x * cube->pixel_bytes;
}

uint32_t rknpu_ew_address(const RknpuEwCube *cube, unsigned surface, unsigned y, unsigned x)
{
    unsigned odd = cube->combined ? surface % 2 : 0;
    unsigned index = cube->combined ? surface / 2 : surface;

    return cube->base[odd] + (uint32_t)(index * cube->surface_pitch[odd]) +
           (uint32_t)(y * cube->line_pitch) + x * ATOM_BYTES;
}

uint32_t rknpu_output_address(const RknpuOutput *out, unsigned atom_index, unsigned y, unsigned x)
{
    return out->base + (uint32_t)((atom_index / out->pass_atoms) * out->pass_pitch) +
           (uint32_t)((atom_index % out->pass_atoms) * out->surface_pitch) +
           (uint32_t)(y * out->line_pitch) + x * ATOM_BYTES;
}

/* Modes of the sequencer that change results and that no file computes. */
static RknpuTaskResult check_conv_modes(const RknpuJob *job)
{
    static const struct {
        RknpuFieldId id;
        const char *name;
    } modes[] = {
        {RKNPU_F_DECONV, "CNA CONV_CON1 DECONV"},
    };

    for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (field(job, modes[i].id)) {
            return unimplemented(job, modes[i].name, field(job, modes[i].id));
        }
    }
    if (field(job, RKNPU_F_IN_PRECISION) != field(job, RKNPU_F_PROC_PRECISION)) {
        return unimplemented(job, "CNA CONV_CON1 IN_PRECISION unlike PROC_PRECISION",
                             field(job, RKNPU_F_IN_PRECISION));
    }
    return RKNPU_TASK_OK;
}

/*
 * Feature cube (docs/hardware-notes.md, "Feature cube"). In the four-line form SURF_STRIDE counts
 * from the end of a surface's first group of lines; packed pixels and GROUP_LINE_OFF have plain
 * lines.
 */
static RknpuTaskResult decode_input(const RknpuJob *job, RknpuConv *conv)
{
    RknpuCube *in = &conv->input;
    int64_t line = field(job, RKNPU_F_LINE_STRIDE);
    int64_t surface = field(job, RKNPU_F_SURF_STRIDE);
    int64_t dma_width = field(job, RKNPU_F_DMA_WIDTH);
    int64_t argb = field(job, RKNPU_F_ARGB_IN);
    bool plain_lines = field(job, RKNPU_F_GROUP_LINE_OFF);
    unsigned bits = rknpu_type_bits(conv->type);

    in->type = conv->type;
    in->base = address(job, RKNPU_F_FEATURE_BASE_ADDR);
    in->width = field(job, RKNPU_F_DATAIN_WIDTH);
    in->height = field(job, RKNPU_F_DATAIN_HEIGHT);
    in->channels = field(job, RKNPU_F_DATAIN_CHANNEL);
    if (in->width == 0 || in->height == 0 || in->channels == 0) {
        return invalid(job, "CNA DATA_SIZE of", in->width);
    }
    in->atom = rknpu_type_per_atom(conv->type);
    in->pixel_bytes = ATOM_BYTES;
    if (argb) {
        if (argb < 8 || argb > 11 || bits < 8) {
            return unimplemented(job, "CNA CONV_CON1 ARGB_IN", argb);
        }
        in->atom = argb - 7;
        in->pixel_bytes = in->atom * bits / 8;
    }
    if (job->chip->feature_pitch == RKNPU_PITCH_FOUR_LINE) {
        surface += (plain_lines ? 1 : 4) * dma_width;
    }
    in->surface_pitch = surface * in->pixel_bytes;
    in->line_pitch = (plain_lines ? line : dma_width) * in->pixel_bytes;
    in->group_pitch = (plain_lines ? 4 * line : line) * in->pixel_bytes;
    if (argb && job->chip->packed_pixels == RKNPU_PACKED_QUADS) {
        in->line_pitch = line * ATOM_BYTES;
        in->group_pitch = 4 * in->line_pitch;
        conv->packed_quads = true;
        conv->right_pad_is_zero = true;
    }
    conv->width_limit = in->width;
    if (!argb && dma_width && dma_width < conv->width_limit) {
        conv->width_limit = dma_width;
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_input_convert(const RknpuJob *job, RknpuConv *conv)
{
    RknpuInputConvert *cvt = &conv->convert;

    cvt->active = !field(job, RKNPU_F_CVT_BYPASS);
    if (!cvt->active) {
        return RKNPU_TASK_OK;
    }
    if (conv->type != RKNPU_INT8) {
        return unimplemented(job, "CNA CVT_CON0 active with PROC_PRECISION", conv->type);
    }
    cvt->add_first = field(job, RKNPU_F_CVT_TYPE);
    cvt->data_signed = field(job, RKNPU_F_CVT_DATA_SIGN);
    cvt->round = round_mode(job, RKNPU_F_CVT_ROUND_TYPE, RKNPU_ROUND_HALF_EVEN);
    cvt->lanes = field(job, RKNPU_F_CVT_LANES);
    for (unsigned i = 0; i < 4; i++) {
        cvt->scale[i] = field(job, RKNPU_F_CVT_SCALE_0 + i);
        cvt->offset[i] = field(job, RKNPU_F_CVT_OFFSET_0 + i);
        cvt->truncate[i] = field(job, RKNPU_F_CVT_TRUNCATE_0 + i);
    }
    return RKNPU_TASK_OK;
}

/*
 * Channels stored per tap in the last depthwise group. Mesa 26.2.6 packs by the real channel count,
 * and its networks are right only when the reader does the same; WEIGHT_SIZE1 gives another value
 * for 33..47 channels in that group and for 17..31 behind a full group (docs/hardware-notes.md,
 * "Depthwise tails").
 */
static unsigned depthwise_last_pitch(const RknpuJob *job, const RknpuConv *conv)
{
    unsigned groups = (conv->tap_channels + conv->kernel_group - 1) / conv->kernel_group;
    unsigned by_size = conv->tap_channels - conv->kernel_group * (groups - 1);
    unsigned real = ((field(job, RKNPU_F_DATAIN_CHANNEL_REAL) - 1) & 63) + 1;

    if (conv->type != RKNPU_INT8 || job->config->dw_tail_by_size ||
        conv->depthwise_order != RKNPU_DW_ORDER_PLAIN) {
        return by_size;
    }
    if (real % 32 > 16) {
        return conv->tap_channels < 64 ? conv->tap_channels : 64;
    }
    return real > 16 ? real : 16;
}

static RknpuTaskResult decode_weights(const RknpuJob *job, RknpuConv *conv)
{
    static const struct {
        uint8_t group, slice, depthwise_group; /* 0: no such mode */
    } shape[] = {
        [RKNPU_INT8] = {32, 32, 64}, [RKNPU_INT16] = {16, 32, 32}, [RKNPU_FP16] = {16, 32, 32},
        [RKNPU_BF16] = {16, 32, 32}, [RKNPU_INT4] = {64, 32, 0},   [RKNPU_TF32] = {16, 16, 0},
    };
    uint64_t per_kernel = field(job, RKNPU_F_WEIGHT_BYTES_PER_KERNEL);
    unsigned taps = conv->kernel_width * conv->kernel_height;

    conv->weight_base = address(job, RKNPU_F_DCOMP_ADDR0);
    conv->kernels = field(job, RKNPU_F_WEIGHT_KERNELS);
    conv->kernel_group =
        conv->depthwise ? shape[conv->type].depthwise_group : shape[conv->type].group;
    conv->slice = shape[conv->type].slice;
    if (conv->kernel_group == 0) {
        return unimplemented(job, "depthwise CONV_MODE with PROC_PRECISION", conv->type);
    }
    if (taps == 0 || conv->kernels == 0) {
        return invalid(job, "CNA WEIGHT_SIZE2 taps", taps);
    }
    conv->tap_channels = per_kernel * 8 / rknpu_type_bits(conv->type) / taps;
    if (conv->packed_quads) {
        /* One kernel row is 16 bytes: four columns of four channels; what the picture lacks is
         * neutral. */
        if (conv->kernel_width > 4 || conv->depthwise || conv->type != RKNPU_INT8) {
            return unimplemented(job, "CNA CONV_CON1 ARGB_IN with a kernel of width",
                                 conv->kernel_width);
        }
        conv->tap_channels = conv->input.atom;
    } else if (!conv->depthwise && conv->type == RKNPU_INT8) {
        conv->tap_channels = (conv->tap_channels + 15) / 16 * 16;
    }
    if (conv->tap_channels == 0) {
        return invalid(job, "CNA WEIGHT_SIZE1", per_kernel);
    }
    conv->depthwise_order = job->chip->depthwise_weights == RKNPU_DW_WITH_ZERO_POINT
                                ? RKNPU_DW_ORDER_PAIRS
                                : RKNPU_DW_ORDER_PLAIN;
    conv->last_pitch = conv->depthwise ? depthwise_last_pitch(job, conv) : 0;
    conv->weight_bytes = field(job, RKNPU_F_WEIGHT_BYTES);
    return RKNPU_TASK_OK;
}

/* Compressed weights; the control values are those of Rockchip's compiler (dcomp.c). */
static RknpuTaskResult decode_compression(const RknpuJob *job, RknpuConv *conv)
{
    const int64_t control = 1, lane_registers = 0x55555555;
    int64_t value = field(job, RKNPU_F_DCOMP_CTRL);

    conv->compressed = value & 7 && !(value & 8); /* b3 WT_DEC_BYPASS */
    if (!conv->compressed) {
        return RKNPU_TASK_OK;
    }
    if (value != control || !rknpu_has_field(job->chip, RKNPU_F_DCOMP_AMOUNT_0) ||
        conv->type != RKNPU_INT8) {
        return unimplemented(job, "CNA DCOMP_CTRL", value);
    }
    if (field(job, RKNPU_F_DCOMP_REGNUM) != lane_registers) {
        return unimplemented(job, "CNA DCOMP_REGNUM", field(job, RKNPU_F_DCOMP_REGNUM));
    }
    for (unsigned lane = 0; lane < 16; lane++) {
        conv->lane_blocks[lane] = (uint64_t)field(job, RKNPU_F_DCOMP_AMOUNT_0 + lane);
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_type(const RknpuJob *job, RknpuConv *conv)
{
    int64_t precision = field(job, RKNPU_F_PROC_PRECISION);
    int64_t mode = field(job, RKNPU_F_CONV_MODE);

    if (precision == RKNPU_INT32 || precision == RKNPU_FP32) {
        return invalid(job, "CNA CONV_CON1 PROC_PRECISION", precision);
    }
    if (mode != 0 && mode != job->chip->conv_mode_depthwise) {
        return unimplemented(job, "CNA CONV_CON1 CONV_MODE", mode);
    }
    conv->type = precision;
    conv->depthwise = mode != 0;
    return RKNPU_TASK_OK;
}

/*
 * What the CBUF still holds from the task before is not read again. The addresses stay valid, so
 * the computation reads memory all the same; only the traffic counters care.
 */
static void decode_reuse(const RknpuJob *job, RknpuConv *conv)
{
    unsigned padded = conv->input.channels;
    unsigned low = (field(job, RKNPU_F_DATAIN_CHANNEL_REAL) - 1) & 63;
    unsigned real = (padded - 1) / 64 * 64 + low + 1; /* compilers store the count modulo 64 */
    unsigned staged = conv->input.height;

    conv->real_channels = real < padded ? real : padded;
    conv->reads_weights = !field(job, RKNPU_F_WEIGHT_REUSE);
    conv->reads_features = true;
    if (field(job, RKNPU_F_DATA_REUSE)) {
        staged = rknpu_has_field(job->chip, RKNPU_F_STAGED_HEIGHT)
                     ? field(job, RKNPU_F_STAGED_HEIGHT)
                     : 0;
        conv->reads_features = staged != 0;
    }
    conv->first_staged_row =
        conv->input.height - (staged < conv->input.height ? staged : conv->input.height);
    /* Where the staged height has a field, the address is that of the first staged row, not of the
     * window. */
    if (conv->reads_features) {
        conv->input.base -= (uint32_t)(conv->first_staged_row * conv->input.line_pitch);
    }
}

static RknpuTaskResult decode_conv(const RknpuJob *job, RknpuConv *conv)
{
    RknpuTaskResult r = check_conv_modes(job);

    if (r == RKNPU_TASK_OK) {
        r = decode_type(job, conv);
    }
    if (r == RKNPU_TASK_OK) {
        r = decode_input(job, conv);
    }
    if (r != RKNPU_TASK_OK) {
        return r;
    }
    conv->kernel_width = field(job, RKNPU_F_WEIGHT_WIDTH);
    conv->kernel_height = field(job, RKNPU_F_WEIGHT_HEIGHT);
    conv->stride_x = field(job, RKNPU_F_CONV_X_STRIDE);
    conv->stride_y = field(job, RKNPU_F_CONV_Y_STRIDE);
    conv->dilation_x = field(job, RKNPU_F_ATROUS_X_DILATION) + 1;
    conv->dilation_y = field(job, RKNPU_F_ATROUS_Y_DILATION) + 1;
    conv->pad_left = field(job, RKNPU_F_PAD_LEFT);
    conv->pad_top = field(job, RKNPU_F_PAD_TOP);
    conv->pad_bits = field(job, RKNPU_F_PAD_VALUE);
    conv->add_ow = field(job, RKNPU_F_QD_EN) && !field(job, RKNPU_F_OD_BYPASS);
    conv->ow_from_memory = field(job, RKNPU_F_OW_SRC);
    conv->ow = field(job, RKNPU_F_OW_OP);
    conv->sum_without_padding = job->config->ow_sum_without_padding;
    conv->truncate = field(job, RKNPU_F_CLIP_TRUNCATE);
    conv->truncate_round = round_mode(job, RKNPU_F_CLIP_ROUND_TYPE, job->config->round_truncate);
    decode_reuse(job, conv);
    r = decode_weights(job, conv);
    if (r == RKNPU_TASK_OK) {
        r = decode_compression(job, conv);
    }
    return r == RKNPU_TASK_OK ? decode_input_convert(job, conv) : r;
}

/* Where one of the two like stages, BS and BN, has its fields. */
typedef struct StageFields {
    const char *name;
    RknpuFieldId cfg, alu, mul, shift, shift_negative, mul_src, relux, use, base;
} StageFields;

static const StageFields bs_fields = {
    "DPU BS_CFG",           RKNPU_F_BS_CFG,       RKNPU_F_BS_ALU_OPERAND,
    RKNPU_F_BS_MUL_OPERAND, RKNPU_F_BS_MUL_SHIFT, RKNPU_F_BS_MUL_SHIFT_NEG,
    RKNPU_F_BS_MUL_SRC,     RKNPU_F_BS_RELUX_CMP, RKNPU_F_BRDMA_DATA_USE,
    RKNPU_F_BS_BASE_ADDR,
};
static const StageFields bn_fields = {
    "DPU BN_CFG",           RKNPU_F_BN_CFG,       RKNPU_F_BN_ALU_OPERAND,
    RKNPU_F_BN_MUL_OPERAND, RKNPU_F_BN_MUL_SHIFT, RKNPU_F_BN_MUL_SHIFT_NEG,
    RKNPU_F_BN_MUL_SRC,     RKNPU_F_BN_RELUX_CMP, RKNPU_F_NRDMA_DATA_USE,
    RKNPU_F_BN_BASE_ADDR,
};

/*
 * A stage that wants a member from memory that the reader does not deliver keeps the register's
 * operand; drivers never do that, so it is worth a line.
 */
static bool from_memory(const RknpuJob *job, const RknpuStage *stage, unsigned member,
                        const char *name)
{
    if (stage->stream.use & member) {
        return true;
    }
    rknpu_report(job, RKNPU_EVENT_GUEST_ERROR, member,
                 "%s: operand from memory, but DPU_RDMA reads none", name);
    return false;
}

static RknpuTaskResult decode_stage(const RknpuJob *job, const StageFields *f, RknpuStage *stage)
{
    uint32_t cfg = field(job, f->cfg);
    unsigned algorithm = cfg >> 16 & 15;
    bool reader = job->unit_mask & RKNPU_UNIT_DPU_RDMA;

    stage->stream.use = reader ? field(job, f->use) : 0;
    stage->stream.base = address(job, f->base);
    stage->clamp_min = INT32_MIN;
    stage->clamp_max = INT32_MAX;
    /* All zero would multiply by a zero operand: programs that never write the register run on
     * boards. */
    stage->active = cfg != 0 && !(cfg & STAGE_BYPASS);
    if (!stage->active) {
        return RKNPU_TASK_OK;
    }
    stage->alu = !(cfg & STAGE_ALU_BYPASS);
    stage->alu_minus = algorithm == RKNPU_ALU_MINUS;
    if (stage->alu && algorithm != RKNPU_ALU_ADD && algorithm != RKNPU_ALU_MINUS) {
        return unimplemented(job, f->name, cfg);
    }
    stage->alu_operand = field(job, f->alu);
    stage->mul = !(cfg & STAGE_MUL_BYPASS);
    stage->mul_operand = field(job, f->mul);
    stage->shift = field(job, f->shift);
    stage->shift_negative = field(job, f->shift_negative);
    if (stage->shift_negative == 0) {
        stage->shift_negative = stage->shift;
    }
    stage->mul_round = job->config->round_mul;
    stage->prelu = cfg & STAGE_PRELU;
    stage->relu = !(cfg & STAGE_RELU_BYPASS);
    stage->relux = stage->relu && (cfg & STAGE_RELUX);
    stage->relux_max = field(job, f->relux);
    stage->alu_from_memory = stage->alu && (cfg & STAGE_ALU_SRC_MEMORY) &&
                             from_memory(job, stage, RKNPU_OPERAND_ALU, f->name);
    stage->mul_from_memory =
        stage->mul && field(job, f->mul_src) && from_memory(job, stage, RKNPU_OPERAND_MUL, f->name);
    return RKNPU_TASK_OK;
}

/* EW's operand size is coded alike in EW_CFG and ERDMA_CFG; floating processing reads floats. */
static RknpuType ew_type(const RknpuJob *job, RknpuType proc)
{
    static const RknpuType integer[] = {RKNPU_INT4, RKNPU_INT8, RKNPU_INT16, RKNPU_INT32};
    unsigned code = field(job, RKNPU_F_ERDMA_DATA_SIZE) & 3;

    if (rknpu_type_is_float(proc) && code >= 2) {
        return code == 3 ? RKNPU_FP32 : proc == RKNPU_BF16 ? RKNPU_BF16 : RKNPU_FP16;
    }
    return integer[code];
}

static RknpuTaskResult decode_ew_source(const RknpuJob *job, RknpuType proc, RknpuEw *ew)
{
    int64_t surface = field(job, RKNPU_F_RDMA_WIDTH) * field(job, RKNPU_F_RDMA_HEIGHT) * ATOM_BYTES;
    int64_t mode = field(job, RKNPU_F_ERDMA_DATA_MODE);
    RknpuEwCube *cube = &ew->cube;

    if (!(job->unit_mask & RKNPU_UNIT_DPU_RDMA) || field(job, RKNPU_F_ERDMA_DISABLE)) {
        rknpu_report(
            job, RKNPU_EVENT_GUEST_ERROR, 0,
            "DPU EW_CFG: operand from memory, but ERDMA is off: stage passes its input on");
        ew->op = false;
        return RKNPU_TASK_OK;
    }
    if (mode > 1) {
        return unimplemented(job, "DPU_RDMA ERDMA_CFG DATA_MODE", mode);
    }
    ew->source = mode ? RKNPU_EW_PIXEL : RKNPU_EW_CHANNEL;
    cube->type = ew_type(job, proc);
    cube->combined = field(job, RKNPU_F_COMB_USE) & 1;
    cube->line_pitch = field(job, RKNPU_F_RDMA_WIDTH) * ATOM_BYTES;
    if (cube->combined) {
        cube->base[0] = address(job, RKNPU_F_SRC_BASE_ADDR);
        cube->base[1] = address(job, RKNPU_F_EW_BASE_ADDR);
        cube->surface_pitch[0] = surface + field(job, RKNPU_F_SURF_NOTCH);
        cube->surface_pitch[1] = surface + field(job, RKNPU_F_EW_SURF_NOTCH);
    } else {
        cube->base[0] = address(job, RKNPU_F_EW_BASE_ADDR);
        cube->surface_pitch[0] = field(job, RKNPU_F_EW_SURF_STRIDE);
        cube->line_pitch += field(job, RKNPU_F_EW_LINE_NOTCH) * ATOM_BYTES;
    }
    return RKNPU_TASK_OK;
}

/* Operations whose integer form no source establishes. */
static bool ew_integer_known(const RknpuEw *ew)
{
    return !ew->binary && !ew->equal &&
           (ew->mul || ew->alu == RKNPU_ALU_MAX || ew->alu == RKNPU_ALU_MIN ||
            ew->alu == RKNPU_ALU_ADD || ew->alu == RKNPU_ALU_MINUS);
}

static RknpuTaskResult decode_ew(const RknpuJob *job, RknpuType proc, RknpuEw *ew, RknpuLut *lut)
{
    uint32_t cfg = field(job, RKNPU_F_EW_CFG);

    ew->active = cfg != 0 && !(cfg & STAGE_BYPASS);
    lut->active = ew->active && !(cfg & EW_LUT_BYPASS);
    if (!ew->active) {
        return RKNPU_TASK_OK;
    }
    ew->op = !(cfg & STAGE_ALU_BYPASS);
    ew->mul = cfg & EW_OP_TYPE_MUL;
    ew->alu = cfg >> 16 & 15;
    ew->binary = cfg & EW_BINARY;
    ew->equal = cfg & EW_EQUAL;
    ew->prelu = cfg & STAGE_PRELU;
    ew->relu = !(cfg & EW_RELU_BYPASS);
    ew->relux = ew->relu && (cfg & EW_RELUX);
    ew->relux_max = field(job, RKNPU_F_EW_RELUX_CMP);
    ew->convert = !(cfg & EW_CVT_BYPASS);
    ew->convert_add_first = cfg & EW_CVT_ADD_FIRST;
    ew->convert_round = cfg & EW_CVT_ROUND ? RKNPU_ROUND_HALF_AWAY : job->config->round_ew;
    ew->convert_offset = field(job, RKNPU_F_EW_CVT_OFFSET);
    ew->convert_scale = field(job, RKNPU_F_EW_CVT_SCALE);
    ew->convert_shift = field(job, RKNPU_F_EW_CVT_SHIFT);
    ew->truncate = field(job, RKNPU_F_EW_TRUNCATE);
    ew->truncate_negative = field(job, RKNPU_F_EW_TRUNCATE_NEG);
    if (ew->truncate_negative == 0) {
        ew->truncate_negative = ew->truncate;
    }
    ew->mul_round = job->config->round_mul;
    for (unsigned i = 0; i < 8; i++) {
        ew->operand[i] = field(job, RKNPU_F_EW_OPERAND_0 + i);
    }
    if (ew->op &&
        (ew->alu > RKNPU_ALU_CEIL || (!rknpu_type_is_float(proc) && !ew_integer_known(ew)))) {
        return unimplemented(job, "DPU EW_CFG operation", cfg);
    }
    if (ew->op && (cfg & EW_OP_SRC_MEMORY)) {
        return decode_ew_source(job, proc, ew);
    }
    return RKNPU_TASK_OK;
}

static void decode_lut(const RknpuJob *job, RknpuLut *lut)
{
    uint32_t le_scale = field(job, RKNPU_F_LUT_LE_SLOPE_SCALE);
    uint32_t lo_scale = field(job, RKNPU_F_LUT_LO_SLOPE_SCALE);
    uint32_t le_shift = field(job, RKNPU_F_LUT_LE_SLOPE_SHIFT);
    uint32_t lo_shift = field(job, RKNPU_F_LUT_LO_SLOPE_SHIFT);

    lut->cfg = field(job, RKNPU_F_LUT_CFG);
    lut->le_index_select = field(job, RKNPU_F_LUT_LE_INDEX_SELECT);
    lut->lo_index_select = field(job, RKNPU_F_LUT_LO_INDEX_SELECT);
    lut->le_start = field(job, RKNPU_F_LUT_LE_START);
    lut->le_end = field(job, RKNPU_F_LUT_LE_END);
    lut->lo_start = field(job, RKNPU_F_LUT_LO_START);
    lut->lo_end = field(job, RKNPU_F_LUT_LO_END);
    lut->le_slope_underflow = (int16_t)le_scale;
    lut->le_slope_overflow = (int16_t)(le_scale >> 16);
    lut->le_shift_underflow = le_shift & 31;
    lut->le_shift_overflow = le_shift >> 5 & 31;
    lut->lo_slope_underflow = (int16_t)lo_scale;
    lut->lo_slope_overflow = (int16_t)(lo_scale >> 16);
    lut->lo_shift_underflow = lo_shift & 31;
    lut->lo_shift_overflow = lo_shift >> 5 & 31;
}

static void decode_out_convert(const RknpuJob *job, RknpuOutConvert *cvt)
{
    cvt->add_first = field(job, RKNPU_F_OUT_CVT_TYPE);
    cvt->scale = field(job, RKNPU_F_OUT_CVT_SCALE);
    cvt->offset = field(job, RKNPU_F_OUT_CVT_OFFSET);
    cvt->shift = field(job, RKNPU_F_OUT_CVT_SHIFT);
    cvt->minus_exp = field(job, RKNPU_F_OUT_MINUS_EXP);
    cvt->fp32_to_fp16 = field(job, RKNPU_F_FP32TOFP16_EN);
    cvt->round = round_mode(job, RKNPU_F_OUT_CVT_ROUND, job->config->round_out);
}

/*
 * Channels that are written. CUBE_CHANNEL is a multiple of what a pass holds; surfaces behind the
 * last ORIG_CHANNEL stay as they are: Mesa's depthwise layers of 8 channels say 64 there and 8 in
 * ORIG_CHANNEL, and own no memory for more than two surfaces. ORIG_CHANNEL 0, which is also what a
 * register reads that was never written, hides nothing.
 */
static unsigned written_channels(unsigned cube, unsigned original, unsigned atom)
{
    unsigned last = (original + atom - 1) / atom * atom;

    return original > 1 ? MIN(cube, last) : cube;
}

static RknpuTaskResult decode_output(const RknpuJob *job, RknpuType proc, RknpuOutput *out)
{
    int64_t precision = field(job, RKNPU_F_OUT_PRECISION);

    if (precision > RKNPU_INT4) {
        return invalid(job, "DPU DATA_FORMAT OUT_PRECISION", precision);
    }
    if (!rknpu_type_is_float(proc) && (precision == RKNPU_FP16 || precision == RKNPU_BF16)) {
        return unimplemented(job, "integer processing with DPU DATA_FORMAT OUT_PRECISION",
                             precision);
    }
    out->type = precision;
    out->base = address(job, RKNPU_F_DST_BASE_ADDR);
    out->width = field(job, RKNPU_F_CUBE_WIDTH);
    out->height = field(job, RKNPU_F_CUBE_HEIGHT);
    out->channels = field(job, RKNPU_F_CUBE_CHANNEL);
    out->original_channels = field(job, RKNPU_F_ORIG_CHANNEL);
    out->atom = rknpu_type_per_atom(out->type);
    out->channels = written_channels(out->channels, out->original_channels, out->atom);
    out->pass_atoms = field(job, RKNPU_F_SIZE_E);
    if (out->width == 0 || out->height == 0 || out->channels == 0) {
        return invalid(job, "DPU DATA_CUBE of width", out->width);
    }
    if (out->pass_atoms == 0) {
        out->pass_atoms = 1;
    }
    out->stored_atoms = out->pass_atoms;
    out->surface_pitch = field(job, RKNPU_F_DST_SURF_STRIDE);
    out->line_pitch = (out->width + field(job, RKNPU_F_NOTCH)) * ATOM_BYTES;
    out->pass_pitch = field(job, RKNPU_F_SURFACE_ADD);
    if (job->chip->surface_add == RKNPU_SURFACE_ADD_FROM_END) {
        out->pass_pitch += (int64_t)out->width * out->height * ATOM_BYTES;
    }
    return RKNPU_TASK_OK;
}

/* Modes of the DPU that move data in ways no public program shows. */
static RknpuTaskResult check_dpu_modes(const RknpuJob *job)
{
    static const struct {
        RknpuFieldId id;
        const char *name;
    } modes[] = {
        {RKNPU_F_TP_EN, "DPU FEATURE_MODE_CFG TP_EN"},
        {RKNPU_F_RGP_TYPE, "DPU FEATURE_MODE_CFG RGP_TYPE"},
        {RKNPU_F_RGP_CNTER, "DPU BS_OW_CFG RGP_CNTER"},
        {RKNPU_F_MINMAX_CTL, "DPU DATA_CUBE_HEIGHT MINMAX_CTL"},
    };

    for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (field(job, modes[i].id)) {
            return unimplemented(job, modes[i].name, field(job, modes[i].id));
        }
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_stages(const RknpuJob *job, RknpuDpu *dpu)
{
    RknpuTaskResult r = decode_stage(job, &bs_fields, &dpu->bs);

    if (r == RKNPU_TASK_OK) {
        r = decode_stage(job, &bn_fields, &dpu->bn);
    }
    return r == RKNPU_TASK_OK ? decode_ew(job, dpu->type, &dpu->ew, &dpu->lut) : r;
}

static RknpuTaskResult decode_dpu(const RknpuJob *job, RknpuTask *task)
{
    RknpuDpu *dpu = &task->dpu;
    RknpuTaskResult r = check_dpu_modes(job);

    dpu->type = field(job, RKNPU_F_DPU_PROC_PRECISION);
    if (r == RKNPU_TASK_OK) {
        r = job->chip->stages == RKNPU_STAGES_BY_RECORDS ? rknpu_task_decode_records(job, task)
                                                         : decode_stages(job, dpu);
    }
    if (r == RKNPU_TASK_OK) {
        r = decode_output(job, dpu->type, &dpu->out);
    }
    decode_lut(job, &dpu->lut);
    decode_out_convert(job, &dpu->convert);
    return r;
}

/*
 * A pass of a DPU-only task is one input atom. When its results fill more output atoms than SIZE_E
 * says, only that many are written: fp16 sums with fp32 output and SIZE_E 0 leave the first four
 * channels of eight where programs find them on a board (allbilly/rk3588, elementwise fp32).
 */
static void limit_passes(const RknpuCube *in, RknpuOutput *out)
{
    unsigned made = in->atom / out->atom;

    if (made > out->pass_atoms) {
        out->pass_atoms = made;
    }
}

/* The main input of a DPU-only task (MRDMA). */
static RknpuTaskResult decode_flying(const RknpuJob *job, RknpuCube *in, RknpuOutput *out)
{
    if (!rknpu_has_field(job->chip, RKNPU_F_SRC_BASE_ADDR)) {
        return unimplemented(job, "DPU-only task of a chip whose registers for it are not known",
                             job->unit_mask);
    }
    in->type = field(job, RKNPU_F_RDMA_IN_PRECISION);
    in->base = address(job, RKNPU_F_SRC_BASE_ADDR);
    in->width = field(job, RKNPU_F_RDMA_WIDTH);
    in->height = field(job, RKNPU_F_RDMA_HEIGHT);
    in->channels = field(job, RKNPU_F_RDMA_CHANNEL);
    in->atom = rknpu_type_per_atom(in->type);
    in->pixel_bytes = ATOM_BYTES;
    in->line_pitch = (in->width + field(job, RKNPU_F_SRC_LINE_NOTCH)) * ATOM_BYTES;
    in->group_pitch = 4 * in->line_pitch;
    in->surface_pitch =
        (int64_t)in->width * in->height * ATOM_BYTES + field(job, RKNPU_F_SURF_NOTCH);
    if (field(job, RKNPU_F_UNPOOLING)) {
        return unimplemented(job, "DPU_RDMA SRC_DMA_CFG UNPOOLING", field(job, RKNPU_F_UNPOOLING));
    }
    if (field(job, RKNPU_F_MRDMA_DISABLE)) {
        return invalid(job, "DPU_RDMA FEATURE_MODE_CFG MRDMA_DISABLE of a DPU-only task", 1);
    }
    limit_passes(in, out);
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_pool(const RknpuJob *job, RknpuPool *pool)
{
    RknpuCube *in = &pool->input;

    if (!rknpu_has_field(job->chip, RKNPU_F_POOLING_METHOD)) {
        return unimplemented(job, "PPU of a chip whose PPU registers are not known",
                             job->unit_mask);
    }
    if (field(job, RKNPU_F_PPU_INDEX_EN)) {
        return unimplemented(job, "PPU OPERATION_MODE_CFG INDEX_EN", 1);
    }
    if (field(job, RKNPU_F_POOLING_METHOD) > RKNPU_POOL_MIN) {
        return unimplemented(job, "PPU OPERATION_MODE_CFG POOLING_METHOD",
                             field(job, RKNPU_F_POOLING_METHOD));
    }
    pool->method = field(job, RKNPU_F_POOLING_METHOD);
    in->type = field(job, RKNPU_F_PPU_PROC_PRECISION);
    in->base = address(job, RKNPU_F_PPU_SRC_BASE_ADDR);
    in->width = field(job, RKNPU_F_PPU_IN_WIDTH);
    in->height = field(job, RKNPU_F_PPU_IN_HEIGHT);
    in->channels = field(job, RKNPU_F_PPU_IN_CHANNEL);
    in->atom = rknpu_type_per_atom(in->type);
    in->pixel_bytes = ATOM_BYTES;
    in->line_pitch = field(job, RKNPU_F_PPU_SRC_LINE_STRIDE);
    in->group_pitch = 4 * in->line_pitch;
    in->surface_pitch = field(job, RKNPU_F_PPU_SRC_SURF_STRIDE);
    pool->kernel_width = field(job, RKNPU_F_KERNEL_WIDTH);
    pool->kernel_height = field(job, RKNPU_F_KERNEL_HEIGHT);
    pool->stride_x = field(job, RKNPU_F_KERNEL_STRIDE_WIDTH);
    pool->stride_y = field(job, RKNPU_F_KERNEL_STRIDE_HEIGHT);
    pool->pad_left = field(job, RKNPU_F_PPU_PAD_LEFT);
    pool->pad_top = field(job, RKNPU_F_PPU_PAD_TOP);
    pool->pad_right = field(job, RKNPU_F_PPU_PAD_RIGHT);
    pool->pad_bottom = field(job, RKNPU_F_PPU_PAD_BOTTOM);
    pool->pad_value = field(job, RKNPU_F_PPU_PAD_VALUE);
    pool->recip_width = field(job, RKNPU_F_RECIP_KERNEL_WIDTH);
    pool->recip_height = field(job, RKNPU_F_RECIP_KERNEL_HEIGHT);
    pool->out_width = field(job, RKNPU_F_PPU_OUT_WIDTH);
    pool->out_height = field(job, RKNPU_F_PPU_OUT_HEIGHT);
    pool->out_channels = field(job, RKNPU_F_PPU_OUT_CHANNEL);
    pool->out_base = address(job, RKNPU_F_PPU_DST_BASE_ADDR);
    pool->out_surface_pitch = field(job, RKNPU_F_PPU_DST_SURF_STRIDE);
    pool->out_line_pitch = (pool->out_width + field(job, RKNPU_F_PPU_NOTCH)) * ATOM_BYTES;
    return RKNPU_TASK_OK;
}

/*
 * Between DPU and PPU the cube is dense and lies at address 0 of a pipe of the model; the
 * programmer sees neither (RK3588 TRM: "pipeline with DPU").
 */
static RknpuTaskResult decode_pipe(const RknpuJob *job, RknpuTask *task)
{
    RknpuOutput *out = &task->dpu.out;
    RknpuTaskResult r = decode_pool(job, &task->pool);
    RknpuCube *in = &task->pool.input;

    if (r != RKNPU_TASK_OK) {
        return r;
    }
    if (in->type != out->type) {
        return unimplemented(job, "PPU DATA_FORMAT PROC_PRECISION unlike the DPU's output",
                             in->type);
    }
    if (in->width != out->width || in->height != out->height || in->channels > out->channels) {
        return invalid(job, "PPU DATA_CUBE_IN unlike the DPU's output: width", in->width);
    }
    out->base = 0;
    out->line_pitch = (int64_t)out->width * ATOM_BYTES;
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
    bool flying = field(job, RKNPU_F_FLYING_MODE);

    if (units == pool) {
        task->kind = RKNPU_TASK_POOL;
        return RKNPU_TASK_OK;
    }
    task->pool_follows = (units & pool) == RKNPU_UNIT_PPU && !field(job, RKNPU_F_PPU_FLYING_MODE);
    if (units & pool && !task->pool_follows) {
        return unimplemented(job, "unit mask with DPU and PPU together", job->unit_mask);
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
    if (field(job, RKNPU_F_OUTPUT_MODE) != (task->pool_follows ? 1 : 2)) {
        return unimplemented(job, "DPU FEATURE_MODE_CFG OUTPUT_MODE",
                             field(job, RKNPU_F_OUTPUT_MODE));
    }
    return RKNPU_TASK_OK;
}

RknpuTaskResult rknpu_task_decode(const RknpuJob *job, RknpuTask *task)
{
    RknpuTaskResult r;

    *task = (RknpuTask){0};
    r = decode_kind(job, task);
    if (r != RKNPU_TASK_OK) {
        return r;
    }
    if (task->kind == RKNPU_TASK_POOL) {
        return decode_pool(job, &task->pool);
    }
    if (task->kind == RKNPU_TASK_CONV) {
        r = decode_conv(job, &task->conv);
        if (r != RKNPU_TASK_OK) {
            return r;
        }
    }
    r = decode_dpu(job, task);
    if (r != RKNPU_TASK_OK) {
        return r;
    }
    if (task->kind == RKNPU_TASK_FLYING) {
        r = decode_flying(job, &task->flying, &task->dpu.out);
    } else if (rknpu_type_is_float(task->conv.type) != rknpu_type_is_float(task->dpu.type)) {
        return unimplemented(job, "CNA and DPU PROC_PRECISION differ in kind: DPU", task->dpu.type);
    }
    return r == RKNPU_TASK_OK && task->pool_follows ? decode_pipe(job, task) : r;
}

/* A task whose DPU feeds the PPU: the first half fills the pipe, the second empties it. */
static RknpuTaskResult run_piped(RknpuJob *job, const RknpuTask *task)
{
    const RknpuOutput *out = &task->dpu.out;
    uint64_t surfaces = (out->channels + out->atom - 1) / out->atom;
    uint64_t bytes = surfaces * (uint64_t)out->surface_pitch;
    uint8_t *pipe = bytes <= RKNPU_VIEW_MAX ? g_try_malloc0(bytes) : NULL;
    RknpuTaskResult r;

    if (!pipe) {
        return invalid(job, "PPU: a cube from the DPU of bytes", (int64_t)bytes);
    }
    rknpu_mem_overlay(job->mem, RKNPU_STREAM_OUTPUT, 0, pipe, bytes);
    r = task->kind == RKNPU_TASK_CONV ? rknpu_conv_run(job, task) : rknpu_flying_run(job, task);
    rknpu_mem_turn_pipe(job->mem);
    return r == RKNPU_TASK_OK ? rknpu_pool_run(job, task) : r;
}

RknpuTaskResult rknpu_task_run(RknpuJob *job)
{
    RknpuTask task;
    RknpuTaskResult r = rknpu_task_decode(job, &task);

    if (r != RKNPU_TASK_OK) {
        return r;
    }
    if (task.pool_follows) {
        return run_piped(job, &task);
    }
    switch (task.kind) {
    case RKNPU_TASK_CONV:
        return rknpu_conv_run(job, &task);
    case RKNPU_TASK_FLYING:
        return rknpu_flying_run(job, &task);
    case RKNPU_TASK_POOL:
        break;
    }
    return rknpu_pool_run(job, &task);
}
