/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The on-chip SRAM, for the overlays that both chips share. */
#define SRAM &system_sram2
#define SRAM_BYTES 0xef000
#define UNALIGNED_BYTES 0xee000
#define NO_DECODERS                             \
    &rkvdec0_sram { status = "disabled"; };     \
    &rkvdec1_sram { status = "disabled"; };
