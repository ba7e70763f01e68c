/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rknpu-lab: shows the NPU's memory with the teaching driver rknpu_lab.
 *
 *   rknpu-lab show     the bitmap empty, a convolution whose output lies in SRAM, the bitmap during
 *                      it, the result, and the bytes that SRAM kept away from DRAM
 *   rknpu-lab golden   allocations and the exact text of rknpu/mm after each (TAP)
 *   rknpu-lab test     jobs with programs and data in DRAM, SRAM and NBUF, errors, recovery (TAP)
 *   rknpu-lab overlap  a decoder writes its share of the SRAM over an output of the NPU (TAP)
 *   rknpu-lab soak N   N rounds of allocate, submit, free from one process per CPU
 *
 * Exit status: 0 all right, 1 something is wrong, 2 wrong use, 4 no such device.
 */
#include "npu-program.h"
#include "npu-test.h"
#include "driver/rknpu_lab.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEVICE "/dev/rknpu_lab"
#define CHUNK MM_CHUNK

static int npu;
static struct rknpu_lab_info info;

struct object {
    uint64_t iova, size, onchip;
    int fd;
    void *cpu;
};

/* ---- objects ---- */

static int object_alloc(struct object *o, uint64_t size, enum rknpu_lab_place place,
                        uint64_t onchip)
{
    struct rknpu_lab_alloc args = { .size = size, .onchip = onchip, .place = place };

    memset(o, 0, sizeof(*o));
    if (ioctl(npu, RKNPU_LAB_ALLOC, &args)) {
        return -errno;
    }
    o->iova = args.iova;
    o->size = args.size;
    o->onchip = args.onchip;
    o->fd = args.fd;
    o->cpu = mmap(NULL, o->size, PROT_READ | PROT_WRITE, MAP_SHARED, o->fd, 0);
    return o->cpu == MAP_FAILED ? -errno : 0;
}

static void object_free(struct object *o)
{
    munmap(o->cpu, o->size);
    close(o->fd);
}

static void object_need(struct object *o, uint64_t size, enum rknpu_lab_place place)
{
    int err = object_alloc(o, size, place, 0);

    if (err) {
        fprintf(stderr, "rknpu-lab: cannot have %llu bytes: %s\n", (unsigned long long)size,
                strerror(-err));
        exit(1);
    }
}

/* ---- a convolution ---- */

struct job {
    struct conv conv;
    struct object program, input, weights, coefficients, output;
    unsigned words;
};

/* Where each part of a job lies. */
struct places {
    enum rknpu_lab_place program, input, weights, output;
};

static const struct places all_dram;

static void job_make(struct job *job, const struct conv *conv, const struct places *at)
{
    struct conv_addresses iova;

    job->conv = *conv;
    object_need(&job->output, conv_output_bytes(conv), at->output);
    object_need(&job->program, CONV_MAX_WORDS * sizeof(uint64_t), at->program);
    object_need(&job->input, conv_input_bytes(conv), at->input);
    object_need(&job->weights, conv_weight_bytes(conv), at->weights);
    object_need(&job->coefficients, conv_coefficient_bytes(conv), at->weights);
    iova = (struct conv_addresses){ .input = job->input.iova, .weights = job->weights.iova,
                                    .coefficients = job->coefficients.iova,
                                    .output = job->output.iova };
    job->words = conv_program(conv, &iova, job->program.cpu);
    conv_fill(conv, job->input.cpu, job->weights.cpu, job->coefficients.cpu);
    memset(job->output.cpu, 0x55, conv_output_bytes(conv));
}

static void job_free(struct job *job)
{
    object_free(&job->output);
    object_free(&job->program);
    object_free(&job->input);
    object_free(&job->weights);
    object_free(&job->coefficients);
}

static int job_run(const struct job *job, unsigned core, struct rknpu_lab_submit *result)
{
    *result = (struct rknpu_lab_submit){ .regcmd = job->program.iova, .amount = job->words,
                                         .tasks = 1, .int_mask = 0x300, .core = core,
                                         .timeout_ms = 30000 };
    return ioctl(npu, RKNPU_LAB_SUBMIT, result) ? -errno : 0;
}

static struct conv small_conv(void)
{
    return (struct conv){ .chip = npu_chip_of_version(info.version), .width = 24, .height = 20,
                          .in_channels = 32, .out_channels = 64, .kernel = 3 };
}

/* Runs a small convolution and says in one TAP line whether it is right. */
static void tap_job(const struct places *at, unsigned core, const char *what)
{
    struct conv conv = small_conv();
    struct rknpu_lab_submit result;
    struct job job;
    char why[128] = "";
    unsigned wrong;
    int err;

    job_make(&job, &conv, at);
    err = job_run(&job, core, &result);
    wrong = err ? 0 : conv_compare(&conv, job.output.cpu, 1, why, sizeof(why));
    tap(!err && !wrong, "%s, core %u", what, core);
    if (err) {
        printf("# submit: %s, status %#x, tasks done %u\n", strerror(-err), result.int_status,
               result.task_count);
    } else if (wrong) {
        printf("# %u values wrong, the first: %s\n", wrong, why);
    }
    job_free(&job);
}

