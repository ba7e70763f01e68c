/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <string.h>

#include "dt.h"
#include "dtedit.h"
#include "error.h"

#define SLACK 65536
#define TREE_LIMIT (16 * 1024 * 1024)

static bool read_blob(const char *path, char **data, gsize *size, GError **error)
{
    GError *local = NULL;
    int result;

    if (!g_file_get_contents(path, data, size, &local)) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "device tree: %s", local->message);
        g_error_free(local);
        return false;
    }
    if (g_str_has_prefix(*data, "/dts-v1/")) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "%s: device tree source; compile it: dtc -@ -O dtb -o FILE.dtb %s", path, path);
        return false;
    }
    result = *size > TREE_LIMIT ? -FDT_ERR_BADSTRUCTURE : fdt_check_full(*data, *size);
    if (result < 0) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "%s: not a sound device tree (%s); compile it again with dtc", path,
                    fdt_strerror(result));
        return false;
    }
    return true;
}

void *emu_dt_load(const char *path, GError **error)
{
    g_autofree char *blob = NULL;
    gsize size;
    void *fdt;

    if (!read_blob(path, &blob, &size, error)) {
        return NULL;
    }
    fdt = g_malloc0(size + SLACK);
    fdt_open_into(blob, fdt, size + SLACK);
    return fdt;
}

/* Moves the tree to a place with at least `more` free bytes. */
static void grow(void **fdt, size_t more)
{
    size_t size = fdt_totalsize(*fdt) + more;
    void *larger = g_malloc0(size);

    fdt_open_into(*fdt, larger, size);
    g_free(*fdt);
    *fdt = larger;
}

bool emu_dt_apply_overlay(void **fdt, const char *path, GError **error)
{
    g_autofree char *overlay = NULL;
    gsize size;
    int result;

    if (!read_blob(path, &overlay, &size, error)) {
        return false;
    }
    grow(fdt, size + SLACK);
    if (fdt_path_offset(*fdt, "/__symbols__") < 0 &&
        fdt_path_offset(overlay, "/__fixups__") >= 0) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "%s: the device tree has no labels to apply it to; compile the tree with "
                    "dtc -@", path);
        return false;
    }
    result = fdt_overlay_apply(*fdt, overlay);
    if (result < 0) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "%s: does not apply to this device tree (%s); is it for this machine and "
                    "driver, and compiled with dtc -@?", path, fdt_strerror(result));
        return false;
    }
    return true;
}

static int find_sram(const void *fdt, uint64_t sram_base)
{
    uint64_t base, size;

    for (int node = -1; (node = emu_dt_next_compatible(fdt, node, "mmio-sram")) >= 0;) {
        if (emu_dt_reg(fdt, node, &base, &size) && base == sram_base) {
            return node;
        }
    }
    return -1;
}

static void drop_references(void *fdt, uint32_t phandle)
{
    const char *property;
    int user;

    while (phandle && (user = emu_dt_next_sram_user(fdt, -1, phandle, &property)) >= 0) {
        fdt_delprop(fdt, user, property);
    }
}

/* Removes the first child of the SRAM that overlaps the range; false when none does. */
static bool drop_overlapping_child(void *fdt, uint64_t sram_base, uint64_t start, uint64_t end)
{
    int sram = find_sram(fdt, sram_base);
    uint64_t base, size;
    int child;

    fdt_for_each_subnode(child, fdt, sram) {
        if (emu_dt_reg(fdt, child, &base, &size) && base < end && start < base + size) {
            uint32_t phandle = fdt_get_phandle(fdt, child);

            fdt_del_node(fdt, child);
            drop_references(fdt, phandle);
            return true;
        }
    }
    return false;
}

/* An SRAM node without children may lack what they need to be addressed. */
static int prepare_sram(void *fdt, uint64_t sram_base)
{
    int sram = find_sram(fdt, sram_base);
    uint64_t base, size;

    if (fdt_getprop(fdt, sram, "ranges", NULL)) {
        return fdt_address_cells(fdt, sram) == 1 && fdt_size_cells(fdt, sram) == 1
               ? 0 : -FDT_ERR_BADNCELLS;
    }
    emu_dt_reg(fdt, sram, &base, &size);
    if (fdt_setprop_u32(fdt, sram, "#address-cells", 1) < 0 ||
        fdt_setprop_u32(fdt, sram, "#size-cells", 1) < 0 ||
        fdt_setprop_u32(fdt, sram, "ranges", 0) < 0 ||
        fdt_appendprop_u64(fdt, sram, "ranges", base) < 0) {
        return -FDT_ERR_NOSPACE;
    }
    return fdt_appendprop_u32(fdt, sram, "ranges", size);
}

static int add_npu_child(void *fdt, uint64_t sram_base, uint32_t size, uint32_t offset)
{
    g_autofree char *name = g_strdup_printf("rknpu-sram@%x", offset);
    uint32_t phandle;
    int child, result = fdt_generate_phandle(fdt, &phandle);

    if (result < 0) {
        return result;
    }
    child = fdt_add_subnode(fdt, find_sram(fdt, sram_base), name);
    if (child < 0) {
        return child;
    }
    if ((result = fdt_setprop_u32(fdt, child, "reg", offset)) < 0 ||
        (result = fdt_appendprop_u32(fdt, child, "reg", size)) < 0 ||
        (result = fdt_setprop_u32(fdt, child, "phandle", phandle)) < 0) {
        return result;
    }
    return fdt_setprop_u32(fdt, emu_dt_find_rknpu(fdt), "rockchip,sram", phandle);
}

bool emu_dt_give_sram(void **fdt, uint64_t sram_base, uint32_t size, uint32_t offset,
                      GError **error)
{
    int result;

    if (emu_dt_find_rknpu(*fdt) < 0) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE,
                    "--npu-sram: the device tree has no rknpu node; add --driver rknpu, the "
                    "driver that uses the SRAM");
        return false;
    }
    if (find_sram(*fdt, sram_base) < 0) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "--npu-sram: the device tree has no mmio-sram node at 0x%" G_GINT64_MODIFIER
                    "x; take the machine's own tree as the base", sram_base);
        return false;
    }
    grow(fdt, SLACK);
    while (drop_overlapping_child(*fdt, sram_base, offset, (uint64_t)offset + size)) {
        /* one at a time: each removal moves the rest */
    }
    result = prepare_sram(*fdt, sram_base);
    if (result == 0) {
        result = add_npu_child(*fdt, sram_base, size, offset);
    }
    if (result < 0) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "--npu-sram: cannot change the tree (%s)",
                    fdt_strerror(result));
        return false;
    }
    return true;
}
