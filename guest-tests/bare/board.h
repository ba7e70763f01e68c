/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of the chip a bare-metal program is built for (-DBOARD_RK3588 or -DBOARD_RK3576).
 * Facts: device trees of the ROCK 5B and ROCK 4D, vendor device trees for the NPU.
 */
#ifndef BARE_BOARD_H
#define BARE_BOARD_H

#include "rknpu/regs.h"

#if defined(BOARD_RK3588)
#define BOARD_UART 0xfeb50000u
#define BOARD_NPU 0xfdab0000u
#define BOARD_NPU_STEP 0x10000u
#define BOARD_CORES 3
#define BOARD_VERSION 0x46495245u
#define BOARD_SRAM 0xff001000u
#define BOARD_TASK_CON(n) (0x7000u | (n)) /* PP_EN, COUNT_CLEAR and the bit both drivers set */
#define BOARD_TASK_STATUS 0x3cu
#define BOARD_WORK 0x10000000u /* 16 MiB of DRAM that nobody else uses */
static const unsigned board_mmu[BOARD_CORES][2] = {
    {0x9000, 0xa000}, {0xa000, 0xa000}, {0xa000, 0xa000}};
#elif defined(BOARD_RK3576)
#define BOARD_UART 0x2ad40000u
#define BOARD_NPU 0x27700000u
#define BOARD_NPU_STEP 0x8000u
#define BOARD_CORES 2
#define BOARD_VERSION 0x46495247u
#define BOARD_SRAM 0x3ff88000u
#define BOARD_TASK_CON(n) (0x70000u | (n))
#define BOARD_TASK_STATUS 0x48u
#define BOARD_WORK 0x50000000u
static const unsigned board_mmu[BOARD_CORES][2] = {{0x2000, 0x2100}, {0x2000, 0x2100}};
#else
#error "build with -DBOARD_RK3588 or -DBOARD_RK3576"
#endif

/* PC registers are at the same offsets on both chips. */
enum {
    PC_VERSION = RK3588_PC_VERSION,
    PC_OPERATION_ENABLE = RK3588_PC_OPERATION_ENABLE,
    PC_BASE_ADDRESS = RK3588_PC_BASE_ADDRESS,
    PC_REGISTER_AMOUNTS = RK3588_PC_REGISTER_AMOUNTS,
    PC_INTERRUPT_MASK = RK3588_PC_INTERRUPT_MASK,
    PC_INTERRUPT_CLEAR = RK3588_PC_INTERRUPT_CLEAR,
    PC_INTERRUPT_STATUS = RK3588_PC_INTERRUPT_STATUS,
    PC_INTERRUPT_RAW_STATUS = RK3588_PC_INTERRUPT_RAW_STATUS,
    PC_TASK_CON = RK3588_PC_TASK_CON,
    PC_TASK_DMA_BASE_ADDR = RK3588_PC_TASK_DMA_BASE_ADDR,
    CNA_S_POINTER = RK3588_CNA_S_POINTER,
    CORE_S_POINTER = RK3588_CORE_S_POINTER,
};

/*
 * Rockchip IOMMU v2, offsets in a register bank (Linux drivers/iommu/rockchip-iommu.c, which also
 * tells that the upper 28 bits of DTE_ADDR read back).
 */
enum {
    MMU_DTE_ADDR = 0x00,
    MMU_STATUS = 0x04,
    MMU_COMMAND = 0x08,
    MMU_PAGE_FAULT_ADDR = 0x0c,
    MMU_ZAP_ONE_LINE = 0x10,
    MMU_INT_RAWSTAT = 0x14,
    MMU_INT_CLEAR = 0x18,
    MMU_INT_MASK = 0x1c,
    MMU_INT_STATUS = 0x20,
};

enum {
    MMU_CMD_ENABLE_PAGING = 0,
    MMU_CMD_DISABLE_PAGING = 1,
    MMU_CMD_ENABLE_STALL = 2,
    MMU_CMD_DISABLE_STALL = 3,
    MMU_CMD_ZAP_CACHE = 4,
    MMU_CMD_PAGE_FAULT_DONE = 5,
    MMU_CMD_FORCE_RESET = 6,
};

#endif /* BARE_BOARD_H */
