/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of the six computing blocks: two persistent groups each (TRM 36, "ping-pong").
 *
 *   block + 0x0  S_STATUS   one a block, read only
 *   block + 0x4  S_POINTER  one a block: which group is written, which executes
 *   block + 0x8 ...         two groups, never cleared between tasks or jobs
 *
 * Programs of Rockchip's compiler write short deltas that inherit from the task two before theirs,
 * so both groups are needed for right results. DPU LUT_ACCESS_CFG and LUT_ACCESS_DATA stand outside
 * the groups: there is one pair of tables.
 */
#include <string.h>
#include "core.h"

enum { WORD_STATUS, WORD_POINTER, WORD_ENABLE, WORD_GROUPED = WORD_ENABLE };

#define POINTER RKNPU_MASK(GROUP_S_POINTER__POINTER)
#define POINTER_PP_EN RKNPU_MASK(GROUP_S_POINTER__POINTER_PP_EN)
#define EXECUTER_PP_EN RKNPU_MASK(GROUP_S_POINTER__EXECUTER_PP_EN)
#define POINTER_PP_MODE RKNPU_MASK(GROUP_S_POINTER__POINTER_PP_MODE)
#define POINTER_PP_CLEAR RKNPU_MASK(GROUP_S_POINTER__POINTER_PP_CLEAR)
#define EXECUTER_PP_CLEAR RKNPU_MASK(GROUP_S_POINTER__EXECUTER_PP_CLEAR)
#define EXECUTER RKNPU_MASK(GROUP_S_POINTER__EXECUTER)

static const struct {
    uint16_t base;
    uint32_t unit;
} blocks[RKNPU_BLOCKS] = {
    [RKNPU_CNA] = { RKNPU_BASE_CNA, RKNPU_UNIT_CNA },
    [RKNPU_CORE] = { RKNPU_BASE_CORE, RKNPU_UNIT_CORE },
    [RKNPU_DPU] = { RKNPU_BASE_DPU, RKNPU_UNIT_DPU },
    [RKNPU_DPU_RDMA] = { RKNPU_BASE_DPU_RDMA, RKNPU_UNIT_DPU_RDMA },
    [RKNPU_PPU] = { RKNPU_BASE_PPU, RKNPU_UNIT_PPU },
    [RKNPU_PPU_RDMA] = { RKNPU_BASE_PPU_RDMA, RKNPU_UNIT_PPU_RDMA },
};

int rknpu_block_of(uint32_t offset)
{
    for (int block = 0; block < RKNPU_BLOCKS; block++) {
        if (blocks[block].base == (offset & ~0xfffu)) {
            return block;
        }
    }
    return -1;
}

uint32_t rknpu_unit_of(RknpuBlock block)
{
    return blocks[block].unit;
}

/* The word of `map` that describes `offset`, or NULL when the model keeps no word there. */
static RknpuWord *word_at(RknpuRegMap *map, const RknpuChip *chip, uint32_t offset)
{
    uint32_t word = (offset & 0xfff) / 4;
    int block = rknpu_block_of(offset);

    if (block >= 0) {
        return word < RKNPU_BLOCK_WORDS ? &map->block[block][word] : NULL;
    }
    if (offset < 0x1000) {
        return word < RKNPU_PC_WORDS ? &map->pc[word] : NULL;
    }
    if (chip->dma_config && (offset & ~0xfffu) == chip->dma_config) {
        return word < RKNPU_DMA_WORDS ? &map->dma[word] : NULL;
    }
    return NULL;
}

void rknpu_regmap_init(RknpuRegMap *map, const RknpuChip *chip)
{
    unsigned rows;
    const RknpuRegRow *row = rknpu_reg_rows(chip, &rows);

    for (const RknpuRegRow *end = row + rows; row < end; row++) {
        RknpuWord *word = row->field ? NULL : word_at(map, chip, row->offset);
        RknpuReg reg;

        if (word && rknpu_reg_find(chip, row->offset, &reg)) {
            *word = (RknpuWord) { reg.bits, reg.unimp, reg.reset, true };
        }
    }
}

