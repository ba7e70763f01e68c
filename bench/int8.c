/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The int8 arithmetic beside others, one thread, all in one process and interleaved:
 *   MobileNetV1's convolutions        libXNNPACK's qs8 operators (when the host has the library)
 *   depthwise 3x3 layers              oneDNN, s8 by s8 to s32 (when the host has it)
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
#ifdef HAVE_ONEDNN
#include "onednn.h"
#endif
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

/* Medians of the runs and of the peaks measured between them. */
static double layer_rate(BenchLayer *layer, BenchMemory *memory, unsigned isa, unsigned runs,
                         double *peak)
{
    double rates[MAX_RUNS], peaks[MAX_RUNS];

    bench_layer_run(layer, memory);
    for (unsigned run = 0; run < runs; run++) {
        uint64_t start = bench_thread_ns();

        bench_layer_run(layer, memory);
        rates[run] = layer->macs / (double)(bench_thread_ns() - start);
        peaks[run] = bench_peak_int8(isa);
    }
    *peak = bench_median(peaks, runs);
    return bench_median(rates, runs);
}

static void bench_layers(BenchReport *report, BenchMemory *memory, const RknpuConfig *config,
                         unsigned runs)
{
    static const struct {
        unsigned channels, kernels, size, kernel;
    } shapes[] = {
        { 64, 128, 56, 1 }, { 256, 256, 28, 1 }, { 512, 512, 14, 1 }, { 1024, 1024, 7, 1 },
        { 64, 64, 56, 3 },  { 128, 128, 28, 3 }, { 256, 256, 14, 3 }, { 512, 512, 7, 3 },
    };
    const char *what = bench_peak_name(config->force_isa);

    for (unsigned i = 0; i < G_N_ELEMENTS(shapes); i++) {
        unsigned kernel = shapes[i].kernel, size = shapes[i].size;
        g_autofree char *name = g_strdup_printf("%ux%u %ux%ux%u -> %u", kernel, kernel, size, size,
                                                shapes[i].channels, shapes[i].kernels);
        BenchLayer layer = { .name = name, .channels = shapes[i].channels, .size = size };
        uint32_t mark = memory->next;
        double rate, peak;

        layer.kernels = shapes[i].kernels;
        layer.kernel = kernel;
        layer.stride = 1;
        layer.pad = kernel / 2;
        layer.out_size = size;
        bench_layer_load(&layer, memory, config);
        rate = layer_rate(&layer, memory, config->force_isa, runs, &peak);
        bench_report_add(report, name, rate, "GMAC/s", peak > 0 ? what : NULL, peak);
        memory->next = mark;
    }
}

/* Depthwise layers: ours ends in requantised bytes, oneDNN's in sums. */
static void bench_depthwise(BenchReport *report, BenchMemory *memory, const RknpuConfig *config,
                            unsigned runs)
{
    static const struct {
        unsigned channels, size, stride;
    } shapes[] = { { 32, 112, 1 }, { 128, 56, 1 }, { 512, 14, 1 }, { 256, 28, 2 } };

    for (unsigned i = 0; i < G_N_ELEMENTS(shapes); i++) {
        unsigned channels = shapes[i].channels, size = shapes[i].size, stride = shapes[i].stride;
        g_autofree char *name =
            g_strdup_printf("depthwise 3x3 %ux%ux%u, stride %u", size, size, channels, stride);
        double ours[MAX_RUNS], other[MAX_RUNS];
        BenchLayer layer = { .name = name,
                             .channels = channels,
                             .kernels = channels,
                             .size = size,
                             .kernel = 3,
                             .stride = stride,
                             .pad = stride == 1,
                             .out_size = size / stride,
                             .depthwise = true };
        uint32_t mark = memory->next;
        const char *reference = NULL;

        bench_layer_load(&layer, memory, config);
        bench_layer_run(&layer, memory);
#ifdef HAVE_ONEDNN
        BenchDnn *dnn = bench_dnn_new(&layer, config->force_isa);

        reference = "oneDNN s8s8s32";
        bench_dnn_run(dnn);
#endif
        for (unsigned run = 0; run < runs; run++) {
            uint64_t start = bench_thread_ns();

            bench_layer_run(&layer, memory);
            ours[run] = (double)(bench_thread_ns() - start) / 1e3;
#ifdef HAVE_ONEDNN
            start = bench_thread_ns();
            bench_dnn_run(dnn);
            other[run] = (double)(bench_thread_ns() - start) / 1e3;
#endif
        }
        bench_report_add(report, name, bench_median(ours, runs), "us", reference,
                         reference ? bench_median(other, runs) : NAN);
#ifdef HAVE_ONEDNN
        bench_dnn_free(dnn);
#endif
        memory->next = mark;
    }
}