/* ---- show ---- */

/* The output is 512 KiB, the amount that the guide's picture shows. */
static int show(void)
{
    static const struct places output_in_sram = { .output = RKNPU_LAB_SRAM };
    struct conv conv = { .chip = npu_chip_of_version(info.version), .width = 64, .height = 64,
                         .in_channels = 16, .out_channels = 128, .kernel = 3 };
    struct rknpu_lab_submit result;
    struct job job;
    char why[128] = "";
    unsigned wrong;
    int err;

    printf("NPU version %#x, %u cores, SRAM %u bytes\n\n", info.version, info.cores,
           info.sram_size);
    mm_print("SRAM before:");
    job_make(&job, &conv, &output_in_sram);
    mm_print("SRAM with the output of a 3x3 convolution, 64x64x16 to 64x64x128:");
    err = job_run(&job, 0, &result);
    if (err) {
        printf("the job failed: %s (status %#x)\n", strerror(-err), result.int_status);
        return 1;
    }
    wrong = conv_compare(&conv, job.output.cpu, 7, why, sizeof(why));
    printf("interrupt status %#x; result %s%s\n", result.int_status,
           wrong ? "WRONG: " : "equal to plain loops", why);
    printf("output [%#llx, %#llx): %llu of %zu bytes in SRAM\n",
           (unsigned long long)job.output.iova,
           (unsigned long long)(job.output.iova + job.output.size),
           (unsigned long long)job.output.onchip, conv_output_bytes(&conv));
    printf("DRAM spared: %llu bytes written now, as many read by the layer that uses them\n\n",
           (unsigned long long)job.output.onchip);
    job_free(&job);
    mm_print("SRAM after:");
    return wrong ? 1 : 0;
}

/* ---- golden ---- */

static void *golden_get(uint64_t size, uint64_t *onchip)
{
    struct object *o = calloc(1, sizeof(*o));

    object_need(o, size, RKNPU_LAB_SRAM);
    *onchip = o->onchip;
    return o;
}

static void golden_put(void *buffer)
{
    object_free(buffer);
    free(buffer);
}

static int golden(void)
{
    static const struct mm_allocator sram = { golden_get, golden_put };

    mm_golden(&sram, info.sram_size);
    return tap_end();
}

/* ---- test ---- */

/* The CPU's view and the NPU's are the same bytes on both sides of the SRAM's end. */
static void test_straddle(void)
{
    struct places at = { .output = RKNPU_LAB_SRAM };
    struct object hog;

    if (!info.sram_size) {
        return;
    }
    object_need(&hog, info.sram_size - 5 * CHUNK, RKNPU_LAB_SRAM);
    tap_job(&at, 0, "output that begins in SRAM and ends in DRAM");
    object_free(&hog);
}

static void test_nbuf(void)
{
    struct places at = { .output = RKNPU_LAB_NBUF };
    struct object a, b;

    if (!info.nbuf_size) {
        return;
    }
    object_need(&a, CHUNK, RKNPU_LAB_NBUF);
    object_need(&b, CHUNK, RKNPU_LAB_NBUF);
    strcpy(a.cpu, "written through the first");
    tap(a.iova != b.iova && !strcmp(a.cpu, b.cpu), "two NBUF objects are the same memory");
    object_free(&b);
    object_free(&a);
    tap_job(&at, 0, "output in the NBUF");
    at = (struct places){ .program = RKNPU_LAB_NBUF };
    tap_job(&at, 0, "register program in the NBUF");
}

/* A program that never enables anything: the core waits, the driver resets it, the next runs. */
static void test_recovery(void)
{
    struct rknpu_lab_submit result = { .amount = 8, .tasks = 1, .int_mask = 0x300,
                                       .timeout_ms = 300 };
    struct object program;
    int ret, err;

    object_need(&program, CHUNK, RKNPU_LAB_DRAM);
    memset(program.cpu, 0, CHUNK);
    result.regcmd = program.iova;
    ret = ioctl(npu, RKNPU_LAB_SUBMIT, &result);
    err = errno;
    tap(ret && err == ETIMEDOUT, "a program without an enable word times out");
    tap_job(&all_dram, 0, "after the reset: data in DRAM");
    result.regcmd = 0x70000000;
    ret = ioctl(npu, RKNPU_LAB_SUBMIT, &result);
    err = errno;
    tap(ret && err == ETIMEDOUT, "a program at an address that is not mapped times out");
    tap_job(&all_dram, 0, "after a page fault and the reset: data in DRAM");
    object_free(&program);
}

