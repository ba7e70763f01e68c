/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PC: fetch, walk, groups, interrupts, faults, pause, reset, snapshots. What the tasks compute
 * is played by task_double, so every expectation here is about registers and order.
 *
 * Expected values: RK3588 TRM chapter 36, the register accesses of Linux drivers/accel/rocket and
 * of Rockchip's rknpu driver 0.9.8, and the shape of programs that Rockchip's runtime 1.6.0
 * submits.
 */
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>

#include "machine.h"
#include "task_double.h"

namespace {

constexpr uint32_t kConvolution = 0x1d; /* CNA, CORE, DPU, DPU_RDMA */
constexpr uint32_t kElementwise = 0x18; /* DPU, DPU_RDMA */
constexpr uint32_t kPooling = 0x60;     /* PPU, PPU_RDMA */
constexpr uint32_t kAt = 0x10000;       /* where the first program lies */

uint32_t Reg(const RknpuJob &job, uint32_t offset)
{
    static const int kBlock[8] = { 0,         RKNPU_CNA,      0,         RKNPU_CORE,
                                   RKNPU_DPU, RKNPU_DPU_RDMA, RKNPU_PPU, RKNPU_PPU_RDMA };

    return job.reg[kBlock[offset >> 12]][(offset & 0xfff) / 4];
}

class Walk : public testing::Test {
protected:
    void SetUp() override { task_double::Reset(); }
    void TearDown() override { task_double::Reset(); }
};

/* --- One task --- */

TEST_F(Walk, OneTask)
{
    Machine m;
    Program p;

    p.set(0x4004, 0xe).set(0x4084, 0x1234).set(0x1024, 0x007f0080).end(kConvolution);
    m.start(kAt, p);
    ASSERT_TRUE(m.wait());
    auto seen = task_double::Seen();
    ASSERT_EQ(1u, seen.size());
    EXPECT_EQ(kConvolution, seen[0].unit_mask);
    EXPECT_EQ(0x1234u, Reg(seen[0], 0x4084));
    EXPECT_EQ(0x007f0080u, Reg(seen[0], 0x1024));
    EXPECT_EQ(0x100u, m.read(0x2c));
    EXPECT_EQ(0x100u, m.read(0x28));
    EXPECT_EQ(1u, m.read(0x3c) & 0xfff);
    EXPECT_TRUE(rknpu_irq_level(m.npu, 0));
    EXPECT_EQ(1u, m.host.irq_calls(0));
    EXPECT_EQ(1u, m.stats().jobs);
    EXPECT_EQ(1u, m.stats().tasks);
}

/* rocket's order of accesses: OPERATION_ENABLE stays 1 until its interrupt thread writes 0. */
TEST_F(Walk, MainlineDriverSequence)
{
    Machine m;
    Program p;

    p.set(0x4004, 0xe).end(kConvolution);
    m.host.put(kAt, p.words);
    for (int round = 0; round < 4; round++) {
        m.write(0x10, 1);
        m.write(0x1004, 0xe);
        m.write(0x3004, 0xe);
        m.write(0x10, kAt);
        m.write(0x14, p.amount());
        m.write(0x20, 0x300);
        m.write(0x24, 0x300);
        m.write(0x30, 0x7001);
        m.write(0x34, 0);
        m.write(0x08, 1);
        ASSERT_TRUE(m.wait());
        /* The groups alternate, and so does the interrupt bit. */
        EXPECT_EQ(round % 2 ? 0x200u : 0x100u, m.read(0x2c));
        EXPECT_EQ(1u, m.read(0x08));
        m.write(0x20, 0);
        EXPECT_FALSE(rknpu_irq_level(m.npu, 0));
        m.write(0x08, 0);
        m.write(0x24, 0x1ffff);
        EXPECT_EQ(0u, m.read(0x2c));
    }
    EXPECT_EQ(4u, m.stats().jobs);
}

TEST_F(Walk, MaskFiltersStatusAndLineButNotRaw)
{
    Machine m;
    Program p;

    p.end(kPooling);
    m.start(kAt, p, 1, 0x300);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(0x400u, m.read(0x2c));
    EXPECT_EQ(0u, m.read(0x28));
    EXPECT_FALSE(rknpu_irq_level(m.npu, 0));
    m.write(0x20, 0xc00);
    EXPECT_EQ(0x400u, m.read(0x28));
    EXPECT_TRUE(rknpu_irq_level(m.npu, 0));
    m.write(0x24, 0x800);
    EXPECT_TRUE(rknpu_irq_level(m.npu, 0));
    m.write(0x24, 0x400);
    EXPECT_FALSE(rknpu_irq_level(m.npu, 0));
    EXPECT_EQ(2u, m.host.irq_calls(0));
}

TEST_F(Walk, CompletionBitNamesTheLastBlockOfThePipe)
{
    const struct { uint32_t units, raw; } kCases[] = {
        { 0x0d, 0x100 }, { 0x1d, 0x100 }, { 0x18, 0x100 }, { 0x60, 0x400 }, { 0x7f, 0x500 },
        { 0x0100001d, 0x100 }, /* RK3576 co-work programs set bit 24 */
    };

    for (const auto &c : kCases) {
        Machine m;
        Program p;

        p.end(c.units);
        m.start(kAt, p, 1, 0xf00);
        ASSERT_TRUE(m.wait()) << c.units;
        EXPECT_EQ(c.raw, m.read(0x2c)) << c.units;
    }
}

/* Drivers ask for one to four words more than a program has. */
TEST_F(Walk, WordsBehindTheEndAreNotExecuted)
{
    Machine m;
    Program p;

    p.set(0x4084, 1).end(kConvolution).set(0x4084, 2).set(0x4088, 3).end(kElementwise);
    m.start(kAt, p);
    ASSERT_TRUE(m.wait());
    ASSERT_EQ(1u, task_double::Seen().size());
    EXPECT_EQ(1u, Reg(task_double::Seen()[0], 0x4084));
    EXPECT_EQ(0u, Reg(task_double::Seen()[0], 0x4088));
    auto start = m.host.events(RKNPU_EVENT_TASK_START);
    ASSERT_EQ(1u, start.size());
    EXPECT_EQ(5u, start[0].event.b);
    EXPECT_EQ(5u * 8, m.stats().traffic.bytes[RKNPU_MEM_DRAM][RKNPU_STREAM_COMMAND]);
}

/*
 * The page behind a program's last one may be unmapped: the words that drivers ask for too much lie
 * there.
 */
TEST_F(Walk, OverFetchDoesNotTouchTheNextPage)
{
    Machine m;
    Program p;
    uint32_t at = kAt + 4096 - 5 * 8;

    p.set(0x4084, 1).end(kConvolution);
    m.host.put(at & ~15u, std::vector<uint64_t>{ 0 });
    m.host.put(at & ~15u, p.words);
    m.host.unmap(kAt + 4096, 4096);
    m.start(at & ~15u, p.amount() + 2, 1);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(0x100u, m.read(0x2c));
    EXPECT_EQ(0u, m.stats().faults);
}

TEST_F(Walk, AmountCountsPairsOfWords)
{
    Machine m;
    Program p;

    for (int i = 0; i < 11; i++) {
        p.set(0x4084, static_cast<uint32_t>(i));
    }
    p.end(kConvolution); /* 15 words */
    m.host.put(kAt, p.words);
    m.start(kAt, 15 / 2, 1);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(1u, m.stats().jobs);
    m.start(kAt, 15 / 2 - 1, 1); /* 14 words: the enable word is cut off */
    EXPECT_EQ("the program has no enable word, or enables no block", m.wait_stall());
    EXPECT_FALSE(rknpu_idle(m.npu, 0));
    EXPECT_EQ(1u, m.stats().jobs);
}

/* Rockchip's runtime puts the number of cores into the upper half of REGISTER_AMOUNTS. */
TEST_F(Walk, UpperHalfOfAmountIsIgnored)
{
    Machine m;
    Program p;

    p.set(0x4084, 7).end(kConvolution);
    m.host.put(kAt, p.words);
    m.start(kAt, p.amount() | 0x20000, 1);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(1u, m.stats().jobs);
}

TEST_F(Walk, FillersAndBarriersAreSkipped)
{
    Machine m;
    Program p;

    p.words = { 0, UINT64_C(0x0001) << 48, UINT64_C(0x0041) << 48 };
    p.set(0x4084, 9).end(kConvolution);
    m.start(kAt, p);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(9u, Reg(task_double::Seen()[0], 0x4084));
    EXPECT_EQ(0u, m.stats().guest_errors);
}

TEST_F(Walk, WrongWordsAreReportedAndDecodedByOffset)
{
    Machine m;
    Program p;

    p.word(0x0201, 0x4084, 5)      /* CNA's target, DPU's offset */
        .word(0x1000, 0x4088, 6)   /* no write bit */
        .word(0x1001, 0xf008, 7)   /* not reachable from a program */
        .word(0x0101, 0x0020, 8)   /* the CPU's register */
        .end(kConvolution);
    m.start(kAt, p);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(5u, Reg(task_double::Seen()[0], 0x4084));
    EXPECT_EQ(0u, Reg(task_double::Seen()[0], 0x4088));
    EXPECT_EQ(0x300u, m.read(0x20));
    EXPECT_EQ(4u, m.stats().guest_errors);
    auto errors = m.host.events(RKNPU_EVENT_GUEST_ERROR);
    ASSERT_EQ(4u, errors.size());
    EXPECT_EQ("DPU OUT_CVT_SCALE (0x4084) is in another block than the command word's target: 0x5",
              errors[0].text);
}

TEST_F(Walk, ProgramInScatteredPages)
{
    Machine m;
    Program p;

    for (uint32_t i = 0; i < 3000; i++) {
        p.set(0x4084, i);
    }
    p.end(kConvolution);
    m.host.put(kAt + 0x7f0, p.words);
    m.host.scatter(kAt, 8 * 4096);
    m.start(kAt + 0x7f0, p.amount());
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(2999u, Reg(task_double::Seen()[0], 0x4084));
    EXPECT_EQ(3004u * 8, m.stats().traffic.bytes[RKNPU_MEM_DRAM][RKNPU_STREAM_COMMAND]);
}

/* --- Chains --- */

/* Lays out `count` programs with a marker in 0x4084; each names the next, the last one 0. */
uint32_t PutChain(Machine &m, unsigned count, uint32_t units = kConvolution)
{
    uint32_t amount = 0;

    for (unsigned i = 0; i < count; i++) {
        uint32_t next = i + 1 < count ? kAt + (i + 1) * 64 : 0;
        Program p;

        p.set(0x4004, 0xe).set(0x4084, 100 + i).end(units, next, next ? 2 : 0);
        amount = p.amount();
        m.host.put(kAt + i * 64, p.words);
    }
    return amount;
}

TEST_F(Walk, ChainRaisesOneInterruptForItsLastTask)
{
    Machine m;
    uint32_t amount = PutChain(m, 5);

    m.start(kAt, amount, 5);
    ASSERT_TRUE(m.wait());
    auto seen = task_double::Seen();
    ASSERT_EQ(5u, seen.size());
    for (uint32_t i = 0; i < 5; i++) {
        EXPECT_EQ(100 + i, Reg(seen[i], 0x4084));
    }
    EXPECT_EQ(0x100u, m.read(0x2c)); /* fifth task: group 0 again */
    EXPECT_EQ(1u, m.host.irq_calls(0));
    EXPECT_EQ(5u, m.read(0x3c) & 0xfff);
}

/* multiple_input's first submit is one task whose tail names the next submit's program. */
TEST_F(Walk, TaskNumberEndsTheWalkNotTheChain)
{
    Machine m;
    uint32_t amount = PutChain(m, 5);

    m.start(kAt, amount, 1);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(1u, task_double::Seen().size());
    m.write(0x24, 0x1ffff);
    m.start(kAt + 64, amount, 3);
    ASSERT_TRUE(m.wait());
    auto seen = task_double::Seen();
    ASSERT_EQ(4u, seen.size());
    EXPECT_EQ(103u, Reg(seen[3], 0x4084));
}

TEST_F(Walk, ChainThatEndsTooEarlyHangs)
{
    Machine m;
    uint32_t amount = PutChain(m, 2);

    m.start(kAt, amount, 3);
    EXPECT_EQ("the program names no next program, but TASK_NUMBER is not reached", m.wait_stall());
    EXPECT_EQ(0u, m.read(0x2c));
    EXPECT_FALSE(rknpu_idle(m.npu, 0));
    EXPECT_EQ(2u, m.read(0x3c) & 0xfff);
    rknpu_reset(m.npu, 0);
    EXPECT_TRUE(rknpu_idle(m.npu, 0));
}

TEST_F(Walk, ChainThatEndsTooEarlyCompletesWhenConfigured)
{
    RknpuConfig config = {};
    config.chain_null_completes = true;
    Machine m(rknpu_rk3588, config);
    uint32_t amount = PutChain(m, 2);

    m.start(kAt, amount, 3);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(0x200u, m.read(0x2c));
}

/*
 * The mainline driver's value for RK3588 means 28673 tasks on RK3576, and does not clear the
 * counter.
 */
TEST_F(Walk, Rk3576TaskConIsSixteenBitsWide)
{
    Machine m(rknpu_rk3576);
    Program p;

    p.end(kConvolution);
    m.host.put(kAt, p.words);
    m.write(0x10, kAt);
    m.write(0x14, p.amount());
    m.write(0x30, 0x7001);
    m.write(0x08, 1);
    EXPECT_NE("", m.wait_stall());
    EXPECT_EQ(1u, m.read(0x48));
    rknpu_reset(m.npu, 0);
    m.start(kAt, p);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(1u, m.read(0x48));
    EXPECT_EQ(0x00040001u, m.read(0x30)); /* TASK_COUNT_CLEAR does not stick */
}

TEST_F(Walk, ProgramThatNamesItselfIsBoundedByTaskNumber)
{
    Machine m;
    Program p;

    p.end(kConvolution, kAt, 1);
    m.start(kAt, p, 4095);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(4095u, m.stats().tasks);
    EXPECT_EQ(1u, m.host.irq_calls(0));
}

TEST_F(Walk, AmountStaysWhenAProgramDoesNotWriteIt)
{
    Machine m;
    Program first, second;

    for (uint32_t i = 0; i < 100; i++) {
        second.set(0x4084, i);
    }
    second.end(kConvolution);
    first.word(0x0101, 0x0010, kAt + 0x1000).word(0x0081, 0x0008, kConvolution);
    m.host.put(kAt, first.words);
    m.host.put(kAt + 0x1000, second.words);
    m.start(kAt, second.amount(), 2);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(99u, Reg(task_double::Seen()[1], 0x4084));
}

/* --- Groups --- */

/*
 * segv2 submits programs as complete, complete, delta, delta ...; a delta inherits from the task
 * two before it (counted over 316 deltas: no redundant write under two groups, 14 to 37 under one).
 */
TEST_F(Walk, DeltaInheritsFromTheTaskTwoBefore)
{
    Machine m;
    Program full0, full1, delta2, delta3;

    full0.set(0x4004, 0xe).set(0x4084, 10).set(0x4088, 20).set(0x1110, 30)
        .end(kConvolution, kAt + 0x100, 4);
    full1.set(0x4004, 0xe).set(0x4084, 11).set(0x4088, 21).set(0x1110, 31)
        .end(kConvolution, kAt + 0x200, 4);
    delta2.set(0x4004, 0xe).set(0x4084, 12).end(kConvolution, kAt + 0x300, 4);
    delta3.set(0x4004, 0xe).set(0x1110, 33).end(kConvolution);
    m.host.put(kAt + 0x100, full1.words);
    m.host.put(kAt + 0x200, delta2.words);
    m.host.put(kAt + 0x300, delta3.words);
    m.start(kAt, full0, 4);
    ASSERT_TRUE(m.wait());
    auto seen = task_double::Seen();
    ASSERT_EQ(4u, seen.size());
    EXPECT_EQ(12u, Reg(seen[2], 0x4084));
    EXPECT_EQ(20u, Reg(seen[2], 0x4088));
    EXPECT_EQ(30u, Reg(seen[2], 0x1110));
    EXPECT_EQ(11u, Reg(seen[3], 0x4084));
    EXPECT_EQ(21u, Reg(seen[3], 0x4088));
    EXPECT_EQ(33u, Reg(seen[3], 0x1110));
    EXPECT_EQ(0x200u, m.read(0x2c));
}

/* Elementwise tasks move the groups of DPU and DPU_RDMA, not those of CNA and CORE. */
TEST_F(Walk, OnlyEnabledBlocksToggle)
{
    Machine m;
    Program add, conv;

    add.set(0x4004, 0xe).set(0x5004, 0xe).set(0x4084, 1).end(kElementwise, kAt + 0x100, 4);
    conv.set(0x4004, 0xe).set(0x4088, 2).set(0x1110, 3).end(kConvolution);
    m.host.put(kAt + 0x100, conv.words);
    m.start(kAt, add, 2);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(0x0001000eu, m.read(0x1004) ^ 1); /* one task: pointer 1, executer 1 */
    EXPECT_EQ(0x0000000eu, m.read(0x4004));     /* two tasks: back at group 0 */
    auto seen = task_double::Seen();
    EXPECT_EQ(0u, Reg(seen[1], 0x4084));        /* written in the other group */
    EXPECT_EQ(3u, Reg(seen[1], 0x1110));
}

TEST_F(Walk, WithoutToggleEverythingHappensInGroupZero)
{
    Machine m;
    Program p;

    p.set(0x4004, 0).set(0x4084, 5).end(kElementwise, kAt, 3);
    m.start(kAt, p, 3);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(0x100u, m.read(0x2c));
    EXPECT_EQ(0u, m.read(0x4004));
}

/*
 * The vendor driver's state_init for RK3576 writes a register in both groups, then clears the
 * pointer.
 */
TEST_F(Walk, PointerSelectsTheGroupThatTheCpuSees)
{
    Machine m(rknpu_rk3576);

    m.write(0x10, 1);
    m.write(0x1004, 0);
    m.write(0x1024, 0x80000000);
    m.write(0x1004, 1);
    EXPECT_EQ(0u, m.read(0x1024));
    m.write(0x1024, 0x81000000);
    m.write(0x1004, 0x1e);
    EXPECT_EQ(0xeu, m.read(0x1004));
    EXPECT_EQ(0x80000000u, m.read(0x1024));
}

TEST_F(Walk, PointerClearBitsAreNotKept)
{
    Machine m;
    Program p;

    p.set(0x4004, 0xe).end(kConvolution);
    m.start(kAt, p);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(0x0001000fu, m.read(0x4004));
    m.write(0x4004, 0x30);
    EXPECT_EQ(0u, m.read(0x4004));
}

TEST_F(Walk, StatusShowsTheGroupThatOperates)
{
    Machine m;
    Program p;
    uint32_t cna = 0, ppu = 0, flags = 0;

    task_double::SetBehaviour([&](RknpuJob *) {
        cna = m.read(0x1000);
        ppu = m.read(0x6000);
        flags++;
        return RKNPU_TASK_OK;
    });
    p.set(0x4004, 0xe).end(kConvolution);
    m.start(kAt, p);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(1u, cna);
    EXPECT_EQ(0u, ppu);
    m.start(kAt, p);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(0x10000u, cna);
    EXPECT_EQ(0u, m.read(0x1000));
    EXPECT_EQ(2u, flags);
}

/* --- Look-up tables --- */

TEST_F(Walk, LutLoadFillsTheTables)
{
    Machine m;
    Program p;

    p.set(0x4004, 0x30);
    for (uint32_t table = 0; table < 2; table++) {
        p.set(0x4100, (2 | table) << 16);
        for (uint32_t i = 0; i < 513; i++) {
            p.set(0x4104, (table ? -i : i) & 0xffff);
        }
    }
    p.end(kElementwise);
    m.start(kAt, p);
    ASSERT_TRUE(m.wait());
    auto seen = task_double::Seen();
    for (int i = 0; i < 513; i++) {
        ASSERT_EQ(i, seen[0].lut[0][i]);
        ASSERT_EQ(-i, seen[0].lut[1][i]);
    }
    /* Reading back: the address moves on by itself. */
    m.write(0x4100, 0x00010000 | 511);
    EXPECT_EQ(0xfe01u, m.read(0x4104));
    EXPECT_EQ(0xfe00u, m.read(0x4104));
    EXPECT_EQ(0u, m.read(0x4104));
}

TEST_F(Walk, LutWritesPastTheTableAreRefused)
{
    Machine m;

    m.write(0x4100, 0x00020000 | 512);
    m.write(0x4104, 1);
    EXPECT_EQ(0u, m.stats().guest_errors);
    m.write(0x4104, 2);
    EXPECT_EQ(1u, m.stats().guest_errors);
    m.write(0x4100, 0);
    m.write(0x4104, 3);
    EXPECT_EQ(2u, m.stats().guest_errors);
}

/* --- Misuse --- */

TEST_F(Walk, EnableDuringAJobIsIgnored)
{
    Machine m;
    Program p;

    task_double::SetBehaviour([&](RknpuJob *job) {
        m.write(0x08, 1);
        EXPECT_FALSE(rknpu_cancelled(job));
        return RKNPU_TASK_OK;
    });
    p.end(kConvolution);
    m.start(kAt, p);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(1u, m.stats().tasks);
    EXPECT_EQ(1u, m.stats().guest_errors);
    EXPECT_EQ("PC OPERATION_ENABLE (0x0008) written while a job runs; ignored: 0x1",
              m.host.events(RKNPU_EVENT_GUEST_ERROR)[0].text);
}

TEST_F(Walk, EnableWithTheCpuAsSourceIsIgnored)
{
    Machine m;

    m.write(0x10, 1);
    m.write(0x08, 1);
    EXPECT_TRUE(rknpu_idle(m.npu, 0));
    EXPECT_EQ(1u, m.stats().guest_errors);
}

/* With PC_SEL the CPU programs the blocks, and GLOBAL OPERATION_ENABLE starts them. */
TEST_F(Walk, GlobalEnableRunsWhatTheCpuHasWritten)
{
    Machine m;

    m.write(0x10, 1);
    m.write(0x4084, 77);
    m.write(0xf008, kElementwise);
    ASSERT_TRUE(m.wait());
    ASSERT_EQ(1u, task_double::Seen().size());
    EXPECT_EQ(77u, Reg(task_double::Seen()[0], 0x4084));
    EXPECT_EQ(0x100u, m.read(0x2c));
    EXPECT_EQ(0u, m.stats().traffic.bytes[RKNPU_MEM_DRAM][RKNPU_STREAM_COMMAND]);
}

TEST_F(Walk, ProgramThatEnablesNothingStalls)
{
    Machine m;
    Program p;

    p.end(0);
    m.start(kAt, p);
    EXPECT_NE("", m.wait_stall());
    EXPECT_EQ(0u, m.read(0x2c));
    EXPECT_TRUE(task_double::Seen().empty());
}

TEST_F(Walk, UnmodelledTaskNeverCompletes)
{
    Machine m;
    Program p;

    task_double::SetBehaviour([](RknpuJob *job) {
        rknpu_report(job, RKNPU_EVENT_UNIMP, 3, "EW_ALU_ALGO %d", 3);
        return RKNPU_TASK_UNIMP;
    });
    p.end(kElementwise);
    m.start(kAt, p);
    EXPECT_EQ("the task uses what is not modelled", m.wait_stall());
    EXPECT_EQ(0u, m.read(0x2c));
    ASSERT_EQ(1u, m.host.events(RKNPU_EVENT_UNIMP).size());
    EXPECT_EQ("EW_ALU_ALGO 3", m.host.events(RKNPU_EVENT_UNIMP)[0].text);
    EXPECT_EQ(1u, m.stats().unimplemented);
}

TEST_F(Walk, StrictRefusesUnknownRegisters)
{
    RknpuConfig config = {};
    config.strict = true;
    Machine m(rknpu_rk3588, config);
    Program p;

    p.set(0x41f0, 1).end(kElementwise);
    m.start(kAt, p);
    EXPECT_EQ("the task uses what is not modelled", m.wait_stall());
    EXPECT_TRUE(task_double::Seen().empty());
}

TEST_F(Walk, ALoopOfBadWordsDoesNotFloodTheLog)
{
    Machine m;
    Program p;

    for (int i = 0; i < 50; i++) {
        p.word(0x1000, 0x4084, 1);
    }
    p.end(kConvolution, kAt, 27);
    m.start(kAt, p, 1000);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(50000u, m.stats().guest_errors);
    EXPECT_LE(m.host.events(RKNPU_EVENT_GUEST_ERROR).size(), 64u);
}

/* --- Faults --- */

/* Each page of a program in turn is not there. */
TEST_F(Walk, FaultInEachPageOfAProgram)
{
    for (uint32_t page = 0; page < 4; page++) {
        Machine m;
        Program p;

        task_double::Reset();
        for (uint32_t i = 0; i < 4 * 512 - 10; i++) {
            p.set(0x4084, i);
        }
        p.end(kConvolution);
        m.host.put(kAt, p.words);
        m.host.unmap(kAt + page * 4096, 4096);
        m.start(kAt, p.amount());
        EXPECT_EQ("a DMA read failed", m.wait_stall()) << page;
        EXPECT_EQ(0x1000u, m.read(0x2c)) << page;
        EXPECT_FALSE(rknpu_irq_level(m.npu, 0)) << "the drivers' mask hides it";
        auto faults = m.host.events(RKNPU_EVENT_FAULT);
        ASSERT_EQ(1u, faults.size());
        EXPECT_EQ(kAt + page * 4096, faults[0].event.address);
        EXPECT_EQ(RKNPU_STREAM_COMMAND, faults[0].event.stream);
        EXPECT_EQ(1u, m.stats().faults);
        EXPECT_TRUE(task_double::Seen().empty());

        /* As on a board: the driver's timeout resets the core, and the next job works. */
        rknpu_reset(m.npu, 0);
        EXPECT_EQ(0u, m.read(0x2c));
        m.host.map(kAt + page * 4096, kAt + page * 4096, 4096);
        m.start(kAt, p.amount());
        ASSERT_TRUE(m.wait()) << page;
    }
}

TEST_F(Walk, ProgramAtTheEndOfTheAddressSpaceDoesNotWrap)
{
    Machine m;
    std::vector<uint64_t> words(512, UINT64_C(0x1001) << 48 | 1 << 16 | 0x4084);

    m.host.map(0xfffff000, 0x20000, 4096);
    m.host.put(0xfffff000, words);
    m.start(0xfffff000, 0xffff);
    EXPECT_EQ("the program has no enable word, or enables no block", m.wait_stall());
    EXPECT_EQ(0u, m.stats().faults);
}

TEST_F(Walk, ReadAndWriteFaultsOfATaskSetTheirBits)
{
    for (bool write : { false, true }) {
        Machine m;
        Program p;

        m.host.unmap(0x40000, 4096);
        task_double::SetBehaviour([write](RknpuJob *job) {
            uint8_t byte = 0;
            bool ok = write ? rknpu_mem_write(job->mem, 0x40010, &byte, 1)
                            : rknpu_mem_read(job->mem, RKNPU_STREAM_WEIGHT, 0x40010, &byte, 1);

            EXPECT_FALSE(ok);
            return rknpu_mem_faulted_write(job->mem) ? RKNPU_TASK_WRITE_FAULT
                                                     : RKNPU_TASK_READ_FAULT;
        });
        p.end(kConvolution);
        m.start(kAt, p, 1, 0x1ffff);
        EXPECT_EQ(write ? "a DMA write failed" : "a DMA read failed", m.wait_stall());
        EXPECT_EQ(write ? 0x2000u : 0x1000u, m.read(0x2c));
        EXPECT_TRUE(rknpu_irq_level(m.npu, 0));
        EXPECT_EQ(0x40010u, m.host.events(RKNPU_EVENT_FAULT)[0].event.address);
    }
}

/* A task that reads nothing past the fault and says OK is not believed. */
TEST_F(Walk, AFaultThatTheTaskDidNotNoticeStillStalls)
{
    Machine m;
    Program p;

    task_double::SetBehaviour([](RknpuJob *job) {
        rknpu_mem_count(job->mem, RKNPU_STREAM_WEIGHT, 0xf0000000, 16);
        return RKNPU_TASK_OK;
    });
    p.end(kConvolution);
    m.start(kAt, p);
    EXPECT_EQ("a DMA read failed", m.wait_stall());
}

/* --- Pause, reset, end --- */

/* A task that computes until somebody wants the worker back. */
RknpuTaskResult RunUntilCancelled(RknpuJob *job)
{
    for (int i = 0; i < 10000; i++) {
        if (rknpu_cancelled(job)) {
            return RKNPU_TASK_CANCELLED;
        }
        g_usleep(1000);
    }
    return RKNPU_TASK_OK;
}

TEST_F(Walk, ResetInsideATask)
{
    Machine m;
    Program p;

    task_double::SetBehaviour(RunUntilCancelled);
    p.set(0x4084, 5).end(kConvolution);
    m.start(kAt, p);
    ASSERT_TRUE(task_double::WaitForTask());
    EXPECT_FALSE(rknpu_idle(m.npu, 0));
    rknpu_reset(m.npu, 0);
    EXPECT_TRUE(rknpu_idle(m.npu, 0));
    EXPECT_EQ(0u, m.read(0x2c));
    EXPECT_EQ(0u, m.read(0x4084));
    EXPECT_EQ(1u, m.host.events(RKNPU_EVENT_JOB_CANCEL).size());
    EXPECT_EQ(1u, m.host.events(RKNPU_EVENT_RESET).size());
    EXPECT_TRUE(m.host.events(RKNPU_EVENT_JOB_END).empty());
    task_double::Reset();
    m.start(kAt, p);
    ASSERT_TRUE(m.wait());
    EXPECT_EQ(0x100u, m.read(0x2c));
}

TEST_F(Walk, ResetDropsAnAssertedInterrupt)
{
    Machine m;
    Program p;

    p.end(kConvolution);
    m.start(kAt, p);
    ASSERT_TRUE(m.wait());
    ASSERT_TRUE(rknpu_irq_level(m.npu, 0));
    rknpu_reset(m.npu, 0);
    EXPECT_FALSE(rknpu_irq_level(m.npu, 0));
    EXPECT_EQ(2u, m.host.irq_calls(0));
    EXPECT_TRUE(m.host.events(RKNPU_EVENT_JOB_CANCEL).empty());
}

TEST_F(Walk, PauseStopsBetweenTasksAndResumeGoesOn)
{
    Machine m;
    uint32_t amount = PutChain(m, 50);

    task_double::SetBehaviour([](RknpuJob *) {
        g_usleep(1000);
        return RKNPU_TASK_OK;
    });
    m.start(kAt, amount, 50);
    ASSERT_TRUE(task_double::WaitForTask());
    rknpu_pause(m.npu);
    size_t before = task_double::Seen().size();
    g_usleep(20 * 1000);
    EXPECT_EQ(before, task_double::Seen().size());
    EXPECT_LT(before, 50u);
    EXPECT_FALSE(rknpu_idle(m.npu, 0));
    rknpu_resume(m.npu);
    ASSERT_TRUE(m.wait());
    auto seen = task_double::Seen();
    ASSERT_EQ(50u, seen.size());
    for (uint32_t i = 0; i < 50; i++) {
        EXPECT_EQ(100 + i, Reg(seen[i], 0x4084));
    }
}

/*
 * A task that is longer than pause's patience is broken off and runs again, with the same
 * registers.
 */
TEST_F(Walk, PauseBreaksOffALongTask)
{
    Machine m;
    uint32_t amount = PutChain(m, 3);

    task_double::SetBehaviour(RunUntilCancelled);
    m.start(kAt, amount, 3);
    ASSERT_TRUE(task_double::WaitForTask());
    rknpu_pause(m.npu);
    RknpuCoreState state = m.state();
    EXPECT_EQ(kAt, state.job_address);
    EXPECT_EQ(0u, state.job_tasks_done);
    EXPECT_EQ(0u, state.pointer[RKNPU_DPU]) << "as before the program's own write";
    task_double::SetBehaviour(nullptr);
    rknpu_resume(m.npu);
    ASSERT_TRUE(m.wait());
    auto seen = task_double::Seen();
    ASSERT_EQ(4u, seen.size());
    EXPECT_EQ(100u, Reg(seen[0], 0x4084));
    EXPECT_EQ(100u, Reg(seen[1], 0x4084));
    EXPECT_EQ(102u, Reg(seen[3], 0x4084));
    EXPECT_EQ(0x100u, m.read(0x2c));
}

TEST_F(Walk, JobStartedWhilePausedWaits)
{
    Machine m;
    Program p;

    rknpu_pause(m.npu);
    p.end(kConvolution);
    m.start(kAt, p);
    EXPECT_FALSE(rknpu_wait_idle(m.npu, 0, 20));
    EXPECT_TRUE(task_double::Seen().empty());
    rknpu_resume(m.npu);
    EXPECT_TRUE(m.wait());
}

TEST_F(Walk, FreeInsideATask)
{
    {
        Machine m;
        Program p;

        task_double::SetBehaviour(RunUntilCancelled);
        p.end(kConvolution);
        m.start(kAt, p);
        ASSERT_TRUE(task_double::WaitForTask());
    }
    rknpu_free(nullptr);
}

/* A map that waits for a stalled IOMMU: pause ends the wait, and the job goes on after resume. */
TEST_F(Walk, PauseWhileTheIommuIsStalled)
{
    struct Stalling {
        FakeHost host;
        std::mutex lock;
        std::condition_variable changed;
        bool stalled = true, give_up = false, waiting = false;
    } s;
    static Stalling *self;
    self = &s;
    RknpuHost table = s.host.table();
    table.map = [](void *opaque, unsigned core, uint32_t iova, uint64_t len, bool write,
                   RknpuSpan *span) {
        {
            std::unique_lock<std::mutex> hold(self->lock);

            self->waiting = true;
            self->changed.notify_all();
            self->changed.wait(hold, [] { return !self->stalled || self->give_up; });
            if (self->give_up) {
                return false;
            }
        }
        return self->host.table().map(opaque, core, iova, len, write, span);
    };
    table.interrupt = [](void *, unsigned core, bool on) {
        std::lock_guard<std::mutex> hold(self->lock);

        self->give_up = core == 0 && on;
        self->changed.notify_all();
    };
    RknpuNpu *npu = rknpu_new(&rknpu_rk3588, &table, s.host.opaque(), nullptr);
    Program p;

    p.end(kConvolution);
    s.host.put(kAt, p.words);
    rknpu_write(npu, 0, 0x10, kAt);
    rknpu_write(npu, 0, 0x14, p.amount());
    rknpu_write(npu, 0, 0x30, 0x7001);
    rknpu_write(npu, 0, 0x08, 1);
    {
        std::unique_lock<std::mutex> hold(s.lock);
        s.changed.wait(hold, [&] { return s.waiting; });
    }
    rknpu_pause(npu);
    EXPECT_EQ(0u, rknpu_read(npu, 0, 0x2c));
    s.stalled = false;
    rknpu_resume(npu);
    EXPECT_TRUE(rknpu_wait_idle(npu, 0, 10000));
    EXPECT_EQ(0x100u, rknpu_read(npu, 0, 0x2c));
    rknpu_free(npu);
}

/* --- Cores and instances --- */

TEST_F(Walk, CoresAndInstancesAreIndependent)
{
    Machine a(rknpu_rk3588), b(rknpu_rk3576);
    Program p;

    p.set(0x4084, 1).end(kConvolution);
    for (Machine *m : { &a, &b }) {
        m->host.put(kAt, p.words);
        for (unsigned core = 0; core < m->chip->cores; core++) {
            m->start(kAt, p.amount(), 1, 0x300, core);
        }
    }
    for (Machine *m : { &a, &b }) {
        for (unsigned core = 0; core < m->chip->cores; core++) {
            ASSERT_TRUE(m->wait(core));
            EXPECT_EQ(0x100u, m->read(0x2c, core));
            EXPECT_EQ(1u, m->host.irq_calls(core));
            EXPECT_EQ(0xe + (core << 28), m->read(0x1004, core) & ~0x10001u);
        }
    }
    EXPECT_EQ(5u, task_double::Seen().size());
}

/* Rockchip's driver writes 0x80000101, 0x101, and reads register * 2 from core 0's window. */
TEST_F(Walk, Rk3576TrafficCounters)
{
    Machine m(rknpu_rk3576);
    Program p;

    task_double::SetBehaviour([](RknpuJob *job) {
        rknpu_mem_count(job->mem, RKNPU_STREAM_FEATURE, 0x20000, 1000);
        rknpu_mem_count(job->mem, RKNPU_STREAM_OPERAND, 0x21000, 24);
        rknpu_mem_count(job->mem, RKNPU_STREAM_WEIGHT, 0x22000, 512);
        rknpu_mem_count(job->mem, RKNPU_STREAM_OUTPUT, 0x30000, 2048);
        return RKNPU_TASK_OK;
    });
    p.end(kConvolution);
    m.host.put(kAt, p.words);
    for (unsigned core = 0; core < 2; core++) {
        m.start(kAt, p.amount(), 1, 0x300, core);
        ASSERT_TRUE(m.wait(core));
    }
    for (uint32_t page : { 0x2200, 0x2400 }) {
        EXPECT_EQ(2048u, m.read(page + 0x34) * 2);
        EXPECT_EQ(1024u, m.read(page + 0x38) * 2);
        EXPECT_EQ(512u, m.read(page + 0x3c) * 2);
        m.write(page + 0x10, 0x80000101);
        m.write(page + 0x10, 0x00000101);
        EXPECT_EQ(0u, m.read(page + 0x34));
        EXPECT_EQ(0u, m.read(page + 0x3c));
    }
}

/* --- Snapshots --- */

/* Registers of a core as a CPU can read them, without the LUT port that moves when read. */
std::vector<uint32_t> Dump(Machine &m)
{
    std::vector<uint32_t> dump;

    for (uint32_t offset = 0; offset < m.chip->window; offset += 4) {
        if ((offset & 0xfff) < 0x200 && offset != 0x4104) {
            dump.push_back(m.read(offset));
        }
    }
    return dump;
}

/* Saved after every task of a job and loaded into another NPU, the job ends the same. */
TEST_F(Walk, SnapshotAtEveryTask)
{
    const unsigned kTasks = 6;
    Machine whole;
    uint32_t amount = PutChain(whole, kTasks);

    whole.start(kAt, amount, kTasks);
    ASSERT_TRUE(whole.wait());
    auto expected = Dump(whole);
    auto expected_tasks = task_double::Seen();
    for (unsigned stop = 0; stop < kTasks; stop++) {
        Machine first, second;

        task_double::Reset();
        PutChain(first, kTasks);
        PutChain(second, kTasks);
        task_double::SetBehaviour([&](RknpuJob *job) {
            if (job->task_number == stop) {
                g_usleep(50 * 1000); /* time for the pause below */
            }
            return RKNPU_TASK_OK;
        });
        first.start(kAt, amount, kTasks);
        while (task_double::Seen().size() <= stop) {
            g_usleep(100);
        }
        rknpu_pause(first.npu);
        task_double::SetBehaviour(nullptr);
        RknpuCoreState state = first.state();
        rknpu_pause(second.npu);
        ASSERT_TRUE(rknpu_set_state(second.npu, 0, &state));
        rknpu_resume(second.npu);
        ASSERT_TRUE(second.wait());
        EXPECT_EQ(expected, Dump(second)) << "stopped after task " << stop;
        auto seen = task_double::Seen();
        ASSERT_EQ(kTasks, seen.size());
        for (unsigned i = 0; i < kTasks; i++) {
            EXPECT_EQ(0, memcmp(expected_tasks[i].reg, seen[i].reg, sizeof(seen[i].reg))) << i;
        }
        EXPECT_EQ(1u, second.host.irq_calls(0));
        EXPECT_TRUE(rknpu_irq_level(second.npu, 0));
    }
}

TEST_F(Walk, StateWithValuesOutOfRangeIsRefused)
{
    Machine m;
    RknpuCoreState good = m.state(), bad;

    bad = good;
    bad.job_active = 2;
    EXPECT_FALSE(rknpu_set_state(m.npu, 0, &bad));
    bad = good;
    bad.job_stalled = 1;
    EXPECT_FALSE(rknpu_set_state(m.npu, 0, &bad));
    bad = good;
    bad.job_tasks_total = 4096;
    EXPECT_FALSE(rknpu_set_state(m.npu, 0, &bad));
    bad = good;
    bad.pointer[RKNPU_PPU] = 0x40;
    EXPECT_FALSE(rknpu_set_state(m.npu, 0, &bad));
    EXPECT_TRUE(rknpu_set_state(m.npu, 0, &good));
}

/* --- What people see --- */

TEST_F(Walk, DescribeNamesStateAndLastRegister)
{
    Machine m;
    g_autofree char *idle = rknpu_describe(m.npu, 0);
    Program p;

    EXPECT_NE(nullptr, strstr(idle, "rk3588 NPU core 0: idle"));
    p.set(0x4084, 0x7c8d).word(0x0081, 0x0008, kConvolution);
    rknpu_pause(m.npu); /* the program's writes come after all of the driver's */
    m.start(kAt, p, 2);
    rknpu_resume(m.npu);
    m.wait_stall();
    g_autofree char *text = rknpu_describe(m.npu, 0);
    EXPECT_STREQ("rk3588 NPU core 0: stalled in task 2 of 2 (the program names no next program, "
                 "but TASK_NUMBER is not reached); last register written DPU OUT_CVT_SCALE (0x4084) = "
                 "0x00007c8d; raw status 0x0, mask 0x300, interrupt low", text);
}

TEST_F(Walk, EventsOfOneJobInOrder)
{
    Machine m;
    Program p;
    std::string names;

    p.end(kConvolution);
    m.start(kAt, p);
    ASSERT_TRUE(m.wait());
    for (const RecordedEvent &ev : m.host.events()) {
        EXPECT_EQ(0u, ev.event.task);
        names += std::string(rknpu_event_name(ev.event.type)) + " ";
    }
    EXPECT_EQ("job-start read task-start task-end job-end irq ", names);
}

} // namespace
