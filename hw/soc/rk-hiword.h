/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rockchip control registers with a write mask: bit 16 + k of a written word enables the write to
 * bit k. Source: every register table of the CRU, GRF and PMU chapters of the RK3588 TRM; the
 * kernel's HIWORD_UPDATE macros.
 */
#ifndef RK_HIWORD_H
#define RK_HIWORD_H

#include <stdint.h>

/* The register's new 16-bit content after `value` was written over `old`. */
static inline uint32_t rk_hiword_update(uint32_t old, uint32_t value)
{
    uint32_t mask = value >> 16;

    return (old & ~mask & 0xffff) | (value & mask);
}

#endif
