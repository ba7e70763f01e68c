/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Integer rounding and converters; see convert.h. RK3588 TRM, CNA_CVT_CON0, DPU_OUT_CVT_*,
 * DPU_EW_CVT_*.
 */
#include "convert.h"

/* Products of 64-bit values and shifted 32-bit offsets. */
__extension__ typedef __int128 Wide;

#define MAX_SHIFT 94 /* a 32-bit offset shifted by this, plus any product, fits a Wide */

static int64_t limit64(Wide v)
{
    return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

static Wide round_shift(Wide v, unsigned shift, RknpuRound mode)
{
    Wide half, down, rest;

    if (shift == 0) {
        return v;
    }
    half = (Wide)1 << (shift - 1);
    down = v >> shift;
    rest = v - down * ((Wide)1 << shift);
    switch (mode) {
    case RKNPU_ROUND_HALF_EVEN:
        return down + (rest > half || (rest == half && (down & 1)));
    case RKNPU_ROUND_HALF_AWAY:
        return down + (rest > half || (rest == half && v >= 0));
    case RKNPU_ROUND_HALF_UP:
        return down + (rest >= half);
    case RKNPU_ROUND_TRUNCATE:
        break;
    }
    return down;
}

static unsigned limit_shift(unsigned shift)
{
    return shift < MAX_SHIFT ? shift : MAX_SHIFT;
}

int64_t rknpu_round_shift(int64_t v, unsigned shift, RknpuRound mode)
{
    return limit64(round_shift(v, limit_shift(shift), mode));
}

int64_t rknpu_mul_shift(int64_t a, int64_t b, unsigned shift, RknpuRound mode)
{
    return limit64(round_shift((Wide)a * b, limit_shift(shift), mode));
}

int64_t rknpu_mul_sat(int64_t a, int64_t b)
{
    return limit64((Wide)a * b);
}

int64_t rknpu_add_sat(int64_t a, int64_t b)
{
    return limit64((Wide)a + b);
}

/* Both orders of multiply and add; the offset enters before the rounding in either (it changes
 * parity). */
static int64_t convert(bool add_first, int64_t v, int32_t offset, int32_t scale, unsigned shift,
                       RknpuRound mode)
{
    shift = limit_shift(shift);
    if (add_first) {
        return limit64(round_shift(((Wide)v + offset) * scale, shift, mode));
    }
    return limit64(round_shift((Wide)v * scale + (Wide)offset * ((Wide)1 << shift), shift, mode));
}

int64_t rknpu_out_convert(const RknpuOutConvert *cvt, int64_t v)
{
    return convert(cvt->add_first, v, cvt->offset, cvt->scale, cvt->shift, cvt->round);
}

int64_t rknpu_ew_convert(const RknpuEw *ew, int64_t operand)
{
    return convert(ew->convert_add_first, operand, ew->convert_offset, ew->convert_scale,
                   ew->convert_shift, ew->convert_round);
}

int8_t rknpu_input_convert(const RknpuInputConvert *cvt, unsigned lane, uint8_t bits)
{
    int64_t v = cvt->data_signed ? (int8_t)bits : bits;
    unsigned set = lane % 4;

    if (!cvt->active || !(cvt->lanes >> lane & 1)) {
        return (int8_t)bits;
    }
    if (cvt->add_first) {
        v = rknpu_round_shift((v + cvt->offset[set]) * cvt->scale[set], cvt->truncate[set],
                              cvt->round);
    } else {
        v = rknpu_round_shift(v * cvt->scale[set], cvt->truncate[set], cvt->round) +
            cvt->offset[set];
    }
    return (int8_t)rknpu_saturate(RKNPU_INT8, v);
}
