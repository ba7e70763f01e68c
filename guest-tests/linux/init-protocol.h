/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How rknpu-emu and the init of its guest talk.
 *
 * The two exchange frames: one byte of type, two bytes of payload length (little endian), the
 * payload.  Frames travel over a virtio-serial port named RKNPU_PORT_NAME when the guest kernel
 * has a driver for it.  Otherwise they share the console UART with the kernel log: each byte of a
 * frame is sent as two bytes with bit 7 set, and the log, which is ASCII, has bit 7 clear, so the
 * two can be told apart at every byte, wherever the kernel chose to print a line.
 */
#ifndef RKNPU_INIT_PROTOCOL_H
#define RKNPU_INIT_PROTOCOL_H

#define RKNPU_PORT_NAME "rknpu"

/* What init prints first, on the console, when it runs without a peer (plain=1). */
#define RKNPU_INIT_MARK "rknpu-init: up"

/* guest -> host */
#define FRAME_HELLO   'h'   /* init is up; payload: kernel release, text */
#define FRAME_MESSAGE 'm'   /* trouble init met while it set the guest up, one line of text */
#define FRAME_FAIL    'f'   /* set-up failed, one line of text; the guest powers off */
#define FRAME_RUN     'r'   /* set-up is done, the command starts */
#define FRAME_STDOUT  'o'   /* bytes of the command's standard output */
#define FRAME_STDERR  'e'   /* bytes of its standard error */
#define FRAME_ACK     'a'   /* the last FRAME_STDIN was taken; the next may follow */
#define FRAME_EXIT    'x'   /* the command ended; payload: its status, one byte; the guest powers
                               off when it gets FRAME_DONE, or after DONE_LIMIT_S */

/* host -> guest */
#define FRAME_STDIN   'i'   /* bytes for the command's standard input */
#define FRAME_EOF     'z'   /* end of the standard input */
#define FRAME_TAKEN   't'   /* on the UART: the last FRAME_STDOUT or FRAME_STDERR has been passed
                               on; the next may follow, so that a slow reader loses nothing */
#define FRAME_DONE    'd'   /* the machine has been asked all that is wanted of it */
#define FRAME_WINSIZE 'w'   /* terminal size: rows, columns, 16 bits little endian each */

#define DONE_LIMIT_S 10

#define FRAME_HEADER 3
#define FRAME_PAYLOAD_MAX 0xffff

/*
 * Longest FRAME_STDIN payload on the UART: its coded form (2 * (512 + 3) bytes) fits the guest's
 * 4096-byte terminal buffer with room to spare, since nothing holds the host back there.
 */
#define FRAME_UART_STDIN_MAX 512

/* The two UART bytes of a frame byte: high half first. */
#define UART_CODE_HIGH(byte) (0x80 | ((byte) >> 4))
#define UART_CODE_LOW(byte)  (0x90 | ((byte) & 15))

/* What a received UART byte is. */
#define UART_IS_CODED(byte)  ((byte) & 0x80)
#define UART_IS_LOW(byte)    (((byte) & 0xf0) == 0x90)

/*
 * The set-up file in the initramfs: entries "key=value", each ended by a NUL, in the order in
 * which init carries them out.
 *
 *   host=NAME      name of the guest
 *   plain=1        no peer: the command uses the console as its terminal
 *   tty=ROWSxCOLS  the command gets a terminal of that size
 *   env=NAME=VALUE environment of the command
 *   module=PATH    load this module; a failure is reported by FRAME_MESSAGE
 *   need=PATH      load this module; a failure is a FRAME_FAIL
 *   hello=1        the modules of the port are loaded: look for it
 *   share=1        mount the 9p share
 *   arg=TEXT       next word of the command; none means a login shell
 */
#define RKNPU_SETUP_FILE "/rknpu/setup"
#define RKNPU_SHARE_TAG  "share"
#define RKNPU_SHARE_PATH "/mnt/share"

#endif
