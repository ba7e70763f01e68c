// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SCMI server of Rockchip's boot firmware.
 *
 * Facts: Arm DEN 0056 (SCMI), sections 4.2 (base), 4.3 (power domains), 4.6 (clock), 4.8 (reset)
 * and 5.1.2 (shared memory transport); clock numbers from dt-bindings/clock/rockchip,rk3588-cru.h
 * and rockchip,rk3576-cru.h; registers as in rk-pmu.c and rk-cru.c.
 *
 * Modelled: base protocol 2.0 and clock protocol 1.0 for the clocks that trees of these machines
 * name. A rate that is set is remembered and returned; nothing here runs at that rate. Power
 * protocol 2.0 and reset protocol 1.0 for the NPU's domains and resets, which real firmware leaves
 * to the kernel: they are for kernels that have no clock driver for the chip. The firmware writes
 * the power controller and the clock and reset unit, as a kernel would.
 * Not modelled: notifications, asynchronous commands.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "exec/memory.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "migration/vmstate.h"
#include "trace.h"
#include "rk-scmi.h"

/* Shared memory area, DEN 0056 table "Shared memory area layout" */
#define SHMEM_STATUS  0x04
#define SHMEM_LENGTH  0x14
#define SHMEM_HEADER  0x18
#define SHMEM_PAYLOAD 0x1c
#define SHMEM_STATUS_FREE 1u

#define HEADER_MESSAGE(h)  ((h) & 0xff)
#define HEADER_PROTOCOL(h) ((h) >> 10 & 0xff)

#define PROTOCOL_BASE  0x10
#define PROTOCOL_POWER 0x11
#define PROTOCOL_CLOCK 0x14
#define PROTOCOL_RESET 0x16

/* Messages that every protocol has */
#define PROTOCOL_VERSION            0
#define PROTOCOL_ATTRIBUTES         1
#define PROTOCOL_MESSAGE_ATTRIBUTES 2

#define BASE_DISCOVER_VENDOR                 3
#define BASE_DISCOVER_SUB_VENDOR             4
#define BASE_DISCOVER_IMPLEMENTATION_VERSION 5
#define BASE_DISCOVER_LIST_PROTOCOLS         6
#define BASE_DISCOVER_AGENT                  7

#define CLOCK_ATTRIBUTES     3
#define CLOCK_DESCRIBE_RATES 4
#define CLOCK_RATE_SET       5
#define CLOCK_RATE_GET       6
#define CLOCK_CONFIG_SET     7

#define POWER_DOMAIN_ATTRIBUTES 3
#define POWER_STATE_SET         4
#define POWER_STATE_GET         5
#define POWER_STATE_OFF (1u << 30)

#define RESET_DOMAIN_ATTRIBUTES 3
#define RESET_DOMAIN            4
#define RESET_FLAG_AUTONOMOUS 1u
#define RESET_FLAG_ASSERT     2u

#define SCMI_SUCCESS            0
#define SCMI_NOT_SUPPORTED      (-1)
#define SCMI_INVALID_PARAMETERS (-2)
#define SCMI_NOT_FOUND          (-4)
#define SCMI_OUT_OF_RANGE       (-5)

#define SCMI_NAME_SIZE 16
#define SCMI_RANGE_FORMAT (1u << 12)
#define SCMI_WORDS ((RK_SCMI_SHMEM_SIZE - SHMEM_PAYLOAD) / 4)
#define RK_SCMI_MAX_CLOCKS 8

typedef struct RkScmiClock {
    uint32_t id;
    const char *name;
    uint64_t min, max; /* Hz, every rate between them */
    uint64_t boot;     /* Hz, as boot firmware leaves it */
} RkScmiClock;

/* Bits of a register with a write mask in the upper half. */
typedef struct RkScmiBits {
    const char *name;
    hwaddr reg;
    uint16_t mask;
} RkScmiBits;

struct RkScmiClass {
    SysBusDeviceClass parent_class;

    const RkScmiClock *clocks;
    unsigned clock_count;
    const RkScmiBits *domains, *resets; /* the index is the number; a domain's bits are 1 = off */
    unsigned domain_count, reset_count;
};

