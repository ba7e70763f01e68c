/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <string.h>

#include "dt.h"

const char *const emu_dt_sram_properties[2] = { "rockchip,sram", "sram" };

int emu_dt_next_compatible(const void *fdt, int offset, const char *suffix)
{
    while ((offset = fdt_next_node(fdt, offset, NULL)) >= 0) {
        int count = fdt_stringlist_count(fdt, offset, "compatible");

        for (int i = 0; i < count; i++) {
            const char *text = fdt_stringlist_get(fdt, offset, "compatible", i, NULL);

            if (text && g_str_has_suffix(text, suffix)) {
                return offset;
            }
        }
    }
    return -1;
}

static uint64_t read_cells(const fdt32_t *cells, int count)
{
    uint64_t value = 0;

    for (int i = 0; i < count; i++) {
        value = value << 32 | fdt32_ld(cells + i);
    }
    return value;
}

bool emu_dt_reg(const void *fdt, int node, uint64_t *base, uint64_t *size)
{
    int parent = fdt_parent_offset(fdt, node);
    int address_cells = parent < 0 ? -1 : fdt_address_cells(fdt, parent);
    int size_cells = parent < 0 ? -1 : fdt_size_cells(fdt, parent);
    int len;
    const fdt32_t *reg = fdt_getprop(fdt, node, "reg", &len);

    if (!reg || address_cells < 1 || size_cells < 1 || address_cells > 2 || size_cells > 2 ||
        len < 4 * (address_cells + size_cells)) {
        return false;
    }
    *base = read_cells(reg, address_cells);
    *size = read_cells(reg + address_cells, size_cells);
    return true;
}

bool emu_dt_cell(const void *fdt, int node, const char *property, uint32_t *value)
{
    int len;
    const fdt32_t *cell = fdt_getprop(fdt, node, property, &len);

    if (!cell || len < 4) {
        return false;
    }
    *value = fdt32_ld(cell);
    return true;
}

bool emu_dt_enabled(const void *fdt, int node)
{
    const char *status = fdt_getprop(fdt, node, "status", NULL);

    return !status || strcmp(status, "okay") == 0 || strcmp(status, "ok") == 0;
}

bool emu_dt_name_has(const void *fdt, int node, const char *word)
{
    const char *name = fdt_get_name(fdt, node, NULL);
    g_autofree char *bare = g_strndup(name ? name : "", name ? strcspn(name, "@") : 0);

    return strstr(bare, word) != NULL;
}

int emu_dt_find_rknpu(const void *fdt)
{
    return emu_dt_next_compatible(fdt, -1, "-rknpu");
}

int emu_dt_next_sram_user(const void *fdt, int offset, uint32_t phandle, const char **property)
{
    while ((offset = fdt_next_node(fdt, offset, NULL)) >= 0) {
        for (size_t i = 0; i < G_N_ELEMENTS(emu_dt_sram_properties); i++) {
            uint32_t value;

            if (emu_dt_cell(fdt, offset, emu_dt_sram_properties[i], &value) &&
                value == phandle) {
                *property = emu_dt_sram_properties[i];
                return offset;
            }
        }
    }
    return -1;
}
