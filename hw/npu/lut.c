/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DPU's look-up table: two tables of 513 signed 16-bit entries, LE and LO, each with its own
 * range [start, end] and step 2^INDEX_SELECT, and a straight line beyond either end.
 *
 * Which table answers: the one whose range holds x. Both hold it: HYBRID_PRIORITY. Neither: x below
 * both, UFLOW_PRIORITY; above both, OFLOW_PRIORITY; between the two, HYBRID_PRIORITY. The last
 * rules are those of the design's ancestor, NVDLA (hw/cmod/sdp). Programs seen on boards use
 * LUT_CFG 0x68 with LE below zero and LO above (allbilly/rk3588, happyme531/rknpu2_matmul_open).
 *
 * Between two entries the value is interpolated; the product is rounded down.
 */
#include "dpu.h"

#include "convert.h"

enum {
    LUT_CFG_UFLOW_PRIORITY = 1u << 4, /* 0: LE, 1: LO; the same for the next two */
    LUT_CFG_OFLOW_PRIORITY = 1u << 5,
    LUT_CFG_HYBRID_PRIORITY = 1u << 6,
    LUT_LAST = RKNPU_LUT_ENTRIES - 1,
};

typedef struct Line {
    int64_t slope;
    unsigned shift;
} Line;

typedef struct Table {
    const int16_t *entry;
    int64_t start, end;
    unsigned select;
    Line below, above;
} Table;

typedef enum Place { BELOW, INSIDE, ABOVE } Place;

static Place place_of(const Table *t, int64_t x)
{
    return x < t->start ? BELOW : x > t->end ? ABOVE : INSIDE;
}

/* `from` plus the line's height at `distance` from its end of the table. */
static int64_t extend(int64_t from, const Line *line, int64_t distance)
{
    int64_t rise = rknpu_mul_sat(distance, line->slope);

    return rknpu_add_sat(from, rise >> line->shift);
}

static int64_t look_up(const Table *t, int64_t x)
{
    uint64_t offset, index, fraction;
    int64_t low, high;

    switch (place_of(t, x)) {
    case BELOW:
        return extend(t->entry[0], &t->below, rknpu_add_sat(x, -t->start));
    case ABOVE:
        return extend(t->entry[LUT_LAST], &t->above, rknpu_add_sat(x, -t->end));
    default:
        break;
    }
    offset = (uint64_t)(x - t->start); /* at most 2^32: both ends are 32-bit numbers */
    index = offset >> t->select;
    if (index >= LUT_LAST) {
        return t->entry[LUT_LAST];
    }
    fraction = offset - (index << t->select);
    low = t->entry[index];
    high = t->entry[index + 1];
    return low + (((high - low) * (int64_t)fraction) >> t->select);
}

static bool choose_lo(const RknpuLut *lut, Place le, Place lo)
{
    if ((le == INSIDE) != (lo == INSIDE)) {
        return lo == INSIDE;
    }
    if (le == lo && le == BELOW) {
        return lut->cfg & LUT_CFG_UFLOW_PRIORITY;
    }
    if (le == lo && le == ABOVE) {
        return lut->cfg & LUT_CFG_OFLOW_PRIORITY;
    }
    return lut->cfg & LUT_CFG_HYBRID_PRIORITY;
}

int64_t rknpu_lut(const RknpuJob *job, const RknpuLut *lut, int64_t x)
{
    const Table le = {
        .entry = job->lut[0],
        .start = lut->le_start,
        .end = lut->le_end,
        .select = lut->le_index_select & 31,
        .below = { lut->le_slope_underflow, lut->le_shift_underflow & 31 },
        .above = { lut->le_slope_overflow, lut->le_shift_overflow & 31 },
    };
    const Table lo = {
        .entry = job->lut[1],
        .start = lut->lo_start,
        .end = lut->lo_end,
        .select = lut->lo_index_select & 31,
        .below = { lut->lo_slope_underflow, lut->lo_shift_underflow & 31 },
        .above = { lut->lo_slope_overflow, lut->lo_shift_overflow & 31 },
    };
    bool use_lo = choose_lo(lut, place_of(&le, x), place_of(&lo, x));

    return look_up(use_lo ? &lo : &le, x);
}
