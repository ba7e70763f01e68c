/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inner loops of the int8 convolutions. int8_portable.c says what they compute; every other set
 * gives the same bits. conv_int8.c prepares the arguments and proves that no sum leaves 32 bits.
 *
 * Data between the driver and the loops
 *   staged pixel    the channels of one input pixel side by side, s16 (or s8: `stage_bytes` 1);
 *                   padding is filled in, so loops know no picture borders
 *   packed weights  one group of kernels for direct(), in an order that is each set's own
 *   pair row        depthwise: two input rows interleaved, s16 [pixel][16 channels][2 rows]
 *   requantisation  a short list of operations on doubles. All values are integers (or integers
 * times 2^-shift) below 2^51, so every step is exact and "round to nearest even" is the converter's
 * half-even
 */
#ifndef HW_NPU_KERNELS_INT8_H
#define HW_NPU_KERNELS_INT8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa.h"

#define RKNPU_INT8_LANES     16 /* channels of an atom */
#define RKNPU_INT8_GROUP_MAX 32 /* most kernels of a packed group */

/* One operation on a value v; per-channel arrays are indexed by output channel, padded to a group.
 */
typedef enum RknpuRequantKind {
    RKNPU_REQUANT_ADD,    /* v + a[channel] */
    RKNPU_REQUANT_MUL,    /* round(v * (v >= 0 ? a : b)[channel]) */
    RKNPU_REQUANT_CLAMP,  /* min(max(v, low), high) */
    RKNPU_REQUANT_EW_ADD, /* v + sign * round(e * high + low): e is the pixel's operand byte, signed
                           */
} RknpuRequantKind;

typedef struct RknpuRequantOp {
    RknpuRequantKind kind;
    const double *a, *b;
    double low, high;
    double sign;
} RknpuRequantOp;

#define RKNPU_REQUANT_OPS 8

/*
 * Accumulator to output byte:
 *   v = round-half-even(acc / 2^truncate) + bias[channel]; the operations in order;
 *   out = saturate(round(v * scale + offset))
 *
 * `single`: there is no operation, and one fused multiply-add in fp32,
 *   v * scale + (offset + RKNPU_REQUANT_MAGIC), rounds to the same integer: its last bit is
 * worth 1.
 */
#define RKNPU_REQUANT_MAGIC      12582912.0f /* 1.5 * 2^23 */
#define RKNPU_REQUANT_MAGIC_BITS 0x4b400000

typedef struct RknpuRequant {
    unsigned truncate;
    const int32_t *bias;
    unsigned ops;
    RknpuRequantOp op[RKNPU_REQUANT_OPS];
    double scale, offset;
    bool single;
} RknpuRequant;

/* Whether `single` holds when no |v| exceeds `bound`. */
bool rknpu_requant_is_single(const RknpuRequant *requant, double bound);

/* Where the results of one group go, for a strip of output pixels. */
typedef struct RknpuInt8Output {
    const RknpuRequant *requant; /* NULL: accumulators as they are */
    unsigned channel;            /* first output channel of the group */
    int32_t *acc;                /* without requantisation: [pixel][group], depthwise [pixel][16] */
    uint8_t *bytes[RKNPU_INT8_GROUP_MAX /
                   RKNPU_INT8_LANES]; /* [pixel][16] of each atom; NULL: not wanted */
    const int8_t *operand[RKNPU_INT8_GROUP_MAX / RKNPU_INT8_LANES]; /* EW operands, [pixel][16] */
} RknpuInt8Output;

/*
 * Direct convolution of a strip of output pixels of one row with one packed group:
 * acc[p][k] = sum over ky, kx, c < depth of rows[ky][p * pixel_step + kx * tap_step + c] * weight +
 * OW term. Steps are in bytes.
 *
 * Sets with sum_atoms() also take pointwise input where it lies: surfaces as rows, as many as there
 * are, with depth and pixel_step 16 and kernel_width 1.
 */
typedef struct RknpuInt8Direct {
    const uint8_t *const *rows;
    size_t pixel_step, tap_step;
    unsigned kernel_height, kernel_width;
    unsigned depth; /* channels per tap: a multiple of 16, or 4, 8, 12 for one surface */
    const void *weights;
    /* For sets with sum(): OW of each kernel of the group; the sum of all inputs of each pixel. */
    const int32_t *ow, *sums;
    unsigned pixels;
    const uint8_t *next; /* memory that will be packed next, to be fetched meanwhile */
    size_t next_bytes;   /* may be 0 */
    RknpuInt8Output out;
} RknpuInt8Direct;

/*
 * Depthwise: 16 channels of `rows` rows of output; acc[p][c] = sum over pairs of rows and kx of
 * both rows' products.
 */
