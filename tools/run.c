/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The event loop between the user's standard streams, the guest's frames, its UART, and QEMU.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <glib-unix.h>

#include "error.h"
#include "report.h"
#include "run.h"
#include "stats.h"
#include "terminal.h"

#define BOOT_LIMIT_S 300
#define POWER_OFF_LIMIT_S 15
#define PANIC_TEXT_S 3
#define PROGRESS_MS 200
#define PORT_STDIN_MAX 32768
#define ESCAPE_KEY 1            /* Ctrl-A, as in QEMU's own terminal */

typedef enum {
    END_NONE,
    END_COMMAND,        /* the command ended */
    END_REFUSED,        /* init could not set the guest up */
    END_QEMU,           /* QEMU ended first */
    END_PANIC,
    END_STOPPED,        /* QEMU stopped the virtual CPUs: strict */
    END_TIMEOUT,
    END_USER,           /* signal, escape key, or nobody reads our output */
} End;

typedef struct {
    const EmuOptions *options;
    EmuProcess *process;
    EmuQmp *qmp;                /* NULL: not open */
    GMainLoop *loop;
    EmuConsole *console;
    EmuFrameReader port_frames;
    gint64 start;
    gint64 deadline;            /* 0: none */
    GString *qemu_text;         /* its standard error, the line that is being received */
    GByteArray *to_guest;
    guint writer;               /* source that waits for room in the connection */
    End end;
    int status;                 /* of the command; the signal's for END_USER */
    int qemu_status;            /* as waitpid() gives it */
    bool tty;
    bool hello;
    bool coded;                 /* frames use the UART */
    bool running;
    bool stdin_ended;
    bool escape;                /* the escape key came last */
} Run;

static void stop_loop(Run *run, End end)
{
    if (run->end == END_NONE) {
        run->end = end;
    }
    g_main_loop_quit(run->loop);
}

static gboolean quit_loop(gpointer opaque)
{
    Run *run = opaque;

    g_main_loop_quit(run->loop);
    return G_SOURCE_REMOVE;
}

