/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stand-in for a video decoder: a second bus master that writes its share of the SRAM when it
 * is told to. The registers are the emulator's own; the chip has a real decoder at this place.
 *
 *   offset  access  meaning
 *   0x00    rw      SHARE_OFFSET, bytes from the start of the SRAM, a multiple of 4
 *   0x04    rw      SHARE_SIZE, bytes, a multiple of 4; out of range: the part inside the SRAM
 *   0x08    wo      RUN: fills the share with the word written
 *   0x0c    ro      RUNS: how often that was done
 *
 * QOM interface
 *   property "sram"    link to the SRAM
 *   property "number"  0 or 1
 *   properties "share-offset", "share-size": reset values, the chip's default owners
 *   property "run"     writing a word does what RUN does
 */
#ifndef RK_DECODER_H
#define RK_DECODER_H

#define TYPE_RK_DECODER "rk-decoder"

#endif
