// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rockchip power management unit (PMU), power-domain part.
 *
 * Facts: Linux drivers/pmdomain/rockchip/pm-domains.c (offsets and bits of RK3588 and RK3576).
 *
 * Modelled: switching domains off and on, bus-idle handshake, memory, chain and repair status;
 * every step completes at once. All other words of the window store what is written.
 * Not modelled:
 * sleep of the whole chip, wake-up sources, transition times.
 *
 * How the words hang together
 *   PWR       bit set = domain asked to be off; two words
 *   MEM_PWR   same bits, for the domain's memories alone
 *   IDLE_REQ  bit set = bus interface asked to be idle; two words of 16 bits, whose bits appear
 *             side by side in the one word of IDLE_ACK and of IDLE
 *   STATUS    1 = off     MEM_STATUS 1 = off     CHAIN 1 = on     REPAIR 1 = on
 * MEM_STATUS, CHAIN and REPAIR of a domain inside another one read as off while the outer one is
 * off.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "hw/irq.h"
#include "hw/sysbus.h"
#include "migration/vmstate.h"
#include "trace.h"
#include "rk-hiword.h"
#include "rk-pmu.h"

#define RK_PMU_WORDS (0x800 / 4)
#define RK_PMU_NONE 0xff

/*
 * One power domain. Bit numbers run over the words of a register group: 16 bits a word for `pwr`,
 * which is a register with a write mask, 32 a word for the rest. RK_PMU_NONE: the domain has no
 * such bit.
 */
typedef struct RkPmuDomain {
    const char *name; /* NULL: the binding has no such number */
    uint8_t pwr;
    uint8_t status;
    uint8_t mem;
    uint8_t repair;
    uint8_t parent;   /* number of the domain above, or RK_PMU_NONE */
} RkPmuDomain;

/* Where a chip keeps its words; offsets inside the window, `size` bytes of it. */
typedef struct RkPmuLayout {
    uint32_t size;
    uint32_t pwr, mem_pwr, idle_req;
    uint32_t status, idle_ack, idle, chain, mem_status, repair;
} RkPmuLayout;

OBJECT_DECLARE_TYPE(RkPmu, RkPmuClass, RK_PMU)

struct RkPmuClass {
    SysBusDeviceClass parent_class;

    const RkPmuLayout *layout;
    const RkPmuDomain *domains;
    unsigned domain_count;
};

struct RkPmu {
    SysBusDevice parent_obj;

    MemoryRegion iomem;
    qemu_irq power[RK_PMU_MAX_DOMAINS];
    uint32_t regs[RK_PMU_WORDS];
};

static const RkPmuLayout rk3588_pmu_layout = {
    .size = 0x400,
    .pwr = 0x14c, .mem_pwr = 0x1a0, .idle_req = 0x10c,
    .status = 0x180, .idle_ack = 0x118, .idle = 0x120, .chain = 0x1f0, .mem_status = 0x1f8,
    .repair = 0x290,
};

static const RkPmuLayout rk3576_pmu_layout = {
    .size = 0x800,
    .pwr = 0x210, .mem_pwr = 0x300, .idle_req = 0x110,
    .status = 0x230, .idle_ack = 0x120, .idle = 0x128, .chain = 0x248, .mem_status = 0x250,
    .repair = 0x570,
};

#define NONE RK_PMU_NONE
#define DOMAIN(name, pwr, status, mem, repair, parent) { name, pwr, status, mem, repair, parent }

