/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time from OPERATION_ENABLE to the interrupt, seen by a bare-metal guest
 * (guest-tests/bare/latency.c): what a task costs beside its arithmetic.
 *
 *   latency [SOURCE-FOLDER]
 */
#include <glib.h>
#include <math.h>
#include <stdio.h>

#include "capture.h"
#include "report.h"

#define LIMIT_S 60
#define CHAIN   32 /* tasks of the guest's long job */

/* The guest's output, or NULL. */
static char *run_guest(const char *source)
{
    const char *build = bench_build();
    g_autofree char *script = g_build_filename(source, "guest-tests", "bare", "build.sh", NULL);
    g_autofree char *image = g_build_filename(build, "bench", "latency.bin", NULL);
    g_autofree char *qemu = g_build_filename(build, "qemu-system-aarch64", NULL);
    const char *compile[] = { script, "rk3588", "latency", image, NULL };
    const char *run[] = { qemu,   "-M",         "rk3588",  "-smp",    "1",     "-m",
                          "1G",   "-display",   "none",    "-serial", "stdio", "-monitor",
                          "none", "-no-reboot", "-kernel", image,     NULL };
    char *out = NULL;

    if (bench_capture(compile, LIMIT_S, &out, NULL)) {
        g_free(out);
        if (bench_capture(run, LIMIT_S, &out, NULL)) {
            return out;
        }
    }
    g_free(out);
    return NULL;
}

int main(int argc, char **argv)
{
    BenchReport *report = bench_report_new("latency");
    g_autofree char *out = run_guest(argc > 1 ? argv[1] : ".");
    double copy, conv, chain;

    if (!out) {
        return 1;
    }
    copy = bench_number_after(out, "latency copy ") / 1e3;
    conv = bench_number_after(out, "latency convolution ") / 1e3;
    chain = bench_number_after(out, "latency chain ") / 1e3;
    if (isnan(copy) || isnan(conv) || isnan(chain)) {
        fprintf(stderr, "latency: the guest's output has no result:\n%s", out);
        return 1;
    }
    bench_report_add(report, "smallest convolution, submit to interrupt", conv, "us",
                     "copy of 16 bytes", copy);
    bench_report_add(report, "  a further convolution of the job", (chain - conv) / (CHAIN - 1),
                     "us", NULL, NAN);
    return bench_report_finish(report);
}