static gboolean on_qmp(gint fd, GIOCondition condition, gpointer opaque)
{
    Run *run = opaque;
    char *event;

    while ((event = emu_qmp_event(run->qmp))) {
        if (strcmp(event, "STOP") == 0) {
            stop_loop(run, END_STOPPED);
        }
        g_free(event);
    }
    return condition & (G_IO_HUP | G_IO_ERR) ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

/* Not before the guest lives: until then QEMU may be busy loading files. */
static void open_qmp(Run *run)
{
    run->qmp = emu_qmp_open(run->process->qmp);
    if (run->qmp) {
        g_unix_fd_add(run->process->qmp, G_IO_IN | G_IO_HUP | G_IO_ERR, on_qmp, run);
    }
}

static gboolean on_limit(gpointer opaque)
{
    stop_loop(opaque, END_TIMEOUT);
    return G_SOURCE_REMOVE;
}

static gboolean on_boot_limit(gpointer opaque)
{
    Run *run = opaque;

    if (!run->running) {
        stop_loop(run, END_TIMEOUT);
    }
    return G_SOURCE_REMOVE;
}

static gboolean on_progress(gpointer opaque)
{
    Run *run = opaque;
    double seconds = (g_get_monotonic_time() - run->start) / 1e6;
    const char *last = emu_console_last(run->console);

    if (run->running || run->end != END_NONE) {
        emu_progress_clear();
        return G_SOURCE_REMOVE;
    }
    emu_progress("%5.1f s  %s  %s", seconds,
                 run->hello ? "preparing the guest" : "booting the kernel", last ? last : "");
    return G_SOURCE_CONTINUE;
}

/* Writes to a stream of the user's, who may be slow to read: the limit of the run holds. */
static void write_user(Run *run, int fd, const uint8_t *data, size_t len)
{
    while (len > 0 && run->end != END_USER && run->end != END_TIMEOUT) {
        gint64 left = run->deadline ? (run->deadline - g_get_monotonic_time()) / 1000 : 3600000;
        struct pollfd pfd = { .fd = fd, .events = POLLOUT };
        ssize_t n;

        if (poll(&pfd, 1, MAX(left, 0)) == 0) {
            stop_loop(run, END_TIMEOUT);
            return;
        }
        n = write(fd, data, MIN(len, PIPE_BUF));
        if (n < 0 && errno != EINTR && errno != EAGAIN) {
            run->status = errno == EPIPE ? 128 + SIGPIPE : EMU_STATUS_SETUP;
            if (errno != EPIPE) {
                emu_say("cannot write the output: %s", g_strerror(errno));
            }
            stop_loop(run, END_USER);
            return;
        }
        data += MAX(n, 0);
        len -= MAX(n, 0);
    }
}

static int guest_fd(const Run *run)
{
    return run->coded ? run->process->console_in : run->process->port;
}

static gboolean write_guest(gint fd, GIOCondition condition, gpointer opaque)
{
    Run *run = opaque;
    ssize_t n = write(fd, run->to_guest->data, run->to_guest->len);

    (void)condition;
    if (n > 0) {
        g_byte_array_remove_range(run->to_guest, 0, n);
    }
    if (run->to_guest->len > 0 && (n >= 0 || errno == EAGAIN || errno == EINTR)) {
        return G_SOURCE_CONTINUE;
    }
    run->writer = 0;
    return G_SOURCE_REMOVE;
}

static void send_guest(Run *run, char type, const void *payload, size_t len)
{
    emu_frame_append(run->to_guest, run->coded, type, payload, len);
    if (!run->writer) {
        run->writer = g_unix_fd_add(guest_fd(run), G_IO_OUT, write_guest, run);
    }
}

/* Ctrl-A x leaves; Ctrl-A Ctrl-A sends one Ctrl-A.  Returns the length of what remains. */
static size_t filter_keys(Run *run, uint8_t *keys, size_t len)
{
    size_t kept = 0;

    for (size_t i = 0; i < len; i++) {
        if (run->escape && keys[i] == 'x') {
            run->status = 0;
            stop_loop(run, END_USER);
        }
        run->escape = !run->escape && keys[i] == ESCAPE_KEY;
        if (!run->escape) {
            keys[kept++] = keys[i];
        }
    }
    return kept;
}

/* One piece of the user's input; the next is read when init has taken this one. */
static gboolean read_user(gint fd, GIOCondition condition, gpointer opaque)
{
    Run *run = opaque;
    uint8_t buf[PORT_STDIN_MAX];
    ssize_t n = read(fd, buf, run->coded ? FRAME_UART_STDIN_MAX : sizeof(buf));

    (void)condition;
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return G_SOURCE_CONTINUE;
    }
    if (n <= 0) {
        run->stdin_ended = true;
        send_guest(run, FRAME_EOF, NULL, 0);
        return G_SOURCE_REMOVE;
    }
    if (run->tty) {
        n = filter_keys(run, buf, n);
        if (n == 0) {
            return G_SOURCE_CONTINUE;
        }
    }
    send_guest(run, FRAME_STDIN, buf, n);
    return G_SOURCE_REMOVE;
}

static void listen_user(Run *run)
{
    if (!run->stdin_ended) {
        g_unix_fd_add(STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR, read_user, run);
    }
}

static gboolean on_resize(gpointer opaque)
{
    Run *run = opaque;
    unsigned rows, columns;

    if (run->running) {
        emu_terminal_size(&rows, &columns);
        send_guest(run, FRAME_WINSIZE,
                   (uint8_t[]) { rows & 0xff, rows >> 8, columns & 0xff, columns >> 8 }, 4);
    }
    return G_SOURCE_CONTINUE;
}

static void start_command(Run *run)
{
    run->running = true;
    emu_progress_clear();
    if (run->tty) {
        emu_terminal_raw();
        g_unix_signal_add(SIGWINCH, on_resize, run);
    }
    listen_user(run);
}

