/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rk3588 as device tests see it: addresses (RK3588 TRM, "Address mapping"; Linux
 * rk3588-base.dtsi) and the smallest job that moves bytes.
 */
#ifndef TESTS_DEVICE_SOC_H
#define TESTS_DEVICE_SOC_H

#include <gtest/gtest.h>

#include <memory>
#include "qtest.h"
#include "rknpu/regs.h"

namespace soc {

constexpr uint64_t cru = 0xfd7c0000, pmu = 0xfd8d8000;
constexpr uint64_t core[3] = {0xfdab0000, 0xfdac0000, 0xfdad0000};
constexpr unsigned spi[3] = {110, 111, 112};
constexpr uint64_t read_bank = 0xfdab9000, write_bank = 0xfdaba000; /* of core 0 */
constexpr uint64_t banks[4] = {0xfdab9000, 0xfdaba000, 0xfdaca000, 0xfdada000};

/* Registers of a bank, Linux drivers/iommu/rockchip-iommu.c */
enum { DTE_ADDR = 0x00, STATUS = 0x04, COMMAND = 0x08, PAGE_FAULT_ADDR = 0x0c, ZAP_ONE_LINE = 0x10,
       INT_RAWSTAT = 0x14, INT_CLEAR = 0x18, INT_MASK = 0x1c, INT_STATUS = 0x20 };
enum { ENABLE_PAGING, DISABLE_PAGING, ENABLE_STALL, DISABLE_STALL, ZAP_CACHE, PAGE_FAULT_DONE,
       FORCE_RESET };

/* Where tests put things in DRAM */
constexpr uint32_t program = 0x10000000, source = 0x10001000, target = 0x10002000;
constexpr uint32_t directory = 0x10010000, table = 0x10011000;

/*
 * Writes a program that copies 16 bytes from device address `from` to `to` with the DPU alone (all
 * stages bypassed, OUT_CVT 1.0), and returns its number of words. RK3588 TRM, chapter 36.
 */
unsigned put_copy(QTest &q, uint64_t at, uint32_t from, uint32_t to);

/* Starts tasks as drivers/accel/rocket/rocket_job.c does. */
void start(QTest &q, unsigned core, uint32_t program, unsigned words, unsigned tasks = 1);

/* The interrupt of a finished DPU task, group 0 or 1. */
constexpr uint32_t dpu_done = 0x300;

class Soc : public ::testing::Test {
protected:
    void SetUp() override;
    void boot(const std::vector<std::string> &more = {});
    std::unique_ptr<QTest> q;
};

} // namespace soc

#endif /* TESTS_DEVICE_SOC_H */
