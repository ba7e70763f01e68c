/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A depthwise convolution through oneDNN, s8 by s8 to s32, one thread. */
#ifndef BENCH_ONEDNN_H
#define BENCH_ONEDNN_H

#include "layer.h"

typedef struct BenchDnn BenchDnn;

/*
 * The layer's sizes with random numbers; ends the program with a message when oneDNN refuses.
 * `isa` is the one that our side uses: with RKNPU_ISA_AVX2 oneDNN uses no more than that either.
 */
BenchDnn *bench_dnn_new(const BenchLayer *layer, unsigned isa);
void bench_dnn_run(BenchDnn *dnn);
void bench_dnn_free(BenchDnn *dnn);

#endif /* BENCH_ONEDNN_H */
