/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * newc: a header of 110 characters, "070701" and thirteen 8-digit hexadecimal numbers, then the
 * name with its NUL, then the data; header plus name and data are each padded to 4 bytes.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cpio.h"
#include "error.h"

#define HEADER_SIZE 110
#define DEPTH_LIMIT 64

EmuCpio *emu_cpio_new(FILE *out)
{
    EmuCpio *cpio = g_new0(EmuCpio, 1);

    cpio->out = out;
    cpio->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return cpio;
}

static void pad(EmuCpio *cpio, size_t size)
{
    static const char zeros[4];

    fwrite(zeros, 1, -size & 3, cpio->out);
}

static void put(EmuCpio *cpio, const char *name, unsigned mode, const void *data, uint32_t size,
                unsigned major, unsigned minor)
{
    unsigned name_size = strlen(name) + 1;

    fprintf(cpio->out, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
            ++cpio->inode, mode, 0, 0, S_ISDIR(mode) ? 2 : 1, 0, size, 0, 0, major, minor,
            name_size, 0);
    fwrite(name, 1, name_size, cpio->out);
    pad(cpio, HEADER_SIZE + name_size);
    fwrite(data, 1, size, cpio->out);
    pad(cpio, size);
}

/* True when the name is new; writes the folders above it that are new too. */
static bool claim(EmuCpio *cpio, const char *name)
{
    const char *slash = strrchr(name, '/');

    if (!g_hash_table_add(cpio->names, g_strdup(name))) {
        return false;
    }
    if (slash) {
        g_autofree char *parent = g_strndup(name, slash - name);

        emu_cpio_dir(cpio, parent, 0755);
    }
    return true;
}

void emu_cpio_dir(EmuCpio *cpio, const char *name, unsigned mode)
{
    if (claim(cpio, name)) {
        put(cpio, name, S_IFDIR | mode, "", 0, 0, 0);
    }
}

bool emu_cpio_file(EmuCpio *cpio, const char *name, unsigned mode, const void *data, size_t size)
{
    if (size > UINT32_MAX) {
        return false;
    }
    if (claim(cpio, name)) {
        put(cpio, name, S_IFREG | mode, data, size, 0, 0);
    }
    return true;
}

void emu_cpio_link(EmuCpio *cpio, const char *name, const char *target)
{
    if (claim(cpio, name)) {
        put(cpio, name, S_IFLNK | 0777, target, strlen(target), 0, 0);
    }
}

void emu_cpio_node(EmuCpio *cpio, const char *name, unsigned mode, unsigned major,
                   unsigned minor)
{
    if (claim(cpio, name)) {
        put(cpio, name, mode, "", 0, major, minor);
    }
}

bool emu_cpio_finish(EmuCpio *cpio)
{
    bool ok;

    put(cpio, "TRAILER!!!", 0, "", 0, 0, 0);
    ok = fflush(cpio->out) == 0 && !ferror(cpio->out);
    g_hash_table_unref(cpio->names);
    g_free(cpio);
    return ok;
}

static bool copy_file(EmuCpio *cpio, const char *name, unsigned mode, const char *path,
                      GError **error)
{
    g_autoptr(GMappedFile) map = g_mapped_file_new(path, FALSE, error);

    if (!map) {
        return false;
    }
    if (!emu_cpio_file(cpio, name, mode, g_mapped_file_get_contents(map),
                       g_mapped_file_get_length(map))) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "%s: larger than 4 GiB", path);
        return false;
    }
    return true;
}

static bool copy_tree(EmuCpio *cpio, const char *name, const char *path, unsigned depth,
                      GError **error)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, error);
    const char *entry;
    bool ok = dir != NULL;

    while (ok && depth < DEPTH_LIMIT && (entry = g_dir_read_name(dir))) {
        g_autofree char *from = g_build_filename(path, entry, NULL);
        g_autofree char *to = *name ? g_build_filename(name, entry, NULL) : g_strdup(entry);
        struct stat st;

        if (lstat(from, &st) < 0) {
            g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "%s: %s", from, g_strerror(errno));
            return false;
        }
        if (S_ISDIR(st.st_mode)) {
            emu_cpio_dir(cpio, to, st.st_mode & 07777);
            ok = copy_tree(cpio, to, from, depth + 1, error);
        } else if (S_ISLNK(st.st_mode)) {
            g_autofree char *target = g_file_read_link(from, error);

            ok = target != NULL;
            if (ok) {
                emu_cpio_link(cpio, to, target);
            }
        } else if (S_ISREG(st.st_mode)) {
            ok = copy_file(cpio, to, st.st_mode & 07777, from, error);
        }
    }
    return ok;
}

bool emu_cpio_tree(EmuCpio *cpio, const char *name, const char *path, GError **error)
{
    return copy_tree(cpio, name, path, 0, error);
}
