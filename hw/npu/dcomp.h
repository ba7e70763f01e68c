/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compressed weights (CNA DCOMP): int8, sixteen lanes; the format is in dcomp.c. */
#ifndef HW_NPU_DCOMP_H
#define HW_NPU_DCOMP_H

#include "task.h"

/*
 * One lane. `from` is the lane's `bytes` bytes, header included; writes `count` weights to `to`,
 * four at a time, `RKNPU_DCOMP_STRIDE` bytes from group to group. NULL on success, else what is
 * wrong: a static text;
 * `*known` tells whether the stream breaks the format (true) or uses a code that nobody has seen
 * (false).
 */
#define RKNPU_DCOMP_LANES  16
#define RKNPU_DCOMP_STRIDE (4 * RKNPU_DCOMP_LANES)
const char *rknpu_dcomp_lane(const uint8_t *from, size_t bytes, uint8_t *to, size_t count,
                             bool *known);

/*
 * Unpacks a task's weights and lays them over the weight stream of the job's memory window, so that
 * every reader sees them as if they lay raw at conv->weight_base. Counts the traffic of the packed
 * lanes. OK, READ_FAULT, UNIMP or INVALID (both reported).
 */
RknpuTaskResult rknpu_dcomp_unpack(RknpuJob *job, const RknpuConv *conv);

#endif /* HW_NPU_DCOMP_H */
