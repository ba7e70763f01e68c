// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The NPU of the rk3588 on the machine's bus: registers, one job a core, interrupt lines, power,
 * clocks, resets, snapshots. The job copies bytes, so the expected output is the input.
 */
#include "soc.h"

using namespace soc;

namespace {

class Npu : public Soc {
protected:
    unsigned put_job()
    {
        for (unsigned i = 0; i < 4; i++) {
            q->write(source + 4 * i, 0x03020100 + 0x04040404 * i);
        }
        q->fill(target, 64, 0);
        return put_copy(*q, program, source, target);
    }

    bool finished(unsigned n, uint32_t mask, uint32_t want)
    {
        return q->wait(core[n] + RK3588_PC_INTERRUPT_RAW_STATUS, mask, want);
    }

    /* The line follows the status bit from another thread: at most five seconds. */
    bool raised(unsigned n)
    {
        for (int i = 0; i < 500 && !q->spi(spi[n]); i++) {
            usleep(10000);
        }
        return q->spi(spi[n]);
    }

    void expect_copied()
    {
        for (unsigned i = 0; i < 4; i++) {
            EXPECT_EQ(q->read(target + 4 * i), 0x03020100 + 0x04040404 * i) << "word " << i;
        }
        EXPECT_EQ(q->read(target + 16), 0u) << "first word behind the output";
    }

    /* Saves the machine and lets a new one go on from there. */
    void move_to_new_machine()
    {
        const std::string file = ::testing::TempDir() + "rknpu-snapshot";

        ASSERT_TRUE(q->save(file));
        boot({"-incoming", "file:" + file});
        for (int i = 0;
             i < 100 && q->qmp("query-status").find("inmigrate") != std::string::npos; i++) {
            usleep(50000);
        }
        q->qmp("cont");
        unlink(file.c_str());
    }

