/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PC unit as a driver meets it: registers, the walk over programs, interrupts.
 * Its tasks copy one pixel each: the smallest thing that raises an interrupt and shows that it ran.
 */
#include "copy.h"

#if defined(BOARD_RK3588)

enum { SOURCE = BOARD_WORK + 0x100000, TARGET = BOARD_WORK + 0x110000 };

/* Copies pixel `from` of the source to pixel `to` of the target. */
static void emit_pixel(Program *p, unsigned from, unsigned to)
{
    emit_copy(p, SOURCE + 16 * from, TARGET + 16 * to);
}

static uint8_t *source(void)
{
    return (uint8_t *)(uintptr_t)SOURCE;
}

static uint8_t *target(void)
{
    return (uint8_t *)(uintptr_t)TARGET;
}

static void fill(void)
{
    for (unsigned i = 0; i < 256; i++) {
        source()[i] = (uint8_t)(i * 7 + 3);
        target()[i] = 0xaa;
    }
}

static bool copied(unsigned from, unsigned to)
{
    for (unsigned i = 0; i < 16; i++) {
        if (target()[16 * to + i] != source()[16 * from + i]) {
            return false;
        }
    }
    return true;
}

static bool untouched(unsigned to)
{
    for (unsigned i = 0; i < 16; i++) {
        if (target()[16 * to + i] != 0xaa) {
            return false;
        }
    }
    return true;
}

static void test_registers(void)
{
    npu_write(0, PC_INTERRUPT_MASK, 0x300);
    report_equal(npu_read(0, PC_INTERRUPT_MASK), 0x300, "INTERRUPT_MASK reads back");
    npu_write(0, PC_VERSION, 0);
    report_equal(npu_read(0, PC_VERSION), BOARD_VERSION, "VERSION after a write");
    report_equal(npu_read(0, PC_INTERRUPT_STATUS), 0, "INTERRUPT_STATUS of an idle core");
    report_equal(npu_read(0, PC_OPERATION_ENABLE), 0, "OPERATION_ENABLE of an idle core");
}

static void test_one_task(unsigned core)
{
    Program p = {(uint64_t *)(uintptr_t)BOARD_WORK, 0};

    fill();
    emit_pixel(&p, core, 3);
    emit_tail(&p, 0, 0, 0x18);
    npu_start(core, BOARD_WORK, program_amount(&p), 1, 0x300);
    report(npu_finish(core, 0x300), "core %u: one task raises a DPU interrupt", core);
    report(copied(core, 3), "core %u: and wrote its pixel", core);
    report_equal(npu_read(core, PC_INTERRUPT_STATUS), 0, "INTERRUPT_STATUS after the clear");
}

/* Two programs in a chain; TASK_NUMBER decides how many of them run. */
static void test_chain(unsigned tasks)
{
    Program first = {(uint64_t *)(uintptr_t)BOARD_WORK, 0};
    Program second = {(uint64_t *)(uintptr_t)(BOARD_WORK + 0x1000), 0};

    fill();
    emit_pixel(&second, 1, 1);
    emit_tail(&second, 0, 0, 0x18);
    emit_pixel(&first, 0, 0);
    emit_tail(&first, BOARD_WORK + 0x1000, program_amount(&second), 0x18);
    npu_start(0, BOARD_WORK, program_amount(&first), tasks, 0x300);
    report(npu_finish(0, 0x300), "chain of two, TASK_NUMBER %u: one interrupt", tasks);
    report(copied(0, 0), "the first task ran");
    report(tasks == 2 ? copied(1, 1) : untouched(1), "the second task %s",
           tasks == 2 ? "ran" : "did not run");
    report_equal(npu_read(0, BOARD_TASK_STATUS) & 0xfff, tasks, "TASK_STATUS counter");
}

/*
 * A short program inherits from the task two before it, because the two register groups take turns
 * (TRM: ping-pong). Complete, complete, delta, delta: the deltas write only the target address.
 */
static void test_groups(void)
{
    Program p[4];
    uint32_t at[4];

    fill();
    for (unsigned i = 0; i < 4; i++) {
        at[i] = BOARD_WORK + 0x1000 * i;
        p[i] = (Program){(uint64_t *)(uintptr_t)at[i], 0};
        if (i < 2) {
            emit_pixel(&p[i], 4 + i, i);
        } else {
            emit(&p[i], RK3588_DPU_S_POINTER, 0xe);
            emit(&p[i], RK3588_DPU_RDMA_S_POINTER, 0xe);
            emit(&p[i], RK3588_DPU_DST_BASE_ADDR, TARGET + 16 * i);
        }
    }
    for (unsigned i = 0; i < 4; i++) {
        unsigned next_count = i == 3 ? 0 : i + 1 < 2 ? p[1].count + 4 : 3 + 4;
        emit_tail(&p[i], i == 3 ? 0 : at[i + 1], i == 3 ? 0 : (next_count + 1) / 2 - 1, 0x18);
    }
    npu_start(0, at[0], program_amount(&p[0]), 4, 0x300);
    report(npu_finish(0, 0x300), "four tasks, one interrupt");
    report(copied(4, 0) && copied(5, 1), "the complete programs ran");
    report(copied(4, 2) && copied(5, 3), "the deltas inherit from the task two before");
}

static void test_null_chain(void)
{
    Program p = {(uint64_t *)(uintptr_t)BOARD_WORK, 0};

    fill();
    emit_pixel(&p, 0, 0);
    emit_tail(&p, 0, 0, 0x18);
    npu_start(1, BOARD_WORK, program_amount(&p), 2, 0x300);
    delay_ms(20);
    report_equal(npu_read(1, PC_INTERRUPT_STATUS), 0,
                 "next address 0 before TASK_NUMBER: no interrupt");
}

int main(void)
{
    test_registers();
    for (unsigned core = 0; core < BOARD_CORES; core++) {
        test_one_task(core);
    }
    test_chain(1);
    test_chain(2);
    test_groups();
    test_null_chain();
    return 0;
}

#else

/* RK3576: the same walk needs a task of that chip's own; its TASK_CON layout is what differs. */
int main(void)
{
    npu_write(0, PC_TASK_CON, 0x7ffff);
    report_equal(npu_read(0, PC_TASK_CON) & 0xffff, 0xffff, "TASK_NUMBER has 16 bits");
    npu_write(0, PC_INTERRUPT_MASK, 0x300);
    report_equal(npu_read(0, PC_INTERRUPT_MASK), 0x300, "INTERRUPT_MASK reads back");
    report_equal(npu_read(1, PC_INTERRUPT_STATUS), 0, "INTERRUPT_STATUS of an idle core");
    return 0;
}

#endif
