/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of the kernel's bindings that the trees here use:
 * dt-bindings/clock/rockchip,rk3588-cru.h, reset/rockchip,rk3588-cru.h, power/rk3588-power.h,
 * interrupt-controller/arm-gic.h (Linux 6.12 and 7.x).
 */
#define SPI 0
#define PPI 1
#define EDGE_RISING 1
#define LEVEL_HIGH 4

#define PLL_AUPLL            4
#define PLL_GPLL             6
#define PLL_NPLL             7
#define PLL_PPLL             8
#define ACLK_BUS_ROOT        113
#define PCLK_UART2           160
#define SCLK_UART2           175
#define ACLK_CENTER_ROOT     204
#define ACLK_CENTER_LOW_ROOT 205
#define HCLK_CENTER_ROOT     206
#define CLK_150M_SRC         224
#define ACLK_TOP_ROOT        256
#define PCLK_TOP_ROOT        257
#define ACLK_LOW_TOP_ROOT    258
#define ACLK_NPU1            276
#define HCLK_NPU1            277
#define ACLK_NPU2            278
#define HCLK_NPU2            279
#define HCLK_NPU_CM0_ROOT    280
#define ACLK_NPU0            287
#define HCLK_NPU0            288
#define HCLK_NPU_ROOT        289
#define CLK_NPU_DSU0         290
#define PCLK_NPU_ROOT        291
#define PCLK_PMU0_ROOT       646
#define HCLK_PMU_CM0_ROOT    647

#define SCMI_CLK_CPUL        0
#define SCMI_CLK_CPUB01      2
#define SCMI_CLK_CPUB23      3
#define SCMI_CLK_NPU         6

#define SRST_A_RKNN1         250
#define SRST_H_RKNN1         252
#define SRST_A_RKNN2         254
#define SRST_H_RKNN2         256
#define SRST_A_RKNN0         272
#define SRST_H_RKNN0         274

#define PD_NPU               8
#define PD_NPUTOP            9
#define PD_NPU1              10
#define PD_NPU2              11
