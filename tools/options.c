/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The option table of `rknpu-emu run` and the checks that need no file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "options.h"

#define DEFAULT_MACHINE "rk3588"
#define DEFAULT_CPUS 2
#define DEFAULT_MEMORY "2G"
#define DEFAULT_TIMEOUT 300

G_DEFINE_QUARK(rknpu-emu-error, emu_error)

/* Options as typed, before they are checked. */
typedef struct {
    char *machine, *driver, *kernel, *append, *dtb, *npu_sram, *share, *log, *memory;
    char **overlays, **modules, **globals;
    int cpus, timeout;
    gboolean stats;
    gboolean dry_run;
} Raw;

bool emu_parse_size(const char *text, uint64_t *size)
{
    static const char units[] = "KMG";
    const char *unit;
    char *end;
    guint64 value;

    if (!g_ascii_isdigit(text[0])) {
        return false;
    }
    value = g_ascii_strtoull(text, &end, g_str_has_prefix(text, "0x") ? 16 : 10);
    unit = *end ? strchr(units, g_ascii_toupper(*end)) : NULL;
    if (unit) {
        unsigned shift = 10 * (unit - units + 1);

        if (value > UINT64_MAX >> shift) {
            return false;
        }
        value <<= shift;
        end++;
    }
    *size = value;
    return *end == '\0' && value != G_MAXUINT64;
}

char *emu_format_size(uint64_t size)
{
    static const char *const units[] = { "GiB", "MiB", "KiB" };

    for (int i = 0; i < 3; i++) {
        uint64_t unit = UINT64_C(1) << (30 - 10 * i);

        if (size >= unit && size % unit == 0) {
            return g_strdup_printf("%" G_GUINT64_FORMAT " %s", size / unit, units[i]);
        }
    }
    return g_strdup_printf("0x%" G_GINT64_MODIFIER "x bytes", size);
}

static bool check_machine(EmuOptions *o, const Raw *raw, GError **error)
{
    const char *name = raw->machine ? raw->machine : DEFAULT_MACHINE;
    const char *driver = raw->driver;

    o->machine = emu_machine_find(name);
    if (!o->machine) {
        g_autofree char *names = emu_machine_names();

        g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE, "no machine '%s'; there are %s", name,
                    names);
        return false;
    }
    if (driver && !emu_machine_has_driver(o->machine, driver)) {
        if (o->machine->drivers) {
            g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE,
                        "--driver %s: machine %s has device trees for %s", driver, name,
                        o->machine->drivers);
        } else {
            g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE,
                        "--driver %s does not apply to machine %s, which has no NPU", driver,
                        name);
        }
        return false;
    }
    if (driver) {
        o->driver = g_strdup(driver);
    } else if (o->machine->drivers) {
        o->driver = g_strndup(o->machine->drivers, strcspn(o->machine->drivers, "|"));
    }
    return true;
}

static bool check_sizes(EmuOptions *o, const Raw *raw, GError **error)
{
    const char *memory = raw->memory ? raw->memory : DEFAULT_MEMORY;
    g_autofree char *least = emu_format_size(o->machine->min_memory);
    g_autofree char *most = emu_format_size(o->machine->max_memory);

    if (raw->cpus < 1 || (unsigned)raw->cpus > o->machine->max_cpus) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE, "--smp %d: machine %s has 1 to %u CPUs",
                    raw->cpus, o->machine->name, o->machine->max_cpus);
        return false;
    }
    o->cpus = raw->cpus;
    if (!emu_parse_size(memory, &o->memory)) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE,
                    "--memory %s: not a size; write for example 512M or 4G", memory);
        return false;
    }
    if (o->memory < o->machine->min_memory || o->memory > o->machine->max_memory) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE,
                    "--memory %s: machine %s takes %s to %s (write 512M or 4G)", memory,
                    o->machine->name, least, most);
        return false;
    }
    if (o->memory % (1024 * 1024)) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE,
                    "--memory %s: must be a whole number of MiB", memory);
        return false;
    }
    if (raw->timeout < -1) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE,
                    "--timeout %d: must be 0 (none) or more seconds", raw->timeout);
        return false;
    }
    return true;
}

