/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory window of one task: views of device memory as host pointers, copies, traffic counts.
 *
 *   contiguous   [iova ......... iova+len)  -> one span, pointer straight into guest memory
 *   scattered    [page][page][page]         -> gathered into a buffer; an output goes back at
 *                release
 *
 * A window keeps every span that a direct view stands on until release, and hands it to later views
 * that lie inside. A read is mapped up to READ_AHEAD bytes past what was asked, so that the rows of
 * one buffer share a span; a write is mapped exactly, because its owner may mark pages dirty by the
 * span. Copies and gathered views give their spans back at once. The guest chooses lengths: buffers
 * come from g_try_malloc, one is at most RKNPU_VIEW_MAX, all together VIEW_TOTAL_MAX.
 *
 * A window belongs to one thread and takes no lock.
 */
#include <glib.h>
#include <string.h>
#include "mem.h"

#define READ_AHEAD (64u << 10)
#define VIEW_TOTAL_MAX (256u << 20)
#define ADDRESS_END (UINT64_C(1) << 32)

typedef struct HeldSpan {
    RknpuSpan span;
    bool write;
} HeldSpan;

typedef struct Gathered {
    uint8_t *bytes;
    uint32_t iova;
    uint64_t len;
    bool write;
} Gathered;

struct RknpuMem {
    const RknpuHost *host;
    void *opaque;
    unsigned core;
    unsigned task;
    GArray *held;     /* HeldSpan */
    GArray *gathered; /* Gathered */
    uint64_t gathered_bytes;
    RknpuTraffic traffic;
    unsigned faults;
    uint32_t first_fault;
    bool first_fault_write;
    RknpuStream overlay_stream;
    uint32_t overlay_iova;
    uint64_t overlay_len; /* 0: none */
    uint8_t *overlay;
};

RknpuMem *rknpu_mem_new(const RknpuHost *host, void *opaque, unsigned core, unsigned task)
{
    RknpuMem *mem = g_new0(RknpuMem, 1);

    mem->host = host;
    mem->opaque = opaque;
    mem->core = core;
    mem->task = task;
    mem->held = g_array_new(FALSE, FALSE, sizeof(HeldSpan));
    mem->gathered = g_array_new(FALSE, FALSE, sizeof(Gathered));
    return mem;
}

static void drop_views(RknpuMem *mem)
{
    for (guint i = 0; i < mem->held->len; i++) {
        HeldSpan *held = &g_array_index(mem->held, HeldSpan, i);

        mem->host->unmap(mem->opaque, mem->core, &held->span, held->write);
    }
    for (guint i = 0; i < mem->gathered->len; i++) {
        g_free(g_array_index(mem->gathered, Gathered, i).bytes);
    }
    g_array_set_size(mem->held, 0);
    g_array_set_size(mem->gathered, 0);
    mem->gathered_bytes = 0;
}

void rknpu_mem_free(RknpuMem *mem)
{
    drop_views(mem);
    g_array_free(mem->held, TRUE);
    g_array_free(mem->gathered, TRUE);
    g_free(mem->overlay);
    g_free(mem);
}

const RknpuTraffic *rknpu_mem_traffic(const RknpuMem *mem)
{
    return &mem->traffic;
}

unsigned rknpu_mem_faults(const RknpuMem *mem, uint32_t *first)
{
    *first = mem->first_fault;
    return mem->faults;
}

bool rknpu_mem_faulted_write(const RknpuMem *mem)
{
    return mem->faults && mem->first_fault_write;
}

static void emit(RknpuMem *mem, const RknpuEvent *ev)
{
    RknpuEvent full = *ev;

    full.core = mem->core;
    full.task = mem->task;
    full.ns = mem->host->now ? mem->host->now(mem->opaque) : 0;
    mem->host->event(mem->opaque, &full);
}

static void record_fault(RknpuMem *mem, RknpuStream stream, uint32_t iova, bool write)
{
    if (mem->faults++ == 0) {
        mem->first_fault = iova;
        mem->first_fault_write = write;
    }
    if (mem->host->event) {
        emit(mem, &(RknpuEvent) {
            .type = RKNPU_EVENT_FAULT, .stream = stream, .address = iova, .a = write,
        });
    }
}

/* True when [iova, iova + len) does not leave the 32-bit address space; else it is a fault at 0. */
static bool in_address_space(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len,
                             bool write)
{
    if (len <= ADDRESS_END - iova) {
        return true;
    }
    record_fault(mem, stream, iova, write);
    return false;
}

/* A span of 1..len bytes from iova on; false = fault, recorded. */
static bool map_span(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len, bool write,
                     RknpuSpan *span)
{
    if (mem->host->map(mem->opaque, mem->core, iova, len, write, span)) {
        return true;
    }
    record_fault(mem, stream, iova, write);
    return false;
}

