/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tflite-run: runs a TensorFlow Lite model in the guest, on the CPU, on the NPU, or on both and
 * compares. `tflite-run --help` prints the options.
 *
 * Exit status: 0 all right, 1 a comparison failed, 2 wrong use, 3 the model could not be run,
 * 4 there was nothing to compare because the delegate took no operation.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common.h"
#include "layers.h"
#include "tap.h"
#include "tensor.h"

#define MAX_TOP 20
#define MAX_REPEAT 1000

static const char usage[] =
    "usage: tflite-run [OPTION]... MODEL\n"
    "  --delegate LIB    run through this delegate library (the NPU)\n"
    "  --compare         run on the CPU too and compare the outputs\n"
    "  --per-layer       cut the model into operations; compare each on equal input\n"
    "  --max-diff N      largest difference that is accepted (default: any)\n"
    "  --input FILE      PPM picture or raw bytes (default: random numbers)\n"
    "  --seed N          seed of the random numbers (default 1)\n"
    "  --top N           print the N best classes\n"
    "  --labels FILE     names of the classes, one a line\n"
    "  --expect N        the best class must be this one\n"
    "  --repeat N        run N times, print fastest and median time (default 1)\n"
    "  --output FILE     write the outputs, one behind the other\n"
    "  --tap             many MODELs: compare each, print a TAP line each\n"
    "  --known FILE      for --tap: lines of MODEL-NAME and what is known about it\n";

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Runs o->repeat times; *fastest and *median get seconds. */
static bool run(struct runner *r, const struct options *o, double *fastest, double *median)
{
    static double times[MAX_REPEAT];

    for (unsigned i = 0; i < o->repeat; i++) {
        times[i] = runner_invoke(r);
        if (times[i] < 0) {
            return false;
        }
    }
    qsort(times, o->repeat, sizeof(times[0]), by_size);
    *fastest = times[0];
    *median = times[o->repeat / 2];
    return true;
}

static bool write_outputs(const struct runner *r, const char *path)
{
    FILE *f = fopen(path, "wb");
    bool good = f != NULL;

    for (unsigned i = 0; good && i < runner_output_count(r); i++) {
        const TfLiteTensor *t = runner_output(r, i);

        good = fwrite(TfLiteTensorData(t), 1, TfLiteTensorByteSize(t), f) ==
               TfLiteTensorByteSize(t);
    }
    if (f && fclose(f) != 0) {
        good = false;
    }
    if (!good) {
        fprintf(stderr, "tflite-run: cannot write %s: %s\n", path, strerror(errno));
    }
    return good;
}

/* The line of a class in the labels file, without its end; "" if there is none. */
static const char *label(const char *labels, size_t size, unsigned class, char *text, size_t room)
{
    const char *line = labels, *end = labels + size;

    for (; line && line < end && class > 0; class--) {
        line = memchr(line, '\n', (size_t)(end - line));
        line = line ? line + 1 : NULL;
    }
    text[0] = '\0';
    if (line && line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));

        snprintf(text, room, "%.*s", (int)((stop ? stop : end) - line), line);
    }
    return text;
}

/* The best classes of one side or, with two runners, of both side by side. */
static void print_top(const struct runner *sides[2], const char *names[2], const struct options *o)
{
    size_t size = 0;
    char *labels = o->labels ? read_file(o->labels, &size) : NULL;
    unsigned best[2][MAX_TOP], found = (unsigned)o->top;
    char text[64];

    for (int s = 0; s < 2 && sides[s]; s++) {
        unsigned n = tensor_top(runner_output(sides[s], 0), best[s], (unsigned)o->top);

        found = n < found ? n : found;
        printf("%-36s", names[s]);
    }
    putchar('\n');
    for (unsigned i = 0; i < found; i++) {
        for (int s = 0; s < 2 && sides[s]; s++) {
            printf("%5u %.3f %-24.23s", best[s][i],
                   tensor_value(runner_output(sides[s], 0), best[s][i]),
                   labels ? label(labels, size, best[s][i], text, sizeof(text)) : "");
        }
        putchar('\n');
    }
    free(labels);
}

static bool expected_class(const struct runner *r, const char *name, long expect)
{
    unsigned best;

    if (expect < 0 ||
        (tensor_top(runner_output(r, 0), &best, 1) == 1 && best == (unsigned long)expect)) {
        return true;
    }
    printf("%s: the best class is not %ld\n", name, expect);
    return false;
}

static void print_time(const char *name, double fastest, double median, double macs)
{
    printf("%s time: fastest %.1f ms, median %.1f ms", name, fastest * 1e3, median * 1e3);
    if (macs > 0 && median > 0) {
        printf(", %.0f MMAC/s", macs * 1e-6 / median);
    }
    putchar('\n');
}

static int run_one(const void *model, size_t size, const struct options *o)
{
    const char *name = o->delegate ? "NPU" : "CPU";
    struct runner r = { 0 };
    double fastest, median;
    int status = FAILED;

    if (runner_open(&r, model, size, o->delegate) && fill_inputs(&r, o) &&
        run(&r, o, &fastest, &median) && (!o->output || write_outputs(&r, o->output))) {
        status = expected_class(&r, name, o->expect) ? GOOD : DIFFERENT;
        if (o->top) {
            print_top((const struct runner *[2]){ &r, NULL }, (const char *[2]){ name, NULL }, o);
        }
        print_time(name, fastest, median, layers_macs(model, size));
    }
    runner_close(&r);
    return status;
}

