/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct BenchReport {
    char *path;
    GString *json;
};

const char *bench_build(void)
{
    const char *build = g_getenv("RKNPU_BUILD");

    return build ? build : "build";
}

BenchReport *bench_report_new(const char *name)
{
    g_autofree char *folder = g_build_filename(bench_build(), "bench", NULL);
    g_autofree char *file = g_strdup_printf("%s.json", name);
    BenchReport *report = g_new0(BenchReport, 1);

    g_mkdir_with_parents(folder, 0777);
    report->path = g_build_filename(folder, file, NULL);
    report->json = g_string_new("[");
    return report;
}

void bench_report_add(BenchReport *report, const char *name, double value, const char *unit,
                      const char *reference, double reference_value)
{
    g_string_append_printf(report->json,
                           "%s\n  {\"name\": \"%s\", \"value\": %.4g, \"unit\": \"%s\"",
                           report->json->len > 1 ? "," : "", name, value, unit);
    if (reference) {
        printf("%-46s %9.4g %-7s %24s %9.4g  ratio %.3f\n", name, value, unit, reference,
               reference_value, value / reference_value);
        g_string_append_printf(
            report->json, ", \"reference\": \"%s\", \"reference_value\": %.4g, \"ratio\": %.4g}",
            reference, reference_value, value / reference_value);
    } else {
        printf("%-46s %9.4g %s\n", name, value, unit);
        g_string_append(report->json,
                        ", \"reference\": null, \"reference_value\": null, \"ratio\": null}");
    }
    fflush(stdout);
}

int bench_report_finish(BenchReport *report)
{
    g_autoptr(GError) error = NULL;
    int status = 0;

    g_string_append(report->json, "\n]\n");
    if (!g_file_set_contents(report->path, report->json->str, report->json->len, &error)) {
        fprintf(stderr, "bench: %s\n", error->message);
        status = 1;
    }
    g_string_free(report->json, TRUE);
    g_free(report->path);
    g_free(report);
    return status;
}

void bench_random(void *to, size_t n)
{
    static uint32_t state = 1;
    uint8_t *bytes = to;

    for (size_t i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(state >> 24);
    }
}

unsigned bench_runs(int argc, char **argv, unsigned usual, unsigned most)
{
    guint64 runs = usual;

    if (argc > 1 && !g_ascii_string_to_unsigned(argv[1], 10, 1, most, &runs, NULL)) {
        fprintf(stderr, "%s: '%s' is no number of runs from 1 to %u\n", argv[0], argv[1], most);
        exit(2);
    }
    return (unsigned)runs;
}

uint64_t bench_thread_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_median(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), compare);
    return (values[n / 2] + values[(n - 1) / 2]) / 2;
}
