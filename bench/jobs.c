/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Three independent jobs on three cores, and jobs that several host threads compute, beside one job
 * at a time on one thread; through the public interface: a command stream each, the core's worker
 * thread, its interrupt. Time that passes, not CPU time.
 *
 *   jobs [RUNS]
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

#include "layer.h"
#include "report.h"
#include "rknpu/npu.h"
#include "rknpu/regs.h"

#define MEMORY   (16u << 20)
#define CORES    3
#define JOBS     30 /* of one measurement, a multiple of the cores */
#define MAX_RUNS 100
#define LIMIT_US (30 * G_USEC_PER_SEC)

enum { INTERRUPTS = 0x300, TASK_CON_ONE_TASK = 0x7001 };

typedef struct Bench {
    BenchMemory memory; /* first: layer.c's host callbacks get this struct as theirs */
    RknpuNpu *npu;
    BenchLayer layer[CORES];
    uint32_t program[CORES], amount[CORES];
    GMutex lock;
    GCond changed;
    bool finished[CORES];
} Bench;

static void irq(void *opaque, unsigned core)
{
    Bench *b = opaque;

    g_mutex_lock(&b->lock);
    if (rknpu_irq_level(b->npu, core)) {
        b->finished[core] = true;
        g_cond_signal(&b->changed);
    }
    g_mutex_unlock(&b->lock);
}

/* As Rockchip's driver starts a job of one task. */
static void start(Bench *b, unsigned core)
{
    const struct {
        uint32_t offset, value;
    } writes[] = {
        { RK3588_CNA_S_POINTER, 0xe + (core << 28) },
        { RK3588_CORE_S_POINTER, 0xe + (core << 28) },
        { RK3588_PC_BASE_ADDRESS, b->program[core] },
        { RK3588_PC_REGISTER_AMOUNTS, b->amount[core] },
        { RK3588_PC_INTERRUPT_MASK, INTERRUPTS },
        { RK3588_PC_INTERRUPT_CLEAR, INTERRUPTS },
        { RK3588_PC_TASK_CON, TASK_CON_ONE_TASK },
        { RK3588_PC_TASK_DMA_BASE_ADDR, 0 },
        { RK3588_PC_OPERATION_ENABLE, 1 },
        { RK3588_PC_OPERATION_ENABLE, 0 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(writes); i++) {
        rknpu_write(b->npu, core, writes[i].offset, writes[i].value);
    }
}

/* Waits for a job of the first `cores` cores to end and returns its core. */
static unsigned wait_for_one(Bench *b, unsigned cores)
{
    gint64 end = g_get_monotonic_time() + LIMIT_US;
    unsigned core = 0;

    g_mutex_lock(&b->lock);
    while (!b->finished[core]) {
        core++;
        if (core == cores) {
            if (!g_cond_wait_until(&b->changed, &b->lock, end)) {
                fprintf(stderr, "jobs: waited 30 s for an interrupt of core 0 to %u\n", cores - 1);
                exit(1);
            }
            core = 0;
        }
    }
    b->finished[core] = false;
    g_mutex_unlock(&b->lock);
    rknpu_write(b->npu, core, RK3588_PC_INTERRUPT_CLEAR, INTERRUPTS);
    return core;
}

/* Jobs a second with `cores` cores kept busy. */
static double rate(Bench *b, unsigned cores)
{
    gint64 begin = g_get_monotonic_time();

    for (unsigned core = 0; core < cores; core++) {
        start(b, core);
    }
    for (unsigned done = 1; done <= JOBS; done++) {
        unsigned core = wait_for_one(b, cores);

        if (done + cores <= JOBS) {
            start(b, core);
        }
    }
    return JOBS * 1e6 / (double)(g_get_monotonic_time() - begin);
}

static void close_bench(Bench *b)
{
    rknpu_free(b->npu);
    g_free(b->memory.bytes);
}

static void open_bench(Bench *b, const RknpuConfig *config)
{
    RknpuHost host = bench_host();

    host.irq = irq;
    b->memory = (BenchMemory){ .bytes = g_malloc0(MEMORY), .size = MEMORY };
    b->npu = rknpu_new(&rknpu_rk3588, &host, b, config);
    for (unsigned core = 0; core < CORES; core++) {
        b->layer[core] = (BenchLayer){ .name = "3x3 28x28x128 -> 128",
                                       .channels = 128,
                                       .kernels = 128,
                                       .size = 28,
                                       .kernel = 3,
                                       .stride = 1,
                                       .pad = 1,
                                       .out_size = 28 };
        bench_layer_load(&b->layer[core], &b->memory, config);
        b->program[core] = bench_layer_program(&b->layer[core], &b->memory, &b->amount[core]);
    }
}

int main(int argc, char **argv)
{
    unsigned runs = bench_runs(argc, argv, 15, MAX_RUNS);
    static double one[MAX_RUNS], three[MAX_RUNS], helped[MAX_RUNS];
    static Bench b, team;
    RknpuConfig config = { .threads = 1 }, many = { .threads = MIN(g_get_num_processors(), 8) };
    g_autofree char *title = g_strdup_printf("one job at a time on %u threads", many.threads);
    BenchReport *report = bench_report_new("jobs");

    open_bench(&b, &config);
    open_bench(&team, &many);
    rate(&b, CORES);
    rate(&team, 1);
    for (unsigned run = 0; run < runs; run++) {
        one[run] = rate(&b, 1);
        three[run] = rate(&b, CORES);
        helped[run] = rate(&team, 1);
    }
    printf("%u processors\n", g_get_num_processors());
    bench_report_add(report, "three jobs on three cores", bench_median(three, runs), "jobs/s",
                     "one job at a time", bench_median(one, runs));
    bench_report_add(report, title, bench_median(helped, runs), "jobs/s", "one job at a time",
                     bench_median(one, runs));
    close_bench(&b);
    close_bench(&team);
    return bench_report_finish(report);
}
