// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Common part of the Rockchip machines: builds CPUs, memory and devices from an RkLayout, wires
 * power, clocks and resets to the NPU, and boots a kernel as the chip's boot firmware hands over,
 * with PSCI and SCMI behind SMC.
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "cpu.h"
#include "exec/address-spaces.h"
#include "hw/arm/boot.h"
#include "hw/irq.h"
#include "hw/misc/unimp.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "system/qtest.h"
#include "system/system.h"
#include "hw/soc/dw-uart.h"
#include "hw/soc/rk-cru.h"
#include "hw/soc/rk-decoder.h"
#include "hw/soc/rk-npu.h"
#include "hw/soc/rk-pmu.h"
#include "hw/soc/rk-scmi.h"
#include "hw/soc/rk-sram.h"
#include "hw/soc/rk-syscon.h"
#include "rk-machine.h"
#include "rknpu/chip.h"

#define RK_MIN_RAM (512 * MiB)

static const RkLayout *rk_layout(const RkMachineState *rms)
{
    return RK_MACHINE_GET_CLASS(rms)->layout;
}

const RkBlock *rk_find_block(const RkLayout *layout, RkBlockKind kind)
{
    for (unsigned i = 0; i < layout->block_count; i++) {
        if (layout->blocks[i].kind == kind) {
            return &layout->blocks[i];
        }
    }
    g_assert_not_reached();
}

uint64_t rk_dram_low_size(const RkMachineState *rms)
{
    return MIN(MACHINE(rms)->ram_size, rk_layout(rms)->dram_low_size);
}

uint64_t rk_dram_high_size(const RkMachineState *rms)
{
    return MACHINE(rms)->ram_size - rk_dram_low_size(rms);
}

/* Called before the memory is allocated. */
static ram_addr_t rk_check_ram_size(ram_addr_t size)
{
    const RkLayout *l = rk_layout(RK_MACHINE(current_machine));

    if (size < RK_MIN_RAM || size > l->dram_max) {
        g_autofree char *text = size_to_str(size);

        error_setg(&error_fatal, "%s cannot have %s of memory: give -m a size from 512M to %"
                   PRIu64 "G", l->chip, text, (uint64_t)(l->dram_max / GiB));
    }
    return size;
}

static void rk_create_dram(RkMachineState *rms)
{
    MachineState *ms = MACHINE(rms);
    const RkLayout *l = rk_layout(rms);
    uint64_t low = rk_dram_low_size(rms), high = rk_dram_high_size(rms);

    memory_region_init_alias(&rms->dram_low, OBJECT(rms), "dram-low", ms->ram, 0, low);
    memory_region_add_subregion(get_system_memory(), l->dram_base, &rms->dram_low);
    if (high) {
        memory_region_init_alias(&rms->dram_high, OBJECT(rms), "dram-high", ms->ram, low, high);
        memory_region_add_subregion(get_system_memory(), l->dram_high_base, &rms->dram_high);
    }
}

/* Before the CPUs: they look for it when an SMC arrives. */
static void rk_create_scmi(RkMachineState *rms)
{
    const RkLayout *l = rk_layout(rms);

    rms->scmi = qdev_new(l->scmi_type);
    object_property_add_child(OBJECT(rms), "scmi", OBJECT(rms->scmi));
    object_property_set_link(OBJECT(rms->scmi), "memory", OBJECT(get_system_memory()),
                             &error_abort);
    qdev_prop_set_uint64(rms->scmi, "shmem", l->scmi_shmem);
    sysbus_realize_and_unref(SYS_BUS_DEVICE(rms->scmi), &error_fatal);
}

static void rk_create_cpu(RkMachineState *rms, const RkCluster *c, unsigned i, Object *cluster,
                          unsigned number)
{
    Object *cpu = object_new(c->cpu_type);
    g_autofree char *name = g_strdup_printf("cpu%u", number);

    object_property_add_child(cluster, name, cpu);
    object_property_set_int(cpu, "mp-affinity", c->mpidr + i * c->mpidr_step, &error_abort);
    object_property_set_int(cpu, "cntfrq", RK_TIMER_HZ, &error_abort);
    object_property_set_bool(cpu, "has_el3", false, &error_abort);
    object_property_set_link(cpu, "scmi", OBJECT(rms->scmi), &error_abort);
    rms->cpu[number] = DEVICE(cpu);
    object_unref(cpu);
}

