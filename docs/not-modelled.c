/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints docs/not-modelled.md from the register lists, so that the page cannot disagree with the
 * model. Renew the page with: ninja -C build docs
 */
#include <stdio.h>
#include <string.h>
#include "rknpu/regs.h"

/* What the model refuses by name; docs/check.sh compares this with the sources of hw/npu. */
static const char *const modes[][2] = {
    { "CNA CONV_CON1 ARGB_IN",
      "packed pixels of other than 1 to 4 channels, of 4 bits; RK3576: not int8, int16 or fp16" },
    { "CNA CONV_CON1 ARGB_IN with DEPTHWISE", "RK3576: depthwise kernels on packed int8 pixels" },
    { "CNA CONV_CON1 CONV_MODE", "modes other than direct and depthwise" },
    { "CNA CONV_CON1 IN_PRECISION unlike PROC_PRECISION", "features of another precision" },
    { "CNA CONV_CON1 WEIGHT_PRECISION", "RK3576: mixed precision other than int4 with fp16" },
    { "CNA FC_CON0 FC_SKIP_DATA", "leaving out inputs of another value than 0" },
    { "CNA CVT_CON0 active with PROC_PRECISION", "the input converter on types other than int8" },
    { "CNA DCOMP_CTRL", "compressed weights of other types or controls than were ever seen" },
    { "compressed weights: lane",
      "codes that no known packer writes (class 8, second run length)" },
    { "CNA DCOMP_REGNUM", "compressed weights with other than 16 lanes" },
    { "CNA and DPU PROC_PRECISION differ in kind: DPU", "integer sums into a float DPU, or back" },
    { "DPU BS_CFG", "RK3588: ALU algorithms other than add and subtract" },
    { "DPU BN_CFG", "RK3588: the same in the second stage" },
    { "DPU BS_OW_CFG OUTPUT_TURN", "RK3576: rearranged output other than those that are known" },
    { "DPU BS_OW_CFG TP_ORG_EN", "transposed blocks in passes of other sizes than known" },
    { "DPU DATA_CUBE_HEIGHT MINMAX_CTL", "searches other than those known for the largest" },
    { "DPU EW_CFG operation",
      "operations that no source defines for the type; RK3576: two at once" },
    { "DPU EW clamp pair", "RK3576: a lower limit other than 0" },
    { "DPU LUT_CFG", "RK3576: a table other than LE below, LO above" },
    { "DPU FEATURE_MODE_CFG OUTPUT_MODE", "DPU output to memory and to the PPU at once" },
    { "DPU FEATURE_MODE_CFG NONALIGN", "packed output of whole pixels" },
    { "DPU FEATURE_MODE_CFG RGP_TYPE",
      "regrouped output other than the first byte or half word of each pixel" },
    { "DPU FEATURE_MODE_CFG TP_EN", "transposed output of rows longer than a pass" },
    { "DPU: rearranged output of a convolution or to the PPU", "transposed, spread, packed" },
    { "DPU stages in a task that rearranges", "arithmetic on what is moved" },
    { "DPU OUT_CVT_OFFSET of a floating task", "offsets other than the 1 of tables' programs" },
    { "DPU_RDMA ERDMA_CFG DATA_MODE", "operands per channel and pixel at once" },
    { "DPU_RDMA SRC_DMA_CFG UNPOOLING", "unpooling other than repeating pixels" },
    { "PPU OPERATION_MODE_CFG INDEX_EN", "the index output of maximum pooling" },
    { "PPU OPERATION_MODE_CFG POOLING_METHOD", "the fourth, undocumented method" },
    { "depthwise CONV_MODE with PROC_PRECISION", "depthwise on int4 and tf32" },
    { "unit mask with DPU and PPU together", "a PPU that reads memory beside a DPU task" },
    { "PPU DATA_FORMAT PROC_PRECISION unlike the DPU's output", "a change of type on the way" },
};

static void print_fields(const RknpuChip *chip, RknpuRegStatus status, const char *empty)
{
    static const char head[] = "| register | offset | fields |\n|---|---|---|\n";
    unsigned rows;
    const RknpuRegRow *row = rknpu_reg_rows(chip, &rows);
    unsigned last = 0, count = 0;

    for (unsigned i = 0; i < rows; i++) {
        if (!row[i].field || row[i].status != status) {
            continue;
        }
        if (row[i].offset != last) {
            printf("%s| %s %s | 0x%04x | %s", count ? " |\n" : head, row[i].block, row[i].name,
                   row[i].offset, row[i].field);
        } else {
            printf(", %s", row[i].field);
        }
        last = row[i].offset;
        count++;
    }
    printf("%s", count ? " |\n" : empty);
}

static void print_chip(const RknpuChip *chip, const char *title)
{
    printf("\n## %s: fields that are not modelled\n\n", title);
    print_fields(chip, RKNPU_REG_UNIMP, "None.\n");
    printf("\n## %s: fields that are only kept\n\n", title);
    print_fields(chip, RKNPU_REG_STORED, "None.\n");
}

int main(void)
{
    printf(
        "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->\n"
        "<!-- Made by docs/not-modelled.c from include/rknpu/regs-*.h: ninja -C build docs -->\n"
        "# What is not modelled\n\n"
        "A program that uses one of these things is told: the access is counted, QEMU warns of it once\n"
        "by name, and with `strict=on` stops the machine. A task that would compute\n"
        "something else than the chip never completes; it does not end with wrong data.\n\n"
        "## Modes that a task is refused for\n\n"
        "The left column is how the warning begins.\n\n"
        "| mode | what it is |\n|---|---|\n");
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        printf("| %s | %s |\n", modes[i][0], modes[i][1]);
    }
    printf(
        "\n## How to read the register tables\n\n"
        "*Not modelled* changes results on the chip; a non-zero value is reported. *Only kept*\n"
        "reads back what was written: on the chip it steers timing, buffers or the bus, or its\n"
        "meaning is unknown and no known program depends on it. Every other field has its\n"
        "documented effect. Starting blocks one by one through their own OPERATION_ENABLE is not\n"
        "modelled; programs use the unit mask.\n");
    print_chip(&rknpu_rk3588, "RK3588");
    print_chip(&rknpu_rk3576, "RK3576");
    return 0;
}
