/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An owner for the model in tests: guest memory behind a page table, an event recorder, and faults
 * on demand. Thread-safe; every span must be back when the host dies, or the test fails.
 */
#ifndef TESTS_UNIT_FAKE_HOST_H
#define TESTS_UNIT_FAKE_HOST_H

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "mem.h"
#include "rknpu/npu.h"
#include "rknpu/regs.h"
}

/* A copy of an event that outlives the callback. */
struct RecordedEvent {
    RknpuEvent event;
    std::string text;
};

class FakeHost {
public:
    static constexpr uint32_t kPage = 4096;

    /*
     * Memory of `bytes` (a multiple of a page), mapped at the same IOVAs from 0 on, readable,
     * writable.
     */
    explicit FakeHost(uint64_t bytes = 16u << 20);
    ~FakeHost();

    RknpuHost table() const;
    void *opaque() { return this; }

    /* Page table. Lengths are rounded up to pages. */
    void map(uint32_t iova, uint64_t phys, uint64_t len, bool write = true);
    void unmap(uint32_t iova, uint64_t len);
    void set_kind(uint64_t phys, uint64_t len, RknpuMemKind kind);
    /* Reorders the pages behind [iova, iova + len) so that every page is a span of its own. */
    void scatter(uint32_t iova, uint64_t len);
    /* No span is longer than this (default: no limit). */
    void limit_spans(uint64_t bytes) { span_limit_ = bytes; }

    /* The guest's view of memory, through the page table; aborts the test on an unmapped page. */
    void write(uint32_t iova, const void *from, uint64_t len);
    void read(uint32_t iova, void *to, uint64_t len) const;
    template <typename T> void put(uint32_t iova, const std::vector<T> &v)
    {
        write(iova, v.data(), v.size() * sizeof(T));
    }
    template <typename T> std::vector<T> get(uint32_t iova, size_t count) const
    {
        std::vector<T> v(count);
        read(iova, v.data(), count * sizeof(T));
        return v;
    }
    /* All bytes of memory, for comparing two runs. */
    const std::vector<uint8_t> &memory() const { return memory_; }

    std::vector<RecordedEvent> events() const;
    std::vector<RecordedEvent> events(RknpuEventType type) const;
    void clear_events();
    unsigned irq_calls(unsigned core) const;
    unsigned maps() const;
    /* How many threads have called map. */
    unsigned mapping_threads() const;
    int open_spans() const;

private:
    struct Page {
        uint64_t phys;
        bool write;
    };

    static bool map_cb(void *opaque, unsigned core, uint32_t iova, uint64_t len, bool write,
                       RknpuSpan *span);
    static void unmap_cb(void *opaque, unsigned core, const RknpuSpan *span, bool written);
    static void irq_cb(void *opaque, unsigned core);
    static int64_t now_cb(void *opaque);
    static void event_cb(void *opaque, const RknpuEvent *ev);
    bool find(uint32_t iova, bool write, uint64_t *phys) const;

    mutable std::mutex lock_;
    std::vector<uint8_t> memory_;
    std::vector<RknpuMemKind> kinds_;
    std::map<uint32_t, Page> pages_;
    std::vector<RecordedEvent> events_;
    uint64_t span_limit_ = UINT64_MAX;
    unsigned irq_calls_[RKNPU_MAX_CORES] = {};
    unsigned maps_ = 0;
    std::set<std::thread::id> mapping_threads_;
    int open_ = 0;
};

/*
 * Runs one task of the computing half alone: registers by window offset, no command stream, no
 *   thread. TaskRunner task(host, rknpu_rk3588, RKNPU_UNIT_CNA | ...);
 *   task.set(RK3588_CNA_CONV_CON1, 0); ... EXPECT_EQ(RKNPU_TASK_OK, task.run());
 */
class TaskRunner {
public:
    TaskRunner(FakeHost &host, const RknpuChip &chip, uint32_t unit_mask);

    void set(uint32_t offset, uint32_t value);
    /* Releases the memory window, so that outputs are in memory when it returns. */
    RknpuTaskResult run();
    /* For the message of a test that expected a result: the first report, or "". */
    std::string first_report() const { return reports.empty() ? "" : reports[0]; }

    RknpuJob job = {};
    RknpuConfig config = {};
    RknpuTraffic traffic = {};
    std::vector<std::string> reports;

private:
    static void report_cb(void *opaque, RknpuEventType type, const char *text, uint64_t value);

    FakeHost &host_;
};

#endif /* TESTS_UNIT_FAKE_HOST_H */
