/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One task as plain numbers. task*.c read the registers of a RknpuJob once, check them and fill a
 * RknpuTask; conv.c, dpu.c, flying.c and ppu.c compute from it and see neither registers nor chips.
 *
 * Units: sizes in elements, pitches and bases in bytes, every field plain (nothing is "minus one").
 * Device addresses are 32 bits and wrap, as the DMA engines' adders do; TASK_DMA_BASE_ADDR is
 * included.
 *
 * Facts: RK3588 TRM Part 1 chapter 36 (registers); docs/arithmetic.md says how a number travels
 * through the stages.
 */
#ifndef HW_NPU_TASK_H
#define HW_NPU_TASK_H

#include "job.h"
#include "types.h"

/*
 * Where the elements of a feature cube lie: surfaces of `atom` channels, lines in groups of four.
 * Byte address of pixel (s, y, x) = base + s * surface_pitch + (y / 4) * group_pitch
 *                                 + (y % 4) * line_pitch + x * pixel_bytes,  modulo 2^32.
 * Packed pixels (ARGB_IN) are one surface of 1..4 channels. DPU-only tasks may have their surfaces
 * in two places (`paired`).
 */
typedef struct RknpuCube {
    RknpuType type;
    uint32_t base;
    int64_t surface_pitch;
    int64_t group_pitch;
    int64_t line_pitch;
    bool paired; /* even surfaces at `base`, odd ones at `odd_base`, pitches from pair to pair */
    uint32_t odd_base;
    int64_t odd_surface_pitch;
    unsigned pixel_bytes;
    unsigned atom; /* channels of one surface */
    unsigned width, height, channels;
} RknpuCube;

uint32_t rknpu_cube_address(const RknpuCube *cube, unsigned surface, unsigned y, unsigned x);

/* Input converter of the CNA (CVT): operand set = channel mod 4, enabled per lane. */
typedef struct RknpuInputConvert {
    bool active;
    bool add_first;
    bool data_signed;
    RknpuRound round;
    uint32_t lanes; /* bit per lane of the atom */
    int32_t scale[4];
    int32_t offset[4];
    unsigned truncate[4];
} RknpuInputConvert;

/* Order of a depthwise group's bytes in memory. */
typedef enum RknpuDepthwiseOrder {
    RKNPU_DW_ORDER_PLAIN, /* [ky][kx][channel] */
    /* [ky][kx][channel pair]: w, w, -zero point, -zero point; int16 [ky][kx][channel]: w, -zero
     * point */
    RKNPU_DW_ORDER_PAIRS,
} RknpuDepthwiseOrder;

/* A weight's zero point as it is stored, negated; 0x80 is 128: no zero point of int8 is -(-128). */
static inline int rknpu_minus_zero_point(uint8_t stored)
{
    return stored == 0x80 ? 128 : (int8_t)stored;
}

/* Order of the bytes of a group of kernels for packed pixels. */
typedef enum RknpuPackedWeights {
    RKNPU_PACKED_WEIGHTS_PLAIN, /* as for a cube, or no packed pixels */
    RKNPU_PACKED_WEIGHTS_FOURS, /* [ky][kx][kernel][channel 4] */
    RKNPU_PACKED_WEIGHTS_QUADS, /* [ky][kernel][kx][channel 4], kx up to a multiple of 4 */
} RknpuPackedWeights;

