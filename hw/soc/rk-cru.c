// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rockchip clock and reset unit (CRU).
 *
 * Facts: Linux drivers/clk/rockchip/clk-rk3588.c, rst-rk3588.c, clk-rk3576.c, rst-rk3576.c,
 * clk-pll.c; RK3588 TRM Part 1, chapter CRU.
 *
 * Modelled: every register of all sub-units as storage with write masks; PLL lock; the gates and
 * soft resets of the NPU, which leave this device as lines; the two global software resets.
 * Not modelled: clock rates (nothing here runs at a guest-chosen rate) and gates or resets of
 * blocks that the machines do not have.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "hw/irq.h"
#include "hw/sysbus.h"
#include "migration/vmstate.h"
#include "system/runstate.h"
#include "trace.h"
#include "rk-cru.h"
#include "rk-hiword.h"

#define RK_CRU_WORDS (0x5c000 / 4)

/* Offsets inside a sub-unit; the same on RK3588 and RK3576. */
#define MODE_CON0       0x280
#define CLKSEL_CON(n)   (0x300 + 4 * (n))
#define CLKGATE_CON(n)  (0x800 + 4 * (n))
#define SOFTRST_CON(n)  (0xa00 + 4 * (n))
#define GLB_CNT_TH      0xc00
#define GLB_SRST_FST    0xc08
#define GLB_SRST_SND    0xc0c
#define GLB_SRST_FST_KEY 0xfdb9
#define GLB_SRST_SND_KEY 0xeca8

/* Words of a PLL, and their fields */
#define PLL_CON1        0x04
#define PLL_CON2        0x08
#define PLL_CON6        0x18
#define PLL_CON1_S_SHIFT 6
#define PLL_CON1_PWRDOWN (1 << 13)
#define PLL_CON6_LOCK   (1 << 15)

/* A bit that leaves the device as a line. */
typedef struct RkCruBit {
    uint32_t offset;
    uint8_t bit;
} RkCruBit;

/*
 * One PLL and the setting boot firmware leaves it with:
 * rate = (m + k / 65536) * 24 MHz / p / 2^s.
 */
typedef struct RkCruPll {
    uint32_t offset;
    uint16_t m, p, s, k;
} RkCruPll;

typedef struct RkCruPreset {
    uint32_t offset;
    uint32_t value;
} RkCruPreset;

OBJECT_DECLARE_TYPE(RkCru, RkCruClass, RK_CRU)

struct RkCruClass {
    SysBusDeviceClass parent_class;

    uint32_t size;
    const RkCruBit *resets, *clocks;
    unsigned reset_count, clock_count;
    const RkCruPll *plls;
    unsigned pll_count;
    const RkCruPreset *presets;
    unsigned preset_count;
    const uint32_t *unmasked; /* registers without a write mask: fractional dividers */
    unsigned unmasked_count;
};

struct RkCru {
    SysBusDevice parent_obj;

    MemoryRegion iomem;
    qemu_irq reset[RK_CRU_MAX_LINES];
    qemu_irq clock[RK_CRU_MAX_LINES];
    uint32_t regs[RK_CRU_WORDS];
};

/* Sub-units of the RK3588's CRU. */
#define RK3588_PHP      0x08000
#define RK3588_PMU      0x30000
#define RK3588_BIGCORE0 0x50000
#define RK3588_BIGCORE1 0x52000
#define RK3588_DSU      0x58000

static const RkCruBit rk3588_resets[RK3588_SRSTS] = {
    [RK3588_SRST_A_RKNN0] = { SOFTRST_CON(30), 6 },
    [RK3588_SRST_H_RKNN0] = { SOFTRST_CON(30), 8 },
    [RK3588_SRST_A_RKNN1] = { SOFTRST_CON(27), 0 },
    [RK3588_SRST_H_RKNN1] = { SOFTRST_CON(27), 2 },
    [RK3588_SRST_A_RKNN2] = { SOFTRST_CON(28), 0 },
    [RK3588_SRST_H_RKNN2] = { SOFTRST_CON(28), 2 },
};

