/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rknpu-replay: runs captured NPU jobs on the model, without a kernel or a machine. Buffers are
 * loaded at their device addresses, programs are started as a driver would, results are saved.
 * docs/replay.md shows it.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rknpu/npu.h"
#include "rknpu/regs.h"
#include "streams.h"

enum {
    STATUS_OK = 0,
    STATUS_JOB = 1,   /* a job did not complete */
    STATUS_USAGE = 2, /* the command line cannot be carried out */
    WAIT_MS = 600000,
    STEP_MS = 20,
    DESCRIPTOR_BYTES = 40, /* struct rknpu_task of Rockchip's driver 0.9.8 */
    WORD_BYTES = 8,
    TAIL_WORDS = 4,
    TARGET_ENABLE = 0x81,
    POINTER_PING_PONG = 0xe,
};

typedef struct Buffer {
    uint32_t iova;
    gsize len;
    uint8_t *bytes;
} Buffer;

/* What the command line asks for; runs in the order of its kinds: loads, then jobs, then saves. */
typedef struct Replay {
    const RknpuChip *chip;
    RknpuNpu *npu;
    GArray *buffers; /* Buffer */
    bool events, json;
    int stalled; /* atomic: the job will never complete */
} Replay;

/* One start of the PC: `tasks` programs from `address` on, the first `words` long without its tail.
 */
typedef struct Start {
    uint32_t address;
    unsigned tasks;
    unsigned words;
} Start;

