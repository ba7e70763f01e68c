// SPDX-License-Identifier: GPL-2.0-or-later
/* What a user can give the machine wrongly: one line with cause and remedy, status 1. */
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include "soc.h"

using namespace soc;

namespace {

struct Bad {
    const char *arguments, *says;
};

class BadInput : public ::testing::TestWithParam<Bad> {};

TEST_P(BadInput, OneLineAndStatusOne)
{
    if (QTest::emulator().empty()) {
        GTEST_SKIP() << "qemu-system-aarch64 is not built; make all builds it";
    }
    std::string text, command = QTest::emulator() + " -machine rk3588 -display none " +
                                GetParam().arguments + " 2>&1";
    FILE *f = popen(command.c_str(), "r");
    char buffer[512];

    ASSERT_NE(f, nullptr);
    while (fgets(buffer, sizeof(buffer), f)) {
        text += buffer;
    }
    int status = pclose(f);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
    EXPECT_NE(text.find(GetParam().says), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
}

INSTANTIATE_TEST_SUITE_P(
    , BadInput,
    ::testing::Values(Bad{"-smp 9", "max CPUs supported by machine 'rk3588' is 8"},
                      Bad{"-m 100M", "give -m a size from 512M to 32G"},
                      Bad{"-m 64G", "give -m a size from 512M to 32G"},
                      Bad{"-kernel /nonexistent", "cannot read the kernel '/nonexistent'"},
                      Bad{"-kernel /bin/sh -dtb /nonexistent", "/nonexistent"},
                      Bad{"-kernel /etc/os-release", "not an arm64 kernel"},
                      Bad{"-dtb /etc/os-release", "not a device tree"},
                      Bad{"-kernel /bin/sh -machine driver=none",
                          "no device tree rk3588-none.dtb"}));

bool stopped(QTest &q)
{
    return q.qmp("query-status").find("internal-error") != std::string::npos;
}

/* A store that no register takes is counted; with strict=on it stops the machine. */
TEST(Strict, StopsTheMachine)
{
    if (QTest::emulator().empty()) {
        GTEST_SKIP() << "qemu-system-aarch64 is not built; make all builds it";
    }
    QTest q("rk3588,strict=on");

    ASSERT_TRUE(q.ok());
    q.write(core[0] + 0x2004, 1); /* no block is there on this chip */
    for (int i = 0; i < 100 && !stopped(q); i++) {
        usleep(20000);
    }
    EXPECT_TRUE(stopped(q));
}

/* So does a task in a mode that is refused: the job does not end, and the mode is named. */
TEST(Strict, NamesTheModeOfATask)
{
    if (QTest::emulator().empty()) {
        GTEST_SKIP() << "qemu-system-aarch64 is not built; make all builds it";
    }
    testing::internal::CaptureStderr();
    {
        QTest q("rk3588,strict=on");
        unsigned words = put_copy(q, program, source, target);
        uint64_t feature_mode = program + 2 * 8; /* the third word; NONALIGN is its bit 16 + 25 */

        q.write(feature_mode + 4, q.read(feature_mode + 4) | 1 << (16 + 25 - 32));
        start(q, 0, program, words);
        for (int i = 0; i < 100 && !stopped(q); i++) {
            usleep(20000);
        }
        EXPECT_TRUE(stopped(q));
        EXPECT_EQ(q.read(core[0] + RK3588_PC_INTERRUPT_RAW_STATUS) & dpu_done, 0u);
    }
    std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("DPU FEATURE_MODE_CFG NONALIGN"), std::string::npos) << text;
    EXPECT_NE(text.find("strict is on"), std::string::npos) << text;
}

} // namespace
