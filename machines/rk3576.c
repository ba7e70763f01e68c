/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machine rk3576: Rockchip RK3576 as a kernel and its NPU drivers see it.
 *
 * Facts: Linux rk3576.dtsi and rk3576-rock-4d.dts (addresses, interrupts, MPIDRs, PSCI, SCMI) and
 * clk-rk3576.c; the vendor's device tree and NPU driver (NPU, SRAM, NBUF). Blocks are modelled in
 * hw/soc; what they leave out is said there. The virtio transports are not on the chip.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "cpu.h"
#include "hw/intc/arm_gic.h"
#include "hw/irq.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "hw/soc/rk-cru.h"
#include "hw/soc/rk-pmu.h"
#include "hw/soc/rk-scmi.h"
#include "rk-cpu.h"
#include "rk-machine.h"

#define TYPE_RK3576_MACHINE MACHINE_TYPE_NAME("rk3576")

#define RK3576_SPIS 480 /* of the GIC-400 */

/* Regions of the GIC-400, in the order of QEMU's device and of the device tree. */
static const hwaddr rk3576_gic[] = { 0x2a701000, 0x2a702000, 0x2a704000, 0x2a706000 };

static const RkBlock rk3576_blocks[] = {
    { "gic",       RK_BLOCK_GIC,    0x2a701000, 0x1000 },
    { "cru",       RK_BLOCK_CRU,    0x27200000, 0x50000 },
    { "pmu",       RK_BLOCK_PMU,    0x27380000, 0x800 },
    { "sys-grf",   RK_BLOCK_GRF,    0x2600a000, 0x2000 },
    { "npu-grf",   RK_BLOCK_GRF,    0x26018000, 0x2000 },
    { "php-grf",   RK_BLOCK_GRF,    0x26020000, 0x2000 },
    { "pmu0-grf",  RK_BLOCK_GRF,    0x26024000, 0x1000 },
    { "pmu1-grf",  RK_BLOCK_GRF,    0x26026000, 0x1000 },
    { "ioc",       RK_BLOCK_GRF,    0x26040000, 0xc000 },
    { "qos-nputop", RK_BLOCK_QOS,   0x27f08000, 0x1000 },
    { "qos-npu0",  RK_BLOCK_QOS,    0x27f20000, 0x1000 },
    { "qos-npu1",  RK_BLOCK_QOS,    0x27f21000, 0x1000 },
    { "qos-npu",   RK_BLOCK_QOS,    0x27f22000, 0x1000 },
    { "sram",      RK_BLOCK_SRAM,   0x3ff88000, 0x78000 },
    { "nbuf",      RK_BLOCK_SRAM,   0x3fe80000, 0x100000 },
    { "uart0",     RK_BLOCK_UART,   0x2ad40000, 0x100, 76 },
    { "virtio",    RK_BLOCK_VIRTIO, 0x2fe00000, RK_VIRTIO_SLOTS * RK_VIRTIO_SLOT_SIZE, 440 },
    { "pvtpll-npu", RK_BLOCK_UNIMP, 0x27270000, 0x1000 },
    { "gpio0",     RK_BLOCK_UNIMP,  0x27320000, 0x200 },
    { "rkvdec-regs", RK_BLOCK_UNIMP, 0x27b00000, 0x1000 },
    { "rng",       RK_BLOCK_UNIMP,  0x2a410000, 0x200 },
    { "otp",       RK_BLOCK_UNIMP,  0x2a580000, 0x400 },
    { "timer",     RK_BLOCK_UNIMP,  0x2acc0000, 0x1000 },
    { "wdt",       RK_BLOCK_UNIMP,  0x2ace0000, 0x100 },
    { "uart2",     RK_BLOCK_UNIMP,  0x2ad50000, 0x100 },
    { "gpio1",     RK_BLOCK_UNIMP,  0x2ae10000, 0x200 },
    { "gpio2",     RK_BLOCK_UNIMP,  0x2ae20000, 0x200 },
    { "gpio3",     RK_BLOCK_UNIMP,  0x2ae30000, 0x200 },
    { "gpio4",     RK_BLOCK_UNIMP,  0x2ae40000, 0x200 },
};

static const RkCluster rk3576_clusters[] = {
    { TYPE_RK_CORTEX_A53, 4, 0x000, 0x001 },
    { TYPE_RK_CORTEX_A72, 4, 0x100, 0x001 },
};

