/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "int8.h"

#include <math.h>

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

/*
 * fp32 holds |v| up to 2^24; beyond, the result has to be saturated whatever the last bits of v
 * are. The sum with the magic number has to stay where the last bit of an fp32 is worth 1.
 */
bool rknpu_requant_is_single(const RknpuRequant *r, double bound)
{
    double scale = fabs(r->scale), offset = fabs(r->offset);

    return r->ops == 0 && r->offset == floor(r->offset) && (double)(float)r->scale == r->scale &&
           bound * scale + offset < 0x1p22 && (bound <= 0x1p24 || 0x1p24 * scale - offset >= 129);
}
