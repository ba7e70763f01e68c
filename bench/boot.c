/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Time from the start of QEMU to the guest's init: our machine against QEMU's own board `virt`,
 * with the same binary, kernel, initramfs, memory and CPUs.
 *
 *   boot [RUNS]
 *
 * The runs of the two alternate, so that a load of the host that comes and goes meets both alike;
 * the medians are compared: of the time that passes, and of the host's CPU time, which other
 * programs disturb less.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <glib.h>

#include "../guest-tests/linux/init-protocol.h"
#include "report.h"

#define DEFAULT_RUNS 5
#define MAX_RUNS 100
#define BOOT_LIMIT_US (120 * G_USEC_PER_SEC)
#define REFERENCE "virt"

static const char *const machines[] = { "rk3588", REFERENCE };
static const unsigned cpu_counts[] = { 1, 4 };

/* The QEMU command of one machine, and the folder that its files are in. */
typedef struct {
    char *line;
    char *dir;
} Command;

static bool make_command(const char *emu, const char *machine, unsigned cpus, Command *command)
{
    g_autofree char *smp = g_strdup_printf("%u", cpus);
    const char *argv[] = {
        emu, "run", "--machine", machine, "--smp", smp, "--memory", "2G", "--dry-run", "--", "true",
        NULL,
    };
    g_autofree char *words = NULL;
    g_autoptr(GError) error = NULL;
    const char *dir;
    int status;

    if (!g_spawn_sync(NULL, (char **)argv, NULL, 0, NULL, NULL, &command->line, &words, &status,
                      &error)) {
        fprintf(stderr, "boot: %s: %s\n", emu, error->message);
        return false;
    }
    dir = strstr(words, "files are in ");
    if (status != 0 || !dir) {
        fprintf(stderr, "boot: %s", words);
        return false;
    }
    dir += strlen("files are in ");
    command->dir = g_strndup(dir, strcspn(dir, ";"));
    return true;
}

/* Both machines boot the files of the first. */
static void share_files(const Command *first, Command *second)
{
    g_auto(GStrv) parts = g_strsplit(second->line, second->dir, 0);

    g_free(second->line);
    second->line = g_strjoinv(first->dir, parts);
}

static void command_clear(Command *command)
{
    if (command->dir) {
        const char *argv[] = { "rm", "-rf", command->dir, NULL };

        g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
                     NULL);
    }
    g_free(command->line);
    g_free(command->dir);
}

/* Reads the guest's console until init's mark; false at end of file or at the limit. */
static bool wait_for_mark(int fd, gint64 start)
{
    g_autoptr(GString) text = g_string_new(NULL);

    while (!strstr(text->str, RKNPU_INIT_MARK)) {
        gint64 left = start + BOOT_LIMIT_US - g_get_monotonic_time();
        struct pollfd pfd = { .fd = fd, .events = POLLIN };
        char buf[4096];
        ssize_t n;

        if (left <= 0 || poll(&pfd, 1, left / 1000 + 1) <= 0 ||
            (n = read(fd, buf, sizeof(buf))) <= 0) {
            fprintf(stderr, "boot: no init after %.0f s; the console's last words:\n%s\n",
                    (g_get_monotonic_time() - start) / 1e6,
                    text->str + (text->len > 2000 ? text->len - 2000 : 0));
            return false;
        }
        g_string_append_len(text, buf, n);
    }
    return true;
}

enum { PASSED, CPU, TIMES };

static const char *const time_names[TIMES] = { "boot to init", "boot to init, CPU time" };

static double seconds_of(struct timeval t)
{
    return t.tv_sec + t.tv_usec / 1e6;
}

/* One boot, in seconds of both kinds; false when init was not reached. */
static bool boot_once(const Command *command, double seconds[TIMES])
{
    g_autofree char *line = g_strdup_printf("exec %s </dev/null", command->line);
    const char *argv[] = { "/bin/sh", "-c", line, NULL };
    gint64 start = g_get_monotonic_time();
    struct rusage usage;
    GPid pid;
    bool ok;
    int out;

    if (!g_spawn_async_with_pipes(NULL, (char **)argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL,
                                  NULL, &pid, NULL, &out, NULL, NULL)) {
        return false;
    }
    ok = wait_for_mark(out, start);
    seconds[PASSED] = (g_get_monotonic_time() - start) / 1e6;
    kill(pid, SIGKILL);
    wait4(pid, NULL, 0, &usage);
    seconds[CPU] = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    close(out);
    return ok;
}

static bool measure(const Command *commands, unsigned runs, double result[TIMES][2])
{
    double all[TIMES][2][MAX_RUNS];

    for (unsigned run = 0; run < runs; run++) {
        for (unsigned m = 0; m < 2; m++) {
            double seconds[TIMES];

            if (!boot_once(&commands[m], seconds)) {
                return false;
            }
            all[PASSED][m][run] = seconds[PASSED];
            all[CPU][m][run] = seconds[CPU];
        }
    }
    for (unsigned t = 0; t < TIMES; t++) {
        result[t][0] = bench_median(all[t][0], runs);
        result[t][1] = bench_median(all[t][1], runs);
    }
    return true;
}

static bool bench_cpus(const char *emu, unsigned cpus, unsigned runs, BenchReport *report)
{
    Command commands[2] = { 0 };
    double result[TIMES][2];
    bool ok = make_command(emu, machines[0], cpus, &commands[0]) &&
              make_command(emu, machines[1], cpus, &commands[1]);

    if (ok) {
        share_files(&commands[0], &commands[1]);
        ok = measure(commands, runs, result);
    }
    for (unsigned t = 0; ok && t < TIMES; t++) {
        g_autofree char *name =
            g_strdup_printf("%s, %u CPU%s", time_names[t], cpus, cpus > 1 ? "s" : "");

        bench_report_add(report, name, result[t][0], "s", REFERENCE, result[t][1]);
    }
    command_clear(&commands[0]);
    command_clear(&commands[1]);
    return ok;
}

int main(int argc, char **argv)
{
    unsigned runs = bench_runs(argc, argv, DEFAULT_RUNS, MAX_RUNS);
    g_autofree char *emu = g_build_filename(bench_build(), "rknpu-emu", NULL);
    BenchReport *report = bench_report_new("boot");
    bool ok = true;

    for (size_t i = 0; ok && i < G_N_ELEMENTS(cpu_counts); i++) {
        ok = bench_cpus(emu, cpu_counts[i], runs, report);
    }
    return bench_report_finish(report) || !ok;
}