/* What QEMU takes without a word and does not use is caught here: a name without a device. */
static bool check_globals(const Raw *raw, GError **error)
{
    for (char **global = raw->globals; global && *global; global++) {
        const char *dot = strchr(*global, '.'), *equal = strchr(*global, '=');

        if (!dot || !equal || dot == *global || dot + 1 >= equal) {
            g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE,
                        "--global %s: write DEVICE.PROPERTY=VALUE, for example rk-npu.strict=on",
                        *global);
            return false;
        }
    }
    return true;
}

/* SIZE[@OFFSET] */
static bool check_npu_sram(EmuOptions *o, const Raw *raw, GError **error)
{
    g_auto(GStrv) parts = NULL;

    if (!raw->npu_sram) {
        return true;
    }
    if (!o->driver) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE,
                    "--npu-sram does not apply to machine %s, which has no NPU",
                    o->machine->name);
        return false;
    }
    parts = g_strsplit(raw->npu_sram, "@", 2);
    if (!parts[0] || !emu_parse_size(parts[0], &o->sram_size) || o->sram_size == 0 ||
        (parts[1] && !emu_parse_size(parts[1], &o->sram_offset)) ||
        o->sram_size > G_MAXUINT32 || o->sram_offset > G_MAXUINT32) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE,
                    "--npu-sram %s: write SIZE or SIZE@OFFSET, for example 476K@0x78000",
                    raw->npu_sram);
        return false;
    }
    o->has_npu_sram = true;
    return true;
}

/* The command's own words must not be taken for options, so they are cut off first. */
static char **cut_command(char **argv)
{
    for (char **arg = argv; *arg; arg++) {
        if (g_str_equal(*arg, "--")) {
            GPtrArray *command = g_ptr_array_new();

            for (char **word = arg + 1; *word; word++) {
                g_ptr_array_add(command, *word);
            }
            g_ptr_array_add(command, NULL);
            g_free(*arg);
            *arg = NULL;
            return (char **)g_ptr_array_free(command, FALSE);
        }
    }
    return NULL;
}

static bool parse_raw(char **argv, Raw *raw, GError **error)
{
    const GOptionEntry entries[] = {
        { "machine", 'M', 0, G_OPTION_ARG_STRING, &raw->machine,
          "rk3588 (default), rk3576, or virt: QEMU's own board, for comparison", "NAME" },
        { "driver", 0, 0, G_OPTION_ARG_STRING, &raw->driver,
          "device tree for mainline's rocket or Rockchip's rknpu", "rocket|rknpu" },
        { "kernel", 'k', 0, G_OPTION_ARG_FILENAME, &raw->kernel,
          "arm64 Image, or the name of a prepared kernel: 7 (default), 6.12, 6.1", "FILE" },
        { "append", 0, 0, G_OPTION_ARG_STRING, &raw->append,
          "more words for the kernel's command line, e.g. \"cma=256M rknpu.x=1\"", "TEXT" },
        { "dtb", 0, 0, G_OPTION_ARG_FILENAME, &raw->dtb,
          "device tree instead of the machine's own", "FILE" },
        { "overlay", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->overlays,
          "apply this compiled overlay to the device tree; may be repeated", "FILE" },
        { "npu-sram", 0, 0, G_OPTION_ARG_STRING, &raw->npu_sram,
          "give the NPU this part of the on-chip SRAM, e.g. 476K@0x78000", "SIZE[@OFFSET]" },
        { "module", 'm', 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->modules,
          "load this module after the default ones; may be repeated", "FILE" },
        { "global", 0, 0, G_OPTION_ARG_STRING_ARRAY, &raw->globals,
          "a switch of a device, e.g. rk-npu.strict=on; may be repeated",
          "DEVICE.PROPERTY=VALUE" },
        { "share", 0, 0, G_OPTION_ARG_FILENAME, &raw->share,
          "folder that the guest sees, read-write, at /mnt/share", "DIR" },
        { "smp", 0, 0, G_OPTION_ARG_INT, &raw->cpus, "CPUs, 1 to 8 (default 2)", "N" },
        { "memory", 0, 0, G_OPTION_ARG_STRING, &raw->memory,
          "guest memory (default " DEFAULT_MEMORY ")", "SIZE" },
        { "timeout", 0, 0, G_OPTION_ARG_INT, &raw->timeout,
          "limit of the whole run (default " G_STRINGIFY(DEFAULT_TIMEOUT)
          "; a shell has none once it runs; 0: none)", "SECONDS" },
        { "log", 0, 0, G_OPTION_ARG_FILENAME, &raw->log, "write the kernel log to this file",
          "FILE" },
        { "stats", 0, 0, G_OPTION_ARG_NONE, &raw->stats,
          "print what the NPU computed, read and wrote, on the standard error", NULL },
        { "dry-run", 0, 0, G_OPTION_ARG_NONE, &raw->dry_run,
          "print the QEMU command for a terminal instead of running it", NULL },
        { NULL }
    };
    g_autoptr(GOptionContext) context = g_option_context_new("[-- COMMAND ARGS...]");
    g_autoptr(GError) local = NULL;

    g_option_context_set_summary(context,
        "Boots a kernel on the emulated chip, runs COMMAND in the guest and returns its exit\n"
        "status.  Without COMMAND: a shell on this terminal (Ctrl-A x leaves it).");
    g_option_context_set_description(context,
        "Exit status: that of COMMAND; 2 usage; 123 kernel panic, oops or warning; 124 timeout;\n"
        "125 the emulator could not do its part.  docs/rknpu-emu.md has the manual.\n");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse_strv(context, &argv, &local)) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE, "%s; see rknpu-emu run --help",
                    local->message);
        return false;
    }
    if (argv[1]) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE,
                    "unexpected word '%s'; the command for the guest goes behind --", argv[1]);
        return false;
    }
    return true;
}

