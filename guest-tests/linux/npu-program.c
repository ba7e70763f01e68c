/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Register programs of a convolution with ReLU for RK3588 and RK3576.
 *
 * RK3588: names and fields of the TRM, Part 1, chapter 36. RK3576: no manual is public; offsets and
 * values follow captured programs (gahingwoo/linux-rk3576-npu).
 */
#include "npu-program.h"
#include <stdio.h>
#include <string.h>

#define ATOM 16             /* channels of one 16-byte atom */
#define KERNEL_GROUP 32
#define SLICE 32            /* input channels of one weight slice */

/* Target of a command word: the block's bit and bit 0. */
#define PC       0x0101
#define CNA      0x0201
#define CORE     0x0801
#define DPU      0x1001
#define DPU_RDMA 0x2001
#define BARRIER  0x0041
#define ENABLE   0x0081

#define UNITS_CONV 0x1d     /* CNA, CORE, DPU, DPU_RDMA */

struct writer {
    uint64_t *words;
    unsigned n;
};

static void put(struct writer *w, unsigned target, unsigned reg, uint32_t value)
{
    w->words[w->n++] = (uint64_t)target << 48 | (uint64_t)value << 16 | reg;
}

static void put_zero(struct writer *w, unsigned target, unsigned first, unsigned last)
{
    for (unsigned reg = first; reg <= last; reg += 4) {
        put(w, target, reg, 0);
    }
}

static unsigned put_tail(struct writer *w)
{
    w->words[w->n++] = 0;
    put(w, PC, 0x14, 0);
    put(w, BARRIER, 0, 0);
    put(w, ENABLE, 0x08, UNITS_CONV);
    return w->n;
}

static unsigned div_up(unsigned a, unsigned b)
{
    return (a + b - 1) / b;
}

int npu_chip_of_version(uint32_t version)
{
    switch (version) {
    case 0x46495245:
        return NPU_RK3588;
    case 0x46495247:
        return NPU_RK3576;
    default:
        return -1;
    }
}

size_t conv_input_bytes(const struct conv *c)
{
    return (size_t)c->width * c->height * c->in_channels;
}

size_t conv_weight_bytes(const struct conv *c)
{
    return (size_t)c->kernel * c->kernel * c->in_channels * c->out_channels;
}

/* RK3588: one s32 a channel. RK3576: 64 bytes for 8 channels, and a 16-byte line for the shifts. */
size_t conv_coefficient_bytes(const struct conv *c)
{
    return c->chip == NPU_RK3588 ? c->out_channels * 4u : c->out_channels * 8u + 16;
}

size_t conv_output_bytes(const struct conv *c)
{
    return (size_t)c->width * c->height * c->out_channels;
}

