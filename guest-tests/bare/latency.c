/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long small jobs take from OPERATION_ENABLE to the interrupt at the GIC, by the generic timer.
 * bench/latency.c runs it and reads the lines "latency NAME MEDIAN", in nanoseconds a job.
 *
 * The jobs: a copy of one pixel, the least that raises an interrupt; a convolution of one pixel, 16
 * channels and 32 kernels; the same 32 times in one job.
 */
#include "copy.h"

#if defined(BOARD_RK3588)

enum {
    SOURCE = BOARD_WORK + 0x100000,
    WEIGHTS = BOARD_WORK + 0x110000,
    BIAS = BOARD_WORK + 0x120000,
    TARGET = BOARD_WORK + 0x130000,
    CHANNELS = 16,
    KERNELS = 32,
    CHAIN = 32,       /* tasks of the long job */
    PROGRAM = 0x1000, /* bytes kept for a task's program */
    JOBS = 501,
    IRQS = 0x300,
    GICD_ISPENDR = 0xfe600200,
    NPU_SPI = 110, /* of core 0 */
};

static void emit_conv(Program *p)
{
    emit(p, RK3588_DPU_S_POINTER, 0xe);
    emit(p, RK3588_DPU_RDMA_S_POINTER, 0xe);
    emit(p, RK3588_CNA_CONV_CON1, 0);
    emit(p, RK3588_CNA_CONV_CON3, 9); /* stride 1, 1 */
    emit(p, RK3588_CNA_DATA_SIZE0, 1 << 16 | 1);
    emit(p, RK3588_CNA_DATA_SIZE1, (CHANNELS - 1) << 16 | CHANNELS);
    emit(p, RK3588_CNA_WEIGHT_SIZE0, CHANNELS * KERNELS);
    emit(p, RK3588_CNA_WEIGHT_SIZE1, CHANNELS);
    emit(p, RK3588_CNA_WEIGHT_SIZE2, 1 << 24 | 1 << 16 | KERNELS);
    emit(p, RK3588_CNA_CVT_CON0, 0xb);
    emit(p, RK3588_CNA_FEATURE_DATA_ADDR, SOURCE);
    emit(p, RK3588_CNA_DMA_CON1, 4);
    emit(p, RK3588_CNA_FC_DATA_SIZE0, 1 << 16 | 1);
    emit(p, RK3588_CNA_DCOMP_ADDR0, WEIGHTS);
    emit(p, RK3588_DPU_FEATURE_MODE_CFG, 0x1e4);
    emit(p, RK3588_DPU_DST_BASE_ADDR, TARGET);
    emit(p, RK3588_DPU_DST_SURF_STRIDE, 16);
    emit(p, RK3588_DPU_DATA_CUBE_CHANNEL, (KERNELS - 1) << 16 | (KERNELS - 1));
    emit(p, RK3588_DPU_BS_CFG, 0x20150); /* add the bias from memory */
    emit(p, RK3588_DPU_BS_OW_CFG, 0x124);
    emit(p, RK3588_DPU_BN_CFG, 0x53);
    emit(p, RK3588_DPU_EW_CFG, 0x383);
    emit(p, RK3588_DPU_OUT_CVT_SCALE, 0x4000);
    emit(p, RK3588_DPU_OUT_CVT_SHIFT, 20);
    emit(p, RK3588_DPU_SURFACE_ADD, 32);
    emit(p, RK3588_DPU_RDMA_BRDMA_CFG, 2);
    emit(p, RK3588_DPU_RDMA_BS_BASE_ADDR, BIAS);
    emit(p, RK3588_DPU_RDMA_ERDMA_CFG, 1);
}

static uint32_t nanoseconds(uint64_t t)
{
    return (uint32_t)(t * 1000000000 / (ticks_of_ms(1) * 1000));
}

/* True when the line of core 0 is high at the GIC; false after a second. */
static bool wait_for_interrupt(void)
{
    uint64_t end = ticks() + ticks_of_ms(1000);

    do {
        if (read32(GICD_ISPENDR + (32 + NPU_SPI) / 32 * 4) >> (32 + NPU_SPI) % 32 & 1) {
            return true;
        }
    } while (ticks() < end);
    return false;
}

static void sort(uint32_t *values, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        uint32_t v = values[i];
        unsigned at = i;

        for (; at > 0 && values[at - 1] > v; at--) {
            values[at] = values[at - 1];
        }
        values[at] = v;
    }
}

typedef struct Job {
    char name[12]; /* no pointer: nobody relocates the program */
    uint32_t program, amount;
    unsigned tasks;
    uint32_t times[JOBS];
} Job;

static bool run(Job *job, unsigned turn)
{
    uint64_t start = ticks();
    bool done;

    npu_start(0, job->program, job->amount, job->tasks, IRQS);
    done = wait_for_interrupt();
    job->times[turn] = nanoseconds(ticks() - start);
    npu_write(0, PC_INTERRUPT_CLEAR, 0x1ffff);
    return done;
}

/* `tasks` convolutions in a chain at `at`; returns the amount of the first program. */
static uint32_t emit_chain(uint32_t at, unsigned tasks)
{
    uint32_t amount = 0;

    for (unsigned i = 0; i < tasks; i++, at += PROGRAM) {
        Program p = { (uint64_t *)(uintptr_t)at, 0 };
        bool last = i + 1 == tasks;

        emit_conv(&p);
        amount = (p.count + 4 + 1) / 2 - 1; /* the same for every task */
        emit_tail(&p, last ? 0 : at + PROGRAM, last ? 0 : amount, 0x1d);
    }
    return amount;
}

/* The jobs take turns, so that a load of the host meets all alike. */
int main(void)
{
    static Job jobs[] = {
        { .name = "copy", .program = BOARD_WORK, .tasks = 1 },
        { .name = "convolution", .program = BOARD_WORK + PROGRAM, .tasks = 1 },
        { .name = "chain", .program = BOARD_WORK + 2 * PROGRAM, .tasks = CHAIN },
    };
    Program copy = { (uint64_t *)(uintptr_t)jobs[0].program, 0 };

    emit_copy(&copy, SOURCE, TARGET);
    emit_tail(&copy, 0, 0, 0x18);
    jobs[0].amount = program_amount(&copy);
    jobs[1].amount = emit_chain(jobs[1].program, jobs[1].tasks);
    jobs[2].amount = emit_chain(jobs[2].program, jobs[2].tasks);
    for (unsigned turn = 0; turn < JOBS; turn++) {
        for (unsigned i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
            if (!run(&jobs[i], turn)) {
                report(false, "waited a second for the interrupt of %s %u", jobs[i].name, turn);
                return 1;
            }
        }
    }
    for (unsigned i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        sort(jobs[i].times, JOBS);
        print("latency %s %u\n", jobs[i].name, jobs[i].times[JOBS / 2]);
    }
    report(true, "%u jobs of each kind", JOBS);
    return 0;
}

#else

int main(void)
{
    print("1..0 # SKIP the program is written in RK3588's registers\n");
    for (;;) {
        finish();
    }
}

#endif
