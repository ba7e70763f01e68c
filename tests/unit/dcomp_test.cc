// SPDX-License-Identifier: GPL-2.0-or-later
// Compressed weights: lanes packed here from the format's description, and what broken lanes give.
// The compiler's own packing is tested by recorded_test.cc.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "dcomp.h"
}

namespace
{

class Packer
{
  public:
    Packer(uint8_t mode, int centre, const std::vector<unsigned> &classes,
           std::vector<uint16_t> runs = {})
        : mode_(mode), centre_(centre), classes_(classes)
    {
        bytes_ = { mode, (uint8_t)centre, (uint8_t)(centre >> 8), 0 };
        for (unsigned i = 0; i < 8; i += 2) {
            bytes_.push_back((uint8_t)(classes[i] | classes[i + 1] << 4));
        }
        runs.resize(4);
        for (uint16_t run : runs) {
            bytes_.push_back((uint8_t)run);
            bytes_.push_back((uint8_t)(run >> 8));
        }
    }

    void Weight(int weight)
    {
        int distance = weight - centre_;

        if (mode_ == 0) {
            distance = (int8_t)distance; // weights wrap in eight bits
            Code(distance < 0 ? -distance - 1 : distance, distance < 0, false);
        } else {
            Code(std::abs(distance), distance < 0, true);
        }
    }

    void Prefix(unsigned number)
    {
        static const char *const kCodes[] = { "00",  "10",   "111",   "110",
                                              "011", "0101", "01001", "01000" };

        for (const char *c = kCodes[number]; *c; c++) {
            Bit(*c == '1');
        }
    }

    void Bit(bool bit)
    {
        if (used_ % 8 == 0) {
            bytes_.push_back(0);
        }
        bytes_.back() = (uint8_t)(bytes_.back() | bit << used_++ % 8);
    }

    std::vector<uint8_t> Bytes() const
    {
        std::vector<uint8_t> padded = bytes_;

        padded.resize((padded.size() + 15) / 16 * 16);
        return padded;
    }

    unsigned Number(unsigned wanted) const
    {
        for (unsigned i = 0; i < 8; i++) {
            if (classes_[i] == wanted) {
                return i;
            }
        }
        ADD_FAILURE() << "class " << wanted;
        return 0;
    }

  private:
    void Code(int magnitude, bool negative, bool runs)
    {
        unsigned width = 0;

        while (magnitude >> width) {
            width++;
        }
        bool largest = runs && width >= 7; // seven bits, 128 as 0

        Prefix(Number(largest ? 7 : width));
        Bit(negative);
        for (unsigned i = 0; i + (largest ? 0 : 1) < (largest ? 7 : width); i++) {
            Bit(magnitude >> i & 1);
        }
    }

    uint8_t mode_;
    int centre_;
    std::vector<unsigned> classes_;
    std::vector<uint8_t> bytes_;
    unsigned used_ = 0;
};

std::vector<int> Unpack(const std::vector<uint8_t> &lane, size_t count, std::string *wrong,
                        bool *known)
{
    std::vector<uint8_t> raw((count + 3) / 4 * RKNPU_DCOMP_STRIDE);
    const char *text = rknpu_dcomp_lane(lane.data(), lane.size(), raw.data(), count, known);
    std::vector<int> weights(count);

    *wrong = text ? text : "";
    for (size_t i = 0; i < count; i++) {
        weights[i] = (int8_t)raw[i / 4 * RKNPU_DCOMP_STRIDE + i % 4];
    }
    return weights;
}

TEST(Dcomp, PlainLanesGiveEveryWeight)
{
    for (int centre : { 0, 5, -31, 127, -128 }) {
        std::mt19937 random((unsigned)centre);
        Packer packer(0, centre, { 7, 3, 6, 0, 5, 4, 1, 2 });
        std::vector<int> weights;
        std::string wrong;
        bool known;

        for (int w = -128; w < 128; w++) {
            weights.push_back(w);
            weights.push_back((int8_t)random());
        }
        for (int w : weights) {
            packer.Weight(w);
        }
        EXPECT_EQ(Unpack(packer.Bytes(), weights.size(), &wrong, &known), weights) << centre;
        EXPECT_EQ(wrong, "");
    }
}

TEST(Dcomp, RunsOfTheCentre)
{
    std::vector<int> weights = { 10, 10, 10, 10, 127, -118, 11, 9, 10, 10, 10, 10, 74, -54, 42 };
    Packer packer(0x11, 10, { 2, 0, 7, 1, 4, 5, 6, 3 }, { 4, 3, 1, 2 });
    std::string wrong;
    bool known;

    for (size_t i = 0; i < weights.size(); i++) {
        if (weights[i] == 10) {
            packer.Prefix(packer.Number(0));
            packer.Bit(0);
            i += 3;
        } else {
            packer.Weight(weights[i]);
        }
    }
    EXPECT_EQ(Unpack(packer.Bytes(), weights.size(), &wrong, &known), weights);
    EXPECT_EQ(wrong, "");
}

TEST(Dcomp, WhatIsWrongHasAName)
{
    std::string wrong;
    bool known;
    Packer mode(0x22, 0, { 7, 3, 6, 0, 5, 4, 1, 2 }), high(0x11, 0, { 8, 0, 7, 1, 4, 5, 6, 3 });
    Packer run(0x11, 0, { 0, 8, 7, 1, 4, 5, 6, 3 }), early(0, 0, { 7, 3, 6, 0, 5, 4, 1, 2 });

    Unpack(mode.Bytes(), 4, &wrong, &known);
    EXPECT_EQ(wrong, "a lane of unknown mode");
    EXPECT_FALSE(known);
    high.Prefix(0);
    Unpack(high.Bytes(), 4, &wrong, &known);
    EXPECT_EQ(wrong, "a magnitude class above 7");
    EXPECT_FALSE(known);
    run.Prefix(0);
    run.Bit(1);
    Unpack(run.Bytes(), 4, &wrong, &known);
    EXPECT_EQ(wrong, "a run number above 0");
    EXPECT_FALSE(known);
    early.Weight(100);
    Unpack(early.Bytes(), 4000, &wrong, &known);
    EXPECT_EQ(wrong, "a lane that ends early");
    EXPECT_TRUE(known);
    Unpack({ 0, 0, 0 }, 4, &wrong, &known);
    EXPECT_EQ(wrong, "a lane without a header");
}

// A run of length 0 must not hold the worker for ever.
TEST(Dcomp, EmptyRunsEnd)
{
    std::string wrong;
    bool known;
    std::vector<uint8_t> lane(64);

    lane[0] = 0x11;
    lane[4] = 0x70;
    Unpack(lane, 100, &wrong, &known);
    EXPECT_EQ(wrong, "a lane that ends early");
}

} // namespace