static void raw_clear(Raw *raw)
{
    g_free(raw->machine);
    g_free(raw->driver);
    g_free(raw->kernel);
    g_free(raw->append);
    g_free(raw->dtb);
    g_free(raw->npu_sram);
    g_free(raw->share);
    g_free(raw->log);
    g_free(raw->memory);
    g_strfreev(raw->overlays);
    g_strfreev(raw->modules);
    g_strfreev(raw->globals);
}

EmuOptions *emu_options_parse(char **argv, GError **error)
{
    g_autoptr(EmuOptions) o = g_new0(EmuOptions, 1);
    g_auto(GStrv) words = g_strdupv(argv);
    Raw raw = { .cpus = DEFAULT_CPUS, .timeout = -1 };
    bool ok;

    o->command = cut_command(words);
    if (o->command && !o->command[0]) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE, "no command behind --");
        return NULL;
    }
    ok = parse_raw(words, &raw, error) && check_machine(o, &raw, error) &&
         check_sizes(o, &raw, error) && check_npu_sram(o, &raw, error) &&
         check_globals(&raw, error);
    o->kernel = g_steal_pointer(&raw.kernel);
    o->append = g_steal_pointer(&raw.append);
    o->dtb = g_steal_pointer(&raw.dtb);
    o->overlays = g_steal_pointer(&raw.overlays);
    o->modules = g_steal_pointer(&raw.modules);
    o->globals = g_steal_pointer(&raw.globals);
    o->share = g_steal_pointer(&raw.share);
    o->log = g_steal_pointer(&raw.log);
    o->stats = raw.stats;
    o->dry_run = raw.dry_run;
    o->timeout = raw.timeout >= 0 ? (unsigned)raw.timeout : o->command ? DEFAULT_TIMEOUT : 0;
    raw_clear(&raw);
    return ok ? g_steal_pointer(&o) : NULL;
}

void emu_options_free(EmuOptions *o)
{
    if (!o) {
        return;
    }
    g_free(o->driver);
    g_free(o->kernel);
    g_free(o->append);
    g_free(o->dtb);
    g_strfreev(o->overlays);
    g_strfreev(o->modules);
    g_strfreev(o->globals);
    g_strfreev(o->command);
    g_free(o->share);
    g_free(o->log);
    g_free(o);
}
