/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "int8.h"

const RknpuInt8Kernels *rknpu_int8_kernels(unsigned force_isa)
{
    static const RknpuInt8Kernels *const sets[RKNPU_ISAS] = {
        [RKNPU_ISA_PORTABLE] = &rknpu_int8_portable,
#if defined(__x86_64__)
        [RKNPU_ISA_AVX2] = &rknpu_int8_avx2,
        [RKNPU_ISA_AVX512] = &rknpu_int8_avx512,
#elif defined(__aarch64__)
        [RKNPU_ISA_NEON] = &rknpu_int8_neon,
#endif
    };
    RknpuIsa isa = rknpu_isa_choose(force_isa);

    return sets[isa] ? sets[isa] : &rknpu_int8_portable;
}
