// SPDX-License-Identifier: GPL-2.0-or-later
// Every mode that docs/not-modelled.md says a task is refused for, reached by changing fields of a
// program of the fuzzer's corpus. Each must end as not modelled, with its name in the report: a
// name that no task can reach would be dead code, and one that this table lacks would be untested.
#include "fake_host.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

extern "C" {
#include "types.h"
}

namespace
{

struct Change {
    RknpuFieldId field;
    uint32_t bits;
};

struct Mode {
    const char *name;    /* as in the page */
    const char *program; /* of the corpus */
    std::vector<Change> changes;
    uint32_t units = 0; /* unit mask instead of the program's */
};

constexpr uint32_t kDpuToPpu = RKNPU_UNIT_DPU | RKNPU_UNIT_DPU_RDMA | RKNPU_UNIT_PPU;

const Mode kModes[] = {
    { "CNA CONV_CON1 ARGB_IN", "rk3588-conv", { { RKNPU_F_ARGB_IN, 1 } } },
    { "CNA CONV_CON1 ARGB_IN with DEPTHWISE", "rk3576-packed", { { RKNPU_F_CONV_MODE, 1 } } },
    { "CNA CONV_CON1 CONV_MODE", "rk3588-conv", { { RKNPU_F_CONV_MODE, 1 } } },
    { "CNA CONV_CON1 IN_PRECISION unlike PROC_PRECISION",
      "rk3588-conv",
      { { RKNPU_F_IN_PRECISION, RKNPU_FP16 } } },
    { "CNA CONV_CON1 WEIGHT_PRECISION",
      "rk3576-conv",
      { { RKNPU_F_WEIGHT_PRECISION, RKNPU_INT4 } } },
    { "CNA FC_CON0 FC_SKIP_DATA",
      "rk3588-conv",
      { { RKNPU_F_FC_SKIP_EN, 1 }, { RKNPU_F_FC_SKIP_DATA, 5 } } },
    { "CNA CVT_CON0 active with PROC_PRECISION",
      "rk3588-matmul-fp16",
      { { RKNPU_F_CVT_BYPASS, 0 } } },
    { "CNA DCOMP_CTRL", "rk3588-dcomp", { { RKNPU_F_DCOMP_CTRL, 3 } } },
    { "CNA DCOMP_REGNUM", "rk3588-dcomp", { { RKNPU_F_DCOMP_REGNUM, 0 } } },
    { "compressed weights: lane", "rk3588-dcomp", {} },
    { "CNA and DPU PROC_PRECISION differ in kind: DPU",
      "rk3588-conv",
      { { RKNPU_F_DPU_PROC_PRECISION, RKNPU_FP16 }, { RKNPU_F_OUT_CVT_OFFSET, 0 } } },
    { "DPU BS_CFG", "rk3588-conv", { { RKNPU_F_BS_CFG, 3 << 16 } } },
    { "DPU BN_CFG", "rk3588-conv", { { RKNPU_F_BN_CFG, 3 << 16 } } },
    { "DPU BS_OW_CFG OUTPUT_TURN", "rk3576-turn", { { RKNPU_F_OUTPUT_TURN, 4 } } },
    { "DPU BS_OW_CFG TP_ORG_EN",
      "rk3588-elementwise",
      { { RKNPU_F_TP_ORG_EN, 1 }, { RKNPU_F_SIZE_E, 3 } } },
    { "DPU DATA_CUBE_HEIGHT MINMAX_CTL", "rk3588-maximum", { { RKNPU_F_MINMAX_CTL, 1 } } },
    { "DPU EW_CFG operation", "rk3588-elementwise", { { RKNPU_F_EW_CFG, 0x10f02c0 } } },
    { "DPU EW clamp pair", "rk3576-elementwise", { { RKNPU_F_EW_CLAMP_MIN, 5 } } },
    { "DPU LUT_CFG", "rk3576-elementwise", { { RKNPU_F_EW_CFG, 0x1004140 } } },
    { "DPU OUT_CVT_OFFSET of a floating task",
      "rk3588-elementwise",
      { { RKNPU_F_OUT_CVT_OFFSET, 2 } } },
    { "DPU FEATURE_MODE_CFG OUTPUT_MODE", "rk3588-conv", { { RKNPU_F_OUTPUT_MODE, 3 } } },
    { "DPU FEATURE_MODE_CFG NONALIGN", "rk3588-elementwise", { { RKNPU_F_DPU_NONALIGN, 1 } } },
    { "DPU FEATURE_MODE_CFG RGP_TYPE", "rk3588-elementwise", { { RKNPU_F_RGP_TYPE, 5 } } },
    { "DPU FEATURE_MODE_CFG TP_EN", "rk3588-elementwise", { { RKNPU_F_TP_EN, 1 } } },
    { "DPU: rearranged output of a convolution or to the PPU",
      "rk3588-conv",
      { { RKNPU_F_TP_ORG_EN, 1 }, { RKNPU_F_SIZE_E, 7 } } },
    { "DPU stages in a task that rearranges", "rk3588-unpool", { { RKNPU_F_OUT_CVT_SCALE, 2 } } },
    { "DPU_RDMA ERDMA_CFG DATA_MODE", "rk3588-elementwise", { { RKNPU_F_ERDMA_DATA_MODE, 2 } } },
    { "DPU_RDMA SRC_DMA_CFG UNPOOLING", "rk3588-unpool", { { RKNPU_F_UNPOOLING_METHOD, 1 } } },
    { "PPU OPERATION_MODE_CFG INDEX_EN", "rk3588-pool", { { RKNPU_F_PPU_INDEX_EN, 1 } } },
    { "PPU OPERATION_MODE_CFG POOLING_METHOD", "rk3588-pool", { { RKNPU_F_POOLING_METHOD, 3 } } },
    { "depthwise CONV_MODE with PROC_PRECISION",
      "rk3588-depthwise",
      { { RKNPU_F_IN_PRECISION, RKNPU_INT4 }, { RKNPU_F_PROC_PRECISION, RKNPU_INT4 } } },
    { "unit mask with DPU and PPU together",
      "rk3588-elementwise",
      {},
      kDpuToPpu | RKNPU_UNIT_PPU_RDMA },
    { "PPU DATA_FORMAT PROC_PRECISION unlike the DPU's output",
      "rk3588-elementwise",
      { { RKNPU_F_OUTPUT_MODE, 1 }, { RKNPU_F_PPU_PROC_PRECISION, RKNPU_INT8 } },
      kDpuToPpu },
};

// A program of the corpus with changed fields.
class Program
{
  public:
    explicit Program(const Mode &mode)
    {
        std::ifstream in(std::string(RKNPU_CORPUS) + "/" + mode.program + ".regs");
        std::string line, word;

        while (std::getline(in, line)) {
            std::istringstream words(line.substr(0, line.find('#')));

            if (words >> word && word == "chip") {
                words >> word;
                chip_ = word == "rk3576" ? &rknpu_rk3576 : &rknpu_rk3588;
            } else if (word == "units") {
                words >> std::hex >> units_;
            } else if (size_t at = word.find('='); at != std::string::npos) {
                value_[(uint32_t)std::stoul(word, nullptr, 16)] =
                    (uint32_t)std::stoul(word.substr(at + 1), nullptr, 16);
            }
        }
        units_ = mode.units ? mode.units : units_;
        for (const Change &change : mode.changes) {
            const RknpuField &field = chip_->fields[change.field];
            uint32_t mask = field.width >= 32 ? ~0u : ((1u << field.width) - 1) << field.shift;
            uint32_t &value = value_[field.reg];

            value = (value & ~mask) | (change.bits << field.shift & mask);
        }
    }

