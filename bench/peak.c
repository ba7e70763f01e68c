/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "peak.h"

#include <stdint.h>

#include "kernels/isa.h"
#include "report.h"

#define ROUNDS 20000 /* some 50 microseconds: short enough to run undisturbed now and then */
#define TRIES  5

const char *bench_peak_name(unsigned isa)
{
    return isa == RKNPU_ISA_AVX512 ? "vpdpbusd peak" : "vpmaddwd peak";
}

#if defined(__x86_64__)

/* Twelve sums, multiply-add and add: what an AVX2 tile does, without its loads. */
__attribute__((target("avx2"))) static void rounds_avx2(void)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
#define STEP(n) "vpmaddwd %%ymm14, %%ymm15, %%ymm13\n\tvpaddd %%ymm13, %%ymm" #n ", %%ymm" #n "\n\t"
        __asm__ volatile(STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8)
                             STEP(9) STEP(10) STEP(11)::
                                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm13");
#undef STEP
    }
}

__attribute__((target("avx512f,avx512vnni"))) static void rounds_avx512(void)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
#define STEP(n) "vpdpbusd %%zmm14, %%zmm15, %%zmm" #n "\n\t"
        __asm__ volatile(STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8)
                             STEP(9) STEP(10) STEP(11)::
                                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                                   "xmm8", "xmm9", "xmm10", "xmm11");
#undef STEP
    }
}

#define ZERO(reg) "vpxor " reg ", " reg ", " reg "\n\t"

__attribute__((target("fma"))) static void rounds_fma_avx2(void)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
#define STEP(n) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #n "\n\t"
        __asm__ volatile(ZERO("%%xmm14") ZERO("%%xmm15") STEP(0) STEP(1) STEP(2) STEP(3) STEP(4)
                             STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11)::
                                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm14", "xmm15");
#undef STEP
    }
}

__attribute__((target("avx512f"))) static void rounds_fma_avx512(void)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
#define STEP(n) "vfmadd231ps %%zmm14, %%zmm15, %%zmm" #n "\n\t"
        __asm__ volatile(ZERO("%%xmm14") ZERO("%%xmm15") STEP(0) STEP(1) STEP(2) STEP(3) STEP(4)
                             STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11)::
                                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm14", "xmm15");
#undef STEP
    }
}

/* Twelve steps of `lanes` products a round: the median rate in GMAC/s. */
static double measure(void (*rounds)(void), unsigned lanes)
{
    double rates[TRIES];

    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t start = bench_thread_ns();

        rounds();
        rates[i] = 12.0 * lanes * ROUNDS / (double)(bench_thread_ns() - start);
    }
    return bench_median(rates, TRIES);
}

double bench_peak_int8(unsigned isa)
{
    switch (isa) {
    case RKNPU_ISA_AVX2:
        return measure(rounds_avx2, 16);
    case RKNPU_ISA_AVX512:
        return measure(rounds_avx512, 64);
    default:
        return 0;
    }
}

double bench_peak_fma(unsigned isa)
{
    switch (isa) {
    case RKNPU_ISA_AVX2:
        return measure(rounds_fma_avx2, 8);
    case RKNPU_ISA_AVX512:
        return measure(rounds_fma_avx512, 16);
    default:
        return 0;
    }
}

#else

double bench_peak_fma(unsigned isa)
{
    return 0;
}

double bench_peak_int8(unsigned isa)
{
    return 0;
}

#endif
