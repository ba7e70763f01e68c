/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Trees are compiled by dtc and read back by fdtget, which are not ours.  The layout is that of
 * Rockchip's rk3588s.dtsi, and the change the one of its RK3588_NPU_SRAM_usage.md.
 */
#include "dtcheck.h"
#include "dtedit.h"
#include "error.h"
#include "scratch.h"

#include <gtest/gtest.h>
#include <libfdt.h>

#include <algorithm>

namespace {

const uint64_t kSram = 0xff001000;

const char kTree[] = R"(/dts-v1/;
/ {
    #address-cells = <2>; #size-cells = <2>;
    sram: sram@ff001000 {
        compatible = "mmio-sram"; reg = <0 0xff001000 0 0xef000>;
        #address-cells = <1>; #size-cells = <1>; ranges = <0 0 0xff001000 0xef000>;
        dec0_sram: rkvdec-sram@0 { reg = <0 0x78000>; };
        dec1_sram: rkvdec-sram@78000 { reg = <0x78000 0x77000>; };
    };
    dec0: video-codec@fdc38100 { reg = <0 0xfdc38100 0 0x100>; rockchip,sram = <&dec0_sram>; };
    dec1: video-codec@fdc48100 { reg = <0 0xfdc48100 0 0x100>; rockchip,sram = <&dec1_sram>; };
    mmu: iommu@fdab9000 { reg = <0 0xfdab9000 0 0x100>; };
    rknpu: npu@fdab0000 {
        compatible = "rockchip,rk3588-rknpu"; reg = <0 0xfdab0000 0 0x10000>; iommus = <&mmu>;
    };
};
)";

struct Tree : testing::Test {
    Scratch scratch;
    GError *error = nullptr;
    void *fdt = nullptr;

    void TearDown() override { g_free(fdt); }

    std::string compile(const std::string &name, const std::string &source)
    {
        std::string out = scratch.path(name + ".dtb");

        output_of("dtc -q -@ -O dtb -o '" + out + "' '" + scratch.write(name + ".dts", source) +
                  "'");
        return out;
    }
    void load(const std::string &extra = "")
    {
        fdt = emu_dt_load(compile("base", kTree + extra).c_str(), &error);
        ASSERT_NE(nullptr, fdt) << take(&error);
    }
    void give(uint32_t size, uint32_t offset)
    {
        EXPECT_TRUE(emu_dt_give_sram(&fdt, kSram, size, offset, &error)) << take(&error);
    }
    std::string saved()
    {
        return scratch.write("saved.dtb", std::string(static_cast<char *>(fdt),
                                                      fdt_totalsize(fdt)));
    }
    std::string get(const std::string &options)
    {
        return output_of("fdtget " + saved() + " " + options);
    }
    std::string nodes(const std::string &path)
    {
        return output_of("fdtget -l " + saved() + " " + path);
    }
    /* The warnings, one a line. */
    std::string warnings()
    {
        GPtrArray *list = emu_dt_check(fdt);
        std::string text;

        for (unsigned i = 0; i < list->len; i++) {
            text += std::string(static_cast<char *>(g_ptr_array_index(list, i))) + "\n";
        }
        g_ptr_array_unref(list);
        return text;
    }
    void expect_warning(const std::string &extra, const std::string &words)
    {
        std::string text;

        load(extra);
        text = warnings();
        EXPECT_NE(std::string::npos, text.find(words)) << text;
        EXPECT_EQ(1, std::count(text.begin(), text.end(), '\n')) << text;
    }
};

using DtEdit = Tree;
using DtCheck = Tree;

TEST_F(DtEdit, GivesAllOfTheSram)
{
    load();
    give(0xef000, 0);
    EXPECT_EQ("rknpu-sram@0\n", nodes("/sram@ff001000"));
    EXPECT_EQ("0 ef000\n", get("-t x /sram@ff001000/rknpu-sram@0 reg"));
    EXPECT_EQ(get("/sram@ff001000/rknpu-sram@0 phandle"), get("/npu@fdab0000 rockchip,sram"));
    EXPECT_EQ("none\n", get("-d none /video-codec@fdc38100 rockchip,sram"));
    EXPECT_EQ("none\n", get("-d none /video-codec@fdc48100 rockchip,sram"));
    EXPECT_EQ("", warnings());
}

TEST_F(DtEdit, LeavesADecoderItsPart)
{
    load();
    give(0x77000, 0x78000);
    EXPECT_EQ("78000 77000\n", get("-t x /sram@ff001000/rknpu-sram@78000 reg"));
    EXPECT_EQ("0 78000\n", get("-t x /sram@ff001000/rkvdec-sram@0 reg"));
    EXPECT_EQ(get("/sram@ff001000/rkvdec-sram@0 phandle"),
              get("/video-codec@fdc38100 rockchip,sram"));
    EXPECT_EQ("none\n", get("-d none /video-codec@fdc48100 rockchip,sram"));
    EXPECT_EQ("", warnings());
}

/* Debian's 6.12 tree has the SRAM without children and without what children need. */
TEST_F(DtEdit, PreparesAnSramWithoutChildren)
{
    load("&sram { /delete-property/ ranges; /delete-property/ #address-cells;"
         "/delete-property/ #size-cells;"
         "/delete-node/ rkvdec-sram@0; /delete-node/ rkvdec-sram@78000; };"
         "&dec0 { /delete-property/ rockchip,sram; }; &dec1 { /delete-property/ rockchip,sram; };");
    give(0x1000, 0x2000);
    EXPECT_EQ("0 0 ff001000 ef000\n", get("-t x /sram@ff001000 ranges"));
    EXPECT_EQ("2000 1000\n", get("-t x /sram@ff001000/rknpu-sram@2000 reg"));
}

