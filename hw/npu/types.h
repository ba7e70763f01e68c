/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Elements in memory to values and back; rounding and saturation. */
#ifndef HW_NPU_TYPES_H
#define HW_NPU_TYPES_H

#include "task.h"

/*
 * `count` elements from packed little-endian memory (int4: low nibble first).
 * to_int sign-extends integer types; to_float widens floating types (tf32 loses its low 13 fraction bits).
 */
void rknpu_load_int(RknpuType type, const uint8_t *from, int64_t *to, unsigned count);
void rknpu_load_float(RknpuType type, const uint8_t *from, float *to, unsigned count);

/* The reverse. Integers must be in range (rknpu_saturate); floats are rounded to nearest even. */
void rknpu_store_int(RknpuType type, uint8_t *to, const int64_t *from, unsigned count);
void rknpu_store_float(RknpuType type, uint8_t *to, const float *from, unsigned count);

float rknpu_fp16_to_float(uint16_t bits);
uint16_t rknpu_float_to_fp16(float value);
float rknpu_bf16_to_float(uint16_t bits);
uint16_t rknpu_float_to_bf16(float value);
float rknpu_bits_to_float(uint32_t bits);
uint32_t rknpu_float_to_bits(float value);

/* Arithmetic shift right with rounding, convert.c; shift 0 returns v; shift is at most 63. */
int64_t rknpu_round_shift(int64_t v, unsigned shift, RknpuRound mode);

/* v limited to the range of an integer type, convert.c. */
int64_t rknpu_saturate(int64_t v, RknpuType type);

/* a * b and a + b limited to 64 bits, convert.c: hostile operands must not overflow. */
int64_t rknpu_mul_sat(int64_t a, int64_t b);
int64_t rknpu_add_sat(int64_t a, int64_t b);

#endif /* HW_NPU_TYPES_H */
