/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Rockchip IOMMU in front of an NPU core, programmed the way Linux
 * drivers/iommu/rockchip-iommu.c does it: enable sequence, translation of programs and data,
 * caching, zap, faults, stall.
 */
#include "copy.h"

#if defined(BOARD_RK3588)

enum {
    DIRECTORY = BOARD_WORK + 0x200000, /* 1024 directory entries */
    TABLE = BOARD_WORK + 0x201000,     /* 1024 page entries: IOVA 0 .. 4 MiB */
    PROGRAM = BOARD_WORK + 0x300000,
    SOURCE = BOARD_WORK + 0x301000,
    TARGET = BOARD_WORK + 0x302000,
    OTHER = BOARD_WORK + 0x303000,
    /* where they appear to the device */
    IOVA_PROGRAM = 0x10000,
    IOVA_SOURCE = 0x20000,
    IOVA_TARGET = 0x30000,
    IOVA_HOLE = 0x40000,
};

enum { VALID = 1, READABLE = 2, WRITABLE = 4 };

static uint32_t *words(uint32_t address)
{
    return (uint32_t *)(uintptr_t)address;
}

static void map_page(uint32_t iova, uint32_t physical, uint32_t flags)
{
    words(TABLE)[iova >> 12 & 0x3ff] = physical | flags;
    __asm__ volatile("dsb sy" ::: "memory");
}

static bool enable(unsigned core)
{
    bool reset_ok = true;

    for (unsigned bank = 0; bank < 2; bank++) {
        mmu_write(core, bank, MMU_DTE_ADDR, 0xcafebabe);
        reset_ok &= report_equal(mmu_read(core, bank, MMU_DTE_ADDR), 0xcafebab0,
                                 "DTE_ADDR test value");
        mmu_write(core, bank, MMU_COMMAND, MMU_CMD_FORCE_RESET);
        reset_ok &= report_equal(mmu_read(core, bank, MMU_DTE_ADDR), 0,
                                 "DTE_ADDR after force reset");
        mmu_write(core, bank, MMU_DTE_ADDR, DIRECTORY);
        mmu_write(core, bank, MMU_COMMAND, MMU_CMD_ZAP_CACHE);
        mmu_write(core, bank, MMU_INT_MASK, 3);
        mmu_write(core, bank, MMU_COMMAND, MMU_CMD_ENABLE_PAGING);
        reset_ok &= report_equal(mmu_read(core, bank, MMU_STATUS) & 3, 1, "STATUS with paging on");
    }
    return reset_ok;
}

static void zap(unsigned core)
{
    mmu_write(core, 0, MMU_COMMAND, MMU_CMD_ZAP_CACHE);
    mmu_write(core, 1, MMU_COMMAND, MMU_CMD_ZAP_CACHE);
}

static void map_all(void)
{
    for (unsigned i = 0; i < 1024; i++) {
        words(DIRECTORY)[i] = 0;
        words(TABLE)[i] = 0;
    }
    words(DIRECTORY)[0] = TABLE | VALID;
    map_page(IOVA_PROGRAM, PROGRAM, VALID | READABLE);
    map_page(IOVA_SOURCE, SOURCE, VALID | READABLE);
    map_page(IOVA_TARGET, TARGET, VALID | READABLE | WRITABLE);
    for (unsigned i = 0; i < 4; i++) {
        words(SOURCE)[i] = 0x01020304 * (i + 1);
        words(TARGET)[i] = 0;
        words(OTHER)[i] = 0x55000000 + i;
    }
}

static void start_copy(uint32_t from, uint32_t to)
{
    Program p = {(uint64_t *)(uintptr_t)PROGRAM, 0};

    emit_copy(&p, from, to);
    emit_tail(&p, 0, 0, 0x18);
    npu_start(0, IOVA_PROGRAM, program_amount(&p), 1, 0x300);
}

static void test_translation(void)
{
    start_copy(IOVA_SOURCE, IOVA_TARGET);
    report(npu_finish(0, 0x300), "a task fetched and run through the IOMMU completes");
    report_equal(words(TARGET)[1], words(SOURCE)[1], "word copied between translated pages");
}

/*
 * The driver owes the device a zap after it changed a table; until then old translations may serve.
 */
