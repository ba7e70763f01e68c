/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake_host.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>

FakeHost::FakeHost(uint64_t bytes) : memory_(bytes), kinds_(bytes / kPage, RKNPU_MEM_DRAM)
{
    map(0, 0, bytes);
}

FakeHost::~FakeHost()
{
    EXPECT_EQ(0, open_) << "spans not given back";
}

RknpuHost FakeHost::table() const
{
    RknpuHost host = {};

    host.map = map_cb;
    host.unmap = unmap_cb;
    host.irq = irq_cb;
    host.now = now_cb;
    host.event = event_cb;
    return host;
}

void FakeHost::map(uint32_t iova, uint64_t phys, uint64_t len, bool write)
{
    std::lock_guard<std::mutex> hold(lock_);

    for (uint64_t at = 0; at < len; at += kPage) {
        pages_[static_cast<uint32_t>(iova + at) / kPage] = { phys + at, write };
    }
}

void FakeHost::unmap(uint32_t iova, uint64_t len)
{
    std::lock_guard<std::mutex> hold(lock_);

    for (uint64_t at = 0; at < len; at += kPage) {
        pages_.erase(static_cast<uint32_t>(iova + at) / kPage);
    }
}

void FakeHost::set_kind(uint64_t phys, uint64_t len, RknpuMemKind kind)
{
    std::lock_guard<std::mutex> hold(lock_);

    for (uint64_t at = 0; at < len; at += kPage) {
        kinds_.at((phys + at) / kPage) = kind;
    }
}

void FakeHost::scatter(uint32_t iova, uint64_t len)
{
    std::lock_guard<std::mutex> hold(lock_);
    uint32_t first = iova / kPage;
    uint32_t last = static_cast<uint32_t>((iova + len - 1) / kPage);
    std::vector<uint64_t> phys;
    std::vector<uint8_t> bytes;

    for (uint32_t page = first; page <= last; page++) {
        const uint8_t *from = &memory_.at(pages_.at(page).phys);
        phys.push_back(pages_.at(page).phys);
        bytes.insert(bytes.end(), from, from + kPage);
    }
    std::reverse(phys.begin(), phys.end());
    for (uint32_t page = first; page <= last; page++) {
        pages_.at(page).phys = phys[page - first];
        std::memcpy(&memory_[phys[page - first]], &bytes[(page - first) * kPage], kPage);
    }
}

bool FakeHost::find(uint32_t iova, bool write, uint64_t *phys) const
{
    auto page = pages_.find(iova / kPage);

    if (page == pages_.end() || (write && !page->second.write)) {
        return false;
    }
    *phys = page->second.phys + iova % kPage;
    return *phys < memory_.size();
}

void FakeHost::write(uint32_t iova, const void *from, uint64_t len)
{
    std::lock_guard<std::mutex> hold(lock_);
    auto bytes = static_cast<const uint8_t *>(from);
    uint64_t phys;

    for (uint64_t at = 0, part; at < len; at += part) {
        part = std::min<uint64_t>(len - at, kPage - (iova + at) % kPage);
        ASSERT_TRUE(find(static_cast<uint32_t>(iova + at), false, &phys)) << std::hex << iova + at;
        std::memcpy(&memory_[phys], bytes + at, part);
    }
}

void FakeHost::read(uint32_t iova, void *to, uint64_t len) const
{
    std::lock_guard<std::mutex> hold(lock_);
    auto bytes = static_cast<uint8_t *>(to);
    uint64_t phys;

    for (uint64_t at = 0, part; at < len; at += part) {
        part = std::min<uint64_t>(len - at, kPage - (iova + at) % kPage);
        ASSERT_TRUE(find(static_cast<uint32_t>(iova + at), false, &phys)) << std::hex << iova + at;
        std::memcpy(bytes + at, &memory_[phys], part);
    }
}