static void test_limits(void)
{
    struct rknpu_lab_submit job = { .amount = 8, .tasks = 1, .core = info.cores };
    struct rknpu_lab_alloc huge = { .size = 1ull << 40 };
    struct object o;
    int used;

    tap(ioctl(npu, RKNPU_LAB_SUBMIT, &job) && errno == EINVAL, "a core that is not there: EINVAL");
    tap(ioctl(npu, RKNPU_LAB_ALLOC, &huge) && errno == EINVAL, "an object of 1 TiB: EINVAL");
    object_need(&o, CHUNK, RKNPU_LAB_SRAM);
    used = mm_used();
    close(o.fd);
    memset(o.cpu, 0x5a, CHUNK);
    tap(mm_used() == used, "a closed object stays while it is mapped");
    munmap(o.cpu, CHUNK);
    tap(mm_used() == used - (o.onchip != 0), "and goes with the last mapping");
}

static int test(void)
{
    static const struct places cases[] = {
        { 0 },
        { .program = RKNPU_LAB_SRAM },
        { .input = RKNPU_LAB_SRAM },
        { .weights = RKNPU_LAB_SRAM },
        { .output = RKNPU_LAB_SRAM },
    };
    static const char *const names[] = {
        "everything in DRAM", "register program in SRAM", "input in SRAM", "weights in SRAM",
        "output in SRAM",
    };

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tap_job(&cases[i], 0, names[i]);
    }
    for (unsigned core = 1; core < info.cores; core++) {
        tap_job(&all_dram, core, "everything in DRAM");
    }
    test_straddle();
    test_nbuf();
    test_limits();
    test_recovery();
    return tap_end();
}

/* ---- overlap ---- */

/* Registers of the machine's stand-in for decoder 0 (hw/soc/rk-decoder.h), in words. */
static volatile uint32_t *decoder_registers(void)
{
    bool rk3588 = npu_chip_of_version(info.version) == NPU_RK3588;
    off_t page = rk3588 ? 0xfdc38000 : 0x27b00000;
    int mem = open("/dev/mem", O_RDWR | O_SYNC);
    char *at = mem < 0 ? MAP_FAILED
                       : mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, mem, page);

    if (at == MAP_FAILED) {
        fprintf(stderr, "rknpu-lab: /dev/mem: %s\n", strerror(errno));
        exit(1);
    }
    return (volatile uint32_t *)(at + 0x100);
}

/* Right after the job, overwritten once the decoder has run: nothing on the chip prevents it. */
static int overlap(void)
{
    static const struct places output_in_sram = { .output = RKNPU_LAB_SRAM };
    struct conv conv = small_conv();
    struct rknpu_lab_submit result;
    struct job job;
    char why[128] = "";
    unsigned wrong;

    job_make(&job, &conv, &output_in_sram);
    tap(!job_run(&job, 0, &result) && !conv_compare(&conv, job.output.cpu, 1, why, sizeof(why)),
        "the output is right %s", why);
    decoder_registers()[2] = 0x5a5a5a5a;
    wrong = conv_compare(&conv, job.output.cpu, 1, why, sizeof(why));
    tap(wrong > conv_output_bytes(&conv) / 2, "the decoder wrote over it: %u of %zu values changed",
        wrong, conv_output_bytes(&conv));
    job_free(&job);
    return tap_end();
}

/* ---- soak ---- */

static int soak_process(unsigned seed, unsigned rounds)
{
    struct conv conv = { .chip = npu_chip_of_version(info.version), .width = 8, .height = 8,
                         .in_channels = 16, .out_channels = 32, .kernel = 1 };
    struct places at = { .output = RKNPU_LAB_SRAM };
    unsigned bad = 0;

    npu = open(DEVICE, O_RDWR);
    for (unsigned i = 0; i < rounds; i++) {
        struct rknpu_lab_submit result;
        struct job job;
        char why[128];

        job_make(&job, &conv, &at);
        bad += job_run(&job, (seed + i) % info.cores, &result) ||
               conv_compare(&conv, job.output.cpu, 1, why, sizeof(why));
        job_free(&job);
    }
    close(npu);
    return bad ? 1 : 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    setvbuf(stdout, NULL, _IOLBF, 0);
    npu = open(DEVICE, O_RDWR);
    if (npu < 0 || ioctl(npu, RKNPU_LAB_INFO, &info)) {
        fprintf(stderr, "rknpu-lab: %s: %s (is rknpu_lab.ko loaded?)\n", DEVICE, strerror(errno));
        return 4;
    }
    if (npu_chip_of_version(info.version) < 0) {
        fprintf(stderr, "rknpu-lab: NPU version %#x is neither RK3588 nor RK3576\n", info.version);
        return 4;
    }
    if (!strcmp(what, "show")) {
        return show();
    }
    if (!strcmp(what, "golden")) {
        return golden();
    }
    if (!strcmp(what, "test")) {
        return test();
    }
    if (!strcmp(what, "overlap")) {
        return overlap();
    }
    if (!strcmp(what, "soak") && argc == 3 && atoi(argv[2]) > 0) {
        soak(soak_process, atoi(argv[2]));
        return tap_end();
    }
    fprintf(stderr, "usage: rknpu-lab show | golden | test | overlap | soak ROUNDS\n");
    return 2;
}
