// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Rockchip IOMMU v2 in front of core 0: what Linux drivers/iommu/rockchip-iommu.c does to it
 * and expects of it.
 */
#include "soc.h"

using namespace soc;

namespace {

constexpr uint32_t iova_program = 0x00010000, iova_source = 0x00420000, iova_target = 0xfffff000;
constexpr uint32_t table2 = table + 0x1000, table3 = table + 0x2000;

class Iommu : public Soc {
protected:
    void SetUp() override
    {
        Soc::SetUp();
        if (!q) {
            return;
        }
        q->fill(directory, 4 * 4096, 0);
        q->write(directory, table | 1);
        q->write(directory + 4, table2 | 1);
        q->write(directory + 4 * 1023, table3 | 1);
        q->write(table + 4 * 0x10, program | 3);
        q->write(table2 + 4 * 0x20, source | 3);
        q->write(table3 + 4 * 1023, target | 7);
        q->write(source, 0x11223344);
        q->fill(target, 64, 0);
    }

    void enable(uint32_t dte = directory | 1)
    {
        for (uint64_t bank : {read_bank, write_bank}) {
            q->write(bank + DTE_ADDR, dte);
            q->write(bank + COMMAND, ZAP_CACHE);
            q->write(bank + INT_MASK, 3);
            q->write(bank + COMMAND, ENABLE_PAGING);
        }
    }

    void copy(uint32_t from = iova_source, uint32_t to = iova_target)
    {
        q->write(core[0] + RK3588_PC_INTERRUPT_CLEAR, 0x1ffff);
        start(*q, 0, iova_program, put_copy(*q, program, from, to));
    }

    bool done() { return q->wait(core[0] + RK3588_PC_INTERRUPT_RAW_STATUS, 0x100, 0x100) ||
                         q->wait(core[0] + RK3588_PC_INTERRUPT_RAW_STATUS, 0x200, 0x200); }