/* The convolution as one writes it first: plain loops over the tensors as they lie in memory. */
static int32_t naive_conv(const BenchLayer *l, const int8_t *input, const int8_t *weights)
{
    unsigned size = l->out_size;
    int32_t check = 0;

    for (unsigned k = 0; k < l->kernels; k++) {
        for (unsigned p = 0; p < size * size; p++) {
            int32_t acc = 0, sum = 0;

            for (unsigned t = 0; t < l->kernel * l->kernel; t++) {
                int y = (int)(p / size + t / l->kernel) - (int)l->pad;
                int x = (int)(p % size + t % l->kernel) - (int)l->pad;

                for (unsigned c = 0; c < l->channels; c++) {
                    bool inside = y >= 0 && y < (int)size && x >= 0 && x < (int)size;
                    size_t at = ((c / 16 * size + y) * size + x) * 16 + c % 16;
                    size_t w = (k / 32 * (l->channels / 32) + c / 32) * l->kernel * l->kernel;
                    int v = inside ? input[at] : -128;

                    acc += v * weights[((w + t) * 32 + k % 32) * 32 + c % 32];
                    sum += v;
                }
            }
            check ^= acc + sum;
        }
    }
    return check;
}

/* Portable C beside the plain loops, on a small layer. */
static void bench_portable(BenchReport *report, BenchMemory *memory, unsigned runs)
{
    int32_t keep = 0;
    RknpuConfig config = { .force_isa = RKNPU_ISA_PORTABLE };
    BenchLayer layer = { .name = "portable", .channels = 64, .kernels = 64, .size = 14 };
    double ours, best = INFINITY, peak;

    layer.kernel = 3;
    layer.stride = 1;
    layer.pad = 1;
    layer.out_size = 14;
    bench_layer_load(&layer, memory, &config);
    ours = layer_rate(&layer, memory, RKNPU_ISA_PORTABLE, runs, &peak);
    for (unsigned run = 0; run < 3; run++) {
        uint64_t start = bench_thread_ns();

        keep ^= naive_conv(&layer, (int8_t *)memory->bytes + layer.input,
                           (int8_t *)memory->bytes + layer.weights);
        best = MIN(best, (double)(bench_thread_ns() - start));
    }
    bench_report_add(report, "portable kernels, 3x3 14x14x64 -> 64", ours, "GMAC/s", "plain loops",
                     layer.macs / best);
    __asm__ volatile("" ::"r"(keep)); /* the loops have a result, so they stay */
}

int main(int argc, char **argv)
{
    unsigned runs = bench_runs(argc, argv, 21, MAX_RUNS);
    RknpuConfig config = { .force_isa = rknpu_isa_choose(bench_isa(argc, argv)) };
    BenchMemory memory = { .bytes = g_malloc0(MEMORY), .size = MEMORY };
    BenchReport *report = bench_report_new("int8");

    printf("int8 kernels: %s\n", rknpu_isa_name(config.force_isa));
    bench_net(report, &memory, &config, runs);
    bench_layers(report, &memory, &config, runs);
    bench_depthwise(report, &memory, &config, runs);
    bench_portable(report, &memory, runs);
    g_free(memory.bytes);
    return bench_report_finish(report);
}
