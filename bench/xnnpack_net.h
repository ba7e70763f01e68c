/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same layers through libXNNPACK's qs8 operators, one thread. */
#ifndef BENCH_XNNPACK_NET_H
#define BENCH_XNNPACK_NET_H

#include "layer.h"

typedef struct BenchXnn BenchXnn;

/* Creates (packs) and sets up an operator a layer; ends the program with a message when XNNPACK
 * refuses. */
BenchXnn *bench_xnn_new(const BenchLayer *layers, unsigned n);
void bench_xnn_run(BenchXnn *net);
void bench_xnn_free(BenchXnn *net);

#endif /* BENCH_XNNPACK_NET_H */
