/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arithmetic of the runtime's SRAM table; rknpu/sramhit.h says where it comes from. */
#include "rknpu/sramhit.h"

uint64_t rknpu_sram_hit(uint64_t start, uint64_t end, uint64_t sram_start, uint64_t sram_end)
{
    uint64_t from = start > sram_start ? start : sram_start;
    uint64_t to = end < sram_end ? end : sram_end;

    return to > from ? to - from : 0;
}

RknpuSramTotals rknpu_sram_totals(const RknpuTensor *tensors, size_t count, uint64_t sram_start,
                                  uint64_t sram_end, uint64_t *hits)
{
    RknpuSramTotals totals = { 0 };

    for (size_t i = 0; i < count; i++) {
        const RknpuTensor *t = &tensors[i];
        uint64_t passes = t->use == RKNPU_TENSOR_INTERNAL ? 2 : 1;
        uint64_t hit = rknpu_sram_hit(t->start, t->end, sram_start, sram_end);

        totals.read_write += passes * (t->end > t->start ? t->end - t->start : 0);
        totals.sram_hit += passes * hit;
        if (hits) {
            hits[i] = hit;
        }
    }
    return totals;
}
