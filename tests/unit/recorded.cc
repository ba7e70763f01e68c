// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorded.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
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

std::vector<RecordedSubmit> ReadIoctlLog(const std::string &path)
{
    std::vector<RecordedSubmit> submits;
    std::ifstream in(path);
    std::string line;

    while (std::getline(in, line)) {
        RegisterWrite w;
        size_t mask = line.find(" en=0x");

        if (line.rfind("SUBMIT", 0) == 0) {
            submits.emplace_back();
        } else if (line.rfind(" TASK ", 0) == 0 && mask != std::string::npos && !submits.empty()) {
            submits.back().tasks.emplace_back();
            submits.back().tasks.back().unit_mask = (uint32_t)std::stoul(line.substr(mask + 6), nullptr, 16);
        } else if (!submits.empty() && !submits.back().tasks.empty() &&
                   std::sscanf(line.c_str(), " %4x %8x %4x", &w.offset, &w.value, &w.target) == 3) {
            submits.back().tasks.back().writes.push_back(w);
        }
    }
    return submits;
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
