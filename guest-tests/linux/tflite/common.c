/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the modes of tflite-run share.
 */
#include "common.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tensor.h"

#define MAX_MODEL (1u << 30)    /* bytes */

void *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long length = -1;

    if (f && fseek(f, 0, SEEK_END) == 0) {
        length = ftell(f);
        rewind(f);
    }
    if (length > 0 && length <= (long)MAX_MODEL) {
        bytes = malloc((size_t)length);
    }
    if (!bytes || fread(bytes, 1, (size_t)length, f) != (size_t)length) {
        fprintf(stderr, "tflite-run: cannot read %s: %s\n", path,
                errno ? strerror(errno) : "it is empty or too large");
        free(bytes);
        bytes = NULL;
    }
    if (f) {
        fclose(f);
    }
    *size = bytes ? (size_t)length : 0;
    return bytes;
}

bool fill_inputs(struct runner *r, const struct options *o)
{
    uint64_t seed = o->seed;

    for (unsigned i = 0; i < runner_input_count(r); i++) {
        if (!o->input) {
            tensor_from_seed(runner_input(r, i), &seed);
        } else if (!tensor_from_file(runner_input(r, i), o->input)) {
            return false;
        }
    }
    return true;
}

double compare_outputs(const struct runner *a, const struct runner *b, bool quiet)
{
    double largest = 0;

    for (unsigned i = 0; i < runner_output_count(a); i++) {
        struct difference d = tensor_compare(runner_output(a, i), runner_output(b, i));

        if (!quiet) {
            printf("output %u: largest difference %g, %zu of %zu elements differ\n", i, d.largest,
                   d.differing, d.elements);
        }
        largest = d.largest > largest ? d.largest : largest;
    }
    return largest;
}

bool within(double largest, const struct options *o)
{
    return o->max_diff < 0 || largest <= o->max_diff;
}
