// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorded.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

std::string RecordedPath(const std::string &name)
{
    const char *folder = std::getenv("RKNPU_TEST_DATA");
    std::string path = folder ? std::string(folder) + "/" + name : "";

    return !path.empty() && std::filesystem::exists(path) ? path : "";
}

std::vector<uint8_t> ReadFile(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);

    return { std::istreambuf_iterator<char>(in), {} };
}

namespace
{

// The number behind `key` in a line of the log, or `missing`.
uint32_t Value(const std::string &line, const char *key, uint32_t missing = 0)
{
    size_t at = line.find(key);

    return at == std::string::npos
               ? missing
               : (uint32_t)std::stoul(line.substr(at + std::strlen(key)), nullptr, 0);
}

RecordedTask ReadTask(const std::string &line)
{
    RecordedTask task;

    task.number = Value(line, " TASK ");
    task.unit_mask = Value(line, " en=");
    task.int_mask = Value(line, " imask=");
    task.amount = Value(line, " amount=");
    task.address = Value(line, " regcmd=");
    return task;
}

// "sub=[start+number ...]": entries for the cores, unused ones are 0+0 or 0xffffffff+0.
RecordedSubmit ReadSubmit(const std::string &line)
{
    RecordedSubmit submit;
    size_t at = line.find("sub=[");
    std::istringstream entries(at == std::string::npos ? "" : line.substr(at + 5));
    std::string entry;

    while (submit.number == 0 && entries >> entry) {
        submit.start = (unsigned)std::stoul(entry, nullptr, 0);
        submit.number = Value(entry, "+");
    }
    return submit;
}

std::string ReadText(const std::string &path)
{
    std::string text;

    if (path.size() < 3 || path.compare(path.size() - 3, 3, ".gz") != 0) {
        std::vector<uint8_t> bytes = ReadFile(path);
        return { bytes.begin(), bytes.end() };
    }
    if (FILE *pipe = popen(("gzip -dc '" + path + "'").c_str(), "r")) {
        char part[65536];

        for (size_t n; (n = fread(part, 1, sizeof(part), pipe)) > 0;) {
            text.append(part, n);
        }
        pclose(pipe);
    }
    return text;
}

} // namespace

std::vector<RecordedSubmit> ReadIoctlLog(const std::string &path)
{
    std::vector<RecordedSubmit> submits;
    std::istringstream in(ReadText(path));
    std::string line;

    while (std::getline(in, line)) {
        RegisterWrite w;

        if (line.rfind("SUBMIT", 0) == 0) {
            submits.push_back(ReadSubmit(line));
        } else if (line.rfind(" TASK ", 0) == 0 && !submits.empty()) {
            submits.back().tasks.push_back(ReadTask(line));
        } else if (!submits.empty() && !submits.back().tasks.empty() &&
                   std::sscanf(line.c_str(), " %4x %8x %4x", &w.offset, &w.value, &w.target) == 3) {
            submits.back().tasks.back().writes.push_back(w);
        }
    }
    return submits;
}

RecordedTask ReadProgram(const std::vector<uint8_t> &words, size_t at)
{
    RecordedTask task;

    for (; at + 8 <= words.size(); at += 8) {
        uint64_t word = 0;

        for (unsigned i = 8; i-- > 0;) {
            word = word << 8 | words[at + i];
        }
        task.writes.push_back(
            { (uint32_t)(word & 0xffff), (uint32_t)(word >> 16), (uint32_t)(word >> 48) });
        if (word >> 48 == 0x81) {
            task.unit_mask = (uint32_t)(word >> 16);
            break;
        }
    }
    return task;
}

void LoadBuffers(FakeHost &host, const std::string &folder, uint64_t phys)
{
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
        std::string name = entry.path().filename();
        size_t iova_at = name.find('_');
        std::vector<uint8_t> bytes = ReadFile(entry.path());

        if (name.rfind("bo", 0) != 0 || iova_at == std::string::npos) {
            continue;
        }
        uint32_t iova = (uint32_t)std::stoul(name.substr(iova_at + 1), nullptr, 16);

        host.map(iova, phys, bytes.size());
        host.write(iova, bytes.data(), bytes.size());
        phys += (bytes.size() + FakeHost::kPage - 1) / FakeHost::kPage * FakeHost::kPage;
    }
}

RknpuTaskResult RunRecorded(FakeHost &host, const RknpuChip &chip, const RecordedTask &task)
{
    TaskRunner runner(host, chip, task.unit_mask);
    RknpuTaskResult result;

    for (const RegisterWrite &w : task.writes) {
        if (w.offset >= 0x1000) {
            runner.set(w.offset, w.value);
        }
    }
    result = runner.run();
    for (const std::string &report : runner.reports) {
        ADD_FAILURE() << report;
    }
    return result;
}
