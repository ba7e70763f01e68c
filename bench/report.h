/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of a benchmark: a table on the terminal, build/bench/NAME.json for machines. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stddef.h>
#include <stdint.h>

typedef struct BenchReport BenchReport;

/* Folder of the build: $RKNPU_BUILD, or "build". */
const char *bench_build(void);

/* Writes to bench/NAME.json in the build folder. Never fails. */
BenchReport *bench_report_new(const char *name);

/*
 * One line: `value` in `unit`, beside `reference_value` of `reference` in the same unit; reference
 * NULL = nothing to compare with. The ratio is value / reference_value.
 */
void bench_report_add(BenchReport *report, const char *name, double value, const char *unit,
                      const char *reference, double reference_value);

/* Writes the file and frees. 0, or 1 when the file cannot be written (said on stderr). */
int bench_report_finish(BenchReport *report);

/* Random bytes, the same in every run. */
void bench_random(void *to, size_t n);

/* A number of runs from the command line, within [1, most]; `usual` without one. */
unsigned bench_runs(int argc, char **argv, unsigned usual, unsigned most);

/* CPU time of this thread in nanoseconds. */
uint64_t bench_thread_ns(void);

/* Median of n values; sorts them. */
double bench_median(double *values, size_t n);

#endif /* BENCH_REPORT_H */
