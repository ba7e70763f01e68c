/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The host's side of guest-tests/linux/init-protocol.h: frames in and out of byte streams.
 */
#ifndef TOOLS_FRAME_H
#define TOOLS_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "../guest-tests/linux/init-protocol.h"

G_BEGIN_DECLS

typedef void (*EmuFrameFunc)(char type, const uint8_t *payload, size_t len, void *opaque);

typedef struct {
    EmuFrameFunc func;
    void *opaque;
    uint8_t high;       /* first half of a byte in the UART's code */
    size_t len;
    uint8_t data[FRAME_HEADER + FRAME_PAYLOAD_MAX];
} EmuFrameReader;

/* Takes bytes of a stream and calls func for each frame that is complete. */
void emu_frame_feed(EmuFrameReader *reader, const uint8_t *data, size_t len);

/* Takes one byte of the UART's code. */
void emu_frame_feed_coded(EmuFrameReader *reader, uint8_t byte);

/* Appends a frame to a stream, in the UART's code if `coded`.  len: at most FRAME_PAYLOAD_MAX. */
void emu_frame_append(GByteArray *out, bool coded, char type, const void *payload, size_t len);

G_END_DECLS

#endif