    void reset_core()
    {
        q->write(cru + 0xa00 + 4 * 30, 1u << 22 | 1u << 6);
        q->write(cru + 0xa00 + 4 * 30, 1u << 22);
    }
};

/* rk_iommu_force_reset(): the test value keeps its upper bits, and reads 0 after the command. */
TEST_F(Iommu, ResetTestOfTheDriver)
{
    for (uint64_t bank : banks) {
        q->write(bank + DTE_ADDR, 0xcafeb000);
        EXPECT_EQ(q->read(bank + DTE_ADDR), 0xcafeb000u);
        q->write(bank + INT_MASK, 3);
        q->write(bank + COMMAND, FORCE_RESET);
        EXPECT_EQ(q->read(bank + DTE_ADDR), 0u);
        EXPECT_EQ(q->read(bank + INT_MASK), 0u);
        EXPECT_EQ(q->read(bank + STATUS), 0x80000018u) << "idle, replay buffer empty, not stalled";
    }
}

TEST_F(Iommu, StallNeedsPaging)
{
    q->write(read_bank + COMMAND, ENABLE_STALL);
    EXPECT_EQ(q->read(read_bank + STATUS) & 4, 0u);
    q->write(read_bank + COMMAND, ENABLE_PAGING);
    q->write(read_bank + COMMAND, ENABLE_STALL);
    EXPECT_EQ(q->read(read_bank + STATUS) & 0x80000005, 5u);
    EXPECT_EQ(q->read(write_bank + STATUS) & 5, 0u) << "banks are independent";
    q->write(read_bank + COMMAND, DISABLE_STALL);
    EXPECT_EQ(q->read(read_bank + STATUS) & 0x80000004, 0x80000000u);
    q->write(read_bank + COMMAND, DISABLE_PAGING);
    EXPECT_EQ(q->read(read_bank + STATUS) & 1, 0u);
}

TEST_F(Iommu, TranslatesFetchReadAndWrite)
{
    enable();
    copy();
    ASSERT_TRUE(done());
    EXPECT_EQ(q->read(target), 0x11223344u);
}

TEST_F(Iommu, OffMeansPhysicalAddresses)
{
    q->write(core[0] + RK3588_PC_INTERRUPT_CLEAR, 0x1ffff);
    start(*q, 0, program, put_copy(*q, program, source, target));
    ASSERT_TRUE(done());
    EXPECT_EQ(q->read(target), 0x11223344u);
}

/*
 * An entry keeps PA 35:32 in bits 11:8 and PA 39:36 in bits 7:4. With 5 GiB the last one ends above
 * 4 GiB.
 */
TEST_F(Iommu, EntriesHoldFortyBits)
{
    boot({"-m", "5G"});
    constexpr uint64_t high = 0x100000000;

    q->fill(directory, 4 * 4096, 0);
    q->write(high, table | 1);                 /* directory, above 4 GiB */
    q->write(high + 4 * 1, table2 | 1);
    q->write(high + 4 * 1023, table3 | 1);
    q->write(table + 4 * 0x10, program | 3);
    q->write(table2 + 4 * 0x20, 0x00005000 | 1 << 8 | 3); /* source at 0x100005000 */
    q->write(table3 + 4 * 1023, 0x00006000 | 1 << 8 | 7); /* target at 0x100006000 */
    q->write(high + 0x5000, 0x55667788);
    enable(0x00000000 | 1 << 8 | 1);
    copy();
    ASSERT_TRUE(done());
    EXPECT_EQ(q->read(high + 0x6000), 0x55667788u);
}

/* The driver zaps after it unmaps; until then the old translation may serve, and here does. */
TEST_F(Iommu, TranslationsLastUntilTheyAreZapped)
{
    enable();
    copy();
    ASSERT_TRUE(done());
    q->write(table2 + 4 * 0x20, 0);
    q->fill(target, 16, 0);
    copy();
    ASSERT_TRUE(done());
    EXPECT_EQ(q->read(target), 0x11223344u) << "cached";
    q->write(read_bank + ZAP_ONE_LINE, iova_source);
    copy();
    ASSERT_TRUE(q->wait(read_bank + INT_STATUS, 1, 1));
    EXPECT_EQ(q->read(read_bank + PAGE_FAULT_ADDR), iova_source);
}

void expect_fault(QTest &q, uint64_t bank, uint32_t iova, bool write)
{
    ASSERT_TRUE(q.wait(bank + INT_STATUS, 3, 1));
    EXPECT_EQ(q.read(bank + PAGE_FAULT_ADDR), iova);
    EXPECT_EQ(q.read(bank + STATUS) & 0x23, write ? 0x23u : 0x03u);
    EXPECT_TRUE(q.wait(core[0] + RK3588_PC_INTERRUPT_RAW_STATUS, 0x3000, write ? 0x2000 : 0x1000));
    EXPECT_EQ(q.read(core[0] + RK3588_PC_INTERRUPT_STATUS), 0u) << "the job does not complete";
    EXPECT_TRUE(q.spi(spi[0])) << "shared line";
    q.write(bank + COMMAND, ENABLE_STALL);
    EXPECT_EQ(q.read(bank + STATUS) & 4, 0u) << "no stall before the fault is acknowledged";
    q.write(bank + COMMAND, ZAP_CACHE);
    q.write(bank + COMMAND, PAGE_FAULT_DONE);
    q.write(bank + INT_CLEAR, 1);
    EXPECT_EQ(q.read(bank + STATUS) & 0x22, 0u);
    EXPECT_FALSE(q.spi(spi[0]));
}

TEST_F(Iommu, ReadFault)
{
    enable();
    q->write(table2 + 4 * 0x20, 0);
    copy();
    expect_fault(*q, read_bank, iova_source, false);
}

TEST_F(Iommu, DirectoryFault)
{
    enable();
    q->write(directory + 4, 0);
    copy();
    expect_fault(*q, read_bank, iova_source, false);
}

TEST_F(Iommu, WriteToAReadOnlyPageFaults)
{
    enable();
    q->write(table3 + 4 * 1023, target | 3);
    copy();
    expect_fault(*q, write_bank, iova_target, true);
    EXPECT_EQ(q->read(target), 0u);
}

/* A table outside of memory: bus error, not a page fault. */
TEST_F(Iommu, TableOutsideMemoryIsABusError)
{
    enable(0xf8000000 | 1);
    copy();
    ASSERT_TRUE(q->wait(read_bank + INT_STATUS, 3, 2));
    EXPECT_EQ(q->read(read_bank + PAGE_FAULT_ADDR), iova_program);
    EXPECT_EQ(q->read(read_bank + STATUS) & 2, 0u);
}

TEST_F(Iommu, StalledBankHoldsTheJob)
{
    enable();
    q->write(read_bank + COMMAND, ENABLE_STALL);
    copy();
    usleep(200000);
    EXPECT_EQ(q->read(core[0] + RK3588_PC_INTERRUPT_RAW_STATUS) & 0x3fff, 0u);
    q->write(read_bank + COMMAND, DISABLE_STALL);
    ASSERT_TRUE(done());
    EXPECT_EQ(q->read(target), 0x11223344u);
}

/* Reset frees a core that waits for a stalled bank; the bank keeps table and stall. */
TEST_F(Iommu, ResetOfACoreThatWaitsForAStalledBank)
{
    enable();
    q->write(read_bank + COMMAND, ENABLE_STALL);
    copy();
    reset_core();
    EXPECT_EQ(q->read(read_bank + STATUS), 0x1du);
    q->write(read_bank + COMMAND, DISABLE_STALL);
    copy();
    ASSERT_TRUE(done());
    EXPECT_EQ(q->read(target), 0x11223344u);
}

} // namespace
