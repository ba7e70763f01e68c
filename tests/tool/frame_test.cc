/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console.h"
#include "frame.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

struct Frame {
    char type;
    std::string payload;
};

void collect(char type, const uint8_t *payload, size_t len, void *opaque)
{
    static_cast<std::vector<Frame> *>(opaque)->push_back(
        { type, std::string(reinterpret_cast<const char *>(payload), len) });
}

std::string encode(bool coded, char type, const std::string &payload)
{
    GByteArray *out = g_byte_array_new();
    std::string bytes;

    emu_frame_append(out, coded, type, payload.data(), payload.size());
    bytes.assign(reinterpret_cast<char *>(out->data), out->len);
    g_byte_array_unref(out);
    return bytes;
}

std::string all_bytes(size_t len)
{
    std::string text;

    for (size_t i = 0; i < len; i++) {
        text += static_cast<char>(i * 7 + i / 256);
    }
    return text;
}

/* The layout that init-protocol.h promises, byte for byte. */
TEST(Frame, IsTypeLengthPayload)
{
    EXPECT_EQ(std::string("o\x03\x00""abc", 6), encode(false, 'o', "abc"));
    EXPECT_EQ("\x86\x9f\x80\x91\x80\x90\x84\x91", encode(true, 'o', "A"));
}

TEST(Frame, SurvivesAnyCutOfTheStream)
{
    std::string stream = encode(false, 'o', all_bytes(1000)) + encode(false, 'x', "\x07") +
                         encode(false, 'e', "") + encode(false, 'o', all_bytes(65535));

    for (size_t step : { size_t(1), size_t(2), size_t(7), size_t(4096), stream.size() }) {
        std::vector<Frame> got;
        auto *reader = g_new0(EmuFrameReader, 1);

        reader->func = collect;
        reader->opaque = &got;
        for (size_t at = 0; at < stream.size(); at += step) {
            emu_frame_feed(reader, reinterpret_cast<const uint8_t *>(stream.data()) + at,
                           std::min(step, stream.size() - at));
        }
        ASSERT_EQ(4u, got.size());
        EXPECT_EQ(all_bytes(1000), got[0].payload);
        EXPECT_EQ('x', got[1].type);
        EXPECT_EQ("", got[2].payload);
        EXPECT_EQ(all_bytes(65535), got[3].payload);
        g_free(reader);
    }
}

/* The kernel may print between any two bytes that init writes. */
TEST(Frame, OnTheUartIsToldFromTheLogAtEveryByte)
{
    std::string stream = encode(true, 'o', all_bytes(300));
    const std::string line = "[    1.000000] a line\r\n";
    std::vector<Frame> got;
    EmuConsole *console = emu_console_new(nullptr, collect, &got);

    for (size_t i = 0; i < stream.size(); i++) {
        std::string piece = stream.substr(i, 1) + line.substr(0, i % line.size()) +
                            line.substr(i % line.size());

        emu_console_feed(console, reinterpret_cast<const uint8_t *>(piece.data()), piece.size());
    }
    ASSERT_EQ(1u, got.size());
    EXPECT_EQ(all_bytes(300), got[0].payload);
    EXPECT_EQ(stream.size(), console->lines);
    EXPECT_STREQ("[    1.000000] a line", emu_console_last(console));
    emu_console_free(console);
}

} /* namespace */
