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
#define STOP_LIMIT_MS 2000
#define STOP_POLL_US 5000

/* Numbers of the connections in the child. */
enum { FD_CONSOLE = 3, FD_PORT, FD_QMP };

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

static void add_machine(GPtrArray *argv, const EmuOptions *o)
{
    const EmuMachine *m = o->machine;

    add(argv, "-machine");
    add(argv, "%s%s%s%s%s", m->name, m->options ? "," : "", m->options ? m->options : "",
        o->driver ? ",driver=" : "", o->driver ? o->driver : "");
    if (m->cpu) {
        add_option(argv, "-cpu", m->cpu);
    }
    add(argv, "-smp");
    add(argv, "%u", o->cpus);
    add(argv, "-m");
    add(argv, "%" G_GUINT64_FORMAT "M", o->memory / MIB);
}

/*
 * The kernel's warnings (level 4) must reach the UART, where they are recognized.  An oops ends
 * the run: what follows one proves nothing.
 */
static void add_command_line(GPtrArray *argv, const EmuMachine *machine, bool verbose)
{
    add(argv, "-append");
    add(argv, "console=%s %s panic=-1 oops=panic", machine->console,
        verbose ? "loglevel=7" : "quiet loglevel=5");
}

static void add_connections(GPtrArray *argv)
{
    add(argv, "-chardev");
    add(argv, "socket,id=console,fd=%d", FD_CONSOLE);
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
    add_machine(argv, o);
    add(argv, "-nodefaults");
    add_option(argv, "-display", "none");
    add(argv, "-no-reboot");
    add_option(argv, "-kernel", files->kernel);
    add_option(argv, "-initrd", files->initrd);
    if (files->dtb) {
        add_option(argv, "-dtb", files->dtb);
    }
    add_command_line(argv, o->machine, verbose);
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

/* In the child: die with the parent, and take no signals meant for the terminal's job. */
static void prepare_child(gpointer parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != GPOINTER_TO_INT(parent)) {
        _exit(1);
    }
}

bool emu_launch(char **argv, const int *keep, unsigned count, EmuProcess *process,
                GError **error)
{
    int *const ours[] = { &process->console, &process->port, &process->qmp };
    GArray *from = g_array_new(FALSE, FALSE, sizeof(int));
    GArray *to = g_array_new(FALSE, FALSE, sizeof(int));
    GError *local = NULL;
    int pair[2];
    bool ok = true;

    for (unsigned i = 0; i < G_N_ELEMENTS(ours) && ok; i++) {
        ok = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0;
        *ours[i] = pair[0];
        g_array_append_val(from, pair[1]);
    }
    if (!ok) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "socketpair: %s", g_strerror(errno));
    }
    g_array_append_vals(from, keep, count);
    for (unsigned i = 0; i < from->len; i++) {
        int fd = FD_CONSOLE + i;

        g_array_append_val(to, fd);
    }
    ok = ok && g_spawn_async_with_pipes_and_fds(
        NULL, (const gchar *const *)argv, NULL,
        G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL,
        prepare_child, GINT_TO_POINTER(getpid()), -1, -1, -1,
        (const gint *)from->data, (const gint *)to->data, from->len,
        &process->pid, NULL, NULL, &process->errors, &local);
    if (local) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "cannot start QEMU: %s", local->message);
        g_error_free(local);
    }
    for (unsigned i = 0; i + count < from->len; i++) {
        close(g_array_index(from, int, i));
    }
    g_array_unref(from);
    g_array_unref(to);
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
