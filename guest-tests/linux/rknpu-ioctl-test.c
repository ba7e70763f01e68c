/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rknpu-ioctl-test: what Rockchip's rknpu driver promises to its runtime, as TAP.
 *
 *   rknpu-ioctl-test [GROUP...]    groups: info memory sram nbuf jobs cores many fence share
 *                                  domains counters timeout; without a name, all of them
 *   rknpu-ioctl-test soak N        N rounds of allocate, submit, free from one process per CPU
 *
 * When a step fails the lines that the kernel printed during it follow as comments.
 * Exit status: 0 all right, 1 a step failed, 2 wrong use, 4 no device.
 */
#include "npu-program.h"
#include "rknpu-abi.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MM "/sys/kernel/debug/rknpu/mm"
#define CHUNK 4096u
#define TEXT_SIZE 4096
#define DATA (RK_MEM_SCATTERED | RK_MEM_CACHED)
#define TASKS (RK_MEM_SCATTERED | RK_MEM_CACHED | RK_MEM_KERNEL)
#define TIMEOUT_MS 30000
#define IDLE_SECONDS 5 /* the driver switches the power off after 3 */
#define MAX_CORES 3

static int npu;
static enum npu_chip chip;
static unsigned cores, sram_total;
static bool iommu;
static unsigned job_timeout_ms = TIMEOUT_MS;

/* ---- TAP, with the kernel's words after a failure ---- */

static int kernel_log = -1;
static unsigned step_number, steps_failed;

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

static bool step(bool good, const char *format, ...)
{
    va_list args;

    printf("%sok %u - ", good ? "" : "not ", ++step_number);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    steps_failed += !good;
    kernel_lines(!good);
    return good;
}

static void skip(const char *what, const char *why)
{
    printf("ok %u - %s # SKIP %s\n", ++step_number, what, why);
}

/* ---- requests ---- */

/* The answer to an action that has one. */
static uint32_t ask(enum rk_action_code code)
{
    struct rk_action action = { .code = code };

    return ioctl(npu, RK_ACTION, &action) ? 0 : action.value;
}

static int act(enum rk_action_code code, uint32_t value)
{
    struct rk_action action = { .code = code, .value = value };

    return ioctl(npu, RK_ACTION, &action) ? -errno : 0;
}

struct object {
    uint32_t handle;
    uint64_t id, iova, size, onchip;
    void *cpu;
};

static void *object_map(int fd, uint32_t handle, uint64_t size)
{
    struct rk_map map = { .handle = handle };

    if (ioctl(fd, RK_MAP, &map)) {
        return MAP_FAILED;
    }
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, map.offset);
}

static int object_create(struct object *o, uint64_t size, uint32_t flags, uint64_t onchip,
                         int domain)
{
    struct rk_create create = { .flags = flags, .size = size, .onchip = onchip,
                                .domain = domain };

    memset(o, 0, sizeof(*o));
    o->cpu = MAP_FAILED;
    if (ioctl(npu, RK_CREATE, &create)) {
        return -errno;
    }
    o->handle = create.handle;
    o->id = create.object;
    o->iova = create.iova;
    o->onchip = create.onchip;
    o->size = size;
    o->cpu = object_map(npu, o->handle, size);
    return o->cpu == MAP_FAILED ? -errno : 0;
}

static int object_destroy(struct object *o)
{
    struct rk_destroy destroy = { .handle = o->handle, .object = o->id };

    if (o->cpu != MAP_FAILED) {
        munmap(o->cpu, o->size);
    }
    return ioctl(npu, RK_DESTROY, &destroy) ? -errno : 0;
}

static int object_sync(const struct object *o, uint32_t direction)
{
    struct rk_sync sync = { .flags = direction, .object = o->id, .size = o->size };

    return ioctl(npu, RK_SYNC, &sync) ? -errno : 0;
}

/* ---- a convolution as a job ---- */

struct job {
    struct conv conv;
    struct object tasks, program, input, weights, coefficients, output;
    unsigned words, count;
};