/* Indexed by the numbers of dt-bindings/power/rk3588-power.h. */
static const RkPmuDomain rk3588_domains[] = {
    [RK3588_PD_NPU]    = DOMAIN("npu",      1,    1, NONE, NONE, NONE),
    [RK3588_PD_NPUTOP] = DOMAIN("nputop",   3, NONE,   11,    2, RK3588_PD_NPU),
    [RK3588_PD_NPU1]   = DOMAIN("npu1",     4, NONE,   12,    3, RK3588_PD_NPUTOP),
    [RK3588_PD_NPU2]   = DOMAIN("npu2",     5, NONE,   13,    4, RK3588_PD_NPUTOP),
    [12]               = DOMAIN("gpu",      0, NONE, NONE,    1, NONE),
    [13]               = DOMAIN("vcodec",   2,    2, NONE, NONE, NONE),
    [14]               = DOMAIN("rkvdec0",  8, NONE,   16,    7, 13),
    [15]               = DOMAIN("rkvdec1",  9, NONE,   17,    8, 13),
    [16]               = DOMAIN("venc0",    6, NONE,   14,    5, 13),
    [17]               = DOMAIN("venc1",    7, NONE,   15,    6, 16),
    [21]               = DOMAIN("vdpu",    10, NONE,   18,    9, NONE),
    [22]               = DOMAIN("rga30",   11, NONE,   19,   10, 21),
    [23]               = DOMAIN("av1",     12, NONE,   20,   11, 21),
    [24]               = DOMAIN("vop",     17, NONE,   25,   16, NONE),
    [25]               = DOMAIN("vo0",     18, NONE,   26,   17, 24),
    [26]               = DOMAIN("vo1",     19, NONE,   27,   18, NONE),
    [27]               = DOMAIN("vi",      13, NONE,   21,   12, NONE),
    [28]               = DOMAIN("isp1",    15, NONE,   23,   14, 27),
    [29]               = DOMAIN("fec",     14, NONE,   22,   13, 27),
    [30]               = DOMAIN("rga31",   16, NONE,   24,   15, NONE),
    [31]               = DOMAIN("usb",     27, NONE,   35,   25, NONE),
    [32]               = DOMAIN("php",     21, NONE,   29,   20, NONE),
    [33]               = DOMAIN("gmac",    22, NONE,   30,   21, NONE),
    [34]               = DOMAIN("pcie",    23, NONE,   31,   22, NONE),
    [35]               = DOMAIN("nvm",     24,   24, NONE, NONE, NONE),
    [36]               = DOMAIN("nvm0",    25, NONE,   33,   23, 35),
    [37]               = DOMAIN("sdio",    26, NONE,   34,   24, NONE),
    [38]               = DOMAIN("audio",   20, NONE,   28,   19, NONE),
    [39]               = DOMAIN("sdmmc",   29, NONE,   37,   26, NONE),
};

/* Indexed by the numbers of dt-bindings/power/rockchip,rk3576-power.h. */
static const RkPmuDomain rk3576_domains[] = {
    [RK3576_PD_NPU]    = DOMAIN("npu",      0,    0, NONE, NONE, NONE),
    [RK3576_PD_NPUTOP] = DOMAIN("nputop",  22, NONE,   22,   22, RK3576_PD_NPU),
    [RK3576_PD_NPU0]   = DOMAIN("npu0",    23, NONE,   23,   23, RK3576_PD_NPUTOP),
    [RK3576_PD_NPU1]   = DOMAIN("npu1",    24, NONE,   24,   24, RK3576_PD_NPUTOP),
    [4]                = DOMAIN("gpu",     25, NONE,   25,   25, NONE),
    [5]                = DOMAIN("nvm",      6, NONE,    6,    6, NONE),
    [6]                = DOMAIN("sdgmac",   7, NONE,    7,    7, NONE),
    [7]                = DOMAIN("usb",     16, NONE,   16,   16, NONE),
    [8]                = DOMAIN("php",      9, NONE,    9,    9, NONE),
    [9]                = DOMAIN("subphp",  10, NONE,   10,   10, NONE),
    [10]               = DOMAIN("audio",    8, NONE,    8,    8, NONE),
    [11]               = DOMAIN("vepu0",   18, NONE,   18,   18, NONE),
    [12]               = DOMAIN("vepu1",   19, NONE,   19,   19, NONE),
    [13]               = DOMAIN("vpu",     21, NONE,   21,   21, NONE),
    [14]               = DOMAIN("vdec",    20, NONE,   20,   20, NONE),
    [15]               = DOMAIN("vi",      17, NONE,   17,   17, NONE),
    [16]               = DOMAIN("vo0",     15, NONE,   15,   15, NONE),
    [17]               = DOMAIN("vo1",     14, NONE,   14,   14, NONE),
    [18]               = DOMAIN("vop",     11, NONE,   11,   11, NONE),
};

