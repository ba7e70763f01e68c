/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MobileNetV1 through Teflon in the guest, end to end, beside the same on the guest's CPU, and
 * where the time of the former goes. Times are the guest's.
 *
 *   teflon [RUNS]
 */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "report.h"

#define LIMIT_S  900
#define MAX_RUNS 500
#define CPU_RUNS 5

#define MODEL "/models/mobilenet_v1_1.0_224_quant.tflite"
#define RUN   "tflite-run --input /models/grace_hopper.ppm --repeat %u " MODEL

typedef struct Seconds {
    double user, kernel;
} Seconds;

/* What busybox's time prints: "user 1m 2.03s" and so on, after *text; moves *text behind it. */
static double take_time(const char **text, const char *label)
{
    const char *at = *text ? strstr(*text, label) : NULL;
    char *end;
    double minutes;

    if (!at) {
        *text = NULL;
        return NAN;
    }
    minutes = g_ascii_strtod(at + strlen(label), &end);
    if (*end == 'm') {
        minutes = minutes * 60 + g_ascii_strtod(end + 1, &end);
    }
    *text = end;
    return minutes;
}

static Seconds take_seconds(const char **text)
{
    Seconds s;

    s.user = take_time(text, "user\t");
    s.kernel = take_time(text, "sys\t");
    return s;
}

int main(int argc, char **argv)
{
    unsigned runs = MAX(bench_runs(argc, argv, 200, MAX_RUNS), 2);
    g_autofree char *emu = g_build_filename(bench_build(), "rknpu-emu", NULL);
    g_autofree char *script = g_strdup_printf("npu='--delegate /usr/lib/teflon/libteflon.so';"
                                              "time " RUN " $npu; time " RUN " $npu; " RUN,
                                              1, runs, CPU_RUNS);
    const char *command[] = { emu,   "run", "--smp", "1",  "--stats", "--timeout",
                              "600", "--",  "sh",    "-c", script,    NULL };
    g_autofree char *out = NULL, *err = NULL, *text = NULL;
    BenchReport *report = bench_report_new("teflon");
    const char *rest, *last;
    Seconds once, all;
    double npu, cpu, busy, user, kernel;

    if (!bench_capture(command, LIMIT_S, &out, &err)) {
        fputs(err ? err : "", stderr);
        return 1;
    }
    text = g_strconcat(out, err, NULL);
    rest = text;
    once = take_seconds(&rest);
    all = take_seconds(&rest);
    last = g_strrstr(text, "NPU time:");
    npu = last ? bench_number_after(last, "median ") : NAN;
    last = strstr(text, "CPU time:");
    cpu = last ? bench_number_after(last, "median ") : NAN;
    last = strstr(text, " MMAC in ");
    busy = last ? bench_number_after(last, " MMAC in ") / (runs + 1) : NAN;
    user = (all.user - once.user) * 1e3 / (runs - 1);
    kernel = (all.kernel - once.kernel) * 1e3 / (runs - 1);
    if (isnan(npu + cpu + busy + user + kernel)) {
        fprintf(stderr, "teflon: the guest's output lacks a result:\n%s", text);
        return 1;
    }
    bench_report_add(report, "MobileNetV1 through Teflon in the guest", npu, "ms", "guest's CPU",
                     cpu);
    bench_report_add(report, "  times as fast", cpu / npu, "", NULL, NAN);
    bench_report_add(report, "  NPU at work", busy, "ms", NULL, NAN);
    bench_report_add(report, "  guest's kernel, for this program", kernel, "ms", NULL, NAN);
    bench_report_add(report, "  guest's program itself", user, "ms", NULL, NAN);
    bench_report_add(report, "  interrupts, other threads, waiting", npu - busy - kernel - user,
                     "ms", NULL, NAN);
    return bench_report_finish(report);
}
