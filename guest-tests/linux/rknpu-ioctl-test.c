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
#include "npu-test.h"
#include "rknpu-client.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK MM_CHUNK
#define SHORT_TIMEOUT_MS 200
#define IDLE_SECONDS 5 /* the driver switches the power off after 3 */

static enum npu_chip chip;
static unsigned cores, sram_total;
static bool iommu;

static unsigned bits(uint32_t mask)
{
    return __builtin_popcount(mask);
}

static struct conv test_conv(void)
{
    return (struct conv){ .chip = chip, .width = 24, .height = 20, .in_channels = 32,
                          .out_channels = 64, .kernel = 3 };
}

static bool tap_job(struct job *job, uint32_t mask, int domain, const char *what)
{
    char why[128] = "";
    int err = job_run(job, mask, domain);
    unsigned wrong = err ? 0 : job_wrong(job, 1, why, sizeof(why));
    bool good = tap(!err && !wrong, "%s: submit and result", what);

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

    if (tap(!err, "%s: buffers", what)) {
        tap_job(&job, mask, domain, what);
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

    tap(npu_chip_of_version(ask(RK_GET_HW_VERSION)) >= 0, "NPU version %#x",
        ask(RK_GET_HW_VERSION));
    tap(version >= 700, "driver version %u.%u.%u", version / 10000, version / 100 % 100,
        version % 100);
    tap(true, "IOMMU %s, SRAM %u bytes, %u free", iommu ? "on" : "off", sram_total,
        ask(RK_GET_SRAM_FREE));
    /* The runtime asks for these; 0.9.8 knows the numbers and answers EINVAL to both. */
    tap(known_answer(act(RK_POWER_ON, 0)) && known_answer(act(RK_POWER_OFF, 0)),
        "power on and off by request");
}

static void group_memory(void)
{
    static const uint64_t sizes[] = { 1, 4096, 100000, 1 << 20, 16 << 20 };
    struct object o;

    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int err = object_create(&o, sizes[i], 0, 0, 0);

        if (tap(!err && o.iova, "buffer of %llu bytes", (unsigned long long)sizes[i])) {
            memset(o.cpu, 0xa5, sizes[i]);
            tap(!object_sync(&o, RK_SYNC_TO_DEVICE) && !object_sync(&o, RK_SYNC_FROM_DEVICE) &&
                ((uint8_t *)o.cpu)[sizes[i] - 1] == 0xa5, "sync both ways keeps the bytes");
            tap(!object_destroy(&o), "destroy");
        }
    }
    tap(object_create(&o, 0, 0, 0, 0) == -EINVAL, "a buffer of 0 bytes is refused");
    tap(ioctl(npu, _IOC(_IOC_READ | _IOC_WRITE, 'd', 0x42, RK_CREATE_OLD_SIZE),
              &(struct rk_create){ .flags = RK_MEM_SCATTERED | RK_MEM_CACHED, .size = 4096 }) == 0,
        "MEM_CREATE of the old size, 40 bytes");
}

static bool sram_used_is(unsigned bytes)
{
    return ask(RK_GET_SRAM_FREE) == sram_total - bytes && mm_used() == (int)(bytes / CHUNK);
}

static bool create_sram(struct object *o, uint64_t size, uint64_t want, uint64_t granted)
{
    return !object_create(o, size, RK_MEM_SRAM, want, 0) && o->onchip == granted;
}

static void *golden_get(uint64_t size, uint64_t *onchip)
{
    struct object *o = calloc(1, sizeof(*o));

    if (object_create(o, size, RK_MEM_SRAM, 0, 0)) {
        free(o);
        return NULL;
    }
    *onchip = o->onchip;
    return o;
}

static void golden_put(void *buffer)
{
    object_destroy(buffer);
    free(buffer);
}

static void group_sram(void)
{
    static const struct mm_allocator sram = { golden_get, golden_put };
    struct object o;

    if (!sram_total) {
        tap_skip("SRAM", "the driver has none (device tree, CONFIG_ROCKCHIP_RKNPU_SRAM, IOMMU)");
        return;
    }
    tap(sram_used_is(0), "nothing used at the start, by ioctl and in rknpu/mm");
    tap(create_sram(&o, 256 << 10, 0, 256 << 10) && sram_used_is(256 << 10), "256 KiB granted");
    object_destroy(&o);
    tap(create_sram(&o, 1 << 20, 128 << 10, 128 << 10) && sram_used_is(128 << 10),
        "128 KiB of a buffer of 1 MiB");
    memset(o.cpu, 0x3c, o.size);
    tap(((uint8_t *)o.cpu)[(128 << 10) - 1] == 0x3c && ((uint8_t *)o.cpu)[128 << 10] == 0x3c,
        "the CPU sees one buffer across the seam");
    object_destroy(&o);
    mm_golden(&sram, sram_total);
    try_job(1, RK_MEM_SRAM, 0, "output in SRAM");
    tap(sram_used_is(0), "nothing used at the end");
}

