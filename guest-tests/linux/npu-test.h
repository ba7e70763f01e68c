/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the test programs of the NPU's drivers share: TAP, the file rknpu/mm, and a soak.
 */
#ifndef NPU_TEST_H
#define NPU_TEST_H

#include <stdbool.h>
#include <stdint.h>

#define MM_CHUNK 4096u /* bytes that one character of rknpu/mm stands for */

/* From now on the lines that the kernel printed during a step follow it when it fails. */
void tap_follow_kernel_log(void);

/* One step: "ok N - TEXT" or "not ok N - TEXT". Returns `good`. */
bool tap(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tap_skip(const char *what, const char *why);

/* Prints the plan. Returns the exit status: 0, or 1 if a step failed. */
int tap_end(void);

/* Chunks that rknpu/mm shows as used; -1 when it cannot be read. */
int mm_used(void);

/* Prints rknpu/mm under a title. */
void mm_print(const char *title);

/*
 * How mm_golden() gets on-chip memory.
 *   get  a buffer of `size` bytes, as much of it on the chip as the driver grants: *onchip bytes.
 *        NULL: the driver refused
 *   put  gives it back
 */
struct mm_allocator {
    void *(*get)(uint64_t size, uint64_t *onchip);
    void (*put)(void *buffer);
};

/*
 * One step for each text of rknpu/mm, byte for byte: empty; 512 KB, where there is as much; all;
 * too much; fragments; empty again. The texts are those of Rockchip's guide to the RK3588's SRAM,
 * made here without the driver. `size` is the SRAM's, in bytes, at least 256 KiB.
 */
void mm_golden(const struct mm_allocator *allocator, uint32_t size);

/*
 * Runs `process(number, rounds)` in one process for each CPU, some `total` rounds in all; it
 * returns 0 when all was right. One step each, and one that rknpu/mm is what it was.
 */
void soak(int (*process)(unsigned number, unsigned rounds), unsigned total);

#endif