/*
 * A cluster is realized before its CPUs: its realize method numbers them, and CPUs of different
 * types with one number would share translated code.
 */
static void rk_create_cpus(RkMachineState *rms)
{
    const RkLayout *l = rk_layout(rms);
    unsigned wanted = MACHINE(rms)->smp.cpus, number = 0;

    for (unsigned n = 0; n < l->cluster_count && number < wanted; n++) {
        const RkCluster *c = &l->clusters[n];
        g_autofree char *name = g_strdup_printf("cluster%u", n);
        unsigned first = number;

        object_initialize_child(OBJECT(rms), name, &rms->cluster[n], TYPE_CPU_CLUSTER);
        qdev_prop_set_uint32(DEVICE(&rms->cluster[n]), "cluster-id", n);
        for (unsigned i = 0; i < c->cpus && number < wanted; i++, number++) {
            rk_create_cpu(rms, c, i, OBJECT(&rms->cluster[n]), number);
        }
        qdev_realize(DEVICE(&rms->cluster[n]), NULL, &error_fatal);
        while (first < number) {
            qdev_realize(rms->cpu[first++], NULL, &error_fatal);
        }
    }
}

static DeviceState *rk_create_simple(RkMachineState *rms, const char *type, const RkBlock *b)
{
    DeviceState *dev = qdev_new(type);

    object_property_add_child(OBJECT(rms), b->name, OBJECT(dev));
    sysbus_realize_and_unref(SYS_BUS_DEVICE(dev), &error_fatal);
    sysbus_mmio_map(SYS_BUS_DEVICE(dev), 0, b->base);
    return dev;
}

static void rk_create_syscon(RkMachineState *rms, const RkBlock *b)
{
    DeviceState *dev = qdev_new(TYPE_RK_SYSCON);

    object_property_add_child(OBJECT(rms), b->name, OBJECT(dev));
    qdev_prop_set_string(dev, "block", b->name);
    qdev_prop_set_uint32(dev, "size", b->size);
    qdev_prop_set_bit(dev, "hiword", b->kind == RK_BLOCK_GRF);
    sysbus_realize_and_unref(SYS_BUS_DEVICE(dev), &error_fatal);
    sysbus_mmio_map(SYS_BUS_DEVICE(dev), 0, b->base);
}

static void rk_create_sram(RkMachineState *rms, const RkBlock *b)
{
    const RknpuChip *chip = rknpu_chip_by_name(rk_layout(rms)->chip);
    DeviceState *dev = qdev_new(TYPE_RK_SRAM);

    object_property_add_child(OBJECT(rms), b->name, OBJECT(dev));
    qdev_prop_set_string(dev, "block", b->name);
    qdev_prop_set_uint64(dev, "size", b->size);
    sysbus_realize_and_unref(SYS_BUS_DEVICE(dev), &error_fatal);
    sysbus_mmio_map(SYS_BUS_DEVICE(dev), 0, b->base);
    if (b->base == chip->sram_base) {
        rms->sram = dev;
    } else if (chip->nbuf_size && b->base == chip->nbuf_base) {
        rms->nbuf = dev;
    }
}

static void rk_create_decoder(RkMachineState *rms, unsigned number)
{
    const RkDecoderShare *share = &rk_layout(rms)->decoder[number];
    g_autofree char *name = g_strdup_printf("rkvdec%u", number);
    DeviceState *dev = qdev_new(TYPE_RK_DECODER);

    object_property_add_child(OBJECT(rms), name, OBJECT(dev));
    object_property_set_link(OBJECT(dev), "sram", OBJECT(rms->sram), &error_abort);
    qdev_prop_set_uint8(dev, "number", number);
    qdev_prop_set_uint32(dev, "share-offset", share->offset);
    qdev_prop_set_uint32(dev, "share-size", share->size);
    sysbus_realize_and_unref(SYS_BUS_DEVICE(dev), &error_fatal);
    sysbus_mmio_map(SYS_BUS_DEVICE(dev), 0, share->base);
}

