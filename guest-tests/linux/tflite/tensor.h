/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is done with tensors: filling inputs, comparing results, naming classes.
 */
#ifndef TFLITE_TENSOR_H
#define TFLITE_TENSOR_H

#include <stdbool.h>
#include <stdint.h>
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/common.h"

struct difference {
    double largest;         /* in units of the stored numbers, not scaled */
    size_t differing;       /* elements that are not equal */
    size_t elements;
    size_t first;           /* index of the first element with the largest difference */
};

/*
 * Fills a tensor from a file: a PPM picture (P6) as large as the network wants it, or raw bytes
 * in the tensor's own layout. False after a message on stderr.
 */
bool tensor_from_file(TfLiteTensor *t, const char *path);

/* Fills a tensor with numbers that depend on *seed alone, and moves the seed on. */
void tensor_from_seed(TfLiteTensor *t, uint64_t *seed);

/* Compares two tensors of equal type and size. */
struct difference tensor_compare(const TfLiteTensor *a, const TfLiteTensor *b);

/* Multiply-accumulates of an operation (code of the schema) with these weights and output. */
double tensor_macs(int code, const TfLiteTensor *weights, const TfLiteTensor *output);

/* Writes "224x224x3" into text. */
void tensor_shape(const TfLiteTensor *t, char *text, size_t size);

/* Indices of the count largest elements, largest first, in order of index when equal. */
unsigned tensor_top(const TfLiteTensor *t, unsigned *indices, unsigned count);

/* One element as a number, scaled by the tensor's quantization. */
double tensor_value(const TfLiteTensor *t, size_t index);

#endif
