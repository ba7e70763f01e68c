/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Writer of cpio archives in the "newc" format, the one that the kernel unpacks as initramfs
 * (Documentation/driver-api/early-userspace/buffer-format.rst).
 */
#ifndef TOOLS_CPIO_H
#define TOOLS_CPIO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
    FILE *out;
    uint32_t inode;     /* of the last entry */
    GHashTable *names;  /* entries already written */
} EmuCpio;

/* An archive that is written to `out`, which stays the caller's. */
EmuCpio *emu_cpio_new(FILE *out);

/* Writes the end mark; false when any write failed.  Frees the archive. */
bool emu_cpio_finish(EmuCpio *cpio);

/*
 * Entries; names have no leading slash.  Folders above an entry are made on first need.  The first
 * entry of a name wins and later ones are dropped, so layers are added top first.  Files are
 * limited to 4 GiB by the format: false for a longer one.
 */
void emu_cpio_dir(EmuCpio *cpio, const char *name, unsigned mode);
bool emu_cpio_file(EmuCpio *cpio, const char *name, unsigned mode, const void *data, size_t size);
void emu_cpio_link(EmuCpio *cpio, const char *name, const char *target);
void emu_cpio_node(EmuCpio *cpio, const char *name, unsigned mode, unsigned major,
                   unsigned minor);

/* Copies a host folder to `name` ("" for the root): files, links and folders below it. */
bool emu_cpio_tree(EmuCpio *cpio, const char *name, const char *path, GError **error);

G_END_DECLS

#endif