struct RkScmi {
    SysBusDevice parent_obj;

    MemoryRegion *memory;
    AddressSpace as;
    uint64_t shmem;
    uint64_t rate[RK_SCMI_MAX_CLOCKS];
    uint32_t enabled; /* bit i: clocks[i] */
};

/*
 * One message: the payload that came in, and the answer that goes out. Word 0 of `out` is the
 * status.
 */
typedef struct RkScmiMessage {
    uint32_t in[SCMI_WORDS];
    uint32_t out[SCMI_WORDS];
    unsigned out_words;
} RkScmiMessage;

static const RkScmiClock rk3588_scmi_clocks[] = {
    { 0, "scmi_clk_cpul",   408 * 1000 * 1000, 1800ull * 1000 * 1000, 816 * 1000 * 1000 },
    { 2, "scmi_clk_cpub01", 408 * 1000 * 1000, 2400ull * 1000 * 1000, 816 * 1000 * 1000 },
    { 3, "scmi_clk_cpub23", 408 * 1000 * 1000, 2400ull * 1000 * 1000, 816 * 1000 * 1000 },
    { 5, "scmi_clk_gpu",    200 * 1000 * 1000, 1000 * 1000 * 1000, 200 * 1000 * 1000 },
    { 6, "scmi_clk_npu",    200 * 1000 * 1000, 1000 * 1000 * 1000, 200 * 1000 * 1000 },
};

static const RkScmiClock rk3576_scmi_clocks[] = {
    { 10, "scmi_armclk_l", 408 * 1000 * 1000, 2208ull * 1000 * 1000, 816 * 1000 * 1000 },
    { 11, "scmi_armclk_b", 408 * 1000 * 1000, 2304ull * 1000 * 1000, 816 * 1000 * 1000 },
    { 232, "scmi_clk_npu", 198 * 1000 * 1000, 950 * 1000 * 1000, 198 * 1000 * 1000 },
    { 456, "scmi_clk_gpu", 198 * 1000 * 1000, 950 * 1000 * 1000, 198 * 1000 * 1000 },
};

#define RK3588_SOFTRST_CON(n) (0xfd7c0000 + 0xa00 + 4 * (n))
#define RK3576_SOFTRST_CON(n) (0x27200000 + 0xa00 + 4 * (n))

static const RkScmiBits rk3588_scmi_resets[] = {
    { "srst_a_rknn0", RK3588_SOFTRST_CON(30), 1 << 6 },
    { "srst_a_rknn1", RK3588_SOFTRST_CON(27), 1 << 0 },
    { "srst_a_rknn2", RK3588_SOFTRST_CON(28), 1 << 0 },
    { "srst_h_rknn0", RK3588_SOFTRST_CON(30), 1 << 8 },
    { "srst_h_rknn1", RK3588_SOFTRST_CON(27), 1 << 2 },
    { "srst_h_rknn2", RK3588_SOFTRST_CON(28), 1 << 2 },
};

static const RkScmiBits rk3576_scmi_resets[] = {
    { "srst_a_rknn0", RK3576_SOFTRST_CON(28), 1 << 9 },
    { "srst_a_rknn1", RK3576_SOFTRST_CON(29), 1 << 0 },
    { "srst_a_cbuf", RK3576_SOFTRST_CON(32), 1 << 0 },
    { "srst_h_cbuf", RK3576_SOFTRST_CON(32), 1 << 12 },
};

/* The NPU as one domain: NPUTOP with NPU1 and NPU2, or with NPU0 and NPU1. */
static const RkScmiBits rk3588_scmi_domains[] = {
    { "npu", 0xfd8d814c, 7 << 3 },
};

static const RkScmiBits rk3576_scmi_domains[] = {
    { "npu", 0x27380214, 7 << 6 },
};

static void rk_scmi_put(RkScmiMessage *m, uint32_t word)
{
    if (m->out_words < SCMI_WORDS) {
        m->out[m->out_words++] = word;
    }
}

