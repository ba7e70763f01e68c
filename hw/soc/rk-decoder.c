// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stand-in for a video decoder, for experiments with overlapping owners of the SRAM: rk-decoder.h.
 *
 * Facts: the shares that the device trees give to the decoders by default.
 * Modelled: that another master writes there. Not modelled: decoding.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "migration/vmstate.h"
#include "trace.h"
#include "rk-decoder.h"
#include "rk-sram.h"

#define RK_DECODER_SHARE_OFFSET 0x00
#define RK_DECODER_SHARE_SIZE   0x04
#define RK_DECODER_RUN          0x08
#define RK_DECODER_RUNS         0x0c
#define RK_DECODER_WINDOW       0x10

OBJECT_DECLARE_SIMPLE_TYPE(RkDecoder, RK_DECODER)

struct RkDecoder {
    SysBusDevice parent_obj;

    RkSram *sram;
    uint8_t number;
    uint32_t default_offset, default_size;

    MemoryRegion iomem;
    uint32_t offset, size, runs;
};

static void rk_decoder_run(RkDecoder *s, uint32_t word)
{
    MemoryRegion *mr = rk_sram_region(s->sram);
    uint64_t end = MIN((uint64_t)s->offset + s->size, memory_region_size(mr));
    uint8_t *ram = memory_region_get_ram_ptr(mr);

    trace_rk_decoder_run(s->number, s->offset, s->size, word);
    s->runs++;
    if (s->offset >= end) {
        return;
    }
    for (uint64_t at = s->offset; at < end; at += 4) {
        stl_le_p(ram + at, word);
    }
    memory_region_set_dirty(mr, s->offset, end - s->offset);
    rk_sram_note_write(s->sram, s->offset, end - s->offset, RK_SRAM_DECODER0 + s->number);
}

static uint64_t rk_decoder_read(void *opaque, hwaddr offset, unsigned size)
{
    RkDecoder *s = opaque;

    switch (offset) {
    case RK_DECODER_SHARE_OFFSET:
        return s->offset;
    case RK_DECODER_SHARE_SIZE:
        return s->size;
    case RK_DECODER_RUNS:
        return s->runs;
    default:
        return 0;
    }
}

static void rk_decoder_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    RkDecoder *s = opaque;

    switch (offset) {
    case RK_DECODER_SHARE_OFFSET:
        s->offset = value & ~3u;
        break;
    case RK_DECODER_SHARE_SIZE:
        s->size = value & ~3u;
        break;
    case RK_DECODER_RUN:
        rk_decoder_run(s, value);
        break;
    default:
        qemu_log_mask(LOG_GUEST_ERROR, "rk-decoder: write to read-only offset 0x%" HWADDR_PRIx "\n",
                      offset);
        break;
    }
}

static const MemoryRegionOps rk_decoder_ops = {
    .read = rk_decoder_read,
    .write = rk_decoder_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

static void rk_decoder_reset_hold(Object *obj, ResetType type)
{
    RkDecoder *s = RK_DECODER(obj);

    s->offset = s->default_offset;
    s->size = s->default_size;
    s->runs = 0;
}

static void rk_decoder_realize(DeviceState *dev, Error **errp)
{
    RkDecoder *s = RK_DECODER(dev);

    if (!s->sram || s->number > 1) {
        error_setg(errp, "rk-decoder needs the link \"sram\" and a \"number\" of 0 or 1");
        return;
    }
    memory_region_init_io(&s->iomem, OBJECT(s), &rk_decoder_ops, s, TYPE_RK_DECODER,
                          RK_DECODER_WINDOW);
    sysbus_init_mmio(SYS_BUS_DEVICE(dev), &s->iomem);
}

static void rk_decoder_set_run(Object *obj, Visitor *v, const char *name, void *opaque,
                               Error **errp)
{
    uint32_t word;

    if (visit_type_uint32(v, name, &word, errp)) {
        rk_decoder_run(RK_DECODER(obj), word);
    }
}

static void rk_decoder_init(Object *obj)
{
    object_property_add(obj, "run", "uint32", NULL, rk_decoder_set_run, NULL, NULL);
}

static const VMStateDescription vmstate_rk_decoder = {
    .name = TYPE_RK_DECODER,
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(offset, RkDecoder),
        VMSTATE_UINT32(size, RkDecoder),
        VMSTATE_UINT32(runs, RkDecoder),
        VMSTATE_END_OF_LIST()
    },
};

static const Property rk_decoder_properties[] = {
    DEFINE_PROP_LINK("sram", RkDecoder, sram, TYPE_RK_SRAM, RkSram *),
    DEFINE_PROP_UINT8("number", RkDecoder, number, 0),
    DEFINE_PROP_UINT32("share-offset", RkDecoder, default_offset, 0),
    DEFINE_PROP_UINT32("share-size", RkDecoder, default_size, 0),
};

static void rk_decoder_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);

    dc->desc = "Stand-in for a Rockchip video decoder";
    dc->realize = rk_decoder_realize;
    dc->vmsd = &vmstate_rk_decoder;
    device_class_set_props(dc, rk_decoder_properties);
    RESETTABLE_CLASS(klass)->phases.hold = rk_decoder_reset_hold;
}

static const TypeInfo rk_decoder_types[] = {
    {
        .name = TYPE_RK_DECODER,
        .parent = TYPE_SYS_BUS_DEVICE,
        .instance_size = sizeof(RkDecoder),
        .instance_init = rk_decoder_init,
        .class_init = rk_decoder_class_init,
    },
};

DEFINE_TYPES(rk_decoder_types)
