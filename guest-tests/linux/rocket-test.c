/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocket-test: mainline's NPU driver through its own requests, as TAP. Convolutions that are
 * compared with plain loops, a job that cannot end, and convolutions after it:
 *
 *   rocket-test endless    a program without an enable word
 *   rocket-test unmapped   a program at an address that the IOMMU does not know; the driver warns
 *                          of the NPU's DMA error
 *   rocket-test unknown    a convolution of a mode that nobody documents; rknpu-emu does not model
 *                          it (a board may do anything)
 *
 * Written from the layout of include/uapi/drm/rocket_accel.h.
 * Exit status: 0 all right, 1 a step failed, 2 wrong use, 4 no device.
 */
#include "npu-program.h"
#include "npu-test.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define DEVICE "/dev/accel/accel0"
#define PAGE 4096u
#define WAIT_NS 10000000000ll /* the driver gives a job half a second */
#define NOWHERE 0x70000000u
#define CORES 3
#define CNA_CONV_CON1 0x100c

struct create {
    uint32_t size, handle;
    uint64_t iova, offset;
};

struct task {
    uint32_t program, words;
};

struct job_request {
    uint64_t tasks, in, out; /* addresses of arrays */
    uint32_t task_count, task_size, in_count, out_count;
};

struct submit {
    uint64_t jobs;
    uint32_t job_count, job_size;
    uint64_t reserved;
};

struct wait {
    uint32_t handle, reserved;
    int64_t deadline_ns; /* monotonic */
};

#define CREATE _IOWR('d', 0x40, struct create)
#define SUBMIT _IOW('d', 0x41, struct submit)
#define WAIT   _IOW('d', 0x42, struct wait)

static int npu;

struct buffer {
    uint32_t handle, iova;
    size_t size;
    void *cpu;
};

static struct buffer buffer_new(size_t bytes)
{
    struct create create = { .size = (bytes + PAGE - 1) / PAGE * PAGE };
    struct buffer b = { .size = create.size, .cpu = MAP_FAILED };

    if (!ioctl(npu, CREATE, &create)) {
        b.handle = create.handle;
        b.iova = create.iova;
        b.cpu = mmap(NULL, b.size, PROT_READ | PROT_WRITE, MAP_SHARED, npu, create.offset);
    }
    if (b.cpu == MAP_FAILED) {
        fprintf(stderr, "rocket-test: a buffer of %zu bytes: %s\n", bytes, strerror(errno));
        exit(1);
    }
    return b;
}

/* Waits until no job writes the buffer any more. */
static int buffer_wait(const struct buffer *b)
{
    struct timespec now;
    struct wait wait = { .handle = b->handle };

    clock_gettime(CLOCK_MONOTONIC, &now);
    wait.deadline_ns = now.tv_sec * 1000000000ll + now.tv_nsec + WAIT_NS;
    return ioctl(npu, WAIT, &wait) ? -errno : 0;
}

static struct conv conv;
static struct buffer program, input, weights, coefficients, output;
static unsigned words;

static void make_job(void)
{
    struct conv_addresses at;

    conv = (struct conv){ .chip = NPU_RK3588, .width = 24, .height = 20, .in_channels = 32,
                          .out_channels = 64, .kernel = 3 };
    program = buffer_new(CONV_MAX_WORDS * sizeof(uint64_t));
    input = buffer_new(conv_input_bytes(&conv));
    weights = buffer_new(conv_weight_bytes(&conv));
    coefficients = buffer_new(conv_coefficient_bytes(&conv));
    output = buffer_new(conv_output_bytes(&conv));
    at = (struct conv_addresses){ .input = input.iova, .weights = weights.iova,
                                  .coefficients = coefficients.iova, .output = output.iova };
    words = conv_program(&conv, &at, program.cpu);
    conv_fill(&conv, input.cpu, weights.cpu, coefficients.cpu);
}

/* Runs a program and waits for its end. */
static int run(uint32_t address)
{
    uint32_t in[] = { program.handle, input.handle, weights.handle, coefficients.handle };
    struct task task = { .program = address, .words = words };
    struct job_request job = { .tasks = (uintptr_t)&task, .in = (uintptr_t)in,
                               .out = (uintptr_t)&output.handle, .task_count = 1,
                               .task_size = sizeof(task), .in_count = sizeof(in) / sizeof(in[0]),
                               .out_count = 1 };
    struct submit submit = { .jobs = (uintptr_t)&job, .job_count = 1, .job_size = sizeof(job) };

    memset(output.cpu, 0x55, output.size);
    return ioctl(npu, SUBMIT, &submit) ? -errno : buffer_wait(&output);
}

static bool output_untouched(void)
{
    const uint8_t *byte = output.cpu;

    for (size_t i = 0; i < output.size; i++) {
        if (byte[i] != 0x55) {
            return false;
        }
    }
    return true;
}

/* The driver chooses the core; as many jobs as cores reach each of them. */
static void tap_right(const char *when)
{
    for (unsigned i = 0; i < CORES; i++) {
        char why[128] = "";
        int err = run(program.iova);
        unsigned wrong = err ? 0 : conv_compare(&conv, output.cpu, 1, why, sizeof(why));

        tap(!err && !wrong, "%s: convolution %u %s%s", when, i + 1, err ? strerror(-err) : "", why);
    }
}

/* Address of a program that cannot end. */
static uint32_t endless(void)
{
    struct buffer empty = buffer_new(program.size);

    memset(empty.cpu, 0, empty.size);
    return empty.iova;
}

static uint32_t unmapped(void)
{
    return NOWHERE;
}

static uint32_t unknown(void)
{
    struct buffer copy = buffer_new(program.size);
    uint64_t *word = copy.cpu;

    memcpy(word, program.cpu, program.size);
    for (unsigned i = 0; i < words; i++) {
        if ((word[i] & 0xffff) == CNA_CONV_CON1) {
            word[i] |= 1 << 16; /* CONV_MODE, in the value at bit 16 */
        }
    }
    return copy.iova;
}

static const struct bad {
    const char *name, *what;
    uint32_t (*make)(void);
} bad[] = {
    { "endless", "a program without an enable word", endless },
    { "unmapped", "a program that is not mapped", unmapped },
    { "unknown", "a program of an unknown mode", unknown },
};

static const struct bad *find_bad(const char *name)
{
    for (unsigned i = 0; name && i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (!strcmp(bad[i].name, name)) {
            return &bad[i];
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const struct bad *kind = argc == 2 ? find_bad(argv[1]) : NULL;

    if (!kind) {
        fprintf(stderr, "usage: rocket-test endless | unmapped | unknown\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    npu = open(DEVICE, O_RDWR);
    if (npu < 0) {
        fprintf(stderr, "rocket-test: %s: %s (is rocket loaded?)\n", DEVICE, strerror(errno));
        return 4;
    }
    make_job();
    tap_right("before");
    tap(!run(kind->make()) && output_untouched(), "the driver gives %s up", kind->what);
    tap_right("after");
    usleep(50000); /* the driver frees the last job later: docs/guest-parts.md, "rocket.ko" */
    return tap_end();
}
