/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rockchip IOMMU version 2: one register bank of 0x100 bytes.
 *
 * QOM interface
 *   property "memory"  link to the MemoryRegion that page tables and translated addresses lie in
 *   property "bank"    its name in messages and trace events, such as "npu0.mmu0"
 *   MMIO region 0      the bank
 *   IRQ 0              level, INT_RAWSTAT and INT_MASK
 *
 * The owner of the bank translates from any thread, without the big lock.
 */
#ifndef RK_IOMMU_H
#define RK_IOMMU_H

#include "exec/hwaddr.h"
#include "qom/object.h"

#define TYPE_RK_IOMMU "rk-iommu"
OBJECT_DECLARE_SIMPLE_TYPE(RkIommu, RK_IOMMU)

#define RK_IOMMU_BANK_SIZE 0x100

/* Register offsets; names as in Linux drivers/iommu/rockchip-iommu.c. */
#define RK_MMU_DTE_ADDR        0x00
#define RK_MMU_STATUS          0x04
#define RK_MMU_COMMAND         0x08
#define RK_MMU_PAGE_FAULT_ADDR 0x0c
#define RK_MMU_ZAP_ONE_LINE    0x10
#define RK_MMU_INT_RAWSTAT     0x14
#define RK_MMU_INT_CLEAR       0x18
#define RK_MMU_INT_MASK        0x1c
#define RK_MMU_INT_STATUS      0x20
#define RK_MMU_AUTO_GATING     0x24

#define RK_MMU_STATUS_PAGING_ENABLED      (1u << 0)
#define RK_MMU_STATUS_PAGE_FAULT_ACTIVE   (1u << 1)
#define RK_MMU_STATUS_STALL_ACTIVE        (1u << 2)
#define RK_MMU_STATUS_IDLE                (1u << 3)
#define RK_MMU_STATUS_REPLAY_BUFFER_EMPTY (1u << 4)
#define RK_MMU_STATUS_PAGE_FAULT_IS_WRITE (1u << 5)
#define RK_MMU_STATUS_STALL_NOT_ACTIVE    (1u << 31)

#define RK_MMU_IRQ_PAGE_FAULT (1u << 0)
#define RK_MMU_IRQ_BUS_ERROR  (1u << 1)

typedef enum RkMmuCommand {
    RK_MMU_CMD_ENABLE_PAGING,
    RK_MMU_CMD_DISABLE_PAGING,
    RK_MMU_CMD_ENABLE_STALL,
    RK_MMU_CMD_DISABLE_STALL,
    RK_MMU_CMD_ZAP_CACHE,
    RK_MMU_CMD_PAGE_FAULT_DONE,
    RK_MMU_CMD_FORCE_RESET,
} RkMmuCommand;

/*
 * Translates `iova` for a read or a write. On success `*pa` is the physical address and the result
 * is the number of bytes, 1..len, that follow it contiguously in physical memory. 0 = no
 * translation: the bank has recorded a page fault or bus error (the first one wins), or it is
 * stalled and rk_iommu_set_draining() asked waiters to give up. A stalled bank makes the caller
 * wait. Never call it with the big lock held.
 */
uint64_t rk_iommu_translate(RkIommu *s, uint32_t iova, uint64_t len, bool write, hwaddr *pa);

/* While `draining`, a stalled bank refuses instead of waiting. Any thread. */
void rk_iommu_set_draining(RkIommu *s, bool draining);

/* As FORCE_RESET, which also ends a hang: what power-off leaves. Needs the big lock. */
void rk_iommu_force_reset(RkIommu *s);

/*
 * The bank stops: registers read 0 and ignore writes, nothing is translated, and no fault is told.
 * Needs the big lock.
 */
void rk_iommu_hang(RkIommu *s);

/*
 * Whether the registers answer: power, clock and reset of the master that the bank belongs to. An
 * access while they do not reads 0, changes nothing and is counted. Both need the big lock.
 */
void rk_iommu_set_powered(RkIommu *s, bool powered);
uint64_t rk_iommu_unpowered_accesses(const RkIommu *s);

/* Appends one line for a person: paging, stall, fault and its address, directory. Any thread. */
void rk_iommu_describe(RkIommu *s, GString *out);

#endif
