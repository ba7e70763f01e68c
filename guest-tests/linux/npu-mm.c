/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file rknpu/mm, which both drivers have: what it shows, and what it should show. */
#include "npu-test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MM "/sys/kernel/debug/rknpu/mm"
#define ROW 32u
#define TEXT_SIZE 4096
#define MAX_CHUNKS 1024u

static bool mm_read(char *text)
{
    FILE *f = fopen(MM, "r");
    size_t n = f ? fread(text, 1, TEXT_SIZE - 1, f) : 0;

    text[n] = 0;
    if (!f) {
        fprintf(stderr, "cannot read %s: %s (is debugfs mounted?)\n", MM, strerror(errno));
        return false;
    }
    fclose(f);
    return true;
}

int mm_used(void)
{
    char text[TEXT_SIZE];
    int used = 0;

    if (!mm_read(text)) {
        return -1;
    }
    for (char *at = strchr(text, '\n'); at && *at; at++) {
        used += *at == '*';
    }
    return used;
}

void mm_print(const char *title)
{
    char text[TEXT_SIZE];

    mm_read(text);
    printf("%s\n%s\n", title, text);
}

/* The guide's form; `used` has one character a chunk, '*' or '.'. */
static void expected_text(char *text, const char *used, unsigned chunks)
{
    char *at = text + sprintf(text, "SRAM bitmap: \"*\" - used, \".\" - free (1bit = 4KB)\n");
    unsigned taken = 0;

    for (unsigned i = 0; i < chunks; i++) {
        taken += used[i] == '*';
    }
    for (unsigned row = 0; row * ROW < chunks; row++) {
        unsigned n = chunks - row * ROW < ROW ? chunks - row * ROW : ROW;

        at += sprintf(at, "[%03u] [%.*s]\n", row, (int)n, used + row * ROW);
    }
    sprintf(at, "SRAM total size: %u, used: %u, free: %u\n", chunks * MM_CHUNK, taken * MM_CHUNK,
            (chunks - taken) * MM_CHUNK);
}

/* A walk through allocations, with what the bitmap should be at each point. */
struct walk {
    const struct mm_allocator *memory;
    unsigned chunks;
    char used[MAX_CHUNKS + 1];
};

static void mark(struct walk *w, unsigned first, unsigned n, char c)
{
    memset(w->used + first, c, n);
}

static void tap_mm(const struct walk *w, const char *what)
{
    char got[TEXT_SIZE], want[TEXT_SIZE];

    mm_read(got);
    expected_text(want, w->used, w->chunks);
    if (!tap(!strcmp(got, want), "rknpu/mm: %s", what)) {
        printf("# got:\n%s# want:\n%s", got, want);
    }
}

/* A buffer of `chunks`, of which `granted` should lie on the chip. */
static void *get(struct walk *w, unsigned chunks, unsigned granted, const char *what)
{
    uint64_t onchip = 0;
    void *buffer = w->memory->get((uint64_t)chunks * MM_CHUNK, &onchip);

    tap(buffer && onchip == (uint64_t)granted * MM_CHUNK, "%s: %u of %u chunks granted", what,
        (unsigned)(onchip / MM_CHUNK), chunks);
    return buffer;
}

static void put(struct walk *w, void *buffer)
{
    if (buffer) {
        w->memory->put(buffer);
    }
}

static void one_buffer(struct walk *w, unsigned chunks, const char *what)
{
    unsigned granted = chunks < w->chunks ? chunks : w->chunks;
    void *buffer = get(w, chunks, granted, what);

    mark(w, 0, granted, '*');
    tap_mm(w, what);
    put(w, buffer);
    mark(w, 0, w->chunks, '.');
    tap_mm(w, "empty again");
}

static void all_and_more(struct walk *w)
{
    void *all = get(w, w->chunks, w->chunks, "all of it"), *more;

    mark(w, 0, w->chunks, '*');
    more = get(w, 2, 0, "nothing left, the buffer is DRAM");
    tap_mm(w, "all in use, unchanged");
    put(w, more);
    put(w, all);
    mark(w, 0, w->chunks, '.');
}

/* 10 used, 20 free, 10 used: the hole serves what fits into it, and nothing else does. */
static void fragments(struct walk *w)
{
    void *a = get(w, 10, 10, "first"), *b = get(w, 20, 20, "second"), *c = get(w, 10, 10, "third");
    void *behind, *big;

    put(w, b);
    mark(w, 0, 10, '*');
    mark(w, 30, 10, '*');
    tap_mm(w, "two fragments with a hole");
    b = get(w, 12, 12, "first fit takes the hole");
    mark(w, 10, 12, '*');
    tap_mm(w, "first fit takes the hole");
    behind = get(w, 9, 9, "what the hole cannot hold");
    mark(w, 40, 9, '*');
    tap_mm(w, "what the hole cannot hold goes behind");
    big = get(w, w->chunks - 41, 0, "free in all but not in one piece");
    tap_mm(w, "unchanged by a request that did not fit");
    put(w, big);
    put(w, a);
    put(w, b);
    put(w, c);
    put(w, behind);
    mark(w, 0, w->chunks, '.');
}

void mm_golden(const struct mm_allocator *memory, uint32_t size)
{
    struct walk w = { .memory = memory, .chunks = size / MM_CHUNK };

    if (w.chunks < 64 || w.chunks > MAX_CHUNKS) {
        tap(false, "SRAM of %u bytes: at least 256 KiB are needed, at most 4 MiB", size);
        return;
    }
    mark(&w, 0, w.chunks, '.');
    tap_mm(&w, "empty");
    if (w.chunks > 128) {
        one_buffer(&w, 128, "512 KB in use");
    }
    one_buffer(&w, w.chunks, "all in use");
    one_buffer(&w, w.chunks + 3, "too much: SRAM first, DRAM behind it");
    all_and_more(&w);
    fragments(&w);
    tap_mm(&w, "empty at the end");
}