static void rk_scmi_put64(RkScmiMessage *m, uint64_t value)
{
    rk_scmi_put(m, value);
    rk_scmi_put(m, value >> 32);
}

static void rk_scmi_put_name(RkScmiMessage *m, const char *name)
{
    char text[SCMI_NAME_SIZE] = "";

    g_strlcpy(text, name, sizeof(text));
    for (unsigned i = 0; i < SCMI_NAME_SIZE; i += 4) {
        rk_scmi_put(m, ldl_le_p(&text[i]));
    }
}

static int rk_scmi_base(RkScmi *s, unsigned message, RkScmiMessage *m)
{
    switch (message) {
    case PROTOCOL_VERSION:
        rk_scmi_put(m, 0x20000);
        return SCMI_SUCCESS;
    case PROTOCOL_ATTRIBUTES:
        rk_scmi_put(m, 3 | 1 << 8); /* three protocols, one agent */
        return SCMI_SUCCESS;
    case PROTOCOL_MESSAGE_ATTRIBUTES:
        rk_scmi_put(m, 0);
        return m->in[0] <= BASE_DISCOVER_AGENT ? SCMI_SUCCESS : SCMI_NOT_FOUND;
    case BASE_DISCOVER_VENDOR:
        rk_scmi_put_name(m, "rockchip");
        return SCMI_SUCCESS;
    case BASE_DISCOVER_SUB_VENDOR:
        rk_scmi_put_name(m, "rknpu-emu");
        return SCMI_SUCCESS;
    case BASE_DISCOVER_IMPLEMENTATION_VERSION:
        rk_scmi_put(m, 0);
        return SCMI_SUCCESS;
    case BASE_DISCOVER_LIST_PROTOCOLS:
        if (m->in[0] > 3) { /* how many of the list to skip */
            return SCMI_INVALID_PARAMETERS;
        }
        rk_scmi_put(m, 3 - m->in[0]);
        rk_scmi_put(m, (PROTOCOL_POWER | PROTOCOL_CLOCK << 8 | PROTOCOL_RESET << 16) >>
                       (8 * m->in[0]));
        return SCMI_SUCCESS;
    case BASE_DISCOVER_AGENT:
        rk_scmi_put(m, 0);
        rk_scmi_put_name(m, "OSPM");
        return SCMI_SUCCESS;
    default:
        return SCMI_NOT_SUPPORTED;
    }
}

/* Index of the clock with that number, or -1. */
static int rk_scmi_find_clock(RkScmi *s, uint32_t id)
{
    const RkScmiClass *c = RK_SCMI_GET_CLASS(s);

    for (unsigned i = 0; i < c->clock_count; i++) {
        if (c->clocks[i].id == id) {
            return i;
        }
    }
    return -1;
}

static int rk_scmi_set_rate(RkScmi *s, RkScmiMessage *m)
{
    int i = rk_scmi_find_clock(s, m->in[1]);
    uint64_t rate = m->in[2] | (uint64_t)m->in[3] << 32;
    const RkScmiClock *clock;

    if (i < 0) {
        return SCMI_NOT_FOUND;
    }
    clock = &RK_SCMI_GET_CLASS(s)->clocks[i];
    if (rate < clock->min || rate > clock->max) {
        return SCMI_OUT_OF_RANGE;
    }
    trace_rk_scmi_rate(clock->name, rate);
    s->rate[i] = rate;
    return SCMI_SUCCESS;
}

/* Messages that name a clock in their first word. */
static int rk_scmi_one_clock(RkScmi *s, unsigned message, RkScmiMessage *m)
{
    int i = rk_scmi_find_clock(s, m->in[0]);
    const RkScmiClock *clock;

    if (i < 0) {
        return SCMI_NOT_FOUND;
    }
    clock = &RK_SCMI_GET_CLASS(s)->clocks[i];
    switch (message) {
    case CLOCK_ATTRIBUTES:
        rk_scmi_put(m, s->enabled >> i & 1);
        rk_scmi_put_name(m, clock->name);
        return SCMI_SUCCESS;
    case CLOCK_DESCRIBE_RATES:
        rk_scmi_put(m, 3 | SCMI_RANGE_FORMAT); /* lowest, highest, step */
        rk_scmi_put64(m, clock->min);
        rk_scmi_put64(m, clock->max);
        rk_scmi_put64(m, 1);
        return SCMI_SUCCESS;
    case CLOCK_RATE_GET:
        rk_scmi_put64(m, s->rate[i]);
        return SCMI_SUCCESS;
    case CLOCK_CONFIG_SET:
        s->enabled = deposit32(s->enabled, i, 1, m->in[1] & 1);
        return SCMI_SUCCESS;
    default:
        return SCMI_NOT_SUPPORTED;
    }
}

