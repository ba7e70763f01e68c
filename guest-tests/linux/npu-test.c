/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TAP and a soak; npu-mm.c has the file rknpu/mm. */
#include "npu-test.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int kernel_log = -1;
static unsigned steps, failures;

static void kernel_lines(bool print)
{
    char line[1024];
    ssize_t n;

    while ((n = read(kernel_log, line, sizeof(line) - 1)) > 0) {
        char *text;

        line[n] = 0;
        line[strcspn(line, "\n")] = 0;
        text = strchr(line, ';');
        if (print && text) {
            printf("# kernel: %s\n", text + 1);
        }
    }
}

void tap_follow_kernel_log(void)
{
    kernel_log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
    kernel_lines(false);
}

bool tap(bool good, const char *format, ...)
{
    va_list args;

    printf("%sok %u - ", good ? "" : "not ", ++steps);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    failures += !good;
    kernel_lines(!good);
    return good;
}

void tap_skip(const char *what, const char *why)
{
    printf("ok %u - %s # SKIP %s\n", ++steps, what, why);
}

int tap_end(void)
{
    printf("1..%u\n", steps);
    return failures ? 1 : 0;
}

void soak(int (*process)(unsigned number, unsigned rounds), unsigned total)
{
    unsigned processes = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned each = (total + processes - 1) / processes;
    int used = mm_used();

    fflush(stdout);
    for (unsigned i = 0; i < processes; i++) {
        if (fork() == 0) {
            _exit(process(i, each));
        }
    }
    for (unsigned i = 0; i < processes; i++) {
        int status;

        wait(&status);
        tap(WIFEXITED(status) && !WEXITSTATUS(status), "%u rounds of allocate, submit, free", each);
    }
    tap(mm_used() == used, "SRAM in use is what it was, %d chunks", used);
}
