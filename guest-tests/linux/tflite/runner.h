/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One loaded model, run by TensorFlow Lite on the CPU or by a delegate library.
 */
#ifndef TFLITE_RUNNER_H
#define TFLITE_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/common.h"

struct runner {
    TfLiteModel *model;
    TfLiteInterpreter *interpreter;
    TfLiteDelegate *delegate;
    int taken;                  /* operations that the delegate has taken over */
};

/*
 * Loads a model that lives in memory (the bytes must outlive the runner) and allocates its
 * tensors. delegate is the path of a delegate library, or NULL for the CPU. False after a
 * message on stderr when something is wrong; runner_close() is then still allowed.
 */
bool runner_open(struct runner *r, const void *bytes, size_t size, const char *delegate);

void runner_close(struct runner *r);

/* Runs the model once. Returns the seconds it took, or a negative number on failure. */
double runner_invoke(struct runner *r);

unsigned runner_input_count(const struct runner *r);
unsigned runner_output_count(const struct runner *r);
TfLiteTensor *runner_input(const struct runner *r, unsigned n);
const TfLiteTensor *runner_output(const struct runner *r, unsigned n);

/* Tensor by its number in the model; NULL when the model does not use it. */
const TfLiteTensor *runner_tensor(const struct runner *r, int number);

#endif