/* Copies through short-lived spans; `to` or `from` is NULL, by direction. */
static bool copy(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint8_t *to, const uint8_t *from,
                 uint64_t len)
{
    bool write = from != NULL;

    if (!in_address_space(mem, stream, iova, len, write)) {
        return false;
    }
    for (uint64_t at = 0, part; at < len; at += part) {
        RknpuSpan span;

        if (!map_span(mem, stream, iova + at, len - at, write, &span)) {
            return false;
        }
        part = MIN(span.len, len - at);
        if (write) {
            memcpy(span.host, from + at, part);
        } else {
            memcpy(to + at, span.host, part);
        }
        mem->host->unmap(mem->opaque, mem->core, &span, write);
    }
    return true;
}

void rknpu_mem_overlay(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint8_t *bytes, uint64_t len)
{
    g_free(mem->overlay);
    mem->overlay = bytes;
    mem->overlay_stream = stream;
    mem->overlay_iova = iova;
    mem->overlay_len = len;
}

/* True when the access falls to the overlay; `*bytes` is NULL when it reaches beyond its end. */
static bool overlaid(const RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len, const uint8_t **bytes)
{
    uint64_t offset = iova - mem->overlay_iova;

    if (iova < mem->overlay_iova || offset >= mem->overlay_len || stream != mem->overlay_stream) {
        return false;
    }
    *bytes = len <= mem->overlay_len - offset ? mem->overlay + offset : NULL;
    return true;
}

bool rknpu_mem_read(RknpuMem *mem, RknpuStream stream, uint32_t iova, void *to, uint64_t len)
{
    const uint8_t *bytes;

    if (overlaid(mem, stream, iova, len, &bytes)) {
        if (bytes) {
            memcpy(to, bytes, len);
        }
        return bytes;
    }
    return copy(mem, stream, iova, to, NULL, len);
}

bool rknpu_mem_write(RknpuMem *mem, uint32_t iova, const void *from, uint64_t len)
{
    return copy(mem, RKNPU_STREAM_OUTPUT, iova, NULL, from, len);
}

static bool holds(const RknpuSpan *span, uint32_t iova, uint64_t len)
{
    return iova >= span->iova && iova - span->iova + len <= span->len;
}

static uint8_t *held_view(RknpuMem *mem, uint32_t iova, uint64_t len, bool write)
{
    for (guint i = mem->held->len; i-- > 0; ) {
        HeldSpan *held = &g_array_index(mem->held, HeldSpan, i);

        if (held->write == write && holds(&held->span, iova, len)) {
            return held->span.host + (iova - held->span.iova);
        }
    }
    return NULL;
}

/* The bytes of an output that is being gathered and covers the range, or NULL. */
static uint8_t *gathered_output(RknpuMem *mem, uint32_t iova, uint64_t len)
{
    for (guint i = 0; i < mem->gathered->len; i++) {
        Gathered *g = &g_array_index(mem->gathered, Gathered, i);

        if (g->write && iova >= g->iova && iova - g->iova + len <= g->len) {
            return g->bytes + (iova - g->iova);
        }
    }
    return NULL;
}

/*
 * A buffer with the bytes of [iova, iova + len), of which the first span is mapped already. Outputs
 * are mapped for writing here too, so that a page that must not be written faults before the work.
 */
static uint8_t *gather(RknpuMem *mem, RknpuStream stream, const RknpuSpan *first, uint64_t len,
                       bool write)
{
    Gathered g = { .iova = first->iova, .len = len, .write = write };
    uint64_t at = first->len;

    if (mem->gathered_bytes + len > VIEW_TOTAL_MAX || !(g.bytes = g_try_malloc(len))) {
        return NULL;
    }
    memcpy(g.bytes, first->host, at);
    while (at < len) {
        RknpuSpan span;
        uint64_t part;

        if (!map_span(mem, stream, g.iova + at, len - at, write, &span)) {
            g_free(g.bytes);
            return NULL;
        }
        part = MIN(span.len, len - at);
        memcpy(g.bytes + at, span.host, part);
        mem->host->unmap(mem->opaque, mem->core, &span, false);
        at += part;
    }
    mem->gathered_bytes += len;
    g_array_append_val(mem->gathered, g);
    return g.bytes;
}

static uint8_t *view(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len, bool write)
{
    uint64_t ask = write ? len : MIN(MAX(len, READ_AHEAD), ADDRESS_END - iova);
    RknpuSpan span;
    uint8_t *bytes;

    if (len == 0 || len > RKNPU_VIEW_MAX || !in_address_space(mem, stream, iova, len, write)) {
        return NULL;
    }
    bytes = held_view(mem, iova, len, write);
    if (!bytes && write) {
        bytes = gathered_output(mem, iova, len);
    }
    if (bytes || !map_span(mem, stream, iova, ask, write, &span)) {
        return bytes;
    }
    if (span.len >= len) {
        HeldSpan held = { .span = span, .write = write };

        g_array_append_val(mem->held, held);
        return span.host;
    }
    bytes = gather(mem, stream, &span, len, write);
    mem->host->unmap(mem->opaque, mem->core, &span, false);
    return bytes;
}

