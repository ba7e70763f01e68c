/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error.h"
#include "launch.h"
#include "../guest-tests/linux/init-protocol.h"

#define MIB (1024 * 1024)
#define CONSOLE_PIPE_SIZE (1024 * 1024)
#define STOP_LIMIT_MS 2000
#define STOP_POLL_US 5000

/* Numbers of the connections in the child. */
enum { FD_CONSOLE = 3, FD_CONSOLE_IN, FD_PORT, FD_QMP };

G_STATIC_ASSERT(FD_QMP + 1 == EMU_LAUNCH_FIRST_KEPT);

__attribute__((format(printf, 2, 3))) static void add(GPtrArray *argv, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    g_ptr_array_add(argv, g_strdup_vprintf(fmt, ap));
    va_end(ap);
}

static void add_option(GPtrArray *argv, const char *name, const char *value)
{
    add(argv, "%s", name);
    add(argv, "%s", value);
}

/* QEMU takes a comma as the end of a value unless it is doubled. */
static char *escape_commas(const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", 0);

    return g_strjoinv(",,", parts);
}

static void add_machine(GPtrArray *argv, const EmuOptions *o, const char *tree)
{
    const EmuMachine *m = o->machine;

    add(argv, "-machine");
    add(argv, "%s%s%s%s%s", m->name, m->options ? "," : "", m->options ? m->options : "",
        tree ? ",driver=" : "", tree ? tree : "");
    if (m->cpu) {
        add_option(argv, "-cpu", m->cpu);
    }
    add(argv, "-smp");
    add(argv, "%u", o->cpus);
    add(argv, "-m");
    add(argv, "%" G_GUINT64_FORMAT "M", o->memory / MIB);
}

/*
 * The kernel's warnings (level 4) must reach the UART, where they are recognized; earlycon shows
 * how a kernel dies that gets no further.  An oops ends the run: what follows one proves nothing.
 * A random base makes kernels isolate their page tables even on a Cortex-A76, which has no need of
 * it, and then every entry to the kernel empties the emulated TLB.
 */
static void add_command_line(GPtrArray *argv, const EmuOptions *o, bool verbose)
{
    add(argv, "-append");
    add(argv, "earlycon console=%s %s panic=-1 oops=panic kpti=0%s%s", o->machine->console,
        verbose ? "loglevel=7" : "quiet loglevel=5", o->append ? " " : "",
        o->append ? o->append : "");
}

static void add_connections(GPtrArray *argv)
{
    add(argv, "-chardev");
    add(argv, "file,id=console,path=/proc/self/fd/%d,input-path=/proc/self/fd/%d", FD_CONSOLE,
        FD_CONSOLE_IN);
    add_option(argv, "-serial", "chardev:console");
    add(argv, "-chardev");
    add(argv, "socket,id=qmp,fd=%d", FD_QMP);
    add_option(argv, "-mon", "chardev=qmp,mode=control");
    add(argv, "-chardev");
    add(argv, "socket,id=port,fd=%d", FD_PORT);
    add_option(argv, "-device", "virtio-serial-device");
    add_option(argv, "-device", "virtserialport,chardev=port,name=" RKNPU_PORT_NAME);
}

char **emu_launch_argv(const EmuOptions *o, const EmuFiles *files, bool attached, bool verbose)
{
    GPtrArray *argv = g_ptr_array_new();

    add(argv, "%s", files->qemu);
    add_machine(argv, o, files->tree);
    add(argv, "-nodefaults");
    add_option(argv, "-display", "none");
    add(argv, "-no-reboot");
    add_option(argv, "-kernel", files->kernel);
    add_option(argv, "-initrd", files->initrd);
    if (files->dtb) {
        add_option(argv, "-dtb", files->dtb);
    }
    for (char **global = o->globals; global && *global; global++) {
        add_option(argv, "-global", *global);
    }
    add_command_line(argv, o, verbose);
    if (attached) {
        add_connections(argv);
    } else {
        add_option(argv, "-serial", "mon:stdio");
    }
    if (o->share) {
        g_autofree char *path = escape_commas(o->share);

        add(argv, "-fsdev");
        add(argv, "local,id=share,path=%s,security_model=none,multidevs=remap", path);
        add_option(argv, "-device", "virtio-9p-device,fsdev=share,mount_tag=" RKNPU_SHARE_TAG);
    }
    g_ptr_array_add(argv, NULL);
    return (char **)g_ptr_array_free(argv, FALSE);
}