static struct conv test_conv(void)
{
    return (struct conv){ .chip = chip, .width = 24, .height = 20, .in_channels = 32,
                          .out_channels = 64, .kernel = 3 };
}

static int job_objects(struct job *job, unsigned count, uint32_t where, int domain)
{
    const struct conv *conv = &job->conv;
    int err;

    err = object_create(&job->output, conv_output_bytes(conv) * count, DATA | where, 0, domain);
    err = err ? err : object_create(&job->tasks, sizeof(struct rk_task) * count, TASKS, 0, domain);
    err = err ? err : object_create(&job->program, CONV_MAX_WORDS * 8ull * count, DATA, 0, domain);
    err = err ? err : object_create(&job->input, conv_input_bytes(conv), DATA, 0, domain);
    err = err ? err : object_create(&job->weights, conv_weight_bytes(conv), DATA, 0, domain);
    return err ? err : object_create(&job->coefficients, conv_coefficient_bytes(conv), DATA, 0,
                                     domain);
}

/*
 * A job of `count` tasks, each the whole convolution into an output of its own, chained in order.
 * `where` adds a flag to the output's memory. Returns 0 or a negative errno.
 */
static int job_make(struct job *job, struct conv conv, unsigned count, uint32_t where, int domain)
{
    uint64_t *words;
    struct rk_task *tasks;
    int err;

    memset(job, 0, sizeof(*job));
    job->conv = conv;
    job->count = count;
    err = job_objects(job, count, where, domain);
    if (err) {
        return err;
    }
    words = job->program.cpu;
    tasks = job->tasks.cpu;
    for (unsigned i = 0; i < count; i++, words += CONV_MAX_WORDS) {
        struct conv_addresses at = {
            .input = job->input.iova, .weights = job->weights.iova,
            .coefficients = job->coefficients.iova,
            .output = job->output.iova + i * conv_output_bytes(&conv),
        };
        uint64_t iova = job->program.iova + i * CONV_MAX_WORDS * 8ull;

        job->words = conv_program(&conv, &at, words);
        if (i + 1 < count) {
            conv_chain(words, job->words, iova + CONV_MAX_WORDS * 8, job->words);
        }
        tasks[i] = (struct rk_task){ .enable_mask = 0x1d, .int_mask = 0x300, .int_clear = 0x1ffff,
                                     .amount = job->words - CONV_TAIL_WORDS, .program = iova };
    }
    conv_fill(&conv, job->input.cpu, job->weights.cpu, job->coefficients.cpu);
    memset(job->output.cpu, 0x55, job->output.size);
    err = object_sync(&job->tasks, RK_SYNC_TO_DEVICE);
    err = err ? err : object_sync(&job->program, RK_SYNC_TO_DEVICE);
    err = err ? err : object_sync(&job->input, RK_SYNC_TO_DEVICE);
    err = err ? err : object_sync(&job->weights, RK_SYNC_TO_DEVICE);
    err = err ? err : object_sync(&job->coefficients, RK_SYNC_TO_DEVICE);
    return err ? err : object_sync(&job->output, RK_SYNC_TO_DEVICE);
}

static void job_destroy(struct job *job)
{
    object_destroy(&job->output);
    object_destroy(&job->tasks);
    object_destroy(&job->program);
    object_destroy(&job->input);
    object_destroy(&job->weights);
    object_destroy(&job->coefficients);
}

/* What the runtime sends: blocking, fetch mode, ping-pong. */
static struct rk_submit job_request(const struct job *job, uint32_t mask, int domain)
{
    return (struct rk_submit){ .flags = RK_JOB_PC | RK_JOB_PINGPONG, .timeout_ms = job_timeout_ms,
                               .number = job->count, .task_object = job->tasks.id,
                               .domain = domain, .core_mask = mask, .fence = -1 };
}

static unsigned bits(uint32_t mask)
{
    return __builtin_popcount(mask);
}

