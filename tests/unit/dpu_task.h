/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers of an RK3588 task that only the DPU works on: it reads a cube, computes, and writes
 * a cube of the same extents. The defaults are one fp16 atom of eight channels that passes
 * unchanged; a test names what differs and sets rarer registers on the runner.
 *   TaskRunner task = DpuTask{ .width = 10, .ew_cfg = kEwAdd }.runner(host);
 */
#ifndef TESTS_UNIT_DPU_TASK_H
#define TESTS_UNIT_DPU_TASK_H

#include "fake_host.h"

extern "C" {
#include "types.h"
}

struct DpuTask {
    static constexpr uint32_t kIn = 0x100000, kOperand = 0x200000, kOut = 0x300000;

    unsigned width = 1, height = 1, channels = 8;
    /* In memory, inside the DPU, and in memory again. */
    RknpuType in = RKNPU_FP16, inside = in, out = inside;
    uint32_t feature_mode_cfg = 0x1e5; /* FLYING_MODE 1, OUTPUT_MODE 2, BURST_LEN 15 */

    /*
     * What is read. From the last row of a surface to the next surface are surface_notch bytes,
     * below zero to go back.
     */
    uint32_t source = kIn;
    unsigned line_notch = 0; /* pixels left out behind each row */
    int32_t surface_notch = 0;
    uint32_t operand = kOperand;
    uint32_t erdma_cfg = 1u << 30 | 2 << 2; /* EW's operand: one a pixel, 16 bits */

    /* What is computed: BS and BN as if never written, EW bypassed, times 1 to fp16. */
    uint32_t bs_cfg = 0, bn_cfg = 0, ew_cfg = 1;
    uint32_t out_cvt_scale = 0x10001;

    /* What is written; the two strides are in bytes. */
    uint32_t bs_ow_cfg = 0; /* SIZE_E: atoms a pass, less one; TP_ORG_EN */
    uint32_t wdma_size_0 = 0, wdma_size_1 = 0;
    unsigned notch = 0; /* pixels left out behind each row */
    uint32_t surface_stride = 0, surface_add = 0;

    /* The task with these registers; all others are 0. */
    TaskRunner runner(FakeHost &host) const;
};

#endif /* TESTS_UNIT_DPU_TASK_H */