bool FakeHost::map_cb(void *opaque, unsigned core, uint32_t iova, uint64_t len, bool write,
                      RknpuSpan *span)
{
    auto self = static_cast<FakeHost *>(opaque);
    std::lock_guard<std::mutex> hold(self->lock_);
    uint64_t phys, next, got;
    RknpuMemKind kind;

    self->mapping_threads_.insert(std::this_thread::get_id());
    EXPECT_LT(core, static_cast<unsigned>(RKNPU_MAX_CORES));
    EXPECT_GT(len, 0u);
    EXPECT_LE(iova + len, UINT64_C(1) << 32);
    if (!self->find(iova, write, &phys)) {
        return false;
    }
    len = std::min(len, self->span_limit_);
    kind = self->kinds_[phys / kPage];
    for (got = kPage - iova % kPage; got < len; got += kPage) {
        if (!self->find(static_cast<uint32_t>(iova + got), write, &next) || next != phys + got ||
            self->kinds_[next / kPage] != kind) {
            break;
        }
    }
    *span = {};
    span->host = &self->memory_[phys];
    span->iova = iova;
    span->phys = phys;
    span->len = std::min(got, len);
    span->kind = kind;
    self->maps_++;
    self->open_++;
    return true;
}

void FakeHost::unmap_cb(void *opaque, unsigned, const RknpuSpan *, bool)
{
    auto self = static_cast<FakeHost *>(opaque);
    std::lock_guard<std::mutex> hold(self->lock_);

    self->open_--;
}

void FakeHost::irq_cb(void *opaque, unsigned core)
{
    auto self = static_cast<FakeHost *>(opaque);
    std::lock_guard<std::mutex> hold(self->lock_);

    self->irq_calls_[core]++;
}

int64_t FakeHost::now_cb(void *)
{
    auto now = std::chrono::steady_clock::now().time_since_epoch();

    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void FakeHost::event_cb(void *opaque, const RknpuEvent *ev)
{
    auto self = static_cast<FakeHost *>(opaque);
    std::lock_guard<std::mutex> hold(self->lock_);

    self->events_.push_back({ *ev, ev->text ? ev->text : "" });
    self->events_.back().event.text = nullptr;
}

std::vector<RecordedEvent> FakeHost::events() const
{
    std::lock_guard<std::mutex> hold(lock_);

    return events_;
}

std::vector<RecordedEvent> FakeHost::events(RknpuEventType type) const
{
    std::vector<RecordedEvent> found;

    for (const RecordedEvent &ev : events()) {
        if (ev.event.type == type) {
            found.push_back(ev);
        }
    }
    return found;
}

void FakeHost::clear_events()
{
    std::lock_guard<std::mutex> hold(lock_);

    events_.clear();
}

unsigned FakeHost::irq_calls(unsigned core) const
{
    std::lock_guard<std::mutex> hold(lock_);

    return irq_calls_[core];
}

unsigned FakeHost::mapping_threads() const
{
    std::lock_guard<std::mutex> hold(lock_);

    return mapping_threads_.size();
}

unsigned FakeHost::maps() const
{
    std::lock_guard<std::mutex> hold(lock_);

    return maps_;
}

int FakeHost::open_spans() const
{
    std::lock_guard<std::mutex> hold(lock_);

    return open_;
}

TaskRunner::TaskRunner(FakeHost &host, const RknpuChip &chip, uint32_t unit_mask) : host_(host)
{
    job.chip = &chip;
    job.unit_mask = unit_mask;
    job.report_opaque = this;
    job.report = report_cb;
}

void TaskRunner::set(uint32_t offset, uint32_t value)
{
    static const int kBlock[16] = { -1, RKNPU_CNA, -1, RKNPU_CORE, RKNPU_DPU, RKNPU_DPU_RDMA,
                                    RKNPU_PPU, RKNPU_PPU_RDMA, -1, -1, -1, -1, -1, -1, -1, -1 };
    int block = kBlock[(offset >> 12) & 15];

    ASSERT_GE(block, 0) << std::hex << offset;
    ASSERT_LT((offset & 0xfff) / 4, static_cast<uint32_t>(RKNPU_BLOCK_WORDS)) << std::hex << offset;
    job.reg[block][(offset & 0xfff) / 4] = value;
}

RknpuTaskResult TaskRunner::run()
{
    RknpuHost table = host_.table();
    RknpuMem *mem = rknpu_mem_new(&table, host_.opaque(), 0, 0);
    RknpuTaskResult result;

    job.config = &config;
    job.mem = mem;
    job.macs = 0;
    result = rknpu_task_run(&job);
    EXPECT_TRUE(rknpu_mem_release(mem) || result != RKNPU_TASK_OK);
    traffic = *rknpu_mem_traffic(mem);
    rknpu_mem_free(mem);
    job.mem = nullptr;
    return result;
}

void TaskRunner::report_cb(void *opaque, RknpuEventType, const char *text, uint64_t)
{
    static_cast<TaskRunner *>(opaque)->reports.push_back(text);
}