/* One core does all tasks; several cores share them evenly, in order. */
static void job_share(struct rk_submit *request, unsigned count)
{
    unsigned users = bits(request->core_mask), first = users == 3 ? 2 : 0, start = 0;

    for (unsigned core = 0; core < MAX_CORES; core++) {
        unsigned n = users <= 1 ? count : count / users;

        if (users && !(request->core_mask & 1u << core)) {
            continue;
        }
        request->subcore[first + core].start = start;
        request->subcore[first + core].number = n;
        start += users <= 1 ? 0 : n;
    }
}

static int job_run(struct job *job, uint32_t mask, int domain)
{
    struct rk_submit request = job_request(job, mask, domain);

    job_share(&request, job->count);
    if (ioctl(npu, RK_SUBMIT, &request)) {
        return -errno;
    }
    return object_sync(&job->output, RK_SYNC_FROM_DEVICE);
}

/* Wrong values over the outputs of all tasks. */
static unsigned job_wrong(const struct job *job, unsigned every, char *why, size_t size)
{
    const int8_t *output = job->output.cpu;
    unsigned wrong = 0;

    for (unsigned i = 0; i < job->count; i++) {
        wrong += conv_compare(&job->conv, output + i * conv_output_bytes(&job->conv), every, why,
                              size);
    }
    return wrong;
}

static bool step_job(struct job *job, uint32_t mask, int domain, const char *what)
{
    char why[128] = "";
    int err = job_run(job, mask, domain);
    unsigned wrong = err ? 0 : job_wrong(job, 1, why, sizeof(why));
    bool good = step(!err && !wrong, "%s: submit and result", what);

    if (err) {
        printf("# SUBMIT: %s\n", strerror(-err));
    } else if (wrong) {
        printf("# %u values wrong, the first: %s\n", wrong, why);
    }
    return good;
}

/* Makes, runs and checks one job. */
static void try_job(uint32_t mask, uint32_t where, int domain, const char *what)
{
    unsigned users = bits(mask);
    struct job job;
    int err = job_make(&job, test_conv(), users > 1 ? users : 1, where, domain);

    if (step(!err, "%s: buffers", what)) {
        step_job(&job, mask, domain, what);
    } else {
        printf("# %s\n", strerror(-err));
    }
    job_destroy(&job);
}

/* ---- groups ---- */

static bool known_answer(int err)
{
    return err == 0 || err == -EINVAL;
}

static void group_info(void)
{
    uint32_t version = ask(RK_GET_DRIVER_VERSION);

    step(npu_chip_of_version(ask(RK_GET_HW_VERSION)) >= 0, "NPU version %#x",
         ask(RK_GET_HW_VERSION));
    step(version >= 700, "driver version %u.%u.%u", version / 10000, version / 100 % 100,
         version % 100);
    step(true, "IOMMU %s, SRAM %u bytes, %u free", iommu ? "on" : "off", sram_total,
         ask(RK_GET_SRAM_FREE));
    /* The runtime asks for these; 0.9.8 knows the numbers and answers EINVAL to both. */
    step(known_answer(act(RK_POWER_ON, 0)) && known_answer(act(RK_POWER_OFF, 0)),
         "power on and off by request");
}

static void group_memory(void)
{
    static const uint64_t sizes[] = { 1, 4096, 100000, 1 << 20, 16 << 20 };
    struct object o;

    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int err = object_create(&o, sizes[i], DATA, 0, 0);

        if (step(!err && o.iova, "buffer of %llu bytes", (unsigned long long)sizes[i])) {
            memset(o.cpu, 0xa5, sizes[i]);
            step(!object_sync(&o, RK_SYNC_TO_DEVICE) && !object_sync(&o, RK_SYNC_FROM_DEVICE) &&
                 ((uint8_t *)o.cpu)[sizes[i] - 1] == 0xa5, "sync both ways keeps the bytes");
            step(!object_destroy(&o), "destroy");
        }
    }
    step(object_create(&o, 0, DATA, 0, 0) == -EINVAL, "a buffer of 0 bytes is refused");
    step(ioctl(npu, _IOC(_IOC_READ | _IOC_WRITE, 'd', 0x42, RK_CREATE_OLD_SIZE),
               &(struct rk_create){ .flags = DATA, .size = 4096 }) == 0,
         "MEM_CREATE of the old size, 40 bytes");
}

