/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Kernel modules.  Dependencies come from each module's .modinfo, so a tree needs no depmod.
 */
#include <elf.h>
#include <string.h>
#include <gio/gio.h>

#include "error.h"
#include "module.h"

#define MODULE_LIMIT (256 * 1024 * 1024)
#define DEPTH_LIMIT 64

static void module_free(gpointer data)
{
    EmuModule *module = data;

    g_free(module->name);
    g_bytes_unref(module->elf);
    g_free(module);
}

char *emu_module_name(const char *path)
{
    char *name = g_path_get_basename(path);
    char *suffix = strstr(name, ".ko");

    if (suffix) {
        *suffix = '\0';
    }
    return g_strdelimit(name, "-", '_');
}

static void scan_tree(GHashTable *tree, const char *dir, unsigned depth)
{
    g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
    const char *entry;

    while (d && depth < DEPTH_LIMIT && (entry = g_dir_read_name(d))) {
        g_autofree char *path = g_build_filename(dir, entry, NULL);

        if (strstr(entry, ".ko")) {
            g_hash_table_insert(tree, emu_module_name(entry), g_steal_pointer(&path));
        } else if (g_file_test(path, G_FILE_TEST_IS_DIR) &&
                   !g_file_test(path, G_FILE_TEST_IS_SYMLINK)) {
            scan_tree(tree, path, depth + 1);
        }
    }
}

EmuModules *emu_modules_new(const EmuKernel *kernel)
{
    EmuModules *modules = g_new0(EmuModules, 1);

    modules->kernel = kernel;
    modules->tree = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    modules->list = g_ptr_array_new_with_free_func(module_free);
    if (kernel->modules) {
        scan_tree(modules->tree, kernel->modules, 0);
    }
    return modules;
}

void emu_modules_free(EmuModules *modules)
{
    if (modules) {
        g_hash_table_unref(modules->tree);
        g_ptr_array_unref(modules->list);
        g_free(modules);
    }
}

/* Runs a decompressor on a file; distributions ship modules packed by one of these. */
static GBytes *run_unpacker(const char *program, const char *path, GError **error)
{
    g_autoptr(GSubprocess) process = g_subprocess_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE, error,
                                                      program, "-dc", "--", path, NULL);
    GBytes *out = NULL;

    if (!process || !g_subprocess_communicate(process, NULL, NULL, &out, NULL, error)) {
        return NULL;
    }
    if (!g_subprocess_get_successful(process)) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "%s could not unpack it", program);
        g_bytes_unref(out);
        return NULL;
    }
    return out;
}

static GBytes *read_module(const char *path, GError **error)
{
    g_autoptr(GMappedFile) map = g_mapped_file_new(path, FALSE, error);

    if (!map) {
        return NULL;
    }
    if (g_str_has_suffix(path, ".xz")) {
        return run_unpacker("xz", path, error);
    }
    if (g_str_has_suffix(path, ".zst")) {
        return run_unpacker("zstd", path, error);
    }
    if (g_str_has_suffix(path, ".gz")) {
        return emu_gunzip(g_mapped_file_get_contents(map), g_mapped_file_get_length(map),
                          MODULE_LIMIT, error);
    }
    return g_mapped_file_get_bytes(map);
}

/* The module's section of that name inside its file; NULL when absent or out of bounds. */
static const char *find_section(GBytes *elf, const char *name, size_t *size)
{
    gsize total;
    const uint8_t *data = g_bytes_get_data(elf, &total);
    Elf64_Ehdr eh;
    Elf64_Shdr names, sh;

    if (total < sizeof(eh)) {
        return NULL;
    }
    memcpy(&eh, data, sizeof(eh));
    if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
        eh.e_shentsize != sizeof(sh) || eh.e_shstrndx >= eh.e_shnum || eh.e_shoff > total ||
        (total - eh.e_shoff) / sizeof(sh) < eh.e_shnum) {
        return NULL;
    }
    memcpy(&names, data + eh.e_shoff + eh.e_shstrndx * sizeof(sh), sizeof(sh));
    for (unsigned i = 0; i < eh.e_shnum; i++) {
        memcpy(&sh, data + eh.e_shoff + i * sizeof(sh), sizeof(sh));
        if (sh.sh_type != SHT_NOBITS && sh.sh_offset <= total &&
            sh.sh_size <= total - sh.sh_offset && sh.sh_name < names.sh_size &&
            names.sh_offset <= total && names.sh_size <= total - names.sh_offset &&
            names.sh_size - sh.sh_name > strlen(name) &&
            memcmp(data + names.sh_offset + sh.sh_name, name, strlen(name) + 1) == 0) {
            *size = sh.sh_size;
            return (const char *)data + sh.sh_offset;
        }
    }
    return NULL;
}

