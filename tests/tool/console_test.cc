/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The lines are from logs of real kernels: 6.1 and 7.x of Debian, and reports that the kernel's
 * own documentation shows (Documentation/dev-tools/kasan.rst, locking/lockdep-design.rst).
 */
#include "console.h"

#include <gtest/gtest.h>

#include <string>

namespace {

void ignore(char, const uint8_t *, size_t, void *)
{
}

class Line : public testing::TestWithParam<const char *>
{
};

class Splat : public Line
{
};

TEST_P(Splat, IsRecognized)
{
    EXPECT_TRUE(emu_console_is_splat(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Console, Splat, testing::Values(
    "[    8.149170] Kernel panic - not syncing: sysrq triggered crash",
    "[   12.000000] WARNING: CPU: 2 PID: 97 at drivers/accel/rocket/rocket_job.c:412 rocket_job+0x1",
    "[   12.000000] WARNING: drivers/accel/rocket/rocket_job.c:412 at rocket_job, CPU#2: t/97",
    "[   12.000000] WARNING: possible circular locking dependency detected",
    "[   12.000000] WARNING: inconsistent lock state",
    "[   12.000000] WARNING: suspicious RCU usage",
    "[   12.000000][   T97] BUG: KASAN: slab-out-of-bounds in rocket_submit+0x10/0x20",
    "[   12.000000] [   C2] BUG: KCSAN: data-race in a / b",
    "[   12.000000] BUG: sleeping function called from invalid context at kernel/x.c:1",
    "[   12.000000] Unable to handle kernel NULL pointer dereference at virtual address 00000000",
    "[   12.000000] Internal error: Oops: 0000000096000004 [#1] SMP",
    "[   12.000000] kernel BUG at mm/slub.c:1!",
    "[   12.000000] UBSAN: array-index-out-of-bounds in drivers/x.c:1:2",
    "[   22.000000] watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [sh:97]",
    "[   21.000000] rcu: INFO: rcu_sched self-detected stall on CPU",
    "[  242.000000] INFO: task sh:97 blocked for more than 120 seconds.",
    "[    2.000000] INFO: trying to register non-static key."));

class Harmless : public Line
{
};

TEST_P(Harmless, IsNot)
{
    EXPECT_FALSE(emu_console_is_splat(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Console, Harmless, testing::Values(
    "WARNING: printed by a program, without a time stamp",
    "[WARNING] by a program",
    "[    1.000000] rocket fdab0000.npu: Rockchip NPU core 0 version: 1179210309",
    "[    1.000000] [Firmware Bug]: WARNING: something about the board",
    "[    1.000000] RKNPU fdab0000.npu: can't request region for resource [mem 0xfdab0000-0x]",
    "[    1.000000] INFO: task rate set",
    "[    1.000000] debug: the word BUG: further on",
    "[1.0", "[", "[]", "", "[    1.000000] "));

void feed(EmuConsole *console, const std::string &text)
{
    emu_console_feed(console, reinterpret_cast<const uint8_t *>(text.data()), text.size());
}

TEST(Console, KeepsTheFirstReport)
{
    EmuConsole *console = emu_console_new(nullptr, ignore, nullptr);

    feed(console, "[    1.000000] fine\r\n[    2.000000] WARNING: one\r\n");
    EXPECT_FALSE(console->panicked);
    feed(console, "[    3.000000] Kernel panic - not syncing: two\r\n");
    EXPECT_TRUE(console->panicked);
    EXPECT_STREQ("[    2.000000] WARNING: one", console->splat);
    EXPECT_STREQ("    [    2.000000] WARNING: one\n"
                 "    [    3.000000] Kernel panic - not syncing: two\n", console->report->str);
    emu_console_free(console);
}

TEST(Console, EndsAReportWhereTheKernelDoes)
{
    EmuConsole *console = emu_console_new(nullptr, ignore, nullptr);

    feed(console, "[    1.0] BUG: a\n[    1.1] ---[ end trace 0000000000000000 ]---\n"
                  "[    2.0] b\n");
    EXPECT_STREQ("    [    1.0] BUG: a\n    [    1.1] ---[ end trace 0000000000000000 ]---\n",
                 console->report->str);
    emu_console_free(console);
}

TEST(Console, BoundsALineAndTheTail)
{
    EmuConsole *console = emu_console_new(nullptr, ignore, nullptr);
    char *text = nullptr;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    feed(console, std::string(1000000, 'x') + "\n");
    EXPECT_GE(8192u, strlen(emu_console_last(console)));
    for (int i = 0; i < 1000; i++) {
        feed(console, "line " + std::to_string(i) + "\n");
    }
    emu_console_print_tail(console, out);
    fclose(out);
    EXPECT_EQ(0, strncmp(text, "    line 976\n", 13));
    EXPECT_STREQ("line 999", emu_console_last(console));
    free(text);
    emu_console_free(console);
}

} /* namespace */
