/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One loaded model, run by TensorFlow Lite on the CPU or by a delegate library.
 */
#include "runner.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tensorflow/lite/delegates/external/external_delegate.h"

/*
 * TensorFlow Lite's C interface does not tell what a delegate took. A delegate says so by one
 * call in its context, so that call is counted on the way. One model is opened at a time.
 */
static struct runner *preparing;
static TfLiteStatus (*prepare)(TfLiteContext *, TfLiteDelegate *);
static TfLiteStatus (*replace)(TfLiteContext *, TfLiteRegistration, const TfLiteIntArray *,
                               TfLiteDelegate *);

static TfLiteStatus count_and_replace(TfLiteContext *context, TfLiteRegistration kernel,
                                      const TfLiteIntArray *nodes, TfLiteDelegate *delegate)
{
    preparing->taken += nodes->size;
    return replace(context, kernel, nodes, delegate);
}

static TfLiteStatus prepare_and_count(TfLiteContext *context, TfLiteDelegate *delegate)
{
    TfLiteStatus status;

    replace = context->ReplaceNodeSubsetsWithDelegateKernels;
    context->ReplaceNodeSubsetsWithDelegateKernels = count_and_replace;
    status = prepare(context, delegate);
    context->ReplaceNodeSubsetsWithDelegateKernels = replace;
    return status;
}

static bool apply_delegate(struct runner *r, const char *path)
{
    TfLiteExternalDelegateOptions options = TfLiteExternalDelegateOptionsDefault(path);

    r->delegate = TfLiteExternalDelegateCreate(&options);
    if (!r->delegate) {
        fprintf(stderr, "tflite-run: %s cannot be loaded as a delegate\n", path);
        return false;
    }
    preparing = r;
    prepare = r->delegate->Prepare;
    r->delegate->Prepare = prepare_and_count;
    if (TfLiteInterpreterModifyGraphWithDelegate(r->interpreter, r->delegate) != kTfLiteOk) {
        fprintf(stderr, "tflite-run: the delegate %s refuses the model\n", path);
        return false;
    }
    return true;
}

bool runner_open(struct runner *r, const void *bytes, size_t size, const char *delegate)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();

    memset(r, 0, sizeof(*r));
    TfLiteInterpreterOptionsSetNumThreads(options, 1);
    r->model = TfLiteModelCreate(bytes, size);
    if (r->model) {
        r->interpreter = TfLiteInterpreterCreate(r->model, options);
    }
    TfLiteInterpreterOptionsDelete(options);
    if (!r->interpreter) {
        fprintf(stderr, "tflite-run: TensorFlow Lite cannot read this model\n");
        return false;
    }
    if (delegate && !apply_delegate(r, delegate)) {
        return false;
    }
    if (TfLiteInterpreterAllocateTensors(r->interpreter) != kTfLiteOk) {
        fprintf(stderr, "tflite-run: TensorFlow Lite cannot allocate the tensors\n");
        return false;
    }
    return true;
}

/*
 * rocket (7.3) lets go of a job's buffers in a worker of the scheduler, after the program has seen
 * the result, and warns in drm_mm_takedown() when the program has closed the device before. Nothing
 * tells when the worker is through.
 */
#define LAST_JOB_US 50000

void runner_close(struct runner *r)
{
    if (r->delegate) {
        usleep(LAST_JOB_US);
    }
    if (r->interpreter) {
        TfLiteInterpreterDelete(r->interpreter);
    }
    if (r->delegate) {
        TfLiteExternalDelegateDelete(r->delegate);
    }
    if (r->model) {
        TfLiteModelDelete(r->model);
    }
    memset(r, 0, sizeof(*r));
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double runner_invoke(struct runner *r)
{
    double start = now();

    if (TfLiteInterpreterInvoke(r->interpreter) != kTfLiteOk) {
        fprintf(stderr, "tflite-run: the run failed\n");
        return -1;
    }
    return now() - start;
}

unsigned runner_input_count(const struct runner *r)
{
    return (unsigned)TfLiteInterpreterGetInputTensorCount(r->interpreter);
}

unsigned runner_output_count(const struct runner *r)
{
    return (unsigned)TfLiteInterpreterGetOutputTensorCount(r->interpreter);
}

TfLiteTensor *runner_input(const struct runner *r, unsigned n)
{
    return TfLiteInterpreterGetInputTensor(r->interpreter, (int32_t)n);
}

const TfLiteTensor *runner_output(const struct runner *r, unsigned n)
{
    return TfLiteInterpreterGetOutputTensor(r->interpreter, (int32_t)n);
}

const TfLiteTensor *runner_tensor(const struct runner *r, int number)
{
    return number < 0 ? NULL : TfLiteInterpreterGetTensor(r->interpreter, number);
}