static int run_both(const void *model, size_t size, const struct options *o)
{
    struct runner cpu = { 0 }, npu = { 0 };
    double fastest[2], median[2], macs = layers_macs(model, size);
    int status = FAILED;

    if (runner_open(&cpu, model, size, NULL) && fill_inputs(&cpu, o) &&
        run(&cpu, o, &fastest[1], &median[1]) && runner_open(&npu, model, size, o->delegate) &&
        fill_inputs(&npu, o) && run(&npu, o, &fastest[0], &median[0]) &&
        (!o->output || write_outputs(&npu, o->output))) {
        if (o->top) {
            print_top((const struct runner *[2]){ &npu, &cpu },
                      (const char *[2]){ "NPU", "CPU" }, o);
        }
        status = !npu.taken ? NOT_TAKEN
                 : within(compare_outputs(&cpu, &npu, false), o) &&
                       expected_class(&npu, "NPU", o->expect) &&
                       expected_class(&cpu, "CPU", o->expect) ? GOOD : DIFFERENT;
        printf("operations on the NPU: %d\n", npu.taken);
        print_time("NPU", fastest[0], median[0], macs);
        print_time("CPU", fastest[1], median[1], macs);
    }
    runner_close(&npu);
    runner_close(&cpu);
    return status;
}

static int run_layers(const void *model, size_t size, const struct options *o)
{
    struct layers sum;

    if (!layers_compare(model, size, o->delegate, o->input, o->seed, &sum)) {
        return FAILED;
    }
    printf("largest difference of a layer: %g (%u of %u layers on the NPU, %.0f MMAC)\n",
           sum.largest, sum.on_npu, sum.run, sum.npu_macs * 1e-6);
    /* The NPU adds to what a convolution computed before that is rounded to 8 bits, the CPU after:
     * that is worth one more an ADD. */
    if (sum.adds) {
        printf("%u ADDs with what makes their operands: largest difference %g above 1 an ADD\n",
               sum.adds, sum.largest_add);
    }
    if (!sum.on_npu) {
        return NOT_TAKEN;
    }
    return within(sum.largest, o) && within(sum.largest_add, o) ? GOOD : DIFFERENT;
}

static unsigned long number(const char *text, unsigned long least, unsigned long most)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (*end || end == text || errno || value < least || value > most) {
        fprintf(stderr, "tflite-run: '%s' is no number from %lu to %lu\n", text, least, most);
        exit(WRONG_USE);
    }
    return value;
}

static void parse(int argc, char **argv, struct options *o)
{
    static const struct option names[] = {
        { "delegate", 1, NULL, 'd' }, { "compare", 0, NULL, 'c' }, { "per-layer", 0, NULL, 'p' },
        { "max-diff", 1, NULL, 'm' }, { "input", 1, NULL, 'i' },   { "seed", 1, NULL, 's' },
        { "top", 1, NULL, 't' },      { "labels", 1, NULL, 'l' },  { "expect", 1, NULL, 'e' },
        { "repeat", 1, NULL, 'r' },   { "output", 1, NULL, 'o' },  { "tap", 0, NULL, 'T' },
        { "known", 1, NULL, 'k' },    { "help", 0, NULL, 'h' },    { NULL, 0, NULL, 0 },
    };
    int c;

    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 'd': o->delegate = optarg; break;
        case 'c': o->compare = true; break;
        case 'p': o->per_layer = true; break;
        case 'm': o->max_diff = (double)number(optarg, 0, 255); break;
        case 'i': o->input = optarg; break;
        case 's': o->seed = number(optarg, 0, UINT32_MAX); break;
        case 't': o->top = number(optarg, 1, MAX_TOP); break;
        case 'l': o->labels = optarg; break;
        case 'e': o->expect = (long)number(optarg, 0, 1 << 20); break;
        case 'r': o->repeat = number(optarg, 1, MAX_REPEAT); break;
        case 'o': o->output = optarg; break;
        case 'T': o->tap = true; break;
        case 'k': o->known = optarg; break;
        case 'h': fputs(usage, stdout); exit(GOOD);
        default: fputs(usage, stderr); exit(WRONG_USE);
        }
    }
    if (optind == argc || (optind + 1 < argc && !o->tap)) {
        fputs(usage, stderr);
        exit(WRONG_USE);
    }
    if ((o->compare || o->per_layer || o->tap) && !o->delegate) {
        fprintf(stderr, "tflite-run: a comparison needs --delegate, e.g. "
                        "/usr/lib/teflon/libteflon.so\n");
        exit(WRONG_USE);
    }
}

/* Without its device Teflon does not refuse but crashes. */
static bool device_missing(const char *delegate)
{
    if (!delegate || !strstr(delegate, "libteflon") || access("/dev/accel/accel0", F_OK) == 0) {
        return false;
    }
    fprintf(stderr, "tflite-run: there is no /dev/accel/accel0: is the rocket module loaded, and "
                    "did it find an NPU?\n");
    return true;
}

int main(int argc, char **argv)
{
    struct options o = { .seed = 1, .repeat = 1, .expect = -1, .max_diff = -1 };
    size_t size;
    void *model;
    int status;

    setvbuf(stdout, NULL, _IOLBF, 0);
    parse(argc, argv, &o);
    if (device_missing(o.delegate)) {
        return FAILED;
    }
    if (o.tap) {
        return tap_models(argv + optind, argc - optind, &o);
    }
    model = read_file(argv[optind], &size);
    if (!model) {
        return FAILED;
    }
    status = o.per_layer ? run_layers(model, size, &o)
             : o.compare ? run_both(model, size, &o) : run_one(model, size, &o);
    if (status == NOT_TAKEN) {
        printf("the delegate took no operation\n");
    }
    free(model);
    return status;
}
