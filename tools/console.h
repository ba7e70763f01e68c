/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's UART: kernel log and, when there is no better way, frames of init.
 */
#ifndef TOOLS_CONSOLE_H
#define TOOLS_CONSOLE_H

#include <stdio.h>
#include "frame.h"

G_BEGIN_DECLS

#define CONSOLE_TAIL_LINES 24
#define CONSOLE_REPORT_LINES 48

typedef struct {
    FILE *log;                          /* NULL: not kept */
    EmuFrameReader frames;
    GString *line;                      /* the line that is being received */
    char *tail[CONSOLE_TAIL_LINES];     /* last lines, a ring */
    unsigned lines;                     /* received in all */
    char *splat;                        /* first line by which the kernel reported a fault */
    GString *report;                    /* that line and some that follow it */
    unsigned report_lines;
    bool panicked;
} EmuConsole;

/* log: NULL, or a file that gets the text as it comes; it stays the caller's. */
EmuConsole *emu_console_new(FILE *log, EmuFrameFunc func, void *opaque);
void emu_console_free(EmuConsole *console);

/* Takes bytes of the UART: text to the log, coded bytes to the frames. */
void emu_console_feed(EmuConsole *console, const uint8_t *data, size_t len);

/* The last complete line that holds more than blanks; NULL before there is one. */
const char *emu_console_last(const EmuConsole *console);

/* Prints the last lines, indented. */
void emu_console_print_tail(const EmuConsole *console, FILE *out);

/* Prints the kernel's first report of a fault, indented; nothing when there was none. */
void emu_console_print_report(const EmuConsole *console, FILE *out);

/*
 * Whether a line of the kernel log reports a fault of the kernel: a panic, an oops, a BUG, a
 * WARN, a KASAN, UBSAN, KCSAN or lockdep report, a hung task or a stall.  Only what printk wrote,
 * with its time stamp, counts: programs may print such words too.
 */
bool emu_console_is_splat(const char *line);

G_END_DECLS

#endif
