/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client of Rockchip's rknpu driver. Functions that return int give 0 or a negative errno.
 */
#ifndef RKNPU_CLIENT_H
#define RKNPU_CLIENT_H

#include "npu-program.h"
#include "rknpu-abi.h"
#include <stdbool.h>

#define JOB_TIMEOUT_MS 30000

/* The DRM device of the driver. client_open() sets it; false: there is none. */
extern int npu;
bool client_open(void);

/* An ACTION: its answer, 0 when refused; and one that only does something. */
uint32_t ask(enum rk_action_code code);
int act(enum rk_action_code code, uint32_t value);

/* A buffer: [iova, iova + onchip) lies in SRAM or NBUF, the rest in DRAM; mapped at `cpu`. */
struct object {
    uint32_t handle;
    uint64_t id, iova, size, onchip;
    void *cpu;
};

/*
 * `flags` go beside those of data (scattered, cached); `onchip` is how many bytes are wanted there,
 * 0 = as many as possible.
 */
int object_create(struct object *o, uint64_t size, uint32_t flags, uint64_t onchip, int domain);
int object_destroy(struct object *o);
int object_sync(const struct object *o, uint32_t direction);

/* Maps a buffer of the open file `fd`; MAP_FAILED on error. */
void *object_map(int fd, uint32_t handle, uint64_t size);

/* A job of `count` chained tasks, each the whole convolution into an output of its own. */
struct job {
    struct conv conv;
    struct object tasks, program, input, weights, coefficients, output;
    unsigned words, count;
};

/* `where` adds a flag to the output's memory, such as RK_MEM_SRAM. */
int job_make(struct job *job, struct conv conv, unsigned count, uint32_t where, int domain);
void job_destroy(struct job *job);

/* What the runtime sends for it: blocking, fetch mode, ping-pong. job_share() names the tasks. */
struct rk_submit job_request(const struct job *job, uint32_t mask, int domain);

/* One core does all tasks; several cores share them evenly, in order. */
void job_share(struct rk_submit *request, unsigned count);

/* Submits, waits, and fetches the output. */
int job_run(struct job *job, uint32_t mask, int domain);

/* Wrong values over the outputs of all tasks; `every` and `why` as for conv_compare(). */
unsigned job_wrong(const struct job *job, unsigned every, char *why, size_t size);

#endif
