/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many models, one TAP line each.
 */
#include "tap.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the list of known facts says about a model: the rest of its line, "" if nothing. */
static const char *known_fact(const char *list, size_t size, const char *name, char *text,
                              size_t room)
{
    const char *line = list, *end = list + size;
    size_t length = strlen(name);

    text[0] = '\0';
    while (line && line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t width = (size_t)((stop ? stop : end) - line);

        if (width > length && strncmp(line, name, length) == 0 && line[length] == ' ') {
            snprintf(text, room, "%.*s", (int)(width - length - 1), line + length + 1);
            break;
        }
        line = stop ? stop + 1 : NULL;
    }
    return text;
}

/* A fact that starts with "fails" makes a failure a skipped test. */
static void print_tap(unsigned number, const char *name, bool good, bool excused, double largest,
                      bool taken, const char *fact)
{
    printf("%sok %u - %s", good || excused ? "" : "not ", number, name);
    if (largest < 0) {
        printf(": could not be run");
    } else if (taken) {
        printf(": largest difference %g", largest);
    }
    if (!good && excused) {
        printf(" # SKIP %s", fact);
    } else if (good && !taken) {
        printf(" # SKIP the delegate leaves it to the CPU");
    } else if (fact[0]) {
        printf(" (%s)", fact);
    }
    putchar('\n');
}

/* The largest difference of one model, -1 if it could not be run; *taken as in the runner. */
static double compare_model(const char *path, const struct options *o, int *taken)
{
    struct runner cpu = { 0 }, npu = { 0 };
    double largest = -1;
    size_t size;
    void *model = read_file(path, &size);

    if (model && runner_open(&cpu, model, size, NULL) && fill_inputs(&cpu, o) &&
        runner_invoke(&cpu) >= 0 && runner_open(&npu, model, size, o->delegate) &&
        fill_inputs(&npu, o) && runner_invoke(&npu) >= 0) {
        largest = compare_outputs(&cpu, &npu, true);
    }
    *taken = npu.taken;
    runner_close(&npu);
    runner_close(&cpu);
    free(model);
    return largest;
}

/* Compares one model and prints its line. */
static bool tap_model(unsigned number, const char *path, const struct options *o,
                      const char *known, size_t known_size)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char fact[160];
    int taken;
    double largest = compare_model(path, o, &taken);
    bool good = largest >= 0 && (!taken || within(largest, o));
    bool excused;

    known_fact(known, known_size, name, fact, sizeof(fact));
    excused = strncmp(fact, "fails", 5) == 0;
    print_tap(number, name, good, excused, largest, taken, fact);
    return good || excused;
}

/*
 * A delegate that crashes must cost one test and not all behind it, so each model has a process
 * of its own.
 */
static bool tap_in_child(unsigned number, const char *path, const struct options *o,
                         const char *known, size_t known_size)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    pid_t child = fork();
    char fact[160];
    int status;
    bool excused;

    if (child == 0) {
        _exit(tap_model(number, path, o, known, known_size) ? GOOD : DIFFERENT);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("tflite-run: no process for a model");
        return false;
    }
    if (WIFEXITED(status)) {
        return WEXITSTATUS(status) == GOOD;
    }
    known_fact(known, known_size, name, fact, sizeof(fact));
    excused = strncmp(fact, "fails", 5) == 0;
    printf("%sok %u - %s: ended by signal %d%s%s\n", excused ? "" : "not ", number, name,
           WTERMSIG(status), excused ? " # SKIP " : "", excused ? fact : "");
    return excused;
}

int tap_models(char **paths, int count, const struct options *o)
{
    size_t known_size = 0;
    char *known = o->known ? read_file(o->known, &known_size) : NULL;
    int status = GOOD;

    if (o->known && !known) {
        return FAILED;
    }
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        if (!tap_in_child((unsigned)i + 1, paths[i], o, known, known_size)) {
            status = DIFFERENT;
        }
    }
    free(known);
    return status;
}