static const RkCruBit rk3588_clocks[RK3588_CLKS] = {
    [RK3588_ACLK_NPU0] = { CLKGATE_CON(30), 6 },
    [RK3588_HCLK_NPU0] = { CLKGATE_CON(30), 8 },
    [RK3588_ACLK_NPU1] = { CLKGATE_CON(27), 0 },
    [RK3588_HCLK_NPU1] = { CLKGATE_CON(27), 2 },
    [RK3588_ACLK_NPU2] = { CLKGATE_CON(28), 0 },
    [RK3588_HCLK_NPU2] = { CLKGATE_CON(28), 2 },
};

static const RkCruPll rk3588_plls[] = {
    { RK3588_BIGCORE0 + 4 * 0, 272, 2, 2, 0 },      /* B0PLL  816 MHz */
    { RK3588_BIGCORE1 + 4 * 8, 272, 2, 2, 0 },      /* B1PLL  816 MHz */
    { RK3588_DSU + 4 * 16, 272, 2, 2, 0 },          /* LPLL   816 MHz */
    { 4 * 88, 198, 2, 1, 0 },                       /* V0PLL 1188 MHz */
    { 4 * 96, 262, 2, 2, 9437 },                    /* AUPLL  786.432 MHz */
    { 4 * 104, 250, 2, 1, 0 },                      /* CPLL  1500 MHz */
    { 4 * 112, 198, 2, 1, 0 },                      /* GPLL  1188 MHz */
    { 4 * 120, 425, 3, 2, 0 },                      /* NPLL   850 MHz */
    { RK3588_PHP + 4 * 128, 550, 3, 2, 0 },         /* PPLL  1100 MHz */
};

static const RkCruPreset rk3588_presets[] = {
    { MODE_CON0, 0x0555 },                   /* all PLLs in normal mode, not bypassed */
    { RK3588_BIGCORE0 + MODE_CON0, 1 },
    { RK3588_BIGCORE1 + MODE_CON0, 1 },
    { RK3588_DSU + MODE_CON0, 1 },
    { CLKSEL_CON(45), 2 },                   /* debug UART from the 24 MHz crystal */
};

static const uint32_t rk3588_unmasked[] = {
    CLKSEL_CON(25), CLKSEL_CON(27), CLKSEL_CON(29), CLKSEL_CON(31), CLKSEL_CON(33), CLKSEL_CON(35),
    CLKSEL_CON(42), CLKSEL_CON(44), CLKSEL_CON(46), CLKSEL_CON(48), CLKSEL_CON(50), CLKSEL_CON(52),
    CLKSEL_CON(54), CLKSEL_CON(56), CLKSEL_CON(58), CLKSEL_CON(119), CLKSEL_CON(121),
    CLKSEL_CON(123), CLKSEL_CON(125), CLKSEL_CON(130), CLKSEL_CON(139), CLKSEL_CON(141),
    CLKSEL_CON(145), CLKSEL_CON(147), CLKSEL_CON(149), CLKSEL_CON(151), CLKSEL_CON(154),
    CLKSEL_CON(156), RK3588_PMU + CLKSEL_CON(4), RK3588_PMU + CLKSEL_CON(6),
    RK3588_PMU + CLKSEL_CON(8), GLB_CNT_TH,
};

/* Sub-units of the RK3576's CRU. */
#define RK3576_PHP      0x08000
#define RK3576_PMU      0x20000
#define RK3576_BIGCORE  0x38000
#define RK3576_LITCORE  0x40000
#define RK3576_CCI      0x48000

static const RkCruBit rk3576_resets[RK3576_SRSTS] = {
    [RK3576_SRST_A_RKNN0] = { SOFTRST_CON(28), 9 },
    [RK3576_SRST_A_RKNN1] = { SOFTRST_CON(29), 0 },
};

static const RkCruBit rk3576_clocks[RK3576_CLKS] = {
    [RK3576_ACLK_RKNN0] = { CLKGATE_CON(28), 9 },
    [RK3576_ACLK_RKNN1] = { CLKGATE_CON(29), 0 },
};

