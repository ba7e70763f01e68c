/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Kernel modules: reading them, checking that they fit the kernel, and the order to load them.
 */
#ifndef TOOLS_MODULE_H
#define TOOLS_MODULE_H

#include <stdbool.h>
#include "kernel.h"

G_BEGIN_DECLS

typedef struct {
    char *name;         /* as lsmod shows it: underscores, no suffix */
    GBytes *elf;        /* uncompressed */
    bool needed;        /* the user asked for it: a run without it makes no sense */
} EmuModule;

/* The modules that one guest loads, in order. */
typedef struct {
    const EmuKernel *kernel;
    GHashTable *tree;   /* name -> file, of the kernel's own modules */
    GPtrArray *list;    /* of EmuModule */
} EmuModules;

EmuModules *emu_modules_new(const EmuKernel *kernel);
void emu_modules_free(EmuModules *modules);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EmuModules, emu_modules_free)

/*
 * Appends a module of the kernel's tree, by name, and before it what it depends on.  A name that
 * the tree does not have is taken as built in.  False and an error for a damaged file.
 */
bool emu_modules_add_default(EmuModules *modules, const char *name, GError **error);

/*
 * Appends a module file of the user, and before it what it depends on.  False and an error when
 * the file is no arm64 module or was built for another kernel.
 */
bool emu_modules_add_file(EmuModules *modules, const char *path, GError **error);

/* Name of a module in its file's name: "gpu-sched.ko.xz" -> "gpu_sched". */
char *emu_module_name(const char *path);

/* One value of a module's .modinfo, e.g. "vermagic" or "depends"; NULL when it has none. */
char *emu_modinfo(GBytes *elf, const char *key);

G_END_DECLS

#endif
