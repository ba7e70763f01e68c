/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "terminal.h"

static bool progress_shown;
static bool is_raw;
static struct termios saved;

void emu_progress_clear(void)
{
    if (progress_shown) {
        fputs("\r\033[K", stderr);
        progress_shown = false;
    }
}

void emu_progress(const char *fmt, ...)
{
    g_autofree char *text = NULL;
    unsigned rows, columns;
    va_list ap;

    if (!isatty(STDERR_FILENO)) {
        return;
    }
    va_start(ap, fmt);
    text = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    emu_terminal_size(&rows, &columns);
    fprintf(stderr, "\r\033[K%.*s", (int)columns - 1, text);
    progress_shown = true;
}

void emu_say(const char *fmt, ...)
{
    g_autofree char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    emu_progress_clear();
    fprintf(stderr, "rknpu-emu: %s%s\n", text, is_raw ? "\r" : "");
}

void emu_terminal_raw(void)
{
    struct termios raw;

    if (is_raw || tcgetattr(STDIN_FILENO, &saved) < 0) {
        return;
    }
    raw = saved;
    cfmakeraw(&raw);
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0) {
        is_raw = true;
        atexit(emu_terminal_restore);
    }
}

void emu_terminal_restore(void)
{
    if (is_raw) {
        tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
        is_raw = false;
    }
}

void emu_terminal_size(unsigned *rows, unsigned *columns)
{
    struct winsize ws;

    *rows = 24;
    *columns = 80;
    if ((ioctl(STDIN_FILENO, TIOCGWINSZ, &ws) == 0 ||
         ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) == 0) && ws.ws_row && ws.ws_col) {
        *rows = ws.ws_row;
        *columns = ws.ws_col;
    }
}
