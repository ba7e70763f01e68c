/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layer.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/isa.h"
#include "mem.h"
#include "report.h"
#include "rknpu/regs.h"

#define OW (-23) /* 0x80 - zero point of the weights */

static bool map(void *opaque, unsigned core, uint32_t iova, uint64_t len, bool write,
                RknpuSpan *span)
{
    BenchMemory *memory = opaque;

    if (iova >= memory->size) {
        return false;
    }
    *span = (RknpuSpan){
        .host = memory->bytes + iova,
        .iova = iova,
        .phys = iova,
        .len = MIN(len, memory->size - iova),
    };
    return true;
}

static void unmap(void *opaque, unsigned core, const RknpuSpan *span, bool written) {}

unsigned bench_isa(int argc, char **argv)
{
    unsigned isa = RKNPU_ISA_BEST;

    if (argc > 2 && !rknpu_isa_by_name(argv[2], &isa)) {
        fprintf(stderr, "%s: this host or build has no kernels called '%s'\n", argv[0], argv[2]);
        exit(2);
    }
    return isa;
}

RknpuHost bench_host(void)
{
    return (RknpuHost){ .map = map, .unmap = unmap };
}

static uint32_t reserve(BenchMemory *memory, uint64_t bytes)
{
    uint32_t at = memory->next;

    if (at + bytes > memory->size) {
        fprintf(stderr, "bench: %llu bytes of memory are too few\n",
                (unsigned long long)memory->size);
        exit(1);
    }
    memory->next = (uint32_t)((at + bytes + 4095) & ~4095ull);
    return at;
}

static const unsigned pages[] = { 1, 3, 4, 5 };
static const RknpuBlock block_of_page[] = {
    [1] = RKNPU_CNA,
    [3] = RKNPU_CORE,
    [4] = RKNPU_DPU,
    [5] = RKNPU_DPU_RDMA,
};

static void set(BenchLayer *l, uint32_t offset, uint32_t value)
{
    l->job.reg[block_of_page[offset >> 12]][(offset & 0xfff) / 4] = value;
}

static void set_cna(BenchLayer *l)
{
    unsigned taps = l->kernel * l->kernel;

    set(l, RK3588_CNA_CONV_CON1, l->depthwise ? 3 : 0);
    set(l, RK3588_CNA_CONV_CON3, l->stride | l->stride << 3);
    set(l, RK3588_CNA_DATA_SIZE0, l->size << 16 | l->size);
    set(l, RK3588_CNA_DATA_SIZE1, (l->channels - 1) << 16 | l->channels);
    set(l, RK3588_CNA_WEIGHT_SIZE0, taps * l->channels * (l->depthwise ? 1 : l->kernels));
    set(l, RK3588_CNA_WEIGHT_SIZE1, taps * l->channels);
    set(l, RK3588_CNA_WEIGHT_SIZE2,
        l->kernel << 24 | l->kernel << 16 | (l->depthwise ? 1 : l->kernels));
    set(l, RK3588_CNA_CVT_CON0, 0xb);
    set(l, RK3588_CNA_PAD_CON0, l->pad << 4 | l->pad);
    set(l, RK3588_CNA_PAD_CON1, 0xffffff80);
    set(l, RK3588_CNA_FEATURE_DATA_ADDR, l->input);
    set(l, RK3588_CNA_DMA_CON1, 4 * l->size);
    set(l, RK3588_CNA_DMA_CON2, (l->size * l->size - 4 * l->size) & 0x0fffffff);
    set(l, RK3588_CNA_FC_DATA_SIZE0, l->size << 16 | l->size);
    set(l, RK3588_CNA_DCOMP_ADDR0, l->weights);
    set(l, RK3588_CORE_MISC_CFG, l->depthwise ? 3 : 1);
}

static void set_dpu(BenchLayer *l)
{
    unsigned channels = (l->kernels + (l->depthwise ? 63 : 31)) & ~(l->depthwise ? 63u : 31u);
    unsigned e = l->depthwise ? 3 : 1;
    unsigned surface = l->out_size * l->out_size * 16;

    set(l, RK3588_DPU_FEATURE_MODE_CFG, l->depthwise ? 0x1fc : 0x1e4);
    set(l, RK3588_DPU_DST_BASE_ADDR, l->output);
    set(l, RK3588_DPU_DST_SURF_STRIDE, surface);
    set(l, RK3588_DPU_DATA_CUBE_WIDTH, l->out_size - 1);
    set(l, RK3588_DPU_DATA_CUBE_HEIGHT, l->out_size - 1);
    set(l, RK3588_DPU_DATA_CUBE_CHANNEL, (l->kernels - 1) << 16 | (channels - 1));
    set(l, RK3588_DPU_BS_CFG, 0x20150);
    set(l, RK3588_DPU_BS_OW_CFG, e << 2 | e << 5 | e << 8);
    set(l, RK3588_DPU_BS_OW_OP, (uint16_t)OW);
    set(l, RK3588_DPU_BN_CFG, 0x53);
    set(l, RK3588_DPU_EW_CFG, 0x383);
    set(l, RK3588_DPU_OUT_CVT_OFFSET, 0xffffff80);
    set(l, RK3588_DPU_OUT_CVT_SCALE, 0x7c8d);
    set(l, RK3588_DPU_OUT_CVT_SHIFT, 22);
    set(l, RK3588_DPU_SURFACE_ADD, surface * (e + 1));
    set(l, RK3588_DPU_RDMA_BRDMA_CFG, 2);
    set(l, RK3588_DPU_RDMA_BS_BASE_ADDR, l->bias);
    set(l, RK3588_DPU_RDMA_ERDMA_CFG, 1);
}