static void rk_create_uart(RkMachineState *rms, const RkBlock *b)
{
    DeviceState *dev = qdev_new(TYPE_DW_UART);

    object_property_add_child(OBJECT(rms), b->name, OBJECT(dev));
    qdev_prop_set_chr(dev, "chardev", serial_hd(0));
    sysbus_realize_and_unref(SYS_BUS_DEVICE(dev), &error_fatal);
    sysbus_mmio_map(SYS_BUS_DEVICE(dev), 0, b->base);
    sysbus_connect_irq(SYS_BUS_DEVICE(dev), 0, qdev_get_gpio_in(rms->gic, b->spi));
}

static void rk_create_virtio(RkMachineState *rms, const RkBlock *b)
{
    for (unsigned i = 0; i < RK_VIRTIO_SLOTS; i++) {
        DeviceState *dev = qdev_new("virtio-mmio");

        qdev_prop_set_bit(dev, "force-legacy", false);
        sysbus_realize_and_unref(SYS_BUS_DEVICE(dev), &error_fatal);
        sysbus_mmio_map(SYS_BUS_DEVICE(dev), 0, b->base + i * RK_VIRTIO_SLOT_SIZE);
        sysbus_connect_irq(SYS_BUS_DEVICE(dev), 0, qdev_get_gpio_in(rms->gic, b->spi + i));
        rms->virtio[i] = dev;
    }
}

static void rk_create_block(RkMachineState *rms, const RkBlock *b)
{
    const RkLayout *l = rk_layout(rms);

    switch (b->kind) {
    case RK_BLOCK_GIC:
        break;
    case RK_BLOCK_CRU:
        rms->cru = rk_create_simple(rms, l->cru_type, b);
        break;
    case RK_BLOCK_PMU:
        rms->pmu = rk_create_simple(rms, l->pmu_type, b);
        break;
    case RK_BLOCK_GRF:
    case RK_BLOCK_QOS:
        rk_create_syscon(rms, b);
        break;
    case RK_BLOCK_SRAM:
        rk_create_sram(rms, b);
        break;
    case RK_BLOCK_UART:
        rk_create_uart(rms, b);
        break;
    case RK_BLOCK_VIRTIO:
        rk_create_virtio(rms, b);
        break;
    case RK_BLOCK_UNIMP:
        create_unimplemented_device(b->name, b->base, b->size);
        break;
    }
}

static void rk_connect(DeviceState *from, const char *out, int n,
                       DeviceState *to, const char *in, int m)
{
    if (n >= 0) {
        qdev_connect_gpio_out_named(from, out, n, qdev_get_gpio_in_named(to, in, m));
    }
}

static void rk_wire_npu(RkMachineState *rms, unsigned core)
{
    const RkNpuWiring *w = &rk_layout(rms)->npu[core];

    rk_connect(rms->pmu, RK_PMU_POWER, w->power, rms->npu, RK_NPU_POWER, core);
    for (unsigned i = 0; i < 2; i++) {
        rk_connect(rms->cru, RK_CRU_CLOCK, w->clock[i], rms->npu, RK_NPU_CLOCK, 2 * core + i);
        rk_connect(rms->cru, RK_CRU_RESET, w->reset[i], rms->npu, RK_NPU_RESET, 2 * core + i);
    }
}

