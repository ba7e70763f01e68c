/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rockchip power management unit: the part that switches power domains.
 *
 * GPIO outputs, named RK_PMU_POWER: one line a domain, numbered as the device-tree binding numbers
 * the domain; high while the domain and all domains above it are on.
 */
#ifndef RK_PMU_H
#define RK_PMU_H

#define TYPE_RK_PMU "rk-pmu" /* abstract */
#define TYPE_RK3588_PMU "rk3588-pmu"
#define TYPE_RK3576_PMU "rk3576-pmu"

#define RK_PMU_POWER "power"
#define RK_PMU_MAX_DOMAINS 64

/*
 * Domains that the machines wire up; dt-bindings/power/rk3588-power.h and rockchip,rk3576-power.h.
 */
enum {
    RK3588_PD_NPU = 8,
    RK3588_PD_NPUTOP = 9,
    RK3588_PD_NPU1 = 10,
    RK3588_PD_NPU2 = 11,
};

enum {
    RK3576_PD_NPU = 0,
    RK3576_PD_NPUTOP = 1,
    RK3576_PD_NPU0 = 2,
    RK3576_PD_NPU1 = 3,
};

#endif
