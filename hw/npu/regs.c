/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-ups in a chip's register list (include/rknpu/regs.h): masks, reset values, names for
 * messages.
 */
#include <glib.h>
#include "rknpu/regs.h"

const RknpuRegRow *rknpu_reg_rows(const RknpuChip *chip, unsigned *rows)
{
    *rows = chip->reg_row_count;
    return chip->reg_rows;
}

static uint32_t field_mask(const RknpuRegRow *row)
{
    uint32_t ones = row->width >= 32 ? UINT32_MAX : (1u << row->width) - 1;

    return ones << row->shift;
}

bool rknpu_reg_find(const RknpuChip *chip, uint32_t offset, RknpuReg *reg)
{
    const RknpuRegRow *row = chip->reg_rows;
    const RknpuRegRow *end = row + chip->reg_row_count;

    while (row < end && (row->field || row->offset != offset)) {
        row++;
    }
    if (row == end) {
        return false;
    }
    *reg = (RknpuReg) {
        .block = row->block, .name = row->name, .offset = row->offset, .reset = row->reset,
    };
    for (row++; row < end && row->field; row++) {
        reg->bits |= field_mask(row);
        if (row->status == RKNPU_REG_UNIMP) {
            reg->unimp |= field_mask(row);
        }
    }
    return true;
}

char *rknpu_reg_title(const RknpuChip *chip, uint32_t offset)
{
    RknpuReg reg;

    if (!rknpu_reg_find(chip, offset, &reg)) {
        return g_strdup_printf("unknown register 0x%x", offset);
    }
    return g_strdup_printf("%s %s (0x%04x)", reg.block, reg.name, offset);
}
