// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * On-chip memory and the books of who wrote it last.
 *
 * Facts: Rockchip's guide to the RK3588's SRAM (shares of different owners must not overlap: both
 * would write, and data get mixed up); the vendor driver maps its share without requesting it.
 *
 * Modelled: contents, which resets keep; loss at power-off; overlap of masters, in chunks of 4 KiB.
 * Not modelled: access time, bandwidth.
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/error-report.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "trace.h"
#include "rk-sram.h"

#define RK_SRAM_CHUNK 4096
#define RK_SRAM_LOST 0xa5 /* what is found after power-off: no value that a program would expect */

struct RkSram {
    SysBusDevice parent_obj;

    char *block;
    uint64_t size;
    bool retain;

    MemoryRegion ram;
    bool off;
    uint8_t *last;       /* RkSramMaster of each chunk; atomic */
    uint64_t overlaps;   /* atomic */
    uint32_t told;       /* bit n: the overlap of master n has been reported; atomic */
};

static const char *const rk_sram_masters[RK_SRAM_MASTERS] = {
    "nobody", "the NPU", "video decoder 0", "video decoder 1",
};

RkSram *rk_sram_of(MemoryRegion *mr)
{
    return (RkSram *)object_dynamic_cast(memory_region_owner(mr), TYPE_RK_SRAM);
}

MemoryRegion *rk_sram_region(RkSram *s)
{
    return &s->ram;
}

static void rk_sram_overlap(RkSram *s, uint64_t chunk, RkSramMaster before, RkSramMaster who)
{
    qatomic_inc(&s->overlaps);
    trace_rk_sram_overlap(s->block, chunk * RK_SRAM_CHUNK, rk_sram_masters[before],
                          rk_sram_masters[who]);
    if (!(qatomic_fetch_or(&s->told, 1u << who) & 1u << who)) {
        warn_report("%s: %s overwrites data of %s at offset 0x%" PRIx64
                    ": the device tree gives this memory to both", s->block, rk_sram_masters[who],
                    rk_sram_masters[before], chunk * RK_SRAM_CHUNK);
    }
}

void rk_sram_note_write(RkSram *s, uint64_t offset, uint64_t len, RkSramMaster who)
{
    uint64_t end = MIN(s->size, offset + len);

    for (uint64_t chunk = offset / RK_SRAM_CHUNK; chunk * RK_SRAM_CHUNK < end; chunk++) {
        RkSramMaster before = qatomic_xchg(&s->last[chunk], who);

        if (before != who && before != RK_SRAM_NOBODY) {
            rk_sram_overlap(s, chunk, before, who);
        }
    }
}

static void rk_sram_forget(RkSram *s)
{
    for (uint64_t chunk = 0; chunk < s->size / RK_SRAM_CHUNK; chunk++) {
        qatomic_set(&s->last[chunk], RK_SRAM_NOBODY);
    }
}

static void rk_sram_set_power(void *opaque, int n, int level)
{
    RkSram *s = opaque;
    bool goes_off = !level && !s->off;

    s->off = !level;
    if (goes_off && !s->retain) {
        trace_rk_sram_lost(s->block);
        memset(memory_region_get_ram_ptr(&s->ram), RK_SRAM_LOST, s->size);
        memory_region_set_dirty(&s->ram, 0, s->size);
        rk_sram_forget(s);
    }
}

/* A reset keeps the contents; only the books start anew. */
static void rk_sram_reset_hold(Object *obj, ResetType type)
{
    RkSram *s = RK_SRAM(obj);

    rk_sram_forget(s);
    qatomic_set(&s->told, 0);
}

static void rk_sram_realize(DeviceState *dev, Error **errp)
{
    RkSram *s = RK_SRAM(dev);

    if (!s->block || !s->size || s->size % RK_SRAM_CHUNK) {
        error_setg(errp, "rk-sram needs \"block\" and a \"size\" that is a multiple of 4096");
        return;
    }
    if (!memory_region_init_ram(&s->ram, OBJECT(s), s->block, s->size, errp)) {
        return;
    }
    s->last = g_new0(uint8_t, s->size / RK_SRAM_CHUNK);
    sysbus_init_mmio(SYS_BUS_DEVICE(dev), &s->ram);
    qdev_init_gpio_in_named(dev, rk_sram_set_power, RK_SRAM_POWER, 1);
}

static void rk_sram_unrealize(DeviceState *dev)
{
    g_clear_pointer(&RK_SRAM(dev)->last, g_free);
}

static void rk_sram_get_overlaps(Object *obj, Visitor *v, const char *name, void *opaque,
                                 Error **errp)
{
    uint64_t value = qatomic_read(&RK_SRAM(obj)->overlaps);

    visit_type_uint64(v, name, &value, errp);
}

static void rk_sram_init(Object *obj)
{
    object_property_add(obj, "overlaps", "uint64", rk_sram_get_overlaps, NULL, NULL, NULL);
}

static const Property rk_sram_properties[] = {
    DEFINE_PROP_STRING("block", RkSram, block),
    DEFINE_PROP_UINT64("size", RkSram, size, 0),
    DEFINE_PROP_BOOL("retain", RkSram, retain, false),
};

static void rk_sram_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);

    dc->desc = "Rockchip on-chip memory";
    dc->realize = rk_sram_realize;
    dc->unrealize = rk_sram_unrealize;
    device_class_set_props(dc, rk_sram_properties);
    RESETTABLE_CLASS(klass)->phases.hold = rk_sram_reset_hold;
}

static const TypeInfo rk_sram_types[] = {
    {
        .name = TYPE_RK_SRAM,
        .parent = TYPE_SYS_BUS_DEVICE,
        .instance_size = sizeof(RkSram),
        .instance_init = rk_sram_init,
        .class_init = rk_sram_class_init,
    },
};

DEFINE_TYPES(rk_sram_types)