static void rk3588_cna(struct writer *w, const struct conv *c, const struct conv_addresses *at)
{
    unsigned taps = c->kernel * c->kernel, pad = c->kernel / 2;
    unsigned entries = div_up(c->width * c->in_channels, 64);
    unsigned banks = div_up(entries * c->height, 256);

    put(w, CNA, 0x1104, 0);                                     /* DCOMP_REGNUM */
    put(w, CNA, 0x1100, 0);                                     /* DCOMP_CTRL: raw weights */
    put(w, CNA, 0x100c, 0);                                     /* CONV_CON1: direct, int8 */
    put(w, CNA, 0x1010, (50 + 1 + 1) << 4);                     /* CONV_CON2: FEATURE_GRAINS */
    put(w, CNA, 0x1014, 1 | 1 << 3);                            /* CONV_CON3: strides */
    put(w, CNA, 0x1020, c->width << 16 | c->height);            /* DATA_SIZE0 */
    put(w, CNA, 0x1024, (c->in_channels - 1) << 16 | c->in_channels);
    put(w, CNA, 0x1028, c->width);                              /* DATA_SIZE2: output width */
    put(w, CNA, 0x102c, c->width * c->height);                  /* DATA_SIZE3: output pixels */
    put(w, CNA, 0x1030, conv_weight_bytes(c));                  /* WEIGHT_SIZE0 */
    put(w, CNA, 0x1034, taps * c->in_channels);                 /* WEIGHT_SIZE1: of one kernel */
    put(w, CNA, 0x1038, c->kernel << 24 | c->kernel << 16 | c->out_channels);
    put(w, CNA, 0x1040, banks | (12 - banks) << 4);             /* CBUF_CON0 */
    put(w, CNA, 0x1044, entries);                               /* CBUF_CON1 */
    put(w, CNA, 0x104c, 0xb);                                   /* CVT_CON0: bypass */
    for (unsigned reg = 0x1050; reg <= 0x105c; reg += 4) {
        put(w, CNA, reg, 1 << 16);                              /* CVT_CON1..4: times 1 */
    }
    put(w, CNA, 0x1060, 0);                                     /* FC_CON0 */
    put(w, CNA, 0x1064, 0);                                     /* FC_CON1 */
    put(w, CNA, 0x1068, pad | pad << 4);                        /* PAD_CON0: top, left */
    put(w, CNA, 0x1070, at->input);                             /* FEATURE_DATA_ADDR */
    put(w, CNA, 0x1074, 0);                                     /* FC_CON2 */
    put(w, CNA, 0x1078, 0xf000f);                               /* DMA_CON0: bursts */
    put(w, CNA, 0x107c, 4 * c->width);                          /* DMA_CON1: LINE_STRIDE */
    put(w, CNA, 0x1080, (c->width * (c->height - 4)) & 0xfffffff); /* DMA_CON2: SURF_STRIDE */
    put(w, CNA, 0x1084, c->width << 16 | c->height);            /* FC_DATA_SIZE0 */
    put(w, CNA, 0x1088, c->in_channels);                        /* FC_DATA_SIZE1 */
    put(w, CNA, 0x1110, at->weights);                           /* DCOMP_ADDR0 */
    put_zero(w, CNA, 0x1140, 0x117c);                           /* DCOMP_AMOUNT0..15 */
    put(w, CNA, 0x1180, 0);                                     /* CVT_CON5 */
    put(w, CNA, 0x1184, 0);                                     /* PAD_CON1: pad value */
}

static void rk3588_dpu(struct writer *w, const struct conv *c, const struct conv_addresses *at)
{
    unsigned surface = c->width * c->height * ATOM;
    unsigned channels = c->out_channels - 1;

    put(w, DPU, 0x400c, 0x1e4);                                 /* FEATURE_MODE_CFG: to memory */
    put(w, DPU, 0x4010, 0);                                     /* DATA_FORMAT: int8 */
    put(w, DPU, 0x4014, 0);                                     /* OFFSET_PEND */
    put(w, DPU, 0x4020, at->output);                            /* DST_BASE_ADDR */
    put(w, DPU, 0x4024, surface);                               /* DST_SURF_STRIDE */
    put(w, DPU, 0x4030, c->width - 1);                          /* DATA_CUBE_WIDTH */
    put(w, DPU, 0x4034, c->height - 1);                         /* DATA_CUBE_HEIGHT */
    put(w, DPU, 0x4038, 0);                                     /* NOTCH_ADDR */
    put(w, DPU, 0x403c, channels << 16 | channels);             /* DATA_CUBE_CHANNEL */
    put(w, DPU, 0x4040, 0x20150);                               /* BS_CFG: add the operand */
    put_zero(w, DPU, 0x4044, 0x404c);
    put(w, DPU, 0x4050, 0x124);                                 /* BS_OW_CFG: two atoms a pass */
    put(w, DPU, 0x4054, 0);                                     /* BS_OW_OP: no zero point */
    put(w, DPU, 0x4058, channels);                              /* WDMA_SIZE_0 */
    put(w, DPU, 0x405c, (c->height - 1) << 16 | (c->width - 1));
    put(w, DPU, 0x4060, 0x12);                                  /* BN_CFG: ReLU alone */
    put_zero(w, DPU, 0x4064, 0x406c);
    put(w, DPU, 0x4070, 0x383);                                 /* EW_CFG: bypass */
    put(w, DPU, 0x4074, 0);
    put(w, DPU, 0x4078, 1);
    put(w, DPU, 0x407c, 0);
    put(w, DPU, 0x4080, 0);                                     /* OUT_CVT_OFFSET */
    put(w, DPU, 0x4084, CONV_SCALE);                            /* OUT_CVT_SCALE */
    put(w, DPU, 0x4088, CONV_SHIFT);                            /* OUT_CVT_SHIFT */
    put_zero(w, DPU, 0x4090, 0x40ac);
    put(w, DPU, 0x40c0, 2 * surface);                           /* SURFACE_ADD */
    put(w, DPU, 0x40c4, 0);
    put_zero(w, DPU, 0x4100, 0x412c);                           /* LUT */
}

