/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All registers of the NPU, by chip. The lists in regs-rk3588.h, regs-rk3576.h and regs-common.h
 * are written once and expanded here, in the device, in the tests and in the generator of
 * docs/not-modelled.md:
 *
 *   R(BLOCK, NAME, offset, reset)               a register; its fields follow
 *       F(BLOCK, NAME, FIELD, shift, width, status)
 *
 * A bit that is no field reads 0 and takes no writes. Status of a field:
 *   EXACT   has the effect that the manual (or, on RK3576, the evidence) gives it
 *   STORED  kept and read back; on the chip it only steers timing, buffers or the bus, or its
 *           meaning is unknown and no known program depends on it
 *   UNIMP   changes results on the chip and is not modelled: a non-zero value is counted and
 *           reported
 */
#ifndef RKNPU_REGS_H
#define RKNPU_REGS_H

#include <stdbool.h>
#include <stdint.h>
#include "rknpu/chip.h"
#include "rknpu/regs-common.h"
#include "rknpu/regs-rk3576.h"
#include "rknpu/regs-rk3588.h"

/*
 * RK3588_DPU_OUT_CVT_SCALE             = 0x4084, the offset in a core's window
 * RK3588_DPU_OUT_CVT_SCALE__OUT_CVT_SCALE_SHIFT, ..._WIDTH   place of a field
 * Without a chip's name: RKNPU_PC_*, RKNPU_GROUP_* (offsets in a block), RKNPU_LUT_* (in the port).
 */
#define RKNPU_REG_ENUM(chip, block, name, offset) chip##_##block##_##name = (offset),
#define RKNPU_FIELD_ENUM(chip, block, name, field, shift, width) \
    chip##_##block##_##name##__##field##_SHIFT = (shift), \
    chip##_##block##_##name##__##field##_WIDTH = (width),
#define RKNPU_R_88(block, name, offset, reset) RKNPU_REG_ENUM(RK3588, block, name, offset)
#define RKNPU_F_88(block, name, field, shift, width, status) \
    RKNPU_FIELD_ENUM(RK3588, block, name, field, shift, width)
#define RKNPU_R_76(block, name, offset, reset) RKNPU_REG_ENUM(RK3576, block, name, offset)
#define RKNPU_F_76(block, name, field, shift, width, status) \
    RKNPU_FIELD_ENUM(RK3576, block, name, field, shift, width)
#define RKNPU_R_ALL(block, name, offset, reset) RKNPU_REG_ENUM(RKNPU, block, name, offset)
#define RKNPU_F_ALL(block, name, field, shift, width, status) \
    RKNPU_FIELD_ENUM(RKNPU, block, name, field, shift, width)
enum { RK3588_REGS(RKNPU_R_88, RKNPU_F_88) };
enum { RK3576_REGS(RKNPU_R_76, RKNPU_F_76) };
enum {
    RKNPU_REGS_PC(RKNPU_R_ALL, RKNPU_F_ALL)
    RKNPU_REGS_GROUP(RKNPU_R_ALL, RKNPU_F_ALL, GROUP, 0)
    RKNPU_REGS_LUT_PORT(RKNPU_R_ALL, RKNPU_F_ALL, LUT, 0)
};
#undef RKNPU_REG_ENUM
#undef RKNPU_FIELD_ENUM
#undef RKNPU_R_88
#undef RKNPU_F_88
#undef RKNPU_R_76
#undef RKNPU_F_76
#undef RKNPU_R_ALL
#undef RKNPU_F_ALL

typedef enum RknpuRegStatus {
    RKNPU_REG_EXACT,
    RKNPU_REG_STORED,
    RKNPU_REG_UNIMP,
} RknpuRegStatus;

/* One row of a chip's list: a register (field NULL) or a field of the register above it. */
typedef struct RknpuRegRow {
    const char *block;
    const char *name;
    const char *field;
    uint16_t offset;
    uint8_t shift;
    uint8_t width;
    RknpuRegStatus status;
    uint32_t reset;
} RknpuRegRow;

/* The chip's list; `*rows` receives its length. */
const RknpuRegRow *rknpu_reg_rows(const RknpuChip *chip, unsigned *rows);

/* A register as the rows describe it: bits that exist, and bits that are not modelled. */
typedef struct RknpuReg {
    const char *block;
    const char *name;
    uint16_t offset;
    uint32_t reset;
    uint32_t bits;
    uint32_t unimp;
} RknpuReg;

/* Fills `*reg` for the register at `offset` (word aligned); false when the chip's list has none. */
bool rknpu_reg_find(const RknpuChip *chip, uint32_t offset, RknpuReg *reg);

/*
 * "DPU OUT_CVT_SCALE (0x4084)", or "unknown register 0x40f0"; the caller frees it with g_free().
 */
char *rknpu_reg_title(const RknpuChip *chip, uint32_t offset);

#endif /* RKNPU_REGS_H */
