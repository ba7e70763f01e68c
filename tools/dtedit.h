/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Changes to a device tree before the machine gets it.
 */
#ifndef TOOLS_DTEDIT_H
#define TOOLS_DTEDIT_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

G_BEGIN_DECLS

/*
 * Reads a compiled device tree and leaves room in it for changes.  NULL and an error when the file
 * cannot be read or is damaged.  The tree is freed by g_free().
 */
void *emu_dt_load(const char *path, GError **error);

/* Merges a compiled overlay into the tree, which may move.  A failure leaves the tree unusable. */
bool emu_dt_apply_overlay(void **fdt, const char *path, GError **error);

/*
 * Gives the NPU `size` bytes at `offset` of the mmio-sram that starts at `sram_base`: children
 * that overlap the range go, with the properties that name them; one for the NPU is added, and the
 * rknpu node's rockchip,sram points at it.  This is the change of Rockchip's guide
 * (RK3588_NPU_SRAM_usage.md).  The range is not checked: wrong ones are a thing to try, and
 * emu_dt_check() tells about them.
 */
bool emu_dt_give_sram(void **fdt, uint64_t sram_base, uint32_t size, uint32_t offset,
                      GError **error);

G_END_DECLS

#endif
