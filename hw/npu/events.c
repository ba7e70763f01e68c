/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event log's two written forms: a line of text for people, a JSON object for programs. */
#include <glib.h>
#include "rknpu/events.h"

/* Which members an event of each type uses, and what its counts are called. */
typedef struct EventForm {
    const char *name;
    const char *a, *b; /* NULL: not used */
    bool address, memory, duration;
} EventForm;

static const EventForm forms[RKNPU_EVENT_TYPES] = {
    [RKNPU_EVENT_JOB_START] = { "job-start", "tasks", "amount", .address = true },
    [RKNPU_EVENT_JOB_END] = { "job-end", "tasks", "raw" },
    [RKNPU_EVENT_JOB_STALL] = { "job-stall", .address = true },
    [RKNPU_EVENT_JOB_CANCEL] = { "job-cancel" },
    [RKNPU_EVENT_TASK_START] = { "task-start", "units", "words", .address = true },
    [RKNPU_EVENT_TASK_END] = { "task-end", "units", "macs", .duration = true },
    [RKNPU_EVENT_READ] = { "read", "bytes", .address = true, .memory = true },
    [RKNPU_EVENT_WRITE] = { "write", "bytes", .address = true, .memory = true },
    [RKNPU_EVENT_FAULT] = { "fault", "write", .address = true, .memory = true },
    [RKNPU_EVENT_IRQ] = { "irq", "raw", "mask" },
    [RKNPU_EVENT_RESET] = { "reset" },
    [RKNPU_EVENT_GUEST_ERROR] = { "guest-error", "value" },
    [RKNPU_EVENT_UNIMP] = { "unimp", "value" },
};

const char *rknpu_event_name(RknpuEventType type)
{
    return type < RKNPU_EVENT_TYPES ? forms[type].name : "unknown";
}

/* Counts of things read well in decimal, register values in hexadecimal. */
static bool is_decimal(const char *what)
{
    return g_str_equal(what, "tasks") || g_str_equal(what, "words") || g_str_equal(what, "macs") ||
           g_str_equal(what, "bytes") || g_str_equal(what, "write");
}

static void text_value(GString *out, const char *what, uint64_t value)
{
    if (what) {
        g_string_append_printf(out, is_decimal(what) ? " %s=%" G_GUINT64_FORMAT : " %s=0x%"
                               G_GINT64_MODIFIER "x", what, value);
    }
}

char *rknpu_event_to_text(const RknpuEvent *ev)
{
    static const EventForm none = { "unknown" };
    const EventForm *form = ev->type < RKNPU_EVENT_TYPES ? &forms[ev->type] : &none;
    GString *out = g_string_new(NULL);

    g_string_append_printf(out, "%12.3f us core %u task %u %s", ev->ns / 1e3, ev->core, ev->task,
                           form->name);
    if (form->memory) {
        g_string_append_printf(out, " %s", rknpu_stream_name(ev->stream));
    }
    if (form->address) {
        g_string_append_printf(out, " 0x%08x", ev->address);
    }
    if (form->memory && ev->type != RKNPU_EVENT_FAULT) {
        g_string_append_printf(out, " %s:0x%" G_GINT64_MODIFIER "x", rknpu_mem_kind_name(ev->kind),
                               ev->phys);
    }
    text_value(out, form->a, ev->a);
    text_value(out, form->b, ev->b);
    if (form->duration) {
        g_string_append_printf(out, " %.3f us", ev->duration_ns / 1e3);
    }
    if (ev->text) {
        g_string_append_printf(out, ": %s", ev->text);
    }
    return g_string_free(out, FALSE);
}

static void json_string(GString *out, const char *key, const char *value)
{
    g_string_append_printf(out, ",\"%s\":\"", key);
    for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
        if (*c == '"' || *c == '\\') {
            g_string_append_c(out, '\\');
            g_string_append_c(out, *c);
        } else if (*c < 0x20 || *c > 0x7e) {
            g_string_append_printf(out, "\\u%04x", *c);
        } else {
            g_string_append_c(out, *c);
        }
    }
    g_string_append_c(out, '"');
}

static void json_number(GString *out, const char *key, uint64_t value)
{
    g_string_append_printf(out, ",\"%s\":%" G_GUINT64_FORMAT, key, value);
}

char *rknpu_event_to_json(const RknpuEvent *ev)
{
    static const EventForm none = { "unknown" };
    const EventForm *form = ev->type < RKNPU_EVENT_TYPES ? &forms[ev->type] : &none;
    GString *out = g_string_new(NULL);

    g_string_append_printf(out, "{\"type\":\"%s\",\"core\":%u,\"task\":%u,\"ns\":%" G_GINT64_FORMAT,
                           form->name, ev->core, ev->task, ev->ns);
    if (form->duration) {
        g_string_append_printf(out, ",\"duration_ns\":%" G_GINT64_FORMAT, ev->duration_ns);
    }
    if (form->memory) {
        json_string(out, "stream", rknpu_stream_name(ev->stream));
    }
    if (form->memory && ev->type != RKNPU_EVENT_FAULT) {
        json_string(out, "kind", rknpu_mem_kind_name(ev->kind));
        json_number(out, "phys", ev->phys);
    }
    if (form->address) {
        json_number(out, "address", ev->address);
    }
    if (form->a) {
        json_number(out, "a", ev->a);
    }
    if (form->b) {
        json_number(out, "b", ev->b);
    }
    if (ev->text) {
        json_string(out, "text", ev->text);
    }
    g_string_append_c(out, '}');
    return g_string_free(out, FALSE);
}
