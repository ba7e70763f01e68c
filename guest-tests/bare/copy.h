/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The smallest task that moves bytes and raises an interrupt: a DPU-only ("flying") task of one
 * pixel.
 */
#ifndef BARE_COPY_H
#define BARE_COPY_H

#include "lib.h"

/*
 * Appends a task that copies 16 bytes from device address `from` to `to`: int8, all stages bypassed
 * and OUT_CVT 1.0, so bytes arrive unchanged (RK3588 TRM 36, DPU and DPU_RDMA). No tail.
 */
void emit_copy(Program *p, uint32_t from, uint32_t to);

#endif /* BARE_COPY_H */
