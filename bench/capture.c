/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *last_part(const char *text)
{
    size_t length = strlen(text);

    return length > 1000 ? text + length - 1000 : text;
}

bool bench_capture(const char *const *command, unsigned seconds, char **out, char **err)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    g_autofree char *limit = g_strdup_printf("%u", seconds);
    g_autoptr(GError) error = NULL;
    int status;

    g_ptr_array_add(words, (gpointer) "timeout");
    g_ptr_array_add(words, (gpointer) "--kill-after=5");
    g_ptr_array_add(words, limit);
    for (; *command; command++) {
        g_ptr_array_add(words, (gpointer)*command);
    }
    g_ptr_array_add(words, NULL);
    *out = NULL;
    if (!g_spawn_sync(NULL, (char **)words->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, out, err,
                      &status, &error) ||
        !g_spawn_check_wait_status(status, &error)) {
        fprintf(stderr, "bench: %s (limit %u s): %s\n%s", (char *)words->pdata[3], seconds,
                error->message, *out ? last_part(*out) : "");
        return false;
    }
    return true;
}

double bench_number_after(const char *text, const char *label)
{
    const char *at = strstr(text, label);

    return at ? g_ascii_strtod(at + strlen(label), NULL) : NAN;
}
