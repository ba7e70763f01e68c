/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compressed int8 weights.
 *
 * The raw weight stream, as the sequencer wants it, is cut into groups of four bytes that go round
 * sixteen lanes. In memory each lane starts at a 64-byte boundary behind the one before;
 * DCOMP_AMOUNTn is its number of 16-byte blocks minus one.
 *
 *   byte 0      0x00 plain, 0x11 with runs
 *   byte 1, 2   centre: the lane's most frequent weight, s16
 *   byte 4..7   eight nibbles, low first: the magnitude class that each prefix code stands for
 *   byte 8..15  with runs: four u16 run lengths
 *   byte 16..   codes, least significant bit first
 *
 * A code is a prefix (table below) and what its class asks for: with runs, class 0 is a run of
 * centres and is followed by the run's number, otherwise a sign and the magnitude's bits below its
 * highest. Class w holds magnitudes of w bits. Plain lanes: weight = centre + m, or centre - m - 1
 * with the sign set. Lanes with runs: centre + m or centre - m, and class 7 gives all seven bits, 0
 * meaning 128.
 *
 * Sources: happyme531/rknpu2_matmul_open (plain lanes, checked on a board) and two layers that
 * Rockchip's compiler packed (recorded program of runtime 1.6.0), whose unpacked weights equal the
 * quantised weights of their ONNX model in all 32 lanes. They use run number 0 alone and never
 * class 8; both are reported.
 */
#include "dcomp.h"

#include <glib.h>
#include <string.h>

enum {
    HEADER_BYTES = 16,
    BLOCK_BYTES = 16,
    LANE_ALIGN = 64,
    GROUP = 4,
    MODE_PLAIN = 0x00,
    MODE_RUNS = 0x11,
};

typedef struct Bits {
    const uint8_t *from;
    size_t at, end; /* in bits */
} Bits;

static unsigned take(Bits *b, unsigned count)
{
    unsigned value = 0;

    for (unsigned i = 0; i < count && b->at < b->end; i++, b->at++) {
        value |= (unsigned)(b->from[b->at / 8] >> (b->at % 8) & 1) << i;
    }
    return value;
}

/* Prefix codes, by number of the class table: 00 10 111 110 011 0101 01001 01000, first bit first.
 */
static unsigned take_prefix(Bits *b)
{
    if (take(b, 1)) {
        return !take(b, 1) ? 1 : take(b, 1) ? 2 : 3;
    }
    if (!take(b, 1)) {
        return 0;
    }
    if (take(b, 1)) {
        return 4;
    }
    return take(b, 1) ? 5 : take(b, 1) ? 6 : 7;
}

/* A signed distance from the centre. */
static int take_residual(Bits *b, unsigned class, bool runs)
{
    bool negative = take(b, 1);
    int magnitude;

    if (runs && class == 7) {
        magnitude = (int)take(b, 7);
        magnitude = magnitude ? magnitude : 128;
    } else {
        magnitude = class ? (int)(1u << (class - 1) | take(b, class - 1)) : 0;
    }
    return !negative ? magnitude : runs ? -magnitude : -magnitude - 1;
}

static void put(uint8_t *to, size_t index, int value)
{
    to[index / GROUP * RKNPU_DCOMP_STRIDE + index % GROUP] = (uint8_t)value;
}

const char *rknpu_dcomp_lane(const uint8_t *from, size_t bytes, uint8_t *to, size_t count,
                             bool *known)
{
    Bits b = { .from = from, .at = HEADER_BYTES * 8, .end = bytes * 8 };
    bool runs = bytes && from[0] == MODE_RUNS;
    int centre;

    *known = true;
    if (bytes < HEADER_BYTES) {
        return "a lane without a header";
    }
    *known = false;
    if (from[0] != MODE_PLAIN && from[0] != MODE_RUNS) {
        return "a lane of unknown mode";
    }
    centre = (int16_t)(from[1] | from[2] << 8);
    for (size_t i = 0; i < count;) {
        unsigned prefix = take_prefix(&b);
        unsigned class = from[4 + prefix / 2] >> (prefix % 2 * 4) & 15;

        if (class > 7 || (class == 0 && runs && take(&b, 1))) {
            return class ? "a magnitude class above 7" : "a run number above 0";
        }
        if (class == 0 && runs) {
            for (unsigned left = from[8] | from[9] << 8; left && i < count; left--) {
                put(to, i++, centre);
            }
        } else {
            put(to, i++, centre + take_residual(&b, class, runs));
        }
        if (b.at >= b.end && i < count) {
            *known = true;
            return "a lane that ends early";
        }
    }
    return NULL;
}

