/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/*
 * What a program says to rknpu_lab through /dev/rknpu_lab.
 *
 * An object is a file of its own, and register programs name it by its IOVA, the address at which
 * the NPU sees it.
 */
#ifndef RKNPU_LAB_H
#define RKNPU_LAB_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * version    what the NPU's VERSION register holds
 * cores      number of cores
 * sram_size  bytes of SRAM that the device tree gives to the NPU, 0 = none
 * sram_free  bytes of it that no object uses
 * nbuf_size  bytes of the NBUF, 0 = this chip has none
 */
struct rknpu_lab_info {
	__u32 version;
	__u32 cores;
	__u32 sram_size;
	__u32 sram_free;
	__u32 nbuf_size;
	__u32 pad;
};

enum rknpu_lab_place {
	RKNPU_LAB_DRAM,	/* all of it in DRAM */
	RKNPU_LAB_SRAM,	/* first part in SRAM, the rest in DRAM */
	RKNPU_LAB_NBUF,	/* first part in the NBUF, shared by all NBUF objects, the rest in DRAM */
};

/*
 * in:  size     bytes wanted; rounded up to 4096
 *      onchip   bytes wanted on the chip, 0 = as many as possible
 *      place    enum rknpu_lab_place
 * out: size     bytes of the object
 *      onchip   bytes of it that lie in SRAM or NBUF: [iova, iova + onchip)
 *      iova     its address
 *      fd       the object: mmap() it from offset 0, close() it; the memory goes with the last of
 *               its descriptors and mappings
 */
struct rknpu_lab_alloc {
	__u64 size;
	__u64 onchip;
	__u64 iova;
	__u32 place;
	__s32 fd;
};

/*
 * in:  regcmd      IOVA of the first register program
 *      amount      its length in 64-bit words, the four tail words included
 *      tasks       number of tasks to run from the chain
 *      int_mask    interrupt bits that the last task raises (0x300 DPU, 0xc00 PPU)
 *      core        which core
 *      timeout_ms  how long to wait
 * out: int_status  INTERRUPT_STATUS when the job ended
 *      task_count  tasks finished, from TASK_STATUS
 * ETIMEDOUT: all cores were reset.
 */
struct rknpu_lab_submit {
	__u64 regcmd;
	__u32 amount;
	__u32 tasks;
	__u32 int_mask;
	__u32 core;
	__u32 timeout_ms;
	__u32 int_status;
	__u32 task_count;
	__u32 pad;
};

#define RKNPU_LAB_INFO   _IOR('L', 0, struct rknpu_lab_info)
#define RKNPU_LAB_ALLOC  _IOWR('L', 1, struct rknpu_lab_alloc)
#define RKNPU_LAB_SUBMIT _IOWR('L', 2, struct rknpu_lab_submit)

#endif