    TaskRunner runner(FakeHost &host) const
    {
        TaskRunner task(host, *chip_, units_);

        for (auto [offset, value] : value_) {
            task.set(offset, value);
        }
        return task;
    }

  private:
    const RknpuChip *chip_ = &rknpu_rk3588;
    uint32_t units_ = 0;
    std::map<uint32_t, uint32_t> value_;
};

TEST(RefusedModes, EachIsReachedAndNamed)
{
    for (const Mode &mode : kModes) {
        FakeHost host;
        TaskRunner task = Program(mode).runner(host);

        SCOPED_TRACE(mode.name);
        host.put(0x40000, std::vector<uint8_t>(0x20000, 0x22)); /* no mode of compressed weights */
        EXPECT_EQ(task.run(), RKNPU_TASK_UNIMP) << task.first_report();
        EXPECT_EQ(task.first_report().rfind(mode.name, 0), 0u) << task.first_report();
    }
}

TEST(RefusedModes, TableIsThePages)
{
    std::ifstream page(RKNPU_NOT_MODELLED);
    std::set<std::string> listed, tested;
    std::string line;

    while (std::getline(page, line) && line.rfind("## How to read", 0) != 0) {
        if (line.rfind("| ", 0) == 0 && line.rfind("| mode", 0) != 0) {
            listed.insert(line.substr(2, line.find(" |", 2) - 2));
        }
    }
    for (const Mode &mode : kModes) {
        tested.insert(mode.name);
    }
    EXPECT_EQ(listed, tested);
}

} // namespace
