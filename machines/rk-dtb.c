// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Device trees of the Rockchip machines: choosing and checking one, and adapting it to -smp, -m and
 * the devices of the command line. The same adaptations are made to a tree of the user's, so that
 * the tree of a real board boots.
 */
#include "qemu/osdep.h"
#include <libfdt.h>
#include "qemu/error-report.h"
#include "qemu/guest-random.h"
#include "qapi/error.h"
#include "cpu.h"
#include "hw/arm/fdt.h"
#include "hw/qdev-core.h"
#include "hw/sysbus.h"
#include "system/device_tree.h"
#include "rk-machine.h"

#define RK_DTB_MAX_SIZE (2 * 1024 * 1024)

static const RkLayout *rk_layout(const RkMachineState *rms)
{
    return RK_MACHINE_GET_CLASS(rms)->layout;
}

/* Path of the machine's own tree for the driver, or NULL. The caller frees it. */
static char *rk_dtb_find(const RkMachineState *rms)
{
    g_autofree char *name = g_strdup_printf("%s-%s.dtb", rk_layout(rms)->chip, rms->driver);
    g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *program_dir = g_path_get_dirname(program ? program : ".");
    const char *dirs[] = { "../machines/dts", "machines/dts" };

    if (rms->dtb_dir) {
        char *path = g_build_filename(rms->dtb_dir, name, NULL);

        return g_file_test(path, G_FILE_TEST_EXISTS) ? path : (g_free(path), NULL);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(dirs); i++) {
        char *path = g_build_filename(program_dir, dirs[i], name, NULL);

        if (g_file_test(path, G_FILE_TEST_EXISTS)) {
            return path;
        }
        g_free(path);
    }
    return NULL;
}

/* Ends the program unless the file is a device tree; warns when it is another chip's. */
static void rk_dtb_check(const RkLayout *l, const char *path)
{
    g_autofree char *blob = NULL;
    g_autoptr(GError) err = NULL;
    gsize size;
    int ret;

    if (!g_file_get_contents(path, &blob, &size, &err)) {
        error_setg(&error_fatal, "cannot read the device tree: %s", err->message);
    }
    ret = size > RK_DTB_MAX_SIZE ? -FDT_ERR_BADSTRUCTURE : fdt_check_full(blob, size);
    if (ret < 0) {
        error_setg(&error_fatal, "'%s' is not a device tree (%s): give -dtb a file made by dtc",
                   path, fdt_strerror(ret));
    }
    if (fdt_node_check_compatible(blob, 0, l->compatible) != 0) {
        warn_report("'%s' is not for %s: its root node is not compatible with \"%s\"", path,
                    l->chip, l->compatible);
    }
}

void rk_dtb_choose(RkMachineState *rms)
{
    MachineState *ms = MACHINE(rms);

    if (!ms->kernel_filename) {
        if (ms->dtb) {
            rk_dtb_check(rk_layout(rms), ms->dtb);
        }
        return;
    }
    if (!ms->dtb) {
        ms->dtb = rk_dtb_find(rms);
    }
    if (!ms->dtb) {
        error_setg(&error_fatal, "no device tree %s-%s.dtb beside the emulator: check driver=, or "
                   "name the folder with -machine dtb-dir=DIR or the file with -dtb FILE",
                   rk_layout(rms)->chip, rms->driver);
    }
    rk_dtb_check(rk_layout(rms), ms->dtb);
}

static void rk_dtb_set_memory(RkMachineState *rms, void *fdt)
{
    const RkLayout *l = rk_layout(rms);
    uint64_t base = l->dram_base + l->firmware_reserved;
    uint64_t low = rk_dram_low_size(rms) - l->firmware_reserved;
    uint64_t high = rk_dram_high_size(rms);
    g_autofree char *node = g_strdup_printf("/memory@%" PRIx64, (uint64_t)l->dram_base);
    uint32_t acells = qemu_fdt_getprop_cell(fdt, "/", "#address-cells", NULL, &error_fatal);
    uint32_t scells = qemu_fdt_getprop_cell(fdt, "/", "#size-cells", NULL, &error_fatal);

    if (high) {
        qemu_fdt_setprop_sized_cells(fdt, node, "reg", acells, base, scells, low,
                                     acells, l->dram_high_base, scells, high);
    } else {
        qemu_fdt_setprop_sized_cells(fdt, node, "reg", acells, base, scells, low);
    }
}

