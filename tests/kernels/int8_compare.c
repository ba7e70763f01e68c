/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every set of int8 inner loops against the portable one, bit for bit, on random arguments. A plain
 * program without libraries, so that it runs where the unit tests do not: for AArch64 under an
 * emulator, and for AVX-512 with the intrinsics in plain C (SIMDe).
 *
 *   int8_compare [CASES [SEED]]     exit status 0 = equal, 1 = a difference, 77 = no other set to
 * compare
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/int8.h"

#define MAX_CHANNELS 192
#define MAX_TAPS     9
#define MAX_PIXELS   40
#define KERNELS      32
#define COLUMNS      128
#define PADDING      (-7)
#define SUM_MAX      (128.0 * 256 * MAX_CHANNELS * MAX_TAPS + 20000) /* of |sum + bias| */

static unsigned long long state;

/* xorshift64*: the same numbers on every host. */
static unsigned draw(unsigned low, unsigned high)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return low + (unsigned)(state * 2685821657736338717ull >> 33) % (high - low + 1);
}

typedef struct Case {
    unsigned channels, depth, height, width, stride, dilation, pixels, kernels, columns;
    unsigned in_memory;
    bool fused, unpacked;
    bool in_place; /* sets that can do that read pointwise input as it lies */
    RknpuRequant requant;
    uint8_t input[3][MAX_CHANNELS / 16][COLUMNS * 16]; /* [row][surface][pixel][16] */
    uint8_t weights[KERNELS * MAX_CHANNELS * MAX_TAPS];
    int32_t ow[KERNELS], bias[KERNELS];
    double a[KERNELS], b[KERNELS];
    int8_t operand[2][MAX_PIXELS * 16];
} Case;

typedef struct Result {
    uint8_t bytes[2][MAX_PIXELS * 16];
    int32_t acc[MAX_PIXELS * KERNELS];
} Result;

static uint8_t staged[3 * COLUMNS * MAX_CHANNELS * 2] __attribute__((aligned(64)));
static uint8_t packed[KERNELS * MAX_CHANNELS * MAX_TAPS * 2] __attribute__((aligned(64)));

static int32_t sums[MAX_PIXELS];

static void random_bytes(void *to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ((uint8_t *)to)[i] = (uint8_t)draw(0, 255);
    }
}

static void random_requant(Case *c)
{
    RknpuRequant *r = &c->requant;

    *r = (RknpuRequant){ .bias = c->bias, .truncate = draw(0, 2) ? 0 : draw(1, 4) };
    /* Every fourth scale is a power of two: there the halves lie that are rounded to even. */
    r->scale = draw(0x4000, draw(0, 3) ? 0x7fff : 0x4000) / (double)(1u << draw(15, 26));
    r->offset = (int)draw(0, 255) - 128;
    for (unsigned k = 0; k < KERNELS; k++) {
        c->bias[k] = (int)draw(0, 40000) - 20000;
        c->a[k] = (int)draw(0, 4000) - 2000;
        c->b[k] = draw(0, 20000) / 16384.0;
    }
    r->single = rknpu_requant_is_single(r, SUM_MAX);
    if (r->single || draw(0, 2) == 0) { /* no operation */
        return;
    }
    if (draw(0, 1)) {
        r->op[r->ops++] = (RknpuRequantOp){ .kind = RKNPU_REQUANT_ADD, .a = c->a };
    }
    if (draw(0, 1)) {
        r->op[r->ops++] = (RknpuRequantOp){ .kind = RKNPU_REQUANT_MUL, .a = c->b, .b = c->a };
    }
    if (draw(0, 1)) {
        r->op[r->ops++] =
            (RknpuRequantOp){ .kind = RKNPU_REQUANT_CLAMP, .low = 0, .high = draw(100, 100000) };
    }
    if (draw(0, 1)) {
        r->op[r->ops++] = (RknpuRequantOp){ .kind = RKNPU_REQUANT_EW_ADD,
                                            .low = draw(0, 300) / 16.0,
                                            .high = draw(0, 3000) / 32.0,
                                            .sign = draw(0, 1) ? 1 : -1 };
    }
}

