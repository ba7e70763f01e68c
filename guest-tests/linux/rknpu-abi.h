/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The binary interface of Rockchip's rknpu driver (0.9.6 to 0.9.8) as a program sees it: sizes,
 * places and numbers, in our own names. It is a DRM driver; sizes are part of each request number.
 */
#ifndef RKNPU_ABI_H
#define RKNPU_ABI_H

#include <stdint.h>
#include <sys/ioctl.h>

/* What ACTION is asked to do. Versions come back as major * 10000 + minor * 100 + patch. */
enum rk_action_code {
    RK_GET_HW_VERSION = 0,
    RK_GET_DRIVER_VERSION = 1,
    RK_RESET = 6,
    RK_CLEAR_AMOUNTS = 13,
    RK_GET_DATA_WRITTEN = 14,
    RK_GET_DATA_READ = 15,
    RK_GET_WEIGHT_READ = 16,
    RK_GET_IOMMU_ENABLED = 18,
    RK_POWER_ON = 20,
    RK_POWER_OFF = 21,
    RK_GET_SRAM_TOTAL = 22,
    RK_GET_SRAM_FREE = 23,
    RK_GET_DOMAIN = 24,
    RK_SET_DOMAIN = 25,
};

struct rk_action {
    uint32_t code;
    uint32_t value;
};

/* MEM_CREATE flags. */
#define RK_MEM_SCATTERED  (1u << 0)  /* pages need not be contiguous */
#define RK_MEM_CACHED     (1u << 1)
#define RK_MEM_KERNEL     (1u << 3)  /* the kernel reads it too: task lists */
#define RK_MEM_SRAM       (1u << 8)
#define RK_MEM_NBUF       (1u << 9)

/* onchip: bytes wanted in SRAM or NBUF, 0 = as many as possible; comes back as bytes granted. */
struct rk_create {
    uint32_t handle;
    uint32_t flags;
    uint64_t size;
    uint64_t object;
    uint64_t iova;
    uint64_t onchip;
    int32_t domain;
    uint32_t core_mask;
};

#define RK_CREATE_OLD_SIZE 40 /* up to 0.9.2: without domain and core_mask */

struct rk_map {
    uint32_t handle, pad;
    uint64_t offset;
};

struct rk_destroy {
    uint32_t handle, pad;
    uint64_t object;
};

#define RK_SYNC_TO_DEVICE   1u
#define RK_SYNC_FROM_DEVICE 2u

struct rk_sync {
    uint32_t flags, pad;
    uint64_t object;
    uint64_t offset;
    uint64_t size;
};

struct rk_task {
    uint32_t flags;
    uint32_t operator_index;
    uint32_t enable_mask;
    uint32_t int_mask;
    uint32_t int_clear;
    uint32_t int_status;
    uint32_t amount;        /* words of the program without its four tail words */
    uint32_t offset;        /* informative */
    uint64_t program;       /* IOVA */
} __attribute__((packed));

/* SUBMIT flags. */
#define RK_JOB_PC        (1u << 0)
#define RK_JOB_NONBLOCK  (1u << 1)
#define RK_JOB_PINGPONG  (1u << 2)
#define RK_JOB_FENCE_IN  (1u << 3)
#define RK_JOB_FENCE_OUT (1u << 4)

/* subcore: entry N for core N with one or two cores in the mask, entry N + 2 with three. */
struct rk_submit {
    uint32_t flags;
    uint32_t timeout_ms;
    uint32_t start, number;
    uint32_t counter;
    int32_t priority;
    uint64_t task_object;
    uint32_t domain, pad;
    uint64_t base;
    int64_t elapsed_ns;
    uint32_t core_mask;
    int32_t fence;
    struct {
        uint32_t start, number;
    } subcore[5];
};

#define RK_IOC(n, type) _IOWR('d', 0x40 + (n), type)
#define RK_ACTION  RK_IOC(0, struct rk_action)
#define RK_SUBMIT  RK_IOC(1, struct rk_submit)
#define RK_CREATE  RK_IOC(2, struct rk_create)
#define RK_MAP     RK_IOC(3, struct rk_map)
#define RK_DESTROY RK_IOC(4, struct rk_destroy)
#define RK_SYNC    RK_IOC(5, struct rk_sync)

_Static_assert(RK_ACTION == 0xc0086440 && RK_SUBMIT == 0xc0686441 && RK_CREATE == 0xc0306442 &&
               RK_MAP == 0xc0106443 && RK_DESTROY == 0xc0106444 && RK_SYNC == 0xc0206445 &&
               sizeof(struct rk_task) == 40, "the sizes are part of the interface");

/* Of DRM itself. */
struct drm_name {
    int version[3];
    size_t name_len;
    char *name;
    size_t date_len;
    char *date;
    size_t desc_len;
    char *desc;
};

struct drm_prime {
    uint32_t handle, flags;
    int32_t fd;
};

struct drm_close {
    uint32_t handle, pad;
};

#define DRM_NAME           _IOWR('d', 0x00, struct drm_name)
#define DRM_CLOSE          _IOW('d', 0x09, struct drm_close)
#define DRM_HANDLE_TO_FD   _IOWR('d', 0x2d, struct drm_prime)
#define DRM_FD_TO_HANDLE   _IOWR('d', 0x2e, struct drm_prime)

#endif
