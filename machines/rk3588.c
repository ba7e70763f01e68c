// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Machine "rk3588": Rockchip RK3588 with its NPU.
 *
 * Facts: RK3588 TRM Part 1, chapter "Address mapping"; Linux
 * arch/arm64/boot/dts/rockchip/rk3588-base.dtsi. docs/machines/rk3588.md lists what is modelled and
 * what is not.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "cpu.h"
#include "exec/address-spaces.h"
#include "hw/intc/arm_gicv3_common.h"
#include "hw/intc/arm_gicv3_its_common.h"
#include "hw/irq.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "qobject/qlist.h"
#include "hw/soc/rk-cru.h"
#include "hw/soc/rk-pmu.h"
#include "hw/soc/rk-scmi.h"
#include "rk-cpu.h"
#include "rk-machine.h"

#define RK3588_SPIS 480
#define GIC_INTERNAL_PPI(n) (16 + (n))

enum {
    RK3588_GICD,
    RK3588_ITS0,
    RK3588_ITS1,
    RK3588_GICR,
    RK3588_FIRST_OTHER
};

#define BLOCK(name, kind, base, size, ...) { name, RK_BLOCK_ ## kind, base, size, ## __VA_ARGS__ }

static const RkBlock rk3588_blocks[] = {
    [RK3588_GICD] = BLOCK("gicd", GIC, 0xfe600000, 0x10000),
    [RK3588_ITS0] = BLOCK("its0", GIC, 0xfe640000, 0x20000),
    [RK3588_ITS1] = BLOCK("its1", GIC, 0xfe660000, 0x20000),
    [RK3588_GICR] = BLOCK("gicr", GIC, 0xfe680000, 0x100000),
    /* Behind all others: what is not listed below, for trees of real boards. */
    BLOCK("peripherals",     UNIMP, 0xfb000000, 0x5000000),
    BLOCK("cru",             CRU,  0xfd7c0000, 0x5c000),
    BLOCK("pmu",             PMU,  0xfd8d8000, 0x400),
    BLOCK("uart2",           UART, 0xfeb50000, 0x100, 333),
    BLOCK("system-sram2",    SRAM, 0xff001000, 0xef000),
    BLOCK("system-sram1",    SRAM, 0xfd600000, 0x100000),
    BLOCK("virtio",          VIRTIO, 0xfef00000, RK_VIRTIO_SLOTS * RK_VIRTIO_SLOT_SIZE, 448),

    BLOCK("pmu1-grf",        GRF,  0xfd58a000, 0x2000),
    BLOCK("sys-grf",         GRF,  0xfd58c000, 0x1000),
    BLOCK("bigcore0-grf",    GRF,  0xfd590000, 0x100),
    BLOCK("bigcore1-grf",    GRF,  0xfd592000, 0x100),
    BLOCK("litcore-grf",     GRF,  0xfd594000, 0x100),
    BLOCK("npu-grf",         GRF,  0xfd5a2000, 0x100),
    BLOCK("vop-grf",         GRF,  0xfd5a4000, 0x2000),
    BLOCK("vo0-grf",         GRF,  0xfd5a6000, 0x2000),
    BLOCK("vo1-grf",         GRF,  0xfd5a8000, 0x4000),
    BLOCK("usb-grf",         GRF,  0xfd5ac000, 0x4000),
    BLOCK("php-grf",         GRF,  0xfd5b0000, 0x1000),
    BLOCK("ioc",             GRF,  0xfd5f0000, 0x10000),
    BLOCK("qos-npu1",        QOS,  0xfdf70000, 0x20),
    BLOCK("qos-npu2",        QOS,  0xfdf71000, 0x20),
    BLOCK("qos-npu0-mwr",    QOS,  0xfdf72000, 0x20),
    BLOCK("qos-npu0-mro",    QOS,  0xfdf72200, 0x20),
    BLOCK("qos-mcu-npu",     QOS,  0xfdf72400, 0x20),

    BLOCK("gpu",             UNIMP, 0xfb000000, 0x200000),
    BLOCK("usb",             UNIMP, 0xfc000000, 0x900000),
    BLOCK("mmu600-pcie",     UNIMP, 0xfc900000, 0x200000),
    BLOCK("mmu600-php",      UNIMP, 0xfcb00000, 0x200000),
    BLOCK("i2c0",            UNIMP, 0xfd880000, 0x1000),
    BLOCK("uart0",           UNIMP, 0xfd890000, 0x100),
    BLOCK("gpio0",           UNIMP, 0xfd8a0000, 0x100),
    BLOCK("npu-pvtm",        UNIMP, 0xfdaf0000, 0x100),
    BLOCK("video-codecs",    UNIMP, 0xfdb50000, 0x1b0000),
    BLOCK("display",         UNIMP, 0xfdd90000, 0x180000),
    BLOCK("pcie",            UNIMP, 0xfe150000, 0x60000),
    BLOCK("ethernet",        UNIMP, 0xfe1b0000, 0x20000),
    BLOCK("sata",            UNIMP, 0xfe210000, 0x30000),
    BLOCK("sdmmc",           UNIMP, 0xfe2c0000, 0x4000),
    BLOCK("sdio",            UNIMP, 0xfe2d0000, 0x4000),
    BLOCK("sdhci",           UNIMP, 0xfe2e0000, 0x10000),
    BLOCK("rng",             UNIMP, 0xfe378000, 0x200),
    BLOCK("i2s",             UNIMP, 0xfe470000, 0x40000),
    BLOCK("dmac0",           UNIMP, 0xfea10000, 0x4000),
    BLOCK("dmac1",           UNIMP, 0xfea30000, 0x4000),
    BLOCK("i2c1",            UNIMP, 0xfea90000, 0x1000),
    BLOCK("timer0",          UNIMP, 0xfeae0000, 0x20),
    BLOCK("wdt",             UNIMP, 0xfeaf0000, 0x100),
    BLOCK("spi0",            UNIMP, 0xfeb00000, 0x1000),
    BLOCK("uart1",           UNIMP, 0xfeb40000, 0x100),
    BLOCK("uart3-9",         UNIMP, 0xfeb60000, 0x70000),
    BLOCK("tsadc",           UNIMP, 0xfec00000, 0x400),
    BLOCK("saradc",          UNIMP, 0xfec10000, 0x10000),
    BLOCK("gpio1",           UNIMP, 0xfec20000, 0x100),
    BLOCK("gpio2",           UNIMP, 0xfec30000, 0x100),
    BLOCK("gpio3",           UNIMP, 0xfec40000, 0x100),
    BLOCK("gpio4",           UNIMP, 0xfec50000, 0x100),
    BLOCK("otp",             UNIMP, 0xfecc0000, 0x400),
    BLOCK("dmac2",           UNIMP, 0xfed10000, 0x4000),
    BLOCK("phys",            UNIMP, 0xfed60000, 0x140000),
};

