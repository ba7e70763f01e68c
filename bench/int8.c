/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The int8 arithmetic beside others, one thread, all in one process and interleaved:
 *   MobileNetV1's convolutions        libXNNPACK's qs8 operators (when the host has the library)
 *   1x1 and 3x3 layers, C >= 64       the multiply-add peak of this core, measured here
 *   portable kernels                  a plain scalar loop
 *
 *   int8 [RUNS] [ISA]    ISA: portable, avx2, avx512, neon (default: the best)
 */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/int8.h"
#include "layer.h"
#include "peak.h"
#include "report.h"
#ifdef HAVE_XNNPACK
#include "xnnpack_net.h"
#endif

#define MEMORY   (192u << 20)
#define LAYERS   28
#define MAX_RUNS 200

typedef struct Times {
    double first[MAX_RUNS], depthwise[MAX_RUNS], pointwise[MAX_RUNS], all[MAX_RUNS];
} Times;

/* One inference; milliseconds by kind of layer. */
static void run_net(BenchLayer *layers, unsigned n, BenchMemory *memory, Times *times, unsigned run)
{
    times->first[run] = times->depthwise[run] = times->pointwise[run] = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t start = bench_thread_ns();
        double ms;

        bench_layer_run(&layers[i], memory);
        ms = (double)(bench_thread_ns() - start) / 1e6;
        *(layers[i].depthwise ? &times->depthwise[run]
          : i                 ? &times->pointwise[run]
                              : &times->first[run]) += ms;
    }
    times->all[run] = times->first[run] + times->depthwise[run] + times->pointwise[run];
}

static void bench_net(BenchReport *report, BenchMemory *memory, const RknpuConfig *config,
                      unsigned runs)
{
    static BenchLayer layers[LAYERS];
    static Times times;
    static double other[MAX_RUNS];
    const char *reference = NULL;
    unsigned n = bench_mobilenet(layers);
    double macs = 0, median;

    for (unsigned i = 0; i < n; i++) {
        bench_layer_load(&layers[i], memory, config);
        macs += layers[i].macs;
    }
#ifdef HAVE_XNNPACK
    BenchXnn *xnn = bench_xnn_new(layers, n);

    reference = "XNNPACK qs8";
    bench_xnn_run(xnn);
#endif
    run_net(layers, n, memory, &times, 0);
    for (unsigned run = 0; run < runs; run++) {
        run_net(layers, n, memory, &times, run);
#ifdef HAVE_XNNPACK
        uint64_t start = bench_thread_ns();

        bench_xnn_run(xnn);
        other[run] = (double)(bench_thread_ns() - start) / 1e6;
#endif
    }
#ifdef HAVE_XNNPACK
    bench_xnn_free(xnn);
#endif
    median = bench_median(times.all, runs);
    bench_report_add(report, "MobileNetV1 int8", median, "ms", reference,
                     reference ? bench_median(other, runs) : NAN);
    bench_report_add(report, "MobileNetV1 int8, rate", macs / median / 1e6, "GMAC/s", NULL, NAN);
    bench_report_add(report, "  first layer", bench_median(times.first, runs), "ms", NULL, NAN);
    bench_report_add(report, "  depthwise layers", bench_median(times.depthwise, runs), "ms", NULL,
                     NAN);
    bench_report_add(report, "  pointwise layers", bench_median(times.pointwise, runs), "ms", NULL,
                     NAN);
}

/*
 * Best of the runs, each beside a measurement of the peak: on a host with other work both lose some
 * runs to it, and only the undisturbed ones say what the code does.
 */
static double layer_rate(BenchLayer *layer, BenchMemory *memory, unsigned isa, unsigned runs,
                         double *peak)
{
    double best = INFINITY;

    *peak = 0;
    bench_layer_run(layer, memory);
    for (unsigned run = 0; run < runs; run++) {
        uint64_t start = bench_thread_ns();

        bench_layer_run(layer, memory);
        best = MIN(best, (double)(bench_thread_ns() - start));
        *peak = MAX(*peak, bench_peak_int8(isa));
    }
    return layer->macs / best;
}

static void bench_layers(BenchReport *report, BenchMemory *memory, const RknpuConfig *config,
                         unsigned runs)
{
    static BenchLayer layers[] = {
        {.name = "1x1 56x56x64 -> 128",
         .channels = 64,
         .kernels = 128,
         .size = 56,
         .kernel = 1,
         .stride = 1},
        {.name = "1x1 28x28x256 -> 256",
         .channels = 256,
         .kernels = 256,
         .size = 28,
         .kernel = 1,
         .stride = 1},
        {.name = "1x1 14x14x512 -> 512",
         .channels = 512,
         .kernels = 512,
         .size = 14,
         .kernel = 1,
         .stride = 1},
        {.name = "1x1 7x7x1024 -> 1024",
         .channels = 1024,
         .kernels = 1024,
         .size = 7,
         .kernel = 1,
         .stride = 1},
        {.name = "3x3 56x56x64 -> 64",
         .channels = 64,
         .kernels = 64,
         .size = 56,
         .kernel = 3,
         .stride = 1,
         .pad = 1},
        {.name = "3x3 28x28x128 -> 128",
         .channels = 128,
         .kernels = 128,
         .size = 28,
         .kernel = 3,
         .stride = 1,
         .pad = 1},
        {.name = "3x3 14x14x256 -> 256",
         .channels = 256,
         .kernels = 256,
         .size = 14,
         .kernel = 3,
         .stride = 1,
         .pad = 1},
        {.name = "3x3 7x7x512 -> 512",
         .channels = 512,
         .kernels = 512,
         .size = 7,
         .kernel = 3,
         .stride = 1,
         .pad = 1},
    };
    const char *what = bench_peak_name(config->force_isa);

    for (unsigned i = 0; i < G_N_ELEMENTS(layers); i++) {
        uint32_t mark = memory->next;
        double rate, peak;

        layers[i].out_size = layers[i].size;
        bench_layer_load(&layers[i], memory, config);
        rate = layer_rate(&layers[i], memory, config->force_isa, runs, &peak);
        bench_report_add(report, layers[i].name, rate, "GMAC/s", peak > 0 ? what : NULL, peak);
        memory->next = mark;
    }
}

static unsigned isa_by_name(const char *name)
{
    for (unsigned isa = RKNPU_ISA_PORTABLE; isa < RKNPU_ISAS; isa++) {
        if (g_str_equal(name, rknpu_isa_name(isa)) && rknpu_isa_available(isa)) {
            return isa;
        }
    }
    fprintf(stderr, "int8: this host or build has no kernels called '%s'\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    unsigned runs = bench_runs(argc, argv, 21, MAX_RUNS);
    RknpuConfig config = {.force_isa = rknpu_isa_choose(argc > 2 ? isa_by_name(argv[2]) : 0)};
    BenchMemory memory = {.bytes = g_malloc0(MEMORY), .size = MEMORY};
    BenchReport *report = bench_report_new("int8");

    printf("int8 kernels: %s\n", rknpu_isa_name(config.force_isa));
    bench_net(report, &memory, &config, runs);
    bench_layers(report, &memory, &config, runs);
    g_free(memory.bytes);
    return bench_report_finish(report);
}