static void on_frame(char type, const uint8_t *payload, size_t len, void *opaque)
{
    Run *run = opaque;

    switch (type) {
    case FRAME_HELLO:
        if (!run->hello) {
            open_qmp(run);
        }
        run->hello = true;
        break;
    case FRAME_MESSAGE:
        emu_say("guest: %.*s", (int)len, payload);
        break;
    case FRAME_FAIL:
        emu_say("guest: %.*s", (int)len, payload);
        run->end = END_REFUSED;
        g_timeout_add_seconds(POWER_OFF_LIMIT_S, quit_loop, run);
        break;
    case FRAME_RUN:
        start_command(run);
        break;
    case FRAME_STDOUT:
    case FRAME_STDERR:
        write_user(run, type == FRAME_STDOUT ? STDOUT_FILENO : STDERR_FILENO, payload, len);
        if (run->coded) {
            send_guest(run, FRAME_TAKEN, NULL, 0);
        }
        break;
    case FRAME_ACK:
        listen_user(run);
        break;
    case FRAME_EXIT:
        if (len == 1 && run->end == END_NONE) {
            run->end = END_COMMAND;
            run->status = payload[0];
            if (run->options->stats) {
                emu_stats_print(run->qmp);
            }
            send_guest(run, FRAME_DONE, NULL, 0);
            g_timeout_add_seconds(POWER_OFF_LIMIT_S, quit_loop, run);
        }
        break;
    }
}

static void on_coded_frame(char type, const uint8_t *payload, size_t len, void *opaque)
{
    Run *run = opaque;

    run->coded = true;
    on_frame(type, payload, len, run);
}

/* Text of QEMU itself, line by line, so that it mixes with nothing. */
static void take_qemu_text(Run *run, const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (data[i] != '\n') {
            g_string_append_c(run->qemu_text, data[i]);
        } else {
            emu_say("%s", run->qemu_text->str);
            g_string_truncate(run->qemu_text, 0);
        }
    }
}

static void take_console(Run *run, const uint8_t *data, size_t len)
{
    bool panicked = run->console->panicked;

    emu_console_feed(run->console, data, len);
    if (run->console->panicked && !panicked) {
        if (run->end == END_NONE) {
            run->end = END_PANIC;
        }
        g_timeout_add_seconds(PANIC_TEXT_S, quit_loop, run);
    }
}

static gboolean read_guest(gint fd, GIOCondition condition, gpointer opaque)
{
    Run *run = opaque;
    uint8_t buf[65536];
    ssize_t n = read(fd, buf, sizeof(buf));

    (void)condition;
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return G_SOURCE_CONTINUE;
    }
    if (n <= 0) {
        return G_SOURCE_REMOVE;
    }
    if (fd == run->process->console) {
        take_console(run, buf, n);
    } else if (fd == run->process->port) {
        emu_frame_feed(&run->port_frames, buf, n);
    } else {
        take_qemu_text(run, buf, n);
    }
    return G_SOURCE_CONTINUE;
}

/* What is left in the connections when QEMU has ended. */
static void drain(Run *run)
{
    const int fds[] = { run->process->errors, run->process->console, run->process->port };

    for (unsigned i = 0; i < G_N_ELEMENTS(fds); i++) {
        struct pollfd pfd = { .fd = fds[i], .events = POLLIN };

        while (poll(&pfd, 1, 0) > 0 && read_guest(fds[i], G_IO_IN, run)) {
            /* until the end of file */
        }
    }
}

static void on_qemu_exit(GPid pid, gint status, gpointer opaque)
{
    Run *run = opaque;

    g_spawn_close_pid(pid);
    run->process->pid = 0;
    run->qemu_status = status;
    stop_loop(run, END_QEMU);
}

static gboolean on_interrupt(gpointer opaque)
{
    Run *run = opaque;

    run->status = 128 + SIGINT;
    stop_loop(run, END_USER);
    return G_SOURCE_CONTINUE;
}

static gboolean on_terminate(gpointer opaque)
{
    Run *run = opaque;

    run->status = 128 + SIGTERM;
    stop_loop(run, END_USER);
    return G_SOURCE_CONTINUE;
}

static void add_sources(Run *run)
{
    const int fds[] = { run->process->errors, run->process->console, run->process->port };
    unsigned timeout = run->options->timeout;

    for (unsigned i = 0; i < G_N_ELEMENTS(fds); i++) {
        g_unix_set_fd_nonblocking(fds[i], TRUE, NULL);
        g_unix_fd_add(fds[i], G_IO_IN | G_IO_HUP | G_IO_ERR, read_guest, run);
    }
    g_unix_set_fd_nonblocking(run->process->console_in, TRUE, NULL);
    g_child_watch_add(run->process->pid, on_qemu_exit, run);
    g_unix_signal_add(SIGINT, on_interrupt, run);
    g_unix_signal_add(SIGTERM, on_terminate, run);
    g_unix_signal_add(SIGHUP, on_terminate, run);
    emu_launch_hold_signals(false);
    g_timeout_add(PROGRESS_MS, on_progress, run);
    g_timeout_add_seconds(BOOT_LIMIT_S, on_boot_limit, run);
    if (timeout) {
        run->deadline = run->start + (gint64)timeout * G_USEC_PER_SEC;
        g_timeout_add(MIN(timeout, G_MAXUINT / 1000) * 1000, on_limit, run);
    }
}