static void rk3588_rdma(struct writer *w, const struct conv *c, const struct conv_addresses *at)
{
    put(w, DPU_RDMA, 0x500c, c->width - 1);
    put(w, DPU_RDMA, 0x5010, c->height - 1);
    put(w, DPU_RDMA, 0x5014, c->out_channels - 1);
    put(w, DPU_RDMA, 0x5018, 0);                                /* SRC_BASE */
    put(w, DPU_RDMA, 0x501c, 1 << 1);                           /* BRDMA_CFG: ALU operand */
    put(w, DPU_RDMA, 0x5020, at->coefficients);                 /* BS_BASE */
    put(w, DPU_RDMA, 0x5028, 0);                                /* NRDMA_CFG */
    put(w, DPU_RDMA, 0x502c, 0);                                /* BN_BASE */
    put(w, DPU_RDMA, 0x5034, 1);                                /* ERDMA_CFG: off */
    put(w, DPU_RDMA, 0x5038, 0);
    put(w, DPU_RDMA, 0x5040, 0);
    put(w, DPU_RDMA, 0x5044, 0x7810);                           /* FEATURE_MODE_CFG: MRDMA off */
    put(w, DPU_RDMA, 0x5048, 0);
    put(w, DPU_RDMA, 0x504c, 0);
    put(w, DPU_RDMA, 0x5064, 0);
    put(w, DPU_RDMA, 0x5068, 0x01010101);                       /* WEIGHT: of the arbiter */
    put(w, DPU_RDMA, 0x506c, 0);
}

static unsigned rk3588_program(const struct conv *c, const struct conv_addresses *at,
                               uint64_t *words)
{
    struct writer w = { .words = words };

    put(&w, DPU, 0x4004, 0xe);                                  /* S_POINTER */
    put(&w, DPU_RDMA, 0x5004, 0xe);
    rk3588_cna(&w, c, at);
    put(&w, CORE, 0x3010, 1);                                   /* MISC_CFG: QD_EN, int8 */
    put(&w, CORE, 0x3014, (c->height - 1) << 16 | (c->width - 1));
    put(&w, CORE, 0x3018, c->out_channels - 1);                 /* DATAOUT_SIZE_1 */
    put(&w, CORE, 0x301c, 0);                                   /* CLIP_TRUNCATE */
    put(&w, CORE, 0x3030, 0);
    rk3588_dpu(&w, c, at);
    rk3588_rdma(&w, c, at);
    return put_tail(&w);
}

