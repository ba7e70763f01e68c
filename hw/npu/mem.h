/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Life of a memory window (RknpuMem, job.h): one a task, owned by whoever runs the task. Internal
 * to the model; a test makes one to run the computing half without a command stream.
 */
#ifndef HW_NPU_MEM_H
#define HW_NPU_MEM_H

#include "job.h"

/*
 * An empty window of `core` onto the host's memory. `host` must outlive the window. `task` is the
 * task number in the events that the window reports (READ, WRITE, FAULT). Never fails.
 */
RknpuMem *rknpu_mem_new(const RknpuHost *host, void *opaque, unsigned core, unsigned task);

/*
 * Gives every span back (without writing gathered outputs: rknpu_mem_release() does that) and
 * frees.
 */
void rknpu_mem_free(RknpuMem *mem);

/*
 * A window beside `whole` for a part of its task on another thread, and its end: the first fault of
 * the part becomes the whole's unless that has one. A part sees the overlays of the whole; it must
 * end before these do. The part is freed; its views have been released.
 */
RknpuMem *rknpu_mem_part(const RknpuMem *whole);
void rknpu_mem_end_part(RknpuMem *whole, RknpuMem *part);

/* What rknpu_mem_count() has added up so far. */
const RknpuTraffic *rknpu_mem_traffic(const RknpuMem *mem);

/* Number of failed accesses, and the address of the first one. */
unsigned rknpu_mem_faults(const RknpuMem *mem, uint32_t *first);

#endif /* HW_NPU_MEM_H */
