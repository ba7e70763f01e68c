/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The on-chip SRAM, for the overlays that both chips share. */
#define SRAM &sram
#define SRAM_BYTES 0x78000
#define UNALIGNED_BYTES 0x77000
#define NO_DECODERS &rkvdec_sram { status = "disabled"; };
