// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUs of the Rockchip machines.
 *
 * Boot firmware of the chips (TF-A BL31) serves PSCI and SCMI to SMCs. QEMU emulates PSCI in the CPU; the
 * SCMI call is taken here, one level above, by the exception entry of a subclass, so that QEMU itself
 * stays as it is. SCMI's function number is outside PSCI's range.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "accel/tcg/cpu-ops.h"
#include "hw/qdev-properties.h"
#include "hw/soc/rk-scmi.h"
#include "rk-cpu.h"

typedef struct RkCpu {
    ARMCPU parent_obj;

    RkScmi *scmi;
} RkCpu;

static TCGCPUOps rk_cpu_tcg_ops;
static void (*arm_do_interrupt)(CPUState *cs);

static bool rk_cpu_is_scmi_call(CPUState *cs)
{
    ARMCPU *cpu = ARM_CPU(cs);

    return cs->exception_index == EXCP_SMC && cpu->psci_conduit == QEMU_PSCI_CONDUIT_SMC &&
           is_a64(&cpu->env) && (uint32_t)cpu->env.xregs[0] == RK_SCMI_SMC_ID;
}

static void rk_cpu_do_interrupt(CPUState *cs)
{
    RkCpu *cpu = (RkCpu *)cs;

    if (rk_cpu_is_scmi_call(cs) && cpu->scmi) {
        rk_scmi_ring(cpu->scmi);
        cpu->parent_obj.env.xregs[0] = 0;
        return;
    }
    arm_do_interrupt(cs);
}

static const Property rk_cpu_properties[] = {
    DEFINE_PROP_LINK("scmi", RkCpu, scmi, TYPE_RK_SCMI, RkScmi *),
};

static void rk_cpu_class_init(ObjectClass *oc, void *data)
{
    CPUClass *cc = CPU_CLASS(oc);

    if (!arm_do_interrupt) {
        rk_cpu_tcg_ops = *cc->tcg_ops;
        arm_do_interrupt = rk_cpu_tcg_ops.do_interrupt;
        rk_cpu_tcg_ops.do_interrupt = rk_cpu_do_interrupt;
    }
    cc->tcg_ops = &rk_cpu_tcg_ops;
    device_class_set_props(DEVICE_CLASS(oc), rk_cpu_properties);
}

#define RK_CPU(core) {                          \
        .name = RK_CPU_TYPE(core),              \
        .parent = ARM_CPU_TYPE_NAME(core),      \
        .instance_size = sizeof(RkCpu),         \
        .class_init = rk_cpu_class_init,        \
    }

static const TypeInfo rk_cpu_types[] = {
    RK_CPU("cortex-a53"),
    RK_CPU("cortex-a55"),
    RK_CPU("cortex-a72"),
    RK_CPU("cortex-a76"),
};

DEFINE_TYPES(rk_cpu_types)
