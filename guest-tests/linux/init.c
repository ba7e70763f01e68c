/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The init of rknpu-emu's guest: mounts what programs expect, loads the modules that the set-up
 * file names, runs one command, carries its standard streams to rknpu-emu and powers off.
 * init-protocol.h has the file and the frames.
 *
 * It is a static program with no shell in its way because the time to here is time that every
 * test pays.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "init-protocol.h"

#define MESSAGES_MAX 4096
#define ARGS_MAX 1024
#define PORTS_DIR "/sys/class/virtio-ports"
#define PORT_WAIT_S 5
#define PORT_POLL_US 1000

static struct {
    int fd;                         /* -1: no peer */
    bool coded;                     /* on the UART */
    bool busy;                      /* there: output is on its way to the user */
    bool done;                      /* the guest may go */
} link_to_host = { .fd = -1 };

static char messages[MESSAGES_MAX + 1]; /* lines met before there was a link */

/* The command and its streams. */
static struct {
    pid_t pid;
    bool tty;
    int in, out, err;               /* our ends; with a terminal all three are its master */
    uint8_t pending[FRAME_PAYLOAD_MAX];
    size_t pending_len, pending_done;
    bool eof;
} cmd = { .in = -1, .out = -1, .err = -1 };

/* A frame on its way in. */
static struct {
    uint8_t data[FRAME_HEADER + FRAME_PAYLOAD_MAX];
    size_t len;
    uint8_t high;                   /* first half of a coded byte */
} incoming;

static void write_all(int fd, const void *data, size_t len)
{
    const char *p = data;

    while (len > 0) {
        ssize_t n = write(fd, p, len);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            poll(&(struct pollfd) { .fd = fd, .events = POLLOUT }, 1, -1);
            continue;
        }
        if (n <= 0) {
            return;
        }
        p += n;
        len -= n;
    }
}

static void send_bytes(const uint8_t *data, size_t len)
{
    uint8_t coded[1024];
    size_t used = 0;

    if (!link_to_host.coded) {
        write_all(link_to_host.fd, data, len);
        return;
    }
    for (size_t i = 0; i < len; i++) {
        coded[used++] = UART_CODE_HIGH(data[i]);
        coded[used++] = UART_CODE_LOW(data[i]);
        if (used == sizeof(coded) || i == len - 1) {
            write_all(link_to_host.fd, coded, used);
            used = 0;
        }
    }
}

static void send_frame(char type, const void *payload, size_t len)
{
    static uint8_t frame[FRAME_HEADER + FRAME_PAYLOAD_MAX];

    if (link_to_host.fd < 0) {
        return;
    }
    frame[0] = type;
    frame[1] = len & 0xff;
    frame[2] = len >> 8;
    memcpy(frame + FRAME_HEADER, payload, len);
    send_bytes(frame, FRAME_HEADER + len);
}