    std::string property(const char *name)
    {
        return q->qmp("qom-get", "{\"path\": \"/machine/npu\", \"property\": \"" +
                                     std::string(name) + "\"}");
    }
};

/* Boot logs of ROCK 5B boards: "Rockchip NPU core 0 version: 1179210309". */
TEST_F(Npu, VersionOfEveryCore)
{
    for (uint64_t base : core) {
        uint32_t number = q->read(base + RK3588_PC_VERSION_NUM) & 0xffff;

        EXPECT_EQ(q->read(base + RK3588_PC_VERSION) + number, 1179210309u);
    }
}

TEST_F(Npu, JobOnEveryCoreRaisesItsOwnLine)
{
    unsigned words = put_job();

    for (unsigned n = 0; n < 3; n++) {
        q->fill(target, 16, 0);
        ASSERT_FALSE(q->spi(spi[n]));
        start(*q, n, program, words);
        ASSERT_TRUE(finished(n, 0x3fff, 0x100)) << property("waiting");
        expect_copied();
        ASSERT_TRUE(raised(n)) << "core " << n;
        for (unsigned other = 0; other < 3; other++) {
            EXPECT_EQ(q->spi(spi[other]), other == n) << "core " << n << ", line " << other;
        }
        q->write(core[n] + RK3588_PC_INTERRUPT_MASK, 0);
        EXPECT_FALSE(q->spi(spi[n])) << "masked";
        q->write(core[n] + RK3588_PC_INTERRUPT_MASK, dpu_done);
        EXPECT_TRUE(q->spi(spi[n])) << "unmasked again";
        q->write(core[n] + RK3588_PC_INTERRUPT_CLEAR, 0x1ffff);
        EXPECT_FALSE(q->spi(spi[n])) << "cleared";
    }
}

TEST_F(Npu, TrafficOfAJobIsCounted)
{
    start(*q, 0, program, put_job());
    ASSERT_TRUE(q->wait(core[0] + RK3588_PC_INTERRUPT_RAW_STATUS, dpu_done, 0x100));
    std::string stats = property("stats");
    EXPECT_NE(stats.find("\\\"jobs\\\": 1"), std::string::npos) << stats;
    EXPECT_NE(stats.find("\\\"output\\\": 16"), std::string::npos) << stats;
}

/*
 * A board hangs; here the access reads 0 and is counted. PMU words carry a write mask in bits
 * 31:16.
 */
TEST_F(Npu, AccessWithoutPowerIsCounted)
{
    q->write(pmu + 0x14c, 1u << 20 | 1u << 4); /* NPU1 off */
    EXPECT_EQ(q->read(core[1] + RK3588_PC_VERSION), 0u);
    q->write(banks[2] + DTE_ADDR, 0x1000);
    EXPECT_NE(q->read(core[0] + RK3588_PC_VERSION), 0u) << "another domain";
    EXPECT_NE(property("unpowered-accesses").find("\"return\": 2"), std::string::npos);
    q->write(pmu + 0x14c, 1u << 20);
    EXPECT_EQ(q->read(core[1] + RK3588_PC_VERSION), 0x46495245u);
    EXPECT_EQ(q->read(banks[2] + DTE_ADDR), 0u);
}

TEST_F(Npu, AccessWithoutClockIsCounted)
{
    const uint64_t gate30 = cru + 0x800 + 4 * 30;

    q->write(gate30, 1u << 24 | 1u << 8); /* HCLK_NPU0 */
    EXPECT_EQ(q->read(core[0] + RK3588_PC_VERSION), 0u);
    q->write(gate30, 1u << 24);
    EXPECT_EQ(q->read(core[0] + RK3588_PC_VERSION), 0x46495245u);
    EXPECT_NE(property("unpowered-accesses").find("\"return\": 1"), std::string::npos);
}

/* Off reaches the domains inside: NPU holds NPUTOP, which holds NPU1 and NPU2. */
TEST_F(Npu, OuterDomainSwitchesInnerOnes)
{
    q->write(pmu + 0x14c, 1u << 17 | 1u << 1); /* NPU off */
    EXPECT_EQ(q->read(pmu + 0x180) & 2, 2u) << "STATUS: 1 is off";
    EXPECT_EQ(q->read(pmu + 0x290) & 0x1c, 0u) << "REPAIR of NPUTOP, NPU1, NPU2: 0 is off";
    for (uint64_t base : core) {
        EXPECT_EQ(q->read(base + RK3588_PC_VERSION), 0u);
    }
    q->write(pmu + 0x14c, 1u << 17);
    EXPECT_EQ(q->read(pmu + 0x290) & 0x1c, 0x1cu);
}

TEST_F(Npu, IdleRequestIsAcknowledged)
{
    q->write(pmu + 0x10c, 1u << 17 | 1u << 1);
    EXPECT_EQ(q->read(pmu + 0x118) & 2, 2u);
    EXPECT_EQ(q->read(pmu + 0x120) & 2, 2u);
    q->write(pmu + 0x10c, 1u << 17);
    EXPECT_EQ(q->read(pmu + 0x118) & 2, 0u);
}

TEST_F(Npu, SoftResetClearsTheCoreItNames)
{
    const uint64_t softrst30 = cru + 0xa00 + 4 * 30;

    q->write(core[0] + RK3588_PC_INTERRUPT_MASK, 0x300);
    q->write(core[1] + RK3588_PC_INTERRUPT_MASK, 0x300);
    q->write(banks[0] + DTE_ADDR, 0x1000);
    q->write(softrst30, 1u << 22 | 1u << 6); /* SRST_A_RKNN0 */
    q->write(softrst30, 1u << 22);
    EXPECT_EQ(q->read(core[0] + RK3588_PC_INTERRUPT_MASK), 0x1ffffu) << "TRM reset value";
    EXPECT_EQ(q->read(core[1] + RK3588_PC_INTERRUPT_MASK), 0x300u) << "another core";
    EXPECT_EQ(q->read(banks[0] + DTE_ADDR), 0x1000u) << "docs/hardware-notes.md: reset and IOMMU";
}

TEST_F(Npu, PowerOffClearsTheIommu)
{
    q->write(banks[2] + DTE_ADDR, 0x1000);
    q->write(pmu + 0x14c, 1u << 20 | 1u << 4); /* NPU1 */
    q->write(pmu + 0x14c, 1u << 20);
    EXPECT_EQ(q->read(banks[2] + DTE_ADDR), 0u);
}

/* gahingwoo/linux-rk3576-npu, v9 of the rocket series: "MMU_DTE_ADDR is not functioning". */
TEST_F(Npu, ResetOfAJobMayHangTheIommuUntilPowerOff)
{
    const uint64_t softrst30 = cru + 0xa00 + 4 * 30;

    boot({"-global", "rk-npu.reset-hangs-mmu=on"});
    q->write(softrst30, 1u << 22 | 1u << 6);
    q->write(softrst30, 1u << 22);
    q->write(banks[0] + DTE_ADDR, 0xcafebabe);
    EXPECT_EQ(q->read(banks[0] + DTE_ADDR), 0xcafebab0u) << "no job was stopped";
    start(*q, 0, 0xf8000000, 10); /* no memory there */
    ASSERT_TRUE(finished(0, 0x1000, 0x1000)) << "DMA read error";
    q->write(softrst30, 1u << 22 | 1u << 6);
    q->write(softrst30, 1u << 22);
    q->write(banks[0] + DTE_ADDR, 0xcafebabe);
    EXPECT_EQ(q->read(banks[0] + DTE_ADDR), 0u);
    q->write(pmu + 0x14c, 1u << 19 | 1u << 3); /* NPUTOP, the domain of core 0 */
    q->write(pmu + 0x14c, 1u << 19);
    q->write(banks[0] + DTE_ADDR, 0xcafebabe);
    EXPECT_EQ(q->read(banks[0] + DTE_ADDR), 0xcafebab0u);
}

TEST_F(Npu, MachineResetClearsEverything)
{
    start(*q, 0, program, put_job());
    ASSERT_TRUE(q->wait(core[0] + RK3588_PC_INTERRUPT_RAW_STATUS, dpu_done, 0x100));
    q->write(pmu + 0x14c, 1u << 20 | 1u << 4);
    q->system_reset();
    EXPECT_EQ(q->read(core[0] + RK3588_PC_INTERRUPT_RAW_STATUS) & 0x3fff, 0u);
    EXPECT_FALSE(q->spi(spi[0]));
    EXPECT_EQ(q->read(core[1] + RK3588_PC_VERSION), 0x46495245u) << "power is back";
}

/*
 * A core that waits for nobody: the job below has no program, so it stalls; reset frees the core.
 */
TEST_F(Npu, ResetFreesAStalledCore)
{
    const uint64_t softrst30 = cru + 0xa00 + 4 * 30;

    start(*q, 0, 0xf8000000, 10); /* no memory there */
    ASSERT_TRUE(finished(0, 0x1000, 0x1000)) << "DMA read error";
    q->write(softrst30, 1u << 22 | 1u << 6);
    q->write(softrst30, 1u << 22);
    start(*q, 0, program, put_job());
    ASSERT_TRUE(finished(0, 0x3fff, 0x100)) << property("waiting");
    expect_copied();
}

/* Two tasks asked for, one there: the chip hangs (Linux and Rockchip's driver run into their time
 * limits); the switch takes the end of the chain for the end of the job. */
TEST_F(Npu, EndOfTheChainMayEndTheJob)
{
    start(*q, 0, program, put_job(), 2);
    usleep(100000);
    EXPECT_EQ(q->read(core[0] + RK3588_PC_INTERRUPT_RAW_STATUS) & dpu_done, 0u);
    boot({"-global", "rk-npu.chain-null-completes=on"});
    start(*q, 0, program, put_job(), 2);
    EXPECT_TRUE(finished(0, dpu_done, 0x100)) << property("waiting");
    expect_copied();
}

TEST_F(Npu, SnapshotKeepsRegistersAndPendingInterrupt)
{
    std::vector<uint32_t> before;
    std::vector<uint64_t> addresses;

    for (uint32_t offset = 0; offset < 0x40; offset += 4) {
        addresses.push_back(core[0] + offset);
    }
    for (uint32_t offset = 0; offset < 0x100; offset += 4) {
        addresses.push_back(core[0] + 0x4000 + offset);
        addresses.push_back(core[0] + 0x5000 + offset);
    }
    addresses.push_back(banks[3] + DTE_ADDR);
    addresses.push_back(pmu + 0x290);
    addresses.push_back(cru + 0x280);
    q->write(banks[3] + DTE_ADDR, 0x12345001);
    q->write(pmu + 0x14c, 1u << 20 | 1u << 4);
    start(*q, 0, program, put_job());
    ASSERT_TRUE(q->wait(core[0] + RK3588_PC_INTERRUPT_RAW_STATUS, dpu_done, 0x100));
    for (uint64_t a : addresses) {
        before.push_back(q->read(a));
    }
    move_to_new_machine();
    for (size_t i = 0; i < addresses.size(); i++) {
        EXPECT_EQ(q->read(addresses[i]), before[i]) << std::hex << addresses[i];
    }
    EXPECT_EQ(q->read(core[1] + RK3588_PC_VERSION), 0u) << "NPU1 is still off";
    expect_copied();
    q->fill(target, 16, 0);
    q->write(core[0] + RK3588_PC_INTERRUPT_CLEAR, 0x1ffff);
    start(*q, 0, program, put_copy(*q, program, source, target));
    ASSERT_TRUE(finished(0, dpu_done, 0x200)) << "the other group";
    expect_copied();
}

/* A job that a stopped machine was given has begun for the guest and not for the NPU's worker. */
TEST_F(Npu, SnapshotKeepsAJobInFlight)
{
    unsigned words = put_job();

    q->qmp("stop");
    start(*q, 0, program, words);
    EXPECT_NE(property("waiting").find("task 1 of 1"), std::string::npos) << property("waiting");
    move_to_new_machine();
    ASSERT_TRUE(finished(0, dpu_done, 0x100)) << property("waiting");
    EXPECT_TRUE(raised(0));
    expect_copied();
}

} // namespace