static void group_nbuf(void)
{
    struct object a, b;

    if (chip != NPU_RK3576) {
        tap_skip("NBUF", "this chip has none");
        return;
    }
    object_create(&a, CHUNK, RK_MEM_NBUF, 0, 0);
    object_create(&b, CHUNK, RK_MEM_NBUF, 0, 0);
    strcpy(a.cpu, "through the first");
    tap(!strcmp(a.cpu, b.cpu) && a.iova != b.iova, "two NBUF buffers are the same memory");
    object_destroy(&a);
    object_destroy(&b);
    try_job(1, RK_MEM_NBUF, 0, "output in the NBUF");
}

static void group_jobs(void)
{
    struct job job;

    try_job(1, 0, 0, "one convolution");
    if (tap(!job_make(&job, test_conv(), 5, 0, 0), "five chained tasks: buffers")) {
        tap_job(&job, 1, 0, "five chained tasks");
        memset(job.output.cpu, 0x55, job.output.size);
        object_sync(&job.output, RK_SYNC_TO_DEVICE);
        job.count = 2;
        tap_job(&job, 1, 0, "two tasks of a longer chain");
        tap(((uint8_t *)job.output.cpu)[2 * conv_output_bytes(&job.conv)] == 0x55,
            "the third task of the chain did not run");
        job.count = 5;
    }
    job_destroy(&job);
}

/* 0.9.8 takes masks 5 and 6, starts nothing, waits for its timeout, and then answers the same. */
static void try_bad_mask(uint32_t mask, const char *what)
{
    struct rk_submit request;
    struct job job;
    int err = 0;

    if (tap(!job_make(&job, test_conv(), bits(mask), 0, 0), "%s: buffers", what)) {
        request = job_request(&job, mask, 0);
        request.timeout_ms = SHORT_TIMEOUT_MS;
        job_share(&request, job.count);
        err = ioctl(npu, RK_SUBMIT, &request) ? errno : 0;
    }
    tap(err == EINVAL, "%s: refused (%s)", what, strerror(err));
    job_destroy(&job);
}

static void group_cores(void)
{
    static const uint32_t masks[] = { 1, 2, 4, 3, 7, 0 };
    char what[32];

    for (unsigned i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        snprintf(what, sizeof(what), "core mask %u", masks[i]);
        if (masks[i] >= 1u << cores) {
            tap_skip(what, "not that many cores");
        } else {
            try_job(masks[i], 0, 0, what);
        }
    }
    try_bad_mask(1u << cores, "a mask beyond the last core");
    if (cores == 3) {
        try_bad_mask(5, "core mask 5");
        try_bad_mask(6, "core mask 6");
        try_job(7, 0, 0, "core mask 7 after them");
    }
}

static void group_many(void)
{
    struct conv tiny = { .chip = chip, .width = 4, .height = 4, .in_channels = 16,
                         .out_channels = 32, .kernel = 1 };
    struct job job;

    if (tap(!job_make(&job, tiny, 5000, 0, 0), "5000 tasks: buffers")) {
        tap_job(&job, 1, 0, "5000 tasks in one submit");
    }
    job_destroy(&job);
}

static bool fence_signals(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, JOB_TIMEOUT_MS) == 1 && (p.revents & POLLIN);
}

