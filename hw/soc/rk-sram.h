/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On-chip memory: the system SRAM of the chips and the NBUF of the RK3576.
 *
 * QOM interface
 *   property "block"   its name in messages
 *   property "size"    bytes, a multiple of 4 KiB
 *   property "retain"  on: contents survive the power-off of its domain. Sources are silent on the
 *                      NBUF; off (the default) overwrites it. -global rk-sram.retain=on switches it
 *   MMIO region 0      the memory
 *   GPIO input         RK_SRAM_POWER: high = on; unconnected = always on
 *   read-only property "overlaps": chunks of 4 KiB that a second master overwrote
 *
 * Nothing on the chip keeps two masters apart, and neither does this device; it only keeps the
 * books and says once, on the terminal, who overwrote whose data. CPUs do not count as masters.
 */
#ifndef RK_SRAM_H
#define RK_SRAM_H

#include "exec/memory.h"
#include "qom/object.h"

#define TYPE_RK_SRAM "rk-sram"
OBJECT_DECLARE_SIMPLE_TYPE(RkSram, RK_SRAM)

#define RK_SRAM_POWER "power"

typedef enum RkSramMaster {
    RK_SRAM_NOBODY,
    RK_SRAM_NPU,
    RK_SRAM_DECODER0,
    RK_SRAM_DECODER1,
    RK_SRAM_MASTERS
} RkSramMaster;

/* The device that this memory region belongs to, or NULL. */
RkSram *rk_sram_of(MemoryRegion *mr);

/* The memory itself. */
MemoryRegion *rk_sram_region(RkSram *s);

/* A master has written [offset, offset + len). Any thread; no lock needed. */
void rk_sram_note_write(RkSram *s, uint64_t offset, uint64_t len, RkSramMaster who);

#endif