/* Chunks marked as used in the mm file; -1 when it cannot be read. */
static int mm_used(void)
{
    char text[TEXT_SIZE];
    FILE *f = fopen(MM, "r");
    int used = 0;
    size_t n;

    if (!f) {
        return -1;
    }
    n = fread(text, 1, sizeof(text) - 1, f);
    text[n] = 0;
    fclose(f);
    for (char *at = strchr(text, '\n'); at && *at; at++) {
        used += *at == '*';
    }
    return used;
}

static bool sram_used_is(unsigned bytes)
{
    return ask(RK_GET_SRAM_FREE) == sram_total - bytes && mm_used() == (int)(bytes / CHUNK);
}

static bool create_sram(struct object *o, uint64_t size, uint64_t want, uint64_t granted)
{
    return !object_create(o, size, DATA | RK_MEM_SRAM, want, 0) && o->onchip == granted;
}

static void sram_fragments(void)
{
    struct object a, b, c, big;

    create_sram(&a, 10 * CHUNK, 0, 10 * CHUNK);
    create_sram(&b, 20 * CHUNK, 0, 20 * CHUNK);
    create_sram(&c, 10 * CHUNK, 0, 10 * CHUNK);
    object_destroy(&b);
    step(sram_used_is(20 * CHUNK), "a hole of 20 chunks between two buffers");
    step(create_sram(&big, sram_total - 30 * CHUNK, 0, 0),
         "free in all but not in one piece: granted nothing, the buffer is DRAM");
    object_destroy(&big);
    step(create_sram(&b, 20 * CHUNK, 0, 20 * CHUNK) && sram_used_is(40 * CHUNK),
         "the hole is used again");
    object_destroy(&a);
    object_destroy(&b);
    object_destroy(&c);
    step(sram_used_is(0), "all free again");
}

static void group_sram(void)
{
    struct object o, more;

    if (!sram_total) {
        skip("SRAM", "the driver has none (device tree, CONFIG_ROCKCHIP_RKNPU_SRAM or no IOMMU)");
        return;
    }
    step(sram_used_is(0), "nothing used at the start, by ioctl and in rknpu/mm");
    step(create_sram(&o, 256 << 10, 0, 256 << 10) && sram_used_is(256 << 10), "256 KiB granted");
    object_destroy(&o);
    step(create_sram(&o, 1 << 20, 128 << 10, 128 << 10) && sram_used_is(128 << 10),
         "128 KiB of a buffer of 1 MiB");
    memset(o.cpu, 0x3c, o.size);
    step(((uint8_t *)o.cpu)[(128 << 10) - 1] == 0x3c && ((uint8_t *)o.cpu)[128 << 10] == 0x3c,
         "the CPU sees one buffer across the seam");
    object_destroy(&o);
    step(create_sram(&o, sram_total, 0, sram_total) && sram_used_is(sram_total), "all of it");
    step(create_sram(&more, 8192, 0, 0), "nothing left: the buffer is DRAM");
    object_destroy(&more);
    object_destroy(&o);
    step(create_sram(&o, 2ull * sram_total, 0, sram_total), "more than there is: all, then DRAM");
    object_destroy(&o);
    sram_fragments();
    try_job(1, RK_MEM_SRAM, 0, "output in SRAM");
    step(sram_used_is(0), "nothing used at the end");
}

