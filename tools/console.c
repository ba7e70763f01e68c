/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reports begin with fixed words: kernel/panic.c (WARN, panic), arch/arm64/kernel/traps.c (oops),
 * mm/kasan/report.c, kernel/locking/lockdep.c, kernel/hung_task.c, kernel/rcu/tree_stall.h,
 * kernel/watchdog.c, lib/ubsan.c.
 */
#include <string.h>

#include "console.h"

#define LINE_MAX_BYTES 4096

/* What a report's first line starts with, behind the time stamp. */
static const char *const starts[] = {
    "WARNING: ",
    "BUG: ",
    "Kernel panic",
    "Internal error: ",
    "Unable to handle kernel",
    "Oops",
    "kernel BUG at ",
    "UBSAN: ",
    "INFO: possible ",
    "INFO: inconsistent ",
    "INFO: suspicious ",
    "INFO: trying to register non-static key",
    "INFO: rcu_",
    "rcu: INFO: ",
    "watchdog: BUG: ",
};

/* Text behind "[    1.234567] " or, with CONFIG_PRINTK_CALLER, "[    1.234567][    T1] ". */
static const char *skip_stamp(const char *line)
{
    const char *p = line;
    bool stamped = false;

    while (*p == '[') {
        const char *inner = p + 1 + strspn(p + 1, " ");
        size_t len = strspn(inner, stamped ? "CT0123456789" : "0123456789.");

        if (len == 0 || inner[len] != ']') {
            break;
        }
        stamped = true;
        p = inner + len + 1;
        p += *p == ' ';
    }
    return stamped ? p : NULL;
}

bool emu_console_is_splat(const char *line)
{
    const char *text = skip_stamp(line);

    if (!text) {
        return false;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(starts); i++) {
        if (g_str_has_prefix(text, starts[i])) {
            return true;
        }
    }
    return g_str_has_prefix(text, "INFO: task ") && strstr(text, " blocked for more than ");
}

EmuConsole *emu_console_new(FILE *log, EmuFrameFunc func, void *opaque)
{
    EmuConsole *console = g_new0(EmuConsole, 1);

    console->log = log;
    console->frames.func = func;
    console->frames.opaque = opaque;
    console->line = g_string_new(NULL);
    console->report = g_string_new(NULL);
    return console;
}

void emu_console_free(EmuConsole *console)
{
    for (unsigned i = 0; i < CONSOLE_TAIL_LINES; i++) {
        g_free(console->tail[i]);
    }
    g_string_free(console->line, TRUE);
    g_string_free(console->report, TRUE);
    g_free(console->splat);
    g_free(console);
}

static void end_line(EmuConsole *console)
{
    const char *text = g_strchomp(console->line->str);
    char **slot = &console->tail[console->lines % CONSOLE_TAIL_LINES];

    if (*text && console->log) {
        fprintf(console->log, "%s\n", text);
        fflush(console->log);
    }
    if (*text) {
        g_free(*slot);
        *slot = g_strdup(text);
        console->lines++;
    }
    if (emu_console_is_splat(text)) {
        console->panicked |= strstr(text, "Kernel panic") != NULL;
        if (!console->splat) {
            console->splat = g_strdup(text);
        }
    }
    if (*text && console->splat && console->report_lines < CONSOLE_REPORT_LINES) {
        g_string_append_printf(console->report, "    %s\n", text);
        console->report_lines = strstr(text, "---[ end ") ? CONSOLE_REPORT_LINES
                                                          : console->report_lines + 1;
    }
    g_string_truncate(console->line, 0);
}

void emu_console_feed(EmuConsole *console, const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (UART_IS_CODED(data[i])) {
            emu_frame_feed_coded(&console->frames, data[i]);
        } else if (data[i] == '\n') {
            end_line(console);
        } else if (data[i] && data[i] != '\r' && console->line->len < LINE_MAX_BYTES) {
            g_string_append_c(console->line, data[i]);
        }
    }
}

const char *emu_console_last(const EmuConsole *console)
{
    return console->lines ? console->tail[(console->lines - 1) % CONSOLE_TAIL_LINES] : NULL;
}

void emu_console_print_tail(const EmuConsole *console, FILE *out)
{
    unsigned count = MIN(console->lines, CONSOLE_TAIL_LINES);

    for (unsigned i = console->lines - count; i < console->lines; i++) {
        fprintf(out, "    %s\n", console->tail[i % CONSOLE_TAIL_LINES]);
    }
}

void emu_console_print_report(const EmuConsole *console, FILE *out)
{
    fputs(console->report->str, out);
}
