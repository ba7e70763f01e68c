/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client of Rockchip's rknpu driver: requests, buffers, and a convolution as a job. */
#include "rknpu-client.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DATA (RK_MEM_SCATTERED | RK_MEM_CACHED)
#define MAX_CORES 3

int npu = -1;

static bool is_rknpu(int fd)
{
    char name[32] = "";
    struct drm_name version = { .name = name, .name_len = sizeof(name) - 1 };

    return ioctl(fd, DRM_NAME, &version) == 0 && !strcmp(name, "rknpu");
}

bool client_open(void)
{
    for (unsigned i = 0; i < 16; i++) {
        char path[32];

        snprintf(path, sizeof(path), "/dev/dri/card%u", i);
        npu = open(path, O_RDWR);
        if (npu >= 0 && is_rknpu(npu)) {
            return true;
        }
        if (npu >= 0) {
            close(npu);
        }
    }
    return false;
}

uint32_t ask(enum rk_action_code code)
{
    struct rk_action action = { .code = code };

    return ioctl(npu, RK_ACTION, &action) ? 0 : action.value;
}

int act(enum rk_action_code code, uint32_t value)
{
    struct rk_action action = { .code = code, .value = value };

    return ioctl(npu, RK_ACTION, &action) ? -errno : 0;
}

void *object_map(int fd, uint32_t handle, uint64_t size)
{
    struct rk_map map = { .handle = handle };

    if (ioctl(fd, RK_MAP, &map)) {
        return MAP_FAILED;
    }
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, map.offset);
}

int object_create(struct object *o, uint64_t size, uint32_t flags, uint64_t onchip, int domain)
{
    struct rk_create create = { .flags = DATA | flags, .size = size, .onchip = onchip,
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

int object_destroy(struct object *o)
{
    struct rk_destroy destroy = { .handle = o->handle, .object = o->id };

    if (o->cpu != MAP_FAILED) {
        munmap(o->cpu, o->size);
    }
    return ioctl(npu, RK_DESTROY, &destroy) ? -errno : 0;
}

int object_sync(const struct object *o, uint32_t direction)
{
    struct rk_sync sync = { .flags = direction, .object = o->id, .size = o->size };

    return ioctl(npu, RK_SYNC, &sync) ? -errno : 0;
}

/* ---- a convolution as a job ---- */

static int job_objects(struct job *job, unsigned count, uint32_t where, int domain)
{
    const struct conv *conv = &job->conv;
    int err;

    err = object_create(&job->output, conv_output_bytes(conv) * count, where, 0, domain);
    err = err ? err : object_create(&job->tasks, sizeof(struct rk_task) * count, RK_MEM_KERNEL, 0,
                                    domain);
    err = err ? err : object_create(&job->program, CONV_MAX_WORDS * 8ull * count, 0, 0, domain);
    err = err ? err : object_create(&job->input, conv_input_bytes(conv), 0, 0, domain);
    err = err ? err : object_create(&job->weights, conv_weight_bytes(conv), 0, 0, domain);
    return err ? err : object_create(&job->coefficients, conv_coefficient_bytes(conv), 0, 0,
                                     domain);
}

int job_make(struct job *job, struct conv conv, unsigned count, uint32_t where, int domain)
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

void job_destroy(struct job *job)
{
    object_destroy(&job->output);
    object_destroy(&job->tasks);
    object_destroy(&job->program);
    object_destroy(&job->input);
    object_destroy(&job->weights);
    object_destroy(&job->coefficients);
}

struct rk_submit job_request(const struct job *job, uint32_t mask, int domain)
{
    return (struct rk_submit){ .flags = RK_JOB_PC | RK_JOB_PINGPONG, .timeout_ms = JOB_TIMEOUT_MS,
                               .number = job->count, .task_object = job->tasks.id,
                               .domain = domain, .core_mask = mask, .fence = -1 };
}

static unsigned bits(uint32_t mask)
{
    return __builtin_popcount(mask);
}

void job_share(struct rk_submit *request, unsigned count)
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

int job_run(struct job *job, uint32_t mask, int domain)
{
    struct rk_submit request = job_request(job, mask, domain);

    job_share(&request, job->count);
    if (ioctl(npu, RK_SUBMIT, &request)) {
        return -errno;
    }
    return object_sync(&job->output, RK_SYNC_FROM_DEVICE);
}

unsigned job_wrong(const struct job *job, unsigned every, char *why, size_t size)
{
    const int8_t *output = job->output.cpu;
    unsigned wrong = 0;

    for (unsigned i = 0; i < job->count; i++) {
        wrong += conv_compare(&job->conv, output + i * conv_output_bytes(&job->conv), every, why,
                              size);
    }
    return wrong;
}

