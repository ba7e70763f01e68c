/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the modes of tflite-run share.
 */
#ifndef TFLITE_COMMON_H
#define TFLITE_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include "runner.h"

/* Exit status, as tflite-run documents it. */
enum { GOOD = 0, DIFFERENT = 1, WRONG_USE = 2, FAILED = 3, NOT_TAKEN = 4 };

struct options {
    const char *input, *delegate, *labels, *output, *known;
    bool compare, per_layer, tap;
    unsigned long seed, top, repeat;
    long expect;                /* class, -1 for none */
    double max_diff;            /* -1 for none */
};

/* The whole file, for the caller to free; NULL after a message on stderr. */
void *read_file(const char *path, size_t *size);

/* Fills every input from the options' file or seed. False after a message on stderr. */
bool fill_inputs(struct runner *r, const struct options *o);

/* Compares all outputs, prints a line each unless quiet, and returns the largest difference. */
double compare_outputs(const struct runner *a, const struct runner *b, bool quiet);

/* True if a difference is one that the options accept. */
bool within(double largest, const struct options *o);

#endif
