/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entry of a bare-metal test: an arm64 Image header, so that whatever boots Linux boots it (QEMU's
 * -kernel, U-Boot's booti), then a stack, a cleared .bss and main().
 *
 * The program runs at the exception level it is entered at, with MMU and caches off and at whatever
 * address it was loaded: everything is reached relative to the program counter.
 */
    .section .text.start, "ax"
    .globl _start
_start:
    b 1f
    .long 0
    .quad 0                 /* text_offset: any 2 MiB boundary will do */
    .quad _image_size
    .quad 0xa               /* 4 KiB pages, anywhere in memory */
    .quad 0
    .quad 0
    .quad 0
    .ascii "ARM\x64"
    .long 0
1:
    adrp x0, _stack_top
    add x0, x0, :lo12:_stack_top
    mov sp, x0
    adrp x0, _bss_start
    add x0, x0, :lo12:_bss_start
    adrp x1, _bss_end
    add x1, x1, :lo12:_bss_end
2:
    cmp x0, x1
    b.hs 3f
    str xzr, [x0], #8
    b 2b
3:
    bl main
    bl finish
4:
    wfi
    b 4b
