/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory window of one task: views of device memory as host pointers, copies, traffic counts.
 *
 *   contiguous   [iova ......... iova+len)  -> one span, pointer straight into guest memory
 *   scattered    [page][page][page]         -> gathered into a buffer; an output goes back at
 *                release
 *
 * Buffers of Linux drivers are often scattered page by page, and every byte is asked for more than
 * once (counted, viewed, viewed again for the next rows). So a window keeps what it has mapped,
 * sorted by address, until release: every page is mapped once a task. Reads are mapped some way
 * ahead; writes to the end of their page, because the owner marks pages dirty by the span.
 *
 * The guest chooses lengths: at most HELD_MAX spans are kept for copies (views keep what they
 * need), buffers come from g_try_malloc, one is at most RKNPU_VIEW_MAX, all together
 * VIEW_TOTAL_MAX. After its first fault a window refuses everything: the engines have stopped.
 *
 * A window belongs to one thread and takes no lock.
 */
#include <glib.h>
#include <string.h>
#include "mem.h"

#define READ_AHEAD (1u << 20)
#define PAGE_MASK 4095u
#define HELD_MAX 16384
#define VIEW_TOTAL_MAX (256u << 20)
#define ADDRESS_END (UINT64_C(1) << 32)

typedef struct Gathered {
    uint8_t *bytes;
    uint32_t iova;
    uint64_t len;
    bool write;
} Gathered;

/* Bytes of the model itself that a stream finds at an address; len 0: none. */
typedef struct Overlay {
    RknpuStream stream;
    uint32_t iova;
    uint64_t len;
    uint8_t *bytes;
    bool lent; /* another window's bytes */
} Overlay;

enum {
    OVERLAY_WEIGHTS,
    OVERLAY_FEATURES,
    OVERLAY_PIPE,
    OVERLAYS,
};

struct RknpuMem {
    const RknpuHost *host;
    void *opaque;
    unsigned core;
    unsigned task;
    GArray *held[2];  /* RknpuSpan by ascending iova, no overlap: [0] reading, [1] writing */
    GArray *gathered; /* Gathered */
    uint64_t gathered_bytes;
    RknpuTraffic traffic;
    unsigned faults;
    uint32_t first_fault;
    bool first_fault_write;
    Overlay overlay[OVERLAYS];
};

RknpuMem *rknpu_mem_new(const RknpuHost *host, void *opaque, unsigned core, unsigned task)
{
    RknpuMem *mem = g_new0(RknpuMem, 1);

    mem->host = host;
    mem->opaque = opaque;
    mem->core = core;
    mem->task = task;
    mem->held[0] = g_array_new(FALSE, FALSE, sizeof(RknpuSpan));
    mem->held[1] = g_array_new(FALSE, FALSE, sizeof(RknpuSpan));
    mem->gathered = g_array_new(FALSE, FALSE, sizeof(Gathered));
    return mem;
}

static void drop_overlay(Overlay *o)
{
    if (!o->lent) {
        g_free(o->bytes);
    }
}

static void drop_views(RknpuMem *mem)
{
    for (int write = 0; write < 2; write++) {
        for (guint i = 0; i < mem->held[write]->len; i++) {
            mem->host->unmap(mem->opaque, mem->core,
                             &g_array_index(mem->held[write], RknpuSpan, i), write);
        }
        g_array_set_size(mem->held[write], 0);
    }
    for (guint i = 0; i < mem->gathered->len; i++) {
        g_free(g_array_index(mem->gathered, Gathered, i).bytes);
    }
    g_array_set_size(mem->gathered, 0);
    mem->gathered_bytes = 0;
}

void rknpu_mem_free(RknpuMem *mem)
{
    drop_views(mem);
    g_array_free(mem->held[0], TRUE);
    g_array_free(mem->held[1], TRUE);
    g_array_free(mem->gathered, TRUE);
    for (unsigned i = 0; i < OVERLAYS; i++) {
        drop_overlay(&mem->overlay[i]);
    }
    g_free(mem);
}

