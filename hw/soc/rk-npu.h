/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NPU of a chip as a QEMU device: the model library, one register window a core with the IOMMU
 * banks inside it.
 *
 * QOM interface
 *   property "chip"       "rk3588" or "rk3576": row of the model's chip table
 *   property "memory"     link to the MemoryRegion that DMA goes to
 *   property "strict"     on: what is not modelled stops the machine with a message when it is used
 *   property "event-log"  file that receives the event log, one JSON object a line
 *   MMIO region n         window of core n
 *   IRQ n                 level, core n and its IOMMU banks
 *   GPIO inputs           RK_NPU_POWER n (high = on; unconnected = on)
 *                         RK_NPU_CLOCK 2n, 2n + 1: ACLK and HCLK (high = runs; unconnected = runs)
 *                         RK_NPU_RESET 2n, 2n + 1: SRST_A and SRST_H (high = asserted)
 *   property "reset-hangs-mmu"  a reset line that stops a job leaves the core's IOMMU banks without
 *                         an answer until the core's power is switched off (default off)
 *   read-only properties  "waiting": what the NPU is doing or waiting for, text
 *                         "stats": JSON, an array of one object a core
 *                         "unpowered-accesses": register accesses while a core was off, without
 *                         clock or in reset
 */
#ifndef RK_NPU_H
#define RK_NPU_H

#include "qom/object.h"

#define TYPE_RK_NPU "rk-npu"

#define RK_NPU_POWER "power"
#define RK_NPU_CLOCK "clock"
#define RK_NPU_RESET "reset"

#endif
