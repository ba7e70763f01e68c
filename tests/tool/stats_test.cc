// SPDX-License-Identifier: GPL-2.0-or-later
//
// The lines about the NPU's counters, from the text that the machine's property gives.

#include <gtest/gtest.h>

extern "C" {
#include "stats.h"
}

namespace {

std::string format(const char *json)
{
    g_autofree char *text = emu_stats_format(json);

    return text ? text : "(null)";
}

TEST(Stats, AddsUpCores)
{
    EXPECT_EQ("NPU: 3 jobs, 5 tasks, 30.0 MMAC in 2.0 ms: 15000 MMAC/s\n"
              "NPU traffic with DRAM: 5.50 MB read, 2.25 MB written\n",
              format("[{\"core\": 0, \"jobs\": 1, \"tasks\": 2, \"macs\": 10000000,"
                     "  \"busy_ns\": 500000, \"traffic\": {\"dram\": {\"command\": 500000,"
                     "  \"feature\": 3000000, \"output\": 2000000}}},"
                     " {\"core\": 1, \"jobs\": 2, \"tasks\": 3, \"macs\": 20000000,"
                     "  \"busy_ns\": 1500000, \"traffic\": {\"dram\": {\"weight\": 2000000,"
                     "  \"output\": 250000}, \"sram\": {\"output\": 0}}}]"));
}

TEST(Stats, ShowsOtherMemoriesOnlyWhenUsed)
{
    EXPECT_EQ("NPU: 0 jobs, 0 tasks, 0.0 MMAC in 0.0 ms\n"
              "NPU traffic with DRAM: 0.00 MB read, 0.00 MB written\n"
              "NPU traffic with SRAM: 1.00 MB read, 0.00 MB written\n",
              format("[{\"traffic\": {\"sram\": {\"feature\": 1000000}, \"nbuf\": {}}}]"));
}

TEST(Stats, NamesTroubles)
{
    std::string text = format("[{\"faults\": 2, \"unimplemented\": 1}]");

    EXPECT_NE(std::string::npos, text.find("NPU accesses that faulted: 2\n"));
    EXPECT_NE(std::string::npos, text.find("not modelled: 1\n"));
}

TEST(Stats, RefusesOtherTexts)
{
    EXPECT_EQ("(null)", format("{}"));
    EXPECT_EQ("(null)", format("[1]"));
    EXPECT_EQ("(null)", format("no JSON"));
}

} // namespace
