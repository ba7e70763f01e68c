/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "script.h"

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "machine.h"

namespace {

constexpr uint64_t kMemory = 2u << 20;
constexpr uint32_t kProgram = 0x1000;
constexpr size_t kMaxWords = 16384;

uint64_t WriteWord(uint32_t offset, uint32_t value)
{
    static const uint64_t kTarget[16] = { 0x0101, 0x0201, 0,      0x0801,
                                          0x1001, 0x2001, 0x4001, 0x8001 };

    return kTarget[(offset >> 12) & 15] << 48 | static_cast<uint64_t>(value) << 16 |
           (offset & 0xffff);
}

bool ParseLine(const std::string &line, StreamScript *script)
{
    std::istringstream in(line);
    std::string key;
    size_t equals = line.find('=');

    in >> key >> std::hex;
    if (key == "chip") {
        in >> key;
        script->rk3576 = key == "rk3576";
        return script->rk3576 || key == "rk3588";
    }
    if (key == "scatter") {
        script->scatter = true;
        return true;
    }
    if (key == "units") {
        return static_cast<bool>(in >> script->units);
    }
    if (key == "tasks") {
        return static_cast<bool>(in >> script->tasks);
    }
    if (key == "unmap") {
        script->unmapped.push_back(0);
        return static_cast<bool>(in >> script->unmapped.back());
    }
    if (key == "word") {
        script->words.push_back(0);
        return static_cast<bool>(in >> script->words.back());
    }
    if (equals == std::string::npos) {
        return false;
    }
    script->words.push_back(WriteWord(
        static_cast<uint32_t>(std::strtoul(line.c_str(), nullptr, 16)),
        static_cast<uint32_t>(std::strtoul(line.c_str() + equals + 1, nullptr, 16))));
    return true;
}

/* Offsets that make sense on the chip: a third of random bytes should not be unknown registers. */
uint32_t ListedOffset(const RknpuChip &chip, uint32_t pick)
{
    unsigned rows;
    const RknpuRegRow *row = rknpu_reg_rows(&chip, &rows);
    const RknpuRegRow &chosen = row[pick % rows];

    return chosen.offset >= 0x1000 && chosen.offset < 0x8000 ? chosen.offset : 0x4084;
}

} // namespace

StreamScript ParseScript(const std::string &text)
{
    StreamScript script;
    std::istringstream lines(text);

    for (std::string line; std::getline(lines, line);) {
        line = line.substr(0, line.find('#'));
        line = line.substr(0, line.find_last_not_of(" \t") + 1);
        if (!line.empty()) {
            EXPECT_TRUE(ParseLine(line, &script)) << "not a line of a stream script: " << line;
        }
    }
    return script;
}

StreamScript ScriptFromBytes(const uint8_t *data, size_t size)
{
    StreamScript script;

    if (size < 4) {
        return script;
    }
    script.rk3576 = data[0] & 1;
    script.scatter = data[0] & 2;
    if (data[0] & 4) {
        script.unmapped.push_back(data[1]);
    }
    script.units = data[2];
    script.tasks = data[3] % 4;
    const RknpuChip &chip = script.rk3576 ? rknpu_rk3576 : rknpu_rk3588;
    for (size_t at = 4; at + 8 <= size && script.words.size() < kMaxWords; at += 8) {
        uint64_t raw;
        uint32_t value;

        std::memcpy(&raw, data + at, 8);
        std::memcpy(&value, data + at + 4, 4);
        script.words.push_back(
            (raw & 7) == 7 ? raw : WriteWord(ListedOffset(chip, raw & 0xffff), value));
    }
    return script;
}

std::string ToText(const StreamScript &script)
{
    std::ostringstream out;

    out << "chip " << (script.rk3576 ? "rk3576" : "rk3588") << std::hex << "\nunits "
        << script.units << "\ntasks " << script.tasks << "\n";
    if (script.scatter) {
        out << "scatter\n";
    }
    for (uint32_t page : script.unmapped) {
        out << "unmap " << page << "\n";
    }
    for (uint64_t word : script.words) {
        uint32_t offset = word & 0xffff;
        uint32_t value = static_cast<uint32_t>(word >> 16);

        if (word == WriteWord(offset, value) && word) {
            out << offset << "=" << value << "\n";
        } else {
            out << "word " << word << "\n";
        }
    }
    return out.str();
}

void RunScript(const StreamScript &script, unsigned budget_ms)
{
    const RknpuChip &chip = script.rk3576 ? rknpu_rk3576 : rknpu_rk3588;
    Machine m(chip, {}, kMemory);
    Program p;

    p.words.assign(script.words.begin(),
                   script.words.begin() + std::min(script.words.size(), kMaxWords));
    p.end(script.units, kProgram, 0xffff);
    for (uint32_t at = kProgram + 0x30000; at + 4 <= kMemory; at += 4) {
        uint32_t noise = at * 2654435761u;
        std::memcpy(const_cast<uint8_t *>(&m.host.memory()[at]), &noise, 4);
    }
    m.host.put(kProgram, p.words);
    if (script.scatter) {
        m.host.scatter(0, kMemory);
    }
    for (uint32_t page : script.unmapped) {
        m.host.unmap(page * FakeHost::kPage, FakeHost::kPage);
    }
    m.start(kProgram, 0xffff, script.tasks, 0x1ffff);
    for (unsigned ms = 0; ms < budget_ms && !m.state().job_stalled; ms++) {
        if (rknpu_wait_idle(m.npu, 0, 1)) {
            break;
        }
    }
    g_free(rknpu_describe(m.npu, 0));
    rknpu_reset(m.npu, 0);
    EXPECT_TRUE(rknpu_idle(m.npu, 0)) << ToText(script);
    EXPECT_EQ(0, m.host.open_spans()) << ToText(script);
    EXPECT_EQ(0u, m.read(0x2c)) << ToText(script);
}

#ifdef RKNPU_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    RunScript(ScriptFromBytes(data, size), 50);
    return 0;
}
#endif