static void make_case(Case *c)
{
    bool pointwise = draw(0, 2) == 0; /* whole groups with one OW, as most tasks are */

    c->channels = 16 * draw(1, MAX_CHANNELS / 16);
    c->depth = c->channels > 16 ? c->channels : 4 * draw(1, 4);
    c->height = pointwise ? 1 : draw(1, 3);
    c->width = pointwise ? 1 : draw(1, 3);
    c->stride = draw(1, 3);
    c->in_place = pointwise && c->stride == 1 && c->depth == c->channels;
    c->dilation = draw(1, 2);
    c->pixels =
        draw(pointwise ? 25 : 1, (COLUMNS - 5) / 3 < MAX_PIXELS ? (COLUMNS - 5) / 3 : MAX_PIXELS);
    c->columns = (c->pixels - 1) * c->stride + (c->width - 1) * c->dilation + 1;
    c->kernels = c->in_memory = pointwise ? KERNELS : draw(1, KERNELS);
    c->fused = draw(0, 3);
    c->unpacked = c->depth % 32 == 0 && draw(0, 1);
    random_bytes(c->input, sizeof(c->input));
    random_bytes(c->weights, sizeof(c->weights));
    random_bytes(c->operand, sizeof(c->operand));
    for (unsigned k = 0; k < KERNELS; k++) {
        c->ow[k] = pointwise && k ? c->ow[0] : (int)draw(0, 255) - 128;
    }
    for (unsigned i = 0; i < 3 * MAX_CHANNELS / 16; i++) { /* the last column is padding */
        memset(c->input[i / (MAX_CHANNELS / 16)][i % (MAX_CHANNELS / 16)] + (c->columns - 1) * 16,
               PADDING, 16);
    }
    random_requant(c);
    if (c->requant.ops == 0 && draw(0, 3) == 0) { /* the largest sums */
        memset(c->input, draw(0, 1) ? 0x80 : 0x7f, sizeof(c->input));
        memset(c->weights, draw(0, 1) ? 0x80 : 0x7f, sizeof(c->weights));
    }
}

static void stage_case(const Case *c, const RknpuInt8Kernels *set, size_t step, size_t row_bytes)
{
    for (unsigned y = 0; y < c->height; y++) {
        for (unsigned s = 0; s < c->channels / 16; s++) {
            uint8_t *to = staged + y * row_bytes + s * 16 * set->stage_bytes;

            if (c->columns > 1) {
                set->stage(to, step, c->input[y][s], c->columns - 1);
            }
            set->fill(to + (c->columns - 1) * step, step,
                      (int8_t)c->input[y][s][(c->columns - 1) * 16], 1);
        }
    }
}

/* The sums of all inputs under each output pixel, through the set's sums of pixels. */
static void sum_case(const Case *c, const RknpuInt8Kernels *set, size_t step, size_t row_bytes)
{
    int32_t row[COLUMNS];

    memset(sums, 0, sizeof(sums));
    for (unsigned y = 0; y < c->height; y++) {
        set->sum(row, staged + y * row_bytes, step, c->depth, c->columns);
        for (unsigned i = 0; i < c->pixels * c->width; i++) {
            sums[i / c->width] += row[i / c->width * c->stride + i % c->width * c->dilation];
        }
    }
}

/* The arguments of a case whose input is read where it lies. */
static void put_in_place(const Case *c, const RknpuInt8Kernels *set, RknpuInt8Direct *d,
                         const uint8_t **rows)
{
    for (unsigned s = 0; s < c->channels / 16; s++) {
        rows[s] = c->input[0][s];
    }
    set->sum_atoms(sums, rows, c->channels / 16, 16, c->pixels);
    d->pixel_step = d->depth = 16;
    d->kernel_height = c->channels / 16;
    d->sums = sums;
}

/* direct() in the way that the case wants and the set has. */
static void multiply(const Case *c, const RknpuInt8Kernels *set, const RknpuInt8Direct *d,
                     const RknpuInt8Weights *w)
{
    bool whole = w->count == set->group && w->in_memory == set->group && c->depth % 32 == 0;

    if (c->unpacked && set->direct_unpacked && d->depth == c->depth) {
        set->direct_unpacked(d, w);
    } else if (set->pack_direct && whole) {
        set->pack_direct(packed, d, w);
    } else {
        set->pack(packed, w);
        set->direct(d);
    }
}

