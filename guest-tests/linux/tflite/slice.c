/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cuts operations out of a TensorFlow Lite model.
 *
 * FlatBuffers in short: all integers are little endian; a table starts with a signed distance
 * back to its vtable; the vtable holds its own length, the table's length and a 16-bit offset a
 * field (0 = absent); a reference is the unsigned distance forward from where it stands; a vector
 * is a 32-bit length and its elements. The guest is little endian too, so fields are copied.
 */
#include "slice.h"
#include <stdlib.h>
#include <string.h>

enum { MODEL_CODES = 1, MODEL_SUBGRAPHS = 2, MODEL_BUFFERS = 4 };
enum { CODE_OLD = 0, CODE_NEW = 3 };
enum { GRAPH_TENSORS = 0, GRAPH_INPUTS = 1, GRAPH_OUTPUTS = 2, GRAPH_OPERATORS = 3 };
enum { OP_CODE = 0, OP_INPUTS = 1, OP_OUTPUTS = 2 };
enum { TENSOR_BUFFER = 2 };
enum { BUFFER_DATA = 0 };

/* Positions are offsets from the start of the file; 0 means "not there or broken". */
struct file {
    const uint8_t *bytes;
    size_t size;
};

static uint32_t get32(const struct file *f, size_t at)
{
    uint32_t value = 0;

    if (f->size >= 4 && at <= f->size - 4) {
        memcpy(&value, f->bytes + at, 4);
    }
    return value;
}

static uint16_t get16(const struct file *f, size_t at)
{
    uint16_t value = 0;

    if (f->size >= 2 && at <= f->size - 2) {
        memcpy(&value, f->bytes + at, 2);
    }
    return value;
}

/* Where field number n of the table stands. */
static size_t field(const struct file *f, size_t table, unsigned n)
{
    int64_t vtable = (int64_t)table - (int32_t)get32(f, table);
    uint16_t offset;

    if (!table || vtable <= 0 || (uint64_t)vtable >= f->size ||
        get16(f, (size_t)vtable) < 6 + 2 * n) {
        return 0;
    }
    offset = get16(f, (size_t)vtable + 4 + 2 * n);
    return offset && table + offset < f->size ? table + offset : 0;
}

/* What the reference at a position points to. */
static size_t follow(const struct file *f, size_t at)
{
    uint32_t distance = at ? get32(f, at) : 0;

    return distance && distance <= f->size - 4 - at ? at + distance : 0;
}

static size_t child(const struct file *f, size_t table, unsigned n)
{
    return follow(f, field(f, table, n));
}

/* Length of a vector of 32-bit elements, 0 if it does not fit into the file. */
static uint32_t vector_length(const struct file *f, size_t vector)
{
    uint32_t length = vector ? get32(f, vector) : 0;

    return length <= (f->size - vector) / 4 ? length : 0;
}

static size_t table_in(const struct file *f, size_t vector, uint32_t n)
{
    return n < vector_length(f, vector) ? follow(f, vector + 4 + 4 * (size_t)n) : 0;
}

static size_t root(const struct file *f)
{
    uint32_t at = get32(f, 0);

    return f->size >= 8 && at <= f->size - 4 ? at : 0;
}

static size_t subgraph(const struct file *f)
{
    return table_in(f, child(f, root(f), MODEL_SUBGRAPHS), 0);
}

static bool is_constant(const struct file *f, int32_t tensor)
{
    size_t table = table_in(f, child(f, subgraph(f), GRAPH_TENSORS), (uint32_t)tensor);
    size_t at = field(f, table, TENSOR_BUFFER);
    size_t buffer = table_in(f, child(f, root(f), MODEL_BUFFERS), at ? get32(f, at) : 0);

    size_t data = child(f, buffer, BUFFER_DATA);

    return data && get32(f, data) > 0;
}

static int operator_code(const struct file *f, size_t op)
{
    size_t at = field(f, op, OP_CODE);
    size_t code = table_in(f, child(f, root(f), MODEL_CODES), at ? get32(f, at) : 0);
    size_t modern = field(f, code, CODE_NEW);
    size_t old = field(f, code, CODE_OLD);
    int value = modern ? (int)get32(f, modern) : 0;

    /* Codes below 127 may stand in the older byte field alone. */
    return value ? value : old ? (int8_t)f->bytes[old] : 0;
}

unsigned slice_count(const uint8_t *model, size_t size)
{
    struct file f = { model, size };

    return vector_length(&f, child(&f, subgraph(&f), GRAPH_OPERATORS));
}

unsigned slice_tensors(const uint8_t *model, size_t size)
{
    struct file f = { model, size };

    return vector_length(&f, child(&f, subgraph(&f), GRAPH_TENSORS));
}

