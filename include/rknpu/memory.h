/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Device-visible memory as the NPU model sees it: spans of host memory behind an IOVA range, and
 * the count of bytes that went through them.
 *
 * The model never owns guest memory. Its owner (a QEMU device, a test, a replay tool) hands out
 * spans through RknpuHost.map (npu.h). A span is the longest run of contiguous host memory behind
 * an IOVA; a buffer that lies contiguous in guest RAM is one span, so nothing is copied in the
 * common case.
 */
#ifndef RKNPU_MEMORY_H
#define RKNPU_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Where the bytes lie. The classes are those that Rockchip's guide distinguishes. */
typedef enum RknpuMemKind {
    RKNPU_MEM_DRAM,
    RKNPU_MEM_SRAM, /* system SRAM, "mmio-sram" */
    RKNPU_MEM_NBUF, /* RK3576's 1 MiB buffer beside the NPU */
    RKNPU_MEM_KINDS
} RknpuMemKind;

/* What the bytes are for. One stream per DMA engine that a programmer can tell apart. */
typedef enum RknpuStream {
    RKNPU_STREAM_COMMAND, /* PC: register programs */
    RKNPU_STREAM_FEATURE, /* CNA feature data, DPU_RDMA main input (MRDMA), PPU_RDMA input */
    RKNPU_STREAM_WEIGHT,  /* CNA weights */
    RKNPU_STREAM_OPERAND, /* DPU_RDMA: bias and other per-channel or per-pixel operands */
    RKNPU_STREAM_OUTPUT,  /* DPU and PPU results: the only stream that writes */
    RKNPU_STREAMS
} RknpuStream;

/*
 * A run of host memory.
 *   host  pointer to the first byte; valid until the owner's unmap is called for this span
 *   iova  device address of the first byte
 *   phys  guest physical address of the first byte
 *   len   bytes, at least 1 and at most what was asked for
 *   kind  one kind for the whole span: the owner ends a span where the kind changes
 *   priv  the owner's own, handed back in unmap
 */
typedef struct RknpuSpan {
    uint8_t *host;
    uint32_t iova;
    uint64_t phys;
    uint64_t len;
    RknpuMemKind kind;
    void *priv;
} RknpuSpan;

/*
 * Bytes moved, by kind of memory and stream. Reads and writes need no further split: OUTPUT writes.
 */
typedef struct RknpuTraffic {
    uint64_t bytes[RKNPU_MEM_KINDS][RKNPU_STREAMS];
} RknpuTraffic;

/*
 * Name of a kind ("dram", "sram", "nbuf") or of a stream ("command", "feature", ...); never NULL.
 */
const char *rknpu_mem_kind_name(RknpuMemKind kind);
const char *rknpu_stream_name(RknpuStream stream);

/* Adds every counter of `from` to `to`. */
void rknpu_traffic_add(RknpuTraffic *to, const RknpuTraffic *from);

/* Bytes of one stream over all kinds of memory. */
uint64_t rknpu_traffic_stream(const RknpuTraffic *t, RknpuStream stream);

/*
 * Sum of all streams that read (COMMAND, FEATURE, WEIGHT, OPERAND), or that write (OUTPUT), over
 * all kinds.
 */
uint64_t rknpu_traffic_read(const RknpuTraffic *t);
uint64_t rknpu_traffic_written(const RknpuTraffic *t);

#endif /* RKNPU_MEMORY_H */