static void rk_create_npu(RkMachineState *rms)
{
    const RknpuChip *chip = rknpu_chip_by_name(rk_layout(rms)->chip);
    SysBusDevice *sbd;

    rms->npu = qdev_new(TYPE_RK_NPU);
    object_property_add_child(OBJECT(rms), "npu", OBJECT(rms->npu));
    qdev_prop_set_string(rms->npu, "chip", chip->name);
    if (rms->strict) { /* else -global may */
        qdev_prop_set_bit(rms->npu, "strict", true);
    }
    if (rms->npu_log) {
        qdev_prop_set_string(rms->npu, "event-log", rms->npu_log);
    }
    object_property_set_link(OBJECT(rms->npu), "memory", OBJECT(get_system_memory()), &error_abort);
    sbd = SYS_BUS_DEVICE(rms->npu);
    sysbus_realize_and_unref(sbd, &error_fatal);
    for (unsigned i = 0; i < chip->cores; i++) {
        sysbus_mmio_map(sbd, i, chip->core_base[i]);
        sysbus_connect_irq(sbd, i, qdev_get_gpio_in(rms->gic, chip->irq_spi[i]));
        rk_wire_npu(rms, i);
    }
}

/* True when the file starts like something that arm_load_kernel() boots on an arm64 CPU. */
static bool rk_is_arm64_kernel(const uint8_t *head, size_t len)
{
    return len == 64 &&
           (!memcmp(head + 56, "ARM\x64", 4) || /* Image */
            !memcmp(head + 4, "zimg", 4) ||     /* EFI zboot */
            !memcmp(head, "\x7f" "ELF", 4) ||
            !memcmp(head, "\x27\x05\x19\x56", 4) || /* uImage */
            !memcmp(head, "\x1f\x8b", 2));      /* Image.gz */
}

static void rk_check_kernel(const char *file)
{
    uint8_t head[64];
    FILE *f = fopen(file, "rb");
    size_t len;

    if (!f) {
        error_setg(&error_fatal, "cannot read the kernel '%s': %s", file, strerror(errno));
    }
    len = fread(head, 1, sizeof(head), f);
    fclose(f);
    if (!rk_is_arm64_kernel(head, len)) {
        error_setg(&error_fatal, "'%s' is not an arm64 kernel: give -kernel an arm64 Image, "
                   "Image.gz, EFI zboot image, uImage or ELF file", file);
    }
}

/* The tree is made when the command line's devices are there: it lists the virtio transports. */
static void rk_machine_done(Notifier *notifier, void *data)
{
    RkMachineState *rms = container_of(notifier, RkMachineState, machine_done);
    struct arm_boot_info *info = &rms->bootinfo;
    ARMCPU *cpu = ARM_CPU(rms->cpu[0]);
    AddressSpace *as = arm_boot_address_space(cpu, info);

    if (info->dtb_filename &&
        arm_load_dtb(info->dtb_start, info, info->dtb_limit, as, MACHINE(rms), cpu) < 0) {
        error_setg(&error_fatal, "the device tree does not fit in memory: give -dtb a smaller one");
    }
}

static void rk_boot(RkMachineState *rms)
{
    MachineState *ms = MACHINE(rms);
    const RkLayout *l = rk_layout(rms);

    if (ms->kernel_filename) {
        rk_check_kernel(ms->kernel_filename);
    }
    rk_dtb_choose(rms);
    rms->bootinfo = (struct arm_boot_info) {
        .ram_size = rk_dram_low_size(rms),
        .loader_start = l->dram_base,
        .board_id = -1,
        .psci_conduit = QEMU_PSCI_CONDUIT_SMC,
        .modify_dtb = rk_dtb_fix_up,
        .skip_dtb_autoload = true,
    };
    arm_load_kernel(ARM_CPU(rms->cpu[0]), ms, &rms->bootinfo);
    rms->machine_done.notify = rk_machine_done;
    qemu_add_machine_init_done_notifier(&rms->machine_done);
}

static void rk_machine_init(MachineState *ms)
{
    RkMachineState *rms = RK_MACHINE(ms);
    const RkLayout *l = rk_layout(rms);

    rk_create_dram(rms);
    rk_create_scmi(rms);
    rk_create_cpus(rms);
    RK_MACHINE_GET_CLASS(rms)->create_gic(rms);
    for (unsigned i = 0; i < l->block_count; i++) {
        rk_create_block(rms, &l->blocks[i]);
    }
    rk_create_npu(rms);
    for (unsigned i = 0; i < RK_MAX_DECODERS && l->decoder[i].size; i++) {
        rk_create_decoder(rms, i);
    }
    if (rms->nbuf) {
        rk_connect(rms->pmu, RK_PMU_POWER, l->nbuf_power, rms->nbuf, RK_SRAM_POWER, 0);
    }
    rk_boot(rms);
}

