/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of DPU and DPU_RDMA -> RknpuDpu: stages, element-wise operand, look-up table, output,
 * and the main input of a DPU-only task.
 */
#include <glib.h>
#include <math.h>
#include "decode.h"

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

/* LUT_CFG: LE answers below, LO above; all that is known of the RK3576's. */
enum { LUT_CFG_BELOW_ABOVE = 0x68 };

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
    uint32_t cfg = rknpu_field(job, f->cfg);
    unsigned algorithm = cfg >> 16 & 15;
    bool reader = job->unit_mask & RKNPU_UNIT_DPU_RDMA;

    stage->stream.use = reader ? rknpu_field(job, f->use) : 0;
    stage->stream.base = rknpu_address(job, f->base);
    stage->clamp_min = INT32_MIN;
    stage->clamp_max = INT32_MAX;
    /* All zero would multiply by a zero operand: programs that never write the register run on
     * boards. */
    stage->active = cfg != 0 && !(cfg & STAGE_BYPASS);
    if (!stage->active) {
        return RKNPU_TASK_OK;
    }
    stage->mul_first = f == &bn_fields;
    stage->alu = !(cfg & STAGE_ALU_BYPASS);
    stage->alu_minus = algorithm == RKNPU_ALU_MINUS;
    if (stage->alu && algorithm != RKNPU_ALU_ADD && algorithm != RKNPU_ALU_MINUS) {
        return rknpu_unimplemented(job, f->name, cfg);
    }
    stage->alu_operand = rknpu_field(job, f->alu);
    stage->mul = !(cfg & STAGE_MUL_BYPASS);
    stage->mul_operand = rknpu_field(job, f->mul);
    stage->shift = rknpu_field(job, f->shift);
    stage->shift_negative = rknpu_field(job, f->shift_negative);
    if (stage->shift_negative == 0) {
        stage->shift_negative = stage->shift;
    }
    stage->mul_round = job->config->round_mul;
    stage->prelu = cfg & STAGE_PRELU;
    stage->relu = !(cfg & STAGE_RELU_BYPASS);
    stage->relux = stage->relu && (cfg & STAGE_RELUX);
    stage->relux_max = rknpu_field(job, f->relux);
    stage->alu_from_memory = stage->alu && (cfg & STAGE_ALU_SRC_MEMORY) &&
                             from_memory(job, stage, RKNPU_OPERAND_ALU, f->name);
    stage->mul_from_memory = stage->mul && rknpu_field(job, f->mul_src) &&
                             from_memory(job, stage, RKNPU_OPERAND_MUL, f->name);
    return RKNPU_TASK_OK;
}

/* EW's operand size is coded alike in EW_CFG and ERDMA_CFG; floating processing reads floats. */
static RknpuType ew_type(const RknpuJob *job, RknpuType proc)
{
    static const RknpuType integer[] = { RKNPU_INT4, RKNPU_INT8, RKNPU_INT16, RKNPU_INT32 };
    unsigned code = rknpu_field(job, RKNPU_F_ERDMA_DATA_SIZE) & 3;

    if (rknpu_type_is_float(proc) && code >= 2) {
        return code == 3 ? RKNPU_FP32 : proc == RKNPU_BF16 ? RKNPU_BF16 : RKNPU_FP16;
    }
    return integer[code];
}