/* The convolution sequencer: CNA and CORE up to the 32-bit accumulator. */
typedef struct RknpuConv {
    RknpuType type;        /* of features and weights in the multipliers */
    RknpuType weight_type; /* in memory: `type`, or int4 beside fp16 */
    bool depthwise;
    RknpuCube input;
    unsigned width_limit;      /* columns from here on count as padding */
    unsigned real_channels;    /* without padding lanes; for counting work */
    bool reads_features;       /* false: the CBUF holds them since the task before */
    unsigned first_staged_row; /* rows before it stayed in the CBUF */
    unsigned kernel_width, kernel_height;
    unsigned stride_x, stride_y;
    unsigned dilation_x, dilation_y; /* distance of taps, at least 1 */
    /*
     * Deconvolution: the kernel sees a map in which neighbours of the input lie this far apart,
     * with the pad value between them; 1 = the input itself.
     */
    unsigned spread_x, spread_y;
    unsigned pad_left, pad_top;
    uint16_t pad_bits;      /* PAD_CON1's low half: int8 uses the low byte */
    bool right_pad_is_zero; /* columns behind the picture are raw zeros that go through `convert` */
    RknpuInputConvert convert;

    uint32_t weight_base;
    uint64_t weight_bytes;    /* what the weight reader moves */
    bool compressed;          /* DCOMP: dcomp.c makes the raw stream of weight_bytes first */
    uint64_t lane_blocks[16]; /* 16-byte blocks of each compressed lane */
    bool reads_weights;       /* false: the CBUF holds them since the task before */
    unsigned kernels;         /* kernels in memory; further output channels accumulate 0 */
    unsigned
        tap_channels; /* channels stored per tap (direct) or in all groups together (depthwise) */
    unsigned kernel_group; /* kernels stored together (direct); channels of a group (depthwise) */
    unsigned slice;        /* channels stored together (direct) */
    unsigned last_pitch;   /* channels stored per tap in the last depthwise group */
    RknpuDepthwiseOrder depthwise_order;
    RknpuPackedWeights packed_weights;

    bool add_ow;         /* accumulator += OW * sum of inputs */
    bool ow_from_memory; /* OW is the CPEND member of the BS operand stream */
    int32_t ow;
    bool sum_without_padding;
    unsigned truncate; /* CLIP_TRUNCATE */
    RknpuRound truncate_round;
} RknpuConv;

/* Members of a per-channel operand record, as in BRDMA/NRDMA DATA_USE. */
enum {
    RKNPU_OPERAND_ALU = 1,   /* s32, float path: fp32 */
    RKNPU_OPERAND_CPEND = 2, /* s16 */
    RKNPU_OPERAND_MUL = 4,   /* s16, float path: fp16 */
};

/*
 * Per-channel operands in memory. `use` names the members; ALU alone is a packed array of s32, else
 * 8 channels share a record: 8 ALU, then 8 CPEND, then 8 MUL, absent members left out.
 */
typedef struct RknpuOperandStream {
    uint32_t base;
    unsigned use;
} RknpuOperandStream;

/*
 * BS: ALU, then multiplier and shift, then ReLU. BN: multiplier, then ALU, then the multiplier's
 * shift, then ReLU. A part that is off passes its input on.
 */
typedef struct RknpuStage {
    bool active;
    RknpuOperandStream stream;
    bool mul_first; /* BN */
    bool alu;
    bool alu_minus;
    bool alu_from_memory;
    uint32_t alu_operand; /* bits: s32, float path fp32 */
    bool mul;
    bool mul_from_memory;
    uint16_t mul_operand; /* bits: s16, float path fp16 */
    unsigned shift;       /* of products of values >= 0 */
    unsigned shift_negative;
    RknpuRound mul_round;
    bool prelu; /* only negative values are multiplied */
    bool relu;
    bool relux;         /* clamp to [0, relux_max] */
    uint32_t relux_max; /* bits: s32, float path fp32 */
    int32_t clamp_min;  /* RK3576's clamp pair; s32's limits = no clamp; float path: fp32 bits */
    int32_t clamp_max;
} RknpuStage;

/* EW ALU algorithms (BS and BN know ADD and MINUS alone). */
typedef enum RknpuAlu {
    RKNPU_ALU_MAX,
    RKNPU_ALU_MIN,
    RKNPU_ALU_ADD,
    RKNPU_ALU_DIV,
    RKNPU_ALU_MINUS,
    RKNPU_ALU_ABS,
    RKNPU_ALU_NEG,
    RKNPU_ALU_FLOOR,
    RKNPU_ALU_CEIL,
} RknpuAlu;

/* Where EW takes its second operand from. */
typedef enum RknpuEwSource {
    RKNPU_EW_REGISTER, /* EW_OPERAND_0..7 by channel mod 8 */
    RKNPU_EW_CHANNEL,  /* one atom row: a value per channel */
    RKNPU_EW_PIXEL,    /* a cube of the output's size */
} RknpuEwSource;