void rknpu_regfile_reset(const RknpuRegMap *map, RknpuCoreState *state)
{
    memset(state, 0, sizeof(*state));
    for (int i = 0; i < RKNPU_PC_WORDS; i++) {
        state->pc[i] = map->pc[i].reset;
    }
    for (int block = 0; block < RKNPU_BLOCKS; block++) {
        for (int i = WORD_GROUPED; i < RKNPU_BLOCK_WORDS; i++) {
            state->group[block][0][i] = state->group[block][1][i] = map->block[block][i].reset;
        }
    }
}

unsigned rknpu_regfile_executer(const RknpuCoreState *state, RknpuBlock block)
{
    return (state->pointer[block] & EXECUTER) != 0;
}

void rknpu_regfile_task_started(RknpuCoreState *state, uint32_t units)
{
    for (int block = 0; block < RKNPU_BLOCKS; block++) {
        uint32_t *p = &state->pointer[block];

        if (!(units & blocks[block].unit) || !(*p & POINTER_PP_EN)) {
            continue;
        }
        if (*p & POINTER_PP_MODE) {
            *p ^= POINTER;
        } else {
            *p = (*p & ~POINTER) | (*p & EXECUTER ? 0 : POINTER);
        }
    }
}

void rknpu_regfile_task_done(RknpuCoreState *state, uint32_t units)
{
    for (int block = 0; block < RKNPU_BLOCKS; block++) {
        if ((units & blocks[block].unit) && (state->pointer[block] & EXECUTER_PP_EN)) {
            state->pointer[block] ^= EXECUTER;
        }
    }
}

/*
 * With automatic toggling on, a write does not move the pointer: programs rewrite 0xe every task.
 */
static uint32_t write_pointer(uint32_t old, uint32_t value, uint32_t bits)
{
    uint32_t kept = EXECUTER | (value & POINTER_PP_EN ? POINTER : 0);
    uint32_t pointer = (value & bits & ~kept) | (old & kept);

    if (value & POINTER_PP_CLEAR) {
        pointer &= ~POINTER;
    }
    if (value & EXECUTER_PP_CLEAR) {
        pointer &= ~EXECUTER;
    }
    return pointer & ~(POINTER_PP_CLEAR | EXECUTER_PP_CLEAR);
}

static uint32_t status(const RknpuCore *core, RknpuBlock block)
{
    uint32_t operating = 1;

    if (!(core->running & blocks[block].unit)) {
        return 0;
    }
    return rknpu_regfile_executer(&core->state, block)
           ? operating << RKNPU_GROUP_S_STATUS__STATUS_1_SHIFT
           : operating << RKNPU_GROUP_S_STATUS__STATUS_0_SHIFT;
}

/* --- Look-up tables --- */

#define LUT_WRITE RKNPU_MASK(LUT_LUT_ACCESS_CFG__LUT_ACCESS_TYPE)
#define LUT_TABLE RKNPU_MASK(LUT_LUT_ACCESS_CFG__LUT_TABLE_ID)
#define LUT_ADDR RKNPU_MASK(LUT_LUT_ACCESS_CFG__LUT_ADDR)

static void set_both_groups(RknpuCoreState *state, RknpuBlock block, uint32_t word, uint32_t value)
{
    state->group[block][0][word] = state->group[block][1][word] = value;
}

/* The entry that LUT_ACCESS_CFG names, or NULL past the table's end; the address then moves on. */
static int16_t *lut_entry(RknpuCore *core)
{
    uint32_t word = (core->npu->chip->lut_access & 0xfff) / 4;
    uint32_t cfg = core->state.group[RKNPU_DPU][0][word];
    uint32_t address = cfg & LUT_ADDR;

    if (address >= RKNPU_LUT_ENTRIES) {
        return NULL;
    }
    set_both_groups(&core->state, RKNPU_DPU, word, (cfg & ~LUT_ADDR) | (address + 1));
    return &core->state.lut[(cfg & LUT_TABLE) != 0][address];
}