G_GNUC_PRINTF(1, 2) static bool complain(const char *format, ...)
{
    va_list args;

    fputs("rknpu-replay: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return false;
}

/* The buffer that holds `iova`, and how many bytes it has from there on; NULL = none. */
static Buffer *find_buffer(const Replay *r, uint32_t iova, uint64_t *left)
{
    for (guint i = 0; i < r->buffers->len; i++) {
        Buffer *b = &g_array_index(r->buffers, Buffer, i);

        if (iova >= b->iova && iova - b->iova < b->len) {
            *left = b->len - (iova - b->iova);
            return b;
        }
    }
    return NULL;
}

static uint8_t *bytes_at(const Replay *r, uint32_t iova, uint64_t len)
{
    uint64_t left;
    Buffer *b = find_buffer(r, iova, &left);

    return b && len <= left ? b->bytes + (iova - b->iova) : NULL;
}

static bool map(void *opaque, unsigned core, uint32_t iova, uint64_t len, bool write,
                RknpuSpan *span)
{
    uint64_t left;
    Buffer *b = find_buffer(opaque, iova, &left);

    (void)core;
    (void)write;
    if (!b) {
        return false;
    }
    *span = (RknpuSpan){
        .host = b->bytes + (iova - b->iova),
        .iova = iova,
        .phys = iova,
        .len = MIN(len, left),
    };
    return true;
}

static void unmap(void *opaque, unsigned core, const RknpuSpan *span, bool written)
{
    (void)opaque;
    (void)core;
    (void)span;
    (void)written;
}

static void irq(void *opaque, unsigned core)
{
    (void)opaque;
    (void)core;
}

static int64_t now(void *opaque)
{
    (void)opaque;
    return g_get_monotonic_time() * 1000;
}

static void event(void *opaque, const RknpuEvent *ev)
{
    Replay *r = opaque;
    bool always = ev->type == RKNPU_EVENT_GUEST_ERROR || ev->type == RKNPU_EVENT_UNIMP ||
                  ev->type == RKNPU_EVENT_FAULT || ev->type == RKNPU_EVENT_JOB_STALL;

    if (ev->type == RKNPU_EVENT_JOB_STALL) {
        g_atomic_int_set(&r->stalled, 1);
    }
    if (always || r->events || r->json) {
        g_autofree char *line = r->json ? rknpu_event_to_json(ev) : rknpu_event_to_text(ev);

        fprintf(stderr, "%s\n", line);
    }
}

/* Splits "A:B[:C]"; numbers are hexadecimal with 0x, else decimal. NULL = wrong, said. */
static char **split(const char *option, const char *text, guint least, guint most)
{
    char **parts = g_strsplit(text, ":", (int)most);

    if (g_strv_length(parts) < least) {
        complain("%s %s: %u parts separated by ':' are needed", option, text, least);
        g_strfreev(parts);
        return NULL;
    }
    return parts;
}

static bool number(const char *option, const char *text, guint64 max, guint64 *value)
{
    char *end;

    *value = g_ascii_strtoull(text, &end, 0);
    if (*text == '\0' || *end != '\0' || *value > max) {
        return complain("%s: '%s' is no number from 0 to 0x%" G_GINT64_MODIFIER "x", option, text,
                        max);
    }
    return true;
}

static bool add_buffer(Replay *r, uint64_t iova, uint8_t *bytes, gsize len)
{
    Buffer b = { .iova = (uint32_t)iova, .len = len, .bytes = bytes };
    uint64_t left;

    if (iova + len > UINT64_C(1) << 32) {
        return complain("a buffer of %zu bytes at 0x%x passes 4 GiB", len, b.iova);
    }
    if (len &&
        (find_buffer(r, b.iova, &left) || find_buffer(r, b.iova + (uint32_t)len - 1, &left))) {
        return complain("the buffer at 0x%x overlaps another one", b.iova);
    }
    g_array_append_val(r->buffers, b);
    return true;
}

/* --load IOVA:FILE */
static bool load(Replay *r, const char *text)
{
    g_auto(GStrv) parts = split("--load", text, 2, 2);
    g_autoptr(GError) error = NULL;
    guint64 iova;
    char *bytes;
    gsize len;

    if (!parts || !number("--load", parts[0], UINT32_MAX, &iova)) {
        return false;
    }
    if (!g_file_get_contents(parts[1], &bytes, &len, &error)) {
        return complain("--load: %s", error->message);
    }
    return add_buffer(r, iova, (uint8_t *)bytes, len);
}

/* --zero IOVA:BYTES */
static bool zero(Replay *r, const char *text)
{
    g_auto(GStrv) parts = split("--zero", text, 2, 2);
    guint64 iova, len;
    uint8_t *bytes;

    if (!parts || !number("--zero", parts[0], UINT32_MAX, &iova) ||
        !number("--zero", parts[1], UINT32_MAX, &len)) {
        return false;
    }
    bytes = g_try_malloc0(len);
    return bytes ? add_buffer(r, iova, bytes, len) : complain("--zero %s: no memory", text);
}

/* --save IOVA:BYTES:FILE */
static bool save(const Replay *r, const char *text)
{
    g_auto(GStrv) parts = split("--save", text, 3, 3);
    g_autoptr(GError) error = NULL;
    guint64 iova, len;
    uint8_t *bytes;

    if (!parts || !number("--save", parts[0], UINT32_MAX, &iova) ||
        !number("--save", parts[1], UINT32_MAX, &len)) {
        return false;
    }
    bytes = bytes_at(r, (uint32_t)iova, len);
    if (!bytes) {
        return complain("--save %s: no buffer holds these bytes", text);
    }
    return g_file_set_contents(parts[2], (char *)bytes, (gssize)len, &error) ||
           complain("--save: %s", error->message);
}

static uint32_t word32(const uint8_t *p)
{
    return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Words of a program in front of its enable word's tail; false = no buffer or no enable word. */
static bool measure(const Replay *r, uint32_t address, unsigned *words)
{
    for (unsigned n = 0; n < 1u << 16; n++) {
        const uint8_t *word = bytes_at(r, address + n * WORD_BYTES, WORD_BYTES);

        if (!word) {
            return complain("no buffer holds the program at 0x%x up to its enable word", address);
        }
        if ((word[6] | word[7] << 8) == TARGET_ENABLE) {
            *words = n + 1 > TAIL_WORDS ? n + 1 - TAIL_WORDS : 0;
            return true;
        }
    }
    return complain("the program at 0x%x has no enable word", address);
}

/* --job ADDRESS[:TASKS] */
static bool parse_job(const Replay *r, const char *text, Start *start)
{
    g_auto(GStrv) parts = split("--job", text, 1, 2);
    guint64 address, tasks = 1;

    if (!parts || !number("--job", parts[0], UINT32_MAX, &address) ||
        (parts[1] && !number("--job", parts[1], 4095, &tasks))) {
        return false;
    }
    *start = (Start){ .address = (uint32_t)address, .tasks = (unsigned)tasks };
    return measure(r, start->address, &start->words);
}

/* --tasks LIST:FIRST[:COUNT]: descriptors of Rockchip's driver, as a SUBMIT names them. */
static bool parse_tasks(const Replay *r, const char *text, Start *start)
{
    g_auto(GStrv) parts = split("--tasks", text, 2, 3);
    guint64 list, first, count = 1;
    const uint8_t *descriptor;

    if (!parts || !number("--tasks", parts[0], UINT32_MAX, &list) ||
        !number("--tasks", parts[1], UINT16_MAX, &first) ||
        (parts[2] && !number("--tasks", parts[2], 4095, &count))) {
        return false;
    }
    descriptor = bytes_at(r, (uint32_t)(list + first * DESCRIPTOR_BYTES), DESCRIPTOR_BYTES);
    if (!descriptor) {
        return complain("--tasks %s: no buffer holds descriptor %" G_GUINT64_FORMAT, text, first);
    }
    *start = (Start){
        .words = word32(descriptor + 24),
        .address = word32(descriptor + 32),
        .tasks = (unsigned)count,
    };
    return true;
}

static bool wait_for_job(Replay *r)
{
    for (unsigned waited = 0; waited < WAIT_MS; waited += STEP_MS) {
        if (rknpu_wait_idle(r->npu, 0, STEP_MS)) {
            return rknpu_read(r->npu, 0, RK3588_PC_INTERRUPT_STATUS) != 0;
        }
        if (g_atomic_int_get(&r->stalled)) {
            return false;
        }
    }
    return false;
}

/* Starts the PC as Rockchip's driver does and waits; the raw status tells whether it completed. */
static bool run(Replay *r, const Start *start)
{
    uint32_t amount =
        (start->words + TAIL_WORDS + r->chip->amount_scale - 1) / r->chip->amount_scale;
    unsigned bits = r->chip->task_number_bits;
    g_autofree char *state = NULL;

    g_atomic_int_set(&r->stalled, 0);
    rknpu_write(r->npu, 0, RK3588_PC_BASE_ADDRESS, 1);
    rknpu_write(r->npu, 0, RK3588_CNA_S_POINTER, POINTER_PING_PONG);
    rknpu_write(r->npu, 0, RK3588_CORE_S_POINTER, POINTER_PING_PONG);
    rknpu_write(r->npu, 0, RK3588_PC_BASE_ADDRESS, start->address);
    rknpu_write(r->npu, 0, RK3588_PC_REGISTER_AMOUNTS, amount - 1);
    rknpu_write(r->npu, 0, RK3588_PC_INTERRUPT_MASK, 0xf00);
    rknpu_write(r->npu, 0, RK3588_PC_INTERRUPT_CLEAR, 0x1ffff);
    rknpu_write(r->npu, 0, RK3588_PC_TASK_CON, 7u << bits | start->tasks);
    rknpu_write(r->npu, 0, RK3588_PC_TASK_DMA_BASE_ADDR, 0);
    rknpu_write(r->npu, 0, RK3588_PC_OPERATION_ENABLE, 1);
    if (wait_for_job(r)) {
        return true;
    }
    state = rknpu_describe(r->npu, 0);
    complain("the job at 0x%x did not complete: %s", start->address, state);
    rknpu_reset(r->npu, 0);
    return false;
}

static void print_stats(Replay *r)
{
    RknpuStats s;

    rknpu_stats(r->npu, 0, &s);
    printf("jobs %" G_GUINT64_FORMAT ", tasks %" G_GUINT64_FORMAT ", MACs %" G_GUINT64_FORMAT
           ", read %" G_GUINT64_FORMAT " bytes, written %" G_GUINT64_FORMAT
           " bytes, busy %.3f ms, not modelled %" G_GUINT64_FORMAT
           ", guest errors %" G_GUINT64_FORMAT "\n",
           s.jobs, s.tasks, s.macs, rknpu_traffic_read(&s.traffic),
           rknpu_traffic_written(&s.traffic), (double)s.busy_ns / 1e6, s.unimplemented,
           s.guest_errors);
}

/* Options that may come more than once; NULL-terminated arrays, or NULL. */
typedef struct Lists {
    char **load, **zero, **job, **tasks, **save;
} Lists;

static int carry_out(Replay *r, const Lists *lists)
{
    int status = STATUS_OK;

    for (char **t = lists->load; t && *t; t++) {
        if (!load(r, *t)) {
            return STATUS_USAGE;
        }
    }
    for (char **t = lists->zero; t && *t; t++) {
        if (!zero(r, *t)) {
            return STATUS_USAGE;
        }
    }
    for (char **t = lists->tasks; t && *t; t++) {
        Start start;

        if (!parse_tasks(r, *t, &start)) {
            return STATUS_USAGE;
        }
        status = run(r, &start) ? status : STATUS_JOB;
    }
    for (char **t = lists->job; t && *t; t++) {
        Start start;

        if (!parse_job(r, *t, &start)) {
            return STATUS_USAGE;
        }
        status = run(r, &start) ? status : STATUS_JOB;
    }
    print_stats(r);
    for (char **t = lists->save; t && *t; t++) {
        if (!save(r, *t)) {
            return STATUS_USAGE;
        }
    }
    return status;
}

static int replay(const char *chip, bool events, bool json, const Lists *lists)
{
    const RknpuHost host = { .map = map, .unmap = unmap, .irq = irq, .now = now, .event = event };
    Replay r = { .chip = rknpu_chip_by_name(chip), .events = events, .json = json };
    int status;

    if (!r.chip) {
        complain("--chip %s: known are rk3588 and rk3576", chip);
        return STATUS_USAGE;
    }
    if (!lists->job && !lists->tasks) {
        complain("nothing to run: give --job or --tasks (see --help)");
        return STATUS_USAGE;
    }
    r.buffers = g_array_new(FALSE, FALSE, sizeof(Buffer));
    r.npu = rknpu_new(r.chip, &host, &r, NULL);
    status = carry_out(&r, lists);
    rknpu_free(r.npu);
    for (guint i = 0; i < r.buffers->len; i++) {
        g_free(g_array_index(r.buffers, Buffer, i).bytes);
    }
    g_array_free(r.buffers, TRUE);
    return status;
}

int main(int argc, char **argv)
{
    g_autofree char *chip = NULL;
    gboolean events = FALSE, json = FALSE;
    Lists lists = { 0 };
    const GOptionEntry entries[] = {
        { "chip", 0, 0, G_OPTION_ARG_STRING, &chip, "rk3588 (default) or rk3576", "NAME" },
        { "load", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &lists.load, "A buffer from a file",
          "IOVA:FILE" },
        { "zero", 0, 0, G_OPTION_ARG_STRING_ARRAY, &lists.zero, "A buffer of zeros", "IOVA:BYTES" },
        { "tasks", 0, 0, G_OPTION_ARG_STRING_ARRAY, &lists.tasks,
          "Run COUNT tasks of the vendor driver's task list at LIST, from number FIRST on",
          "LIST:FIRST[:COUNT]" },
        { "job", 0, 0, G_OPTION_ARG_STRING_ARRAY, &lists.job,
          "Run TASKS chained programs from ADDRESS on", "ADDRESS[:TASKS]" },
        { "save", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &lists.save, "Save bytes afterwards",
          "IOVA:BYTES:FILE" },
        { "events", 0, 0, G_OPTION_ARG_NONE, &events, "Write the event log to stderr", NULL },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "The same as JSON, an object a line", NULL },
        { NULL },
    };
    GOptionContext *context = g_option_context_new("- run captured NPU jobs on the model");
    g_autoptr(GError) error = NULL;
    int status;

    emu_hold_streams();
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        complain("%s (see --help)", error->message);
        status = STATUS_USAGE;
    } else if (argc > 1) {
        complain("'%s' is no option (see --help)", argv[1]);
        status = STATUS_USAGE;
    } else {
        status = replay(chip ? chip : "rk3588", events, json, &lists);
    }
    g_option_context_free(context);
    g_strfreev(lists.load);
    g_strfreev(lists.zero);
    g_strfreev(lists.job);
    g_strfreev(lists.tasks);
    g_strfreev(lists.save);
    return status;
}
