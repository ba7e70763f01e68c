/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The user's terminal: messages, a progress line, raw mode for the guest's shell.
 */
#ifndef TOOLS_TERMINAL_H
#define TOOLS_TERMINAL_H

#include <stdbool.h>
#include <glib.h>

G_BEGIN_DECLS

/* One line "rknpu-emu: ..." on the standard error, behind a cleared progress line. */
void emu_say(const char *fmt, ...) G_GNUC_PRINTF(1, 2);

/* Shows a line that the next one replaces; nothing when the standard error is no terminal. */
void emu_progress(const char *fmt, ...) G_GNUC_PRINTF(1, 2);
void emu_progress_clear(void);

/* Raw mode of the terminal on the standard input; undone by the second, also at exit. */
void emu_terminal_raw(void);
void emu_terminal_restore(void);

/* Its size; 24x80 when it does not tell. */
void emu_terminal_size(unsigned *rows, unsigned *columns);

G_END_DECLS

#endif