static uint32_t lut_read(RknpuCore *core)
{
    int16_t *entry = lut_entry(core);

    return entry ? (uint16_t)*entry : 0;
}

static void lut_write(RknpuCore *core, uint32_t offset, uint32_t value, RknpuNotes *notes)
{
    uint32_t cfg = core->state.group[RKNPU_DPU][0][(core->npu->chip->lut_access & 0xfff) / 4];
    int16_t *entry;

    if (!(cfg & LUT_WRITE)) {
        if (value == 0) {
            return; /* drivers clear the register in every program */
        }
        rknpu_note(core, notes, RKNPU_EVENT_GUEST_ERROR, offset, value,
                   "written while LUT_ACCESS_CFG is set to reading");
        return;
    }
    entry = lut_entry(core);
    if (!entry) {
        rknpu_note(core, notes, RKNPU_EVENT_GUEST_ERROR, offset, value,
                   "written past entry 512 of the table");
        return;
    }
    *entry = (int16_t)value;
}

/* --- Access --- */

uint32_t rknpu_regfile_read(RknpuCore *core, uint32_t offset)
{
    const RknpuCoreState *state = &core->state;
    uint32_t lut = core->npu->chip->lut_access;
    int block = rknpu_block_of(offset);
    uint32_t word = (offset & 0xfff) / 4;

    if (word >= RKNPU_BLOCK_WORDS) {
        return 0;
    }
    if (lut && offset == lut + 4) {
        return lut_read(core);
    }
    switch (word) {
    case WORD_STATUS:
        return status(core, block);
    case WORD_POINTER:
        return state->pointer[block];
    default:
        return state->group[block][state->pointer[block] & POINTER ? 1 : 0][word];
    }
}

/*
 * Keeps the value in the group that is being written; unknown words are kept whole, and reported.
 */
static void write_group(RknpuCore *core, int block, uint32_t offset, uint32_t value,
                        RknpuNotes *notes)
{
    RknpuCoreState *state = &core->state;
    uint32_t word = (offset & 0xfff) / 4;
    const RknpuWord *info = &core->npu->map.block[block][word];
    unsigned group = state->pointer[block] & POINTER ? 1 : 0;

    if (!info->known) {
        rknpu_note(core, notes, RKNPU_EVENT_UNIMP, offset, value, "written");
    } else if (value & info->unimp) {
        rknpu_note(core, notes, RKNPU_EVENT_UNIMP, offset, value,
                   "has a mode set that is not modelled");
    }
    state->group[block][group][word] = info->known ? value & info->bits : value;
}

void rknpu_regfile_write(RknpuCore *core, uint32_t offset, uint32_t value, RknpuNotes *notes)
{
    RknpuCoreState *state = &core->state;
    uint32_t lut = core->npu->chip->lut_access;
    int block = rknpu_block_of(offset);
    uint32_t word = (offset & 0xfff) / 4;

    if (word >= RKNPU_BLOCK_WORDS) {
        rknpu_note(core, notes, RKNPU_EVENT_UNIMP, offset, value, "written");
    } else if (word == WORD_STATUS) {
        rknpu_note(core, notes, RKNPU_EVENT_GUEST_ERROR, offset, value, "is read only");
    } else if (word == WORD_POINTER) {
        state->pointer[block] = write_pointer(state->pointer[block], value,
                                              core->npu->map.block[block][word].bits);
    } else if (lut && offset == lut) {
        set_both_groups(state, block, word, value & core->npu->map.block[block][word].bits);
    } else if (lut && offset == lut + 4) {
        lut_write(core, offset, value, notes);
    } else {
        write_group(core, block, offset, value, notes);
    }
}
