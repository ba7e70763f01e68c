/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the NPU did during a run.
 */
#include <stdint.h>
#include <stdio.h>

#include "stats.h"
#include "terminal.h"

#define NPU_PATH "/machine/npu"
#define WRITTEN "output"        /* the one stream that writes */

typedef struct {
    gint64 jobs, tasks, macs, busy_ns, faults, guest_errors, unimplemented;
} Sums;

static gint64 member(JsonObject *object, const char *name)
{
    return json_object_get_int_member_with_default(object, name, 0);
}

static void add_core(Sums *sums, JsonObject *core)
{
    sums->jobs += member(core, "jobs");
    sums->tasks += member(core, "tasks");
    sums->macs += member(core, "macs");
    sums->busy_ns += member(core, "busy_ns");
    sums->faults += member(core, "faults");
    sums->guest_errors += member(core, "guest_errors");
    sums->unimplemented += member(core, "unimplemented");
}

/* Bytes of one kind of memory over all cores, by direction. */
static void add_traffic(JsonObject *core, const char *kind, gint64 *read, gint64 *written)
{
    JsonObject *all = json_object_has_member(core, "traffic")
                          ? json_object_get_object_member(core, "traffic") : NULL;
    JsonObject *streams = all && json_object_has_member(all, kind)
                              ? json_object_get_object_member(all, kind) : NULL;
    g_autoptr(GList) names = streams ? json_object_get_members(streams) : NULL;

    for (GList *name = names; name; name = name->next) {
        *(g_str_equal(name->data, WRITTEN) ? written : read) += member(streams, name->data);
    }
}

static void append_traffic(GString *text, JsonArray *cores)
{
    static const char *const kinds[] = { "dram", "sram", "nbuf" };

    for (unsigned k = 0; k < G_N_ELEMENTS(kinds); k++) {
        gint64 read = 0, written = 0;

        for (guint i = 0; i < json_array_get_length(cores); i++) {
            add_traffic(json_array_get_object_element(cores, i), kinds[k], &read, &written);
        }
        if (k == 0 || read || written) {
            g_autofree char *upper = g_ascii_strup(kinds[k], -1);

            g_string_append_printf(text, "NPU traffic with %s: %.2f MB read, %.2f MB written\n",
                                   upper, read * 1e-6, written * 1e-6);
        }
    }
}

static void append_troubles(GString *text, const Sums *sums)
{
    if (sums->faults) {
        g_string_append_printf(text, "NPU accesses that faulted: %" G_GINT64_FORMAT "\n",
                               sums->faults);
    }
    if (sums->unimplemented) {
        g_string_append_printf(text, "NPU functions used that are not modelled: %" G_GINT64_FORMAT
                               "\n", sums->unimplemented);
    }
}

static bool is_list_of_objects(JsonNode *node)
{
    JsonArray *array = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;

    for (guint i = 0; array && i < json_array_get_length(array); i++) {
        if (!JSON_NODE_HOLDS_OBJECT(json_array_get_element(array, i))) {
            return false;
        }
    }
    return array != NULL;
}

char *emu_stats_format(const char *json)
{
    g_autoptr(JsonNode) node = json_from_string(json, NULL);
    GString *text;
    Sums sums = { 0 };
    JsonArray *cores;

    if (!is_list_of_objects(node)) {
        return NULL;
    }
    cores = json_node_get_array(node);
    for (guint i = 0; i < json_array_get_length(cores); i++) {
        add_core(&sums, json_array_get_object_element(cores, i));
    }
    text = g_string_new(NULL);
    g_string_append_printf(text, "NPU: %" G_GINT64_FORMAT " jobs, %" G_GINT64_FORMAT
                           " tasks, %.1f MMAC in %.1f ms", sums.jobs, sums.tasks,
                           sums.macs * 1e-6, sums.busy_ns * 1e-6);
    if (sums.busy_ns > 0) {
        g_string_append_printf(text, ": %.0f MMAC/s", sums.macs * 1e3 / sums.busy_ns);
    }
    g_string_append_c(text, '\n');
    append_traffic(text, cores);
    append_troubles(text, &sums);
    return g_string_free(text, FALSE);
}

void emu_stats_print(EmuQmp *qmp)
{
    g_autofree char *json = qmp ? emu_qmp_get(qmp, NPU_PATH, "stats") : NULL;
    g_autofree char *text = json ? emu_stats_format(json) : NULL;

    if (text) {
        fputs(text, stderr);
    } else {
        emu_say("the machine has no counters of an NPU");
    }
}