static void group_nbuf(void)
{
    struct object a, b;

    if (chip != NPU_RK3576) {
        skip("NBUF", "this chip has none");
        return;
    }
    object_create(&a, CHUNK, DATA | RK_MEM_NBUF, 0, 0);
    object_create(&b, CHUNK, DATA | RK_MEM_NBUF, 0, 0);
    strcpy(a.cpu, "through the first");
    step(!strcmp(a.cpu, b.cpu) && a.iova != b.iova, "two NBUF buffers are the same memory");
    object_destroy(&a);
    object_destroy(&b);
    try_job(1, RK_MEM_NBUF, 0, "output in the NBUF");
}

static void group_jobs(void)
{
    struct job job;

    try_job(1, 0, 0, "one convolution");
    if (step(!job_make(&job, test_conv(), 5, 0, 0), "five chained tasks: buffers")) {
        step_job(&job, 1, 0, "five chained tasks");
        memset(job.output.cpu, 0x55, job.output.size);
        object_sync(&job.output, RK_SYNC_TO_DEVICE);
        job.count = 2;
        step_job(&job, 1, 0, "two tasks of a longer chain");
        step(((uint8_t *)job.output.cpu)[2 * conv_output_bytes(&job.conv)] == 0x55,
             "the third task of the chain did not run");
        job.count = 5;
    }
    job_destroy(&job);
}

static void group_cores(void)
{
    static const uint32_t masks[] = { 1, 2, 4, 3, 7, 0 };
    struct rk_submit request;
    struct job job;
    char what[32];

    for (unsigned i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        snprintf(what, sizeof(what), "core mask %u", masks[i]);
        if (masks[i] >= 1u << cores) {
            skip(what, "not that many cores");
        } else {
            try_job(masks[i], 0, 0, what);
        }
    }
    job_make(&job, test_conv(), 1, 0, 0);
    request = job_request(&job, 1u << cores, 0);
    step(ioctl(npu, RK_SUBMIT, &request) && errno == EINVAL, "a mask beyond the last core: EINVAL");
    job_destroy(&job);
}

static void group_many(void)
{
    struct conv tiny = { .chip = chip, .width = 4, .height = 4, .in_channels = 16,
                         .out_channels = 32, .kernel = 1 };
    struct job job;

    if (step(!job_make(&job, tiny, 5000, 0, 0), "5000 tasks: buffers")) {
        step_job(&job, 1, 0, "5000 tasks in one submit");
    }
    job_destroy(&job);
}

static bool fence_signals(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, TIMEOUT_MS) == 1 && (p.revents & POLLIN);
}

static void group_fence(void)
{
    struct rk_submit request;
    struct job job;
    char why[128];
    int fence, err;

    if (!step(!job_make(&job, test_conv(), 1, 0, 0), "fences: buffers")) {
        return;
    }
    request = job_request(&job, 1, 0);
    request.flags |= RK_JOB_NONBLOCK | RK_JOB_FENCE_OUT;
    job_share(&request, 1);
    err = ioctl(npu, RK_SUBMIT, &request) ? errno : 0;
    if (!step(!err && request.fence >= 0, "a job that does not wait gives a fence")) {
        printf("# SUBMIT: %s, fence %d\n", strerror(err), request.fence);
        job_destroy(&job);
        return;
    }
    fence = request.fence;
    step(fence_signals(fence), "the fence signals");
    object_sync(&job.output, RK_SYNC_FROM_DEVICE);
    step(!job_wrong(&job, 1, why, sizeof(why)), "the result is right then");
    request = job_request(&job, 1, 0);
    request.flags |= RK_JOB_FENCE_IN;
    request.fence = fence;
    job_share(&request, 1);
    step(!ioctl(npu, RK_SUBMIT, &request), "a job that waits for a fence");
    close(fence);
    job_destroy(&job);
}

