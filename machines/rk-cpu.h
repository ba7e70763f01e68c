/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs of the Rockchip machines: Arm's cores, plus the firmware calls that QEMU's own PSCI does not
 * know, SMCCC's version and SCMI. All other SMCs go to PSCI.
 *
 * Property "scmi": link to the server that RK_SCMI_SMC_ID rings; optional.
 */
#ifndef RK_CPU_H
#define RK_CPU_H

#define RK_CPU_TYPE(core) "rk-" core "-arm-cpu"
#define TYPE_RK_CORTEX_A53 RK_CPU_TYPE("cortex-a53")
#define TYPE_RK_CORTEX_A55 RK_CPU_TYPE("cortex-a55")
#define TYPE_RK_CORTEX_A72 RK_CPU_TYPE("cortex-a72")
#define TYPE_RK_CORTEX_A76 RK_CPU_TYPE("cortex-a76")

#endif
