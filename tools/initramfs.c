/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The archive is not compressed: unpacking it costs the guest less than inflating it would.
 */
#include <string.h>
#include <sys/stat.h>

#include "cpio.h"
#include "error.h"
#include "initramfs.h"
#include "../guest-tests/linux/init-protocol.h"

#define MODULE_DIR "rknpu/modules"

/* Parts of the guest folder that go into the root when the build made them. */
static const struct {
    const char *from, *to;
} optional_trees[] = {
    { "teflon", "" },
    { "programs", "" },
    { "lab", "" },
    { "models", "models" },
};

static void add_entry(GByteArray *setup, const char *key, const char *value)
{
    g_byte_array_append(setup, (const guint8 *)key, strlen(key));
    g_byte_array_append(setup, (const guint8 *)"=", 1);
    g_byte_array_append(setup, (const guint8 *)value, strlen(value) + 1);
}

static void add_environment(GByteArray *setup, const EmuInitramfs *in)
{
    const char *term = g_getenv("TERM");
    g_autofree char *env = g_strdup_printf("TERM=%s", term ? term : "linux");

    if (in->tty || in->plain) {
        add_entry(setup, "env", env);
        add_entry(setup, "env", "PS1=\\h:\\w# ");
    }
}

static GByteArray *make_setup(const EmuInitramfs *in)
{
    GByteArray *setup = g_byte_array_new();
    const GPtrArray *list = in->modules->list;

    if (in->plain) {
        add_entry(setup, "plain", "1");
    } else if (in->tty) {
        g_autofree char *size = g_strdup_printf("%ux%u", in->rows, in->columns);

        add_entry(setup, "tty", size);
    }
    add_entry(setup, "host", in->options->machine->name);
    add_environment(setup, in);
    for (unsigned i = 0; i <= list->len; i++) {
        if (i == in->port_modules) {
            add_entry(setup, "hello", "1");
        }
        if (i < list->len) {
            const EmuModule *module = g_ptr_array_index(list, i);
            g_autofree char *path = g_strdup_printf("/" MODULE_DIR "/%s.ko", module->name);

            add_entry(setup, module->needed ? "need" : "module", path);
        }
    }
    if (in->options->share) {
        add_entry(setup, "share", "1");
    }
    for (char **word = in->options->command; word && *word; word++) {
        add_entry(setup, "arg", *word);
    }
    return setup;
}

static bool add_program(EmuCpio *cpio, const char *name, const char *path, GError **error)
{
    g_autoptr(GMappedFile) map = g_mapped_file_new(path, FALSE, NULL);

    if (!map) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "guest part %s is missing; run `make guest`", path);
        return false;
    }
    return emu_cpio_file(cpio, name, 0755, g_mapped_file_get_contents(map),
                         g_mapped_file_get_length(map));
}

static bool add_modules(EmuCpio *cpio, const GPtrArray *list)
{
    bool ok = true;

    for (unsigned i = 0; i < list->len; i++) {
        const EmuModule *module = g_ptr_array_index(list, i);
        g_autofree char *name = g_strdup_printf(MODULE_DIR "/%s.ko", module->name);
        gsize size;
        const void *elf = g_bytes_get_data(module->elf, &size);

        ok = ok && emu_cpio_file(cpio, name, 0644, elf, size);
    }
    return ok;
}

static bool add_optional_trees(EmuCpio *cpio, const char *guest_dir, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(optional_trees); i++) {
        g_autofree char *path = g_build_filename(guest_dir, optional_trees[i].from, NULL);

        if (g_file_test(path, G_FILE_TEST_IS_DIR) &&
            !emu_cpio_tree(cpio, optional_trees[i].to, path, error)) {
            return false;
        }
    }
    return true;
}

static bool fill(EmuCpio *cpio, const EmuInitramfs *in, GError **error)
{
    static const char *const dirs[] = {
        "dev", "proc", "sys", "tmp", "run", "mnt", "root", "sbin", "usr/bin", "usr/sbin",
    };
    g_autofree char *busybox = g_build_filename(in->guest_dir, "busybox", NULL);
    g_autoptr(GByteArray) setup = make_setup(in);

    for (size_t i = 0; i < G_N_ELEMENTS(dirs); i++) {
        emu_cpio_dir(cpio, dirs[i], 0755);
    }
    /* The kernel opens it before init runs. */
    emu_cpio_node(cpio, "dev/console", S_IFCHR | 0600, 5, 1);
    emu_cpio_link(cpio, "bin/sh", "busybox");
    return add_program(cpio, "init", in->init, error) &&
           add_program(cpio, "bin/busybox", busybox, error) &&
           emu_cpio_file(cpio, RKNPU_SETUP_FILE + 1, 0600, setup->data, setup->len) &&
           add_modules(cpio, in->modules->list) &&
           add_optional_trees(cpio, in->guest_dir, error);
}

bool emu_initramfs_write(const EmuInitramfs *initramfs, FILE *out, GError **error)
{
    EmuCpio *cpio = emu_cpio_new(out);
    bool ok = fill(cpio, initramfs, error);

    if (!emu_cpio_finish(cpio) && ok) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "cannot write the initramfs; is there room for it?");
        ok = false;
    }
    return ok;
}