RknpuTaskResult rknpu_decode_ew_source(const RknpuJob *job, RknpuType proc, RknpuEw *ew)
{
    int64_t surface = rknpu_field(job, RKNPU_F_RDMA_WIDTH) * rknpu_field(job, RKNPU_F_RDMA_HEIGHT) *
                      RKNPU_ATOM_BYTES;
    int64_t mode = rknpu_field(job, RKNPU_F_ERDMA_DATA_MODE);
    RknpuEwCube *cube = &ew->cube;

    if (!(job->unit_mask & RKNPU_UNIT_DPU_RDMA) || rknpu_field(job, RKNPU_F_ERDMA_DISABLE)) {
        rknpu_report(
            job, RKNPU_EVENT_GUEST_ERROR, 0,
            "DPU EW_CFG: operand from memory, but ERDMA is off: stage passes its input on");
        ew->op = false;
        return RKNPU_TASK_OK;
    }
    if (mode > 1) {
        return rknpu_unimplemented(job, "DPU_RDMA ERDMA_CFG DATA_MODE", mode);
    }
    ew->source = mode ? RKNPU_EW_PIXEL : RKNPU_EW_CHANNEL;
    cube->type = ew_type(job, proc);
    cube->combined = rknpu_field(job, RKNPU_F_COMB_ONE_TENSOR);
    cube->line_pitch = rknpu_field(job, RKNPU_F_RDMA_WIDTH) * RKNPU_ATOM_BYTES;
    if (cube->combined) {
        cube->base[0] = rknpu_address(job, RKNPU_F_SRC_BASE_ADDR);
        cube->base[1] = rknpu_address(job, RKNPU_F_EW_BASE_ADDR);
        cube->surface_pitch[0] = surface + rknpu_field(job, RKNPU_F_SURF_NOTCH);
        cube->surface_pitch[1] = surface + rknpu_field(job, RKNPU_F_EW_SURF_NOTCH);
    } else {
        cube->base[0] = rknpu_address(job, RKNPU_F_EW_BASE_ADDR);
        cube->surface_pitch[0] = rknpu_field(job, RKNPU_F_EW_SURF_STRIDE);
        cube->line_pitch += rknpu_field(job, RKNPU_F_EW_LINE_NOTCH) * RKNPU_ATOM_BYTES;
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
    uint32_t cfg = rknpu_field(job, RKNPU_F_EW_CFG);

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
    ew->relux_max = rknpu_field(job, RKNPU_F_EW_RELUX_CMP);
    ew->convert = !(cfg & EW_CVT_BYPASS);
    ew->convert_add_first = cfg & EW_CVT_ADD_FIRST;
    ew->convert_round = cfg & EW_CVT_ROUND ? RKNPU_ROUND_HALF_AWAY : job->config->round_ew;
    ew->convert_offset = rknpu_field(job, RKNPU_F_EW_CVT_OFFSET);
    ew->convert_scale = rknpu_field(job, RKNPU_F_EW_CVT_SCALE);
    ew->convert_shift = rknpu_field(job, RKNPU_F_EW_CVT_SHIFT);
    ew->truncate = rknpu_field(job, RKNPU_F_EW_TRUNCATE);
    ew->truncate_negative = rknpu_field(job, RKNPU_F_EW_TRUNCATE_NEG);
    if (ew->truncate_negative == 0) {
        ew->truncate_negative = ew->truncate;
    }
    ew->mul_round = job->config->round_mul;
    for (unsigned i = 0; i < 8; i++) {
        ew->operand[i] = rknpu_field(job, RKNPU_F_EW_OPERAND_0 + i);
    }
    if (ew->op &&
        (ew->alu > RKNPU_ALU_CEIL || (!rknpu_type_is_float(proc) && !ew_integer_known(ew)))) {
        return rknpu_unimplemented(job, "DPU EW_CFG operation", cfg);
    }
    if (ew->op && (cfg & EW_OP_SRC_MEMORY)) {
        return rknpu_decode_ew_source(job, proc, ew);
    }
    return RKNPU_TASK_OK;
}

static void decode_lut(const RknpuJob *job, RknpuLut *lut)
{
    uint32_t le_scale = rknpu_field(job, RKNPU_F_LUT_LE_SLOPE_SCALE);
    uint32_t lo_scale = rknpu_field(job, RKNPU_F_LUT_LO_SLOPE_SCALE);
    uint32_t le_shift = rknpu_field(job, RKNPU_F_LUT_LE_SLOPE_SHIFT);
    uint32_t lo_shift = rknpu_field(job, RKNPU_F_LUT_LO_SLOPE_SHIFT);

    lut->cfg = job->chip->stages == RKNPU_STAGES_BY_RECORDS ? LUT_CFG_BELOW_ABOVE
                                                            : rknpu_field(job, RKNPU_F_LUT_CFG);
    lut->le_index_select = rknpu_field(job, RKNPU_F_LUT_LE_INDEX_SELECT);
    lut->lo_index_select = rknpu_field(job, RKNPU_F_LUT_LO_INDEX_SELECT);
    lut->le_start = rknpu_field(job, RKNPU_F_LUT_LE_START);
    lut->le_end = rknpu_field(job, RKNPU_F_LUT_LE_END);
    lut->lo_start = rknpu_field(job, RKNPU_F_LUT_LO_START);
    lut->lo_end = rknpu_field(job, RKNPU_F_LUT_LO_END);
    lut->le_slope_underflow = (int16_t)le_scale;
    lut->le_slope_overflow = (int16_t)(le_scale >> 16);
    lut->le_shift_underflow = le_shift & 31;
    lut->le_shift_overflow = le_shift >> 5 & 31;
    lut->lo_slope_underflow = (int16_t)lo_scale;
    lut->lo_slope_overflow = (int16_t)(lo_scale >> 16);
    lut->lo_shift_underflow = lo_shift & 31;
    lut->lo_shift_overflow = lo_shift >> 5 & 31;
}

static RknpuTaskResult decode_out_convert(const RknpuJob *job, RknpuDpu *dpu)
{
    RknpuOutConvert *cvt = &dpu->convert;

    cvt->add_first = rknpu_field(job, RKNPU_F_OUT_CVT_TYPE);
    cvt->scale = rknpu_field(job, RKNPU_F_OUT_CVT_SCALE);
    cvt->offset = rknpu_field(job, RKNPU_F_OUT_CVT_OFFSET);
    cvt->shift = rknpu_field(job, RKNPU_F_OUT_CVT_SHIFT);
    cvt->minus_exp = rknpu_field(job, RKNPU_F_OUT_MINUS_EXP);
    cvt->fp32_to_fp16 = rknpu_field(job, RKNPU_F_FP32TOFP16_EN);
    cvt->round = rknpu_round_mode(job, RKNPU_F_OUT_CVT_ROUND, job->config->round_out);
    cvt->float_scale =
        job->chip->float_out_scale ? ldexpf((float)cvt->scale, -(int)cvt->shift) : 1.0f;
    /* Behind tables the compiler writes 1 there, as near to no offset as it gets. */
    if (rknpu_type_is_float(dpu->type) && cvt->offset != 0 && cvt->offset != 1) {
        return rknpu_unimplemented(job, "DPU OUT_CVT_OFFSET of a floating task", cvt->offset);
    }
    return RKNPU_TASK_OK;
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

/*
 * Rockchip's compiler says int16 for 16-bit data that it only moves, and for the numbers of a
 * floating task too: the bits that turn fp16 into fp32 and back tell what they are. fp16 in and
 * int16 out is a conversion (its exponential makes the bits of an fp16 number so).
 */
static RknpuType half_word_type(RknpuType proc, RknpuType type)
{
    if (type != RKNPU_INT16 || !rknpu_type_is_float(proc)) {
        return type;
    }
    return proc == RKNPU_BF16 ? RKNPU_BF16 : RKNPU_FP16;
}

/*
 * The stream of pixels is what its source makes: the convolution as many as the DPU's cube says,
 * the reader of a DPU-only task as many as it reads. Rockchip's compiler leaves the DPU's cube
 * alone where a short program follows a task of another size.
 */
static void decode_pixels(const RknpuJob *job, RknpuOutput *out)
{
    bool read = rknpu_field(job, RKNPU_F_FLYING_MODE) && !rknpu_field(job, RKNPU_F_UNPOOLING);

    out->width = rknpu_field(job, read ? RKNPU_F_RDMA_WIDTH : RKNPU_F_CUBE_WIDTH);
    out->height = rknpu_field(job, read ? RKNPU_F_RDMA_HEIGHT : RKNPU_F_CUBE_HEIGHT);
}

/*
 * WDMA_SIZE tells the writer's own idea of the cube. Rockchip's compiler uses it to give a stream
 * another shape (rows of pixels become passes); where the two do not hold the same number of
 * pixels, as in programs that never write it, the cube's shape stays.
 */
static void decode_split(const RknpuJob *job, RknpuOutput *out)
{
    uint64_t width = (uint64_t)rknpu_field(job, RKNPU_F_WDMA_WIDTH);
    uint64_t height = (uint64_t)rknpu_field(job, RKNPU_F_WDMA_HEIGHT);
    uint64_t channels = (uint64_t)rknpu_field(job, RKNPU_F_WDMA_CHANNEL);
    uint64_t pixels = (uint64_t)out->width * out->height;
    uint64_t computed = (uint64_t)rknpu_field(job, RKNPU_F_CUBE_CHANNEL);

    if ((width == out->width && height == out->height) ||
        width * height * channels != pixels * computed) {
        return;
    }
    out->split_width = (unsigned)width;
    out->split_height = (unsigned)height;
}

void rknpu_decode_pass_pitch(const RknpuJob *job, RknpuOutput *out)
{
    unsigned width = out->split_width ? out->split_width : out->width;
    unsigned height = out->split_width ? out->split_height : out->height;

    out->pass_pitch = rknpu_field(job, RKNPU_F_SURFACE_ADD);
    if (job->chip->surface_add == RKNPU_SURFACE_ADD_FROM_END) {
        out->pass_pitch += (height - 1) * out->line_pitch + (int64_t)width * RKNPU_ATOM_BYTES;
    }
}

static RknpuTaskResult decode_output(const RknpuJob *job, RknpuType proc, RknpuOutput *out)
{
    int64_t precision = rknpu_field(job, RKNPU_F_OUT_PRECISION);

    if (precision > RKNPU_INT4) {
        return rknpu_invalid(job, "DPU DATA_FORMAT OUT_PRECISION", precision);
    }
    out->type = precision;
    if (rknpu_field(job, RKNPU_F_FP32TOFP16_EN) &&
        rknpu_field(job, RKNPU_F_DPU_IN_PRECISION) == RKNPU_INT16) {
        out->type = half_word_type(proc, out->type);
    }
    out->base = rknpu_address(job, RKNPU_F_DST_BASE_ADDR);
    out->pend = (uint16_t)rknpu_field(job, RKNPU_F_OFFSET_PEND);
    decode_pixels(job, out);
    out->channels = rknpu_field(job, RKNPU_F_CUBE_CHANNEL);
    out->original_channels = rknpu_field(job, RKNPU_F_ORIG_CHANNEL);
    out->atom = rknpu_type_per_atom(out->type);
    out->channels = written_channels(out->channels, out->original_channels, out->atom);
    out->pass_atoms = rknpu_field(job, RKNPU_F_SIZE_E);
    if (out->width == 0 || out->height == 0 || out->channels == 0) {
        return rknpu_invalid(job, "DPU DATA_CUBE of width", out->width);
    }
    if (out->pass_atoms == 0) {
        out->pass_atoms = 1;
    }
    out->stored_atoms = out->pass_atoms;
    out->surface_pitch = rknpu_field(job, RKNPU_F_DST_SURF_STRIDE);
    decode_split(job, out);
    out->line_pitch = (out->split_width ? out->split_width : out->width) * RKNPU_ATOM_BYTES;
    out->line_pitch += rknpu_field(job, RKNPU_F_NOTCH) * RKNPU_ATOM_BYTES;
    rknpu_decode_pass_pitch(job, out);
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

RknpuTaskResult rknpu_decode_dpu(const RknpuJob *job, RknpuTask *task)
{
    RknpuDpu *dpu = &task->dpu;
    RknpuTaskResult r;

    dpu->type = rknpu_field(job, RKNPU_F_DPU_PROC_PRECISION);
    r = job->chip->stages == RKNPU_STAGES_BY_RECORDS ? rknpu_decode_records(job, task)
                                                     : decode_stages(job, dpu);
    if (r == RKNPU_TASK_OK) {
        r = decode_output(job, dpu->type, &dpu->out);
    }
    decode_lut(job, &dpu->lut);
    return r == RKNPU_TASK_OK ? decode_out_convert(job, dpu) : r;
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
RknpuTaskResult rknpu_decode_flying(const RknpuJob *job, RknpuTask *task)
{
    RknpuCube *in = &task->flying;
    int64_t rows;

    in->type = rknpu_field(job, RKNPU_F_RDMA_IN_PRECISION);
    if (rknpu_field(job, RKNPU_F_MRDMA_FP16TOFP32)) {
        in->type = half_word_type(task->dpu.type, in->type);
    }
    in->base = rknpu_address(job, RKNPU_F_SRC_BASE_ADDR);
    in->width = rknpu_field(job, RKNPU_F_RDMA_WIDTH);
    in->height = rknpu_field(job, RKNPU_F_RDMA_HEIGHT);
    in->channels = rknpu_field(job, RKNPU_F_RDMA_CHANNEL);
    in->atom = rknpu_type_per_atom(in->type);
    in->pixel_bytes = RKNPU_ATOM_BYTES;
    in->line_pitch = (in->width + rknpu_field(job, RKNPU_F_SRC_LINE_NOTCH)) * RKNPU_ATOM_BYTES;
    in->group_pitch = 4 * in->line_pitch;
    /* Both notches stand between what is read: LINE_NOTCH not behind a surface's last row. */
    rows = in->line_pitch * (in->height - 1) + in->width * RKNPU_ATOM_BYTES;
    in->surface_pitch = rows + rknpu_field(job, RKNPU_F_SURF_NOTCH);
    in->paired = rknpu_field(job, RKNPU_F_COMB_TO_MRDMA);
    in->odd_base = rknpu_address(job, RKNPU_F_EW_BASE_ADDR);
    in->odd_surface_pitch = rows + rknpu_field(job, RKNPU_F_EW_SURF_NOTCH);
    if (rknpu_field(job, RKNPU_F_MRDMA_DISABLE)) {
        return rknpu_invalid(job, "DPU_RDMA FEATURE_MODE_CFG MRDMA_DISABLE of a DPU-only task", 1);
    }
    limit_passes(in, &task->dpu.out);
    return RKNPU_TASK_OK;
}
