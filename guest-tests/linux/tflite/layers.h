/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network layer by layer: each alone, on equal input, on CPU and NPU.
 */
#ifndef TFLITE_LAYERS_H
#define TFLITE_LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct layers {
    unsigned run;           /* layers that could be run */
    unsigned on_npu;        /* of these, taken by the delegate */
    double largest;         /* largest difference of a layer that ran on the NPU, ADDs apart */
    unsigned adds;          /* ADDs that ran on the NPU */
    double largest_add;     /* of an ADD with what makes its operands, less 1 an ADD on the way */
    double npu_macs;        /* their multiply-accumulates */
};

/*
 * Cuts the model into layers (an operation; an ADD with what makes its operands) and runs each on
 * the CPU and through the delegate. The first gets input (a file, or random numbers
 * if NULL); every other gets what the CPU computed before it, so that an error does not travel.
 * Prints one line a layer. False if nothing ran.
 */
bool layers_compare(const uint8_t *model, size_t size, const char *delegate, const char *input,
                    uint64_t seed, struct layers *sum);

/* Multiply-accumulates of the whole model. */
double layers_macs(const uint8_t *model, size_t size);

#endif