static void rk3576_cna(struct writer *w, const struct conv *c, const struct conv_addresses *at)
{
    unsigned taps = c->kernel * c->kernel, pad = c->kernel / 2;
    unsigned row = div_up(c->in_channels / ATOM * c->width, 4); /* CBUF units of 64 bytes */
    unsigned banks = div_up(row * c->height, 1024);
    uint32_t size = (c->width - 1) << 16 | (c->height - 1);

    put(w, CNA, 0x100c, 0);                                     /* direct convolution */
    put(w, CNA, 0x1010, 0xfff);
    put(w, CNA, 0x1014, 1 | 1 << 3);                            /* strides */
    put(w, CNA, 0x1018, 1u << 30 | banks << 8 | banks);         /* banks for data */
    put(w, CNA, 0x101c, conv_weight_bytes(c));
    put(w, CNA, 0x1020, taps * c->in_channels);
    put(w, CNA, 0x1024, (c->kernel - 1) * 0x01010000u | (c->out_channels - 1));
    put(w, CNA, 0x1028, (row * c->height) << 16 | (c->in_channels - 1));
    put(w, CNA, 0x102c, size);                                  /* input */
    put(w, CNA, 0x1030, (taps * c->in_channels * 2) << 16 | (c->width - 1));
    put(w, CNA, 0x1034, c->width * c->height - 1);              /* output pixels */
    put(w, CNA, 0x1038, 7);                                     /* end of the weight banks */
    put(w, CNA, 0x103c, row << 16);
    put(w, CNA, 0x1040, banks << (16 + 10));                    /* weights start behind the data */
    put(w, CNA, 0x1044, c->width << 16 | row);
    put(w, CNA, 0x1048, 0xb);                                   /* conversion bypassed */
    put(w, CNA, 0x104c, 0x10001);
    put(w, CNA, 0x1050, 0x10001);
    put_zero(w, CNA, 0x1054, 0x1074);
    put(w, CNA, 0x1078, size);
    put(w, CNA, 0x107c, c->in_channels - 1);
    put(w, CNA, 0x1080, pad * 0x01010101u);                     /* right, bottom, left, top */
    put(w, CNA, 0x1084, 0);                                     /* pad value */
    put(w, CNA, 0x1088, at->input);
    put(w, CNA, 0x108c, 0xf000f);
    put(w, CNA, 0x1090, 4 * c->width);                          /* line stride of four lines */
    put(w, CNA, 0x1094, c->width * c->height);                  /* surface stride */
    put(w, CNA, 0x1098, div_up(c->width * c->height, 4) * 4);
    put(w, CNA, 0x109c, 0);
    put(w, CNA, 0x1100, 0);
    put(w, CNA, 0x1104, 0);
    put(w, CNA, 0x1110, at->weights);
    put(w, CNA, 0x1140, 0);
    put(w, CNA, 0x1144, 0);
    put(w, CNA, 0x118c, size);
}

static void rk3576_dpu(struct writer *w, const struct conv *c, const struct conv_addresses *at)
{
    unsigned pixels = c->width * c->height, channels = c->out_channels - 1;
    unsigned last_pass = (div_up(c->out_channels, ATOM) - 1) & 1;
    uint32_t size = (c->height - 1) << 16 | (c->width - 1);
    static const uint16_t clamps[] = { 0x4048, 0x4058, 0x4088, 0x40a4 };

    put(w, DPU, 0x400c, 0x40000004);
    put(w, DPU, 0x4010, 0);
    put(w, DPU, 0x4014, 0);
    put(w, DPU, 0x4018, at->output);
    put(w, DPU, 0x401c, div_up(pixels, 4) * 4);                 /* surface stride, pixels */
    put(w, DPU, 0x4020, c->width - 1);
    put(w, DPU, 0x4024, c->height - 1);
    put(w, DPU, 0x4028, 0);
    put(w, DPU, 0x402c, channels);
    put(w, DPU, 0x4030, channels << 16 | 0x710);
    put(w, DPU, 0x4034, size);
    put(w, DPU, 0x4038, 0x120080);                              /* add and multiply from records */
    put(w, DPU, 0x403c, 0);
    put(w, DPU, 0x4044, 1);
    put(w, DPU, 0x4050, 0x80011011 | last_pass << 8);           /* two atoms a pass */
    put(w, DPU, 0x4060, 0x902);                                 /* clamp active: ReLU */
    for (unsigned i = 0; i < sizeof(clamps) / sizeof(clamps[0]); i++) {
        put(w, DPU, clamps[i], 0x80000000);
        put(w, DPU, clamps[i] + 4, 0x7fffffff);
    }
    put(w, DPU, 0x406c, 0);                                     /* minimum 0 is the ReLU */
    put(w, DPU, 0x4070, 0x7fffffff);
    put(w, DPU, 0x4074, 0);
    put(w, DPU, 0x4078, 0x7fffffff);
    put(w, DPU, 0x407c, 0x10041c1);                             /* elementwise bypassed */
    put(w, DPU, 0x4080, 0);
    put(w, DPU, 0x4084, 1);
    put(w, DPU, 0x4090, 0);
    put(w, DPU, 0x4094, 0);
    put(w, DPU, 0x409c, 0);
    put(w, DPU, 0x40ac, 0);                                     /* output offset */
    put(w, DPU, 0x40b0, CONV_SCALE);
    put(w, DPU, 0x40b4, CONV_SHIFT);
    put(w, DPU, 0x40b8, 2 * div_up(pixels, 4) * 4 - pixels);    /* to the next pass, pixels */
    put(w, DPU, 0x40bc, 0);
    put(w, DPU, 0x40c0, 0x4440100);
    put(w, DPU, 0x40c8, 0);
    put(w, DPU, 0x40cc, 0);
    put(w, DPU, 0x40d0, 0x40ffff);
}

