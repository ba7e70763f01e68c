// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rockchip register files that drivers only store to and read back: general register files (GRF),
 * IO control (IOC) and the QoS words that the power-domain driver saves and restores.
 *
 * Modelled: storage and the write mask.
 * Not modelled: what the bits do to other blocks.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "migration/vmstate.h"
#include "trace.h"
#include "rk-hiword.h"
#include "rk-syscon.h"

#define RK_SYSCON_MAX_SIZE 0x10000

OBJECT_DECLARE_SIMPLE_TYPE(RkSyscon, RK_SYSCON)

struct RkSyscon {
    SysBusDevice parent_obj;

    MemoryRegion iomem;
    char *block;
    uint32_t size;
    bool hiword;
    uint32_t words;
    uint32_t *regs;
};

static uint64_t rk_syscon_read(void *opaque, hwaddr offset, unsigned size)
{
    RkSyscon *s = opaque;
    uint32_t value = s->regs[offset / 4];

    trace_rk_syscon_read(s->block, offset, value);
    return value;
}

static void rk_syscon_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    RkSyscon *s = opaque;
    uint32_t *reg = &s->regs[offset / 4];

    trace_rk_syscon_write(s->block, offset, value);
    *reg = s->hiword ? rk_hiword_update(*reg, value) : value;
}

static const MemoryRegionOps rk_syscon_ops = {
    .read = rk_syscon_read,
    .write = rk_syscon_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

static void rk_syscon_reset_hold(Object *obj, ResetType type)
{
    RkSyscon *s = RK_SYSCON(obj);

    memset(s->regs, 0, s->words * sizeof(*s->regs));
}

static void rk_syscon_realize(DeviceState *dev, Error **errp)
{
    RkSyscon *s = RK_SYSCON(dev);

    if (!s->block || !s->size || s->size % 4 || s->size > RK_SYSCON_MAX_SIZE) {
        error_setg(errp, "rk-syscon needs \"block\" and a \"size\" that is a multiple of 4, at "
                   "most 0x%x", RK_SYSCON_MAX_SIZE);
        return;
    }
    s->words = s->size / 4;
    s->regs = g_new0(uint32_t, s->words);
    memory_region_init_io(&s->iomem, OBJECT(s), &rk_syscon_ops, s, s->block, s->size);
    sysbus_init_mmio(SYS_BUS_DEVICE(dev), &s->iomem);
}

static void rk_syscon_unrealize(DeviceState *dev)
{
    RkSyscon *s = RK_SYSCON(dev);

    g_clear_pointer(&s->regs, g_free);
}

static const VMStateDescription vmstate_rk_syscon = {
    .name = TYPE_RK_SYSCON,
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_VARRAY_UINT32(regs, RkSyscon, words, 1, vmstate_info_uint32, uint32_t),
        VMSTATE_END_OF_LIST()
    },
};

static const Property rk_syscon_properties[] = {
    DEFINE_PROP_STRING("block", RkSyscon, block),
    DEFINE_PROP_UINT32("size", RkSyscon, size, 0),
    DEFINE_PROP_BOOL("hiword", RkSyscon, hiword, true),
};

static void rk_syscon_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    dc->desc = "Rockchip register file without side effects";
    dc->realize = rk_syscon_realize;
    dc->unrealize = rk_syscon_unrealize;
    dc->vmsd = &vmstate_rk_syscon;
    device_class_set_props(dc, rk_syscon_properties);
    rc->phases.hold = rk_syscon_reset_hold;
}

static const TypeInfo rk_syscon_types[] = {
    {
        .name = TYPE_RK_SYSCON,
        .parent = TYPE_SYS_BUS_DEVICE,
        .instance_size = sizeof(RkSyscon),
        .class_init = rk_syscon_class_init,
    },
};

DEFINE_TYPES(rk_syscon_types)
