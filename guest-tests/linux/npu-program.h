/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A convolution with ReLU as the NPU wants it: register program, weights, coefficients, data, and
 * the same convolution in plain loops to compare with.
 *
 * All data are int8 without zero points. Output: relu(sum(x * w) + bias) * CONV_SCALE /
 * 2^CONV_SHIFT, rounded and saturated. The factor is odd over a power of two so large that no sum
 * can land halfway between two integers: the result does not depend on how ties are rounded.
 *
 * Feature cubes are [channel / 16][y][x][channel % 16], so channels must be multiples of 16.
 */
#ifndef NPU_PROGRAM_H
#define NPU_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#define CONV_SCALE 31885
#define CONV_SHIFT 24

#define CONV_MAX_WORDS 160 /* 64-bit words a program may need */
#define CONV_TAIL_WORDS 4  /* the last ones: next program, its amount, barrier, enable */

enum npu_chip { NPU_RK3588, NPU_RK3576 };

/* Which chip a VERSION value belongs to; -1 when it is neither. */
int npu_chip_of_version(uint32_t version);

/* A square kernel of side `kernel` (odd), stride 1, padded: the output is as large as the input. */
struct conv {
    enum npu_chip chip;
    unsigned width, height;
    unsigned in_channels, out_channels; /* multiples of 16 and of 32 */
    unsigned kernel;
};

/* IOVAs of the parts; each a multiple of 16. */
struct conv_addresses {
    uint32_t input, weights, coefficients, output;
};

/* Bytes of each part. */
size_t conv_input_bytes(const struct conv *c);
size_t conv_weight_bytes(const struct conv *c);
size_t conv_coefficient_bytes(const struct conv *c);
size_t conv_output_bytes(const struct conv *c);

/*
 * Writes the register program to `words` (room for CONV_MAX_WORDS) and returns its length, tail
 * included. The tail names no next program; conv_chain() adds one.
 */
unsigned conv_program(const struct conv *c, const struct conv_addresses *at, uint64_t *words);

/* Makes the program of `n` words go on with the one at `iova`, which has `next` words. */
void conv_chain(uint64_t *words, unsigned n, uint32_t iova, unsigned next);

/*
 * The value that the tests put at each place: small pseudo-random numbers of the position, the same
 * in every run. conv_fill() writes them in the NPU's layouts.
 */
void conv_fill(const struct conv *c, int8_t *input, int8_t *weights, void *coefficients);

/* One output value from plain loops over those same numbers; (k, y, x) = channel and position. */
int8_t conv_expected(const struct conv *c, unsigned k, unsigned y, unsigned x);

/* Offset of (channel, y, x) in a feature cube. */
size_t conv_cube_offset(const struct conv *c, unsigned channel, unsigned y, unsigned x);

/*
 * Compares the output with conv_expected(), every `step`-th value. Returns the number of wrong
 * values and describes the first one in `why` (size bytes).
 */
unsigned conv_compare(const struct conv *c, const int8_t *output, unsigned step, char *why,
                      size_t size);

#endif
