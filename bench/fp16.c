/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fp16 matrix products beside the host's fused multiply-adds. A product is the convolution that
 * open programs make of it (mtx512/rk3588-npu): W = 1, H = M, C = K, kernels = N.
 *
 *   fp16 [RUNS [ISA]]
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/isa.h"
#include "layer.h"
#include "mem.h"
#include "peak.h"
#include "report.h"
#include "rknpu/regs.h"
#include "types.h"

#define MEMORY   (64u << 20)
#define MAX_RUNS 101

enum { INPUT = 0x100000, WEIGHTS = 0x1000000, OUTPUT = 0x2000000 };

typedef struct Product {
    const char *name;
    unsigned m, k, n;
    RknpuType out;
} Product;

static void set(RknpuJob *job, uint32_t offset, uint32_t value)
{
    static const RknpuBlock block_of_page[8] = {
        [1] = RKNPU_CNA,
        [3] = RKNPU_CORE,
        [4] = RKNPU_DPU,
        [5] = RKNPU_DPU_RDMA,
    };

    job->reg[block_of_page[offset >> 12]][(offset & 0xfff) / 4] = value;
}

static void program(RknpuJob *job, const Product *p)
{
    uint32_t atoms = p->out == RKNPU_FP16 ? 2 : 4;

    set(job, RK3588_CNA_CONV_CON1, RKNPU_FP16 << 4 | RKNPU_FP16 << 7);
    set(job, RK3588_CNA_CONV_CON3, 1 | 1 << 3);
    set(job, RK3588_CNA_DATA_SIZE0, 1 << 16 | p->m);
    set(job, RK3588_CNA_DATA_SIZE1, (p->k - 1) << 16 | p->k);
    set(job, RK3588_CNA_WEIGHT_SIZE0, 2 * p->k * p->n);
    set(job, RK3588_CNA_WEIGHT_SIZE1, 2 * p->k);
    set(job, RK3588_CNA_WEIGHT_SIZE2, 1 << 24 | 1 << 16 | p->n);
    set(job, RK3588_CNA_CVT_CON0, 0xb);
    set(job, RK3588_CNA_FEATURE_DATA_ADDR, INPUT);
    set(job, RK3588_CNA_DMA_CON1, 4);
    set(job, RK3588_CNA_DMA_CON2, p->m - 4);
    set(job, RK3588_CNA_FC_DATA_SIZE0, 1 << 16 | p->m);
    set(job, RK3588_CNA_DCOMP_ADDR0, WEIGHTS);
    set(job, RK3588_CORE_MISC_CFG, RKNPU_FP16 << 8);
    set(job, RK3588_DPU_FEATURE_MODE_CFG, 0x1e4);
    set(job, RK3588_DPU_DATA_FORMAT, (uint32_t)p->out << 29 | RKNPU_FP16 << 26 | RKNPU_FP16);
    set(job, RK3588_DPU_DST_BASE_ADDR, OUTPUT);
    set(job, RK3588_DPU_DST_SURF_STRIDE, p->m * 16);
    set(job, RK3588_DPU_DATA_CUBE_HEIGHT, p->m - 1);
    set(job, RK3588_DPU_DATA_CUBE_CHANNEL, (p->n - 1) << 16 | (p->n - 1));
    set(job, RK3588_DPU_BS_CFG, 0x53);
    set(job, RK3588_DPU_BS_OW_CFG, (atoms - 1) << 2 | 2);
    set(job, RK3588_DPU_BN_CFG, 0x53);
    set(job, RK3588_DPU_EW_CFG, 0x383);
    set(job, RK3588_DPU_OUT_CVT_SCALE, 0x10001);
    set(job, RK3588_DPU_SURFACE_ADD, p->m * 16 * atoms);
}

static void run(RknpuJob *job, BenchMemory *memory)
{
    RknpuHost host = bench_host();
    RknpuTaskResult result;

    job->mem = rknpu_mem_new(&host, memory, 0, 0);
    result = rknpu_task_run(job);
    rknpu_mem_release(job->mem);
    rknpu_mem_free(job->mem);
    if (result != RKNPU_TASK_OK) {
        fprintf(stderr, "fp16: a task ended with result %d\n", result);
        exit(1);
    }
}

/* Medians of the runs and of the peaks between them. */
static void measure(BenchReport *report, const Product *p, BenchMemory *memory,
                    const RknpuConfig *config, unsigned runs)
{
    RknpuJob *job = g_new0(RknpuJob, 1);
    double rates[MAX_RUNS], peaks[MAX_RUNS], peak;

    job->chip = &rknpu_rk3588;
    job->config = config;
    job->unit_mask = RKNPU_UNIT_CNA | RKNPU_UNIT_CORE | RKNPU_UNIT_DPU;
    program(job, p);
    run(job, memory);
    for (unsigned i = 0; i < runs; i++) {
        uint64_t start = bench_thread_ns();

        run(job, memory);
        rates[i] = (double)p->m * p->k * p->n / (double)(bench_thread_ns() - start);
        peaks[i] = bench_peak_fma(config->force_isa);
    }
    peak = bench_median(peaks, runs);
    bench_report_add(report, p->name, bench_median(rates, runs), "GMAC/s",
                     peak > 0 ? "fp32 FMA peak" : NULL, peak);
    g_free(job);
}

int main(int argc, char **argv)
{
    static const Product products[] = {
        { "512x1024x1024 fp16 -> fp32", 512, 1024, 1024, RKNPU_FP32 },
        { "512x1024x1024 fp16 -> fp16", 512, 1024, 1024, RKNPU_FP16 },
        { "128x1024x2048 fp16 -> fp32", 128, 1024, 2048, RKNPU_FP32 },
        { "1x4096x1024 fp16 -> fp32", 1, 4096, 1024, RKNPU_FP32 },
    };
    unsigned runs = bench_runs(argc, argv, 21, MAX_RUNS);
    RknpuConfig config = { .force_isa = rknpu_isa_choose(bench_isa(argc, argv)) };
    BenchMemory memory = { .bytes = g_malloc0(MEMORY), .size = MEMORY };
    BenchReport *report = bench_report_new("fp16");

    for (size_t i = 0; i < MEMORY / 2; i++) {
        int16_t number;
        uint16_t bits;

        bench_random(&number, sizeof(number));
        bits = rknpu_float_to_fp16((float)(number % 2001) / 1024);

        memory.bytes[2 * i] = (uint8_t)bits;
        memory.bytes[2 * i + 1] = (uint8_t)(bits >> 8);
    }
    printf("fp16 kernels: %s\n", rknpu_isa_name(config.force_isa));
    for (unsigned i = 0; i < G_N_ELEMENTS(products); i++) {
        measure(report, &products[i], &memory, &config, runs);
    }
    g_free(memory.bytes);
    return bench_report_finish(report);
}
