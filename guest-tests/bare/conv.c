/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An int8 convolution with bias, requantisation and the weights' zero point on every core, compared
 * with plain loops over channels, rows and columns. The registers are those of the RK3588 manual
 * with the values that Mesa's rocket driver gives them; shapes are not square so that swapped axes
 * show.
 */
#include "lib.h"

#if defined(BOARD_RK3588)

enum {
    WIDTH = 7,
    HEIGHT = 5,
    CHANNELS = 16,
    KERNELS = 32,
    FEATURE = BOARD_WORK + 0x400000,
    WEIGHTS = BOARD_WORK + 0x410000,
    BIAS = BOARD_WORK + 0x420000,
    OUTPUT = BOARD_WORK + 0x430000,
    ZERO_POINT = -23, /* added to every weight: BS_OW_OP */
    SCALE = 31885,
    SHIFT = 26,
    OFFSET = 4,
    PAD = -5,
};

/* One case: kernel size and padding on the left and above; the output has the input's size. */
typedef struct Shape {
    int kernel;
    int pad;
} Shape;

static int8_t *bytes(uint32_t address)
{
    return (int8_t *)(uintptr_t)address;
}

static int8_t feature(int c, int y, int x)
{
    return bytes(FEATURE)[(y * WIDTH + x) * 16 + c]; /* 16 channels: one surface */
}

/* [ky][kx][kernel][channel]: 32 kernels are one group, 16 channels one slice. */
static int8_t weight(const Shape *s, int k, int ky, int kx, int c)
{
    return bytes(WEIGHTS)[((ky * s->kernel + kx) * KERNELS + k) * CHANNELS + c];
}

static void fill(const Shape *s)
{
    uint32_t seed = 1;
    int32_t *bias = (int32_t *)(uintptr_t)BIAS;

    for (int i = 0; i < WIDTH * HEIGHT * CHANNELS; i++) {
        seed = seed * 1103515245u + 12345u;
        bytes(FEATURE)[i] = (int8_t)(seed >> 16);
    }
    for (int i = 0; i < s->kernel * s->kernel * KERNELS * CHANNELS; i++) {
        seed = seed * 1103515245u + 12345u;
        bytes(WEIGHTS)[i] = (int8_t)(seed >> 16);
    }
    for (int k = 0; k < KERNELS; k++) {
        bias[k] = 100 * k - 1600;
    }
    for (int i = 0; i < WIDTH * HEIGHT * KERNELS; i++) {
        bytes(OUTPUT)[i] = 0;
    }
}

static int8_t expected(const Shape *s, int k, int oy, int ox)
{
    int64_t sum = ((int32_t *)(uintptr_t)BIAS)[k];
    int64_t scaled, half, rest;

    for (int ky = 0; ky < s->kernel; ky++) {
        for (int kx = 0; kx < s->kernel; kx++) {
            int y = oy + ky - s->pad;
            int x = ox + kx - s->pad;
            bool inside = y >= 0 && y < HEIGHT && x >= 0 && x < WIDTH;

            for (int c = 0; c < CHANNELS; c++) {
                sum += (inside ? feature(c, y, x) : PAD) * (weight(s, k, ky, kx, c) + ZERO_POINT);
            }
        }
    }
    scaled = sum * SCALE + ((int64_t)OFFSET << SHIFT);
    half = 1ll << (SHIFT - 1);
    rest = scaled & ((1ll << SHIFT) - 1);
    scaled >>= SHIFT;
    scaled += rest > half || (rest == half && (scaled & 1));
    return (int8_t)(scaled > 127 ? 127 : scaled < -128 ? -128 : scaled);
}

static void emit_cna(Program *p, const Shape *s)
{
    unsigned taps = (unsigned)(s->kernel * s->kernel);

    emit(p, RK3588_CNA_CONV_CON1, 0);
    emit(p, RK3588_CNA_CONV_CON2, 0x340);
    emit(p, RK3588_CNA_CONV_CON3, 9); /* stride 1, 1 */
    emit(p, RK3588_CNA_DATA_SIZE0, WIDTH << 16 | HEIGHT);
    emit(p, RK3588_CNA_DATA_SIZE1, (CHANNELS - 1) << 16 | CHANNELS);
    emit(p, RK3588_CNA_DATA_SIZE2, WIDTH);
    emit(p, RK3588_CNA_DATA_SIZE3, WIDTH * HEIGHT);
    emit(p, RK3588_CNA_WEIGHT_SIZE0, taps * CHANNELS * KERNELS);
    emit(p, RK3588_CNA_WEIGHT_SIZE1, taps * CHANNELS);
    emit(p, RK3588_CNA_WEIGHT_SIZE2,
         (unsigned)s->kernel << 24 | (unsigned)s->kernel << 16 | KERNELS);
    emit(p, RK3588_CNA_CBUF_CON0, 0xb1);
    emit(p, RK3588_CNA_CBUF_CON1, (WIDTH * CHANNELS + 63) / 64);
    emit(p, RK3588_CNA_CVT_CON0, 0xb);
    emit(p, RK3588_CNA_PAD_CON0, (unsigned)(s->pad << 4 | s->pad));
    emit(p, RK3588_CNA_FEATURE_DATA_ADDR, FEATURE);
    emit(p, RK3588_CNA_DMA_CON0, 0x000f000f);
    emit(p, RK3588_CNA_DMA_CON1, 4 * WIDTH);
    emit(p, RK3588_CNA_DMA_CON2, WIDTH * (HEIGHT - 4));
    emit(p, RK3588_CNA_FC_DATA_SIZE0, WIDTH << 16 | HEIGHT);
    emit(p, RK3588_CNA_FC_DATA_SIZE1, CHANNELS);
    emit(p, RK3588_CNA_DCOMP_CTRL, 0);
    emit(p, RK3588_CNA_DCOMP_ADDR0, WEIGHTS);
    emit(p, RK3588_CNA_PAD_CON1, (uint32_t)PAD);
    emit(p, RK3588_CORE_MISC_CFG, 1); /* QD_EN: the sum of inputs that BS_OW_OP multiplies */
    emit(p, RK3588_CORE_DATAOUT_SIZE_0, (HEIGHT - 1) << 16 | (WIDTH - 1));
    emit(p, RK3588_CORE_DATAOUT_SIZE_1, KERNELS - 1);
    emit(p, RK3588_CORE_CLIP_TRUNCATE, 0);
}

