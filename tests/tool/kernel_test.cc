/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Kernel files are made here after Documentation/arch/arm64/booting.rst; gzip(1) compresses them.
 */
#include "error.h"
#include "kernel.h"
#include "scratch.h"

#include <gtest/gtest.h>

namespace {

const std::string kRelease = "6.1.0-50-arm64";

std::string image(const std::string &release = kRelease)
{
    std::string data(4096, '\0');

    data.replace(56, 4, "ARM\x64");
    data += "Linux version %s (%s)";
    data += std::string("\0Linux version ", 15) + release + " (builder@host) #1 SMP";
    return data;
}

std::string le32(uint32_t value)
{
    std::string text;

    for (int i = 0; i < 4; i++) {
        text += static_cast<char>(value >> 8 * i);
    }
    return text;
}

std::string zboot(const std::string &payload, const std::string &compression)
{
    std::string head = std::string("MZ\0\0zimg", 8) + le32(64) +
                       le32(static_cast<uint32_t>(payload.size())) + le32(0) + le32(0) +
                       compression;

    head.resize(64);
    return head + payload;
}

struct Files : testing::Test {
    Scratch scratch;
    GError *error = nullptr;

    std::string gzip(const std::string &data)
    {
        return output_of("gzip -c '" + scratch.write("plain", data) + "'");
    }

    /* The release of a kernel file, or the message that refuses it. */
    std::string open(const std::string &data)
    {
        std::string path = scratch.write("boot/Image", data);
        EmuKernel *kernel = emu_kernel_open(path.c_str(), "/nonexistent", &error);
        std::string result = kernel ? (kernel->release ? kernel->release : "none") : take(&error);

        emu_kernel_free(kernel);
        return result;
    }

    void expect_refused(const std::string &data, const std::string &words)
    {
        std::string message = open(data);

        EXPECT_NE(std::string::npos, message.find(words)) << message;
        EXPECT_NE(std::string::npos, message.find("boot/Image")) << message;
        EXPECT_EQ(std::string::npos, message.find('\n')) << message;
    }
};

using Kernel = Files;

TEST_F(Kernel, ReadsTheReleaseOfAnImage)
{
    EXPECT_EQ(kRelease, open(image()));
    EXPECT_EQ("7.3.4+deb13-arm64", open(image("7.3.4+deb13-arm64")));
    EXPECT_EQ("none", open(std::string(56, '\0') + "ARM\x64" + std::string(64, '\0')));
}

TEST_F(Kernel, UnpacksGzipAndZboot)
{
    EXPECT_EQ(kRelease, open(gzip(image())));
    EXPECT_EQ(kRelease, open(zboot(gzip(image()), "gzip")));
}

TEST_F(Kernel, RefusesWhatCannotBoot)
{
    std::string x86(1024, '\0');

    x86.replace(0x202, 4, "HdrS");
    expect_refused(x86, "x86 kernel");
    expect_refused("", "empty");
    expect_refused("hello", "not an arm64 kernel");
    expect_refused(std::string("\x7f""ELF", 4) + std::string(100, '\0'), "ELF");
    expect_refused(zboot("xxxx", "zstd"), "'zstd'");
    expect_refused(zboot(gzip(image()), "gzip").substr(0, 70), "cut short");
    expect_refused(gzip(image()).substr(0, 40), "damaged");
    expect_refused(gzip("hello"), "not an arm64 kernel");
    expect_refused(gzip(gzip(image())), "twice");
    expect_refused(std::string("\x27\x05\x19\x56", 4) + "xxxx", "U-Boot");
}

/* A bomb ends at the limit and not with the memory. */
TEST_F(Kernel, LimitsWhatAFileInflatesTo)
{
    std::string data = gzip(std::string(1 << 20, '\0'));

    EXPECT_EQ(nullptr, emu_gunzip(data.data(), data.size(), 1000, &error));
    EXPECT_NE(std::string::npos, take(&error).find("1000 bytes"));
}

TEST_F(Kernel, FindsModulesBesideTheImage)
{
    std::string path = scratch.write("boot/Image", image());
    EmuKernel *kernel;

    scratch.write("boot/modules/lib/modules/" + kRelease + "/modules.order", "");
    kernel = emu_kernel_open(path.c_str(), "/nonexistent", &error);
    ASSERT_NE(nullptr, kernel) << take(&error);
    EXPECT_EQ(scratch.path("boot/modules/lib/modules/" + kRelease), kernel->modules);
    emu_kernel_free(kernel);
}

TEST_F(Kernel, TakesThePreparedOneByName)
{
    EmuKernel *kernel;

    scratch.write("kernel/7/Image", image("7.0.0"));
    scratch.write("kernel/6.1/Image", image());
    kernel = emu_kernel_open(nullptr, scratch.path("").c_str(), &error);
    ASSERT_NE(nullptr, kernel) << take(&error);
    EXPECT_STREQ("7.0.0", kernel->release);
    emu_kernel_free(kernel);
    kernel = emu_kernel_open("6.1", scratch.path("").c_str(), &error);
    ASSERT_NE(nullptr, kernel) << take(&error);
    EXPECT_EQ(kRelease, kernel->release);
    emu_kernel_free(kernel);
}

TEST_F(Kernel, NamesAMissingFileAndAFolder)
{
    EXPECT_EQ(nullptr, emu_kernel_open("/no/such/Image", "/nonexistent", &error));
    EXPECT_EQ(EMU_STATUS_SETUP, error->code);
    EXPECT_NE(std::string::npos, take(&error).find("/no/such/Image: no such file"));
    EXPECT_EQ(nullptr, emu_kernel_open("/tmp", "/nonexistent", &error));
    EXPECT_NE(std::string::npos, take(&error).find("a folder"));
    EXPECT_EQ(nullptr, emu_kernel_open(nullptr, "/nonexistent", &error));
    EXPECT_NE(std::string::npos, take(&error).find("make guest"));
}

} /* namespace */