static void group_share(void)
{
    struct drm_prime prime = { .flags = O_CLOEXEC | O_RDWR };
    struct object o;
    char path[64];
    int other;
    char *seen;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", npu);
    other = open(path, O_RDWR);
    if (!step(other >= 0 && !object_create(&o, 8192, DATA, 0, 0), "a buffer to share")) {
        return;
    }
    strcpy(o.cpu, "shared");
    prime.handle = o.handle;
    if (!step(!ioctl(npu, DRM_HANDLE_TO_FD, &prime) && prime.fd >= 0, "export as a dma-buf")) {
        return;
    }
    seen = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, prime.fd, 0);
    step(seen != MAP_FAILED && !strcmp(seen, "shared"), "the dma-buf maps to the same bytes");
    step(!ioctl(other, DRM_FD_TO_HANDLE, &prime), "import by file descriptor in another open file");
    seen = object_map(other, prime.handle, 8192);
    step(seen != MAP_FAILED && !strcmp(seen, "shared"), "the import maps to the same bytes");
    close(prime.fd);
    close(other);
    step(!object_destroy(&o), "destroy");
}

static void group_domains(void)
{
    char what[32];

    if (!iommu) {
        skip("IOMMU domains", "no IOMMU");
        return;
    }
    for (int domain = 1; domain < 16; domain += 7) {
        snprintf(what, sizeof(what), "domain %d", domain);
        try_job(1, 0, domain, what);
    }
    step(!act(RK_SET_DOMAIN, 15) && ask(RK_GET_DOMAIN) == 15, "switch to domain 15");
    step(act(RK_SET_DOMAIN, 16), "there is no domain 16");
    step(!act(RK_SET_DOMAIN, 0) && ask(RK_GET_DOMAIN) == 0, "back to domain 0");
    try_job(1, 0, 0, "domain 0 again");
}

static void group_counters(void)
{
    struct conv conv = test_conv();
    struct job job;

    step(!act(RK_CLEAR_AMOUNTS, 0), "clear the amounts");
    if (chip == NPU_RK3588) {
        step(ask(RK_GET_DATA_WRITTEN) == 0, "the driver knows no counters of this chip: 0");
        return;
    }
    if (step(!job_make(&job, conv, 1, 0, 0), "counters: buffers")) {
        step_job(&job, 1, 0, "counters");
        step(ask(RK_GET_DATA_WRITTEN) == conv_output_bytes(&conv), "written %u of %zu bytes",
             ask(RK_GET_DATA_WRITTEN), conv_output_bytes(&conv));
        step(ask(RK_GET_WEIGHT_READ) == conv_weight_bytes(&conv), "weights read %u of %zu bytes",
             ask(RK_GET_WEIGHT_READ), conv_weight_bytes(&conv));
    }
    job_destroy(&job);
}

/* A program that never enables anything. The driver resets the NPU, and the next job must run. */
static void group_timeout(void)
{
    struct rk_submit request;
    struct job job;
    int err;

    if (!step(!job_make(&job, test_conv(), 1, 0, 0), "timeout: buffers")) {
        return;
    }
    job_timeout_ms = 5000;
    memset(job.program.cpu, 0, job.program.size);
    object_sync(&job.program, RK_SYNC_TO_DEVICE);
    request = job_request(&job, 1, 0);
    request.timeout_ms = 200;
    job_share(&request, 1);
    err = ioctl(npu, RK_SUBMIT, &request) ? errno : 0;
    step(err == ETIMEDOUT, "a program without an enable word times out (%s)", strerror(err));
    job_destroy(&job);
    try_job(1, 0, 0, "after the soft reset");
    step(!act(RK_RESET, 0), "reset by request");
    try_job(1, 0, 0, "after the requested reset");
    sleep(IDLE_SECONDS);
    try_job(1, 0, 0, "after the driver has switched the power off and on");
    job_timeout_ms = TIMEOUT_MS;
}

/* ---- soak ---- */

static int open_npu(void);

static int soak_process(unsigned seed, unsigned rounds)
{
    struct conv conv = { .chip = chip, .width = 8, .height = 8, .in_channels = 16,
                         .out_channels = 32, .kernel = 1 };
    unsigned bad = 0;

    npu = open_npu();
    for (unsigned i = 0; i < rounds; i++) {
        struct job job;
        char why[128];

        bad += job_make(&job, conv, 1, RK_MEM_SRAM, 0) ||
               job_run(&job, 1u << (seed + i) % cores, 0) || job_wrong(&job, 1, why, sizeof(why));
        job_destroy(&job);
    }
    close(npu);
    return bad ? 1 : 0;
}

