/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "error.h"
#include "module.h"
#include "scratch.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace {

const char kRelease[] = "6.1.0-50-arm64";

template <typename T> std::string bytes_of(const T &value)
{
    return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
}

/* A relocatable ELF with the sections .modinfo and .shstrtab. */
std::string module_file(const std::string &depends, const std::string &release = kRelease,
                        uint16_t machine = EM_AARCH64)
{
    std::string info = std::string("license=GPL\0", 12) + "depends=" + depends + '\0' +
                       "vermagic=" + release + " SMP mod_unload aarch64" + '\0';
    std::string names("\0.modinfo\0.shstrtab\0", 20);
    Elf64_Ehdr eh = {};
    Elf64_Shdr sections[3] = {};

    memcpy(eh.e_ident, ELFMAG, SELFMAG);
    eh.e_ident[EI_CLASS] = ELFCLASS64;
    eh.e_type = ET_REL;
    eh.e_machine = machine;
    eh.e_shentsize = sizeof(Elf64_Shdr);
    eh.e_shnum = 3;
    eh.e_shstrndx = 2;
    eh.e_shoff = sizeof(eh) + info.size() + names.size();
    sections[1].sh_name = 1;
    sections[1].sh_type = SHT_PROGBITS;
    sections[1].sh_offset = sizeof(eh);
    sections[1].sh_size = info.size();
    sections[2].sh_name = 10;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = sizeof(eh) + info.size();
    sections[2].sh_size = names.size();
    return bytes_of(eh) + info + names + bytes_of(sections);
}

struct Module : testing::Test {
    Scratch scratch;
    GError *error = nullptr;
    EmuKernel kernel = {};
    EmuModules *modules = nullptr;

    void SetUp() override
    {
        kernel.path = g_strdup("Image");
        kernel.release = g_strdup(kRelease);
        kernel.modules = g_strdup(scratch.path("tree").c_str());
    }
    void TearDown() override
    {
        emu_modules_free(modules);
        g_free(kernel.path);
        g_free(kernel.release);
        g_free(kernel.modules);
    }
    void tree(const std::string &path, const std::string &depends)
    {
        scratch.write("tree/" + path, module_file(depends));
    }
    EmuModules *list()
    {
        return modules = modules ? modules : emu_modules_new(&kernel);
    }
    std::vector<std::string> order()
    {
        std::vector<std::string> names;

        for (unsigned i = 0; i < list()->list->len; i++) {
            auto *m = static_cast<EmuModule *>(g_ptr_array_index(modules->list, i));

            names.push_back(std::string(m->name) + (m->needed ? "!" : ""));
        }
        return names;
    }
    std::string refusal(const std::string &content)
    {
        std::string path = scratch.write("user.ko", content);

        EXPECT_FALSE(emu_modules_add_file(list(), path.c_str(), &error));
        EXPECT_EQ(EMU_ERROR, error->domain);
        EXPECT_EQ(EMU_STATUS_SETUP, error->code);
        return take(&error);
    }
};

TEST_F(Module, NameHasUnderscoresAndNoSuffix)
{
    char *name = emu_module_name("kernel/drivers/gpu/drm/scheduler/gpu-sched.ko.xz");

    EXPECT_STREQ("gpu_sched", name);
    g_free(name);
}

TEST_F(Module, LoadsWhatAModuleDependsOnFirstAndOnce)
{
    tree("kernel/a/top.ko", "gpu-sched,drm");
    tree("kernel/b/gpu-sched.ko", "drm");
    tree("kernel/c/drm.ko", "");
    EXPECT_TRUE(emu_modules_add_default(list(), "top", &error)) << take(&error);
    EXPECT_EQ((std::vector<std::string>{ "drm", "gpu_sched", "top" }), order());
}

TEST_F(Module, TakesAnUnknownNameAsBuiltIn)
{
    EXPECT_TRUE(emu_modules_add_default(list(), "virtio_mmio", &error));
    EXPECT_TRUE(order().empty());
}

TEST_F(Module, OfTheUserComesAfterItsDependencies)
{
    std::string path = scratch.write("out/rknpu.ko", module_file("drm"));

    tree("kernel/drm.ko", "");
    EXPECT_TRUE(emu_modules_add_file(list(), path.c_str(), &error)) << take(&error);
    EXPECT_EQ((std::vector<std::string>{ "drm", "rknpu!" }), order());
}

TEST_F(Module, SurvivesACircle)
{
    tree("a.ko", "b");
    tree("b.ko", "a");
    EXPECT_TRUE(emu_modules_add_default(list(), "a", &error));
}

TEST_F(Module, OpensCompressedOnes)
{
    for (const char *packer : { "xz -c", "zstd -qc", "gzip -c" }) {
        std::string suffix = packer[0] == 'x' ? "xz" : packer[0] == 'z' ? "zst" : "gz";
        std::string plain = scratch.write("plain", module_file(""));
        std::string file = scratch.write("packed_" + suffix + ".ko." + suffix,
                                         output_of(std::string(packer) + " '" + plain + "'"));

        EXPECT_TRUE(emu_modules_add_file(list(), file.c_str(), &error)) << take(&error);
    }
    EXPECT_EQ(3u, order().size());
}

TEST_F(Module, OfAnotherKernelIsRefused)
{
    std::string message = refusal(module_file("", "6.12.0-1-arm64"));

    EXPECT_NE(std::string::npos, message.find("built for kernel 6.12.0-1-arm64")) << message;
    EXPECT_NE(std::string::npos, message.find(kRelease)) << message;
}

TEST_F(Module, ThatIsNoneIsRefused)
{
    std::string good = module_file("");

    EXPECT_NE(std::string::npos, refusal("hello").find("not a kernel module"));
    EXPECT_NE(std::string::npos, refusal("").find("not a kernel module"));
    EXPECT_NE(std::string::npos,
              refusal(module_file("", kRelease, EM_X86_64)).find("another architecture"));
    for (size_t cut = 0; cut < good.size(); cut += 13) {
        refusal(good.substr(0, cut));
    }
}

TEST_F(Module, ThatIsMissingIsNamed)
{
    EXPECT_FALSE(emu_modules_add_file(list(), "/no/such.ko", &error));
    EXPECT_NE(std::string::npos, take(&error).find("/no/such.ko"));
}

TEST_F(Module, InfoOfDamagedFilesIsBounded)
{
    std::string good = module_file("drm");

    for (size_t at = 0; at < good.size(); at++) {
        std::string bad = good;
        GBytes *elf;

        bad[at] = static_cast<char>(bad[at] ^ 0xff);
        elf = g_bytes_new(bad.data(), bad.size());
        g_free(emu_modinfo(elf, "depends"));
        g_bytes_unref(elf);
    }
}

} /* namespace */