/*
 * EW's operand cube. Combined: even surfaces at base[0], odd ones at base[1], pitch per pair; else
 * only base[0]. Address of atom (s, y, x) in bytes: combined  base[s % 2] + (s / 2) *
 * surface_pitch[s % 2] + y * line_pitch + x * 16 else      base[0] + s * surface_pitch[0] + y *
 * line_pitch + x * 16
 */
typedef struct RknpuEwCube {
    RknpuType type;
    bool combined;
    uint32_t base[2];
    int64_t surface_pitch[2];
    int64_t line_pitch;
} RknpuEwCube;

uint32_t rknpu_ew_address(const RknpuEwCube *cube, unsigned surface, unsigned y, unsigned x);

/* Element-wise stage: look-up table (RknpuLut), then operation with its operand converter, ReLU. */
typedef struct RknpuEw {
    bool active;
    bool op;  /* false: values pass (the LUT may still be on) */
    bool mul; /* multiply; else `alu` */
    RknpuAlu alu;
    bool binary, equal; /* compare modes of the ALU */
    RknpuEwSource source;
    RknpuEwCube cube;
    uint32_t operand[8];
    bool convert;
    bool convert_add_first;
    int32_t convert_offset;
    int32_t convert_scale;
    unsigned convert_shift;
    RknpuRound convert_round;
    bool then_mul; /* float path: the ALU's result times `then_mul_operand`, bits of an fp16 */
    uint16_t then_mul_operand;
    unsigned truncate; /* shift after MUL, values >= 0 */
    unsigned truncate_negative;
    RknpuRound mul_round;
    bool prelu;
    bool relu;
    bool relux;
    uint32_t relux_max;
} RknpuEw;

/* LUT registers as they are; lut.c knows their meaning. The tables themselves are RknpuJob.lut. */
typedef struct RknpuLut {
    bool active;
    uint32_t cfg;
    unsigned le_index_select, lo_index_select;
    int32_t le_start, le_end, lo_start, lo_end;
    int16_t le_slope_underflow, le_slope_overflow;
    unsigned le_shift_underflow, le_shift_overflow;
    int16_t lo_slope_underflow, lo_slope_overflow;
    unsigned lo_shift_underflow, lo_shift_overflow;
} RknpuLut;

/*
 * Output converter.
 * multiply first: RND(v * scale + (offset << shift), shift); add first: RND((v + offset) * scale,
 * shift).
 */
typedef struct RknpuOutConvert {
    bool add_first;
    int32_t scale;
    int32_t offset;
    unsigned shift;
    float float_scale; /* float path: value * float_scale * 2^-minus_exp */
    unsigned minus_exp;
    bool fp32_to_fp16;
    RknpuRound round;
} RknpuOutConvert;

/*
 * Output addressing. Byte address of channel c of pixel (y, x), g = c / atom:
 * base + (g / pass_atoms) * pass_pitch + (g % pass_atoms) * surface_pitch + y * line_pitch + x * 16
 *      + (c % atom) * element size,  modulo 2^32.
 *
 * The writer may cut the same stream of pixels (pass, y, x) into passes of `split_width` by
 * `split_height`: then pass, y and x of the formula are those of the cut. line_pitch belongs to it.
 */
typedef struct RknpuOutput {
    RknpuType type;
    uint32_t base;
    unsigned width, height;
    unsigned channels; /* that are written, padding lanes of the last surface included */
    unsigned original_channels;
    unsigned atom; /* channels of one 16-byte atom */
    uint16_t pend; /* bits of what lanes behind the last channel get */
    unsigned pass_atoms;
    unsigned
        stored_atoms; /* of a pass, from its first on; the others are computed and not written */
    int64_t pass_pitch;
    int64_t surface_pitch;
    int64_t line_pitch;
    unsigned split_width, split_height; /* 0: not cut */
} RknpuOutput;

uint32_t rknpu_output_address(const RknpuOutput *out, unsigned atom_index, unsigned y, unsigned x);

/* DPU: BS, BN, LUT, EW, OUT_CVT in this order. `type` int: values are s64; floating: values are
 * fp32. */
typedef struct RknpuDpu {
    RknpuType type;
    RknpuStage bs, bn;
    RknpuEw ew;
    RknpuLut lut;
    RknpuOutConvert convert;
    RknpuOutput out;
} RknpuDpu;

