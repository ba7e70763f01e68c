/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The most multiply-accumulates a core can do, measured with independent sums in registers. */
#ifndef BENCH_PEAK_H
#define BENCH_PEAK_H

/* Exact int8 (16-bit multiply-adds for AVX2, vpdpbusd for AVX-512) in GMAC/s; 0 = not measured for
 * this set. */
double bench_peak_int8(unsigned isa);
const char *bench_peak_name(unsigned isa);

/* fp32 fused multiply-adds in GMAC/s, for the set that fp16 matrix products use; 0 = not measured.
 */
double bench_peak_fma(unsigned isa);

#endif /* BENCH_PEAK_H */
