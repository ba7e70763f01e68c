/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "error.h"
#include "options.h"
#include "scratch.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

using Words = std::vector<std::string>;

EmuOptions *parse(const Words &words, GError **error)
{
    std::vector<char *> argv = { const_cast<char *>("run") };

    for (const std::string &word : words) {
        argv.push_back(const_cast<char *>(word.c_str()));
    }
    argv.push_back(nullptr);
    return emu_options_parse(argv.data(), error);
}

std::string refusal(const Words &words)
{
    GError *error = nullptr;
    EmuOptions *options = parse(words, &error);

    EXPECT_EQ(nullptr, options);
    emu_options_free(options);
    if (!error) {
        return "";
    }
    EXPECT_EQ(EMU_STATUS_USAGE, error->code);
    return take(&error);
}

struct Good {
    GError *error = nullptr;
    EmuOptions *o;

    explicit Good(const Words &words) : o(parse(words, &error))
    {
        EXPECT_NE(nullptr, o) << take(&error);
    }
    ~Good() { emu_options_free(o); }
};

TEST(Options, Defaults)
{
    Good g({});

    EXPECT_STREQ("rk3588", g.o->machine->name);
    EXPECT_STREQ("rocket", g.o->driver);
    EXPECT_EQ(2u, g.o->cpus);
    EXPECT_EQ(UINT64_C(2) << 30, g.o->memory);
    EXPECT_EQ(0u, g.o->timeout) << "a shell has no limit";
    EXPECT_EQ(nullptr, g.o->command);
    EXPECT_EQ(300u, Good({ "--", "true" }).o->timeout) << "a command has one";
}

TEST(Options, WordsOfTheCommandAreNotOptions)
{
    Good g({ "--smp", "3", "--", "prog", "--smp", "99", "--", "--nonsense" });

    ASSERT_NE(nullptr, g.o->command);
    EXPECT_EQ(5u, g_strv_length(g.o->command));
    EXPECT_STREQ("--smp", g.o->command[1]);
    EXPECT_STREQ("--", g.o->command[3]);
    EXPECT_EQ(3u, g.o->cpus);
}

TEST(Options, RepeatedOnesAdd)
{
    Good g({ "--module", "a.ko", "--module", "b.ko", "--overlay", "x", "--overlay", "y" });

    EXPECT_EQ(2u, g_strv_length(g.o->modules));
    EXPECT_EQ(2u, g_strv_length(g.o->overlays));
}

TEST(Options, NpuSram)
{
    Good g({ "--npu-sram", "476K@0x78000", "--driver", "rknpu" });

    EXPECT_TRUE(g.o->has_npu_sram);
    EXPECT_EQ(0x77000u, g.o->sram_size);
    EXPECT_EQ(0x78000u, g.o->sram_offset);
    EXPECT_EQ(0u, Good({ "--npu-sram", "0xef000" }).o->sram_offset);
}

/* Each is one line that names the option. */
TEST(Options, WrongOnesAreRefusedInOneLine)
{
    const std::vector<std::pair<Words, std::string>> cases = {
        { { "--nonsense" }, "--nonsense" },
        { { "--smp", "9" }, "--smp 9: machine rk3588 has 1 to 8 CPUs" },
        { { "--smp", "0" }, "--smp 0" },
        { { "--smp", "four" }, "four" },
        { { "--smp" }, "--smp" },
        { { "--memory", "64M" }, "takes 512 MiB to 32 GiB" },
        { { "--memory", "64G" }, "takes 512 MiB to 32 GiB" },
        { { "--memory", "512" }, "512 MiB" },
        { { "--memory", "lots" }, "not a size" },
        { { "--memory", "99999999999999G" }, "not a size" },
        { { "--memory", "1048577K" }, "whole number of MiB" },
        { { "--machine", "rk9999" }, "no machine 'rk9999'; there are rk3588, rk3576, virt" },
        { { "--driver", "panfrost" }, "rocket|rknpu" },
        { { "--machine", "virt", "--driver", "rocket" }, "no NPU" },
        { { "--machine", "virt", "--npu-sram", "4K" }, "no NPU" },
        { { "--npu-sram", "half" }, "SIZE@OFFSET" },
        { { "--npu-sram", "0" }, "SIZE@OFFSET" },
        { { "--npu-sram", "4K@" }, "SIZE@OFFSET" },
        { { "--npu-sram", "5G" }, "SIZE@OFFSET" },
        { { "--timeout", "-5" }, "--timeout -5" },
        { { "ls" }, "unexpected word 'ls'" },
        { { "--" }, "no command" },
    };

    for (const auto &[words, expected] : cases) {
        std::string message = refusal(words);

        EXPECT_NE(std::string::npos, message.find(expected)) << message;
        EXPECT_EQ(std::string::npos, message.find('\n')) << message;
    }
}

/* Linux 6.2 is the first with a clock driver for RK3588, 6.12 for RK3576. */
TEST(Options, OldKernelsGetATreeOfTheirOwn)
{
    const EmuMachine *rk3588 = emu_machine_find("rk3588"), *virt = emu_machine_find("virt");

    EXPECT_STREQ("fixed-clocks", emu_machine_tree(rk3588, "rocket", "6.1.0-50-arm64"));
    EXPECT_STREQ("fixed-clocks", emu_machine_tree(rk3588, "rknpu", "5.10.226"));
    EXPECT_STREQ("rknpu", emu_machine_tree(rk3588, "rknpu", "6.12.117+deb13-arm64"));
    EXPECT_STREQ("rocket", emu_machine_tree(rk3588, "rocket", "7.3.4"));
    EXPECT_STREQ("rocket", emu_machine_tree(rk3588, "rocket", nullptr));
    EXPECT_STREQ("fixed-clocks", emu_machine_tree(emu_machine_find("rk3576"), "rknpu", "6.1.0"));
    EXPECT_EQ(nullptr, emu_machine_tree(virt, nullptr, "6.1.0"));
}

TEST(Options, Sizes)
{
    uint64_t size;

    for (const auto &[text, value] : std::vector<std::pair<const char *, uint64_t>>{
             { "0", 0 }, { "17", 17 }, { "0x10", 16 }, { "4k", 4096 }, { "1M", 1 << 20 },
             { "16G", UINT64_C(16) << 30 }, { "0x10K", 16384 } }) {
        EXPECT_TRUE(emu_parse_size(text, &size)) << text;
        EXPECT_EQ(value, size) << text;
    }
    for (const char *text : { "", "K", "-1", "4T", "4KK", "4K ", " 4", "18446744073709551616",
                              "17179869184G" }) {
        EXPECT_FALSE(emu_parse_size(text, &size)) << text;
    }
}

} /* namespace */
