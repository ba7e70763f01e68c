/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xnnpack_net.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <xnnpack.h>

#include "report.h"

typedef struct XnnLayer {
    xnn_operator_t op;
    int8_t *input, *output;
    void *workspace;
} XnnLayer;

struct BenchXnn {
    unsigned n;
    XnnLayer *layers;
};

static void check(enum xnn_status status, const char *what)
{
    if (status != xnn_status_success) {
        fprintf(stderr, "bench: XNNPACK: %s failed with status %d\n", what, status);
        exit(1);
    }
}

static int8_t *random_bytes(size_t n)
{
    int8_t *bytes = g_malloc(n + XNN_EXTRA_BYTES);

    bench_random(bytes, n);
    return bytes;
}

/* Sizes and pointers; since 2023 in two calls, with working memory of the caller's. */
static void setup(XnnLayer *x, const BenchLayer *l)
{
#ifdef XNNPACK_RESHAPES
    size_t bytes, alignment;

    check(xnn_reshape_convolution2d_nhwc_qs8(x->op, 1, l->size, l->size, &bytes, &alignment, NULL,
                                             NULL, NULL),
          l->name);
    x->workspace = aligned_alloc(64, (bytes + XNN_EXTRA_BYTES + 63) & ~(size_t)63);
    check(xnn_setup_convolution2d_nhwc_qs8(x->op, x->workspace, x->input, x->output), l->name);
#else
    check(xnn_setup_convolution2d_nhwc_qs8(x->op, 1, l->size, l->size, x->input, x->output, NULL),
          l->name);
#endif
}

#ifdef XNNPACK_RESHAPES
#define CACHES NULL, NULL, /* code, weights */
#else
#define CACHES
#endif

static void create(XnnLayer *x, const BenchLayer *l)
{
    unsigned channels = l->real_channels ? l->real_channels : l->channels;
    unsigned groups = l->depthwise ? channels : 1;
    unsigned end = (l->out_size - 1) * l->stride + l->kernel - l->size - l->pad;
    g_autofree int8_t *weights =
        random_bytes((size_t)l->kernels * l->kernel * l->kernel * (l->depthwise ? 1 : channels));
    g_autofree int32_t *bias = g_new0(int32_t, l->kernels);

    x->input = random_bytes((size_t)l->size * l->size * channels);
    x->output = random_bytes((size_t)l->out_size * l->out_size * l->kernels);
    check(xnn_create_convolution2d_nhwc_qs8(
              l->pad, end, end, l->pad, l->kernel, l->kernel, l->stride, l->stride, 1, 1, groups,
              channels / groups, l->kernels / groups, channels, l->kernels, 0, 0.5f, 0.5f, weights,
              bias, 0, 60.0f, INT8_MIN, INT8_MAX, 0, CACHES & x->op),
          l->name);
    setup(x, l);
}

BenchXnn *bench_xnn_new(const BenchLayer *layers, unsigned n)
{
    BenchXnn *net = g_new0(BenchXnn, 1);

    check(xnn_initialize(NULL), "initialization");
    net->n = n;
    net->layers = g_new0(XnnLayer, n);
    for (unsigned i = 0; i < n; i++) {
        create(&net->layers[i], &layers[i]);
    }
    return net;
}

void bench_xnn_run(BenchXnn *net)
{
    for (unsigned i = 0; i < net->n; i++) {
        check(xnn_run_operator(net->layers[i].op, NULL), "a layer");
    }
}

void bench_xnn_free(BenchXnn *net)
{
    for (unsigned i = 0; i < net->n; i++) {
        xnn_delete_operator(net->layers[i].op);
        g_free(net->layers[i].input);
        g_free(net->layers[i].output);
        free(net->layers[i].workspace);
    }
    g_free(net->layers);
    g_free(net);
}
