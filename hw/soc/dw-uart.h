/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DesignWare APB UART: a 16550 with 32-bit registers and an identification page.
 * Property "chardev"; one MMIO region of 0x100 bytes; one interrupt.
 */
#ifndef DW_UART_H
#define DW_UART_H

#define TYPE_DW_UART "dw-uart"

#endif
