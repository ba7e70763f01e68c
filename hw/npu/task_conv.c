/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of CNA and CORE -> RknpuConv: input cube, converter, weights, padding.
 */
#include "decode.h"

/* Modes of the sequencer that change results and that no file computes. */
static RknpuTaskResult check_conv_modes(const RknpuJob *job)
{
    if (rknpu_field(job, RKNPU_F_IN_PRECISION) != rknpu_field(job, RKNPU_F_PROC_PRECISION)) {
        return rknpu_unimplemented(job, "CNA CONV_CON1 IN_PRECISION unlike PROC_PRECISION",
                                   rknpu_field(job, RKNPU_F_IN_PRECISION));
    }
    /* To leave out the products of zeros changes nothing. */
    if (rknpu_field(job, RKNPU_F_FC_SKIP_EN) && rknpu_field(job, RKNPU_F_FC_SKIP_DATA)) {
        return rknpu_unimplemented(job, "CNA FC_CON0 FC_SKIP_DATA",
                                   rknpu_field(job, RKNPU_F_FC_SKIP_DATA));
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
    int64_t line = rknpu_field(job, RKNPU_F_LINE_STRIDE);
    int64_t surface = rknpu_field(job, RKNPU_F_SURF_STRIDE);
    int64_t dma_width = rknpu_field(job, RKNPU_F_DMA_WIDTH);
    int64_t argb = rknpu_field(job, RKNPU_F_ARGB_IN);
    bool plain_lines = rknpu_field(job, RKNPU_F_GROUP_LINE_OFF);
    unsigned bits = rknpu_type_bits(conv->type);

    in->type = conv->type;
    in->base = rknpu_address(job, RKNPU_F_FEATURE_BASE_ADDR);
    in->width = rknpu_field(job, RKNPU_F_DATAIN_WIDTH);
    in->height = rknpu_field(job, RKNPU_F_DATAIN_HEIGHT);
    in->channels = rknpu_field(job, RKNPU_F_DATAIN_CHANNEL);
    if (in->width == 0 || in->height == 0 || in->channels == 0) {
        return rknpu_invalid(job, "CNA DATA_SIZE of", in->width);
    }
    in->atom = rknpu_type_per_atom(conv->type);
    in->pixel_bytes = RKNPU_ATOM_BYTES;
    if (argb) {
        bool known = job->chip->packed_pixels != RKNPU_PACKED_QUADS || conv->type == RKNPU_INT8 ||
                     conv->type == RKNPU_FP16 || conv->type == RKNPU_INT16;

        if (argb < 8 || argb > 11 || bits < 8 || !known) {
            return rknpu_unimplemented(job, "CNA CONV_CON1 ARGB_IN", argb);
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
        in->line_pitch = line * RKNPU_ATOM_BYTES;
        in->group_pitch = 4 * in->line_pitch;
        if (conv->type == RKNPU_INT8) {
            conv->packed_weights = rknpu_field(job, RKNPU_F_PIXEL_QUADS)
                                       ? RKNPU_PACKED_WEIGHTS_QUADS
                                       : RKNPU_PACKED_WEIGHTS_FOURS;
            conv->right_pad_is_zero = true;
        }
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

    cvt->active = !rknpu_field(job, RKNPU_F_CVT_BYPASS);
    if (!cvt->active) {
        return RKNPU_TASK_OK;
    }
    if (conv->type != RKNPU_INT8) {
        return rknpu_unimplemented(job, "CNA CVT_CON0 active with PROC_PRECISION", conv->type);
    }
    cvt->add_first = rknpu_field(job, RKNPU_F_CVT_TYPE);
    cvt->data_signed = rknpu_field(job, RKNPU_F_CVT_DATA_SIGN);
    cvt->round = rknpu_round_mode(job, RKNPU_F_CVT_ROUND_TYPE, RKNPU_ROUND_HALF_EVEN);
    cvt->lanes = rknpu_field(job, RKNPU_F_CVT_LANES);
    for (unsigned i = 0; i < 4; i++) {
        cvt->scale[i] = rknpu_field(job, RKNPU_F_CVT_SCALE_0 + i);
        cvt->offset[i] = rknpu_field(job, RKNPU_F_CVT_OFFSET_0 + i);
        cvt->truncate[i] = rknpu_field(job, RKNPU_F_CVT_TRUNCATE_0 + i);
    }
    return RKNPU_TASK_OK;
}

/*
 * Channels stored per tap in the last depthwise group: what WEIGHT_SIZE1 leaves for it. Rockchip's
 * compiler stores 16, 32 or 64; Mesa 26.2.6 packs otherwise by the real channel count
 * (docs/hardware-notes.md, "Depthwise tails").
 */
static unsigned depthwise_last_pitch(const RknpuJob *job, const RknpuConv *conv)
{
    unsigned groups = (conv->tap_channels + conv->kernel_group - 1) / conv->kernel_group;
    unsigned by_size = conv->tap_channels - conv->kernel_group * (groups - 1);
    unsigned real = ((rknpu_field(job, RKNPU_F_DATAIN_CHANNEL_REAL) - 1) & 63) + 1;

    if (conv->type != RKNPU_INT8 || !job->config->dw_tail_as_mesa_packs ||
        conv->depthwise_order != RKNPU_DW_ORDER_PLAIN) {
        return by_size;
    }
    if (real % 32 > 16) {
        return conv->tap_channels < 64 ? conv->tap_channels : 64;
    }
    return real > 16 ? real : 16;
}

/*
 * Depthwise kernels of integers with zero points: twice the bytes where each weight has its own
 * beside it, else one for all (of bytes), which is a factor of the sum of inputs.
 */
static void decode_zero_points(const RknpuJob *job, RknpuConv *conv)
{
    int64_t bytes = rknpu_field(job, RKNPU_F_WEIGHT_BYTES);

    if (bytes != rknpu_field(job, RKNPU_F_WEIGHT_BYTES_PER_KERNEL)) {
        conv->depthwise_order = RKNPU_DW_ORDER_PAIRS;
        return;
    }
    if (conv->type != RKNPU_INT8) {
        return;
    }
    conv->add_ow = true;
    conv->ow = rknpu_minus_zero_point((uint8_t)rknpu_field(job, RKNPU_F_WEIGHT_ZERO_POINT));
}

static RknpuTaskResult decode_weights(const RknpuJob *job, RknpuConv *conv)
{
    static const struct {
        uint8_t group, slice, depthwise_group; /* 0: no such mode */
    } shape[] = {
        [RKNPU_INT8] = { 32, 32, 64 }, [RKNPU_INT16] = { 16, 32, 32 },
        [RKNPU_FP16] = { 16, 32, 32 }, [RKNPU_BF16] = { 16, 32, 32 },
        [RKNPU_INT4] = { 64, 32, 0 },  [RKNPU_TF32] = { 16, 16, 0 },
    };
    uint64_t per_kernel = rknpu_field(job, RKNPU_F_WEIGHT_BYTES_PER_KERNEL);
    unsigned taps = conv->kernel_width * conv->kernel_height;

    conv->weight_base = rknpu_address(job, RKNPU_F_DCOMP_ADDR0);
    conv->kernels = rknpu_field(job, RKNPU_F_WEIGHT_KERNELS);
    conv->kernel_group =
        conv->depthwise ? shape[conv->type].depthwise_group : shape[conv->type].group;
    conv->slice = shape[conv->type].slice;
    if (conv->kernel_group == 0) {
        return rknpu_unimplemented(job, "depthwise CONV_MODE with PROC_PRECISION", conv->type);
    }
    if (taps == 0 || conv->kernels == 0) {
        return rknpu_invalid(job, "CNA WEIGHT_SIZE2 taps", taps);
    }
    conv->tap_channels = per_kernel * 8 / rknpu_type_bits(conv->weight_type) / taps;
    if (conv->packed_weights != RKNPU_PACKED_WEIGHTS_PLAIN) {
        /* What the picture lacks of four channels is neutral, and so are a row's columns behind the
         * last. */
        if (conv->depthwise) {
            return rknpu_unimplemented(job, "CNA CONV_CON1 ARGB_IN with DEPTHWISE", 1);
        }
        conv->tap_channels = conv->input.atom;
    } else if (!conv->depthwise && conv->type == RKNPU_INT8) {
        conv->tap_channels = (conv->tap_channels + 15) / 16 * 16;
    }
    if (conv->tap_channels == 0) {
        return rknpu_invalid(job, "CNA WEIGHT_SIZE1", per_kernel);
    }
    conv->depthwise_order = RKNPU_DW_ORDER_PLAIN;
    if (conv->depthwise && (conv->type == RKNPU_INT8 || conv->type == RKNPU_INT16) &&
        job->chip->depthwise_weights == RKNPU_DW_WITH_ZERO_POINT) {
        decode_zero_points(job, conv);
    }
    conv->last_pitch = conv->depthwise ? depthwise_last_pitch(job, conv) : 0;
    conv->weight_bytes = rknpu_field(job, RKNPU_F_WEIGHT_BYTES);
    return RKNPU_TASK_OK;
}

/* Compressed weights; the control values are those of Rockchip's compiler (dcomp.c). */
static RknpuTaskResult decode_compression(const RknpuJob *job, RknpuConv *conv)
{
    const int64_t control = 1, lane_registers = 0x55555555;
    int64_t value = rknpu_field(job, RKNPU_F_DCOMP_CTRL);

    conv->compressed = value & 7 && !(value & 8); /* b3 WT_DEC_BYPASS */
    if (!conv->compressed) {
        return RKNPU_TASK_OK;
    }
    if (value != control || !rknpu_has_field(job->chip, RKNPU_F_DCOMP_AMOUNT_0) ||
        conv->type != RKNPU_INT8) {
        return rknpu_unimplemented(job, "CNA DCOMP_CTRL", value);
    }
    if (rknpu_field(job, RKNPU_F_DCOMP_REGNUM) != lane_registers) {
        return rknpu_unimplemented(job, "CNA DCOMP_REGNUM", rknpu_field(job, RKNPU_F_DCOMP_REGNUM));
    }
    for (unsigned lane = 0; lane < 16; lane++) {
        conv->lane_blocks[lane] = (uint64_t)rknpu_field(job, RKNPU_F_DCOMP_AMOUNT_0 + lane);
    }
    return RKNPU_TASK_OK;
}

static RknpuTaskResult decode_type(const RknpuJob *job, RknpuConv *conv)
{
    int64_t precision = rknpu_field(job, RKNPU_F_PROC_PRECISION);
    int64_t weights = rknpu_field(job, RKNPU_F_WEIGHT_PRECISION);
    int64_t mode = rknpu_field(job, RKNPU_F_CONV_MODE);

    if (precision == RKNPU_INT32 || precision == RKNPU_FP32) {
        return rknpu_invalid(job, "CNA CONV_CON1 PROC_PRECISION", precision);
    }
    if (mode != 0 && mode != job->chip->conv_mode_depthwise) {
        return rknpu_unimplemented(job, "CNA CONV_CON1 CONV_MODE", mode);
    }
    conv->type = conv->weight_type = precision;
    conv->depthwise = mode != 0;
    if (!rknpu_has_field(job->chip, RKNPU_F_WEIGHT_PRECISION) || weights == precision) {
        return RKNPU_TASK_OK;
    }
    if (weights != RKNPU_INT4 || precision != RKNPU_FP16 || conv->depthwise) {
        return rknpu_unimplemented(job, "CNA CONV_CON1 WEIGHT_PRECISION", weights);
    }
    conv->weight_type = RKNPU_INT4;
    return RKNPU_TASK_OK;
}

/*
 * What the CBUF still holds from the task before is not read again. The addresses stay valid, so
 * the computation reads memory all the same; only the traffic counters care.
 */
static void decode_reuse(const RknpuJob *job, RknpuConv *conv)
{
    unsigned padded = conv->input.channels;
    unsigned low = (rknpu_field(job, RKNPU_F_DATAIN_CHANNEL_REAL) - 1) & 63;
    unsigned real = (padded - 1) / 64 * 64 + low + 1; /* compilers store the count modulo 64 */
    unsigned staged = conv->input.height;

    conv->real_channels = real < padded ? real : padded;
    conv->reads_weights = !rknpu_field(job, RKNPU_F_WEIGHT_REUSE);
    conv->reads_features = true;
    if (rknpu_field(job, RKNPU_F_DATA_REUSE)) {
        staged = rknpu_has_field(job->chip, RKNPU_F_STAGED_HEIGHT)
                     ? rknpu_field(job, RKNPU_F_STAGED_HEIGHT)
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

/*
 * DECONV_X/Y_STRIDE hold the number of places between two pixels of the input, as the atrous fields
 * do between two taps. Padding is that of the spread map: kernel size - 1 - the layer's padding,
 * and compilers store the kernel turned around.
 */
static void decode_deconvolution(const RknpuJob *job, RknpuConv *conv)
{
    bool on = rknpu_field(job, RKNPU_F_DECONV) || !rknpu_has_field(job->chip, RKNPU_F_DECONV);

    conv->spread_x = on ? (unsigned)rknpu_field(job, RKNPU_F_DECONV_X_STRIDE) + 1 : 1;
    conv->spread_y = on ? (unsigned)rknpu_field(job, RKNPU_F_DECONV_Y_STRIDE) + 1 : 1;
}

RknpuTaskResult rknpu_decode_conv(const RknpuJob *job, RknpuConv *conv)
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
    conv->kernel_width = rknpu_field(job, RKNPU_F_WEIGHT_WIDTH);
    conv->kernel_height = rknpu_field(job, RKNPU_F_WEIGHT_HEIGHT);
    conv->stride_x = rknpu_field(job, RKNPU_F_CONV_X_STRIDE);
    conv->stride_y = rknpu_field(job, RKNPU_F_CONV_Y_STRIDE);
    conv->dilation_x = rknpu_field(job, RKNPU_F_ATROUS_X_DILATION) + 1;
    conv->dilation_y = rknpu_field(job, RKNPU_F_ATROUS_Y_DILATION) + 1;
    decode_deconvolution(job, conv);
    conv->pad_left = rknpu_field(job, RKNPU_F_PAD_LEFT);
    conv->pad_top = rknpu_field(job, RKNPU_F_PAD_TOP);
    conv->pad_bits = rknpu_field(job, RKNPU_F_PAD_VALUE);
    conv->add_ow = rknpu_field(job, RKNPU_F_QD_EN) && !rknpu_field(job, RKNPU_F_OD_BYPASS);
    conv->ow_from_memory = rknpu_field(job, RKNPU_F_OW_SRC);
    conv->ow = rknpu_field(job, RKNPU_F_OW_OP);
    conv->sum_without_padding = job->config->ow_sum_without_padding;
    conv->truncate = rknpu_field(job, RKNPU_F_CLIP_TRUNCATE);
    conv->truncate_round =
        rknpu_round_mode(job, RKNPU_F_CLIP_ROUND_TYPE, job->config->round_truncate);
    decode_reuse(job, conv);
    r = decode_weights(job, conv);
    if (r == RKNPU_TASK_OK) {
        r = decode_compression(job, conv);
    }
    return r == RKNPU_TASK_OK ? decode_input_convert(job, conv) : r;
}
