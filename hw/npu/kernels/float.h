/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inner loops of the floating convolutions. float_portable.c is the definition; every other set
 * gives the same bits.
 *
 * Order of a sum: one accumulator per output, products added one after the other in ascending order
 * of `depth`; product and sum are each rounded to fp32, to nearest even. Products of two fp16
 * numbers are exact in fp32, so a fused multiply-add rounds the same sum and may be used for them
 * (and for nothing else). Vectors therefore run across output channels, never along the sum.
 */
#ifndef HW_NPU_KERNELS_FLOAT_H
#define HW_NPU_KERNELS_FLOAT_H

#include <stddef.h>
#include <stdint.h>

/* Output channels of one panel: a kernel group of the 16-bit formats. */
#define RKNPU_FLOAT_LANES 16

typedef struct RknpuFloatKernels {
    const char *name;
    unsigned rows; /* pixels that one call of dot_fp16() may take */

    /* fp16 -> fp32, `n` consecutive elements. */
    void (*load_fp16)(float *to, const uint8_t *from, size_t n);

    /* fp32 -> fp16 (types.h: ties to even, NaN = RKNPU_FP16_NAN), `n` consecutive elements. */
    void (*store_fp16)(uint8_t *to, const float *from, size_t n);

    /*
     * One slice of a weight group: from [kernels][channels] fp16 to [channels][RKNPU_FLOAT_LANES]
     * fp32. kernels <= RKNPU_FLOAT_LANES; lanes without a kernel become 0.
     */
    void (*pack_fp16)(float *to, const uint8_t *from, unsigned kernels, unsigned channels);

    /*
     * acc[row][lane] += a[row][i] * b[i][lane] for i = 0 .. depth - 1, with fp16 values in a and b.
     * rows <= the set's; a_stride in elements; acc rows are RKNPU_FLOAT_LANES apart.
     */
    void (*dot_fp16)(float *acc, const float *a, size_t a_stride, const float *b, size_t depth,
                     unsigned rows);
} RknpuFloatKernels;

extern const RknpuFloatKernels rknpu_float_portable;
#if defined(__x86_64__)
extern const RknpuFloatKernels rknpu_float_avx2;   /* needs AVX2, FMA and F16C */
extern const RknpuFloatKernels rknpu_float_avx512; /* needs AVX-512 F as well */

/* Members of rknpu_float_avx2 that rknpu_float_avx512 shares. */
void rknpu_float_avx2_load_fp16(float *to, const uint8_t *from, size_t n);
void rknpu_float_avx2_store_fp16(uint8_t *to, const float *from, size_t n);
void rknpu_float_avx2_pack_fp16(float *to, const uint8_t *from, unsigned kernels,
                                unsigned channels);
#elif defined(__aarch64__)
extern const RknpuFloatKernels rknpu_float_neon;
#endif

/* dot_fp16 for any operands (bf16, tf32): the definition itself, without fused operations. */
void rknpu_float_dot(float *acc, const float *a, size_t a_stride, const float *b, size_t depth,
                     unsigned rows);

#endif /* HW_NPU_KERNELS_FLOAT_H */
