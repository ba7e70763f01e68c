/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DPU's stages for integer processing, and what both processings share: operand streams, EW
 * operands and the way of a run to memory. Stage order BS, BN, LUT, EW, OUT_CVT: beside a look-up
 * Rockchip's compiler lets EW take the maximum with 0 of tables that are never negative (sigmoid,
 * softplus) but are looked up with negative values.
 */
#include "dpu.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "convert.h"

#define ATOM_BYTES      16
#define RECORD_CHANNELS 8

static unsigned record_bytes(unsigned use)
{
    return (use & RKNPU_OPERAND_ALU ? 32 : 0) + (use & RKNPU_OPERAND_CPEND ? 16 : 0) +
           (use & RKNPU_OPERAND_MUL ? 16 : 0);
}

static uint32_t load_u32(const uint8_t *p)
{
    return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint16_t load_u16(const uint8_t *p)
{
    return p[0] | p[1] << 8;
}

/* Takes one record (or, for ALU alone, its 8 packed words) apart. */
static void take_record(RknpuDpuState *dpu, unsigned which, unsigned use, const uint8_t *record,
                        unsigned channel)
{
    unsigned lanes = MIN(RECORD_CHANNELS, dpu->channels - channel);
    const uint8_t *cpend = record + (use & RKNPU_OPERAND_ALU ? 32 : 0);
    const uint8_t *mul = cpend + (use & RKNPU_OPERAND_CPEND ? 16 : 0);

    for (unsigned i = 0; i < lanes; i++) {
        if (use & RKNPU_OPERAND_ALU) {
            dpu->alu[which][channel + i] = load_u32(record + 4 * i);
        }
        if (use & RKNPU_OPERAND_CPEND && which == 0) {
            dpu->cpend[channel + i] = (int16_t)load_u16(cpend + 2 * i);
        }
        if (use & RKNPU_OPERAND_MUL) {
            dpu->mul[which][channel + i] = load_u16(mul + 2 * i);
        }
    }
}

/* Reads the operand stream of BS (0) or BN (1) whole. */
static bool read_stream(RknpuDpuState *dpu, unsigned which, const RknpuOperandStream *stream)
{
    RknpuMem *mem = dpu->job->mem;
    unsigned use = stream->use & 7;
    unsigned bytes = record_bytes(use);
    unsigned records = (dpu->channels + RECORD_CHANNELS - 1) / RECORD_CHANNELS;
    uint64_t length = use == RKNPU_OPERAND_ALU ? 4ull * dpu->channels : (uint64_t)records * bytes;

    if (use & RKNPU_OPERAND_ALU) {
        dpu->alu[which] = g_new0(uint32_t, dpu->channels);
    }
    if (use & RKNPU_OPERAND_CPEND && which == 0) {
        dpu->cpend = g_new0(int16_t, dpu->channels);
    }
    if (use & RKNPU_OPERAND_MUL) {
        dpu->mul[which] = g_new0(uint16_t, dpu->channels);
    }
    for (unsigned r = 0; r < records; r++) {
        uint8_t record[64] = { 0 };
        uint64_t at = (uint64_t)r * bytes;

        if (!rknpu_mem_read(mem, RKNPU_STREAM_OPERAND, stream->base + (uint32_t)at, record,
                            MIN(bytes, length - at))) {
            return false;
        }
        take_record(dpu, which, use, record, r * RECORD_CHANNELS);
    }
    rknpu_mem_count(mem, RKNPU_STREAM_OPERAND, stream->base, length);
    return true;
}

static bool stage_reads(const RknpuStage *stage)
{
    return stage->active && (stage->alu_from_memory || stage->mul_from_memory);
}

/* Traffic of the EW operand: each atom of the output once, or one row of values. */
static void count_ew(RknpuDpuState *dpu)
{
    const RknpuOutput *out = &dpu->dpu->out;
    const RknpuEwCube *cube = &dpu->dpu->ew.cube;
    unsigned bits = rknpu_type_bits(cube->type);
    unsigned per_atom = rknpu_type_per_atom(cube->type);
    unsigned surfaces = (out->channels + per_atom - 1) / per_atom;
    uint64_t row = (uint64_t)out->width * ATOM_BYTES;

    if (dpu->dpu->ew.source == RKNPU_EW_CHANNEL) {
        rknpu_mem_count(dpu->job->mem, RKNPU_STREAM_OPERAND, cube->base[0],
                        ((uint64_t)out->channels * bits + 7) / 8);
        return;
    }
    for (unsigned s = 0; s < surfaces; s++) {
        bool dense = cube->line_pitch == (int64_t)row;

        for (unsigned y = 0; y < (dense ? 1 : out->height); y++) {
            rknpu_mem_count(dpu->job->mem, RKNPU_STREAM_OPERAND, rknpu_ew_address(cube, s, y, 0),
                            dense ? row * out->height : row);
        }
    }
}

RknpuDpuState *rknpu_dpu_open(RknpuJob *job, const RknpuDpu *d, RknpuTaskResult *result)
{
    RknpuDpuState *dpu = g_new0(RknpuDpuState, 1);
    bool ok = true;

    dpu->job = job;
    dpu->dpu = d;
    dpu->channels = d->out.channels;
    if (stage_reads(&d->bs) || d->bs.stream.use & RKNPU_OPERAND_CPEND) {
        ok = read_stream(dpu, 0, &d->bs.stream);
    }
    if (ok && stage_reads(&d->bn)) {
        ok = read_stream(dpu, 1, &d->bn.stream);
    }
    if (!ok) {
        rknpu_dpu_close(dpu);
        *result = RKNPU_TASK_READ_FAULT;
        return NULL;
    }
    if (d->ew.active && d->ew.op && d->ew.source != RKNPU_EW_REGISTER) {
        count_ew(dpu);
    }
    *result = RKNPU_TASK_OK;
    return dpu;
}

void rknpu_dpu_close(RknpuDpuState *dpu)
{
    if (!dpu) {
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        g_free(dpu->alu[i]);
        g_free(dpu->mul[i]);
    }
    g_free(dpu->cpend);
    g_free(dpu);
}

/* max(0, v), or v limited to [0, limit]. */
static int64_t relu(int64_t v, bool limited, uint32_t limit)
{
    v = v > 0 ? v : 0;
    return limited && v > (int32_t)limit ? MAX((int32_t)limit, 0) : v;
}

static int64_t stage_value(const RknpuStage *stage, int64_t v, int32_t alu, int16_t mul)
{
    int64_t addend = !stage->alu ? 0 : stage->alu_minus ? -(int64_t)alu : alu;
    bool mul_on = stage->mul && !(stage->prelu && v >= 0);
    unsigned shift;

    if (!stage->mul_first || !mul_on) {
        v = rknpu_add_sat(v, addend);
        addend = 0;
    }
    if (stage->mul && !(stage->prelu && v >= 0)) {
        shift = v >= 0 ? stage->shift : stage->shift_negative;
        v = rknpu_round_shift(rknpu_add_sat(rknpu_mul_sat(v, mul), addend), shift,
                              stage->mul_round);
    }
    if (stage->relu) {
        v = relu(v, stage->relux, stage->relux_max);
    }
    return CLAMP(v, stage->clamp_min == INT32_MIN ? INT64_MIN : stage->clamp_min,
                 stage->clamp_max == INT32_MAX ? INT64_MAX : stage->clamp_max);
}

static void run_stage(const RknpuDpuState *dpu, unsigned which, const RknpuStage *stage,
                      const RknpuRun *run, int64_t *values)
{
    for (unsigned i = 0; i < run->pixels * run->lanes; i++) {
        unsigned channel = run->channel + i % run->lanes;
        uint32_t alu = stage->alu_from_memory ? dpu->alu[which][channel] : stage->alu_operand;
        uint16_t mul = stage->mul_from_memory ? dpu->mul[which][channel] : stage->mul_operand;

        values[i] = stage_value(stage, values[i], (int32_t)alu, (int16_t)mul);
    }
}

static int64_t ew_value(const RknpuEw *ew, int64_t v, int64_t e)
{
    if (ew->mul) {
        if (ew->prelu && v >= 0) {
            return v;
        }
        /* The sign that picks the shift is the data's, as in BS and BN. */
        return rknpu_mul_shift(v, e, v >= 0 ? ew->truncate : ew->truncate_negative, ew->mul_round);
    }
    switch (ew->alu) {
    case RKNPU_ALU_MAX:
        return MAX(v, e);
    case RKNPU_ALU_MIN:
        return MIN(v, e);
    case RKNPU_ALU_MINUS:
        return rknpu_add_sat(v, e == INT64_MIN ? INT64_MAX : -e);
    default:
        return rknpu_add_sat(v, e);
    }
}

static bool run_ew(RknpuDpuState *dpu, const RknpuRun *run, int64_t *values)
{
    const RknpuEw *ew = &dpu->dpu->ew;
    int64_t operands[RKNPU_RUN_PIXELS * RKNPU_RUN_LANES];

    if (ew->op && !rknpu_dpu_ew_operands(dpu, run, operands)) {
        return false;
    }
    for (unsigned i = 0; i < run->pixels * run->lanes; i++) {
        if (ew->op) {
            int64_t e = ew->convert ? rknpu_ew_convert(ew, operands[i]) : operands[i];

            values[i] = ew_value(ew, values[i], e);
        }
        if (ew->relu) {
            values[i] = relu(values[i], ew->relux, ew->relux_max);
        }
    }
    return true;
}

RknpuTaskResult rknpu_dpu_int(RknpuDpuState *dpu, const RknpuRun *run, int64_t *values)
{
    const RknpuDpu *d = dpu->dpu;
    unsigned count = run->pixels * run->lanes;

    if (d->bs.active) {
        run_stage(dpu, 0, &d->bs, run, values);
    }
    if (d->bn.active) {
        run_stage(dpu, 1, &d->bn, run, values);
    }
    for (unsigned i = 0; d->lut.active && i < count; i++) {
        values[i] = rknpu_lut(dpu->job, &d->lut, values[i]);
    }
    if (d->ew.active && !run_ew(dpu, run, values)) {
        return RKNPU_TASK_READ_FAULT;
    }
    for (unsigned i = 0; i < count; i++) {
        values[i] = rknpu_out_convert(&d->convert, values[i]);
    }
    return rknpu_dpu_store_int(dpu, run, values) ? RKNPU_TASK_OK : RKNPU_TASK_WRITE_FAULT;
}

/* Raw bits of an element: integers sign-extended, floats as they lie in memory. */
static int64_t load_bits(RknpuType type, const uint8_t *from, unsigned index)
{
    if (!rknpu_type_is_float(type)) {
        return rknpu_load_int(type, from, index);
    }
    return rknpu_type_bits(type) == 16 ? load_u16(from + 2 * index) : load_u32(from + 4 * index);
}

static bool ew_channel_operands(RknpuDpuState *dpu, const RknpuRun *run, int64_t *operands)
{
    const RknpuEwCube *cube = &dpu->dpu->ew.cube;
    unsigned bits = rknpu_type_bits(cube->type);
    uint8_t row[RKNPU_RUN_LANES * 4 + 1];
    uint32_t first = run->channel * bits / 8; /* runs start at whole atoms, so at whole bytes */

    if (!rknpu_mem_read(dpu->job->mem, RKNPU_STREAM_OPERAND, cube->base[0] + first, row,
                        (run->lanes * bits + 7) / 8)) {
        return false;
    }
    for (unsigned i = 0; i < run->pixels * run->lanes; i++) {
        operands[i] = load_bits(cube->type, row, i % run->lanes);
    }
    return true;
}

/* The operand's atoms may be wider or narrower than the output's: surface by surface. */
static bool ew_pixel_operands(RknpuDpuState *dpu, const RknpuRun *run, int64_t *operands)
{
    const RknpuEwCube *cube = &dpu->dpu->ew.cube;
    unsigned per_atom = rknpu_type_per_atom(cube->type);
    uint8_t row[RKNPU_RUN_PIXELS * ATOM_BYTES];

    for (unsigned lane = 0; lane < run->lanes;) {
        unsigned channel = run->channel + lane;
        unsigned first = channel % per_atom;
        unsigned lanes = MIN(per_atom - first, run->lanes - lane);
        uint32_t at = rknpu_ew_address(cube, channel / per_atom, run->y, run->x);

        if (!rknpu_mem_read(dpu->job->mem, RKNPU_STREAM_OPERAND, at, row,
                            (uint64_t)run->pixels * ATOM_BYTES)) {
            return false;
        }
        for (unsigned p = 0; p < run->pixels; p++) {
            for (unsigned i = 0; i < lanes; i++) {
                operands[p * run->lanes + lane + i] =
                    load_bits(cube->type, row + p * ATOM_BYTES, first + i);
            }
        }
        lane += lanes;
    }
    return true;
}

bool rknpu_dpu_ew_operands(RknpuDpuState *dpu, const RknpuRun *run, int64_t *operands)
{
    const RknpuEw *ew = &dpu->dpu->ew;

    switch (ew->source) {
    case RKNPU_EW_REGISTER:
        for (unsigned i = 0; i < run->pixels * run->lanes; i++) {
            operands[i] = (int32_t)ew->operand[(run->channel + i % run->lanes) % 8];
        }
        return true;
    case RKNPU_EW_CHANNEL:
        return ew_channel_operands(dpu, run, operands);
    case RKNPU_EW_PIXEL:
        break;
    }
    return ew_pixel_operands(dpu, run, operands);
}

/*
 * Writes [pixel][16 bytes]. Atoms are written whole: Rockchip's compiler clears the lanes behind a
 * tensor's last channel, or sets them to the lowest number, by copying the others in place.
 */
static bool store_atoms(RknpuDpuState *dpu, const RknpuRun *run, uint8_t *atoms)
{
    const RknpuOutput *out = &dpu->dpu->out;
    uint32_t at = rknpu_output_address(out, run->channel / out->atom, run->y, run->x);
    unsigned bytes = (run->lanes * rknpu_type_bits(out->type) + 7) / 8;
    unsigned element = MAX(rknpu_type_bits(out->type) / 8, 1);

    for (unsigned p = 0; bytes < ATOM_BYTES && p < run->pixels; p++) {
        for (unsigned i = bytes; i < ATOM_BYTES; i++) {
            atoms[p * ATOM_BYTES + i] = rknpu_pend_byte(out->pend, i % element);
        }
    }
    if (!out->split_width) {
        return rknpu_mem_write(dpu->job->mem, at, atoms, (uint64_t)run->pixels * ATOM_BYTES);
    }
    for (unsigned p = 0; p < run->pixels; p++) {
        at = rknpu_output_address(out, run->channel / out->atom, run->y, run->x + p);
        if (!rknpu_mem_write(dpu->job->mem, at, atoms + p * ATOM_BYTES, ATOM_BYTES)) {
            return false;
        }
    }
    return true;
}

bool rknpu_dpu_store_int(RknpuDpuState *dpu, const RknpuRun *run, const int64_t *values)
{
    RknpuType type = dpu->dpu->out.type;
    uint8_t atoms[RKNPU_RUN_PIXELS * ATOM_BYTES] = { 0 };

    for (unsigned i = 0; i < run->pixels * run->lanes; i++) {
        uint8_t *atom = atoms + i / run->lanes * ATOM_BYTES;

        if (rknpu_type_is_float(type)) {
            rknpu_store_float(type, atom, i % run->lanes,
                              ldexpf((float)values[i], -(int)dpu->dpu->convert.minus_exp));
        } else {
            rknpu_store_int(type, atom, i % run->lanes, values[i]);
        }
    }
    return store_atoms(dpu, run, atoms);
}

bool rknpu_dpu_store_float(RknpuDpuState *dpu, const RknpuRun *run, const float *values)
{
    RknpuType type = dpu->dpu->out.type;
    uint8_t atoms[RKNPU_RUN_PIXELS * ATOM_BYTES] = { 0 };

    for (unsigned i = 0; i < run->pixels * run->lanes; i++) {
        uint8_t *atom = atoms + i / run->lanes * ATOM_BYTES;

        if (rknpu_type_is_float(type)) {
            rknpu_store_float(type, atom, i % run->lanes, values[i]);
        } else {
            rknpu_store_int(type, atom, i % run->lanes, rknpu_float_to_int32(values[i]));
        }
    }
    return store_atoms(dpu, run, atoms);
}

/*
 * The next range of bytes that the task writes: `*at` counts them, 0 at first. False: no more.
 */
static bool next_output(const RknpuOutput *out, uint64_t *at, uint32_t *iova, uint64_t *len)
{
    unsigned atoms = (out->channels + out->atom - 1) / out->atom;
    uint64_t row = (uint64_t)out->width * ATOM_BYTES;
    bool dense = out->line_pitch == (int64_t)row && !out->split_width;
    unsigned rows = dense ? 1 : out->height;

    for (; *at < (uint64_t)atoms * rows; ++*at) {
        unsigned g = *at / rows;

        if (g % out->pass_atoms < out->stored_atoms) {
            *iova = rknpu_output_address(out, g, *at % rows, 0);
            *len = dense ? row * out->height : row;
            ++*at;
            return true;
        }
    }
    return false;
}

bool rknpu_dpu_map_output(RknpuDpuState *dpu)
{
    uint64_t at = 0, len;
    uint32_t iova;

    while (next_output(&dpu->dpu->out, &at, &iova, &len)) {
        if (rknpu_cancelled(dpu->job) || !rknpu_mem_map_out(dpu->job->mem, iova, len)) {
            return false;
        }
    }
    return true;
}

void rknpu_dpu_count_output(RknpuDpuState *dpu)
{
    uint64_t at = 0, len;
    uint32_t iova;

    while (next_output(&dpu->dpu->out, &at, &iova, &len)) {
        rknpu_mem_count(dpu->job->mem, RKNPU_STREAM_OUTPUT, iova, len);
    }
}