/* True when the machine has a CPU with that affinity. */
static bool rk_dtb_cpu_exists(const RkMachineState *rms, uint64_t mpidr)
{
    for (unsigned i = 0; i < MACHINE(rms)->smp.cpus; i++) {
        if (arm_cpu_mp_affinity(ARM_CPU(rms->cpu[i])) == mpidr) {
            return true;
        }
    }
    return false;
}

/* The CPU node's reg, or UINT64_MAX when the node is not a CPU. */
static uint64_t rk_dtb_cpu_reg(const void *fdt, int node)
{
    const char *type = fdt_getprop(fdt, node, "device_type", NULL);
    int len;
    const fdt32_t *reg = fdt_getprop(fdt, node, "reg", &len);

    if (!type || strcmp(type, "cpu") || !reg || (len != 4 && len != 8)) {
        return UINT64_MAX;
    }
    return len == 4 ? fdt32_to_cpu(reg[0]) :
           (uint64_t)fdt32_to_cpu(reg[0]) << 32 | fdt32_to_cpu(reg[1]);
}

/*
 * Removes the cpu-map leaf (and a cluster it empties) that points to a CPU. False: there is none.
 */
static bool rk_dtb_drop_from_cpu_map(void *fdt, uint32_t phandle)
{
    int map = fdt_path_offset(fdt, "/cpus/cpu-map");

    for (int node = map; node >= 0 && (node = fdt_next_node(fdt, node, NULL)) >= 0;) {
        int len, parent;
        const fdt32_t *cpu = fdt_getprop(fdt, node, "cpu", &len);

        if (!cpu || len != 4 || fdt32_to_cpu(*cpu) != phandle) {
            continue;
        }
        parent = fdt_parent_offset(fdt, node);
        fdt_nop_node(fdt, node);
        if (parent != map && parent >= 0 && fdt_first_subnode(fdt, parent) < 0) {
            fdt_nop_node(fdt, parent);
        }
        return true;
    }
    return false;
}

/*
 * Takes a CPU out of the interrupt partitions. A partition that is empty then goes, with the nodes
 * whose per-CPU interrupt it routes (performance counters). The kernel warns about a partition that
 * names a CPU it does not know.
 */
static void rk_dtb_drop_partition(void *fdt, int partition)
{
    uint32_t phandle = fdt_get_phandle(fdt, partition);

    fdt_nop_node(fdt, partition);
    for (int node = fdt_first_subnode(fdt, 0); node >= 0; node = fdt_next_subnode(fdt, node)) {
        int len;
        const fdt32_t *irq = fdt_getprop(fdt, node, "interrupts", &len);

        if (irq && len == 16 && fdt32_to_cpu(irq[3]) == phandle) {
            fdt_nop_node(fdt, node);
            return;
        }
    }
}

static void rk_dtb_drop_from_partitions(void *fdt, uint32_t phandle)
{
    for (int node = 0; (node = fdt_next_node(fdt, node, NULL)) >= 0;) {
        int len, kept = 0;
        const fdt32_t *affinity = fdt_getprop(fdt, node, "affinity", &len);
        fdt32_t keep[RK_MAX_CPUS];

        if (!affinity || len / 4 > RK_MAX_CPUS) {
            continue;
        }
        for (int i = 0; i < len / 4; i++) {
            if (fdt32_to_cpu(affinity[i]) != phandle) {
                keep[kept++] = affinity[i];
            }
        }
        if (!kept) {
            rk_dtb_drop_partition(fdt, node);
        } else if (kept < len / 4) {
            fdt_setprop(fdt, node, "affinity", keep, kept * 4);
        }
    }
}

/*
 * Removes the CPUs that the machine does not have, so that the kernel does not try to start them.
 */
static void rk_dtb_drop_cpus(RkMachineState *rms, void *fdt)
{
    int node = fdt_first_subnode(fdt, fdt_path_offset(fdt, "/cpus"));

    while (node >= 0) {
        uint64_t reg = rk_dtb_cpu_reg(fdt, node);

        if (reg != UINT64_MAX && !rk_dtb_cpu_exists(rms, reg)) {
            uint32_t phandle = fdt_get_phandle(fdt, node);

            fdt_nop_node(fdt, node);
            if (phandle) {
                rk_dtb_drop_from_cpu_map(fdt, phandle);
                rk_dtb_drop_from_partitions(fdt, phandle);
            }
            node = fdt_first_subnode(fdt, fdt_path_offset(fdt, "/cpus"));
        } else {
            node = fdt_next_subnode(fdt, node);
        }
    }
}

