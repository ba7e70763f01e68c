/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The command line of `rknpu-emu run`, checked and converted.
 */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include "machine.h"

G_BEGIN_DECLS

typedef struct {
    const EmuMachine *machine;
    char *driver;               /* NULL when the machine has no NPU */
    char *kernel;               /* as given; NULL for the default kernel */
    char *append;               /* for the kernel's command line; NULL for nothing */
    char *dtb;                  /* NULL for the machine's own */
    char **overlays;            /* NULL or a NULL-ended list, as the four below */
    char **modules;
    char **globals;             /* DEVICE.PROPERTY=VALUE of QEMU's devices */
    char **command;             /* NULL for an interactive shell */
    char *share;
    char *log;
    bool has_npu_sram;
    uint64_t sram_size;         /* bytes */
    uint64_t sram_offset;       /* bytes from the start of the SRAM */
    unsigned cpus;
    uint64_t memory;            /* bytes */
    unsigned timeout;           /* seconds; 0 for none */
    bool stats;                 /* print what the NPU did */
    bool dry_run;
} EmuOptions;

/*
 * Parses the words after `rknpu-emu run`.  argv[0] is a name for messages.  Returns NULL and an
 * error with the code EMU_STATUS_USAGE for a word that is not understood or does not fit the
 * machine.  `--help` prints the help and exits.
 */
EmuOptions *emu_options_parse(char **argv, GError **error);
void emu_options_free(EmuOptions *options);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EmuOptions, emu_options_free)

/*
 * A size in bytes: decimal or 0x-hexadecimal, with an optional K, M or G (powers of 1024) behind
 * it.  False when the text is something else or does not fit 64 bits.
 */
bool emu_parse_size(const char *text, uint64_t *size);

/* Bytes as people write them: "512 MiB", "4 GiB", "0x1234 bytes".  Freed by the caller. */
char *emu_format_size(uint64_t size);

G_END_DECLS

#endif