static void say_log(const Run *run)
{
    if (run->console->lines == 0) {
        emu_say("the guest's UART stayed silent");
        return;
    }
    emu_say("last lines of the kernel log%s%s:", run->options->log ? ", all of it in " : "",
            run->options->log ? run->options->log : "");
    emu_console_print_tail(run->console, stderr);
}

static void say_qemu_end(const Run *run)
{
    if (WIFSIGNALED(run->qemu_status)) {
        emu_say("emulator: QEMU died of signal %d (%s)", WTERMSIG(run->qemu_status),
                g_strsignal(WTERMSIG(run->qemu_status)));
    } else if (WEXITSTATUS(run->qemu_status)) {
        emu_say("emulator: QEMU ended with status %d", WEXITSTATUS(run->qemu_status));
    } else {
        emu_say("emulator: the guest switched the machine off before %s",
                run->running ? "the command ended" : "the command started");
    }
}

static bool qemu_failed(const Run *run)
{
    return run->process->pid == 0 && run->qemu_status != 0;
}

/* The most telling of what happened, and its status. */
static int conclude(Run *run)
{
    if (run->end == END_USER) {
        return run->status;
    }
    if (qemu_failed(run) || (run->end == END_QEMU && !run->console->splat)) {
        say_qemu_end(run);
        if (run->hello || run->console->lines) {
            say_log(run);
        }
        return EMU_STATUS_SETUP;
    }
    if (run->end == END_STOPPED) {
        emu_say("emulator: the machine has stopped itself, for the reason above");
        emu_report_waiting(run->qmp);
        return EMU_STATUS_SETUP;
    }
    if (run->end == END_TIMEOUT) {
        if (!run->qmp) {
            open_qmp(run);
        }
        emu_say("timeout: after %.0f s %s", (g_get_monotonic_time() - run->start) / 1e6,
                run->running ? "the command was still running"
                : run->hello ? "the guest was still being prepared"
                : "the kernel had not started init");
        emu_report_waiting(run->qmp);
        say_log(run);
    }
    if (run->console->splat) {
        emu_say("the kernel's report%s%s:", run->options->log ? ", more of it in " : "",
                run->options->log ? run->options->log : "");
        emu_console_print_report(run->console, stderr);
        if (run->end == END_COMMAND) {
            emu_say("the command's own status was %d", run->status);
        }
        emu_say("kernel: %s", run->console->splat);
        return EMU_STATUS_KERNEL;
    }
    if (run->end == END_REFUSED) {
        say_log(run);
        return EMU_STATUS_SETUP;
    }
    return run->end == END_TIMEOUT ? EMU_STATUS_TIMEOUT : run->status;
}

int emu_run(const EmuOptions *options, EmuProcess *process, bool tty, FILE *log)
{
    Run run = {
        .options = options,
        .process = process,
        .tty = tty,
        .start = g_get_monotonic_time(),
        .loop = g_main_loop_new(NULL, FALSE),
        .qemu_text = g_string_new(NULL),
        .to_guest = g_byte_array_new(),
        .port_frames.func = on_frame,
    };
    int status;

    run.port_frames.opaque = &run;
    run.console = emu_console_new(log, on_coded_frame, &run);
    signal(SIGPIPE, SIG_IGN);
    add_sources(&run);
    g_main_loop_run(run.loop);
    drain(&run);
    emu_terminal_restore();
    emu_progress_clear();
    status = conclude(&run);
    emu_launch_stop(process);
    emu_qmp_close(run.qmp);
    emu_console_free(run.console);
    g_string_free(run.qemu_text, TRUE);
    g_byte_array_unref(run.to_guest);
    g_main_loop_unref(run.loop);
    return status;
}
