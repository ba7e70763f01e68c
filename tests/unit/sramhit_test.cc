/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SRAM table. Expected values: by hand, and the table that Rockchip's runtime printed for
 * MobileNetV1 (guide to the RK3588's SRAM), read from $RKNPU_TEST_DATA/mobilenet_v1_sram_log.csv.
 */
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

extern "C" {
#include "rknpu/sramhit.h"
}

namespace {

TEST(SramHit, CountsTheOverlap)
{
    EXPECT_EQ(0u, rknpu_sram_hit(0x1000, 0x2000, 0x2000, 0x3000));
    EXPECT_EQ(0u, rknpu_sram_hit(0x3000, 0x4000, 0x2000, 0x3000));
    EXPECT_EQ(0x800u, rknpu_sram_hit(0x1800, 0x2800, 0x2000, 0x3000));
    EXPECT_EQ(0x800u, rknpu_sram_hit(0x2800, 0x4000, 0x2000, 0x3000));
    EXPECT_EQ(0x100u, rknpu_sram_hit(0x2100, 0x2200, 0x2000, 0x3000));
    EXPECT_EQ(0x1000u, rknpu_sram_hit(0, 0x10000, 0x2000, 0x3000));
    EXPECT_EQ(0u, rknpu_sram_hit(0x2200, 0x2100, 0x2000, 0x3000));
}

/* Input 1000 bytes outside; a tensor half inside (2 x 400 of 2 x 800); output 100 inside. */
TEST(SramHit, TotalsByHand)
{
    const RknpuTensor tensors[] = {
        { 0, 1000, RKNPU_TENSOR_INPUT },
        { 4096 - 400, 4096 + 400, RKNPU_TENSOR_INTERNAL },
        { 5000, 5100, RKNPU_TENSOR_OUTPUT },
    };
    uint64_t hits[3];
    RknpuSramTotals t = rknpu_sram_totals(tensors, 3, 4096, 8192, hits);

    EXPECT_EQ(1000u + 2 * 800 + 100, t.read_write);
    EXPECT_EQ(2u * 400 + 100, t.sram_hit);
    EXPECT_EQ(0u, hits[0]);
    EXPECT_EQ(400u, hits[1]);
    EXPECT_EQ(100u, hits[2]);
}

/* Fields of a line of comma-separated values; a field may be quoted. */
std::vector<std::string> Fields(const std::string &line)
{
    std::vector<std::string> fields(1);
    bool quoted = false;

    for (char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            fields.emplace_back();
        } else if (c != '\r') {
            fields.back() += c;
        }
    }
    return fields;
}

TEST(SramHit, TheGuidesTable)
{
    const char *dir = getenv("RKNPU_TEST_DATA");
    if (!dir) {
        GTEST_SKIP() << "RKNPU_TEST_DATA is not set: no table to compare with";
    }
    std::ifstream file(std::string(dir) + "/mobilenet_v1_sram_log.csv");
    if (!file) {
        GTEST_SKIP() << "no mobilenet_v1_sram_log.csv in " << dir;
    }
    std::vector<RknpuTensor> tensors;
    std::vector<uint64_t> printed;
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::vector<std::string> f = Fields(line);
        ASSERT_EQ(10u, f.size()) << line;
        RknpuTensorUse use = f[9].empty() ? f[2].rfind("input", 0) == 0 ? RKNPU_TENSOR_INPUT
                                                                        : RKNPU_TENSOR_OUTPUT
                                          : RKNPU_TENSOR_INTERNAL;
        tensors.push_back({ std::stoull(f[6], nullptr, 16), std::stoull(f[7], nullptr, 16), use });
        printed.push_back(f[9].empty() ? 0 : std::stoull(f[9], nullptr, 16));
    }
    std::vector<uint64_t> hits(tensors.size());
    RknpuSramTotals t = rknpu_sram_totals(tensors.data(), tensors.size(), 0xff3e0000, 0xff460000,
                                          hits.data());

    EXPECT_EQ(31u, tensors.size());
    EXPECT_EQ(printed, hits);
    EXPECT_EQ(11068320u, t.read_write);
    EXPECT_EQ(6688768u, t.sram_hit);
}

} // namespace