bool slice_op(const uint8_t *model, size_t size, unsigned index, struct slice_op *op)
{
    struct file f = { model, size };
    size_t table = table_in(&f, child(&f, subgraph(&f), GRAPH_OPERATORS), index);
    size_t inputs = child(&f, table, OP_INPUTS);
    size_t outputs = child(&f, table, OP_OUTPUTS);
    uint32_t count = vector_length(&f, inputs);

    memset(op, 0, sizeof(*op));
    op->weights = -1;
    op->output_count = vector_length(&f, outputs);
    if (!count || count > SLICE_MAX_TENSORS || op->output_count > SLICE_MAX_TENSORS) {
        return false;
    }
    op->code = operator_code(&f, table);
    for (uint32_t i = 0; i < count; i++) {
        int32_t tensor = (int32_t)get32(&f, inputs + 4 + 4 * (size_t)i);

        if (tensor >= 0 && is_constant(&f, tensor)) {
            op->weights = i == 1 ? tensor : op->weights;
        } else if (tensor >= 0) {           /* -1 stands for an optional input that is absent */
            op->inputs[op->input_count++] = tensor;
        }
    }
    for (uint32_t i = 0; i < op->output_count; i++) {
        op->outputs[i] = (int32_t)get32(&f, outputs + 4 + 4 * (size_t)i);
    }
    return true;
}

static void put32(uint8_t *bytes, size_t at, uint32_t value)
{
    memcpy(bytes + at, &value, 4);
}

/* Writes a vector at the end of the file and makes the reference at a position point to it. */
static size_t append(uint8_t *bytes, size_t end, size_t reference, const int32_t *items,
                     unsigned count)
{
    put32(bytes, reference, (uint32_t)(end - reference));
    put32(bytes, end, count);
    memcpy(bytes + end + 4, items, count * sizeof(*items));
    return end + 4 + count * sizeof(*items);
}

static bool holds(const int32_t *list, unsigned count, int32_t tensor)
{
    for (unsigned i = 0; i < count; i++) {
        if (list[i] == tensor) {
            return true;
        }
    }
    return false;
}

int slice_producer(const uint8_t *model, size_t size, int32_t tensor)
{
    unsigned count = slice_count(model, size);
    struct slice_op op;

    for (unsigned i = 0; i < count; i++) {
        if (slice_op(model, size, i, &op) && holds(op.outputs, op.output_count, tensor)) {
            return (int)i;
        }
    }
    return -1;
}

/* Adds tensors that are in neither list, as far as there is room. */
static bool add_new(int32_t *list, unsigned *count, const int32_t *more, unsigned more_count,
                    const int32_t *made, unsigned made_count)
{
    for (unsigned i = 0; i < more_count; i++) {
        if (holds(list, *count, more[i]) || holds(made, made_count, more[i])) {
            continue;
        }
        if (*count == SLICE_MAX_TENSORS) {
            return false;
        }
        list[(*count)++] = more[i];
    }
    return true;
}

/* Inputs and outputs of several operations as if they were one. */
static bool join_ops(const uint8_t *model, size_t size, const unsigned *ops, unsigned count,
                     struct slice_op *io)
{
    int32_t inputs[SLICE_MAX_TENSORS], made[SLICE_MAX_TENSORS];
    unsigned input_count = 0, made_count = 0;

    for (unsigned i = 0; i < count; i++) {
        if (!slice_op(model, size, ops[i], io) ||
            !add_new(inputs, &input_count, io->inputs, io->input_count, made, made_count) ||
            !add_new(made, &made_count, io->outputs, io->output_count, NULL, 0)) {
            return false;
        }
    }
    memcpy(io->inputs, inputs, sizeof(inputs));
    io->input_count = input_count;
    return input_count > 0;
}

uint8_t *slice_cut(const uint8_t *model, size_t size, const unsigned *ops, unsigned count,
                   struct slice_op *io, size_t *new_size)
{
    struct file f = { model, size };
    size_t graph = subgraph(&f);
    size_t operators = child(&f, graph, GRAPH_OPERATORS);
    size_t inputs = field(&f, graph, GRAPH_INPUTS);
    size_t outputs = field(&f, graph, GRAPH_OUTPUTS);
    size_t end = (size + 3) & ~(size_t)3;
    uint8_t *bytes;

    if (!inputs || !outputs || count > vector_length(&f, operators) ||
        !join_ops(model, size, ops, count, io)) {
        return NULL;
    }
    bytes = calloc(1, end + 2 * (4 + sizeof(io->inputs)));
    if (!bytes) {
        return NULL;
    }
    memcpy(bytes, model, size);
    /* The list keeps its place, shrinks and points to other operations: references only go
     * forward, and all operations stand behind the list. */
    put32(bytes, operators, count);
    for (unsigned i = 0; i < count; i++) {
        size_t at = operators + 4 + 4 * (size_t)i;

        put32(bytes, at, (uint32_t)(table_in(&f, operators, ops[i]) - at));
    }
    end = append(bytes, end, inputs, io->inputs, io->input_count);
    *new_size = append(bytes, end, outputs, io->outputs, io->output_count);
    return bytes;
}
