/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The table of machines.  `virt` is QEMU's own board: it has no NPU and serves as the reference
 * for boot time and for telling a fault of a machine from one of the kernel.
 */
#include <stdio.h>

#include "machine.h"

#define GIB (UINT64_C(1) << 30)
#define MIB (UINT64_C(1) << 20)

static const EmuMachine machines[] = {
    {
        .name = "rk3588",
        .console = "ttyS2,1500000",
        .drivers = "rocket|rknpu",
        .old_tree = "fixed-clocks",
        .clock_major = 6,       /* clk-rk3588.c came with Linux 6.2 */
        .clock_minor = 2,
        .sram_base = 0xff001000,
        .max_cpus = 8,
        .min_memory = 512 * MIB,
        .max_memory = 32 * GIB,
    }, {
        .name = "rk3576",
        .console = "ttyS0,1500000",
        .drivers = "rknpu|rocket",
        .old_tree = "fixed-clocks",
        .clock_major = 6,
        .clock_minor = 12,
        .sram_base = 0x3ff88000,
        .max_cpus = 8,
        .min_memory = 512 * MIB,
        .max_memory = 16 * GIB,
    }, {
        .name = "virt",
        .cpu = "cortex-a55",    /* as the RK3588's first cluster */
        .options = "gic-version=3",
        .console = "ttyAMA0",
        .max_cpus = 8,
        .min_memory = 256 * MIB,
        .max_memory = 32 * GIB,
    },
};

const EmuMachine *emu_machine_find(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(machines); i++) {
        if (g_str_equal(machines[i].name, name)) {
            return &machines[i];
        }
    }
    return NULL;
}

char *emu_machine_names(void)
{
    GString *names = g_string_new(NULL);

    for (size_t i = 0; i < G_N_ELEMENTS(machines); i++) {
        g_string_append_printf(names, "%s%s", i ? ", " : "", machines[i].name);
    }
    return g_string_free(names, FALSE);
}

bool emu_machine_has_driver(const EmuMachine *machine, const char *driver)
{
    g_auto(GStrv) drivers = g_strsplit(machine->drivers ? machine->drivers : "", "|", 0);

    return g_strv_contains((const char *const *)drivers, driver);
}

const char *emu_machine_tree(const EmuMachine *machine, const char *driver, const char *release)
{
    unsigned major, minor;

    if (machine->old_tree && release && sscanf(release, "%u.%u", &major, &minor) == 2 &&
        (major < machine->clock_major ||
         (major == machine->clock_major && minor < machine->clock_minor))) {
        return machine->old_tree;
    }
    return driver;
}
