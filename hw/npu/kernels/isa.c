/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "isa.h"

#include <string.h>

#include "rknpu/npu.h"

const char *rknpu_isa_name(RknpuIsa isa)
{
    static const char *const names[RKNPU_ISAS] = {
        [RKNPU_ISA_BEST] = "best", [RKNPU_ISA_NONE] = "none",     [RKNPU_ISA_PORTABLE] = "portable",
        [RKNPU_ISA_AVX2] = "avx2", [RKNPU_ISA_AVX512] = "avx512", [RKNPU_ISA_NEON] = "neon",
    };

    return isa < RKNPU_ISAS ? names[isa] : "unknown";
}

bool rknpu_isa_by_name(const char *name, unsigned *isa)
{
    for (*isa = 0; *isa < RKNPU_ISAS; ++*isa) {
        if (strcmp(name, rknpu_isa_name(*isa)) == 0) {
            return rknpu_isa_available(*isa);
        }
    }
    return false;
}

bool rknpu_isa_available(RknpuIsa isa)
{
    switch (isa) {
    case RKNPU_ISA_BEST:
    case RKNPU_ISA_NONE:
    case RKNPU_ISA_PORTABLE:
        return true;
#if defined(__x86_64__)
    case RKNPU_ISA_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("f16c");
    case RKNPU_ISA_AVX512:
        return rknpu_isa_available(RKNPU_ISA_AVX2) && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
#elif defined(__aarch64__)
    case RKNPU_ISA_NEON:
        return true;
#endif
    default:
        return false;
    }
}

RknpuIsa rknpu_isa_choose(unsigned forced)
{
    static const RknpuIsa order[] = {RKNPU_ISA_AVX512, RKNPU_ISA_AVX2, RKNPU_ISA_NEON};

    if (forced && forced < RKNPU_ISAS && rknpu_isa_available(forced)) {
        return forced;
    }
    for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (rknpu_isa_available(order[i])) {
            return order[i];
        }
    }
    return RKNPU_ISA_PORTABLE;
}
