/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Time from the start of QEMU to the guest's init: our machine against QEMU's own board `virt`,
 * with the same binary, kernel, initramfs, memory and CPUs.
 *
 *   boot [RUNS]
 *
 * The runs of the two alternate, so that a load of the host that comes and goes meets both alike;
 * the medians are compared.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <glib.h>

#include "../guest-tests/linux/init-protocol.h"

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

/* One boot; seconds, or a negative number when init was not reached. */
static double boot_once(const Command *command)
{
    g_autofree char *line = g_strdup_printf("exec %s </dev/null", command->line);
    const char *argv[] = { "/bin/sh", "-c", line, NULL };
    gint64 start = g_get_monotonic_time(), end;
    GPid pid;
    bool ok;
    int out;

    if (!g_spawn_async_with_pipes(NULL, (char **)argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL,
                                  NULL, &pid, NULL, &out, NULL, NULL)) {
        return -1;
    }
    ok = wait_for_mark(out, start);
    end = g_get_monotonic_time();
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(out);
    return ok ? (end - start) / 1e6 : -1;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof(*values), compare);
    return count % 2 ? values[count / 2]
                     : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static bool measure(const Command *commands, unsigned runs, double result[2])
{
    double seconds[2][MAX_RUNS];

    for (unsigned run = 0; run < runs; run++) {
        for (unsigned m = 0; m < 2; m++) {
            seconds[m][run] = boot_once(&commands[m]);
            if (seconds[m][run] < 0) {
                return false;
            }
        }
    }
    for (unsigned m = 0; m < 2; m++) {
        result[m] = median(seconds[m], runs);
    }
    return true;
}

static bool bench_cpus(const char *emu, unsigned cpus, unsigned runs, FILE *json)
{
    Command commands[2] = { 0 };
    double result[2];
    bool ok = make_command(emu, machines[0], cpus, &commands[0]) &&
              make_command(emu, machines[1], cpus, &commands[1]);

    if (ok) {
        share_files(&commands[0], &commands[1]);
        ok = measure(commands, runs, result);
    }
    if (ok) {
        printf("boot to init, %u CPU%-3s %-8s %6.2f s   " REFERENCE " %6.2f s   ratio %.2f\n",
               cpus, cpus > 1 ? "s" : "", machines[0], result[0], result[1],
               result[0] / result[1]);
        fprintf(json, "%s  {\"name\": \"boot to init, %u CPU\", \"value\": %.3f, \"unit\": \"s\", "
                "\"reference\": \"" REFERENCE "\", \"reference_value\": %.3f, \"ratio\": %.3f}",
                ftell(json) > 2 ? ",\n" : "", cpus, result[0], result[1], result[0] / result[1]);
    }
    command_clear(&commands[0]);
    command_clear(&commands[1]);
    return ok;
}

int main(int argc, char **argv)
{
    const char *build = g_getenv("RKNPU_BUILD") ? g_getenv("RKNPU_BUILD") : "build";
    g_autofree char *emu = g_build_filename(build, "rknpu-emu", NULL);
    g_autofree char *dir = g_build_filename(build, "bench", NULL);
    g_autofree char *path = g_build_filename(dir, "boot.json", NULL);
    guint64 runs = DEFAULT_RUNS;
    bool ok = true;
    FILE *json;

    if (argc > 1 && (!g_ascii_string_to_unsigned(argv[1], 10, 1, MAX_RUNS, &runs, NULL))) {
        fprintf(stderr, "boot: '%s' is no number of runs from 1 to %u\n", argv[1], MAX_RUNS);
        return 2;
    }
    g_mkdir_with_parents(dir, 0755);
    json = fopen(path, "w");
    if (!json) {
        fprintf(stderr, "boot: %s: %s\n", path, g_strerror(errno));
        return 1;
    }
    fputs("[\n", json);
    for (size_t i = 0; ok && i < G_N_ELEMENTS(cpu_counts); i++) {
        ok = bench_cpus(emu, cpu_counts[i], runs, json);
    }
    fputs("\n]\n", json);
    fclose(json);
    return ok ? 0 : 1;
}