static int soak(unsigned rounds)
{
    unsigned processes = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned each = (rounds + processes - 1) / processes;
    int used = mm_used();

    fflush(stdout);
    for (unsigned i = 0; i < processes; i++) {
        if (fork() == 0) {
            _exit(soak_process(i, each));
        }
    }
    for (unsigned i = 0; i < processes; i++) {
        int status;

        wait(&status);
        step(WIFEXITED(status) && !WEXITSTATUS(status), "%u rounds of allocate, submit, free",
             each);
    }
    step(mm_used() == used, "SRAM in use is what it was, %d chunks", used);
    printf("1..%u\n", step_number);
    return steps_failed ? 1 : 0;
}

/* ---- main ---- */

static bool is_rknpu(int fd)
{
    char name[32] = "";
    struct drm_name version = { .name = name, .name_len = sizeof(name) - 1 };

    return ioctl(fd, DRM_NAME, &version) == 0 && !strcmp(name, "rknpu");
}

static int open_npu(void)
{
    for (unsigned i = 0; i < 16; i++) {
        char path[32];
        int fd;

        snprintf(path, sizeof(path), "/dev/dri/card%u", i);
        fd = open(path, O_RDWR);
        if (fd >= 0 && is_rknpu(fd)) {
            return fd;
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    return -1;
}

static const struct {
    const char *name;
    void (*run)(void);
} groups[] = {
    { "info", group_info },       { "memory", group_memory },     { "sram", group_sram },
    { "nbuf", group_nbuf },       { "jobs", group_jobs },         { "cores", group_cores },
    { "many", group_many },       { "fence", group_fence },       { "share", group_share },
    { "domains", group_domains }, { "counters", group_counters }, { "timeout", group_timeout },
};

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], name)) {
            return true;
        }
    }
    return argc == 1;
}

static bool known(const char *name)
{
    for (unsigned i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        if (!strcmp(groups[i].name, name)) {
            return true;
        }
    }
    return false;
}

static int setup(void)
{
    int which;

    setvbuf(stdout, NULL, _IOLBF, 0);
    kernel_log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
    kernel_lines(false);
    npu = open_npu();
    if (npu < 0) {
        fprintf(stderr, "rknpu-ioctl-test: no DRM device of the driver rknpu in /dev/dri "
                "(is the module loaded, does the device tree have the node?)\n");
        return 4;
    }
    which = npu_chip_of_version(ask(RK_GET_HW_VERSION));
    if (which < 0) {
        fprintf(stderr, "rknpu-ioctl-test: NPU version %#x is neither RK3588 nor RK3576\n",
                ask(RK_GET_HW_VERSION));
        return 4;
    }
    chip = which;
    cores = chip == NPU_RK3588 ? 3 : 2;
    iommu = ask(RK_GET_IOMMU_ENABLED);
    sram_total = ask(RK_GET_SRAM_TOTAL);
    return 0;
}

int main(int argc, char **argv)
{
    int err = setup();

    if (err) {
        return err;
    }
    if (argc == 3 && !strcmp(argv[1], "soak") && atoi(argv[2]) > 0) {
        return soak(atoi(argv[2]));
    }
    for (int i = 1; i < argc; i++) {
        if (!known(argv[i])) {
            fprintf(stderr, "rknpu-ioctl-test: there is no group '%s'\n", argv[i]);
            return 2;
        }
    }
    for (unsigned i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        if (wanted(groups[i].name, argc, argv)) {
            printf("# %s\n", groups[i].name);
            groups[i].run();
        }
    }
    printf("1..%u\n", step_number);
    return steps_failed ? 1 : 0;
}
