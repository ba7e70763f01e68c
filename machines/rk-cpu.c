// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUs of the Rockchip machines.
 *
 * Boot firmware of the chips (TF-A BL31) serves PSCI, SMCCC 1.1 and SCMI to SMCs. QEMU emulates
 * PSCI in the CPU. What is missing is answered here, one level above, by the exception entry of a
 * subclass, so that QEMU itself stays as it is. Everything else falls through to PSCI, which
 * answers NOT_SUPPORTED to what it does not know. The subclass also saves EL2's timers, which
 * QEMU's CPU does not: a kernel in EL2 would never hear its tick again.
 *
 * Facts: Arm DEN 0028 (SMCCC), sections 7.2 and 7.3; DEN 0022 (PSCI), PSCI_FEATURES. Linux rings
 * SCMI only when firmware reports SMCCC 1.1 or later (arm_smccc_1_1_invoke()).
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "cpu.h"
#include "accel/tcg/cpu-ops.h"
#include "hw/qdev-properties.h"
#include "hw/soc/rk-scmi.h"
#include "migration/vmstate.h"
#include "rk-cpu.h"

typedef struct RkCpu {
    ARMCPU parent_obj;

    RkScmi *scmi;
} RkCpu;

static TCGCPUOps rk_cpu_tcg_ops;
static void (*arm_do_interrupt)(CPUState *cs);
static DeviceRealize arm_realize;

#define SMCCC_VERSION       0x80000000
#define SMCCC_ARCH_FEATURES 0x80000001
#define PSCI_FEATURES       0x8400000a
#define SMCCC_1_1           0x10001
#define SMCCC_SUCCESS       0
#define SMCCC_NOT_SUPPORTED (-1)

/* Serves the call that the CPU has made, and leaves its result in X0. False: not a call of ours. */
static bool rk_cpu_firmware_call(RkCpu *cpu)
{
    uint64_t *x = cpu->parent_obj.env.xregs;

    switch ((uint32_t)x[0]) {
    case SMCCC_VERSION:
        x[0] = SMCCC_1_1;
        return true;
    case SMCCC_ARCH_FEATURES:
        x[0] = (uint32_t)x[1] == SMCCC_VERSION || (uint32_t)x[1] == SMCCC_ARCH_FEATURES ?
               SMCCC_SUCCESS : SMCCC_NOT_SUPPORTED;
        return true;
    case PSCI_FEATURES:
        if ((uint32_t)x[1] != SMCCC_VERSION) {
            return false;
        }
        x[0] = SMCCC_SUCCESS;
        return true;
    case RK_SCMI_SMC_ID:
        if (!cpu->scmi) {
            return false;
        }
        rk_scmi_ring(cpu->scmi);
        x[0] = SMCCC_SUCCESS;
        return true;
    default:
        return false;
    }
}

static void rk_cpu_do_interrupt(CPUState *cs)
{
    RkCpu *cpu = (RkCpu *)cs;

    if (cs->exception_index != EXCP_SMC || !is_a64(&cpu->parent_obj.env) ||
        cpu->parent_obj.psci_conduit != QEMU_PSCI_CONDUIT_SMC || !rk_cpu_firmware_call(cpu)) {
        arm_do_interrupt(cs);
    }
}

static const VMStateDescription vmstate_rk_cpu = {
    .name = "rk-cpu",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_TIMER_PTR(gt_timer[GTIMER_HYP], ARMCPU),
        VMSTATE_TIMER_PTR(gt_timer[GTIMER_HYPVIRT], ARMCPU),
        VMSTATE_END_OF_LIST()
    },
};

static void rk_cpu_realize(DeviceState *dev, Error **errp)
{
    ERRP_GUARD();

    arm_realize(dev, errp);
    if (!*errp) {
        vmstate_register(NULL, CPU(dev)->cpu_index, &vmstate_rk_cpu, ARM_CPU(dev));
    }
}

static const Property rk_cpu_properties[] = {
    DEFINE_PROP_LINK("scmi", RkCpu, scmi, TYPE_RK_SCMI, RkScmi *),
};

static void rk_cpu_class_init(ObjectClass *oc, void *data)
{
    CPUClass *cc = CPU_CLASS(oc);

    device_class_set_parent_realize(DEVICE_CLASS(oc), rk_cpu_realize, &arm_realize);
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
