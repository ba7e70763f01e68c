/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Number formats of the NPU: sizes, loads and stores of single elements, and the float formats.
 *
 * The codes are those of the manual's precision fields (RK3588 TRM: CNA_CONV_CON1
 * IN/PROC_PRECISION, DPU_DATA_FORMAT, CORE_MISC_CFG). The CNA has tf32 as code 7 where the DPU has
 * fp32 as 5; both hold 32-bit words in memory.
 *
 * Conversions round to nearest, ties to even, and keep denormals. Results do not depend on the
 * host: a NaN that is stored always has one bit pattern per format (below), whatever payload the
 * host gave it.
 */
#ifndef HW_NPU_TYPES_H
#define HW_NPU_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum RknpuType {
    RKNPU_INT8 = 0,
    RKNPU_INT16 = 1,
    RKNPU_FP16 = 2,
    RKNPU_BF16 = 3,
    RKNPU_INT32 = 4,
    RKNPU_FP32 = 5,
    RKNPU_INT4 = 6, /* two an octet, low nibble first */
    RKNPU_TF32 = 7, /* 32-bit words of which the low 13 fraction bits do not take part */
} RknpuType;

/*
 * The NaNs the model stores. fp16: public programs for the RK3588 compare numbers by (a - b) * inf
 * and read the result with the exponent lowered by one; they rely on 0 * inf giving 0x7c01
 * (allbilly/rk3588, "cmpeq"). The others have no such witness and are the usual quiet NaN.
 */
#define RKNPU_FP16_NAN 0x7c01u
#define RKNPU_BF16_NAN 0x7fc0u
#define RKNPU_FP32_NAN 0x7fc00000u

/* Bits of one element in memory: 4, 8, 16 or 32. Any code 0..7 is valid. */
unsigned rknpu_type_bits(RknpuType type);

/* Elements in one 16-byte atom of a feature cube (the manual's C2): 32, 16, 8 or 4. */
unsigned rknpu_type_per_atom(RknpuType type);

/* True for fp16, bf16, fp32 and tf32. */
bool rknpu_type_is_float(RknpuType type);

/* "int8", "fp16", ...; never NULL. */
const char *rknpu_type_name(RknpuType type);

/* Single conversions between bit patterns and values. */
float rknpu_fp16_to_float(uint16_t bits);
uint16_t rknpu_float_to_fp16(float value);
float rknpu_bf16_to_float(uint16_t bits);
uint16_t rknpu_float_to_bf16(float value);
float rknpu_bits_to_float(uint32_t bits);
uint32_t rknpu_float_to_bits(float value); /* any NaN gives RKNPU_FP32_NAN */

/* The operand a tf32 multiplier sees: the word with its low 13 bits cleared. */
float rknpu_tf32_to_float(uint32_t bits);

/*
 * Element `index` of a little-endian array. The integer load of a float type and the float load of
 * an integer type convert (to nearest, saturating; NaN gives 0).
 */
int32_t rknpu_load_int(RknpuType type, const uint8_t *from, size_t index);
float rknpu_load_float(RknpuType type, const uint8_t *from, size_t index);

/* Stores with saturation to the type's range. A 4-bit store leaves the other nibble alone. */
void rknpu_store_int(RknpuType type, uint8_t *to, size_t index, int64_t value);
void rknpu_store_float(RknpuType type, uint8_t *to, size_t index, float value);

/* `value` limited to the range of an integer type; float types return it unchanged. */
int64_t rknpu_saturate(RknpuType type, int64_t value);

/* Nearest integer, ties to even, limited to int32; NaN gives 0. */
int32_t rknpu_float_to_int32(float value);

/* Converts `n` consecutive elements that start at `from` (float types; int types by value). */
void rknpu_load_float_row(RknpuType type, float *to, const uint8_t *from, size_t n);

#endif /* HW_NPU_TYPES_H */
