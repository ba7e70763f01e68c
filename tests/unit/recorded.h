// SPDX-License-Identifier: GPL-2.0-or-later
// Recorded jobs: what Rockchip's runtime gave its driver, one line an ioctl and one a register
// write, and the buffers by IOVA. They are other people's data, so they live outside the repository
// in the folder that RKNPU_TEST_DATA names; tests skip without it.
#ifndef TESTS_UNIT_RECORDED_H
#define TESTS_UNIT_RECORDED_H

#include <cstdint>
#include <string>
#include <vector>

#include "fake_host.h"

struct RegisterWrite {
    uint32_t offset, value, target;
};

struct RecordedTask {
    unsigned number = 0; // place in the task list
    uint32_t unit_mask = 0;
    uint32_t int_mask = 0;
    uint32_t amount = 0;               // words without the four of the tail
    uint32_t address = 0;              // IOVA of the program
    std::vector<RegisterWrite> writes; // body and tail, in order
};

struct RecordedSubmit {
    unsigned start = 0, number = 0;  // what one core runs: the first sub-core entry in use
    std::vector<RecordedTask> tasks; // in the order of the log
};

// Path of a file below RKNPU_TEST_DATA, or "" when the variable is unset or the file is not there.
std::string RecordedPath(const std::string &name);

std::vector<uint8_t> ReadFile(const std::string &path);

// All SUBMITs of an ioctl log; a name that ends in ".gz" is unpacked by gzip.
std::vector<RecordedSubmit> ReadIoctlLog(const std::string &path);

// One program as the PC fetches it: command words from `at` in `words` up to the enable word.
RecordedTask ReadProgram(const std::vector<uint8_t> &words, size_t at);

// Maps every boNN_IOVA.bin of a folder into the host; physical pages are taken from `phys` upwards.
void LoadBuffers(FakeHost &host, const std::string &folder, uint64_t phys);

// Runs one recorded program on a fresh register group; the reports are added to the failure text.
RknpuTaskResult RunRecorded(FakeHost &host, const RknpuChip &chip, const RecordedTask &task);

#endif // TESTS_UNIT_RECORDED_H