TEST_F(DtEdit, NeedsTheVendorsNodeAndTheSram)
{
    load("/delete-node/ &rknpu;");
    EXPECT_FALSE(emu_dt_give_sram(&fdt, kSram, 4096, 0, &error));
    EXPECT_EQ(EMU_STATUS_USAGE, error->code);
    EXPECT_NE(std::string::npos, take(&error).find("--driver rknpu"));
    g_free(fdt);
    load();
    EXPECT_FALSE(emu_dt_give_sram(&fdt, 0x1000, 4096, 0, &error));
    EXPECT_NE(std::string::npos, take(&error).find("no mmio-sram node at 0x1000"));
}

TEST_F(DtEdit, AppliesOverlays)
{
    std::string overlay = compile("o", "/dts-v1/; /plugin/; &rknpu { status = \"disabled\"; };");
    std::string wrong = compile("w", "/dts-v1/; /plugin/; &nosuch { x; };");

    load();
    EXPECT_TRUE(emu_dt_apply_overlay(&fdt, overlay.c_str(), &error)) << take(&error);
    EXPECT_EQ("disabled\n", get("/npu@fdab0000 status"));
    EXPECT_FALSE(emu_dt_apply_overlay(&fdt, wrong.c_str(), &error));
    EXPECT_NE(std::string::npos, take(&error).find("w.dtb: does not apply"));
}

TEST_F(DtEdit, SaysThatABaseHasNoLabels)
{
    std::string overlay = compile("o", "/dts-v1/; /plugin/; &rknpu { status = \"disabled\"; };");

    load();
    fdt_del_node(fdt, fdt_path_offset(fdt, "/__symbols__"));
    EXPECT_FALSE(emu_dt_apply_overlay(&fdt, overlay.c_str(), &error));
    EXPECT_NE(std::string::npos, take(&error).find("dtc -@"));
}

TEST_F(DtEdit, RefusesWhatIsNoTree)
{
    std::string good = compile("good", kTree), blob = output_of("cat '" + good + "'");
    const std::vector<std::pair<std::string, std::string>> cases = {
        { scratch.write("empty", ""), "not a sound device tree" },
        { scratch.write("text", "hello"), "not a sound device tree" },
        { scratch.write("cut", blob.substr(0, blob.size() / 2)), "not a sound device tree" },
        { scratch.path("good.dts"), "compile it: dtc" },
        { "/no/such.dtb", "/no/such.dtb" },
    };

    for (const auto &[path, words] : cases) {
        EXPECT_EQ(nullptr, emu_dt_load(path.c_str(), &error));
        EXPECT_EQ(EMU_STATUS_SETUP, error->code);
        EXPECT_NE(std::string::npos, take(&error).find(words)) << words;
    }
}

TEST_F(DtCheck, FindsNothingInASoundTree)
{
    load();
    EXPECT_EQ("", warnings());
}

TEST_F(DtCheck, Unaligned)
{
    load();
    give(0x1800, 0x800);
    EXPECT_NE(std::string::npos, warnings().find(
        "rknpu-sram@800: 0x1800 bytes at 0x800 are not 4 KiB aligned; the driver uses 0x1000 "
        "bytes at 0x1000")) << warnings();
}

TEST_F(DtCheck, PastTheEnd)
{
    load();
    give(0x80000, 0x78000);
    EXPECT_NE(std::string::npos, warnings().find("ends at 0xf8000, past the SRAM's end at 0xef000"))
        << warnings();
}

TEST_F(DtCheck, OverlappingOwners)
{
    expect_warning("&sram { npu_sram: rknpu-sram@70000 { reg = <0x70000 0x8000>; }; };"
                   "&rknpu { rockchip,sram = <&npu_sram>; };",
                   "rknpu-sram@70000 (of npu@fdab0000)");
}

/* An overlay cannot delete a node, so it takes one out of use. */
TEST_F(DtCheck, DisabledChildrenDoNotCount)
{
    load("&dec0_sram { status = \"disabled\"; }; &dec1_sram { status = \"disabled\"; };"
         "&sram { npu_sram: rknpu-sram@0 { reg = <0x0 0xef000>; }; };"
         "&rknpu { rockchip,sram = <&npu_sram>; };");
    EXPECT_EQ("", warnings());
}

TEST_F(DtCheck, TwoOwnersOfOneChild)
{
    expect_warning("&rknpu { rockchip,sram = <&dec0_sram>; };",
                   "rkvdec-sram@0: belongs to both video-codec@fdc38100 and npu@fdab0000");
}

TEST_F(DtCheck, ChildWithoutAReference)
{
    expect_warning("/delete-node/ &dec0_sram; &dec0 { /delete-property/ rockchip,sram; };"
                   "&sram { rknpu-sram@0 { reg = <0 0x78000>; }; };",
                   "rknpu-sram@0: no node refers to it");
}

TEST_F(DtCheck, DanglingSramPhandle)
{
    expect_warning("&rknpu { rockchip,sram = <0x7777>; };", "rockchip,sram leads to no node");
}

TEST_F(DtCheck, NoIommu)
{
    expect_warning("&rknpu { /delete-property/ iommus; };", "npu@fdab0000: no iommus property");
}

TEST_F(DtCheck, DisabledIommu)
{
    expect_warning("&mmu { status = \"disabled\"; };", "IOMMU iommu@fdab9000 is disabled");
}

TEST_F(DtCheck, NoNpu)
{
    expect_warning("&rknpu { status = \"disabled\"; };", "no enabled NPU node");
}

TEST_F(DtCheck, RocketWithoutIommu)
{
    expect_warning("&rknpu { compatible = \"rockchip,rk3588-rknn-core\";"
                   "/delete-property/ iommus; };", "rocket cannot open the device");
}

} /* namespace */
