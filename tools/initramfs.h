/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's root file system: busybox, our init, the modules and the set-up file, and what the
 * guest folder of the build holds beside them.
 */
#ifndef TOOLS_INITRAMFS_H
#define TOOLS_INITRAMFS_H

#include <stdbool.h>
#include <stdio.h>
#include "module.h"
#include "options.h"

G_BEGIN_DECLS

typedef struct {
    const EmuOptions *options;
    const char *init;           /* our init, built for the guest */
    const char *guest_dir;      /* holds busybox, teflon/ and models/ */
    const EmuModules *modules;
    unsigned port_modules;      /* how many of them, from the first, init loads before it looks
                                   for its port */
    bool plain;                 /* no peer: the guest uses its console */
    bool tty;                   /* the command gets a terminal, of this size */
    unsigned rows, columns;
} EmuInitramfs;

/* Writes the archive.  False and an error when a part is missing or cannot be read. */
bool emu_initramfs_write(const EmuInitramfs *initramfs, FILE *out, GError **error);

G_END_DECLS

#endif
