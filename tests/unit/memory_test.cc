/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory window of a task: spans, gathering, faults, counts. */
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "fake_host.h"

namespace {

class Window : public testing::Test {
protected:
    void Open() { mem = rknpu_mem_new(&table, host.opaque(), 1, 7); }
    void SetUp() override { Open(); }
    void TearDown() override { rknpu_mem_free(mem); }

    /* Every byte differs from its neighbours and from the same place in the next page. */
    std::vector<uint8_t> Fill(uint32_t iova, size_t len)
    {
        std::vector<uint8_t> bytes(len);

        for (size_t i = 0; i < len; i++) {
            bytes[i] = static_cast<uint8_t>(i * 7 + i / 4096 * 3);
        }
        host.put(iova, bytes);
        return bytes;
    }

    FakeHost host{ 4u << 20 };
    RknpuHost table = host.table();
    RknpuMem *mem = nullptr;
};

TEST_F(Window, ContiguousBufferIsSeenInPlaceAndMappedOnce)
{
    auto bytes = Fill(0x10000, 0x30000);

    for (uint32_t row = 0; row < 0x30000; row += 0x100) {
        const uint8_t *view = rknpu_mem_view(mem, RKNPU_STREAM_FEATURE, 0x10000 + row, 0x100);

        ASSERT_EQ(&host.memory()[0x10000 + row], view);
    }
    EXPECT_EQ(1u, host.maps());
    EXPECT_TRUE(rknpu_mem_release(mem));
    EXPECT_EQ(0, host.open_spans());
}

TEST_F(Window, ScatteredBufferIsGatheredAndEachPageMappedOnce)
{
    auto bytes = Fill(0x10800, 0x8000);

    host.scatter(0x10000, 0x9000);
    rknpu_mem_count(mem, RKNPU_STREAM_WEIGHT, 0x10800, 0x8000);
    const uint8_t *view = rknpu_mem_view(mem, RKNPU_STREAM_WEIGHT, 0x10800, 0x8000);
    ASSERT_NE(nullptr, view);
    EXPECT_EQ(0, memcmp(view, bytes.data(), bytes.size()));
    EXPECT_EQ(view + 0x1234, rknpu_mem_view(mem, RKNPU_STREAM_WEIGHT, 0x10800 + 0x1234, 0x4000));
    EXPECT_EQ(9u, host.maps());
    EXPECT_EQ(0x8000u, rknpu_mem_traffic(mem)->bytes[RKNPU_MEM_DRAM][RKNPU_STREAM_WEIGHT]);
}

/* Outputs are mapped page by page; one that shares its first page with another is still no copy. */
TEST_F(Window, OutputsThatShareAPageAreSeenInPlace)
{
    for (uint32_t at = 0x10000; at < 0x18000; at += 0x1888) {
        ASSERT_EQ(&host.memory()[at], rknpu_mem_view_out(mem, at, 0x1888));
    }
    EXPECT_TRUE(rknpu_mem_release(mem));
    EXPECT_EQ(0, host.open_spans());
}

TEST_F(Window, CopiesCrossSpansOfAnyLength)
{
    auto bytes = Fill(0x10001, 0x3000);
    std::vector<uint8_t> got(bytes.size());

    host.limit_spans(37);
    ASSERT_TRUE(rknpu_mem_read(mem, RKNPU_STREAM_OPERAND, 0x10001, got.data(), got.size()));
    EXPECT_EQ(bytes, got);
    ASSERT_TRUE(rknpu_mem_write(mem, 0x20003, got.data(), got.size()));
    EXPECT_EQ(bytes, host.get<uint8_t>(0x20003, bytes.size()));
}

/* Rows of an output leave gaps; what lies in them stays as it was. */
TEST_F(Window, ScatteredOutputKeepsWhatTheTaskDoesNotWrite)
{
    auto bytes = Fill(0x10000, 0x4000);

    host.scatter(0x10000, 0x4000);
    uint8_t *view = rknpu_mem_view_out(mem, 0x10010, 0x3fe0);
    ASSERT_NE(nullptr, view);
    EXPECT_EQ(view + 0x100, rknpu_mem_view_out(mem, 0x10110, 0x10));
    memset(view + 0x1000, 0xee, 0x20);
    EXPECT_TRUE(rknpu_mem_release(mem));
    memset(&bytes[0x1010], 0xee, 0x20);
    EXPECT_EQ(bytes, host.get<uint8_t>(0x10000, 0x4000));
}

TEST_F(Window, FirstFaultEndsTheWindow)
{
    uint8_t byte;
    uint32_t first = 0;

    host.unmap(0x20000, 0x1000);
    EXPECT_EQ(nullptr, rknpu_mem_view(mem, RKNPU_STREAM_FEATURE, 0x1f000, 0x2000));
    EXPECT_FALSE(rknpu_mem_faulted_write(mem));
    EXPECT_FALSE(rknpu_mem_write(mem, 0x20000, &byte, 1));
    EXPECT_FALSE(rknpu_mem_read(mem, RKNPU_STREAM_FEATURE, 0x10000, &byte, 1));
    rknpu_mem_count(mem, RKNPU_STREAM_FEATURE, 0x20000, 0x1000);
    EXPECT_EQ(1u, rknpu_mem_faults(mem, &first));
    EXPECT_EQ(0x20000u, first);
    auto events = host.events(RKNPU_EVENT_FAULT);
    ASSERT_EQ(1u, events.size());
    EXPECT_EQ(1u, events[0].event.core);
    EXPECT_EQ(7u, events[0].event.task);
    EXPECT_EQ(0u, events[0].event.a);
}

/* Each page of an output in turn must not be written: the fault comes before any byte is stored. */
TEST_F(Window, ReadOnlyPageOfAnOutput)
{
    for (uint32_t page = 0; page < 4; page++) {
        uint32_t first = 0;

        rknpu_mem_free(mem);
        Open();
        host.map(0x30000, 0x30000, 0x4000);
        host.map(0x30000 + page * 0x1000, 0x30000 + page * 0x1000, 0x1000, false);
        EXPECT_EQ(nullptr, rknpu_mem_view_out(mem, 0x30000, 0x4000));
        EXPECT_TRUE(rknpu_mem_faulted_write(mem));
        EXPECT_EQ(1u, rknpu_mem_faults(mem, &first));
        EXPECT_EQ(0x30000 + page * 0x1000, first);
    }
}

TEST_F(Window, RangesDoNotWrapAroundTheAddressSpace)
{
    uint8_t byte;

    host.map(0xfffff000, 0x10000, 0x1000);
    EXPECT_NE(nullptr, rknpu_mem_view(mem, RKNPU_STREAM_FEATURE, 0xffffff00, 0x100));
    EXPECT_TRUE(rknpu_mem_read(mem, RKNPU_STREAM_FEATURE, 0xffffffff, &byte, 1));
    EXPECT_EQ(nullptr, rknpu_mem_view(mem, RKNPU_STREAM_FEATURE, 0xffffff00, 0x101));
}

/* Nothing of the sort is a fault: the caller asks for less. */
TEST_F(Window, TooLargeViewsAreRefusedQuietly)
{
    uint32_t first;

    EXPECT_EQ(nullptr, rknpu_mem_view(mem, RKNPU_STREAM_FEATURE, 0, RKNPU_VIEW_MAX + 1));
    EXPECT_EQ(nullptr, rknpu_mem_view(mem, RKNPU_STREAM_FEATURE, 0, 0));
    EXPECT_EQ(0u, rknpu_mem_faults(mem, &first));
}

/* A tensor that lies half in SRAM counts half. */
TEST_F(Window, CountsSplitByKindOfMemory)
{
    host.set_kind(0x12000, 0x2000, RKNPU_MEM_SRAM);
    host.set_kind(0x14000, 0x1000, RKNPU_MEM_NBUF);
    rknpu_mem_count(mem, RKNPU_STREAM_FEATURE, 0x10000, 0x4800);
    rknpu_mem_count(mem, RKNPU_STREAM_OUTPUT, 0x13000, 0x1000);
    const RknpuTraffic *t = rknpu_mem_traffic(mem);
    EXPECT_EQ(0x2000u, t->bytes[RKNPU_MEM_DRAM][RKNPU_STREAM_FEATURE]);
    EXPECT_EQ(0x2000u, t->bytes[RKNPU_MEM_SRAM][RKNPU_STREAM_FEATURE]);
    EXPECT_EQ(0x0800u, t->bytes[RKNPU_MEM_NBUF][RKNPU_STREAM_FEATURE]);
    EXPECT_EQ(0x4800u, rknpu_traffic_read(t));
    EXPECT_EQ(0x1000u, rknpu_traffic_written(t));
    auto reads = host.events(RKNPU_EVENT_READ);
    ASSERT_EQ(3u, reads.size());
    EXPECT_EQ(0x12000u, reads[1].event.address);
    EXPECT_EQ(0x12000u, reads[1].event.phys);
    EXPECT_EQ(0x2000u, reads[1].event.a);
    EXPECT_EQ(1u, host.events(RKNPU_EVENT_WRITE).size());
}

TEST_F(Window, ManyScatteredPagesStayBounded)
{
    uint64_t sum = 0;

    host.limit_spans(16);
    for (uint32_t at = 0; at < (1u << 20); at += 16) {
        uint8_t byte;

        ASSERT_TRUE(rknpu_mem_read(mem, RKNPU_STREAM_FEATURE, at, &byte, 1));
        sum += byte;
    }
    EXPECT_LE(host.open_spans(), 16384);
    EXPECT_EQ(0u, sum);
}

TEST(Events, TextAndJson)
{
    RknpuEvent ev = {};

    ev.type = RKNPU_EVENT_READ;
    ev.core = 2;
    ev.task = 3;
    ev.ns = 1500;
    ev.stream = RKNPU_STREAM_WEIGHT;
    ev.kind = RKNPU_MEM_SRAM;
    ev.address = 0xfff00000;
    ev.phys = 0xff001000;
    ev.a = 64;
    char *text = rknpu_event_to_text(&ev);
    char *json = rknpu_event_to_json(&ev);
    EXPECT_STREQ("       1.500 us core 2 task 3 read weight 0xfff00000 sram:0xff001000 bytes=64",
                 text);
    EXPECT_STREQ("{\"type\":\"read\",\"core\":2,\"task\":3,\"ns\":1500,\"stream\":\"weight\","
                 "\"kind\":\"sram\",\"phys\":4278194176,\"address\":4293918720,\"a\":64}", json);
    free(text);
    free(json);
    ev = {};
    ev.type = RKNPU_EVENT_GUEST_ERROR;
    ev.text = "a \"quoted\" \\ text";
    json = rknpu_event_to_json(&ev);
    EXPECT_STREQ("{\"type\":\"guest-error\",\"core\":0,\"task\":0,\"ns\":0,\"a\":0,"
                 "\"text\":\"a \\\"quoted\\\" \\\\ text\"}", json);
    free(json);
    EXPECT_STREQ("unknown", rknpu_event_name(RKNPU_EVENT_TYPES));
}

} // namespace