static void run_direct(const Case *c, const RknpuInt8Kernels *set, Result *result)
{
    size_t step = (size_t)c->channels * set->stage_bytes, row_bytes = c->columns * step;
    const uint8_t *rows[MAX_CHANNELS / 16];

    stage_case(c, set, step, row_bytes);
    for (unsigned first = 0; first < KERNELS; first += set->group) {
        unsigned left = c->kernels > first ? c->kernels - first : 0;
        int32_t acc[MAX_PIXELS * KERNELS];
        int32_t ow[RKNPU_INT8_GROUP_MAX] = { 0 };
        RknpuInt8Weights w = {
            .memory = c->weights,
            .in_memory = c->in_memory,
            .first = first,
            .count = left < set->group ? left : set->group,
            .taps = c->height * c->width,
            .tap_channels = c->channels,
            .depth = c->depth,
            .ow = ow,
        };
        RknpuInt8Direct d = {
            .rows = rows,
            .pixel_step = c->stride * step,
            .tap_step = c->dilation * step,
            .kernel_height = c->height,
            .kernel_width = c->width,
            .depth = c->depth,
            .weights = packed,
            .ow = ow,
            .pixels = c->pixels,
            .out.channel = first,
        };

        memcpy(ow, c->ow + first, w.count * sizeof(*ow));
        for (unsigned y = 0; y < c->height; y++) {
            rows[y] = staged + y * row_bytes;
        }
        if (c->in_place && set->sum_atoms) {
            put_in_place(c, set, &d, rows);
        } else if (set->sum) {
            sum_case(c, set, step, row_bytes);
            d.sums = sums;
        }
        if (c->fused) {
            d.out.requant = &c->requant;
        } else {
            d.out.acc = acc;
        }
        for (unsigned i = 0; i < set->group / 16; i++) {
            d.out.bytes[i] = result->bytes[first / 16 + i];
            d.out.operand[i] = c->operand[first / 16 + i];
        }
        multiply(c, set, &d, &w);
        for (unsigned i = 0; !c->fused && i < c->pixels * set->group; i++) {
            result->acc[i / set->group * KERNELS + first + i % set->group] = acc[i];
        }
    }
}

static void run_depthwise(const Case *c, const RknpuInt8Kernels *set, Result *result)
{
    static int16_t pairs[2][COLUMNS * 32] __attribute__((aligned(64)));
    const unsigned row_pairs = (c->height + 1) / 2;
    const int16_t *rows[4] = { pairs[0], pairs[1], pairs[row_pairs - 1], pairs[0] };
    int16_t weights[2 * 3 * 32];
    const int16_t *of_row[2] = { weights, weights + 32 * (2 - row_pairs) };
    RknpuInt8Depthwise d = {
        .rows = c->pixels > 1 ? 2 : 1, /* half of the pixels each */
        .pairs = rows,
        .pixel_step = c->stride * 64,
        .tap_step = c->dilation * 64,
        .row_pairs = row_pairs,
        .kernel_width = c->width,
        .weights = of_row,
        .pixels = c->pixels > 1 ? c->pixels / 2 : 1,
        .out_step = MAX_PIXELS / 2 * 16,
        .out = { .acc = result->acc, .bytes = { result->bytes[0] }, .operand = { c->operand[0] } },
    };

    for (unsigned i = 0; i < 2 * 3 * 32; i++) {
        weights[i] = (int16_t)((int8_t)c->weights[i] + c->ow[i % 32 / 2]);
    }
    for (unsigned i = 0; i < 2; i++) {
        set->stage_pair(pairs[i], c->input[i][0], c->input[i + 1][0], c->columns);
    }
    d.out.requant = c->fused ? &c->requant : NULL;
    set->depthwise(&d);
}

static bool equal(const Case *c, const RknpuInt8Kernels *set, bool depthwise, unsigned number)
{
    static Result want, got;

    memset(&want, 0, sizeof(want));
    memset(&got, 0, sizeof(got));
    (depthwise ? run_depthwise : run_direct)(c, &rknpu_int8_portable, &want);
    (depthwise ? run_depthwise : run_direct)(c, set, &got);
    if (memcmp(&want, &got, sizeof(want)) == 0) {
        return true;
    }
    printf("not ok: %s differs from portable: case %u, %s, %u channels (%u used), kernel %ux%u, "
           "stride %u, dilation %u, %u pixels, %u kernels, fused %d, truncate %u, %u operations\n",
           set->name, number, depthwise ? "depthwise" : "direct", c->channels, c->depth, c->height,
           c->width, c->stride, c->dilation, c->pixels, c->kernels, c->fused, c->requant.truncate,
           c->requant.ops);
    return false;
}

int main(int argc, char **argv)
{
    unsigned cases = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 500, sets = 0, wrong = 0;
    static Case c;

    for (unsigned isa = RKNPU_ISA_PORTABLE + 1; isa < RKNPU_ISAS; isa++) {
        const RknpuInt8Kernels *set = rknpu_int8_kernels(isa);

        if (!rknpu_isa_available(isa) || set == &rknpu_int8_portable) {
            continue;
        }
        sets++;
        state = argc > 2 ? strtoull(argv[2], NULL, 0) : 88172645463325252ull;
        for (unsigned i = 0; i < cases && wrong < 5; i++) {
            make_case(&c);
            wrong += !equal(&c, set, false, i);
            wrong += !equal(&c, set, true, i);
        }
        printf("%s: %s, %u cases\n", wrong ? "not ok" : "ok", set->name, cases);
    }
    return wrong ? 1 : sets ? 0 : 77;
}
