/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cuts operations out of a TensorFlow Lite model.
 *
 * A .tflite file is a FlatBuffer; field numbers are those of TensorFlow Lite's schema version 3
 * (schema.fbs: Model, OperatorCode, SubGraph, Operator, Tensor, Buffer). Every offset that is
 * followed is checked against the end of the file.
 */
#ifndef TFLITE_SLICE_H
#define TFLITE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLICE_MAX_TENSORS 16

struct slice_op {
    int code;                           /* BuiltinOperator of the schema, e.g. 3 = CONV_2D */
    unsigned input_count;               /* tensors that are no constants */
    unsigned output_count;
    int32_t inputs[SLICE_MAX_TENSORS];  /* tensor numbers in the model */
    int32_t outputs[SLICE_MAX_TENSORS];
    int32_t weights;                    /* second input if it is constant, else -1 */
};

/* Number of operations in the model's first subgraph; 0 if the bytes are no model. */
unsigned slice_count(const uint8_t *model, size_t size);

/* Number of tensors in the model's first subgraph; 0 if the bytes are no model. */
unsigned slice_tensors(const uint8_t *model, size_t size);

/* Fills *op for operation number index, false if the model is broken or the operation too wide. */
bool slice_op(const uint8_t *model, size_t size, unsigned index, struct slice_op *op);

/* Number of the operation that makes this tensor, -1 if none does. */
int slice_producer(const uint8_t *model, size_t size, int32_t tensor);

/*
 * Returns a model that consists of count operations, in this order: same tensor numbers; what
 * they need from outside becomes its inputs, what the last one makes its outputs. *io gets both
 * lists, and code and weights of the last one. The caller frees the bytes; *new_size is their
 * number. NULL if the model is broken, the list too long, or memory is out.
 */
uint8_t *slice_cut(const uint8_t *model, size_t size, const unsigned *ops, unsigned count,
                   struct slice_op *io, size_t *new_size);

#endif
