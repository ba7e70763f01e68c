/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What rknpu-emu has to know about each machine of the emulator: one row a machine.
 */
#ifndef TOOLS_MACHINE_H
#define TOOLS_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
    const char *name;           /* as in QEMU's -machine */
    const char *cpu;            /* QEMU's -cpu, NULL when the machine knows its own */
    const char *options;        /* further -machine options, NULL for none */
    const char *console;        /* kernel's console= */
    const char *drivers;        /* the NPU drivers it has device trees for, separated by '|' */
    const char *old_tree;       /* tree for kernels without a clock driver for the chip */
    unsigned clock_major;       /* the first kernel that has one */
    unsigned clock_minor;
    uint64_t sram_base;         /* the on-chip SRAM that --npu-sram divides */
    unsigned max_cpus;
    uint64_t min_memory;        /* bytes */
    uint64_t max_memory;        /* bytes; the chip's DRAM controller, or what QEMU takes */
} EmuMachine;

/* The machine of that name, NULL when there is none. */
const EmuMachine *emu_machine_find(const char *name);

/* All names, for messages: "rk3588, rk3576".  Freed by the caller. */
char *emu_machine_names(void);

/* Whether the machine has a device tree for that NPU driver. */
bool emu_machine_has_driver(const EmuMachine *machine, const char *driver);

/*
 * Name of the machine's device tree for a driver and a kernel release (NULL: not known), as in
 * its driver= property.  A kernel that cannot run the chip's clocks gets a tree in which they run
 * by themselves.  NULL for a machine that makes its own tree.
 */
const char *emu_machine_tree(const EmuMachine *machine, const char *driver, const char *release);

G_END_DECLS

#endif