static void group_fence(void)
{
    struct rk_submit request;
    struct job job;
    char why[128];
    int fence, err;

    if (!tap(!job_make(&job, test_conv(), 1, 0, 0), "fences: buffers")) {
        return;
    }
    request = job_request(&job, 1, 0);
    request.flags |= RK_JOB_NONBLOCK | RK_JOB_FENCE_OUT;
    job_share(&request, 1);
    err = ioctl(npu, RK_SUBMIT, &request) ? errno : 0;
    if (!tap(!err && request.fence >= 0, "a job that does not wait gives a fence")) {
        printf("# SUBMIT: %s, fence %d\n", strerror(err), request.fence);
        job_destroy(&job);
        return;
    }
    fence = request.fence;
    tap(fence_signals(fence), "the fence signals");
    object_sync(&job.output, RK_SYNC_FROM_DEVICE);
    tap(!job_wrong(&job, 1, why, sizeof(why)), "the result is right then");
    request = job_request(&job, 1, 0);
    request.flags |= RK_JOB_FENCE_IN;
    request.fence = fence;
    job_share(&request, 1);
    tap(!ioctl(npu, RK_SUBMIT, &request), "a job that waits for a fence");
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
    if (!tap(other >= 0 && !object_create(&o, 8192, 0, 0, 0), "a buffer to share")) {
        return;
    }
    strcpy(o.cpu, "shared");
    prime.handle = o.handle;
    if (!tap(!ioctl(npu, DRM_HANDLE_TO_FD, &prime) && prime.fd >= 0, "export as a dma-buf")) {
        return;
    }
    seen = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, prime.fd, 0);
    tap(seen != MAP_FAILED && !strcmp(seen, "shared"), "the dma-buf maps to the same bytes");
    tap(!ioctl(other, DRM_FD_TO_HANDLE, &prime), "import by file descriptor in another open file");
    seen = object_map(other, prime.handle, 8192);
    tap(seen != MAP_FAILED && !strcmp(seen, "shared"), "the import maps to the same bytes");
    close(prime.fd);
    close(other);
    tap(!object_destroy(&o), "destroy");
}

static void group_domains(void)
{
    char what[32];

    if (!iommu) {
        tap_skip("IOMMU domains", "no IOMMU");
        return;
    }
    for (int domain = 1; domain < 16; domain++) {
        snprintf(what, sizeof(what), "domain %d", domain);
        try_job(1, 0, domain, what);
    }
    tap(!act(RK_SET_DOMAIN, 15) && ask(RK_GET_DOMAIN) == 15, "switch to domain 15");
    tap(act(RK_SET_DOMAIN, 16), "there is no domain 16");
    tap(!act(RK_SET_DOMAIN, 0) && ask(RK_GET_DOMAIN) == 0, "back to domain 0");
    try_job(1, 0, 0, "domain 0 again");
}

static void group_counters(void)
{
    struct conv conv = test_conv();
    struct job job;

    tap(!act(RK_CLEAR_AMOUNTS, 0), "clear the amounts");
    if (chip == NPU_RK3588) {
        tap(ask(RK_GET_DATA_WRITTEN) == 0, "the driver knows no counters of this chip: 0");
        return;
    }
    if (tap(!job_make(&job, conv, 1, 0, 0), "counters: buffers")) {
        tap_job(&job, 1, 0, "counters");
        tap(ask(RK_GET_DATA_WRITTEN) == conv_output_bytes(&conv), "written %u of %zu bytes",
            ask(RK_GET_DATA_WRITTEN), conv_output_bytes(&conv));
        tap(ask(RK_GET_WEIGHT_READ) == conv_weight_bytes(&conv), "weights read %u of %zu bytes",
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

    if (!tap(!job_make(&job, test_conv(), 1, 0, 0), "timeout: buffers")) {
        return;
    }
    memset(job.program.cpu, 0, job.program.size);
    object_sync(&job.program, RK_SYNC_TO_DEVICE);
    request = job_request(&job, 1, 0);
    request.timeout_ms = SHORT_TIMEOUT_MS;
    job_share(&request, 1);
    err = ioctl(npu, RK_SUBMIT, &request) ? errno : 0;
    tap(err == ETIMEDOUT, "a program without an enable word times out (%s)", strerror(err));
    job_destroy(&job);
    try_job(1, 0, 0, "after the soft reset");
    tap(!act(RK_RESET, 0), "reset by request");
    try_job(1, 0, 0, "after the requested reset");
    sleep(IDLE_SECONDS);
    try_job(1, 0, 0, "after the driver has switched the power off and on");
}

/* ---- soak ---- */

static int soak_process(unsigned seed, unsigned rounds)
{
    struct conv conv = { .chip = chip, .width = 8, .height = 8, .in_channels = 16,
                         .out_channels = 32, .kernel = 1 };
    unsigned bad = 0;

    client_open();
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

/* ---- main ---- */

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
    tap_follow_kernel_log();
    if (!client_open()) {
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
        soak(soak_process, atoi(argv[2]));
        return tap_end();
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
    return tap_end();
}