static int rk_scmi_clock(RkScmi *s, unsigned message, RkScmiMessage *m)
{
    const RkScmiClass *c = RK_SCMI_GET_CLASS(s);

    switch (message) {
    case PROTOCOL_VERSION:
        rk_scmi_put(m, 0x10000);
        return SCMI_SUCCESS;
    case PROTOCOL_ATTRIBUTES:
        rk_scmi_put(m, c->clocks[c->clock_count - 1].id + 1);
        return SCMI_SUCCESS;
    case PROTOCOL_MESSAGE_ATTRIBUTES:
        rk_scmi_put(m, 0);
        return m->in[0] <= CLOCK_CONFIG_SET ? SCMI_SUCCESS : SCMI_NOT_FOUND;
    case CLOCK_RATE_SET:
        return rk_scmi_set_rate(s, m);
    default:
        return rk_scmi_one_clock(s, message, m);
    }
}

static void rk_scmi_set_bits(RkScmi *s, const RkScmiBits *b, bool set)
{
    address_space_stl_le(&s->as, b->reg, (uint32_t)b->mask << 16 | (set ? b->mask : 0),
                         MEMTXATTRS_UNSPECIFIED, NULL);
}

static bool rk_scmi_get_bits(RkScmi *s, const RkScmiBits *b)
{
    return address_space_ldl_le(&s->as, b->reg, MEMTXATTRS_UNSPECIFIED, NULL) & b->mask;
}

static int rk_scmi_set_power(RkScmi *s, RkScmiMessage *m)
{
    const RkScmiClass *c = RK_SCMI_GET_CLASS(s);

    if (m->in[1] >= c->domain_count) {
        return SCMI_NOT_FOUND;
    }
    rk_scmi_set_bits(s, &c->domains[m->in[1]], m->in[2] == POWER_STATE_OFF);
    return SCMI_SUCCESS;
}

/* Messages that name a domain in their first word. */
static int rk_scmi_one_domain(RkScmi *s, unsigned message, RkScmiMessage *m)
{
    const RkScmiClass *c = RK_SCMI_GET_CLASS(s);
    const RkScmiBits *domain;

    if (m->in[0] >= c->domain_count) {
        return SCMI_NOT_FOUND;
    }
    domain = &c->domains[m->in[0]];
    switch (message) {
    case POWER_DOMAIN_ATTRIBUTES:
        rk_scmi_put(m, 0); /* set at once, not notified */
        rk_scmi_put_name(m, domain->name);
        return SCMI_SUCCESS;
    case POWER_STATE_GET:
        rk_scmi_put(m, rk_scmi_get_bits(s, domain) ? POWER_STATE_OFF : 0);
        return SCMI_SUCCESS;
    default:
        return SCMI_NOT_SUPPORTED;
    }
}

static int rk_scmi_power(RkScmi *s, unsigned message, RkScmiMessage *m)
{
    switch (message) {
    case PROTOCOL_VERSION:
        rk_scmi_put(m, 0x20000);
        return SCMI_SUCCESS;
    case PROTOCOL_ATTRIBUTES:
        rk_scmi_put(m, RK_SCMI_GET_CLASS(s)->domain_count);
        rk_scmi_put64(m, 0); /* no statistics */
        rk_scmi_put(m, 0);
        return SCMI_SUCCESS;
    case PROTOCOL_MESSAGE_ATTRIBUTES:
        rk_scmi_put(m, 0);
        return m->in[0] <= POWER_STATE_GET ? SCMI_SUCCESS : SCMI_NOT_FOUND;
    case POWER_STATE_SET:
        return rk_scmi_set_power(s, m);
    default:
        return rk_scmi_one_domain(s, message, m);
    }
}