/* Bit `n` of a group of words with a write mask, 16 bits a word. */
static bool rk_pmu_masked_bit(const RkPmu *s, uint32_t offset, unsigned n)
{
    return n != RK_PMU_NONE && (s->regs[offset / 4 + n / 16] >> (n % 16)) & 1;
}

static bool rk_pmu_domain_off(const RkPmu *s, const RkPmuDomain *d)
{
    return rk_pmu_masked_bit(s, RK_PMU_GET_CLASS(s)->layout->pwr, d->pwr);
}

/* On, and every domain above on; the tables have no loops and are at most four deep. */
static bool rk_pmu_powered(const RkPmu *s, unsigned n)
{
    const RkPmuDomain *domains = RK_PMU_GET_CLASS(s)->domains;

    for (; n != RK_PMU_NONE; n = domains[n].parent) {
        if (rk_pmu_domain_off(s, &domains[n])) {
            return false;
        }
    }
    return true;
}

static void rk_pmu_update_power(RkPmu *s)
{
    const RkPmuClass *c = RK_PMU_GET_CLASS(s);

    for (unsigned n = 0; n < c->domain_count; n++) {
        if (c->domains[n].name) {
            qemu_set_irq(s->power[n], rk_pmu_powered(s, n));
        }
    }
}

static uint32_t rk_pmu_bit_in_word(unsigned bit, unsigned word)
{
    return bit != RK_PMU_NONE && bit / 32 == word ? 1u << (bit % 32) : 0;
}

static uint32_t rk_pmu_status(const RkPmu *s)
{
    const RkPmuClass *c = RK_PMU_GET_CLASS(s);
    uint32_t value = 0;

    for (unsigned n = 0; n < c->domain_count; n++) {
        const RkPmuDomain *d = &c->domains[n];

        if (d->name && rk_pmu_domain_off(s, d)) {
            value |= rk_pmu_bit_in_word(d->status, 0);
        }
    }
    return value;
}

static uint32_t rk_pmu_repair(const RkPmu *s)
{
    const RkPmuClass *c = RK_PMU_GET_CLASS(s);
    uint32_t value = 0;

    for (unsigned n = 0; n < c->domain_count; n++) {
        const RkPmuDomain *d = &c->domains[n];

        if (d->name && rk_pmu_powered(s, n)) {
            value |= rk_pmu_bit_in_word(d->repair, 0);
        }
    }
    return value;
}

/* CHAIN follows the domain; MEM_STATUS also the memory's own switch, and has the opposite sense. */
static uint32_t rk_pmu_memory(const RkPmu *s, unsigned word, bool chain)
{
    const RkPmuClass *c = RK_PMU_GET_CLASS(s);
    uint32_t value = 0;

    for (unsigned n = 0; n < c->domain_count; n++) {
        const RkPmuDomain *d = &c->domains[n];
        bool off = d->name && !rk_pmu_powered(s, n);
        bool mem_off = off || (d->name && rk_pmu_masked_bit(s, c->layout->mem_pwr, d->pwr));

        if (d->name && (chain ? !off : mem_off)) {
            value |= rk_pmu_bit_in_word(d->mem, word);
        }
    }
    return value;
}

static uint32_t rk_pmu_idle(const RkPmu *s)
{
    const uint32_t *req = &s->regs[RK_PMU_GET_CLASS(s)->layout->idle_req / 4];

    return (req[0] & 0xffff) | req[1] << 16;
}

