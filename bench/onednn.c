/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "onednn.h"

#include <glib.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/isa.h"
#include "report.h"

enum { SOURCE, WEIGHTS, RESULT, ARGUMENTS };

struct BenchDnn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t argument[ARGUMENTS];
};

static void check(dnnl_status_t status, const char *what)
{
    if (status != dnnl_success) {
        fprintf(stderr, "bench: oneDNN: %s failed with status %d\n", what, status);
        exit(1);
    }
}

/* Tensors with the channels innermost; oneDNN chooses the order of the weights. */
static dnnl_primitive_desc_t describe(BenchDnn *dnn, const BenchLayer *l)
{
    dnnl_dim_t channels = l->channels, kernel = l->kernel;
    dnnl_dim_t stride = l->stride, before = l->pad;
    dnnl_dim_t behind = (l->out_size - 1) * stride + kernel - l->size - before;
    dnnl_dims_t source = { 1, channels, l->size, l->size };
    dnnl_dims_t weights = { channels, 1, 1, kernel, kernel };
    dnnl_dims_t result = { 1, channels, l->out_size, l->out_size };
    dnnl_memory_desc_t desc[ARGUMENTS];
    dnnl_convolution_desc_t convolution;
    dnnl_primitive_desc_t primitive;

    check(dnnl_memory_desc_init_by_tag(&desc[SOURCE], 4, source, dnnl_s8, dnnl_nhwc), "source");
    check(dnnl_memory_desc_init_by_tag(&desc[WEIGHTS], 5, weights, dnnl_s8, dnnl_format_tag_any),
          "weights");
    check(dnnl_memory_desc_init_by_tag(&desc[RESULT], 4, result, dnnl_s32, dnnl_nhwc), "result");
    check(dnnl_convolution_forward_desc_init(
              &convolution, dnnl_forward_inference, dnnl_convolution_direct, &desc[SOURCE],
              &desc[WEIGHTS], NULL, &desc[RESULT], (dnnl_dims_t){ stride, stride },
              (dnnl_dims_t){ before, before }, (dnnl_dims_t){ behind, behind }),
          "convolution");
    check(dnnl_primitive_desc_create(&primitive, &convolution, NULL, dnn->engine, NULL),
          "primitive description");
    return primitive;
}

static void allocate(BenchDnn *dnn, const_dnnl_primitive_desc_t primitive)
{
    static const struct {
        dnnl_query_t query;
        int argument;
    } tensors[ARGUMENTS] = {
        [SOURCE] = { dnnl_query_src_md, DNNL_ARG_SRC },
        [WEIGHTS] = { dnnl_query_weights_md, DNNL_ARG_WEIGHTS },
        [RESULT] = { dnnl_query_dst_md, DNNL_ARG_DST },
    };

    for (unsigned i = 0; i < ARGUMENTS; i++) {
        const dnnl_memory_desc_t *desc =
            dnnl_primitive_desc_query_md(primitive, tensors[i].query, 0);
        dnnl_exec_arg_t *argument = &dnn->argument[i];
        void *bytes;

        argument->arg = tensors[i].argument;
        check(dnnl_memory_create(&argument->memory, desc, dnn->engine, DNNL_MEMORY_ALLOCATE),
              "memory");
        check(dnnl_memory_get_data_handle(argument->memory, &bytes), "data");
        bench_random(bytes, dnnl_memory_desc_get_size(desc));
    }
}

BenchDnn *bench_dnn_new(const BenchLayer *layer, unsigned isa)
{
    static bool limited;
    BenchDnn *dnn = g_new0(BenchDnn, 1);
    dnnl_primitive_desc_t desc;

    if (isa == RKNPU_ISA_AVX2 && !limited) {
        check(dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2), "the limit to AVX2"); /* once, at first */
        limited = true;
    }
    omp_set_num_threads(1);
    check(dnnl_engine_create(&dnn->engine, dnnl_cpu, 0), "engine");
    check(dnnl_stream_create(&dnn->stream, dnn->engine, dnnl_stream_default_flags), "stream");
    desc = describe(dnn, layer);
    check(dnnl_primitive_create(&dnn->primitive, desc), "primitive");
    allocate(dnn, desc);
    dnnl_primitive_desc_destroy(desc);
    return dnn;
}

void bench_dnn_run(BenchDnn *dnn)
{
    check(dnnl_primitive_execute(dnn->primitive, dnn->stream, ARGUMENTS, dnn->argument), "a run");
    check(dnnl_stream_wait(dnn->stream), "a run");
}

void bench_dnn_free(BenchDnn *dnn)
{
    for (unsigned i = 0; i < ARGUMENTS; i++) {
        dnnl_memory_destroy(dnn->argument[i].memory);
    }
    dnnl_primitive_destroy(dnn->primitive);
    dnnl_stream_destroy(dnn->stream);
    dnnl_engine_destroy(dnn->engine);
    g_free(dnn);
}