static unsigned rk3576_program(const struct conv *c, const struct conv_addresses *at,
                               uint64_t *words)
{
    struct writer w = { .words = words };
    uint32_t size = (c->height - 1) << 16 | (c->width - 1);

    put(&w, CNA, 0x1004, 0xe);
    put(&w, CORE, 0x3004, 0xe);
    put(&w, DPU, 0x4004, 0xe);
    put(&w, DPU_RDMA, 0x5004, 0xe);
    rk3576_cna(&w, c, at);
    put(&w, CORE, 0x3018, 0x10000001);
    put(&w, CORE, 0x301c, size);
    put(&w, CORE, 0x3020, c->out_channels - 1);
    put(&w, CORE, 0x3024, 0);
    rk3576_dpu(&w, c, at);
    put(&w, DPU_RDMA, 0x500c, c->width - 1);
    put(&w, DPU_RDMA, 0x5010, c->height - 1);
    put(&w, DPU_RDMA, 0x5014, c->out_channels - 1);
    put(&w, DPU_RDMA, 0x5018, 0);
    put(&w, DPU_RDMA, 0x501c, 0x710);                           /* records of three operands */
    put(&w, DPU_RDMA, 0x5020, at->coefficients);
    put(&w, DPU_RDMA, 0x5024, at->coefficients + c->out_channels * 8);
    put(&w, DPU_RDMA, 0x5028, 0);
    put(&w, DPU_RDMA, 0x502c, 0);
    put(&w, DPU_RDMA, 0x5030, 0);
    put(&w, DPU_RDMA, 0x5034, 0x41);                            /* elementwise reader off */
    put(&w, DPU_RDMA, 0x5038, 0);
    put(&w, DPU_RDMA, 0x5040, 0);
    put(&w, DPU_RDMA, 0x5044, 0x40000010);
    put(&w, DPU_RDMA, 0x5048, 0);
    put(&w, DPU_RDMA, 0x504c, 0);
    put(&w, DPU_RDMA, 0x5064, 0);
    put(&w, DPU_RDMA, 0x506c, 0);
    return put_tail(&w);
}

unsigned conv_program(const struct conv *c, const struct conv_addresses *at, uint64_t *words)
{
    return (c->chip == NPU_RK3588 ? rk3588_program : rk3576_program)(c, at, words);
}

void conv_chain(uint64_t *words, unsigned n, uint32_t iova, unsigned next)
{
    struct writer w = { .words = words, .n = n - CONV_TAIL_WORDS };

    put(&w, PC, 0x10, iova);
    put(&w, PC, 0x14, div_up(next, 2) - 1);
}

/* A number in -range..range that depends on the position alone. */
static int value_at(unsigned salt, unsigned a, unsigned b, unsigned c, unsigned d, int range)
{
    uint32_t v = salt + a * 2654435761u + b * 40503u + c * 69069u + d * 1664525u;

    v ^= v >> 15;
    v *= 2246822519u;
    v ^= v >> 13;
    return (int)(v % (2 * range + 1)) - range;
}

static int input_at(unsigned channel, unsigned y, unsigned x)
{
    return value_at(1, channel, y, x, 0, 127);
}

static int weight_at(unsigned k, unsigned channel, unsigned y, unsigned x)
{
    return value_at(2, k, channel, y, x, 63);
}

static int bias_at(unsigned k)
{
    return value_at(3, k, 0, 0, 0, 4000);
}

size_t conv_cube_offset(const struct conv *c, unsigned channel, unsigned y, unsigned x)
{
    size_t surface = (size_t)c->height * c->width * ATOM;

    return channel / ATOM * surface + (y * c->width + x) * ATOM + channel % ATOM;
}

