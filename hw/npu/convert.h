/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Integer rounding and converters. Values are 64 bits wide; products are formed exactly and limited
 * to 64 bits afterwards, so no operand that a guest can write overflows.
 */
#ifndef HW_NPU_CONVERT_H
#define HW_NPU_CONVERT_H

#include "task.h"

/* Arithmetic shift right with rounding; shift 0 returns v. Any shift is valid. */
int64_t rknpu_round_shift(int64_t v, unsigned shift, RknpuRound mode);

/* a * b, exact, shifted right with rounding, limited to 64 bits. */
int64_t rknpu_mul_shift(int64_t a, int64_t b, unsigned shift, RknpuRound mode);

/* a * b and a + b, limited to 64 bits. */
int64_t rknpu_mul_sat(int64_t a, int64_t b);
int64_t rknpu_add_sat(int64_t a, int64_t b);

/* DPU output converter (OUT_CVT), without the final saturation to the output type. */
int64_t rknpu_out_convert(const RknpuOutConvert *cvt, int64_t v);

/* EW operand converter. */
int64_t rknpu_ew_convert(const RknpuEw *ew, int64_t operand);

/* CNA input converter of one int8 lane; `bits` is the byte in memory. */
int8_t rknpu_input_convert(const RknpuInputConvert *cvt, unsigned lane, uint8_t bits);

#endif /* HW_NPU_CONVERT_H */
