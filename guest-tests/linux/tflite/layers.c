/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network layer by layer: each alone, on equal input, on CPU and NPU.
 */
#include "layers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runner.h"
#include "slice.h"
#include "tensor.h"

/* What the CPU computed so far, by tensor number. */
struct value {
    void *bytes;
    size_t size;
};

struct network {
    const uint8_t *model;
    size_t size;
    const char *input;
    uint64_t seed;
    struct value *values;
    unsigned tensors;
};

enum { ADD = 0 };

static const char *code_name(int code)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
        { ADD, "ADD" }, { 1, "AVERAGE_POOL_2D" }, { 2, "CONCATENATION" }, { 3, "CONV_2D" },
        { 4, "DEPTHWISE_CONV_2D" }, { 9, "FULLY_CONNECTED" }, { 14, "LOGISTIC" },
        { 17, "MAX_POOL_2D" }, { 18, "MUL" }, { 22, "RESHAPE" }, { 25, "SOFTMAX" },
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }
    return "other";
}

/* Gives a cut operation its inputs: earlier results, or the network's own input. */
static bool feed(struct network *net, const struct slice_op *op, struct runner *r)
{
    for (unsigned i = 0; i < op->input_count; i++) {
        TfLiteTensor *tensor = runner_input(r, i);
        struct value *value = (unsigned)op->inputs[i] < net->tensors ? &net->values[op->inputs[i]]
                                                                     : NULL;

        if (value && value->bytes && value->size == TfLiteTensorByteSize(tensor)) {
            memcpy(TfLiteTensorData(tensor), value->bytes, value->size);
        } else if (!net->input) {
            tensor_from_seed(tensor, &net->seed);
        } else if (!tensor_from_file(tensor, net->input)) {
            return false;
        }
    }
    return true;
}

/* Keeps inputs and results of an operation for the ones behind it. */
static bool keep(struct network *net, int32_t number, const TfLiteTensor *tensor)
{
    struct value *value;

    if (number < 0 || (unsigned)number >= net->tensors || !tensor) {
        return false;
    }
    value = &net->values[number];
    if (value->bytes) {
        return true;
    }
    value->size = TfLiteTensorByteSize(tensor);
    value->bytes = malloc(value->size ? value->size : 1);
    if (!value->bytes) {
        return false;
    }
    memcpy(value->bytes, TfLiteTensorData(tensor), value->size);
    return true;
}

static bool keep_all(struct network *net, const struct slice_op *op, const struct runner *r)
{
    bool good = true;

    for (unsigned i = 0; i < op->input_count; i++) {
        good = keep(net, op->inputs[i], runner_input(r, i)) && good;
    }
    for (unsigned i = 0; i < op->output_count; i++) {
        good = keep(net, op->outputs[i], runner_output(r, i)) && good;
    }
    return good;
}

/* One layer: the operations to run, in order; the result of the last is compared. */
struct layer {
    unsigned index;
    unsigned ops[SLICE_MAX_TENSORS];
    unsigned count;
    unsigned adds;              /* how many of them are ADDs */
    bool cpu_only;
};

/* Adds an operation unless it is there; false if there are too many. */
static bool take(struct layer *layer, unsigned op)
{
    for (unsigned i = 0; i < layer->count; i++) {
        if (layer->ops[i] == op) {
            return true;
        }
    }
    if (layer->count == SLICE_MAX_TENSORS) {
        return false;
    }
    layer->ops[layer->count++] = op;
    return true;
}

/*
 * The NPU adds while it makes the first operand, and needs what makes the other one in the same
 * network. So an ADD takes the operations along that make its operands, down to convolutions.
 * False if an operand is made by something else: Teflon crashes on what it cannot add.
 */