static const RkCruPll rk3576_plls[] = {
    { 4 * 0, 272, 2, 2, 0 },                        /* BPLL   816 MHz */
    { RK3576_CCI + 4 * 16, 272, 2, 2, 0 },          /* LPLL   816 MHz */
    { 4 * 88, 198, 2, 1, 0 },                       /* VPLL  1188 MHz */
    { 4 * 96, 262, 2, 2, 9437 },                    /* AUPLL  786.432 MHz */
    { 4 * 104, 250, 3, 1, 0 },                      /* CPLL  1000 MHz */
    { 4 * 112, 198, 2, 1, 0 },                      /* GPLL  1188 MHz */
    { RK3576_PHP + 4 * 128, 325, 3, 2, 0 },         /* PPLL  1300 MHz: this PLL has a doubler */
};

static const RkCruPreset rk3576_presets[] = {
    { MODE_CON0, 0x0555 },                   /* all PLLs in normal mode, not bypassed */
    { RK3576_BIGCORE + MODE_CON0, 1 },
    { RK3576_LITCORE + MODE_CON0, 1 },
    { CLKSEL_CON(60), 3 << 8 },              /* debug UART from the 24 MHz crystal */
};

static const uint32_t rk3576_unmasked[] = {
    CLKSEL_CON(12), CLKSEL_CON(14), CLKSEL_CON(16), CLKSEL_CON(18), CLKSEL_CON(21), CLKSEL_CON(23),
    CLKSEL_CON(25), CLKSEL_CON(122), RK3576_PMU + CLKSEL_CON(21), GLB_CNT_TH,
};

static bool rk_cru_bit(const RkCru *s, const RkCruBit *b)
{
    return (s->regs[b->offset / 4] >> b->bit) & 1;
}

static void rk_cru_update_lines(RkCru *s)
{
    const RkCruClass *c = RK_CRU_GET_CLASS(s);

    for (unsigned i = 0; i < c->clock_count; i++) {
        qemu_set_irq(s->clock[i], !rk_cru_bit(s, &c->clocks[i]));
    }
    for (unsigned i = 0; i < c->reset_count; i++) {
        qemu_set_irq(s->reset[i], rk_cru_bit(s, &c->resets[i]));
    }
}

/* The lock bit of the PLL whose seventh word is at `offset`, or 0. A PLL locks at once. */
static uint32_t rk_cru_pll_lock(const RkCru *s, hwaddr offset)
{
    const RkCruClass *c = RK_CRU_GET_CLASS(s);

    for (unsigned i = 0; i < c->pll_count; i++) {
        if (offset == c->plls[i].offset + PLL_CON6) {
            bool down = s->regs[(c->plls[i].offset + PLL_CON1) / 4] & PLL_CON1_PWRDOWN;

            return down ? 0 : PLL_CON6_LOCK;
        }
    }
    return 0;
}

static bool rk_cru_unmasked(const RkCru *s, hwaddr offset)
{
    const RkCruClass *c = RK_CRU_GET_CLASS(s);

    for (unsigned i = 0; i < c->unmasked_count; i++) {
        if (c->unmasked[i] == offset) {
            return true;
        }
    }
    return false;
}

static uint64_t rk_cru_read(void *opaque, hwaddr offset, unsigned size)
{
    RkCru *s = opaque;
    uint32_t value = s->regs[offset / 4] | rk_cru_pll_lock(s, offset);

    trace_rk_cru_read(offset, value);
    return value;
}

static void rk_cru_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    RkCru *s = opaque;
    uint32_t *reg = &s->regs[offset / 4];

    trace_rk_cru_write(offset, value);
    if ((offset == GLB_SRST_FST && value == GLB_SRST_FST_KEY) ||
        (offset == GLB_SRST_SND && value == GLB_SRST_SND_KEY)) {
        qemu_system_reset_request(SHUTDOWN_CAUSE_GUEST_RESET);
        return;
    }
    *reg = rk_cru_unmasked(s, offset) ? value : rk_hiword_update(*reg, value);
    rk_cru_update_lines(s);
}

