/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between Rockchip's NPUs, as data. One row a chip in hw/npu/chip.c; no other file
 * asks for a chip's name.
 *
 * Facts: RK3588 TRM Part 1 chapter 36; Rockchip's rknpu driver 0.9.8 (per-SoC constants);
 * Linux drivers/accel/rocket; public RK3576 captures. docs/hardware-notes.md has the details.
 */
#ifndef RKNPU_CHIP_H
#define RKNPU_CHIP_H

#include <stdbool.h>
#include <stdint.h>

#define RKNPU_MAX_CORES 3
#define RKNPU_MAX_MMU_BANKS 2   /* IOMMU register banks of one core */
/* words kept per block and group: offsets 0x000..0x1fc of the block */
#define RKNPU_BLOCK_WORDS 128

/* Blocks of a core in address order; PC registers are not grouped and live apart. */
typedef enum RknpuBlock {
    RKNPU_CNA,
    RKNPU_CORE,
    RKNPU_DPU,
    RKNPU_DPU_RDMA,
    RKNPU_PPU,
    RKNPU_PPU_RDMA,
    RKNPU_BLOCKS
} RknpuBlock;

/*
 * A register field whose place or coding differs between chips.
 * value = ((raw >> shift) & width bits, sign-extended when `sign`) + bias, then << lsl.
 * width 0 = the chip has no such field; it reads as 0 (rknpu_has_field).
 *   bias  1 for fields that hold the value minus one
 *   lsl   normalises units: 4 for a field in 16-byte pixels whose meaning is bytes
 */
typedef struct RknpuField {
    uint16_t reg;
    uint8_t shift;
    uint8_t width;
    bool sign;
    uint8_t bias;
    uint8_t lsl;
} RknpuField;

/* Fields the compute side reads, by the manual's names; the list is in rknpu/fields.h. */
#define RKNPU_FIELD_ID(name) RKNPU_F_##name,
typedef enum RknpuFieldId {
#include "rknpu/fields.h"
    RKNPU_FIELDS
} RknpuFieldId;
#undef RKNPU_FIELD_ID

/* How the CNA turns (surface, line) into an address (docs/hardware-notes.md, "Feature cube"). */
typedef enum RknpuFeaturePitch {
    /* RK3588: LINE_STRIDE per four lines, surface = 4 * DMA_WIDTH + SURF_STRIDE */
    RKNPU_PITCH_FOUR_LINE,
    RKNPU_PITCH_PLAIN,     /* RK3576: SURF_STRIDE is the surface pitch */
} RknpuFeaturePitch;

/* How the DPU finds the next pass of surfaces. */
typedef enum RknpuSurfaceAdd {
    RKNPU_SURFACE_ADD_BYTES,    /* RK3588: SURFACE_ADD = distance of two passes, bytes */
    /* RK3576: distance from the last atom's end in the pass's first surface, bytes */
    RKNPU_SURFACE_ADD_FROM_END,
} RknpuSurfaceAdd;

typedef enum RknpuDepthwiseWeights {
    RKNPU_DW_PLAIN,           /* RK3588: [group][ky][kx][channel] */
    RKNPU_DW_WITH_ZERO_POINT, /* RK3576: channel pairs w, w, -zp, -zp */
} RknpuDepthwiseWeights;

/* What decides the work of the DPU's BS and BN stages. */
typedef enum RknpuStageCoding {
    RKNPU_STAGES_BY_SWITCHES, /* RK3588: bypass and source bits of BS_CFG, BN_CFG, EW_CFG */
    RKNPU_STAGES_BY_RECORDS, /* RK3576: the members of the operand records, clamp pairs, bypass bits
                              */
} RknpuStageCoding;

/* Packed pixels (ARGB_IN): unit of LINE_STRIDE and order of their weights. */
typedef enum RknpuPackedPixels {
    RKNPU_PACKED_LIKE_CUBE, /* RK3588: lines in pixels; weights as for 16 channels */
    RKNPU_PACKED_QUADS, /* RK3576: lines in 16-byte units; weights by four channels */
} RknpuPackedPixels;

/* Byte counters that the vendor driver can read (0 = the chip has none at that place). */
typedef struct RknpuCounterRegs {
    uint32_t clear, write, read, weight;
} RknpuCounterRegs;

typedef struct RknpuChip {
    const char *name;             /* "rk3588" */
    unsigned cores;
    uint32_t version;             /* PC VERSION */
    uint32_t version_num;         /* PC VERSION_NUM */
    uint32_t window;              /* bytes of one core's register window */
    uint64_t core_base[RKNPU_MAX_CORES];
    unsigned irq_spi[RKNPU_MAX_CORES];
    unsigned mmu_banks[RKNPU_MAX_CORES];
    /* inside the core's window, 0x100 each */
    uint32_t mmu_offset[RKNPU_MAX_CORES][RKNPU_MAX_MMU_BANKS];
    unsigned amount_scale;        /* command words per REGISTER_AMOUNTS unit */
    unsigned task_number_bits;    /* TASK_CON: number field; PP_EN, COUNT_CLEAR follow */
    uint32_t task_con;            /* offset of TASK_CON */
    uint32_t task_status;         /* offset of TASK_STATUS */
    uint32_t dma_config; /* first offset of the AXI settings (DDMA); 0: none in the window */
    uint32_t global_enable;       /* offset of GLOBAL OPERATION_ENABLE; 0: none */
    uint64_t sram_base, sram_size;
    uint64_t nbuf_base, nbuf_size; /* size 0: no NBUF */
    RknpuCounterRegs counters[2]; /* top, core */
    unsigned cbuf_banks, cbuf_bank_bytes;
    unsigned conv_mode_depthwise; /* value of CONV_MODE that means a depthwise convolution */
    RknpuFeaturePitch feature_pitch;
    RknpuSurfaceAdd surface_add;
    RknpuDepthwiseWeights depthwise_weights;
    RknpuStageCoding stages;
    RknpuPackedPixels packed_pixels;
    bool float_out_scale; /* OUT_CVT's scale and shift serve floating tasks too */
    uint32_t lut_access; /* offset of LUT_ACCESS_CFG, LUT_ACCESS_DATA follows; 0: unknown */
    const RknpuField *fields;     /* RKNPU_FIELDS entries */
    const struct RknpuRegRow *reg_rows; /* rknpu/regs.h */
    unsigned reg_row_count;
} RknpuChip;

extern const RknpuChip rknpu_rk3588;
extern const RknpuChip rknpu_rk3576;

/* The chip with that name, or NULL. */
const RknpuChip *rknpu_chip_by_name(const char *name);

/* The value of `field` in a register that holds `raw`, normalised as above. */
int64_t rknpu_field_value(const RknpuField *field, uint32_t raw);

/* False when the chip has no such field, or nobody knows where it is; it then reads as 0. */
static inline bool rknpu_has_field(const RknpuChip *chip, RknpuFieldId id)
{
    return chip->fields[id].width != 0;
}

#endif /* RKNPU_CHIP_H */