static int rk_scmi_one_reset(RkScmi *s, unsigned message, RkScmiMessage *m)
{
    const RkScmiClass *c = RK_SCMI_GET_CLASS(s);
    const RkScmiBits *reset;

    if (m->in[0] >= c->reset_count) {
        return SCMI_NOT_FOUND;
    }
    reset = &c->resets[m->in[0]];
    switch (message) {
    case RESET_DOMAIN_ATTRIBUTES:
        rk_scmi_put(m, 0); /* neither asynchronous nor notified */
        rk_scmi_put(m, UINT32_MAX); /* latency unknown */
        rk_scmi_put_name(m, reset->name);
        return SCMI_SUCCESS;
    case RESET_DOMAIN:
        rk_scmi_set_bits(s, reset, m->in[1] & (RESET_FLAG_AUTONOMOUS | RESET_FLAG_ASSERT));
        if (m->in[1] & RESET_FLAG_AUTONOMOUS) {
            rk_scmi_set_bits(s, reset, false);
        }
        return SCMI_SUCCESS;
    default:
        return SCMI_NOT_SUPPORTED;
    }
}

static int rk_scmi_reset(RkScmi *s, unsigned message, RkScmiMessage *m)
{
    switch (message) {
    case PROTOCOL_VERSION:
        rk_scmi_put(m, 0x10000);
        return SCMI_SUCCESS;
    case PROTOCOL_ATTRIBUTES:
        rk_scmi_put(m, RK_SCMI_GET_CLASS(s)->reset_count);
        return SCMI_SUCCESS;
    case PROTOCOL_MESSAGE_ATTRIBUTES:
        rk_scmi_put(m, 0);
        return m->in[0] <= RESET_DOMAIN ? SCMI_SUCCESS : SCMI_NOT_FOUND;
    default:
        return rk_scmi_one_reset(s, message, m);
    }
}

static uint32_t rk_scmi_load(RkScmi *s, unsigned offset)
{
    return address_space_ldl_le(&s->as, s->shmem + offset, MEMTXATTRS_UNSPECIFIED, NULL);
}

static void rk_scmi_store(RkScmi *s, unsigned offset, uint32_t value)
{
    address_space_stl_le(&s->as, s->shmem + offset, value, MEMTXATTRS_UNSPECIFIED, NULL);
}

void rk_scmi_ring(RkScmi *s)
{
    uint32_t header = rk_scmi_load(s, SHMEM_HEADER);
    RkScmiMessage m = { .out_words = 1 };
    int status;

    for (unsigned i = 0; i < SCMI_WORDS; i++) {
        m.in[i] = rk_scmi_load(s, SHMEM_PAYLOAD + 4 * i);
    }
    switch (HEADER_PROTOCOL(header)) {
    case PROTOCOL_BASE:
        status = rk_scmi_base(s, HEADER_MESSAGE(header), &m);
        break;
    case PROTOCOL_CLOCK:
        status = rk_scmi_clock(s, HEADER_MESSAGE(header), &m);
        break;
    case PROTOCOL_POWER:
        status = rk_scmi_power(s, HEADER_MESSAGE(header), &m);
        break;
    case PROTOCOL_RESET:
        status = rk_scmi_reset(s, HEADER_MESSAGE(header), &m);
        break;
    default:
        status = SCMI_NOT_SUPPORTED;
    }
    trace_rk_scmi_message(HEADER_PROTOCOL(header), HEADER_MESSAGE(header), m.in[0], status);
    if (status != SCMI_SUCCESS) {
        m.out_words = 1;
    }
    m.out[0] = status;
    for (unsigned i = 0; i < m.out_words; i++) {
        rk_scmi_store(s, SHMEM_PAYLOAD + 4 * i, m.out[i]);
    }
    rk_scmi_store(s, SHMEM_LENGTH, 4 + 4 * m.out_words);
    rk_scmi_store(s, SHMEM_STATUS, SHMEM_STATUS_FREE);
}