static const RkCluster rk3588_clusters[] = {
    { TYPE_RK_CORTEX_A55, 4, 0x000, 0x100 },
    { TYPE_RK_CORTEX_A76, 4, 0x400, 0x100 },
};

#define NPU_CORE(n, domain) {                                           \
        .power = domain,                                                \
        .clock = { RK3588_ACLK_NPU ## n, RK3588_HCLK_NPU ## n },        \
        .reset = { RK3588_SRST_A_RKNN ## n, RK3588_SRST_H_RKNN ## n },  \
    }

static const RkLayout rk3588_layout = {
    .chip = "rk3588",
    .compatible = "rockchip,rk3588",
    .blocks = rk3588_blocks,
    .block_count = ARRAY_SIZE(rk3588_blocks),
    .clusters = rk3588_clusters,
    .cluster_count = ARRAY_SIZE(rk3588_clusters),
    .dram_base = 0,
    .dram_low_size = 0xf0000000,
    .dram_high_base = 0x100000000,
    .dram_max = 32 * GiB,
    .firmware_reserved = 0x200000,
    .cru_type = TYPE_RK3588_CRU,
    .pmu_type = TYPE_RK3588_PMU,
    .scmi_type = TYPE_RK3588_SCMI,
    .scmi_shmem = 0x10f000,
    .decoder = {
        { 0xfdc38100, 0x0, 0x78000 },
        { 0xfdc48100, 0x78000, 0x77000 },
    },
    .npu = {
        NPU_CORE(0, RK3588_PD_NPUTOP),
        NPU_CORE(1, RK3588_PD_NPU1),
        NPU_CORE(2, RK3588_PD_NPU2),
    },
};

/* The GIC's inputs are SPIs first, then 32 private inputs a CPU. */
static qemu_irq rk3588_ppi(RkMachineState *rms, unsigned cpu, unsigned ppi)
{
    return qdev_get_gpio_in(rms->gic, RK3588_SPIS + cpu * GIC_INTERNAL + GIC_INTERNAL_PPI(ppi));
}

static void rk3588_connect_cpu(RkMachineState *rms, unsigned i)
{
    static const unsigned timer_ppi[] = {
        [GTIMER_PHYS] = RK_PPI_TIMER_PHYS,
        [GTIMER_VIRT] = RK_PPI_TIMER_VIRT,
        [GTIMER_HYP] = RK_PPI_TIMER_HYP,
        [GTIMER_SEC] = RK_PPI_TIMER_SEC,
        [GTIMER_HYPVIRT] = RK_PPI_TIMER_HYPVIRT,
    };
    unsigned cpus = MACHINE(rms)->smp.cpus;
    SysBusDevice *gic = SYS_BUS_DEVICE(rms->gic);
    DeviceState *cpu = rms->cpu[i];

    for (unsigned t = 0; t < ARRAY_SIZE(timer_ppi); t++) {
        qdev_connect_gpio_out(cpu, t, rk3588_ppi(rms, i, timer_ppi[t]));
    }
    qdev_connect_gpio_out_named(cpu, "gicv3-maintenance-interrupt", 0,
                                rk3588_ppi(rms, i, RK_PPI_MAINT));
    qdev_connect_gpio_out_named(cpu, "pmu-interrupt", 0, rk3588_ppi(rms, i, RK_PPI_PMU));
    sysbus_connect_irq(gic, i, qdev_get_gpio_in(cpu, ARM_CPU_IRQ));
    sysbus_connect_irq(gic, i + cpus, qdev_get_gpio_in(cpu, ARM_CPU_FIQ));
    sysbus_connect_irq(gic, i + 2 * cpus, qdev_get_gpio_in(cpu, ARM_CPU_VIRQ));
    sysbus_connect_irq(gic, i + 3 * cpus, qdev_get_gpio_in(cpu, ARM_CPU_VFIQ));
}

static void rk3588_create_its(RkMachineState *rms, const RkBlock *b)
{
    DeviceState *its = qdev_new(its_class_name());

    object_property_add_child(OBJECT(rms), b->name, OBJECT(its));
    object_property_set_link(OBJECT(its), "parent-gicv3", OBJECT(rms->gic), &error_abort);
    sysbus_realize_and_unref(SYS_BUS_DEVICE(its), &error_fatal);
    sysbus_mmio_map(SYS_BUS_DEVICE(its), 0, b->base);
}

static void rk3588_create_gic(RkMachineState *rms)
{
    unsigned cpus = MACHINE(rms)->smp.cpus;
    QList *regions = qlist_new();
    SysBusDevice *sbd;

    rms->gic = qdev_new(gicv3_class_name());
    object_property_add_child(OBJECT(rms), "gic", OBJECT(rms->gic));
    qdev_prop_set_uint32(rms->gic, "revision", 3);
    qdev_prop_set_uint32(rms->gic, "num-cpu", cpus);
    qdev_prop_set_uint32(rms->gic, "num-irq", RK3588_SPIS + GIC_INTERNAL);
    qdev_prop_set_bit(rms->gic, "has-security-extensions", false);
    qlist_append_int(regions, cpus);
    qdev_prop_set_array(rms->gic, "redist-region-count", regions);
    object_property_set_link(OBJECT(rms->gic), "sysmem", OBJECT(get_system_memory()), &error_fatal);
    qdev_prop_set_bit(rms->gic, "has-lpi", true);
    sbd = SYS_BUS_DEVICE(rms->gic);
    sysbus_realize_and_unref(sbd, &error_fatal);
    sysbus_mmio_map(sbd, 0, rk3588_blocks[RK3588_GICD].base);
    sysbus_mmio_map(sbd, 1, rk3588_blocks[RK3588_GICR].base);
    for (unsigned i = 0; i < cpus; i++) {
        rk3588_connect_cpu(rms, i);
    }
    rk3588_create_its(rms, &rk3588_blocks[RK3588_ITS0]);
    rk3588_create_its(rms, &rk3588_blocks[RK3588_ITS1]);
}

static void rk3588_machine_class_init(ObjectClass *oc, void *data)
{
    RkMachineClass *rmc = RK_MACHINE_CLASS(oc);

    MACHINE_CLASS(oc)->desc = "Rockchip RK3588 with NPU";
    rmc->layout = &rk3588_layout;
    rmc->create_gic = rk3588_create_gic;
}

static const TypeInfo rk3588_machine_types[] = {
    {
        .name = MACHINE_TYPE_NAME("rk3588"),
        .parent = TYPE_RK_MACHINE,
        .class_init = rk3588_machine_class_init,
    },
};

DEFINE_TYPES(rk3588_machine_types)
