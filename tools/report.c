/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Devices that software can wait for publish it as text, the property "waiting".  Any
 * object of the machine may have it; the report walks the tree and needs no list of devices.
 */
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "terminal.h"

#define WAITING "waiting"
#define DEPTH_LIMIT 4

/* Prints one object's line, a text that may have several lines. */
static void print_object(EmuQmp *qmp, const char *path)
{
    g_autofree char *text = emu_qmp_get(qmp, path, WAITING);
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", 0);

    for (char **line = lines; *line; line++) {
        if (**line) {
            fprintf(stderr, "    %s: %s\n", path + strlen("/machine/"), *line);
        }
    }
}

static void walk(EmuQmp *qmp, const char *path, unsigned depth)
{
    g_autofree char *arguments = g_strdup_printf("{\"path\": \"%s\"}", path);
    g_autoptr(JsonNode) list = emu_qmp_run(qmp, "qom-list", arguments);
    JsonArray *items = list && JSON_NODE_HOLDS_ARRAY(list) ? json_node_get_array(list) : NULL;

    for (guint i = 0; items && i < json_array_get_length(items); i++) {
        JsonObject *item = json_array_get_object_element(items, i);
        const char *name = json_object_get_string_member(item, "name");
        const char *type = json_object_get_string_member(item, "type");

        if (strcmp(name, WAITING) == 0 && strcmp(type, "string") == 0) {
            print_object(qmp, path);
        } else if (g_str_has_prefix(type, "child<") && depth < DEPTH_LIMIT &&
                   !strstr(type, "memory-region") && !strstr(type, "irq>")) {
            g_autofree char *child = g_strdup_printf("%s/%s", path, name);

            walk(qmp, child, depth + 1);
        }
    }
}

void emu_report_waiting(EmuQmp *qmp)
{
    if (!qmp) {
        emu_say("QEMU does not answer on its control port: the emulator itself hangs");
        return;
    }
    emu_say("state of the machine:");
    walk(qmp, "/machine", 0);
}
