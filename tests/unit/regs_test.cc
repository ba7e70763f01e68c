/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The register lists: against an independent list, against themselves, and against the device.
 */
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "machine.h"
#include "recorded.h"

namespace {

const RknpuChip *const kChips[] = { &rknpu_rk3588, &rknpu_rk3576 };

struct Fact {
    const char *block, *name, *field;
    uint32_t offset, mask;
};

/*
 * Written from Mesa src/gallium/drivers/rocket/registers.xml, one or two fields a
 * register, every block.
 */
const Fact kRk3588Facts[] = {
    { "PC", "OPERATION_ENABLE", "OP_EN", 0x0008, 0x00000001 },
    { "PC", "BASE_ADDRESS", "PC_SOURCE_ADDR", 0x0010, 0xfffffff0 },
    { "PC", "BASE_ADDRESS", "PC_SEL", 0x0010, 0x00000001 },
    { "PC", "REGISTER_AMOUNTS", "PC_DATA_AMOUNT", 0x0014, 0x0000ffff },
    { "PC", "INTERRUPT_MASK", "DPU_0", 0x0020, 0x00000100 },
    { "PC", "INTERRUPT_CLEAR", "DMA_WRITE_ERROR", 0x0024, 0x00002000 },
    { "PC", "INTERRUPT_STATUS", "PPU_1", 0x0028, 0x00000800 },
    { "PC", "INTERRUPT_RAW_STATUS", "DMA_READ_ERROR", 0x002c, 0x00001000 },
    { "PC", "TASK_CON", "TASK_NUMBER", 0x0030, 0x00000fff },
    { "PC", "TASK_CON", "TASK_COUNT_CLEAR", 0x0030, 0x00002000 },
    { "PC", "TASK_DMA_BASE_ADDR", "DMA_BASE_ADDR", 0x0034, 0xfffffff0 },
    { "CNA", "S_STATUS", "STATUS_1", 0x1000, 0x00030000 },
    { "CNA", "S_POINTER", "EXECUTER", 0x1004, 0x00010000 },
    { "CNA", "S_POINTER", "POINTER_PP_MODE", 0x1004, 0x00000008 },
    { "CNA", "CONV_CON1", "NONALIGN_DMA", 0x100c, 0x40000000 },
    { "CNA", "CONV_CON1", "PROC_PRECISION", 0x100c, 0x00000380 },
    { "CNA", "CONV_CON2", "FEATURE_GRAINS", 0x1010, 0x00003ff0 },
    { "CNA", "CONV_CON3", "ATROUS_Y_DILATION", 0x1014, 0x03e00000 },
    { "CNA", "CONV_CON3", "CONV_Y_STRIDE", 0x1014, 0x00000038 },
    { "CNA", "DATA_SIZE0", "DATAIN_WIDTH", 0x1020, 0x07ff0000 },
    { "CNA", "DATA_SIZE1", "DATAIN_CHANNEL_REAL", 0x1024, 0x3fff0000 },
    { "CNA", "DATA_SIZE2", "DATAOUT_WIDTH", 0x1028, 0x000007ff },
    { "CNA", "DATA_SIZE3", "DATAOUT_ATOMICS", 0x102c, 0x003fffff },
    { "CNA", "WEIGHT_SIZE0", "WEIGHT_BYTES", 0x1030, 0xffffffff },
    { "CNA", "WEIGHT_SIZE1", "WEIGHT_BYTES_PER_KERNEL", 0x1034, 0x0007ffff },
    { "CNA", "WEIGHT_SIZE2", "WEIGHT_WIDTH", 0x1038, 0x1f000000 },
    { "CNA", "WEIGHT_SIZE2", "WEIGHT_KERNELS", 0x1038, 0x00003fff },
    { "CNA", "CBUF_CON0", "WEIGHT_BANK", 0x1040, 0x000000f0 },
    { "CNA", "CBUF_CON1", "DATA_ENTRIES", 0x1044, 0x00003fff },
    { "CNA", "CVT_CON0", "CVT_TRUNCATE_2", 0x104c, 0x003f0000 },
    { "CNA", "CVT_CON0", "DATA_SIGN", 0x104c, 0x00000008 },
    { "CNA", "CVT_CON4", "CVT_SCALE3", 0x105c, 0xffff0000 },
    { "CNA", "PAD_CON0", "PAD_LEFT", 0x1068, 0x000000f0 },
    { "CNA", "FEATURE_DATA_ADDR", "FEATURE_BASE_ADDR", 0x1070, 0xffffffff },
    { "CNA", "DMA_CON1", "LINE_STRIDE", 0x107c, 0x0fffffff },
    { "CNA", "DMA_CON2", "SURF_STRIDE", 0x1080, 0x0fffffff },
    { "CNA", "FC_DATA_SIZE0", "DMA_WIDTH", 0x1084, 0x3fff0000 },
    { "CNA", "DCOMP_ADDR0", "DECOMPRESS_ADDR0", 0x1110, 0xffffffff },
    { "CNA", "DCOMP_AMOUNT15", "DCOMP_AMOUNT15", 0x117c, 0xffffffff },
    { "CNA", "CVT_CON5", "PER_CHANNEL_CVT_EN", 0x1180, 0xffffffff },
    { "CNA", "PAD_CON1", "PAD_VALUE", 0x1184, 0xffffffff },
    { "CORE", "MISC_CFG", "PROC_PRECISION", 0x3010, 0x00000700 },
    { "CORE", "DATAOUT_SIZE_0", "DATAOUT_HEIGHT", 0x3014, 0xffff0000 },
    { "CORE", "CLIP_TRUNCATE", "CLIP_TRUNCATE", 0x301c, 0x0000001f },
    { "DPU", "FEATURE_MODE_CFG", "CONV_MODE", 0x400c, 0x00000018 },
    { "DPU", "DATA_FORMAT", "OUT_PRECISION", 0x4010, 0xe0000000 },
    { "DPU", "DST_BASE_ADDR", "DST_BASE_ADDR", 0x4020, 0xffffffff },
    { "DPU", "DST_SURF_STRIDE", "DST_SURF_STRIDE", 0x4024, 0xfffffff0 },
    { "DPU", "DATA_CUBE_CHANNEL", "ORIG_CHANNEL", 0x403c, 0x1fff0000 },
    { "DPU", "BS_CFG", "BS_ALU_ALGO", 0x4040, 0x000f0000 },
    { "DPU", "BS_MUL_CFG", "BS_MUL_SHIFT_VALUE", 0x4048, 0x00003f00 },
    { "DPU", "BS_OW_CFG", "SIZE_E_1", 0x4050, 0x000000e0 },
    { "DPU", "BS_OW_OP", "OW_OP", 0x4054, 0x0000ffff },
    { "DPU", "WDMA_SIZE_1", "HEIGHT_WDMA", 0x405c, 0x1fff0000 },
    { "DPU", "EW_CFG", "EW_LUT_BYPASS", 0x4070, 0x00000080 },
    { "DPU", "EW_CVT_SCALE_VALUE", "EW_TRUNCATE", 0x4078, 0xffc00000 },
    { "DPU", "OUT_CVT_OFFSET", "OUT_CVT_OFFSET", 0x4080, 0xffffffff },
    { "DPU", "OUT_CVT_SCALE", "OUT_CVT_SCALE", 0x4084, 0x0000ffff },
    { "DPU", "OUT_CVT_SHIFT", "MINUS_EXP", 0x4088, 0x000ff000 },
    { "DPU", "EW_OP_VALUE_7", "EW_OPERAND_7", 0x40ac, 0xffffffff },
    { "DPU", "SURFACE_ADD", "SURF_ADD", 0x40c0, 0xfffffff0 },
    { "DPU", "LUT_ACCESS_CFG", "LUT_ADDR", 0x4100, 0x000003ff },
    { "DPU", "LUT_LO_SLOPE_SHIFT", "LUT_LO_SLOPE_OFLOW_SHIFT", 0x412c, 0x000003e0 },
    { "DPU_RDMA", "BRDMA_CFG", "BRDMA_DATA_USE", 0x501c, 0x0000001e },
    { "DPU_RDMA", "ERDMA_CFG", "ERDMA_DATA_MODE", 0x5034, 0xc0000000 },
    { "DPU_RDMA", "FEATURE_MODE_CFG", "COMB_USE", 0x5044, 0x00000700 },
    { "DPU_RDMA", "SRC_DMA_CFG", "LINE_NOTCH_ADDR", 0x5048, 0xfff80000 },
    { "PPU", "OPERATION_MODE_CFG", "POOLING_METHOD", 0x6024, 0x00000003 },
    { "PPU", "POOLING_KERNEL_CFG", "KERNEL_STRIDE_HEIGHT", 0x6034, 0x00f00000 },
    { "PPU", "DST_BASE_ADDR", "DST_BASE_ADDR", 0x6070, 0xfffffff0 },
    { "PPU", "MISC_CTRL", "NONALIGN", 0x60dc, 0x00000080 },
    { "PPU_RDMA", "SRC_SURF_STRIDE", "SRC_SURF_STRIDE", 0x7028, 0xfffffff0 },
    { "DDMA", "CFG_DMA_ARB", "RD_FIX_ARB", 0x8018, 0x00000007 },
    { "GLOBAL", "OPERATION_ENABLE", "PPU_RDMA_OP_EN", 0xf008, 0x00000040 },
};

uint32_t MaskOf(const RknpuRegRow &row)
{
    return static_cast<uint32_t>(((UINT64_C(1) << row.width) - 1) << row.shift);
}

TEST(Regs, AgreeWithMesasRegisterList)
{
    unsigned rows;
    const RknpuRegRow *row = rknpu_reg_rows(&rknpu_rk3588, &rows);
    std::map<std::string, const RknpuRegRow *> by_name;

    for (unsigned i = 0; i < rows; i++) {
        if (row[i].field) {
            by_name[std::string(row[i].block) + "." + row[i].name + "." + row[i].field] = &row[i];
        }
    }
    for (const Fact &fact : kRk3588Facts) {
        std::string name = std::string(fact.block) + "." + fact.name + "." + fact.field;

        ASSERT_TRUE(by_name.count(name)) << name;
        EXPECT_EQ(fact.offset, by_name[name]->offset) << name;
        EXPECT_EQ(fact.mask, MaskOf(*by_name[name])) << name;
    }
}

/*
 * Board captures: the version that the drivers print (1179210309, 1179210311), and the idle values.
 */
TEST(Regs, VersionAndIdleValues)
{
    Machine rk3588(rknpu_rk3588), rk3576(rknpu_rk3576);

    EXPECT_EQ(1179210309u, rk3588.read(0x00) + (rk3588.read(0x04) & 0xffff));
    EXPECT_EQ(1179210311u, rk3576.read(0x00) + (rk3576.read(0x04) & 0xffff));
    EXPECT_EQ(1u, rk3588.read(0x10));
    EXPECT_EQ(0x1ffffu, rk3588.read(0x20));
    EXPECT_EQ(0u, rk3588.read(0x28));
    EXPECT_EQ(0u, rk3588.read(0x30));
    EXPECT_EQ(0x5000u, rk3588.read(0x3c));
    EXPECT_EQ(0u, rk3588.read(0xf008));
}

class RegList : public testing::TestWithParam<const RknpuChip *> {};

TEST_P(RegList, FieldsDoNotOverlapAndNamesAreUnique)
{
    unsigned rows;
    const RknpuRegRow *row = rknpu_reg_rows(GetParam(), &rows);
    std::set<std::string> names;
    std::set<uint32_t> offsets;
    std::set<std::string> fields;
    uint32_t used = 0, offset = 0;

    for (unsigned i = 0; i < rows; i++) {
        std::string name = std::string(row[i].block) + "." + row[i].name;

        if (!row[i].field) {
            EXPECT_TRUE(names.insert(name).second) << name;
            EXPECT_TRUE(offsets.insert(row[i].offset).second) << name;
            EXPECT_EQ(0, row[i].offset & 3) << name;
            EXPECT_LT(row[i].offset, GetParam()->window) << name;
            offset = row[i].offset;
            used = 0;
            fields.clear();
            continue;
        }
        ASSERT_EQ(offset, row[i].offset) << name;
        ASSERT_LE(row[i].shift + row[i].width, 32) << name;
        EXPECT_EQ(0u, used & MaskOf(row[i])) << name << "." << row[i].field;
        EXPECT_TRUE(fields.insert(row[i].field).second) << name << "." << row[i].field;
        used |= MaskOf(row[i]);
    }
}

TEST_P(RegList, TaskFieldsLieInsideListedBits)
{
    for (int id = 0; id < RKNPU_FIELDS; id++) {
        const RknpuField &field = GetParam()->fields[id];
        RknpuReg reg;

        if (field.width == 0) {
            continue;
        }
        ASSERT_TRUE(rknpu_reg_find(GetParam(), field.reg, &reg)) << id;
        if (field.width < 32 && field.lsl == 0) {
            uint32_t mask = ((1u << field.width) - 1) << field.shift;

            EXPECT_EQ(mask, mask & reg.bits) << reg.block << " " << reg.name << " field " << id;
        }
    }
}

/* Registers whose read-back is something else than what was written. */
bool IsSpecial(const RknpuChip *chip, uint32_t offset)
{
    static const std::set<uint32_t> kSpecial = { 0x00, 0x04, 0x08, 0x24, 0x28, 0x2c, 0x30,
                                                 0x4100, 0x4104, 0xf008 };
    uint32_t in_block = offset & 0xfff;
    bool grouped = offset >= 0x1000 && offset < 0x8000 && (offset & 0xf000) != 0x2000;

    return kSpecial.count(offset) || offset == chip->task_status || (grouped && in_block < 8) ||
           (offset & 0xf000) == 0x2000;
}

/* Every register keeps its listed bits and no other, in both groups apart. */
TEST_P(RegList, AllOnesReadBackTheListedBits)
{
    Machine m(*GetParam());
    unsigned rows;
    const RknpuRegRow *row = rknpu_reg_rows(GetParam(), &rows);

    for (unsigned i = 0; i < rows; i++) {
        RknpuReg reg;

        if (row[i].field || IsSpecial(GetParam(), row[i].offset)) {
            continue;
        }
        ASSERT_TRUE(rknpu_reg_find(GetParam(), row[i].offset, &reg));
        EXPECT_EQ(reg.reset, m.read(reg.offset)) << reg.block << " " << reg.name;
        m.write(reg.offset, 0xffffffff);
        EXPECT_EQ(reg.bits, m.read(reg.offset)) << reg.block << " " << reg.name;
        m.write(reg.offset, 0);
        EXPECT_EQ(0u, m.read(reg.offset)) << reg.block << " " << reg.name;
    }
}

TEST_P(RegList, ResetRestoresBothGroups)
{
    Machine m(*GetParam());
    RknpuCoreState fresh = m.state();

    for (uint32_t group = 0; group < 2; group++) {
        for (uint32_t offset = 0; offset < GetParam()->window; offset += 4) {
            if ((offset & 0xfff) < 0x200 && offset != 0x08 && offset != 0xf008) {
                m.write(offset, (offset & 0xfff) == 4 ? group : 0xa5a5a5a5);
            }
        }
    }
    RknpuCoreState dirty = m.state();
    EXPECT_NE(0, memcmp(&fresh, &dirty, sizeof(fresh)));
    rknpu_reset(m.npu, 0);
    RknpuCoreState after = m.state();
    EXPECT_EQ(0, memcmp(&fresh, &after, sizeof(fresh)));
}

TEST_P(RegList, UnknownRegisterIsReportedOnceByItsOffset)
{
    Machine m(*GetParam());

    m.write(0x11f0, 5);
    m.write(0x11f0, 6);
    EXPECT_EQ(6u, m.read(0x11f0));
    auto events = m.host.events(RKNPU_EVENT_UNIMP);
    ASSERT_EQ(1u, events.size());
    EXPECT_EQ("unknown register 0x11f0 written: 0x5", events[0].text);
    EXPECT_EQ(2u, m.stats().unimplemented);
}

INSTANTIATE_TEST_SUITE_P(Chips, RegList, testing::ValuesIn(kChips),
                         [](const auto &info) { return std::string(info.param->name); });

/* Every write of Rockchip's runtime 1.6.0 is to a listed register, and no bit of it gets lost. */
TEST(Regs, CoverTheRecordedPrograms)
{
    unsigned programs = 0;

    for (const char *name : { "ab32", "mi_base", "mi_cores012", "mi_sram256_w128" }) {
        std::string path = RecordedPath(std::string("vendor-runtime/") + name + ".ioctl.log");

        if (path.empty()) {
            GTEST_SKIP() << "RKNPU_TEST_DATA names no folder with vendor-runtime/" << name
                         << ".ioctl.log";
        }
        for (const RecordedSubmit &submit : ReadIoctlLog(path)) {
            for (const RecordedTask &task : submit.tasks) {
                programs++;
                for (const RegisterWrite &w : task.writes) {
                    RknpuReg reg;

                    if (w.offset < 0x1000) {
                        continue;
                    }
                    ASSERT_TRUE(rknpu_reg_find(&rknpu_rk3588, w.offset, &reg))
                        << std::hex << w.offset;
                    EXPECT_EQ(w.value, w.value & reg.bits) << std::hex << w.offset;
                }
            }
        }
    }
    EXPECT_GT(programs, 0u);
}

/* TRM: fields that hold a value minus one, signed fields, and units of 16 bytes. */
TEST(Fields, AreNormalised)
{
    auto value = [](const RknpuChip &chip, RknpuFieldId id, uint32_t raw) {
        return rknpu_field_value(&chip.fields[id], raw);
    };

    EXPECT_EQ(28, value(rknpu_rk3588, RKNPU_F_CUBE_WIDTH, 27));
    EXPECT_EQ(-3, value(rknpu_rk3588, RKNPU_F_SURF_STRIDE, 0x0ffffffd));
    EXPECT_EQ(-23, value(rknpu_rk3588, RKNPU_F_OW_OP, 0xffe9));
    EXPECT_EQ(0x3100, value(rknpu_rk3588, RKNPU_F_DST_SURF_STRIDE, 0x3100));
    EXPECT_EQ(-128, value(rknpu_rk3588, RKNPU_F_OUT_CVT_OFFSET, 0xffffff80));
    EXPECT_EQ(128, value(rknpu_rk3576, RKNPU_F_WEIGHT_KERNELS, 0x0404007f));
    EXPECT_EQ(5, value(rknpu_rk3576, RKNPU_F_WEIGHT_HEIGHT, 0x0404007f));
    EXPECT_EQ(0x640 * 16, value(rknpu_rk3576, RKNPU_F_DST_SURF_STRIDE, 0x640));
    EXPECT_EQ(0, value(rknpu_rk3576, RKNPU_F_DECONV, 0xffffffff));
    EXPECT_FALSE(rknpu_has_field(&rknpu_rk3576, RKNPU_F_DECONV));
}

} // namespace