static uint64_t rk_pmu_read(void *opaque, hwaddr offset, unsigned size)
{
    RkPmu *s = opaque;
    const RkPmuLayout *l = RK_PMU_GET_CLASS(s)->layout;
    uint32_t value;

    if (offset == l->status) {
        value = rk_pmu_status(s);
    } else if (offset == l->idle_ack || offset == l->idle) {
        value = rk_pmu_idle(s);
    } else if (offset == l->chain || offset == l->chain + 4) {
        value = rk_pmu_memory(s, (offset - l->chain) / 4, true);
    } else if (offset == l->mem_status || offset == l->mem_status + 4) {
        value = rk_pmu_memory(s, (offset - l->mem_status) / 4, false);
    } else if (offset == l->repair) {
        value = rk_pmu_repair(s);
    } else {
        value = s->regs[offset / 4];
    }
    trace_rk_pmu_read(offset, value);
    return value;
}

static void rk_pmu_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    RkPmu *s = opaque;
    uint32_t *reg = &s->regs[offset / 4];

    trace_rk_pmu_write(offset, value);
    *reg = rk_hiword_update(*reg, value);
    rk_pmu_update_power(s);
}

static const MemoryRegionOps rk_pmu_ops = {
    .read = rk_pmu_read,
    .write = rk_pmu_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

/* Boot firmware leaves every domain on: all words zero. */
static void rk_pmu_reset_enter(Object *obj, ResetType type)
{
    RkPmu *s = RK_PMU(obj);

    memset(s->regs, 0, sizeof(s->regs));
}

static void rk_pmu_reset_exit(Object *obj, ResetType type)
{
    rk_pmu_update_power(RK_PMU(obj));
}

static void rk_pmu_realize(DeviceState *dev, Error **errp)
{
    RkPmu *s = RK_PMU(dev);
    const RkPmuClass *c = RK_PMU_GET_CLASS(s);

    memory_region_init_io(&s->iomem, OBJECT(s), &rk_pmu_ops, s, "rk-pmu", c->layout->size);
    sysbus_init_mmio(SYS_BUS_DEVICE(dev), &s->iomem);
    qdev_init_gpio_out_named(dev, s->power, RK_PMU_POWER, c->domain_count);
}

static const VMStateDescription vmstate_rk_pmu = {
    .name = TYPE_RK_PMU,
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32_ARRAY(regs, RkPmu, RK_PMU_WORDS),
        VMSTATE_END_OF_LIST()
    },
};

static void rk_pmu_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    dc->desc = "Rockchip power management unit";
    dc->realize = rk_pmu_realize;
    dc->vmsd = &vmstate_rk_pmu;
    rc->phases.enter = rk_pmu_reset_enter;
    rc->phases.exit = rk_pmu_reset_exit;
}

static void rk3588_pmu_class_init(ObjectClass *klass, void *data)
{
    RkPmuClass *c = RK_PMU_CLASS(klass);

    c->layout = &rk3588_pmu_layout;
    c->domains = rk3588_domains;
    c->domain_count = ARRAY_SIZE(rk3588_domains);
    QEMU_BUILD_BUG_ON(ARRAY_SIZE(rk3588_domains) > RK_PMU_MAX_DOMAINS);
}

static void rk3576_pmu_class_init(ObjectClass *klass, void *data)
{
    RkPmuClass *c = RK_PMU_CLASS(klass);

    c->layout = &rk3576_pmu_layout;
    c->domains = rk3576_domains;
    c->domain_count = ARRAY_SIZE(rk3576_domains);
    QEMU_BUILD_BUG_ON(ARRAY_SIZE(rk3576_domains) > RK_PMU_MAX_DOMAINS);
}

static const TypeInfo rk_pmu_types[] = {
    {
        .name = TYPE_RK_PMU,
        .parent = TYPE_SYS_BUS_DEVICE,
        .abstract = true,
        .instance_size = sizeof(RkPmu),
        .class_size = sizeof(RkPmuClass),
        .class_init = rk_pmu_class_init,
    },
    {
        .name = TYPE_RK3588_PMU,
        .parent = TYPE_RK_PMU,
        .class_init = rk3588_pmu_class_init,
    },
    {
        .name = TYPE_RK3576_PMU,
        .parent = TYPE_RK_PMU,
        .class_init = rk3576_pmu_class_init,
    },
};

DEFINE_TYPES(rk_pmu_types)
