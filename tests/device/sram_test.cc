// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * On-chip memory as the bus sees it: contents over reset and power-off, two masters at one place.
 */
#include "soc.h"

using namespace soc;

namespace {

/* RK3576: NBUF (Rockchip's driver), SRAM (device trees), PMU (Linux pm-domains.c). */
constexpr uint64_t nbuf = 0x3fe80000, sram3576 = 0x3ff88000, pmu3576 = 0x27380000;
constexpr uint32_t nputop_off = 1u << 22 | 1u << 6, nputop_on = 1u << 22; /* second PWR word */
constexpr uint64_t sram3588 = 0xff001000;

class Sram : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (QTest::emulator().empty()) {
            GTEST_SKIP() << "qemu-system-aarch64 is not built; make all builds it";
        }
    }

    /* Fills both memories, switches the NPU's top domain off and on. */
    static void power_cycle(QTest &q)
    {
        q.write(nbuf + 0xffffc, 0x11223344);
        q.write(sram3576, 0x55667788);
        q.write(pmu3576 + 0x214, nputop_off);
        q.write(pmu3576 + 0x214, nputop_on);
    }
};

TEST_F(Sram, PowerOffOfTheNpuLosesTheNbufAlone)
{
    QTest q("rk3576");

    ASSERT_TRUE(q.ok());
    power_cycle(q);
    EXPECT_EQ(q.read(nbuf + 0xffffc), 0xa5a5a5a5u);
    EXPECT_EQ(q.read(nbuf), 0xa5a5a5a5u);
    EXPECT_EQ(q.read(sram3576), 0x55667788u);
}

TEST_F(Sram, RetainKeepsTheNbuf)
{
    QTest q("rk3576", {"-global", "rk-sram.retain=on"});

    ASSERT_TRUE(q.ok());
    power_cycle(q);
    EXPECT_EQ(q.read(nbuf + 0xffffc), 0x11223344u);
}

TEST_F(Sram, ResetKeepsContents)
{
    QTest q("rk3576");

    ASSERT_TRUE(q.ok());
    q.write(nbuf, 0x11223344);
    q.write(sram3576 + 0x77ffc, 0x55667788);
    q.system_reset();
    EXPECT_EQ(q.read(nbuf), 0x11223344u);
    EXPECT_EQ(q.read(sram3576 + 0x77ffc), 0x55667788u);
}

/* The NPU copies into the share of decoder 0; the decoder's run overwrites it and is counted. */
TEST_F(Sram, DecoderOverNpuIsCounted)
{
    const uint64_t decoder = 0xfdc38100; /* hw/soc/rk-decoder.h */
    const std::string overlaps = R"({"path": "/machine/system-sram2", "property": "overlaps"})";
    QTest q("rk3588");
    unsigned words = put_copy(q, program, source, sram3588 + 0x1000);

    ASSERT_TRUE(q.ok());
    q.write(source, 0x01020304);
    start(q, 0, program, words);
    ASSERT_TRUE(q.wait(core[0] + RK3588_PC_INTERRUPT_RAW_STATUS, dpu_done, 0x100));
    EXPECT_EQ(q.read(sram3588 + 0x1000), 0x01020304u);
    EXPECT_NE(q.qmp("qom-get", overlaps).find("\"return\": 0"), std::string::npos);
    q.write(decoder + 8, 0x5a5a5a5a);
    EXPECT_EQ(q.read(sram3588 + 0x1000), 0x5a5a5a5au);
    EXPECT_EQ(q.read(sram3588 + 0x78000 - 4), 0x5a5a5a5au) << "the decoder's share";
    EXPECT_NE(q.read(sram3588 + 0x78000), 0x5a5a5a5au) << "behind it";
    EXPECT_NE(q.qmp("qom-get", overlaps).find("\"return\": 1"), std::string::npos)
        << q.qmp("qom-get", overlaps);
}

} // namespace