static const RkLayout rk3576_layout = {
    .chip = "rk3576",
    .compatible = "rockchip,rk3576",
    .blocks = rk3576_blocks,
    .block_count = ARRAY_SIZE(rk3576_blocks),
    .clusters = rk3576_clusters,
    .cluster_count = ARRAY_SIZE(rk3576_clusters),
    .dram_base = 0x40000000,
    .dram_low_size = 16 * GiB,
    .dram_high_base = 0x440000000,
    .dram_max = 16 * GiB,
    .firmware_reserved = 2 * MiB,
    .cru_type = TYPE_RK3576_CRU,
    .pmu_type = TYPE_RK3576_PMU,
    .scmi_type = TYPE_RK3576_SCMI,
    .scmi_shmem = 0x4010f000,
    .nbuf_power = RK3576_PD_NPUTOP,
    .decoder = {
        { 0x27b00100, 0x0, 0x78000 },
    },
    .npu = {
        { RK3576_PD_NPU0, { RK3576_ACLK_RKNN0, -1 }, { RK3576_SRST_A_RKNN0, -1 } },
        { RK3576_PD_NPU1, { RK3576_ACLK_RKNN1, -1 }, { RK3576_SRST_A_RKNN1, -1 } },
    },
};

/* Inputs of the GIC come first for SPIs, then 32 a CPU for its private interrupts. */
static qemu_irq rk3576_ppi(RkMachineState *rms, unsigned cpu, unsigned ppi)
{
    return qdev_get_gpio_in(rms->gic, RK3576_SPIS + cpu * GIC_INTERNAL + GIC_NR_SGIS + ppi);
}

static void rk3576_connect_cpu(RkMachineState *rms, unsigned cpu, unsigned cpus)
{
    static const unsigned timers[] = {
        [GTIMER_PHYS] = RK_PPI_TIMER_PHYS,
        [GTIMER_VIRT] = RK_PPI_TIMER_VIRT,
        [GTIMER_HYP] = RK_PPI_TIMER_HYP,
        [GTIMER_SEC] = RK_PPI_TIMER_SEC,
    };
    static const int outputs[] = { ARM_CPU_IRQ, ARM_CPU_FIQ, ARM_CPU_VIRQ, ARM_CPU_VFIQ };
    SysBusDevice *gic = SYS_BUS_DEVICE(rms->gic);
    DeviceState *dev = rms->cpu[cpu];

    for (unsigned i = 0; i < ARRAY_SIZE(timers); i++) {
        qdev_connect_gpio_out(dev, i, rk3576_ppi(rms, cpu, timers[i]));
    }
    for (unsigned i = 0; i < ARRAY_SIZE(outputs); i++) {
        sysbus_connect_irq(gic, i * cpus + cpu, qdev_get_gpio_in(dev, outputs[i]));
    }
    sysbus_connect_irq(gic, ARRAY_SIZE(outputs) * cpus + cpu, rk3576_ppi(rms, cpu, RK_PPI_MAINT));
}

static void rk3576_create_gic(RkMachineState *rms)
{
    unsigned cpus = MACHINE(rms)->smp.cpus;
    SysBusDevice *sbd;

    rms->gic = qdev_new(gic_class_name());
    qdev_prop_set_uint32(rms->gic, "revision", 2);
    qdev_prop_set_uint32(rms->gic, "num-cpu", cpus);
    qdev_prop_set_uint32(rms->gic, "num-irq", RK3576_SPIS + GIC_INTERNAL);
    qdev_prop_set_bit(rms->gic, "has-virtualization-extensions", true);
    sbd = SYS_BUS_DEVICE(rms->gic);
    sysbus_realize_and_unref(sbd, &error_fatal);
    for (unsigned i = 0; i < ARRAY_SIZE(rk3576_gic); i++) {
        sysbus_mmio_map(sbd, i, rk3576_gic[i]);
    }
    for (unsigned cpu = 0; cpu < cpus; cpu++) {
        rk3576_connect_cpu(rms, cpu, cpus);
    }
}

static void rk3576_machine_class_init(ObjectClass *oc, void *data)
{
    MachineClass *mc = MACHINE_CLASS(oc);
    RkMachineClass *rmc = RK_MACHINE_CLASS(oc);

    mc->desc = "Rockchip RK3576 (4x Cortex-A53, 4x Cortex-A72, two NPU cores)";
    rmc->layout = &rk3576_layout;
    rmc->create_gic = rk3576_create_gic;
}

static const TypeInfo rk3576_machine_types[] = {
    {
        .name = TYPE_RK3576_MACHINE,
        .parent = TYPE_RK_MACHINE,
        .class_init = rk3576_machine_class_init,
    },
};

DEFINE_TYPES(rk3576_machine_types)