char *emu_modinfo(GBytes *elf, const char *key)
{
    size_t size, key_len = strlen(key);
    const char *p = find_section(elf, ".modinfo", &size);
    const char *end = p ? p + size : NULL;

    while (p && p < end) {
        size_t len = strnlen(p, end - p);

        if (len > key_len && p[key_len] == '=' && memcmp(p, key, key_len) == 0) {
            return g_strndup(p + key_len + 1, len - key_len - 1);
        }
        p += len + 1;
    }
    return NULL;
}

static bool check_elf(GBytes *elf, GError **error)
{
    gsize size;
    const Elf64_Ehdr *eh = g_bytes_get_data(elf, &size);
    size_t ignored;

    if (size < sizeof(*eh) || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 ||
        eh->e_type != ET_REL || !find_section(elf, ".modinfo", &ignored)) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "not a kernel module; give the .ko file that the build made");
        return false;
    }
    if (eh->e_machine != EM_AARCH64) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "a module for another architecture; build it with ARCH=arm64");
        return false;
    }
    return true;
}

/* The release is the first word of vermagic. */
static bool check_release(GBytes *elf, const EmuKernel *kernel, GError **error)
{
    g_autofree char *vermagic = emu_modinfo(elf, "vermagic");

    if (!vermagic || !kernel->release) {
        return true;
    }
    vermagic[strcspn(vermagic, " ")] = '\0';
    if (!g_str_equal(vermagic, kernel->release)) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "built for kernel %s, but %s is %s; build it against that kernel", vermagic,
                    kernel->path, kernel->release);
        return false;
    }
    return true;
}

static bool is_listed(const EmuModules *modules, const char *name)
{
    for (unsigned i = 0; i < modules->list->len; i++) {
        const EmuModule *module = g_ptr_array_index(modules->list, i);

        if (g_str_equal(module->name, name)) {
            return true;
        }
    }
    return false;
}

static bool add(EmuModules *modules, const char *path, bool needed, unsigned depth,
                GError **error)
{
    g_autofree char *name = emu_module_name(path);
    g_autoptr(GBytes) elf = NULL;
    g_autofree char *depends = NULL;
    g_auto(GStrv) names = NULL;
    EmuModule *module;

    if (is_listed(modules, name)) {
        return true;
    }
    elf = read_module(path, error);
    if (!elf || !check_elf(elf, error) || !check_release(elf, modules->kernel, error)) {
        g_prefix_error(error, "module %s: ", path);
        (*error)->domain = EMU_ERROR;
        (*error)->code = EMU_STATUS_SETUP;
        return false;
    }
    depends = emu_modinfo(elf, "depends");
    names = g_strsplit(depends ? depends : "", ",", 0);
    for (unsigned i = 0; names[i] && depth < DEPTH_LIMIT; i++) {
        g_autofree char *dependency = emu_module_name(names[i]);
        const char *file = g_hash_table_lookup(modules->tree, dependency);

        if (file && !add(modules, file, false, depth + 1, error)) {
            return false;
        }
    }
    module = g_new0(EmuModule, 1);
    module->name = g_steal_pointer(&name);
    module->elf = g_steal_pointer(&elf);
    module->needed = needed;
    g_ptr_array_add(modules->list, module);
    return true;
}

bool emu_modules_add_default(EmuModules *modules, const char *name, GError **error)
{
    const char *path = g_hash_table_lookup(modules->tree, name);

    return !path || add(modules, path, false, 0, error);
}

bool emu_modules_add_file(EmuModules *modules, const char *path, GError **error)
{
    return add(modules, path, true, 0, error);
}
