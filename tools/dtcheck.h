/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Mistakes that people make with the NPU's part of a device tree.
 */
#ifndef TOOLS_DTCHECK_H
#define TOOLS_DTCHECK_H

#include <glib.h>

G_BEGIN_DECLS

/*
 * Looks for SRAM children that are not in 4 KiB units, overlap, reach past the SRAM's end or have
 * several owners; for an NPU whose SRAM or IOMMU reference is missing, leads nowhere or to a
 * disabled node; and for a tree without an enabled NPU.  Returns one line for each, an empty list
 * for a tree without such mistakes.  A driver accepts most of them in silence, so they are worth
 * a warning; none makes the tree unusable.
 */
GPtrArray *emu_dt_check(const void *fdt);

G_END_DECLS

#endif
