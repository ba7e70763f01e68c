// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DesignWare APB UART, as Rockchip places it (reg-shift 2, 32-bit access).
 *
 * Facts: Synopsys DW_apb_uart databook; Linux drivers/tty/serial/8250/8250_dw.c and 8250_dwlib.c,
 * which read UCV and CPR at probe and USR when a write to LCR is refused.
 *
 * Modelled: the 16550 core (QEMU's), 16-byte FIFOs, USR, CPR, UCV and CTR as identification.
 * Not modelled: DMA handshake, baud rates. The options RS-485 and fractional divider (TCR to DLF)
 * are absent: these registers read 0, which tells drivers so.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qapi/error.h"
#include "hw/char/serial-mm.h"
#include "hw/irq.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "trace.h"
#include "dw-uart.h"

#define DW_UART_SIZE 0x100
#define DW_UART_REGSHIFT 2
#define DW_UART_BAUD_BASE 1500000 /* 24 MHz / 16 */

#define DW_UART_USR 0x7c /* status */
#define DW_UART_TCR 0xac /* first and last register of options that this UART lacks */
#define DW_UART_DLF 0xc0
#define DW_UART_CPR 0xf4 /* component parameters */
#define DW_UART_UCV 0xf8 /* component version */
#define DW_UART_CTR 0xfc /* component type */

#define DW_UART_USR_TFNF (1 << 1)              /* transmit FIFO not full */
#define DW_UART_USR_TFE  (1 << 2)              /* transmit FIFO empty */
#define DW_UART_CPR_APB_WIDTH_32 2
#define DW_UART_CPR_FIFO_MODE(bytes) (((bytes) / 16) << 16)
#define DW_UART_UCV_VALUE 0x3430322a           /* "402*" */
#define DW_UART_CTR_VALUE 0x44570110           /* "DW", 01, 10 */

OBJECT_DECLARE_SIMPLE_TYPE(DwUart, DW_UART)

struct DwUart {
    SysBusDevice parent_obj;

    MemoryRegion container;
    MemoryRegion iomem;
    SerialMM core;
};

static uint64_t dw_uart_read(void *opaque, hwaddr offset, unsigned size)
{
    switch (offset) {
    case DW_UART_USR:
        return DW_UART_USR_TFNF | DW_UART_USR_TFE;
    case DW_UART_CPR:
        return DW_UART_CPR_APB_WIDTH_32 | DW_UART_CPR_FIFO_MODE(16);
    case DW_UART_UCV:
        return DW_UART_UCV_VALUE;
    case DW_UART_CTR:
        return DW_UART_CTR_VALUE;
    case DW_UART_TCR ... DW_UART_DLF:
        return 0;
    default:
        qemu_log_mask(LOG_UNIMP, "dw-uart: read of register 0x%" HWADDR_PRIx
                      ", which is not modelled\n", offset);
        return 0;
    }
}

static void dw_uart_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    if (offset < DW_UART_TCR || offset > DW_UART_DLF) {
        qemu_log_mask(LOG_UNIMP, "dw-uart: write of 0x%" PRIx64 " to register 0x%" HWADDR_PRIx
                      ", which is not modelled\n", value, offset);
    }
}

static const MemoryRegionOps dw_uart_ops = {
    .read = dw_uart_read,
    .write = dw_uart_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

static void dw_uart_init(Object *obj)
{
    DwUart *s = DW_UART(obj);

    object_initialize_child(obj, "core", &s->core, TYPE_SERIAL_MM);
    qdev_prop_set_uint8(DEVICE(&s->core), "regshift", DW_UART_REGSHIFT);
    qdev_prop_set_uint8(DEVICE(&s->core), "endianness", DEVICE_LITTLE_ENDIAN);
    qdev_prop_set_uint32(DEVICE(&s->core.serial), "baudbase", DW_UART_BAUD_BASE);
    object_property_add_alias(obj, "chardev", OBJECT(&s->core.serial), "chardev");
}

static void dw_uart_realize(DeviceState *dev, Error **errp)
{
    DwUart *s = DW_UART(dev);
    SysBusDevice *sbd = SYS_BUS_DEVICE(dev);

    if (!sysbus_realize(SYS_BUS_DEVICE(&s->core), errp)) {
        return;
    }
    memory_region_init(&s->container, OBJECT(s), "dw-uart", DW_UART_SIZE);
    memory_region_init_io(&s->iomem, OBJECT(s), &dw_uart_ops, s, "dw-uart-id", DW_UART_SIZE);
    memory_region_add_subregion(&s->container, 0, &s->iomem);
    memory_region_add_subregion_overlap(&s->container, 0,
                                        sysbus_mmio_get_region(SYS_BUS_DEVICE(&s->core), 0), 1);
    sysbus_init_mmio(sbd, &s->container);
    sysbus_pass_irq(sbd, SYS_BUS_DEVICE(&s->core));
}

static void dw_uart_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);

    dc->desc = "DesignWare APB UART";
    dc->realize = dw_uart_realize;
}

static const TypeInfo dw_uart_types[] = {
    {
        .name = TYPE_DW_UART,
        .parent = TYPE_SYS_BUS_DEVICE,
        .instance_size = sizeof(DwUart),
        .instance_init = dw_uart_init,
        .class_init = dw_uart_class_init,
    },
};

DEFINE_TYPES(dw_uart_types)