static const MemoryRegionOps rk_cru_ops = {
    .read = rk_cru_read,
    .write = rk_cru_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

static void rk_cru_reset_enter(Object *obj, ResetType type)
{
    RkCru *s = RK_CRU(obj);
    const RkCruClass *c = RK_CRU_GET_CLASS(s);

    memset(s->regs, 0, sizeof(s->regs));
    for (unsigned i = 0; i < c->pll_count; i++) {
        const RkCruPll *pll = &c->plls[i];
        uint32_t *reg = &s->regs[pll->offset / 4];

        reg[0] = pll->m;
        reg[PLL_CON1 / 4] = pll->p | pll->s << PLL_CON1_S_SHIFT;
        reg[PLL_CON2 / 4] = pll->k;
    }
    for (unsigned i = 0; i < c->preset_count; i++) {
        s->regs[c->presets[i].offset / 4] = c->presets[i].value;
    }
}

static void rk_cru_reset_exit(Object *obj, ResetType type)
{
    rk_cru_update_lines(RK_CRU(obj));
}

static void rk_cru_realize(DeviceState *dev, Error **errp)
{
    RkCru *s = RK_CRU(dev);
    const RkCruClass *c = RK_CRU_GET_CLASS(s);

    memory_region_init_io(&s->iomem, OBJECT(s), &rk_cru_ops, s, "rk-cru", c->size);
    sysbus_init_mmio(SYS_BUS_DEVICE(dev), &s->iomem);
    qdev_init_gpio_out_named(dev, s->reset, RK_CRU_RESET, c->reset_count);
    qdev_init_gpio_out_named(dev, s->clock, RK_CRU_CLOCK, c->clock_count);
}

static const VMStateDescription vmstate_rk_cru = {
    .name = TYPE_RK_CRU,
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32_ARRAY(regs, RkCru, RK_CRU_WORDS),
        VMSTATE_END_OF_LIST()
    },
};

static void rk_cru_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    dc->desc = "Rockchip clock and reset unit";
    dc->realize = rk_cru_realize;
    dc->vmsd = &vmstate_rk_cru;
    rc->phases.enter = rk_cru_reset_enter;
    rc->phases.exit = rk_cru_reset_exit;
}

static void rk3588_cru_class_init(ObjectClass *klass, void *data)
{
    RkCruClass *c = RK_CRU_CLASS(klass);

    c->size = 0x5c000;
    c->resets = rk3588_resets;
    c->reset_count = ARRAY_SIZE(rk3588_resets);
    c->clocks = rk3588_clocks;
    c->clock_count = ARRAY_SIZE(rk3588_clocks);
    c->plls = rk3588_plls;
    c->pll_count = ARRAY_SIZE(rk3588_plls);
    c->presets = rk3588_presets;
    c->preset_count = ARRAY_SIZE(rk3588_presets);
    c->unmasked = rk3588_unmasked;
    c->unmasked_count = ARRAY_SIZE(rk3588_unmasked);
}

static void rk3576_cru_class_init(ObjectClass *klass, void *data)
{
    RkCruClass *c = RK_CRU_CLASS(klass);

    c->size = 0x50000;
    c->resets = rk3576_resets;
    c->reset_count = ARRAY_SIZE(rk3576_resets);
    c->clocks = rk3576_clocks;
    c->clock_count = ARRAY_SIZE(rk3576_clocks);
    c->plls = rk3576_plls;
    c->pll_count = ARRAY_SIZE(rk3576_plls);
    c->presets = rk3576_presets;
    c->preset_count = ARRAY_SIZE(rk3576_presets);
    c->unmasked = rk3576_unmasked;
    c->unmasked_count = ARRAY_SIZE(rk3576_unmasked);
}

static const TypeInfo rk_cru_types[] = {
    {
        .name = TYPE_RK_CRU,
        .parent = TYPE_SYS_BUS_DEVICE,
        .abstract = true,
        .instance_size = sizeof(RkCru),
        .class_size = sizeof(RkCruClass),
        .class_init = rk_cru_class_init,
    },
    {
        .name = TYPE_RK3588_CRU,
        .parent = TYPE_RK_CRU,
        .class_init = rk3588_cru_class_init,
    },
    {
        .name = TYPE_RK3576_CRU,
        .parent = TYPE_RK_CRU,
        .class_init = rk3576_cru_class_init,
    },
};

DEFINE_TYPES(rk_cru_types)
