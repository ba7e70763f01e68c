/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An NPU with a FakeHost behind it, driven as the kernel drivers drive the chip. */
#ifndef TESTS_UNIT_MACHINE_H
#define TESTS_UNIT_MACHINE_H

#include <glib.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fake_host.h"

/* A register program: 64-bit command words, target [63:48], value [47:16], offset [15:0]. */
class Program {
public:
    Program &set(uint32_t offset, uint32_t value)
    {
        static const uint64_t kTarget[8] = { 0x0101, 0x0201, 0,      0x0801,
                                             0x1001, 0x2001, 0x4001, 0x8001 };

        return word(kTarget[offset >> 12], offset, value);
    }
    Program &word(uint64_t target, uint32_t offset, uint32_t value)
    {
        words.push_back(target << 48 | static_cast<uint64_t>(value) << 16 | offset);
        return *this;
    }
    /*
     * The four words of a program's tail; `next` 0 writes the all-zero word, as the last one does.
     */
    Program &end(uint32_t unit_mask, uint32_t next = 0, uint32_t next_amount = 0)
    {
        if (next) {
            word(0x0101, 0x0010, next);
        } else {
            words.push_back(0);
        }
        word(0x0101, 0x0014, next_amount);
        word(0x0041, 0, 0);
        return word(0x0081, 0x0008, unit_mask);
    }
    /* REGISTER_AMOUNTS that fetches all words: (N + 1) * 2 of them. */
    uint32_t amount() const { return static_cast<uint32_t>((words.size() + 1) / 2 - 1); }

    std::vector<uint64_t> words;
};

class Machine {
public:
    explicit Machine(const RknpuChip &chip = rknpu_rk3588, const RknpuConfig &config = {},
                     uint64_t bytes = 16u << 20)
        : host(bytes), table_(host.table()), npu(rknpu_new(&chip, &table_, host.opaque(), &config)),
          chip(&chip)
    {
    }
    ~Machine() { rknpu_free(npu); }
    Machine(const Machine &) = delete;

    uint32_t read(uint32_t offset, unsigned core = 0) { return rknpu_read(npu, core, offset); }
    void write(uint32_t offset, uint32_t value, unsigned core = 0)
    {
        rknpu_write(npu, core, offset, value);
    }

    /* Starts `tasks` tasks at a program, with the register writes of Rockchip's driver. */
    void start(uint32_t address, uint32_t amount, unsigned tasks = 1, uint32_t mask = 0x300,
               unsigned core = 0)
    {
        write(0x10, 1, core);
        write(0x1004, 0xe + (core << 28), core);
        write(0x3004, 0xe + (core << 28), core);
        write(0x10, address, core);
        write(0x14, amount, core);
        write(0x20, mask, core);
        write(0x24, mask, core);
        write(0x30, (6u << chip->task_number_bits) | tasks, core);
        write(0x34, 0, core);
        write(0x08, 1, core);
        write(0x08, 0, core);
    }
    void start(uint32_t address, const Program &program, unsigned tasks = 1, uint32_t mask = 0x300)
    {
        host.put(address, program.words);
        start(address, program.amount(), tasks, mask);
    }
    /* True when the core became idle in time. */
    bool wait(unsigned core = 0) { return rknpu_wait_idle(npu, core, 10000); }
    /* Waits for the next JOB_STALL event and returns its text, or "" after ten seconds. */
    std::string wait_stall();

    RknpuCoreState state(unsigned core = 0)
    {
        RknpuCoreState s;

        rknpu_get_state(npu, core, &s);
        return s;
    }
    RknpuStats stats(unsigned core = 0)
    {
        RknpuStats s;

        rknpu_stats(npu, core, &s);
        return s;
    }

    FakeHost host;

private:
    RknpuHost table_;

public:
    RknpuNpu *npu;
    const RknpuChip *chip;
};

inline std::string Machine::wait_stall()
{
    for (int i = 0; i < 10000; i++) {
        auto stalls = host.events(RKNPU_EVENT_JOB_STALL);

        if (!stalls.empty()) {
            return stalls.back().text;
        }
        g_usleep(1000);
    }
    return "";
}

#endif /* TESTS_UNIT_MACHINE_H */
