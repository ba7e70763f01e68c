/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every set of floating inner loops against the portable one, bit for bit; a NaN may be any NaN
 * until it is stored. A plain program without libraries, so that it runs where the unit tests do
 * not: for AArch64 under an emulator.
 *
 *   float_compare [CASES [SEED]]    exit status 0 = equal, 1 = a difference, 77 = no other set
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/float.h"
#include "kernels/isa.h"
#include "types.h"

#define LANES     RKNPU_FLOAT_LANES
#define MAX_ROWS  16
#define MAX_DEPTH 300
#define PATTERNS  65536

static unsigned long long state;

/* xorshift64*: the same numbers on every host. */
static unsigned draw(unsigned low, unsigned high)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return low + (unsigned)(state * 2685821657736338717ull >> 33) % (high - low + 1);
}

/* A number of fp16, any finite one. */
static float draw_half(void)
{
    return rknpu_fp16_to_float((uint16_t)(draw(0, 1) << 15 | draw(0, 0x7bff)));
}

static bool same(const float *a, const float *b, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++) {
        if (memcmp(&a[i], &b[i], sizeof(*a)) != 0 && !(isnan(a[i]) && isnan(b[i]))) {
            printf("%s: element %zu is %a, the portable set gives %a\n", what, i, a[i], b[i]);
            return false;
        }
    }
    return true;
}

static bool compare_load(const RknpuFloatKernels *k)
{
    static uint8_t from[2 * PATTERNS];
    static float a[PATTERNS], b[PATTERNS];

    for (unsigned i = 0; i < PATTERNS; i++) {
        from[2 * i] = (uint8_t)i;
        from[2 * i + 1] = (uint8_t)(i >> 8);
    }
    k->load_fp16(a, from, PATTERNS);
    rknpu_float_portable.load_fp16(b, from, PATTERNS);
    return same(a, b, PATTERNS, "load_fp16");
}

/* All bits of fp32 at random, and numbers near those of fp16, ties among them. */
static bool compare_store(const RknpuFloatKernels *k)
{
    static float from[PATTERNS];
    static uint8_t a[2 * PATTERNS + 2], b[2 * PATTERNS + 2];

    for (unsigned i = 0; i < PATTERNS; i++) {
        uint32_t bits = draw(0, 0xffff) << 16 | draw(0, 0xffff);

        if (i % 2) {
            float v = rknpu_fp16_to_float((uint16_t)i);

            memcpy(&bits, &v, sizeof(bits));
            bits += 0x1000 * draw(0, 2) + draw(0, 2) - 1;
        }
        memcpy(&from[i], &bits, sizeof(bits));
    }
    k->store_fp16(a, from, PATTERNS);
    rknpu_float_portable.store_fp16(b, from, PATTERNS);
    for (unsigned i = 0; i < 2 * PATTERNS; i++) {
        if (a[i] != b[i]) {
            printf("store_fp16: %a is stored otherwise\n", from[i / 2]);
            return false;
        }
    }
    return true;
}

static bool compare_pack(const RknpuFloatKernels *k)
{
    static uint8_t from[2 * LANES * 40];
    static float a[LANES * 40], b[LANES * 40];
    unsigned kernels = draw(1, LANES), channels = draw(1, 40);

    for (unsigned i = 0; i < sizeof(from); i++) {
        from[i] = (uint8_t)draw(0, 255);
    }
    k->pack_fp16(a, from, kernels, channels);
    rknpu_float_portable.pack_fp16(b, from, kernels, channels);
    return same(a, b, (size_t)channels * LANES, "pack_fp16");
}

static bool compare_dot(const RknpuFloatKernels *k)
{
    static float x[MAX_ROWS * (MAX_DEPTH + 7)], w[MAX_DEPTH * LANES];
    static float a[MAX_ROWS * LANES], b[MAX_ROWS * LANES];
    unsigned rows = draw(1, k->rows), depth = draw(1, MAX_DEPTH), stride = depth + draw(0, 7);

    for (unsigned i = 0; i < rows * stride; i++) {
        x[i] = draw_half();
    }
    for (unsigned i = 0; i < depth * LANES; i++) {
        w[i] = draw_half();
    }
    for (unsigned i = 0; i < rows * LANES; i++) {
        a[i] = b[i] = draw_half();
    }
    k->dot_fp16(a, x, stride, w, depth, rows);
    rknpu_float_dot(b, x, stride, w, depth, rows);
    return same(a, b, (size_t)rows * LANES, "dot_fp16");
}

static bool compare(const RknpuFloatKernels *k, unsigned cases)
{
    bool ok = k->rows <= MAX_ROWS && compare_load(k) && compare_store(k);

    for (unsigned i = 0; ok && i < cases; i++) {
        ok = compare_pack(k) && compare_dot(k);
    }
    printf("%s: %s\n", k->name, ok ? "equal to the portable set" : "FAILED");
    return ok;
}

int main(int argc, char **argv)
{
    const RknpuFloatKernels *sets[2];
    unsigned cases = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 200, count = 0;
    unsigned long long seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

#if defined(__x86_64__)
    if (rknpu_isa_available(RKNPU_ISA_AVX2)) {
        sets[count++] = &rknpu_float_avx2;
    }
    if (rknpu_isa_available(RKNPU_ISA_AVX512)) {
        sets[count++] = &rknpu_float_avx512;
    }
#elif defined(__aarch64__)
    sets[count++] = &rknpu_float_neon;
#endif
    if (count == 0) {
        printf("no other set on this host\n");
        return 77;
    }
    printf("%u cases, seed %llu\n", cases, seed);
    for (unsigned i = 0; i < count; i++) {
        state = seed * 2 + 1;
        if (!compare(sets[i], cases)) {
            return 1;
        }
    }
    return 0;
}