const uint8_t *rknpu_mem_view(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len)
{
    const uint8_t *bytes;

    if (overlaid(mem, stream, iova, len, &bytes)) {
        return bytes;
    }
    return view(mem, stream, iova, len, false);
}

uint8_t *rknpu_mem_view_out(RknpuMem *mem, uint32_t iova, uint64_t len)
{
    return view(mem, RKNPU_STREAM_OUTPUT, iova, len, true);
}

bool rknpu_mem_release(RknpuMem *mem)
{
    bool ok = true;

    for (guint i = 0; i < mem->gathered->len; i++) {
        Gathered *g = &g_array_index(mem->gathered, Gathered, i);

        if (g->write) {
            ok &= rknpu_mem_write(mem, g->iova, g->bytes, g->len);
        }
    }
    drop_views(mem);
    return ok;
}

static void count_span(RknpuMem *mem, RknpuStream stream, const RknpuSpan *span, uint32_t iova,
                       uint64_t len)
{
    mem->traffic.bytes[span->kind][stream] += len;
    if (mem->host->event) {
        emit(mem, &(RknpuEvent) {
            .type = stream == RKNPU_STREAM_OUTPUT ? RKNPU_EVENT_WRITE : RKNPU_EVENT_READ,
            .stream = stream, .kind = span->kind, .address = iova,
            .phys = span->phys + (iova - span->iova), .a = len,
        });
    }
}

static const RknpuSpan *held_span_at(RknpuMem *mem, uint32_t iova)
{
    for (guint i = mem->held->len; i-- > 0; ) {
        HeldSpan *held = &g_array_index(mem->held, HeldSpan, i);

        if (holds(&held->span, iova, 1)) {
            return &held->span;
        }
    }
    return NULL;
}

void rknpu_mem_count(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len)
{
    bool write = stream == RKNPU_STREAM_OUTPUT;

    if (!in_address_space(mem, stream, iova, len, write)) {
        return;
    }
    for (uint64_t at = 0, part; at < len; at += part) {
        const RknpuSpan *held = held_span_at(mem, iova + at);
        RknpuSpan span;

        if (!held && !map_span(mem, stream, iova + at, len - at, write, &span)) {
            return;
        }
        part = held ? MIN(len - at, held->len - (iova + at - held->iova)) : MIN(len - at, span.len);
        count_span(mem, stream, held ? held : &span, iova + at, part);
        if (!held) {
            mem->host->unmap(mem->opaque, mem->core, &span, false);
        }
    }
}

const char *rknpu_mem_kind_name(RknpuMemKind kind)
{
    static const char *const names[RKNPU_MEM_KINDS] = {
        [RKNPU_MEM_DRAM] = "dram", [RKNPU_MEM_SRAM] = "sram", [RKNPU_MEM_NBUF] = "nbuf",
    };

    return kind < RKNPU_MEM_KINDS ? names[kind] : "unknown";
}

const char *rknpu_stream_name(RknpuStream stream)
{
    static const char *const names[RKNPU_STREAMS] = {
        [RKNPU_STREAM_COMMAND] = "command", [RKNPU_STREAM_FEATURE] = "feature",
        [RKNPU_STREAM_WEIGHT] = "weight",   [RKNPU_STREAM_OPERAND] = "operand",
        [RKNPU_STREAM_OUTPUT] = "output",
    };

    return stream < RKNPU_STREAMS ? names[stream] : "unknown";
}

void rknpu_traffic_add(RknpuTraffic *to, const RknpuTraffic *from)
{
    for (int kind = 0; kind < RKNPU_MEM_KINDS; kind++) {
        for (int stream = 0; stream < RKNPU_STREAMS; stream++) {
            to->bytes[kind][stream] += from->bytes[kind][stream];
        }
    }
}

static uint64_t stream_sum(const RknpuTraffic *t, RknpuStream stream)
{
    uint64_t sum = 0;

    for (int kind = 0; kind < RKNPU_MEM_KINDS; kind++) {
        sum += t->bytes[kind][stream];
    }
    return sum;
}

uint64_t rknpu_traffic_read(const RknpuTraffic *t)
{
    return stream_sum(t, RKNPU_STREAM_COMMAND) + stream_sum(t, RKNPU_STREAM_FEATURE) +
           stream_sum(t, RKNPU_STREAM_WEIGHT) + stream_sum(t, RKNPU_STREAM_OPERAND);
}

uint64_t rknpu_traffic_written(const RknpuTraffic *t)
{
    return stream_sum(t, RKNPU_STREAM_OUTPUT);
}