typedef struct RknpuInt8Depthwise {
    unsigned rows;
    const int16_t *const *pairs;   /* [row][row_pairs] pair rows, at the first output pixel */
    const int16_t *const *weights; /* of each row: [row pair][kx][16][2], OW added */
    size_t pixel_step, tap_step;   /* in bytes */
    unsigned row_pairs, kernel_width;
    unsigned pixels;
    size_t out_step;     /* from a row of out.bytes to the next; operands and sums are dense */
    RknpuInt8Output out; /* of the first row */
} RknpuInt8Depthwise;

/* For a loop over all rows: what is left behind the first one. */
static inline void rknpu_int8_next_row(RknpuInt8Depthwise *d)
{
    size_t values = (size_t)d->pixels * RKNPU_INT8_LANES;

    d->rows--;
    d->pairs += d->row_pairs;
    d->weights++;
    d->out.acc += d->out.acc ? values : 0;
    d->out.bytes[0] += d->out.bytes[0] ? d->out_step : 0;
    d->out.operand[0] += d->out.operand[0] ? values : 0;
}

/* One group of kernels as it lies in memory: [slice of 32][tap][kernel][channel], the last slice
 * narrower. */
typedef struct RknpuInt8Weights {
    const uint8_t *memory; /* of the 32-kernel group in memory */
    unsigned in_memory;    /* kernels of that group */
    unsigned first, count; /* the kernels to pack; lanes without a kernel become 0 */
    unsigned taps;
    unsigned tap_channels; /* multiple of 16 */
    unsigned depth;        /* channels to pack per tap */
    const int32_t *ow;     /* per lane */
} RknpuInt8Weights;

typedef struct RknpuInt8Kernels {
    const char *name;
    unsigned group;       /* kernels of a packed group: 16 or 32 */
    unsigned stage_bytes; /* of a staged element */

    /* `pixels` atoms of 16 signed bytes to staged pixels that are `step` bytes apart. */
    void (*stage)(uint8_t *restrict to, size_t step, const uint8_t *restrict from, size_t pixels);

    /* The same byte in all 16 channels of `pixels` staged pixels. */
    void (*fill)(uint8_t *to, size_t step, int8_t value, size_t pixels);

    /* Two rows of atoms to a pair row; 64 bytes a pixel. */
    void (*stage_pair)(int16_t *restrict to, const uint8_t *restrict upper,
                       const uint8_t *restrict lower, size_t pixels);

    /* Packs one group: taps * depth * group * stage_bytes bytes. */
    void (*pack)(void *restrict to, const RknpuInt8Weights *weights);

    /*
     * The sum of the first `depth` channels of staged pixels that are `step` bytes apart; NULL in
     * sets that need no sums because pack() adds OW to the weights.
     */
    void (*sum)(int32_t *restrict sums, const uint8_t *restrict staged, size_t step, unsigned depth,
                size_t pixels);

    /*
     * The same for atoms side by side in memory, over `surfaces`; the first `depth` channels of
     * each. There where sum() is.
     */
    void (*sum_atoms)(int32_t *restrict sums, const uint8_t *const *surface, unsigned surfaces,
                      unsigned depth, size_t pixels);

    void (*direct)(const RknpuInt8Direct *args);

    /*
     * pack() to `to` and direct() in one: the packing hides behind the multiply-adds of the first
     * pixels. Whole groups and slices alone: first = 0, count = in_memory = group, depth =
     * tap_channels, a multiple of 32. args->weights is `to`. May be NULL.
     */
    void (*pack_direct)(void *restrict to, const RknpuInt8Direct *args,
                        const RknpuInt8Weights *weights);

    /*
     * direct() with weights as they lie in memory, for so few pixels that packing costs more than
     * computing. Whole slices alone: first = 0, depth = tap_channels, a multiple of 32. May be
     * NULL.
     */
    void (*direct_unpacked)(const RknpuInt8Direct *args, const RknpuInt8Weights *weights);
    void (*depthwise)(const RknpuInt8Depthwise *args);
} RknpuInt8Kernels;

extern const RknpuInt8Kernels rknpu_int8_portable;
#if defined(__x86_64__)
extern const RknpuInt8Kernels rknpu_int8_avx2;
extern const RknpuInt8Kernels rknpu_int8_avx512;
#elif defined(__aarch64__)
extern const RknpuInt8Kernels rknpu_int8_neon;
#endif

/* The loops for a value of RknpuConfig.force_isa on this host. */
const RknpuInt8Kernels *rknpu_int8_kernels(unsigned force_isa);

/* A row of accumulators to bytes, for any set: the definition of RknpuRequant. */
void rknpu_requant_row(const RknpuRequant *requant, unsigned channel, const int32_t *acc,
                       size_t acc_step, const int8_t *operand, uint8_t *out, unsigned pixels);

#endif /* HW_NPU_KERNELS_INT8_H */