/* [kernels / 32][channels / 32][ky][kx][kernel in group][channel in slice], edges cut short. */
static size_t weight_offset(const struct conv *c, unsigned k, unsigned channel, unsigned y,
                            unsigned x)
{
    unsigned taps = c->kernel * c->kernel;
    unsigned group = k / KERNEL_GROUP, slice = channel / SLICE;
    unsigned kernels = c->out_channels - group * KERNEL_GROUP;
    unsigned channels = c->in_channels - slice * SLICE;

    kernels = kernels < KERNEL_GROUP ? kernels : KERNEL_GROUP;
    channels = channels < SLICE ? channels : SLICE;
    return (size_t)group * KERNEL_GROUP * taps * c->in_channels + slice * SLICE * taps * kernels +
           ((y * c->kernel + x) * kernels + k % KERNEL_GROUP) * channels + channel % SLICE;
}

/* RK3576 records: 8 biases, 8 factors of the sum of inputs (0), 8 multipliers (0x4000 = 1). */
static void fill_coefficients(const struct conv *c, uint8_t *to)
{
    for (unsigned k = 0; k < c->out_channels; k++) {
        int32_t bias = bias_at(k);
        int16_t one = 0x4000;

        if (c->chip == NPU_RK3588) {
            memcpy(to + 4 * k, &bias, 4);
        } else {
            memcpy(to + k / 8 * 64 + k % 8 * 4, &bias, 4);
            memset(to + k / 8 * 64 + 32 + k % 8 * 2, 0, 2);
            memcpy(to + k / 8 * 64 + 48 + k % 8 * 2, &one, 2);
        }
    }
    if (c->chip == NPU_RK3576) {
        uint32_t shifts[4] = { 14 << 8 | 14 };  /* for negative data, for the rest */

        memcpy(to + c->out_channels * 8, shifts, sizeof(shifts));
    }
}

void conv_fill(const struct conv *c, int8_t *input, int8_t *weights, void *coefficients)
{
    for (unsigned ch = 0; ch < c->in_channels; ch++) {
        for (unsigned y = 0; y < c->height; y++) {
            for (unsigned x = 0; x < c->width; x++) {
                input[conv_cube_offset(c, ch, y, x)] = input_at(ch, y, x);
            }
        }
    }
    for (unsigned k = 0; k < c->out_channels; k++) {
        for (unsigned ch = 0; ch < c->in_channels; ch++) {
            for (unsigned i = 0; i < c->kernel * c->kernel; i++) {
                weights[weight_offset(c, k, ch, i / c->kernel, i % c->kernel)] =
                    weight_at(k, ch, i / c->kernel, i % c->kernel);
            }
        }
    }
    fill_coefficients(c, coefficients);
}

int8_t conv_expected(const struct conv *c, unsigned k, unsigned y, unsigned x)
{
    int pad = c->kernel / 2;
    int64_t sum = bias_at(k);

    for (int ky = 0; ky < (int)c->kernel; ky++) {
        for (int kx = 0; kx < (int)c->kernel; kx++) {
            int iy = (int)y + ky - pad, ix = (int)x + kx - pad;

            if (iy < 0 || ix < 0 || iy >= (int)c->height || ix >= (int)c->width) {
                continue;
            }
            for (unsigned ch = 0; ch < c->in_channels; ch++) {
                sum += input_at(ch, iy, ix) * weight_at(k, ch, ky, kx);
            }
        }
    }
    sum = sum < 0 ? 0 : sum;
    sum = (sum * CONV_SCALE + (1 << (CONV_SHIFT - 1))) >> CONV_SHIFT;
    return sum > 127 ? 127 : sum;
}

unsigned conv_compare(const struct conv *c, const int8_t *output, unsigned step, char *why,
                      size_t size)
{
    size_t pixels = (size_t)c->width * c->height;
    unsigned wrong = 0;

    for (size_t i = 0; i < pixels * c->out_channels; i += step) {
        unsigned k = i / pixels, y = i % pixels / c->width, x = i % c->width;
        int8_t got = output[conv_cube_offset(c, k, y, x)];
        int8_t want = conv_expected(c, k, y, x);

        if (got != want && !wrong++) {
            snprintf(why, size, "channel %u, row %u, column %u is %d, plain loops give %d",
                     k, y, x, got, want);
        }
    }
    return wrong;
}
