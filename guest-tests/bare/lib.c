/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Console, TAP and NPU access of the bare-metal tests; lib.h is the manual. */
#include <stdarg.h>
#include "lib.h"

static unsigned reports;
static unsigned failures;

static void put(char c)
{
    while (!(read32(BOARD_UART + 0x14) & 0x20)) { /* LSR.THRE */
    }
    write32(BOARD_UART, (uint8_t)c);
}

static void put_number(uint32_t value, unsigned base)
{
    char digits[10];
    unsigned n = 0;

    do {
        digits[n++] = (char)(value % base < 10 ? '0' + value % base : 'a' + value % base - 10);
        value /= base;
    } while (value);
    while (n) {
        put(digits[--n]);
    }
}

static void print_list(const char *format, va_list args)
{
    for (; *format; format++) {
        if (*format != '%') {
            put(*format);
            continue;
        }
        switch (*++format) {
        case 's':
            for (const char *s = va_arg(args, const char *); *s; s++) {
                put(*s);
            }
            break;
        case 'd': {
            int value = va_arg(args, int);
            if (value < 0) {
                put('-');
            }
            put_number(value < 0 ? 0u - (uint32_t)value : (uint32_t)value, 10);
            break;
        }
        case 'u':
            put_number(va_arg(args, unsigned), 10);
            break;
        case 'x':
            put_number(va_arg(args, unsigned), 16);
            break;
        default:
            put('%');
        }
    }
}

void print(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_list(format, args);
    va_end(args);
}

bool report(bool ok, const char *format, ...)
{
    va_list args;

    print("%s %u - ", ok ? "ok" : "not ok", ++reports);
    va_start(args, format);
    print_list(format, args);
    va_end(args);
    print("\n");
    failures += !ok;
    return ok;
}

bool report_equal(uint32_t got, uint32_t expected, const char *what)
{
    if (got == expected) {
        return report(true, "%s is 0x%x", what, got);
    }
    return report(false, "%s: expected 0x%x, got 0x%x", what, expected, got);
}

static _Noreturn void power_off(void)
{
    register uint64_t function __asm__("x0") = 0x84000008; /* PSCI SYSTEM_OFF */

    __asm__ volatile("smc #0" : "+r"(function)::"memory");
    for (;;) {
        __asm__ volatile("wfi");
    }
}

void finish(void)
{
    print("1..%u\n# %u failed\n", reports, failures);
    power_off();
}

uint32_t npu_read(unsigned core, uint32_t offset)
{
    return read32(BOARD_NPU + (uintptr_t)core * BOARD_NPU_STEP + offset);
}

void npu_write(unsigned core, uint32_t offset, uint32_t value)
{
    write32(BOARD_NPU + (uintptr_t)core * BOARD_NPU_STEP + offset, value);
}

uint32_t mmu_read(unsigned core, unsigned bank, uint32_t offset)
{
    return npu_read(core, board_mmu[core][bank] + offset);
}

void mmu_write(unsigned core, unsigned bank, uint32_t offset, uint32_t value)
{
    npu_write(core, board_mmu[core][bank] + offset, value);
}

uint64_t ticks(void)
{
    uint64_t now;

    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(now));
    return now;
}

uint64_t ticks_of_ms(unsigned ms)
{
    uint64_t frequency;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
    return frequency / 1000 * ms;
}

bool npu_wait(unsigned core, uint32_t offset, uint32_t mask, uint32_t value, unsigned ms)
{
    uint64_t end = ticks() + ticks_of_ms(ms);

    do {
        if ((npu_read(core, offset) & mask) == value) {
            return true;
        }
    } while (ticks() < end);
    return false;
}

void delay_ms(unsigned ms)
{
    uint64_t end = ticks() + ticks_of_ms(ms);

    while (ticks() < end) {
    }
}

void emit(Program *p, uint32_t reg, uint32_t value)
{
    uint64_t target = (0x0100ull << (reg >> 12)) | 1; /* the block's bit, and "write" */

    p->at[p->count++] = target << 48 | (uint64_t)value << 16 | reg;
}

void emit_tail(Program *p, uint32_t next, uint32_t next_amount, uint32_t unit_mask)
{
    p->at[p->count++] = next ? 0x0101ull << 48 | (uint64_t)next << 16 | PC_BASE_ADDRESS : 0;
    p->at[p->count++] = 0x0101ull << 48 | (uint64_t)next_amount << 16 | PC_REGISTER_AMOUNTS;
    p->at[p->count++] = 0x0041ull << 48;
    p->at[p->count++] = 0x0081ull << 48 | (uint64_t)unit_mask << 16 | PC_OPERATION_ENABLE;
}

uint32_t program_amount(const Program *p)
{
    return (p->count + 1) / 2 - 1;
}

void npu_start(unsigned core, uint32_t program, uint32_t amount, unsigned tasks, uint32_t mask)
{
    npu_write(core, PC_BASE_ADDRESS, 1);
    npu_write(core, CNA_S_POINTER, 0xe + (core << 28));
    npu_write(core, CORE_S_POINTER, 0xe + (core << 28));
    npu_write(core, PC_BASE_ADDRESS, program);
    npu_write(core, PC_REGISTER_AMOUNTS, amount);
    npu_write(core, PC_INTERRUPT_MASK, mask);
    npu_write(core, PC_INTERRUPT_CLEAR, mask);
    npu_write(core, PC_TASK_CON, BOARD_TASK_CON(tasks));
    npu_write(core, PC_TASK_DMA_BASE_ADDR, 0);
    npu_write(core, PC_OPERATION_ENABLE, 1);
    npu_write(core, PC_OPERATION_ENABLE, 0);
}

bool npu_finish(unsigned core, uint32_t mask)
{
    uint64_t end = ticks() + ticks_of_ms(1000);
    bool done;

    do {
        done = npu_read(core, PC_INTERRUPT_STATUS) & mask;
    } while (!done && ticks() < end);
    npu_write(core, PC_INTERRUPT_CLEAR, 0x1ffff);
    return done;
}
