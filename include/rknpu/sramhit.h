/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of a network's traffic the SRAM takes: the arithmetic of the table that Rockchip's
 * runtime prints ("SramHit", "Predict Internal Memory RW Amount", "Predict SRAM Hit RW Amount").
 *
 * A buffer that asks for SRAM is one IOVA range whose first part lies in SRAM; a tensor hits with
 * the bytes that fall into that part. An intermediate tensor is written once and read once, an
 * input is only read by the NPU, an output only written. Checked against the table in Rockchip's
 * guide to the RK3588's SRAM (MobileNetV1).
 */
#ifndef RKNPU_SRAMHIT_H
#define RKNPU_SRAMHIT_H

#include <stddef.h>
#include <stdint.h>

typedef enum RknpuTensorUse {
    RKNPU_TENSOR_INTERNAL, /* written by one layer, read by another */
    RKNPU_TENSOR_INPUT,    /* given by the program */
    RKNPU_TENSOR_OUTPUT,   /* taken by the program */
} RknpuTensorUse;

/* [start, end) are IOVAs; an end at or before the start is an empty tensor. */
typedef struct RknpuTensor {
    uint64_t start, end;
    RknpuTensorUse use;
} RknpuTensor;

/* Bytes moved by one run of the network. */
typedef struct RknpuSramTotals {
    uint64_t read_write; /* to and from all tensors */
    uint64_t sram_hit;   /* the part of it that the SRAM takes */
} RknpuSramTotals;

/* Bytes of [start, end) inside [sram_start, sram_end). */
uint64_t rknpu_sram_hit(uint64_t start, uint64_t end, uint64_t sram_start, uint64_t sram_end);

/*
 * Totals over `count` tensors; when `hits` is not NULL, hits[i] receives the bytes of tensor i in
 * SRAM. The same address range may be used by several tensors one after the other: each counts.
 */
RknpuSramTotals rknpu_sram_totals(const RknpuTensor *tensors, size_t count, uint64_t sram_start,
                                  uint64_t sram_end, uint64_t *hits);

#endif /* RKNPU_SRAMHIT_H */