void emu_launch_hold_signals(bool hold)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

/* In the child: die with the parent, and take no signals meant for the terminal's job. */
static void prepare_child(gpointer parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    emu_launch_hold_signals(false);
    if (getppid() != GPOINTER_TO_INT(parent)) {
        _exit(1);
    }
}

/*
 * Makes the connections; theirs[] holds QEMU's ends in the order of their numbers.  The UART gets
 * pipes, as large as may be: the kernel waits 10 ms for a UART that does not take a byte and then
 * overwrites it, and a socket is full after some 300 writes of one byte.
 */
static bool connect_process(EmuProcess *process, int theirs[EMU_LAUNCH_FIRST_KEPT - FD_CONSOLE])
{
    int out[2], in[2], port[2], qmp[2];

    if (pipe2(out, O_CLOEXEC) < 0 || pipe2(in, O_CLOEXEC) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, port) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, qmp) < 0) {
        return false;
    }
    fcntl(out[1], F_SETPIPE_SZ, CONSOLE_PIPE_SIZE);
    process->console = out[0];
    process->console_in = in[1];
    process->port = port[0];
    process->qmp = qmp[0];
    memcpy(theirs, (int[]) { out[1], in[0], port[1], qmp[1] }, 4 * sizeof(int));
    return true;
}

bool emu_launch(char **argv, const int *keep, unsigned count, EmuProcess *process,
                GError **error)
{
    const unsigned own = EMU_LAUNCH_FIRST_KEPT - FD_CONSOLE;
    g_autofree int *from = g_new(int, own + count);
    g_autofree int *to = g_new(int, own + count);
    GError *local = NULL;
    bool ok = connect_process(process, from);

    if (!ok) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "cannot make connections for QEMU: %s",
                    g_strerror(errno));
        return false;
    }
    emu_launch_hold_signals(true);
    memcpy(from + own, keep, count * sizeof(int));
    for (unsigned i = 0; i < own + count; i++) {
        to[i] = FD_CONSOLE + i;
    }
    ok = g_spawn_async_with_pipes_and_fds(
        NULL, (const gchar *const *)argv, NULL,
        G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL,
        prepare_child, GINT_TO_POINTER(getpid()), -1, -1, -1,
        from, to, own + count, &process->pid, NULL, NULL, &process->errors, &local);
    if (local) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "cannot start QEMU: %s", local->message);
        g_error_free(local);
    }
    for (unsigned i = 0; i < own; i++) {
        close(from[i]);
    }
    return ok;
}

int emu_launch_stop(EmuProcess *process)
{
    int status = 0;

    if (process->pid <= 0) {
        return 0;
    }
    kill(process->pid, SIGTERM);
    for (int us = 0; waitpid(process->pid, &status, WNOHANG) == 0; us += STOP_POLL_US) {
        if (us >= STOP_LIMIT_MS * 1000) {
            kill(process->pid, SIGKILL);
        }
        g_usleep(STOP_POLL_US);
    }
    process->pid = 0;
    return status;
}

char *emu_launch_quote(char **argv)
{
    GString *line = g_string_new(NULL);

    for (char **word = argv; *word; word++) {
        bool plain = **word && (*word)[strspn(*word, "abcdefghijklmnopqrstuvwxyz"
                                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                              "_-+=:,./@%")] == '\0';
        g_autofree char *quoted = plain ? g_strdup(*word) : g_shell_quote(*word);

        g_string_append_printf(line, "%s%s", line->len ? " " : "", quoted);
    }
    return g_string_free(line, FALSE);
}