static bool take_add(const struct network *net, struct layer *layer, const struct slice_op *add)
{
    layer->adds++;
    for (unsigned i = 0; i < add->input_count; i++) {
        int maker = slice_producer(net->model, net->size, add->inputs[i]);
        struct slice_op op;

        if (maker < 0 || !slice_op(net->model, net->size, (unsigned)maker, &op) ||
            (op.weights < 0 && op.code != ADD) || layer->adds == SLICE_MAX_TENSORS ||
            (op.weights < 0 && !take_add(net, layer, &op)) || !take(layer, (unsigned)maker)) {
            return false;
        }
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

static struct layer find_layer(const struct network *net, unsigned index)
{
    struct layer alone = { .index = index, .ops = { index }, .count = 1 };
    struct layer layer = { .index = index };
    struct slice_op op;

    if (!slice_op(net->model, net->size, index, &op) || op.code != ADD) {
        return alone;
    }
    if (op.input_count != 2 || !take_add(net, &layer, &op) || !take(&layer, index)) {
        alone.cpu_only = true;
        return alone;
    }
    qsort(layer.ops, layer.count, sizeof(layer.ops[0]), by_number);
    return layer;
}

static void print_layer(const struct layer *layer, int code, const struct runner *cpu,
                        const struct runner *npu, const struct difference *d, double macs)
{
    char in[32], out[32];

    tensor_shape(runner_input(cpu, 0), in, sizeof(in));
    tensor_shape(runner_output(cpu, 0), out, sizeof(out));
    printf("%5u  %-18s %-12s %-12s %8.2f  ", layer->index, code_name(code), in, out, macs * 1e-6);
    if (npu->taken) {
        printf("NPU %6.0f   %zu of %zu\n", d->largest, d->differing, d->elements);
    } else {
        printf("CPU\n");
    }
}

/* Runs one layer on both sides and adds it to the sum. */
static bool run_layer(struct network *net, const struct layer *layer, const char *delegate,
                      struct layers *sum)
{
    struct runner cpu = { 0 }, npu = { 0 };
    struct difference d;
    struct slice_op io;
    size_t size;
    uint8_t *cut = slice_cut(net->model, net->size, layer->ops, layer->count, &io, &size);
    double macs, *largest;
    bool good = cut && runner_open(&cpu, cut, size, NULL) && feed(net, &io, &cpu) &&
                runner_invoke(&cpu) >= 0 && keep_all(net, &io, &cpu) &&
                runner_open(&npu, cut, size, layer->cpu_only ? NULL : delegate) &&
                feed(net, &io, &npu) && runner_invoke(&npu) >= 0;

    if (good) {
        d = tensor_compare(runner_output(&cpu, 0), runner_output(&npu, 0));
        macs = tensor_macs(io.code, runner_tensor(&cpu, io.weights), runner_output(&cpu, 0));
        print_layer(layer, io.code, &cpu, &npu, &d, macs);
        sum->run++;
        if (npu.taken) {
            sum->on_npu++;
            sum->npu_macs += macs;
            largest = layer->adds ? &sum->largest_add : &sum->largest;
            d.largest -= layer->adds;
            *largest = d.largest > *largest ? d.largest : *largest;
            sum->adds += layer->adds > 0;
        }
    }
    runner_close(&npu);
    runner_close(&cpu);
    free(cut);
    return good;
}

bool layers_compare(const uint8_t *model, size_t size, const char *delegate, const char *input,
                    uint64_t seed, struct layers *sum)
{
    struct network net = {
        .model = model, .size = size, .input = input, .seed = seed,
        .tensors = slice_tensors(model, size),
    };
    unsigned count = slice_count(model, size);

    memset(sum, 0, sizeof(*sum));
    net.values = calloc(net.tensors ? net.tensors : 1, sizeof(*net.values));
    printf("layer  operation          input        output           MMAC  on  largest   "
           "elements that differ\n");
    for (unsigned i = 0; net.values && i < count; i++) {
        struct layer layer = find_layer(&net, i);

        if (!run_layer(&net, &layer, delegate, sum)) {
            printf("%5u  cannot be run alone; the layers behind it are left out\n", i);
            break;
        }
    }
    for (unsigned i = 0; net.values && i < net.tensors; i++) {
        free(net.values[i].bytes);
    }
    free(net.values);
    return sum->run > 0;
}

double layers_macs(const uint8_t *model, size_t size)
{
    unsigned count = slice_count(model, size);
    struct runner r = { 0 };
    double macs = 0;

    if (runner_open(&r, model, size, NULL)) {
        for (unsigned i = 0; i < count; i++) {
            struct slice_op op;

            if (slice_op(model, size, i, &op) && op.output_count > 0) {
                const TfLiteTensor *out = runner_tensor(&r, op.outputs[0]);

                macs += out ? tensor_macs(op.code, runner_tensor(&r, op.weights), out) : 0;
            }
        }
    }
    runner_close(&r);
    return macs;
}