static void test_cache(void)
{
    map_page(IOVA_SOURCE, OTHER, VALID | READABLE);
    start_copy(IOVA_SOURCE, IOVA_TARGET);
    report(npu_finish(0, 0x300), "task after a table change without zap");
    report_equal(words(TARGET)[1], words(SOURCE)[1], "word through the cached translation");
    zap(0);
    start_copy(IOVA_SOURCE, IOVA_TARGET);
    report(npu_finish(0, 0x300), "task after the zap");
    report_equal(words(TARGET)[1], words(OTHER)[1], "word through the new translation");
}

/* Which bank saw the fault is the chip's business: core 0 has two. */
static unsigned faulted_bank(void)
{
    return mmu_read(0, 0, MMU_INT_RAWSTAT) & 1 ? 0 : 1;
}

static void recover(unsigned bank)
{
    mmu_write(0, bank, MMU_COMMAND, MMU_CMD_ZAP_CACHE);
    mmu_write(0, bank, MMU_COMMAND, MMU_CMD_PAGE_FAULT_DONE);
    mmu_write(0, bank, MMU_INT_CLEAR, 3);
    report_equal(mmu_read(0, bank, MMU_STATUS) & 2, 0, "page fault bit after PAGE_FAULT_DONE");
    report_equal(mmu_read(0, bank, MMU_INT_STATUS), 0, "INT_STATUS after the clear");
}

static void test_fault(uint32_t from, uint32_t to, uint32_t expected, bool write)
{
    unsigned bank;

    start_copy(from, to);
    for (unsigned i = 0; i < 1000 && !(mmu_read(0, 0, MMU_INT_RAWSTAT) & 1) &&
                         !(mmu_read(0, 1, MMU_INT_RAWSTAT) & 1);
         i++) {
        delay_ms(1);
    }
    bank = faulted_bank();
    print("# a %s of an address without translation\n", write ? "write" : "read");
    report_equal(mmu_read(0, bank, MMU_INT_STATUS) & 1, 1, "page fault in INT_STATUS");
    report_equal(mmu_read(0, bank, MMU_PAGE_FAULT_ADDR) & 0xfffff000, expected, "PAGE_FAULT_ADDR");
    report_equal(mmu_read(0, bank, MMU_STATUS) & 0x23, write ? 0x23 : 0x03, "STATUS");
    report_equal(npu_read(0, PC_INTERRUPT_STATUS), 0,
                 "NPU INTERRUPT_STATUS: the task did not complete");
    report(npu_wait(0, PC_INTERRUPT_RAW_STATUS, 0x3000, write ? 0x2000 : 0x1000, 1000),
           "NPU raw status tells a DMA %s error", write ? "write" : "read");
    recover(bank);
}

/*
 * After a fault the core waits for its reset: SOFTRST_CON(30), bits 6 and 8 (clk-rk3588's reset
 * table).
 */
static void reset_core(void)
{
    write32(0xfd7c0a00 + 4 * 30, 0x01400140);
    delay_ms(1);
    write32(0xfd7c0a00 + 4 * 30, 0x01400000);
}

int main(void)
{
    map_all();
    if (!enable(0)) {
        return 1;
    }
    test_translation();
    test_cache();
    test_fault(IOVA_HOLE, IOVA_TARGET, IOVA_HOLE, false);
    reset_core();
    if (!enable(0)) {
        return 1;
    }
    test_fault(IOVA_SOURCE, IOVA_SOURCE, IOVA_SOURCE, true); /* a page that may only be read */
    return 0;
}

#else

int main(void)
{
    for (unsigned core = 0; core < BOARD_CORES; core++) {
        for (unsigned bank = 0; bank < 2; bank++) {
            mmu_write(core, bank, MMU_DTE_ADDR, 0xcafebabe);
            report_equal(mmu_read(core, bank, MMU_DTE_ADDR), 0xcafebab0, "DTE_ADDR test value");
            mmu_write(core, bank, MMU_COMMAND, MMU_CMD_FORCE_RESET);
            report_equal(mmu_read(core, bank, MMU_DTE_ADDR), 0, "DTE_ADDR after force reset");
        }
    }
    return 0;
}

#endif