/*
 * Takes the CPUs' idle states out. On the chip firmware keeps the interrupt controller awake for a
 * CPU that powers down; here the kernel would switch the CPU's interrupts off and sleep for good.
 */
static void rk_dtb_drop_idle_states(void *fdt)
{
    int cpus = fdt_path_offset(fdt, "/cpus");

    for (int cpu = fdt_first_subnode(fdt, cpus); cpu >= 0; cpu = fdt_next_subnode(fdt, cpu)) {
        fdt_nop_property(fdt, cpu, "cpu-idle-states");
    }
}

/* The GIC's phandle and the number of cells of its interrupt specifiers. */
static uint32_t rk_dtb_gic(void *fdt, uint32_t *cells)
{
    int root = fdt_path_offset(fdt, "/");
    const fdt32_t *parent = fdt_getprop(fdt, root, "interrupt-parent", NULL);
    uint32_t phandle = parent ? fdt32_to_cpu(*parent) : 0;
    int gic = fdt_node_offset_by_phandle(fdt, phandle);
    const fdt32_t *n = gic < 0 ? NULL : fdt_getprop(fdt, gic, "#interrupt-cells", NULL);

    *cells = n ? fdt32_to_cpu(*n) : 3;
    return phandle;
}

static void rk_dtb_add_virtio(RkMachineState *rms, void *fdt)
{
    const RkBlock *b = rk_find_block(rk_layout(rms), RK_BLOCK_VIRTIO);
    uint32_t cells, gic = rk_dtb_gic(fdt, &cells);

    /* A new node becomes the first of its parent: the last slot goes in first. */
    for (int i = RK_VIRTIO_SLOTS - 1; i >= 0; i--) {
        BusState *bus = QLIST_FIRST(&DEVICE(rms->virtio[i])->child_bus);
        hwaddr base = b->base + i * RK_VIRTIO_SLOT_SIZE;
        g_autofree char *node = g_strdup_printf("/virtio_mmio@%" HWADDR_PRIx, base);
        uint32_t irq[4] = { cpu_to_be32(GIC_FDT_IRQ_TYPE_SPI), cpu_to_be32(b->spi + i),
                            cpu_to_be32(GIC_FDT_IRQ_FLAGS_EDGE_LO_HI), 0 };

        if (!bus || QTAILQ_EMPTY(&bus->children)) {
            continue;
        }
        qemu_fdt_add_subnode(fdt, node);
        qemu_fdt_setprop_string(fdt, node, "compatible", "virtio,mmio");
        qemu_fdt_setprop_sized_cells(fdt, node, "reg", 2, base, 2, RK_VIRTIO_SLOT_SIZE);
        qemu_fdt_setprop_cell(fdt, node, "interrupt-parent", gic);
        qemu_fdt_setprop(fdt, node, "interrupts", irq, MIN(cells, ARRAY_SIZE(irq)) * 4);
        qemu_fdt_setprop(fdt, node, "dma-coherent", NULL, 0);
    }
}

static void rk_dtb_add_seeds(void *fdt)
{
    uint64_t kaslr;
    uint8_t rng[32];

    qemu_guest_getrandom_nofail(&kaslr, sizeof(kaslr));
    qemu_guest_getrandom_nofail(rng, sizeof(rng));
    qemu_fdt_setprop_u64(fdt, "/chosen", "kaslr-seed", kaslr);
    qemu_fdt_setprop(fdt, "/chosen", "rng-seed", rng, sizeof(rng));
}

void rk_dtb_fix_up(const struct arm_boot_info *info, void *fdt)
{
    RkMachineState *rms = container_of(info, RkMachineState, bootinfo);

    rk_dtb_set_memory(rms, fdt);
    rk_dtb_drop_cpus(rms, fdt);
    rk_dtb_drop_idle_states(fdt);
    rk_dtb_add_virtio(rms, fdt);
    rk_dtb_add_seeds(fdt);
}