static char *rk_get_driver(Object *obj, Error **errp)
{
    return g_strdup(RK_MACHINE(obj)->driver);
}

static void rk_set_driver(Object *obj, const char *value, Error **errp)
{
    RkMachineState *rms = RK_MACHINE(obj);

    g_free(rms->driver);
    rms->driver = g_strdup(value);
}

static char *rk_get_dtb_dir(Object *obj, Error **errp)
{
    return g_strdup(RK_MACHINE(obj)->dtb_dir);
}

static void rk_set_dtb_dir(Object *obj, const char *value, Error **errp)
{
    RkMachineState *rms = RK_MACHINE(obj);

    g_free(rms->dtb_dir);
    rms->dtb_dir = g_strdup(value);
}

static char *rk_get_npu_log(Object *obj, Error **errp)
{
    return g_strdup(RK_MACHINE(obj)->npu_log);
}

static void rk_set_npu_log(Object *obj, const char *value, Error **errp)
{
    RkMachineState *rms = RK_MACHINE(obj);

    g_free(rms->npu_log);
    rms->npu_log = g_strdup(value);
}

static bool rk_get_strict(Object *obj, Error **errp)
{
    return RK_MACHINE(obj)->strict;
}

static void rk_set_strict(Object *obj, bool value, Error **errp)
{
    RK_MACHINE(obj)->strict = value;
}

static void rk_machine_instance_init(Object *obj)
{
    RK_MACHINE(obj)->driver = g_strdup("rocket");
}

static void rk_machine_instance_finalize(Object *obj)
{
    RkMachineState *rms = RK_MACHINE(obj);

    g_free(rms->driver);
    g_free(rms->dtb_dir);
    g_free(rms->npu_log);
}

static void rk_machine_class_init(ObjectClass *oc, void *data)
{
    MachineClass *mc = MACHINE_CLASS(oc);

    mc->init = rk_machine_init;
    mc->fixup_ram_size = rk_check_ram_size;
    mc->max_cpus = RK_MAX_CPUS;
    mc->default_cpus = RK_MAX_CPUS;
    mc->default_ram_size = 4 * GiB;
    mc->default_ram_id = "dram";
    mc->no_cdrom = true;
    mc->no_floppy = true;
    mc->no_parallel = true;
    mc->block_default_type = IF_NONE;
    /* No CPU here has ARMv5's pages of 1 KB: a TLB of 4 KB pages misses less. */
    mc->minimum_page_bits = 12;
    object_class_property_add_str(oc, "driver", rk_get_driver, rk_set_driver);
    object_class_property_set_description(oc, "driver",
                                          "device tree to boot with: the NPU driver it is for");
    object_class_property_add_str(oc, "dtb-dir", rk_get_dtb_dir, rk_set_dtb_dir);
    object_class_property_set_description(oc, "dtb-dir", "folder of the machine's device trees");
    object_class_property_add_str(oc, "npu-log", rk_get_npu_log, rk_set_npu_log);
    object_class_property_set_description(oc, "npu-log",
                                          "file for the NPU's event log, JSON lines");
    object_class_property_add_bool(oc, "strict", rk_get_strict, rk_set_strict);
    object_class_property_set_description(oc, "strict",
                                          "stop when the NPU is asked for what is not modelled");
}

static const TypeInfo rk_machine_types[] = {
    {
        .name = TYPE_RK_MACHINE,
        .parent = TYPE_MACHINE,
        .abstract = true,
        .instance_size = sizeof(RkMachineState),
        .class_size = sizeof(RkMachineClass),
        .instance_init = rk_machine_instance_init,
        .instance_finalize = rk_machine_instance_finalize,
        .class_init = rk_machine_class_init,
    },
};

DEFINE_TYPES(rk_machine_types)
