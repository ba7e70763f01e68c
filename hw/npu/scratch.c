/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scratch.h"

#include <glib.h>
#include <stdint.h>
#include <stdlib.h>

#define ALIGN 64u

typedef struct Arena {
    void *buffer[RKNPU_SCRATCHES];
    size_t size[RKNPU_SCRATCHES];
} Arena;

static void arena_free(gpointer data)
{
    Arena *arena = data;

    for (unsigned i = 0; i < RKNPU_SCRATCHES; i++) {
        free(arena->buffer[i]);
    }
    g_free(arena);
}

static GPrivate arena_key = G_PRIVATE_INIT(arena_free);

void *rknpu_scratch(RknpuScratch which, size_t bytes)
{
    Arena *arena = g_private_get(&arena_key);

    if (!arena) {
        arena = g_new0(Arena, 1);
        g_private_set(&arena_key, arena);
    }
    if (bytes > SIZE_MAX - 2 * ALIGN) {
        return NULL;
    }
    if (arena->size[which] < bytes || !arena->buffer[which]) {
        size_t size = (bytes + ALIGN) & ~(size_t)(ALIGN - 1);

        free(arena->buffer[which]);
        arena->buffer[which] = aligned_alloc(ALIGN, size);
        arena->size[which] = arena->buffer[which] ? size : 0;
    }
    return arena->buffer[which];
}
