/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a bare-metal test needs: registers, a console, TAP results, the NPU's PC and IOMMU.
 *
 * A program has a main() that calls report() once a fact. Output is TAP on the debug UART; the plan
 * comes at the end. finish() runs after main(), prints the plan and powers the machine off by PSCI.
 * Programs read no clock but the generic timer; every wait here has a limit in its ticks.
 */
#ifndef BARE_LIB_H
#define BARE_LIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "board.h"

static inline uint32_t read32(uintptr_t address)
{
    return *(volatile uint32_t *)address;
}

static inline void write32(uintptr_t address, uint32_t value)
{
    __asm__ volatile("dsb sy" ::: "memory");
    *(volatile uint32_t *)address = value;
}

/* Console: %s, %u, %d, %x and %% of 32-bit values, no widths. */
void print(const char *format, ...);

/* One TAP line. Returns `ok`. */
bool report(bool ok, const char *format, ...);

/* Like report(a == b), and says both values when they differ. */
bool report_equal(uint32_t got, uint32_t expected, const char *what);

/* Prints the plan and powers off; does not return. start.S calls it after main(). */
void finish(void);

/* Register of an NPU core, of one of its IOMMU banks (bank 0 or 1). */
uint32_t npu_read(unsigned core, uint32_t offset);
void npu_write(unsigned core, uint32_t offset, uint32_t value);
uint32_t mmu_read(unsigned core, unsigned bank, uint32_t offset);
void mmu_write(unsigned core, unsigned bank, uint32_t offset, uint32_t value);

/* The generic timer, and how far it counts in `ms`. */
uint64_t ticks(void);
uint64_t ticks_of_ms(unsigned ms);

/* Waits up to `ms` until (register & mask) == value; false when the time is over. */
bool npu_wait(unsigned core, uint32_t offset, uint32_t mask, uint32_t value, unsigned ms);
void delay_ms(unsigned ms);

/*
 * A register program under construction at DRAM address `at`.
 * emit() appends one word; the target bits follow from the register's block.
 * emit_tail() ends the program: address and amount of the next one (0 = none), barrier, unit mask.
 * program_amount() is what REGISTER_AMOUNTS takes for it.
 */
typedef struct Program {
    uint64_t *at;
    unsigned count;
} Program;

void emit(Program *p, uint32_t reg, uint32_t value);
void emit_tail(Program *p, uint32_t next, uint32_t next_amount, uint32_t unit_mask);
uint32_t program_amount(const Program *p);

/*
 * Starts `tasks` tasks at device address `program` on a core the way Rockchip's driver does
 * (pointers, address, amount, masks, TASK_CON, OPERATION_ENABLE 1 and at once 0). npu_finish()
 * waits for an interrupt status bit of `mask`, at most a second, and clears it.
 */
void npu_start(unsigned core, uint32_t program, uint32_t amount, unsigned tasks, uint32_t mask);
bool npu_finish(unsigned core, uint32_t mask);

#endif /* BARE_LIB_H */