RknpuMem *rknpu_mem_part(const RknpuMem *whole)
{
    RknpuMem *part = rknpu_mem_new(whole->host, whole->opaque, whole->core, whole->task);

    for (unsigned i = 0; i < OVERLAYS; i++) {
        part->overlay[i] = whole->overlay[i];
        part->overlay[i].lent = true;
    }
    return part;
}

void rknpu_mem_end_part(RknpuMem *whole, RknpuMem *part)
{
    if (part->faults && !whole->faults) {
        whole->first_fault = part->first_fault;
        whole->first_fault_write = part->first_fault_write;
    }
    whole->faults += part->faults;
    rknpu_mem_free(part);
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

/* False: the window has faulted before, or does now because the range leaves the address space. */
static bool usable(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len, bool write)
{
    if (mem->faults) {
        return false;
    }
    if (len > ADDRESS_END - iova) {
        record_fault(mem, stream, iova, write);
        return false;
    }
    return true;
}

/* Index of the first held span that starts behind `iova`. */
static guint position(const GArray *held, uint32_t iova)
{
    guint low = 0, high = held->len;

    while (low < high) {
        guint middle = low + (high - low) / 2;

        if (g_array_index(held, RknpuSpan, middle).iova <= iova) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A span that holds at least the byte at `iova`. */
typedef struct Piece {
    RknpuSpan span;
    uint8_t *host;    /* of that byte */
    uint64_t len;     /* from that byte on, at most what was asked for */
    bool temporary;   /* not kept: give_back() unmaps it */
} Piece;

/* Field by field: a copy of the whole would wait for the stores of its last two fields. */
static void set_piece(Piece *piece, const RknpuSpan *span, uint32_t iova, uint64_t len)
{
    uint64_t at = iova - span->iova;

    piece->span = *span;
    piece->host = span->host + at;
    piece->len = MIN(len, span->len - at);
    piece->temporary = false;
}

/* How much to map for a wish of `len` bytes; never into the span that follows. */
static uint64_t ask_for(const GArray *held, guint next, uint32_t iova, uint64_t len, bool write)
{
    uint64_t end = iova + (write ? len : MAX(len, READ_AHEAD));

    if (write) {
        end = (end + PAGE_MASK) & ~(uint64_t)PAGE_MASK;
    }
    end = MIN(end, ADDRESS_END);
    if (next < held->len) {
        end = MIN(end, g_array_index(held, RknpuSpan, next).iova);
    }
    return end - iova;
}

/*
 * 1 to `len` bytes from iova on, held or newly mapped; false = fault, recorded. `keep` asks for a
 * span that stays until release even when HELD_MAX are held.
 */
static bool take(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len, bool write,
                 bool keep, Piece *piece)
{
    GArray *held = mem->held[write];
    guint next = position(held, iova);
    RknpuSpan span;

    if (next > 0) {
        const RknpuSpan *before = &g_array_index(held, RknpuSpan, next - 1);

        if (iova - before->iova < before->len) {
            set_piece(piece, before, iova, len);
            return true;
        }
    }
    if (!mem->host->map(mem->opaque, mem->core, iova, ask_for(held, next, iova, len, write), write,
                        &span)) {
        record_fault(mem, stream, iova, write);
        return false;
    }
    set_piece(piece, &span, iova, len);
    piece->temporary = !keep && held->len >= HELD_MAX;
    if (!piece->temporary) {
        g_array_insert_val(held, next, span);
    }
    return true;
}

static void give_back(RknpuMem *mem, const Piece *piece, bool written)
{
    if (piece->temporary) {
        mem->host->unmap(mem->opaque, mem->core, &piece->span, written);
    }
}

/* Copies piece by piece; `to` or `from` is NULL, by direction. */
static bool copy(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint8_t *to, const uint8_t *from,
                 uint64_t len)
{
    bool write = from != NULL;
    Piece piece;

    if (!usable(mem, stream, iova, len, write)) {
        return false;
    }
    for (uint64_t at = 0; at < len; at += piece.len) {
        if (!take(mem, stream, iova + at, len - at, write, false, &piece)) {
            return false;
        }
        if (write) {
            memcpy(piece.host, from + at, piece.len);
        } else {
            memcpy(to + at, piece.host, piece.len);
        }
        give_back(mem, &piece, write);
    }
    return true;
}

void rknpu_mem_overlay(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint8_t *bytes,
                       uint64_t len)
{
    Overlay *o = &mem->overlay[stream == RKNPU_STREAM_WEIGHT    ? OVERLAY_WEIGHTS
                               : stream == RKNPU_STREAM_FEATURE ? OVERLAY_FEATURES
                                                                : OVERLAY_PIPE];

    drop_overlay(o);
    *o = (Overlay){ .stream = stream, .iova = iova, .len = len, .bytes = bytes };
}

void rknpu_mem_turn_pipe(RknpuMem *mem)
{
    mem->overlay[OVERLAY_PIPE].stream = RKNPU_STREAM_FEATURE;
}

/* True when the access falls to an overlay; `*bytes` is NULL when it reaches beyond its end. */
static bool overlaid(const RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len,
                     uint8_t **bytes)
{
    for (unsigned i = 0; i < OVERLAYS; i++) {
        const Overlay *o = &mem->overlay[i];
        uint64_t offset = iova - o->iova;

        if (stream == o->stream && iova >= o->iova && offset < o->len) {
            *bytes = len <= o->len - offset ? o->bytes + offset : NULL;
            return true;
        }
    }
    return false;
}

bool rknpu_mem_read(RknpuMem *mem, RknpuStream stream, uint32_t iova, void *to, uint64_t len)
{
    uint8_t *bytes;

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
    uint8_t *bytes;

    if (overlaid(mem, RKNPU_STREAM_OUTPUT, iova, len, &bytes)) {
        if (bytes) {
            memcpy(bytes, from, len);
        }
        return bytes;
    }
    return copy(mem, RKNPU_STREAM_OUTPUT, iova, NULL, from, len);
}

/* The bytes of a buffer gathered before that covers the range, or NULL. */
static uint8_t *gathered_before(RknpuMem *mem, uint32_t iova, uint64_t len, bool write)
{
    for (guint i = mem->gathered->len; i-- > 0; ) {
        Gathered *g = &g_array_index(mem->gathered, Gathered, i);

        if (g->write == write && iova >= g->iova && iova - g->iova + len <= g->len) {
            return g->bytes + (iova - g->iova);
        }
    }
    return NULL;
}

/*
 * A buffer with the bytes of [iova, iova + len). Outputs are mapped for writing here, so that a
 * page that must not be written faults before the work.
 */
static uint8_t *gather(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len, bool write)
{
    Gathered g = { .iova = iova, .len = len, .write = write };
    Piece piece;

    if (mem->gathered_bytes + len > VIEW_TOTAL_MAX || !(g.bytes = g_try_malloc(len))) {
        return NULL;
    }
    for (uint64_t at = 0; at < len; at += piece.len) {
        if (!take(mem, stream, iova + at, len - at, write, false, &piece)) {
            g_free(g.bytes);
            return NULL;
        }
        memcpy(g.bytes + at, piece.host, piece.len);
        give_back(mem, &piece, false);
    }
    mem->gathered_bytes += len;
    g_array_append_val(mem->gathered, g);
    return g.bytes;
}

/*
 * True when what follows `first` up to `len` bytes lies behind it in host memory as well: spans
 * that were mapped one by one, as those of neighbouring outputs that share a page.
 */
static bool continues(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len, bool write,
                      const Piece *first)
{
    Piece piece;

    for (uint64_t at = first->len; at < len; at += piece.len) {
        if (!take(mem, stream, iova + at, len - at, write, true, &piece) ||
            piece.host != first->host + at) {
            return false;
        }
    }
    return true;
}

static uint8_t *view(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len, bool write)
{
    uint8_t *bytes;
    Piece piece;

    if (len == 0 || len > RKNPU_VIEW_MAX || !usable(mem, stream, iova, len, write)) {
        return NULL;
    }
    bytes = gathered_before(mem, iova, len, write);
    if (bytes) {
        return bytes;
    }
    if (!take(mem, stream, iova, len, write, true, &piece)) {
        return NULL;
    }
    if (continues(mem, stream, iova, len, write, &piece)) {
        return piece.host;
    }
    return mem->faults ? NULL : gather(mem, stream, iova, len, write);
}

const uint8_t *rknpu_mem_view(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len)
{
    uint8_t *bytes;

    if (overlaid(mem, stream, iova, len, &bytes)) {
        return bytes;
    }
    return view(mem, stream, iova, len, false);
}

uint8_t *rknpu_mem_view_out(RknpuMem *mem, uint32_t iova, uint64_t len)
{
    uint8_t *bytes;

    if (overlaid(mem, RKNPU_STREAM_OUTPUT, iova, len, &bytes)) {
        return bytes;
    }
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

static void count_piece(RknpuMem *mem, RknpuStream stream, uint32_t iova, const Piece *piece)
{
    mem->traffic.bytes[piece->span.kind][stream] += piece->len;
    if (mem->host->event) {
        emit(mem, &(RknpuEvent) {
            .type = stream == RKNPU_STREAM_OUTPUT ? RKNPU_EVENT_WRITE : RKNPU_EVENT_READ,
            .stream = stream, .kind = piece->span.kind, .address = iova,
            .phys = piece->span.phys + (iova - piece->span.iova), .a = piece->len,
        });
    }
}

/* Maps [iova, iova + len), counted or not. False: it faults, or leaves its overlay. */
static bool walk(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len, bool counted)
{
    bool write = stream == RKNPU_STREAM_OUTPUT;
    uint8_t *bytes;
    Piece piece;

    if (overlaid(mem, stream, iova, len, &bytes)) {
        return bytes;
    }
    if (!usable(mem, stream, iova, len, write)) {
        return false;
    }
    for (uint64_t at = 0; at < len; at += piece.len) {
        if (!take(mem, stream, iova + at, len - at, write, false, &piece)) {
            return false;
        }
        if (counted) {
            count_piece(mem, stream, iova + at, &piece);
        }
        give_back(mem, &piece, false);
    }
    return true;
}

bool rknpu_mem_map_out(RknpuMem *mem, uint32_t iova, uint64_t len)
{
    return walk(mem, RKNPU_STREAM_OUTPUT, iova, len, false);
}

void rknpu_mem_count(RknpuMem *mem, RknpuStream stream, uint32_t iova, uint64_t len)
{
    walk(mem, stream, iova, len, true);
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

uint64_t rknpu_traffic_stream(const RknpuTraffic *t, RknpuStream stream)
{
    uint64_t sum = 0;

    for (int kind = 0; kind < RKNPU_MEM_KINDS; kind++) {
        sum += t->bytes[kind][stream];
    }
    return sum;
}

uint64_t rknpu_traffic_read(const RknpuTraffic *t)
{
    return rknpu_traffic_stream(t, RKNPU_STREAM_COMMAND) +
           rknpu_traffic_stream(t, RKNPU_STREAM_FEATURE) +
           rknpu_traffic_stream(t, RKNPU_STREAM_WEIGHT) +
           rknpu_traffic_stream(t, RKNPU_STREAM_OPERAND);
}

uint64_t rknpu_traffic_written(const RknpuTraffic *t)
{
    return rknpu_traffic_stream(t, RKNPU_STREAM_OUTPUT);
}
