/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instruction sets that inner loops exist for, and what this host has of them. */
#ifndef HW_NPU_KERNELS_ISA_H
#define HW_NPU_KERNELS_ISA_H

#include <stdbool.h>

/* Values of RknpuConfig.force_isa. */
typedef enum RknpuIsa {
    RKNPU_ISA_BEST, /* the fastest that the host has */
    RKNPU_ISA_NONE, /* no kernels: the generic convolution, which is the definition */
    RKNPU_ISA_PORTABLE,
    RKNPU_ISA_AVX2,   /* x86-64 with AVX2, FMA and F16C */
    RKNPU_ISA_AVX512, /* x86-64 with AVX-512 F, BW, DQ, VL and VNNI */
    RKNPU_ISA_NEON,   /* any AArch64 */
    RKNPU_ISAS
} RknpuIsa;

/* "portable", "avx2", ...; never NULL. */
const char *rknpu_isa_name(RknpuIsa isa);

/* True when this host can run code for `isa` and the library was built with it. */
bool rknpu_isa_available(RknpuIsa isa);

/* The set to use: `forced` if it is available, else the best one. */
RknpuIsa rknpu_isa_choose(unsigned forced);

#endif /* HW_NPU_KERNELS_ISA_H */