/* Unpacks lane `lane` of the weights into their places in `to`. */
static RknpuTaskResult unpack_lane(RknpuJob *job, const RknpuConv *conv, unsigned lane, uint32_t at,
                                   uint8_t *to)
{
    size_t bytes = ((size_t)conv->lane_blocks[lane]) * BLOCK_BYTES;
    size_t whole = conv->weight_bytes / RKNPU_DCOMP_STRIDE * GROUP;
    size_t rest = conv->weight_bytes % RKNPU_DCOMP_STRIDE;
    size_t tail = rest > lane * GROUP ? MIN(rest - lane * GROUP, GROUP) : 0;
    uint8_t *from = g_try_malloc(bytes);
    RknpuTaskResult r = RKNPU_TASK_OK;
    const char *wrong;
    bool known;

    if (!from || !rknpu_mem_read(job->mem, RKNPU_STREAM_WEIGHT, at, from, bytes)) {
        g_free(from);
        return RKNPU_TASK_READ_FAULT;
    }
    rknpu_mem_count(job->mem, RKNPU_STREAM_WEIGHT, at, bytes);
    wrong = rknpu_dcomp_lane(from, bytes, to + lane * GROUP, whole + tail, &known);
    if (wrong) {
        rknpu_report(job, known ? RKNPU_EVENT_GUEST_ERROR : RKNPU_EVENT_UNIMP, from[0],
                     "compressed weights: lane %u is %s", lane, wrong);
        r = known ? RKNPU_TASK_INVALID : RKNPU_TASK_UNIMP;
    }
    g_free(from);
    return r;
}

RknpuTaskResult rknpu_dcomp_unpack(RknpuJob *job, const RknpuConv *conv)
{
    RknpuTaskResult r = RKNPU_TASK_OK;
    uint32_t at = conv->weight_base;
    uint8_t *to;

    if (conv->weight_bytes == 0 || conv->weight_bytes > RKNPU_VIEW_MAX) {
        rknpu_report(job, RKNPU_EVENT_GUEST_ERROR, conv->weight_bytes,
                     "CNA WEIGHT_SIZE0 of compressed weights");
        return RKNPU_TASK_INVALID;
    }
    to = g_try_malloc0(conv->weight_bytes + RKNPU_DCOMP_STRIDE);
    for (unsigned lane = 0; to && lane < RKNPU_DCOMP_LANES && r == RKNPU_TASK_OK; lane++) {
        uint64_t bytes = (uint64_t)conv->lane_blocks[lane] * BLOCK_BYTES;

        if (bytes > RKNPU_VIEW_MAX) {
            rknpu_report(job, RKNPU_EVENT_GUEST_ERROR, bytes, "CNA DCOMP_AMOUNT%u", lane);
            r = RKNPU_TASK_INVALID;
            break;
        }
        r = unpack_lane(job, conv, lane, at, to);
        at += (uint32_t)((bytes + LANE_ALIGN - 1) / LANE_ALIGN * LANE_ALIGN);
    }
    if (!to || r != RKNPU_TASK_OK) {
        g_free(to);
        return to ? r : RKNPU_TASK_INVALID;
    }
    rknpu_mem_overlay(job->mem, RKNPU_STREAM_WEIGHT, conv->weight_base, to, conv->weight_bytes);
    return RKNPU_TASK_OK;
}
