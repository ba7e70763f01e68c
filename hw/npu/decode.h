/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files that turn registers into a RknpuTask share: task_conv.c, task_dpu.c,
 * task_records.c, task_pool.c, and task.c, which puts their parts together.
 */
#ifndef HW_NPU_DECODE_H
#define HW_NPU_DECODE_H

#include "task.h"

#define RKNPU_ATOM_BYTES 16

/* A mode that no file computes, reported by name: docs/not-modelled.c lists every `what`. */
RknpuTaskResult rknpu_unimplemented(const RknpuJob *job, const char *what, int64_t value);

/* Registers that make no task, reported. */
RknpuTaskResult rknpu_invalid(const RknpuJob *job, const char *what, int64_t value);

/* An address field plus TASK_DMA_BASE_ADDR. */
uint32_t rknpu_address(const RknpuJob *job, RknpuFieldId id);

/* The round bit of a converter: 0 is the configured mode (half even), 1 half away from zero. */
RknpuRound rknpu_round_mode(const RknpuJob *job, RknpuFieldId bit, RknpuRound mode);

/* Each fills its part of a task: OK, INVALID, UNIMP; the DPU of some chips also READ_FAULT. */
RknpuTaskResult rknpu_decode_conv(const RknpuJob *job, RknpuConv *conv);
RknpuTaskResult rknpu_decode_dpu(const RknpuJob *job, RknpuTask *task);
RknpuTaskResult rknpu_decode_flying(const RknpuJob *job, RknpuTask *task);
RknpuTaskResult rknpu_decode_rearrange(const RknpuJob *job, RknpuTask *task);
RknpuTaskResult rknpu_decode_pool(const RknpuJob *job, RknpuPool *pool);

/* The distance of the writer's passes, when its rows are known. */
void rknpu_decode_pass_pitch(const RknpuJob *job, RknpuOutput *out);

/* EW's operand from memory: fills source and cube; ERDMA off: the stage passes its input on. */
RknpuTaskResult rknpu_decode_ew_source(const RknpuJob *job, RknpuType proc, RknpuEw *ew);

/*
 * The stages of chips whose BS follows its operand records: fills BS, BN, EW and what the
 * convolution takes from the records.
 */
RknpuTaskResult rknpu_decode_records(const RknpuJob *job, RknpuTask *task);

#endif /* HW_NPU_DECODE_H */
