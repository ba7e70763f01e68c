/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command streams that no compiler makes: the corpus as it is, then random changes of it.
 *
 *   RKNPU_FUZZ_SEED=7 RKNPU_FUZZ_RUNS=5000 build/tests/fuzz/stream-fuzz
 *
 * Every random run has a seed of its own, which a failure names. The script that runs is always in
 * stream-fuzz.last in the folder for temporary files, for when a sanitizer ends the process: cut it
 * down and put it into corpus/. script.cc also holds the entry that a coverage-guided fuzzer calls:
 *   clang++ -DRKNPU_LIBFUZZER -fsanitize=fuzzer,address ...
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "script.h"

namespace {

struct Named {
    std::string name;
    StreamScript script;
};

std::vector<Named> Corpus()
{
    std::vector<Named> corpus;

    for (const auto &entry : std::filesystem::directory_iterator(RKNPU_CORPUS)) {
        std::ifstream in(entry.path());
        std::stringstream text;

        text << in.rdbuf();
        corpus.push_back({ entry.path().filename().string(), ParseScript(text.str()) });
    }
    std::sort(corpus.begin(), corpus.end(),
              [](const Named &a, const Named &b) { return a.name < b.name; });
    return corpus;
}

uint64_t FromEnvironment(const char *name, uint64_t otherwise)
{
    const char *text = std::getenv(name);

    return text ? std::strtoull(text, nullptr, 0) : otherwise;
}

/* Values at which sizes, strides and addresses turn over. */
uint32_t Interesting(std::mt19937_64 &random)
{
    static const uint32_t kValues[] = { 0,          1,          2,          15,         16,
                                        0x7ff,      0x1fff,     0xffff,     0x10000,    0x1fff0,
                                        0x00010001, 0x07ff07ff, 0x1fff1fff, 0x0fffffff, 0x7fffffff,
                                        0x80000000, 0xfffffff0, 0xffffffff };

    switch (random() % 3) {
    case 0:
        return kValues[random() % (sizeof(kValues) / sizeof(kValues[0]))];
    case 1:
        return 1u << (random() % 32);
    default:
        return static_cast<uint32_t>(random());
    }
}

void ChangeWord(StreamScript &script, std::mt19937_64 &random)
{
    uint64_t &word = script.words[random() % script.words.size()];
    uint32_t value = static_cast<uint32_t>(word >> 16);
    const uint64_t kValueBits = UINT64_C(0xffffffff) << 16;

    switch (random() % 8) {
    case 0:
        value ^= 1u << (random() % 32);
        break;
    case 1:
        value += static_cast<uint32_t>(random() % 5) - 2;
        break;
    case 2:
        value = (value & 0xffff0000) | (Interesting(random) & 0xffff);
        break;
    case 3:
        value = (value & 0xffff) | (Interesting(random) & 0xffff0000);
        break;
    case 4:
        word = script.words[random() % script.words.size()];
        return;
    case 5:
        word = random();
        return;
    default:
        value = Interesting(random);
        break;
    }
    word = (word & ~kValueBits) | static_cast<uint64_t>(value) << 16;
}

StreamScript Mutate(StreamScript script, std::mt19937_64 &random)
{
    static const uint32_t kUnits[] = { 0x0d, 0x1d, 0x18, 0x60, 0x7f, 0x78 };
    unsigned changes = 1 + random() % 6;

    for (unsigned i = 0; i < changes && !script.words.empty(); i++) {
        ChangeWord(script, random);
    }
    if (random() % 4 == 0) {
        script.units = random() % 2 ? kUnits[random() % 6] : random() & 0x7f;
    }
    if (random() % 4 == 0) {
        script.tasks = random() % 3;
    }
    script.scatter = random() % 4 == 0;
    if (random() % 4 == 0) {
        script.unmapped.push_back(random() % 512);
    }
    return script;
}

TEST(StreamFuzz, Corpus)
{
    auto corpus = Corpus();

    ASSERT_FALSE(corpus.empty());
    for (const Named &named : corpus) {
        SCOPED_TRACE(named.name);
        RunScript(named.script, 5000);
    }
}

TEST(StreamFuzz, TextAndBack)
{
    for (const Named &named : Corpus()) {
        std::string text = ToText(named.script);

        EXPECT_EQ(text, ToText(ParseScript(text))) << named.name;
    }
}

TEST(StreamFuzz, BytesOfAnyLength)
{
    std::mt19937_64 random(1);

    for (size_t size = 0; size < 200; size += 7) {
        std::vector<uint8_t> bytes(size);

        std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<uint8_t>(random()); });
        RunScript(ScriptFromBytes(bytes.data(), bytes.size()), 20);
    }
}

TEST(StreamFuzz, RandomChanges)
{
    auto corpus = Corpus();
    uint64_t seed = FromEnvironment("RKNPU_FUZZ_SEED", 1);
    uint64_t runs = FromEnvironment("RKNPU_FUZZ_RUNS", 300);

    for (uint64_t run = 0; run < runs && !HasFailure(); run++) {
        std::mt19937_64 random(seed + run);
        const Named &from = corpus[random() % corpus.size()];
        char text[100];
        StreamScript script = Mutate(from.script, random);

        std::snprintf(text, sizeof(text), "RKNPU_FUZZ_SEED=%" PRIu64 " RKNPU_FUZZ_RUNS=1",
                      seed + run);
        SCOPED_TRACE(std::string("replay with ") + text + ", from " + from.name);
        std::ofstream(testing::TempDir() + "stream-fuzz.last") << "# " << text << "\n"
                                                               << ToText(script);
        RunScript(script, 20);
    }
}

} // namespace