/* One line for the host; kept until there is a link. */
__attribute__((format(printf, 1, 2))) static void message(const char *fmt, ...)
{
    char line[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    if (link_to_host.fd >= 0) {
        send_frame(FRAME_MESSAGE, line, strlen(line));
    } else {
        size_t used = strlen(messages);

        snprintf(messages + used, MESSAGES_MAX - used, "%s\n", line);
    }
}

static void power_off(void)
{
    sync();
    umount(RKNPU_SHARE_PATH);
    reboot(RB_POWER_OFF);
    for (;;) {
        pause();
    }
}

/* The guest is not what was asked for: say so and stop. */
__attribute__((format(printf, 1, 2))) static void fail(const char *fmt, ...)
{
    char line[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    if (link_to_host.fd >= 0) {
        send_frame(FRAME_FAIL, line, strlen(line));
    } else {
        printf("rknpu-init: %s\n", line);
        fflush(stdout);
    }
    power_off();
}

static void mount_at(const char *type, const char *dir, const char *options)
{
    mkdir(dir, 0755);
    mount(type, dir, type, 0, options);
}

static void mount_all(void)
{
    mount_at("devtmpfs", "/dev", NULL);
    mount_at("proc", "/proc", NULL);
    mount_at("sysfs", "/sys", NULL);
    mount_at("debugfs", "/sys/kernel/debug", NULL);
    mount_at("devpts", "/dev/pts", "ptmxmode=0666");
    mount_at("tmpfs", "/dev/shm", NULL);
    mount_at("tmpfs", "/tmp", NULL);
    mount_at("tmpfs", "/run", NULL);
    symlink("/proc/self/fd", "/dev/fd");
    symlink("fd/0", "/dev/stdin");
    symlink("fd/1", "/dev/stdout");
    symlink("fd/2", "/dev/stderr");
}

/* True when the word is "NAME.PARAMETER" of this module; - and _ are one letter in such names. */
static bool is_parameter_of(const char *word, const char *name)
{
    for (; *name && strcmp(name, ".ko") != 0; name++, word++) {
        if ((*word == '-' ? '_' : *word) != (*name == '-' ? '_' : *name)) {
            return false;
        }
    }
    return *word == '.';
}

/* What the kernel's command line says for the module, as modprobe(8) hands it over. */
static void module_parameters(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char line[4096] = "", *rest = line;
    int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
    size_t used = 0;

    if (fd >= 0) {
        ssize_t n = read(fd, line, sizeof(line) - 1);

        line[n > 0 ? n : 0] = '\0';
        close(fd);
    }
    out[0] = '\0';
    for (char *word; (word = strsep(&rest, " \n"));) {
        if (is_parameter_of(word, name) && used + strlen(word) + 1 < size) {
            used += snprintf(out + used, size - used, "%s%s", used ? " " : "",
                             strchr(word, '.') + 1);
        }
    }
}

static bool load_module(const char *path)
{
    char parameters[1024];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok;
    int error;

    module_parameters(path, parameters, sizeof(parameters));
    ok = fd >= 0 && (syscall(SYS_finit_module, fd, parameters, 0) == 0 || errno == EEXIST);
    error = errno;

    if (fd >= 0) {
        close(fd);
    }
    errno = error;
    return ok;
}

static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

    if (fd >= 0) {
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Opens the port that carries our name; -1 when no port has it (yet). */
static int open_port(void)
{
    glob_t ports;
    char text[64];
    int fd = -1;

    if (glob(PORTS_DIR "/*/name", 0, NULL, &ports) != 0) {
        return -1;
    }
    for (size_t i = 0; i < ports.gl_pathc && fd < 0; i++) {
        if (read_text(ports.gl_pathv[i], text, sizeof(text)) &&
            strncmp(text, RKNPU_PORT_NAME, strlen(RKNPU_PORT_NAME)) == 0) {
            const char *port = ports.gl_pathv[i] + strlen(PORTS_DIR "/");
            char dev[64];

            snprintf(dev, sizeof(dev), "/dev/%.*s", (int)strcspn(port, "/"), port);
            fd = open(dev, O_RDWR | O_CLOEXEC);
        }
    }
    globfree(&ports);
    return fd;
}

/* A virtio console device that a driver has taken: its ports appear a moment later. */
static bool port_expected(void)
{
    glob_t devices;
    bool found = glob("/sys/bus/virtio/drivers/virtio_console/virtio*", 0, NULL, &devices) == 0;

    if (found) {
        globfree(&devices);
    }
    return found;
}

/* The console UART as a raw byte pipe; also its name, for those who want a terminal. */
static int open_uart(void)
{
    char active[128], path[160];
    char *name;
    int fd;

    if (!read_text("/sys/class/tty/console/active", active, sizeof(active))) {
        return -1;
    }
    active[strcspn(active, "\n")] = '\0';
    name = strrchr(active, ' ');
    snprintf(path, sizeof(path), "/dev/%s", name ? name + 1 : active);
    fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
    return fd;
}

static void connect_host(void)
{
    time_t start = time(NULL);
    struct utsname uts;
    struct termios raw;

    while (link_to_host.fd < 0 && time(NULL) - start < PORT_WAIT_S && port_expected()) {
        link_to_host.fd = open_port();
        if (link_to_host.fd < 0) {
            usleep(PORT_POLL_US);
        }
    }
    if (link_to_host.fd < 0) {
        link_to_host.fd = open_uart();
        link_to_host.coded = true;
        if (tcgetattr(link_to_host.fd, &raw) == 0) {
            cfmakeraw(&raw);
            tcsetattr(link_to_host.fd, TCSANOW, &raw);
        }
    }
    uname(&uts);
    send_frame(FRAME_HELLO, uts.release, strlen(uts.release));
    for (char *line = messages; *line; line += strcspn(line, "\n") + 1) {
        send_frame(FRAME_MESSAGE, line, strcspn(line, "\n"));
    }
}

static void mount_share(void)
{
    mkdir("/mnt", 0755);
    mkdir(RKNPU_SHARE_PATH, 0755);
    if (mount(RKNPU_SHARE_TAG, RKNPU_SHARE_PATH, "9p", 0,
              "trans=virtio,version=9p2000.L,msize=131072") < 0) {
        fail("cannot mount the share (%s): the guest kernel needs 9p over virtio",
             strerror(errno));
    }
}

/* Pipes or a terminal between us and the command; the command's ends in theirs[]. */
static void open_streams(const char *tty, int theirs[3])
{
    int pipes[3][2];

    if (tty) {
        struct winsize ws = { 0 };
        int master = open("/dev/ptmx", O_RDWR | O_CLOEXEC | O_NOCTTY);
        int unlock = 0;

        sscanf(tty, "%hux%hu", &ws.ws_row, &ws.ws_col);
        ioctl(master, TIOCSPTLCK, &unlock);
        ioctl(master, TIOCSWINSZ, &ws);
        theirs[0] = ioctl(master, TIOCGPTPEER, O_RDWR | O_CLOEXEC | O_NOCTTY);
        theirs[1] = theirs[2] = theirs[0];
        cmd.tty = true;
        cmd.in = cmd.out = master;
    } else {
        for (int i = 0; i < 3; i++) {
            if (pipe2(pipes[i], O_CLOEXEC) < 0) {
                fail("cannot make a pipe: %s", strerror(errno));
            }
            theirs[i] = pipes[i][i == 0 ? 0 : 1];
        }
        cmd.in = pipes[0][1];
        cmd.out = pipes[1][0];
        cmd.err = pipes[2][0];
        fcntl(cmd.err, F_SETFL, O_NONBLOCK);
    }
    fcntl(cmd.in, F_SETFL, O_NONBLOCK);
    fcntl(cmd.out, F_SETFL, O_NONBLOCK);
}

static void exec_command(char **argv, const int fds[3], bool tty)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setsid();
    if (tty) {
        ioctl(fds[0], TIOCSCTTY, 0);
    }
    for (int i = 0; i < 3; i++) {
        dup2(fds[i], i);
    }
    chdir(getenv("HOME"));
    if (argv[0]) {
        execvp(argv[0], argv);
    } else {
        execl("/bin/sh", "-sh", NULL);
    }
    dprintf(2, "rknpu-init: %s: %s\n", argv[0] ? argv[0] : "/bin/sh", strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

static void start_command(char **argv, const int fds[3], bool tty)
{
    cmd.pid = fork();
    if (cmd.pid < 0) {
        fail("cannot start a process: %s", strerror(errno));
    }
    if (cmd.pid == 0) {
        exec_command(argv, fds, tty);
    }
    close(fds[0]);
    if (!tty) {
        close(fds[1]);
        close(fds[2]);
    }
}

/* Passes what can be passed of the standard input without waiting. */
static void pump_input(void)
{
    while (cmd.in >= 0 && cmd.pending_done < cmd.pending_len) {
        ssize_t n = write(cmd.in, cmd.pending + cmd.pending_done,
                          cmd.pending_len - cmd.pending_done);

        if (n < 0 && errno == EAGAIN) {
            return;
        }
        /* The command closed its input: the rest has nowhere to go. */
        cmd.pending_done = n < 0 ? cmd.pending_len : cmd.pending_done + n;
    }
    if (cmd.pending_len > 0) {
        cmd.pending_len = cmd.pending_done = 0;
        send_frame(FRAME_ACK, NULL, 0);
    }
    if (cmd.eof && cmd.in >= 0 && !cmd.tty) {
        close(cmd.in);
        cmd.in = -1;
    }
}

static void handle_frame(char type, const uint8_t *payload, size_t len)
{
    switch (type) {
    case FRAME_STDIN:
        memcpy(cmd.pending, payload, len);
        cmd.pending_len = len;
        cmd.pending_done = 0;
        break;
    case FRAME_EOF:
        cmd.eof = true;
        break;
    case FRAME_TAKEN:
        link_to_host.busy = false;
        break;
    case FRAME_DONE:
        link_to_host.done = true;
        break;
    case FRAME_WINSIZE:
        if (len == 4 && cmd.tty) {
            struct winsize ws = {
                .ws_row = payload[0] | payload[1] << 8,
                .ws_col = payload[2] | payload[3] << 8,
            };

            ioctl(cmd.in, TIOCSWINSZ, &ws);
        }
        break;
    }
    pump_input();
}

static void take_byte(uint8_t byte)
{
    size_t payload;

    if (link_to_host.coded) {
        if (!UART_IS_CODED(byte)) {
            return;
        }
        if (!UART_IS_LOW(byte)) {
            incoming.high = byte << 4;
            return;
        }
        byte = incoming.high | (byte & 15);
    }
    incoming.data[incoming.len++] = byte;
    if (incoming.len < FRAME_HEADER) {
        return;
    }
    payload = incoming.data[1] | incoming.data[2] << 8;
    if (incoming.len == FRAME_HEADER + payload) {
        handle_frame(incoming.data[0], incoming.data + FRAME_HEADER, payload);
        incoming.len = 0;
    }
}

/* Reads from the host; false when the host is gone. */
static bool pump_link(void)
{
    uint8_t buf[4096];
    ssize_t n = read(link_to_host.fd, buf, sizeof(buf));

    for (ssize_t i = 0; i < n; i++) {
        take_byte(buf[i]);
    }
    return n > 0;
}

/* Passes a piece of what the command has written; closes the stream at its end. */
static bool pump_output(int *fd, char type)
{
    uint8_t buf[16384];
    ssize_t n = *fd < 0 ? -1 : read(*fd, buf, sizeof(buf));

    if (n > 0) {
        link_to_host.busy = link_to_host.coded;
        send_frame(type, buf, n);
        return true;
    }
    if (*fd >= 0 && (n == 0 || errno != EAGAIN)) {
        if (!cmd.tty) {
            close(*fd);
        }
        *fd = -1;
    }
    return false;
}

/* The command has ended: what its pipes still hold fits the connection. */
static void drain_output(void)
{
    while (pump_output(&cmd.out, FRAME_STDOUT) || pump_output(&cmd.err, FRAME_STDERR)) {
        /* until both are empty */
    }
}

/* Collects dead children; true when the command is among them, with its shell-style status. */
static bool reap(int *status)
{
    bool done = false;
    int wstatus;
    pid_t pid;

    while ((pid = waitpid(-1, &wstatus, WNOHANG)) > 0) {
        if (pid == cmd.pid) {
            done = true;
            *status = WIFSIGNALED(wstatus) ? 128 + WTERMSIG(wstatus) : WEXITSTATUS(wstatus);
        }
    }
    return done;
}

static int serve_command(int signals)
{
    struct signalfd_siginfo info;
    int status = 0;

    for (;;) {
        struct pollfd fds[] = {
            { .fd = signals, .events = POLLIN },
            { .fd = link_to_host.fd, .events = POLLIN },
            { .fd = link_to_host.busy ? -1 : cmd.out, .events = POLLIN },
            { .fd = link_to_host.busy ? -1 : cmd.err, .events = POLLIN },
            { .fd = cmd.pending_len ? cmd.in : -1, .events = POLLOUT },
        };

        if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0) {
            continue;
        }
        if (fds[2].revents) {
            pump_output(&cmd.out, FRAME_STDOUT);
        }
        if (fds[3].revents && !link_to_host.busy) {
            pump_output(&cmd.err, FRAME_STDERR);
        }
        if (fds[4].revents) {
            pump_input();
        }
        if (fds[1].revents && !pump_link()) {
            return status;
        }
        if (fds[0].revents && read(signals, &info, sizeof(info)) > 0 && reap(&status)) {
            drain_output();
            return status;
        }
    }
}

static void wait_until_done(void)
{
    time_t end = time(NULL) + DONE_LIMIT_S;

    while (!link_to_host.done && time(NULL) < end) {
        struct pollfd fd = { .fd = link_to_host.fd, .events = POLLIN };

        if (poll(&fd, 1, 1000) > 0 && !pump_link()) {
            return;
        }
    }
}

static void run_for_host(char **argv, const char *tty)
{
    sigset_t chld;
    int theirs[3];
    uint8_t status;
    int signals;

    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, NULL);
    signals = signalfd(-1, &chld, SFD_CLOEXEC);

    open_streams(tty, theirs);
    start_command(argv, theirs, tty);
    status = serve_command(signals);
    send_frame(FRAME_EXIT, &status, 1);
    wait_until_done();
}

static void run_on_console(char **argv)
{
    int fd = open_uart();
    int status;

    start_command(argv, (int[]) { fd, fd, fd }, true);
    while (!reap(&status)) {
        usleep(PORT_POLL_US);
    }
    printf("rknpu-init: exit status %d\n", status);
    fflush(stdout);
}

/* Set-up entries in order; returns the number of words of the command. */
static int carry_out(char *setup, size_t len, char **argv, const char **tty, bool *plain)
{
    int argc = 0;

    for (char *entry = setup; entry < setup + len; entry += strlen(entry) + 1) {
        char *value = strchr(entry, '=');

        if (!value) {
            continue;
        }
        *value++ = '\0';
        if (strcmp(entry, "plain") == 0) {
            *plain = true;
        } else if (strcmp(entry, "tty") == 0) {
            *tty = value;
        } else if (strcmp(entry, "host") == 0) {
            sethostname(value, strlen(value));
        } else if (strcmp(entry, "env") == 0) {
            putenv(value);
        } else if (strcmp(entry, "module") == 0 && !load_module(value)) {
            message("cannot load %s: %s", value, strerror(errno));
        } else if (strcmp(entry, "need") == 0 && !load_module(value)) {
            fail("cannot load %s: %s; the kernel log says why", value, strerror(errno));
        } else if (strcmp(entry, "hello") == 0 && !*plain) {
            connect_host();
        } else if (strcmp(entry, "share") == 0) {
            mount_share();
        } else if (strcmp(entry, "arg") == 0 && argc < ARGS_MAX) {
            argv[argc++] = value;
        }
        entry = value;
    }
    return argc;
}

/* The set-up file with a NUL behind it, so that every entry is a string. */
static char *read_setup(size_t *len)
{
    int fd = open(RKNPU_SETUP_FILE, O_RDONLY | O_CLOEXEC);
    struct stat st;
    char *setup;
    ssize_t n;

    if (fd < 0 || fstat(fd, &st) < 0) {
        fail("%s: %s", RKNPU_SETUP_FILE, strerror(errno));
    }
    setup = calloc(1, st.st_size + 1);
    n = setup ? read(fd, setup, st.st_size) : -1;
    if (n < 0) {
        fail("%s: %s", RKNPU_SETUP_FILE, strerror(errno));
    }
    close(fd);
    *len = n;
    return setup;
}

/* Applet names as links, so that scripts find them by PATH. */
static void install_busybox(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        execl("/bin/busybox", "busybox", "--install", "-s", NULL);
        _exit(127);
    }
    if (pid > 0) {
        waitpid(pid, NULL, 0);
    }
}

int main(void)
{
    static char *argv[ARGS_MAX + 1];
    const char *tty = NULL;
    bool plain = false;
    size_t len;
    char *setup;

    signal(SIGPIPE, SIG_IGN);
    mount_all();
    setup = read_setup(&len);
    if (len >= strlen("plain=1") && strcmp(setup, "plain=1") == 0) {
        puts(RKNPU_INIT_MARK);
        fflush(stdout);
    }
    setenv("HOME", "/root", 1);
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", 1);
    carry_out(setup, len, argv, &tty, &plain);
    install_busybox();
    if (plain) {
        run_on_console(argv);
    } else {
        send_frame(FRAME_RUN, NULL, 0);
        run_for_host(argv, tty);
    }
    power_off();
}
