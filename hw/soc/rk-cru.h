/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rockchip clock and reset unit.
 *
 * GPIO outputs
 *   RK_CRU_RESET  high while the named reset is asserted
 *   RK_CRU_CLOCK  high while the named clock runs (its gate is open)
 * numbered by the enums below, one enum a chip.
 */
#ifndef RK_CRU_H
#define RK_CRU_H

#define TYPE_RK_CRU "rk-cru" /* abstract */
#define TYPE_RK3588_CRU "rk3588-cru"
#define TYPE_RK3576_CRU "rk3576-cru"

#define RK_CRU_RESET "reset"
#define RK_CRU_CLOCK "clock"
#define RK_CRU_MAX_LINES 16

/* Names of the TRM's SOFTRST_CON and GATE_CON bits. */
enum {
    RK3588_SRST_A_RKNN0, RK3588_SRST_H_RKNN0,
    RK3588_SRST_A_RKNN1, RK3588_SRST_H_RKNN1,
    RK3588_SRST_A_RKNN2, RK3588_SRST_H_RKNN2,
    RK3588_SRSTS
};

enum {
    RK3588_ACLK_NPU0, RK3588_HCLK_NPU0,
    RK3588_ACLK_NPU1, RK3588_HCLK_NPU1,
    RK3588_ACLK_NPU2, RK3588_HCLK_NPU2,
    RK3588_CLKS
};

enum {
    RK3576_SRST_A_RKNN0,
    RK3576_SRST_A_RKNN1,
    RK3576_SRSTS
};

enum {
    RK3576_ACLK_RKNN0,
    RK3576_ACLK_RKNN1,
    RK3576_CLKS
};

#endif
