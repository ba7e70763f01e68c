/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the drivers do with each mistake is in Rockchip's rknpu 0.9.8 (rknpu_drv.c, rknpu_mm.c:
 * the SRAM is cut to whole pages; no region is requested, so overlap stays silent) and in
 * mainline's rocket (rocket_drv.c: opening the device needs an IOMMU).
 */
#include <inttypes.h>
#include <stdarg.h>

#include "dt.h"
#include "dtcheck.h"

#define PAGE 4096

typedef struct {
    int node;
    uint64_t base, size;
} Child;

__attribute__((format(printf, 2, 3))) static void warn(GPtrArray *warnings, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    g_ptr_array_add(warnings, g_strdup_vprintf(fmt, ap));
    va_end(ap);
}

static const char *name_of(const void *fdt, int node)
{
    return node < 0 ? "nobody" : fdt_get_name(fdt, node, NULL);
}

static int owner_of(const void *fdt, int child)
{
    const char *property;
    uint32_t phandle = fdt_get_phandle(fdt, child);

    return phandle ? emu_dt_next_sram_user(fdt, -1, phandle, &property) : -1;
}

static void check_child(const void *fdt, const Child *c, uint64_t sram_size, GPtrArray *warnings)
{
    const char *name = name_of(fdt, c->node);
    uint64_t start = (c->base + PAGE - 1) & -(uint64_t)PAGE;
    uint64_t end = (c->base + c->size) & -(uint64_t)PAGE;
    int owner = owner_of(fdt, c->node), second;
    const char *property;

    if (c->base % PAGE || c->size % PAGE) {
        warn(warnings, "%s: 0x%" PRIx64 " bytes at 0x%" PRIx64 " are not 4 KiB aligned; the "
             "driver uses 0x%" PRIx64 " bytes at 0x%" PRIx64, name, c->size, c->base,
             end > start ? end - start : 0, start);
    }
    if (c->base + c->size > sram_size) {
        warn(warnings, "%s: ends at 0x%" PRIx64 ", past the SRAM's end at 0x%" PRIx64
             "; nothing answers there", name, c->base + c->size, sram_size);
    }
    if (owner < 0) {
        if (emu_dt_name_has(fdt, c->node, "npu")) {
            warn(warnings, "%s: no node refers to it; the NPU's node needs "
                 "rockchip,sram = <&phandle>", name);
        }
        return;
    }
    second = emu_dt_next_sram_user(fdt, owner, fdt_get_phandle(fdt, c->node), &property);
    if (second >= 0 && emu_dt_enabled(fdt, owner) && emu_dt_enabled(fdt, second)) {
        warn(warnings, "%s: belongs to both %s and %s, which overwrite each other's data", name,
             name_of(fdt, owner), name_of(fdt, second));
    }
}

static void check_overlap(const void *fdt, const Child *a, const Child *b, GPtrArray *warnings)
{
    if (a->base < b->base + b->size && b->base < a->base + a->size) {
        warn(warnings, "%s (of %s) and %s (of %s) overlap; their owners overwrite each other's "
             "data", name_of(fdt, a->node), name_of(fdt, owner_of(fdt, a->node)),
             name_of(fdt, b->node), name_of(fdt, owner_of(fdt, b->node)));
    }
}

static void check_sram(const void *fdt, int sram, GPtrArray *warnings)
{
    g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(Child));
    uint64_t base, size;
    int node;

    if (!emu_dt_reg(fdt, sram, &base, &size)) {
        return;
    }
    fdt_for_each_subnode(node, fdt, sram) {
        Child child = { .node = node };

        if (emu_dt_enabled(fdt, node) && emu_dt_reg(fdt, node, &child.base, &child.size)) {
            check_child(fdt, &child, size, warnings);
            g_array_append_val(children, child);
        }
    }
    for (unsigned i = 0; i < children->len; i++) {
        for (unsigned j = i + 1; j < children->len; j++) {
            check_overlap(fdt, &g_array_index(children, Child, i),
                          &g_array_index(children, Child, j), warnings);
        }
    }
}

static void check_sram_reference(const void *fdt, int npu, GPtrArray *warnings)
{
    uint32_t phandle;
    int target;

    if (!fdt_getprop(fdt, npu, "rockchip,sram", NULL)) {
        return;
    }
    if (!emu_dt_cell(fdt, npu, "rockchip,sram", &phandle) ||
        (target = fdt_node_offset_by_phandle(fdt, phandle)) < 0) {
        warn(warnings, "%s: rockchip,sram leads to no node; the driver runs without SRAM",
             name_of(fdt, npu));
    } else if (!fdt_getprop(fdt, target, "reg", NULL)) {
        warn(warnings, "%s: rockchip,sram leads to %s, which has no reg; the driver runs without "
             "SRAM", name_of(fdt, npu), name_of(fdt, target));
    }
}

static void check_iommu(const void *fdt, int npu, const char *effect, GPtrArray *warnings)
{
    const char *name = name_of(fdt, npu);
    uint32_t phandle;
    int target;

    if (!emu_dt_cell(fdt, npu, "iommus", &phandle)) {
        warn(warnings, "%s: no iommus property; %s", name, effect);
        return;
    }
    target = fdt_node_offset_by_phandle(fdt, phandle);
    if (target < 0) {
        warn(warnings, "%s: iommus leads to no node; %s", name, effect);
    } else if (!emu_dt_enabled(fdt, target)) {
        warn(warnings, "%s: its IOMMU %s is disabled; %s", name, name_of(fdt, target), effect);
    }
}

GPtrArray *emu_dt_check(const void *fdt)
{
    GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
    unsigned npus = 0;

    for (int node = -1; (node = emu_dt_next_compatible(fdt, node, "mmio-sram")) >= 0;) {
        check_sram(fdt, node, warnings);
    }
    for (int node = -1; (node = emu_dt_next_compatible(fdt, node, "-rknpu")) >= 0;) {
        if (emu_dt_enabled(fdt, node)) {
            npus++;
            check_sram_reference(fdt, node, warnings);
            check_iommu(fdt, node, "the driver takes contiguous memory and no SRAM", warnings);
        }
    }
    for (int node = -1; (node = emu_dt_next_compatible(fdt, node, "-rknn-core")) >= 0;) {
        if (emu_dt_enabled(fdt, node)) {
            npus++;
            check_iommu(fdt, node, "rocket cannot open the device", warnings);
        }
    }
    if (npus == 0) {
        warn(warnings, "no enabled NPU node: no NPU driver will find a device");
    }
    return warnings;
}
