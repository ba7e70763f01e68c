/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Flattened device trees: small readers that dtedit.c and dtcheck.c share.  Offsets are libfdt's;
 * any change to a tree makes older ones invalid.
 */
#ifndef TOOLS_DT_H
#define TOOLS_DT_H

#include <stdbool.h>
#include <stdint.h>
#include <libfdt.h>
#include <glib.h>

G_BEGIN_DECLS

/* Next node behind `offset` with a compatible string that ends in `suffix`; -1 at the end. */
int emu_dt_next_compatible(const void *fdt, int offset, const char *suffix);

/* First range of a node's reg, by its parent's cell counts; false when there is none. */
bool emu_dt_reg(const void *fdt, int node, uint64_t *base, uint64_t *size);

/* First cell of a property; false when the node has no such property or it is no cell. */
bool emu_dt_cell(const void *fdt, int node, const char *property, uint32_t *value);

/* Whether the node is in use: no status, or "okay". */
bool emu_dt_enabled(const void *fdt, int node);

/* Whether the node's name, without the unit address, holds the word. */
bool emu_dt_name_has(const void *fdt, int node, const char *word);

/* The NPU's node of the vendor's binding: one for all cores.  -1 when there is none. */
int emu_dt_find_rknpu(const void *fdt);

/* Property names by which a node claims a child of the SRAM: vendor's and mainline's. */
extern const char *const emu_dt_sram_properties[2];

/* First node behind `offset` that claims the SRAM child with that phandle; -1 at the end. */
int emu_dt_next_sram_user(const void *fdt, int offset, uint32_t phandle, const char **property);

G_END_DECLS

#endif
