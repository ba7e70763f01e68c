/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's kernel: finding it, and refusing what cannot boot here before QEMU does it
 * without a word.
 */
#ifndef TOOLS_KERNEL_H
#define TOOLS_KERNEL_H

#include <stdint.h>
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
    char *path;         /* the file as found */
    GBytes *image;      /* the plain arm64 Image */
    char *release;      /* as uname -r: "6.1.0-50-arm64"; NULL when the Image does not tell */
    char *modules;      /* folder lib/modules/RELEASE that belongs to it; NULL when not found */
} EmuKernel;

/*
 * Finds and reads a kernel.  `name` is a file, or the name of a folder under guest_dir/kernel
 * (NULL: "7").  Understood are an arm64 Image, the same gzip-compressed, and an EFI zboot image
 * with a gzip payload.  Modules are looked for beside the file, in modules/lib/modules/RELEASE
 * and lib/modules/RELEASE, then in /lib/modules/RELEASE.  NULL and an error otherwise.
 */
EmuKernel *emu_kernel_open(const char *name, const char *guest_dir, GError **error);
void emu_kernel_free(EmuKernel *kernel);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EmuKernel, emu_kernel_free)

/*
 * The arm64 Image inside the bytes of a kernel file; `path` is for messages.
 * Source of the formats: the kernel's Documentation/arch/arm64/booting.rst and
 * drivers/firmware/efi/libstub/zboot-header.S.
 */
GBytes *emu_kernel_unpack(GBytes *file, const char *path, GError **error);

/* The release out of an Image's "Linux version" banner; NULL when there is none. */
char *emu_kernel_release(GBytes *image);

/* Decompresses gzip data; NULL and an error when it is damaged or longer than `limit` bytes. */
GBytes *emu_gunzip(const void *data, size_t size, size_t limit, GError **error);

G_END_DECLS

#endif
