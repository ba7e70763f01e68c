/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "frame.h"

static void feed_byte(EmuFrameReader *reader, uint8_t byte)
{
    size_t payload;

    reader->data[reader->len++] = byte;
    if (reader->len < FRAME_HEADER) {
        return;
    }
    payload = reader->data[1] | reader->data[2] << 8;
    if (reader->len == FRAME_HEADER + payload) {
        reader->len = 0;
        reader->func(reader->data[0], reader->data + FRAME_HEADER, payload, reader->opaque);
    }
}

void emu_frame_feed(EmuFrameReader *reader, const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        feed_byte(reader, data[i]);
    }
}

void emu_frame_feed_coded(EmuFrameReader *reader, uint8_t byte)
{
    if (UART_IS_LOW(byte)) {
        feed_byte(reader, reader->high | (byte & 15));
    } else {
        reader->high = byte << 4;
    }
}

static void append(GByteArray *out, bool coded, const uint8_t *data, size_t len)
{
    if (!coded) {
        g_byte_array_append(out, data, len);
        return;
    }
    for (size_t i = 0; i < len; i++) {
        uint8_t pair[2] = { UART_CODE_HIGH(data[i]), UART_CODE_LOW(data[i]) };

        g_byte_array_append(out, pair, 2);
    }
}

void emu_frame_append(GByteArray *out, bool coded, char type, const void *payload, size_t len)
{
    uint8_t header[FRAME_HEADER] = { type, len & 0xff, len >> 8 };

    append(out, coded, header, sizeof(header));
    append(out, coded, payload, len);
}