typedef enum RknpuPoolMethod {
    RKNPU_POOL_AVERAGE,
    RKNPU_POOL_MAX,
    RKNPU_POOL_MIN,
} RknpuPoolMethod;

/* PPU. Output atom (s, y, x): base + s * surface_pitch + y * line_pitch + x * 16. */
typedef struct RknpuPool {
    RknpuPoolMethod method;
    RknpuCube input; /* from PPU_RDMA */
    unsigned kernel_width, kernel_height;
    unsigned stride_x, stride_y;
    unsigned pad_left, pad_top, pad_right, pad_bottom;
    int64_t pad_value;
    uint32_t recip_width, recip_height; /* 65536 / k; float types: bits of an fp16 */
    unsigned out_width, out_height, out_channels;
    uint32_t out_base;
    int64_t out_surface_pitch;
    int64_t out_line_pitch;
} RknpuPool;

typedef enum RknpuTaskKind {
    RKNPU_TASK_CONV,   /* CNA, CORE, DPU */
    RKNPU_TASK_FLYING, /* DPU alone; its main input comes from memory */
    RKNPU_TASK_POOL,   /* PPU alone; its input comes from memory */
} RknpuTaskKind;

/* What a DPU-only task does when it moves data instead of computing on it (rearrange.c). */
typedef enum RknpuRearrange {
    RKNPU_REARRANGE_NONE,
    RKNPU_REARRANGE_TURN,    /* blocks of pixels by elements are transposed */
    RKNPU_REARRANGE_SPREAD,  /* pixels of a row become atoms of a pass */
    RKNPU_REARRANGE_ENLARGE, /* each pixel several times, along and down */
    RKNPU_REARRANGE_PACK,    /* the first element of each pixel, without gaps */
    RKNPU_REARRANGE_MAXIMUM, /* the largest channel of each pixel, without gaps */
    RKNPU_REARRANGE_LINES,   /* bytes without gaps, cut into lines that begin at atoms */
    RKNPU_REARRANGE_PIECES,  /* the largest of each piece of a convolution's results, in lines */
} RknpuRearrange;

typedef struct RknpuTask {
    RknpuTaskKind kind;
    RknpuConv conv;   /* CONV */
    RknpuCube flying; /* FLYING: MRDMA's cube */
    /* FLYING; PIECES: CONV, whose results in a pipe of the model `flying` and `dpu.out` speak of */
    RknpuRearrange rearrange;
    unsigned element_bytes;        /* TURN, PACK, MAXIMUM: 1 or 2 */
    unsigned enlarge_x, enlarge_y; /* ENLARGE */
    unsigned last_bytes;           /* LINES: that count of a surface's last atom */
    unsigned line_bytes;           /* LINES, PIECES */
    uint64_t line_atoms;           /* LINES, PIECES: most that are written */
    uint32_t line_base;            /* LINES, PIECES: where */
    uint64_t piece;                /* PIECES: results of one, of all pixels and channels */
    RknpuDpu dpu;                  /* CONV and FLYING */
    RknpuPool pool;                /* POOL, and when pool_follows */
    bool pool_follows; /* CONV and FLYING: the DPU's output goes to the PPU, not to memory */
} RknpuTask;

/*
 * Fills `task` from the job's registers. OK, or INVALID (registers that make no task) or UNIMP (a
 * mode that is not modelled); both are reported by name first.
 */
RknpuTaskResult rknpu_task_decode(const RknpuJob *job, RknpuTask *task);

/* What each kind of task computes. `job` gives memory, tables, cancel flag and reporting. */
RknpuTaskResult rknpu_conv_run(RknpuJob *job, const RknpuTask *task);      /* conv.c */
RknpuTaskResult rknpu_flying_run(RknpuJob *job, const RknpuTask *task);    /* flying.c */
RknpuTaskResult rknpu_rearrange_run(RknpuJob *job, const RknpuTask *task); /* rearrange.c */
RknpuTaskResult rknpu_pool_run(RknpuJob *job, const RknpuTask *task);      /* ppu.c */

#endif /* HW_NPU_TASK_H */