/* Firmware leaves the channel free and the clocks running. */
static void rk_scmi_reset_hold(Object *obj, ResetType type)
{
    RkScmi *s = RK_SCMI(obj);
    const RkScmiClass *c = RK_SCMI_GET_CLASS(s);

    for (unsigned i = 0; i < c->clock_count; i++) {
        s->rate[i] = c->clocks[i].boot;
    }
    s->enabled = MAKE_64BIT_MASK(0, c->clock_count);
    rk_scmi_store(s, SHMEM_STATUS, SHMEM_STATUS_FREE);
}

static void rk_scmi_realize(DeviceState *dev, Error **errp)
{
    RkScmi *s = RK_SCMI(dev);

    if (!s->memory) {
        error_setg(errp, "rk-scmi needs the link \"memory\": the region its channel lies in");
        return;
    }
    address_space_init(&s->as, s->memory, "rk-scmi");
}

static void rk_scmi_unrealize(DeviceState *dev)
{
    RkScmi *s = RK_SCMI(dev);

    address_space_destroy(&s->as);
}

static const VMStateDescription vmstate_rk_scmi = {
    .name = TYPE_RK_SCMI,
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64_ARRAY(rate, RkScmi, RK_SCMI_MAX_CLOCKS),
        VMSTATE_UINT32(enabled, RkScmi),
        VMSTATE_END_OF_LIST()
    },
};

static const Property rk_scmi_properties[] = {
    DEFINE_PROP_LINK("memory", RkScmi, memory, TYPE_MEMORY_REGION, MemoryRegion *),
    DEFINE_PROP_UINT64("shmem", RkScmi, shmem, 0),
};

static void rk_scmi_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    dc->desc = "SCMI server of Rockchip's boot firmware";
    dc->realize = rk_scmi_realize;
    dc->unrealize = rk_scmi_unrealize;
    dc->vmsd = &vmstate_rk_scmi;
    dc->user_creatable = false; /* rung by the machine's CPUs */
    device_class_set_props(dc, rk_scmi_properties);
    rc->phases.hold = rk_scmi_reset_hold;
}

static void rk3588_scmi_class_init(ObjectClass *klass, void *data)
{
    RkScmiClass *c = RK_SCMI_CLASS(klass);

    c->clocks = rk3588_scmi_clocks;
    c->clock_count = ARRAY_SIZE(rk3588_scmi_clocks);
    c->domains = rk3588_scmi_domains;
    c->domain_count = ARRAY_SIZE(rk3588_scmi_domains);
    c->resets = rk3588_scmi_resets;
    c->reset_count = ARRAY_SIZE(rk3588_scmi_resets);
}

static void rk3576_scmi_class_init(ObjectClass *klass, void *data)
{
    RkScmiClass *c = RK_SCMI_CLASS(klass);

    c->clocks = rk3576_scmi_clocks;
    c->clock_count = ARRAY_SIZE(rk3576_scmi_clocks);
    c->domains = rk3576_scmi_domains;
    c->domain_count = ARRAY_SIZE(rk3576_scmi_domains);
    c->resets = rk3576_scmi_resets;
    c->reset_count = ARRAY_SIZE(rk3576_scmi_resets);
}

static const TypeInfo rk_scmi_types[] = {
    {
        .name = TYPE_RK_SCMI,
        .parent = TYPE_SYS_BUS_DEVICE,
        .abstract = true,
        .instance_size = sizeof(RkScmi),
        .class_size = sizeof(RkScmiClass),
        .class_init = rk_scmi_class_init,
    },
    {
        .name = TYPE_RK3588_SCMI,
        .parent = TYPE_RK_SCMI,
        .class_init = rk3588_scmi_class_init,
    },
    {
        .name = TYPE_RK3576_SCMI,
        .parent = TYPE_RK_SCMI,
        .class_init = rk3576_scmi_class_init,
    },
};

DEFINE_TYPES(rk_scmi_types)