static void emit_dpu(Program *p)
{
    emit(p, RK3588_DPU_S_POINTER, 0xe);
    emit(p, RK3588_DPU_RDMA_S_POINTER, 0xe);
    emit(p, RK3588_DPU_FEATURE_MODE_CFG, 0x1e4);
    emit(p, RK3588_DPU_DATA_FORMAT, 0);
    emit(p, RK3588_DPU_DST_BASE_ADDR, OUTPUT);
    emit(p, RK3588_DPU_DST_SURF_STRIDE, WIDTH * HEIGHT * 16);
    emit(p, RK3588_DPU_DATA_CUBE_WIDTH, WIDTH - 1);
    emit(p, RK3588_DPU_DATA_CUBE_HEIGHT, HEIGHT - 1);
    emit(p, RK3588_DPU_DATA_CUBE_NOTCH_ADDR, 0);
    emit(p, RK3588_DPU_DATA_CUBE_CHANNEL, (KERNELS - 1) << 16 | (KERNELS - 1));
    emit(p, RK3588_DPU_BS_CFG, 0x20150); /* add the bias from memory */
    emit(p, RK3588_DPU_BS_OW_CFG, 0x124);
    emit(p, RK3588_DPU_BS_OW_OP, (uint16_t)ZERO_POINT);
    emit(p, RK3588_DPU_WDMA_SIZE_0, KERNELS - 1);
    emit(p, RK3588_DPU_WDMA_SIZE_1, (HEIGHT - 1) << 16 | (WIDTH - 1));
    emit(p, RK3588_DPU_BN_CFG, 0x53);
    emit(p, RK3588_DPU_EW_CFG, 0x383);
    emit(p, RK3588_DPU_EW_CVT_SCALE_VALUE, 1);
    emit(p, RK3588_DPU_OUT_CVT_OFFSET, OFFSET);
    emit(p, RK3588_DPU_OUT_CVT_SCALE, SCALE);
    emit(p, RK3588_DPU_OUT_CVT_SHIFT, SHIFT);
    emit(p, RK3588_DPU_SURFACE_ADD, 2 * WIDTH * HEIGHT * 16);
    emit(p, RK3588_DPU_RDMA_DATA_CUBE_WIDTH, WIDTH - 1);
    emit(p, RK3588_DPU_RDMA_DATA_CUBE_HEIGHT, HEIGHT - 1);
    emit(p, RK3588_DPU_RDMA_DATA_CUBE_CHANNEL, KERNELS - 1);
    emit(p, RK3588_DPU_RDMA_BRDMA_CFG, 2);
    emit(p, RK3588_DPU_RDMA_BS_BASE_ADDR, BIAS);
    emit(p, RK3588_DPU_RDMA_ERDMA_CFG, 1);
    emit(p, RK3588_DPU_RDMA_FEATURE_MODE_CFG, 0x7810);
}

static unsigned differences(const Shape *s)
{
    unsigned wrong = 0;

    for (int k = 0; k < KERNELS; k++) {
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                int8_t got = bytes(OUTPUT)[((k / 16 * HEIGHT + y) * WIDTH + x) * 16 + k % 16];
                int8_t want = expected(s, k, y, x);

                if (got != want && !wrong++) {
                    print("# kernel %d, row %d, column %d: expected %d, got %d\n", k, y, x, want,
                          got);
                }
            }
        }
    }
    return wrong;
}

static void test(unsigned core, const Shape *s)
{
    Program p = {(uint64_t *)(uintptr_t)BOARD_WORK, 0};

    fill(s);
    emit_cna(&p, s);
    emit_dpu(&p);
    emit_tail(&p, 0, 0, 0x1d);
    npu_start(core, BOARD_WORK, program_amount(&p), 1, 0x300);
    report(npu_finish(core, 0x300), "core %u: %dx%d convolution completes", core, s->kernel,
           s->kernel);
    report(differences(s) == 0, "core %u: %dx%d convolution equals plain loops", core, s->kernel,
           s->kernel);
}

int main(void)
{
    static const Shape one = {1, 0}, three = {3, 1};

    for (unsigned core = 0; core < BOARD_CORES; core++) {
        test(core, &one);
        test(core, &three);
    }
    return 0;
}

#else

int main(void)
{
    print("1..0 # SKIP the convolution program is written in RK3588's registers\n");
    for (;;) {
        finish();
    }
}

#endif
