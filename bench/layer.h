/* SPDX-License-Identifier: GPL-2.0-or-later */
/* int8 convolution layers as NPU tasks on plain memory, without a machine around them. */
#ifndef BENCH_LAYER_H
#define BENCH_LAYER_H

#include "job.h"

typedef struct BenchLayer {
    const char *name;
    unsigned channels, kernels, size, kernel, stride, pad; /* square; pad = top and left */
    unsigned out_size;
    bool depthwise;
    unsigned real_channels; /* below `channels`: the rest is padding with neutral weights */
    /* filled by bench_layer_load() */
    RknpuJob job;
    uint32_t input, weights, bias, output;
    double macs;
} BenchLayer;

/* Guest memory of a bench: [0, size) of one allocation at the same addresses. */
typedef struct BenchMemory {
    uint8_t *bytes;
    uint64_t size;
    uint32_t next; /* first free byte */
} BenchMemory;

RknpuHost bench_host(void);

/* Kernels that the second word of the command line names; ends the program for an unknown name. */
unsigned bench_isa(int argc, char **argv);

/* Allocates and fills the layer's tensors and writes its registers, as Mesa programs them. */
void bench_layer_load(BenchLayer *layer, BenchMemory *memory, const RknpuConfig *config);

/*
 * Writes the layer as a program of one task; returns its address. `*amount` is what
 * PC_REGISTER_AMOUNTS takes for it.
 */
uint32_t bench_layer_program(const BenchLayer *layer, BenchMemory *memory, uint32_t *amount);

/* Computes the layer once; ends the program with a message when the task fails. */
void bench_layer_run(BenchLayer *layer, BenchMemory *memory);

/* The convolutions of MobileNetV1 1.0 224; `layers` has room for 28. Returns their number. */
unsigned bench_mobilenet(BenchLayer *layers);

#endif /* BENCH_LAYER_H */