/* Weights of padding channels are -OW, so that they add nothing. */
static void neutralize(BenchLayer *l, uint8_t *weights, uint64_t bytes)
{
    for (uint64_t i = 0; l->real_channels && i < bytes; i++) {
        if (i % l->channels >= l->real_channels) {
            weights[i] = (uint8_t)-OW;
        }
    }
}

void bench_layer_load(BenchLayer *l, BenchMemory *memory, const RknpuConfig *config)
{
    uint64_t input = (uint64_t)l->size * l->size * l->channels;
    uint64_t weights =
        (uint64_t)l->kernel * l->kernel * l->channels * (l->depthwise ? 1 : l->kernels);
    unsigned channels = (l->kernels + 63) & ~63u;

    l->input = reserve(memory, input);
    l->weights = reserve(memory, weights);
    l->bias = reserve(memory, channels * 4);
    l->output = reserve(memory, (uint64_t)l->out_size * l->out_size * channels);
    l->macs = (double)l->out_size * l->out_size * l->kernel * l->kernel * l->kernels *
              (l->depthwise       ? 1
               : l->real_channels ? l->real_channels
                                  : l->channels);
    bench_random(memory->bytes + l->input, input);
    bench_random(memory->bytes + l->weights, weights);
    neutralize(l, memory->bytes + l->weights, weights);
    for (unsigned k = 0; k < channels; k++) {
        int16_t bits;
        int32_t bias;

        bench_random(&bits, sizeof(bits));
        bias = bits / 16;
        memcpy(memory->bytes + l->bias + 4 * k, &bias, sizeof(bias));
    }
    l->job.chip = &rknpu_rk3588;
    l->job.config = config;
    l->job.unit_mask = 0x1d;
    set_cna(l);
    set_dpu(l);
}

static uint64_t command(unsigned target, uint32_t offset, uint32_t value)
{
    return (uint64_t)target << 48 | (uint64_t)value << 16 | offset;
}

uint32_t bench_layer_program(const BenchLayer *l, BenchMemory *memory, uint32_t *amount)
{
    uint32_t at = reserve(memory, (G_N_ELEMENTS(pages) * RKNPU_BLOCK_WORDS + 8) * sizeof(uint64_t));
    uint64_t *words = (uint64_t *)(memory->bytes + at);
    unsigned n = 0;

    words[n++] = command(0x1001, RK3588_DPU_S_POINTER, 0xe);
    words[n++] = command(0x2001, RK3588_DPU_RDMA_S_POINTER, 0xe);
    for (unsigned p = 0; p < G_N_ELEMENTS(pages); p++) {
        for (unsigned i = 0; i < RKNPU_BLOCK_WORDS; i++) {
            uint32_t value = l->job.reg[block_of_page[pages[p]]][i];

            if (value) {
                words[n++] = command(0x100u << pages[p] | 1, pages[p] << 12 | 4 * i, value);
            }
        }
    }
    words[n++] = 0; /* no next program */
    words[n++] = command(0x101, RK3588_PC_REGISTER_AMOUNTS, 0);
    words[n++] = command(0x41, 0, 0);
    words[n++] = command(0x81, RK3588_PC_OPERATION_ENABLE, l->job.unit_mask);
    *amount = (n + 1) / 2 - 1;
    return at;
}

void bench_layer_run(BenchLayer *l, BenchMemory *memory)
{
    RknpuHost host = bench_host();
    RknpuTaskResult r;

    l->job.mem = rknpu_mem_new(&host, memory, 0, 0);
    r = rknpu_task_run(&l->job);
    rknpu_mem_release(l->job.mem);
    rknpu_mem_free(l->job.mem);
    if (r != RKNPU_TASK_OK) {
        fprintf(stderr, "bench: layer %s failed with result %d\n", l->name, r);
        exit(1);
    }
}

unsigned bench_mobilenet(BenchLayer *layers)
{
    static const struct {
        unsigned channels, kernels, stride;
    } blocks[] = {
        { 32, 64, 1 },   { 64, 128, 2 },   { 128, 128, 1 },   { 128, 256, 2 }, { 256, 256, 1 },
        { 256, 512, 2 }, { 512, 512, 1 },  { 512, 512, 1 },   { 512, 512, 1 }, { 512, 512, 1 },
        { 512, 512, 1 }, { 512, 1024, 2 }, { 1024, 1024, 1 },
    };
    unsigned n = 0, size = 112;

    layers[n++] = (BenchLayer){ .name = "first",
                                .channels = 16,
                                .kernels = 32,
                                .size = 224,
                                .kernel = 3,
                                .stride = 2,
                                .out_size = 112,
                                .real_channels = 3 };
    for (unsigned i = 0; i < G_N_ELEMENTS(blocks); i++) {
        unsigned out = size / blocks[i].stride;

        layers[n++] = (BenchLayer){ .name = "depthwise",
                                    .channels = blocks[i].channels,
                                    .kernels = blocks[i].channels,
                                    .size = size,
                                    .kernel = 3,
                                    .stride = blocks[i].stride,
                                    .pad = blocks[i].stride == 1,
                                    .out_size = out,
                                    .depthwise = true };
        layers[n++] = (BenchLayer){ .name = "pointwise",
                                    .channels = blocks[i].channels,
                                    .kernels = blocks[i].kernels,
                                    .size = out,
                                    .kernel = 1,
                                    .stride = 1,
                                    .out_size = out };
        size = out;
    }
    layers[n++] = (BenchLayer){ .name = "classes",
                                .channels = 1024,
                                .kernels = 1001,
                                .size = 1,
                                .kernel = 1,
                                .stride = 1,
                                .out_size = 1 };
    return n;
}
