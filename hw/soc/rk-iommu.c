// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rockchip IOMMU version 2 (compatible "rockchip,rk3568-iommu"): one register bank.
 *
 * Facts: Linux drivers/iommu/rockchip-iommu.c. Two levels of 1024 entries, 4 KiB pages, 32-bit
 * device addresses, 40-bit physical ones. An entry keeps PA 31:12 in place, PA 35:32 in bits 11:8
 * and PA 39:36 in bits 7:4; bit 0 is valid, and in a page entry bit 1 is readable and bit 2
 * writable.
 *
 * Modelled: all registers and commands, faults, bus errors on table reads, stall, and a translation
 * cache that forgets only when it is told to: a driver that does not zap sees stale translations,
 * as on the chip. The cache holds valid page entries only and is as large as the guest's mappings.
 * Not modelled: the security bit, the page-cache attributes, replay of the faulting access (its
 * master is told that the access failed).
 *
 * Threads: registers are accessed with the big lock, translations come from the master's worker
 * threads without it; `lock` protects the state, and the big lock is never taken under `lock`.
 * Therefore page tables are read through host pointers, and a table that does not lie in RAM is a
 * bus error.
 */
#include "qemu/osdep.h"
#include "qemu/lockable.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "qemu/rcu.h"
#include "qemu/thread.h"
#include "qapi/error.h"
#include "exec/memory.h"
#include "hw/irq.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "migration/vmstate.h"
#include "trace.h"
#include "rk-iommu.h"

#define RK_MMU_ENTRIES        1024
#define RK_MMU_PAGE_BITS      12
#define RK_MMU_PAGE_SIZE      (1u << RK_MMU_PAGE_BITS)
#define RK_MMU_ENTRY_VALID    (1u << 0)
#define RK_MMU_ENTRY_READABLE (1u << 1)
#define RK_MMU_ENTRY_WRITABLE (1u << 2)
/* DTE_ADDR keeps the packed address and bit 0. */
#define RK_MMU_DTE_ADDR_MASK  0xfffffff1u
#define RK_MMU_IRQ_MASK       (RK_MMU_IRQ_PAGE_FAULT | RK_MMU_IRQ_BUS_ERROR)

struct RkIommu {
    SysBusDevice parent_obj;

    MemoryRegion iomem;
    MemoryRegion *memory;
    AddressSpace as;
    qemu_irq irq;
    QEMUBH *irq_bh;
    char *bank;

    /* Big lock: registers answer, and how often they were accessed when they did not */
    bool powered;
    uint64_t unpowered_accesses;

    QemuMutex lock;
    QemuCond unstalled;
    bool draining;

    uint32_t dte_addr;
    uint32_t status; /* PAGING_ENABLED, PAGE_FAULT_ACTIVE, STALL_ACTIVE, PAGE_FAULT_IS_WRITE */
    uint32_t fault_addr;
    uint32_t int_rawstat;
    uint32_t int_mask;
    uint32_t auto_gating;
    bool hung;

    /* Cached page entries, [iova 31:22][iova 21:12]; 0 = not cached. */
    uint32_t *cache[RK_MMU_ENTRIES];
};

typedef enum RkMmuWalk {
    RK_MMU_WALK_OK,
    RK_MMU_WALK_FAULT,
    RK_MMU_WALK_BUS_ERROR,
} RkMmuWalk;

/* The page entries of one directory entry. */
typedef struct RkMmuTable {
    unsigned index; /* iova 31:22 */
    hwaddr addr;
    const uint8_t *entries; /* NULL: none found */
} RkMmuTable;

static void rk_iommu_update_irq(RkIommu *s)
{
    bool level;

    WITH_QEMU_LOCK_GUARD(&s->lock) {
        level = s->int_rawstat & s->int_mask;
    }
    qemu_set_irq(s->irq, level);
}

static void rk_iommu_irq_bh(void *opaque)
{
    rk_iommu_update_irq(opaque);
}

static hwaddr rk_iommu_entry_address(uint32_t entry)
{
    return (entry & 0xfffff000u) | (hwaddr)(entry & 0xf00) << 24 | (hwaddr)(entry & 0xf0) << 32;
}

/* Drops what is cached for `iova`, or everything. Lock held. */
static void rk_iommu_zap_one(RkIommu *s, uint32_t iova)
{
    uint32_t *table = s->cache[iova >> 22];

    if (table) {
        table[(iova >> RK_MMU_PAGE_BITS) % RK_MMU_ENTRIES] = 0;
    }
}

static void rk_iommu_zap_all(RkIommu *s)
{
    for (unsigned i = 0; i < RK_MMU_ENTRIES; i++) {
        g_clear_pointer(&s->cache[i], g_free);
    }
}

/* The `len` bytes at `addr`, or NULL: no RAM there. RCU read lock held. */
static const uint8_t *rk_iommu_ram(RkIommu *s, hwaddr addr, hwaddr len)
{
    hwaddr xlat, got = len;
    MemoryRegion *mr = address_space_translate(&s->as, addr, &xlat, &got, false,
                                               MEMTXATTRS_UNSPECIFIED);

    if (!memory_region_is_ram(mr) || memory_region_is_ram_device(mr) || got < len) {
        return NULL;
    }
    return (const uint8_t *)memory_region_get_ram_ptr(mr) + xlat;
}

/* Finds the table of `iova`'s page entries. Lock and RCU read lock held. */
static RkMmuWalk rk_iommu_find_table(RkIommu *s, uint32_t iova, RkMmuTable *table)
{
    unsigned index = iova >> 22;
    hwaddr addr = rk_iommu_entry_address(s->dte_addr) + 4 * index;
    const uint8_t *entry = rk_iommu_ram(s, addr, 4);
    uint32_t dte;

    if (!entry) {
        return RK_MMU_WALK_BUS_ERROR;
    }
    dte = ldl_le_p(entry);
    trace_rk_iommu_walk_dte(s->bank, iova, addr, dte);
    if (!(dte & RK_MMU_ENTRY_VALID)) {
        return RK_MMU_WALK_FAULT;
    }
    table->index = index;
    table->addr = rk_iommu_entry_address(dte);
    table->entries = rk_iommu_ram(s, table->addr, 4 * RK_MMU_ENTRIES);
    return table->entries ? RK_MMU_WALK_OK : RK_MMU_WALK_BUS_ERROR;
}

/*
 * Finds the page entry of `iova` in the cache or the tables, and caches it. `table` is the one of
 * the page before, if any, for a run of pages. Lock and RCU read lock held.
 */
static RkMmuWalk rk_iommu_walk(RkIommu *s, uint32_t iova, RkMmuTable *table, uint32_t *pte)
{
    unsigned dte_index = iova >> 22;
    unsigned pte_index = (iova >> RK_MMU_PAGE_BITS) % RK_MMU_ENTRIES;

    if (s->cache[dte_index] && s->cache[dte_index][pte_index]) {
        *pte = s->cache[dte_index][pte_index];
        return RK_MMU_WALK_OK;
    }
    if (!table->entries || table->index != dte_index) {
        RkMmuWalk result = rk_iommu_find_table(s, iova, table);

        if (result != RK_MMU_WALK_OK) {
            return result;
        }
    }
    *pte = ldl_le_p(table->entries + 4 * pte_index);
    trace_rk_iommu_walk_pte(s->bank, iova, table->addr + 4 * pte_index, *pte);
    if (!(*pte & RK_MMU_ENTRY_VALID)) {
        return RK_MMU_WALK_FAULT;
    }
    if (!s->cache[dte_index]) {
        s->cache[dte_index] = g_new0(uint32_t, RK_MMU_ENTRIES);
    }
    s->cache[dte_index][pte_index] = *pte;
    return RK_MMU_WALK_OK;
}

static RkMmuWalk rk_iommu_page(RkIommu *s, uint32_t iova, bool write, RkMmuTable *table,
                               hwaddr *pa)
{
    uint32_t pte;
    RkMmuWalk result = rk_iommu_walk(s, iova, table, &pte);

    if (result == RK_MMU_WALK_OK) {
        if (!(pte & (write ? RK_MMU_ENTRY_WRITABLE : RK_MMU_ENTRY_READABLE))) {
            return RK_MMU_WALK_FAULT;
        }
        *pa = rk_iommu_entry_address(pte) + iova % RK_MMU_PAGE_SIZE;
    }
    return result;
}

/*
 * Publishes the first failure; later ones wait behind it until the guest has dealt with it. Lock
 * held.
 */
static void rk_iommu_record(RkIommu *s, RkMmuWalk result, uint32_t iova, bool write)
{
    if (s->status & RK_MMU_STATUS_PAGE_FAULT_ACTIVE) {
        return;
    }
    s->fault_addr = iova;
    if (result == RK_MMU_WALK_FAULT) {
        s->status |= RK_MMU_STATUS_PAGE_FAULT_ACTIVE;
        s->status &= ~RK_MMU_STATUS_PAGE_FAULT_IS_WRITE;
        s->status |= write ? RK_MMU_STATUS_PAGE_FAULT_IS_WRITE : 0;
        s->int_rawstat |= RK_MMU_IRQ_PAGE_FAULT;
    } else {
        s->int_rawstat |= RK_MMU_IRQ_BUS_ERROR;
    }
    trace_rk_iommu_fault(s->bank, iova, write ? "write" : "read",
                         result == RK_MMU_WALK_FAULT ? "page fault" : "bus error");
    qemu_bh_schedule(s->irq_bh);
}

/* Waits while the bank is stalled. False: waiters were asked to give up. Lock held. */
static bool rk_iommu_wait_unstalled(RkIommu *s)
{
    while (s->status & RK_MMU_STATUS_STALL_ACTIVE) {
        if (s->draining) {
            return false;
        }
        qemu_cond_wait(&s->unstalled, &s->lock);
    }
    return true;
}

uint64_t rk_iommu_translate(RkIommu *s, uint32_t iova, uint64_t len, bool write, hwaddr *pa)
{
    uint64_t limit = MIN(len, (1ull << 32) - iova);
    uint64_t run;
    RkMmuTable table = { 0 };
    RkMmuWalk result;

    QEMU_LOCK_GUARD(&s->lock);
    if (!rk_iommu_wait_unstalled(s) || s->hung) {
        return 0;
    }
    if (!(s->status & RK_MMU_STATUS_PAGING_ENABLED)) {
        *pa = iova;
        return limit;
    }
    if (s->status & RK_MMU_STATUS_PAGE_FAULT_ACTIVE) {
        return 0;
    }
    RCU_READ_LOCK_GUARD();
    result = rk_iommu_page(s, iova, write, &table, pa);
    if (result != RK_MMU_WALK_OK) {
        rk_iommu_record(s, result, iova, write);
        return 0;
    }
    for (run = RK_MMU_PAGE_SIZE - iova % RK_MMU_PAGE_SIZE; run < limit; run += RK_MMU_PAGE_SIZE) {
        hwaddr next;

        if (rk_iommu_page(s, iova + run, write, &table, &next) != RK_MMU_WALK_OK ||
            next != *pa + run) {
            break;
        }
    }
    return MIN(run, limit);
}

void rk_iommu_set_draining(RkIommu *s, bool draining)
{
    QEMU_LOCK_GUARD(&s->lock);
    s->draining = draining;
    qemu_cond_broadcast(&s->unstalled);
}

/* Lock held. */
static void rk_iommu_clear(RkIommu *s)
{
    s->dte_addr = 0;
    s->status = 0;
    s->fault_addr = 0;
    s->int_rawstat = 0;
    s->int_mask = 0;
    s->auto_gating = 0;
    rk_iommu_zap_all(s);
    qemu_cond_broadcast(&s->unstalled);
}

void rk_iommu_force_reset(RkIommu *s)
{
    WITH_QEMU_LOCK_GUARD(&s->lock) {
        s->hung = false;
        rk_iommu_clear(s);
    }
    rk_iommu_update_irq(s);
}

void rk_iommu_hang(RkIommu *s)
{
    WITH_QEMU_LOCK_GUARD(&s->lock) {
        rk_iommu_clear(s);
        s->hung = true;
    }
    rk_iommu_update_irq(s);
}

void rk_iommu_set_powered(RkIommu *s, bool powered)
{
    s->powered = powered;
}

uint64_t rk_iommu_unpowered_accesses(const RkIommu *s)
{
    return s->unpowered_accesses;
}

void rk_iommu_describe(RkIommu *s, GString *out)
{
    QEMU_LOCK_GUARD(&s->lock);
    if (s->hung) {
        g_string_append_printf(out, "%s: hung until its power is switched off\n", s->bank);
        return;
    }
    g_string_append_printf(out, "%s: paging %s, %s, directory 0x%" HWADDR_PRIx,
                           s->bank, s->status & RK_MMU_STATUS_PAGING_ENABLED ? "on" : "off",
                           s->status & RK_MMU_STATUS_STALL_ACTIVE ? "stalled" : "not stalled",
                           rk_iommu_entry_address(s->dte_addr));
    if (s->status & RK_MMU_STATUS_PAGE_FAULT_ACTIVE) {
        g_string_append_printf(out, ", page fault on %s at 0x%08x",
                               s->status & RK_MMU_STATUS_PAGE_FAULT_IS_WRITE ? "write" : "read",
                               s->fault_addr);
    }
    g_string_append_printf(out, ", interrupts raw 0x%x mask 0x%x\n", s->int_rawstat, s->int_mask);
}

static void rk_iommu_set_paging(RkIommu *s, bool on)
{
    s->status &= ~RK_MMU_STATUS_PAGING_ENABLED;
    s->status |= on ? RK_MMU_STATUS_PAGING_ENABLED : 0;
    rk_iommu_zap_all(s);
}

/*
 * A stall needs paging, and a bank that waits for its fault to be acknowledged ignores the request
 * (rk_iommu_enable_stall() in the kernel acknowledges first for that reason).
 */
static void rk_iommu_set_stall(RkIommu *s, bool on)
{
    if (!on) {
        s->status &= ~RK_MMU_STATUS_STALL_ACTIVE;
        qemu_cond_broadcast(&s->unstalled);
    } else if ((s->status & RK_MMU_STATUS_PAGING_ENABLED) &&
               !(s->status & RK_MMU_STATUS_PAGE_FAULT_ACTIVE)) {
        s->status |= RK_MMU_STATUS_STALL_ACTIVE;
    }
}

/* Lock held. */
static void rk_iommu_command(RkIommu *s, uint32_t command)
{
    switch (command) {
    case RK_MMU_CMD_ENABLE_PAGING:
    case RK_MMU_CMD_DISABLE_PAGING:
        rk_iommu_set_paging(s, command == RK_MMU_CMD_ENABLE_PAGING);
        break;
    case RK_MMU_CMD_ENABLE_STALL:
    case RK_MMU_CMD_DISABLE_STALL:
        rk_iommu_set_stall(s, command == RK_MMU_CMD_ENABLE_STALL);
        break;
    case RK_MMU_CMD_ZAP_CACHE:
        rk_iommu_zap_all(s);
        break;
    case RK_MMU_CMD_PAGE_FAULT_DONE:
        s->status &= ~(RK_MMU_STATUS_PAGE_FAULT_ACTIVE | RK_MMU_STATUS_PAGE_FAULT_IS_WRITE);
        break;
    case RK_MMU_CMD_FORCE_RESET:
        rk_iommu_clear(s);
        break;
    default:
        qemu_log_mask(LOG_GUEST_ERROR, "%s: MMU_COMMAND has no command %u\n",
                      s->bank, command);
    }
}

static uint32_t rk_iommu_status(const RkIommu *s)
{
    bool stalled = s->status & RK_MMU_STATUS_STALL_ACTIVE;

    return s->status | RK_MMU_STATUS_IDLE | RK_MMU_STATUS_REPLAY_BUFFER_EMPTY |
           (stalled ? 0 : RK_MMU_STATUS_STALL_NOT_ACTIVE);
}

static uint32_t rk_iommu_get(const RkIommu *s, hwaddr offset)
{
    switch (offset) {
    case RK_MMU_DTE_ADDR:
        return s->dte_addr;
    case RK_MMU_STATUS:
        return rk_iommu_status(s);
    case RK_MMU_PAGE_FAULT_ADDR:
        return s->fault_addr;
    case RK_MMU_INT_RAWSTAT:
        return s->int_rawstat;
    case RK_MMU_INT_MASK:
        return s->int_mask;
    case RK_MMU_INT_STATUS:
        return s->int_rawstat & s->int_mask;
    case RK_MMU_AUTO_GATING:
        return s->auto_gating;
    case RK_MMU_COMMAND:
    case RK_MMU_ZAP_ONE_LINE:
    case RK_MMU_INT_CLEAR:
        return 0;
    default:
        qemu_log_mask(LOG_UNIMP, "%s: read of register 0x%" HWADDR_PRIx
                      ", which is not modelled\n", s->bank, offset);
        return 0;
    }
}

/* Lock held. */
static void rk_iommu_set(RkIommu *s, hwaddr offset, uint32_t value)
{
    switch (offset) {
    case RK_MMU_DTE_ADDR:
        s->dte_addr = value & RK_MMU_DTE_ADDR_MASK;
        break;
    case RK_MMU_COMMAND:
        rk_iommu_command(s, value);
        break;
    case RK_MMU_ZAP_ONE_LINE:
        rk_iommu_zap_one(s, value);
        break;
    case RK_MMU_INT_CLEAR:
        s->int_rawstat &= ~value;
        break;
    case RK_MMU_INT_MASK:
        s->int_mask = value & RK_MMU_IRQ_MASK;
        break;
    case RK_MMU_AUTO_GATING:
        s->auto_gating = value;
        break;
    case RK_MMU_STATUS:
    case RK_MMU_PAGE_FAULT_ADDR:
    case RK_MMU_INT_RAWSTAT:
    case RK_MMU_INT_STATUS:
        qemu_log_mask(LOG_GUEST_ERROR, "%s: write of 0x%x to read-only register 0x%"
                      HWADDR_PRIx "\n", s->bank, value, offset);
        break;
    default:
        qemu_log_mask(LOG_UNIMP, "%s: write of 0x%x to register 0x%" HWADDR_PRIx
                      ", which is not modelled\n", s->bank, value, offset);
    }
}

/* Counts and reports an access that a board does not survive. */
static bool rk_iommu_accessible(RkIommu *s, hwaddr offset)
{
    if (!s->powered) {
        s->unpowered_accesses++;
        qemu_log_mask(LOG_GUEST_ERROR, "%s: access to register 0x%" HWADDR_PRIx
                      " while the core is off, without clock or in reset\n", s->bank, offset);
    }
    return s->powered;
}

static uint64_t rk_iommu_read(void *opaque, hwaddr offset, unsigned size)
{
    RkIommu *s = opaque;
    uint32_t value;

    if (!rk_iommu_accessible(s, offset)) {
        return 0;
    }
    WITH_QEMU_LOCK_GUARD(&s->lock) {
        value = s->hung ? 0 : rk_iommu_get(s, offset);
    }
    trace_rk_iommu_read(s->bank, offset, value);
    return value;
}

static void rk_iommu_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    RkIommu *s = opaque;

    if (!rk_iommu_accessible(s, offset)) {
        return;
    }
    trace_rk_iommu_write(s->bank, offset, value);
    WITH_QEMU_LOCK_GUARD(&s->lock) {
        if (!s->hung) {
            rk_iommu_set(s, offset, value);
        }
    }
    rk_iommu_update_irq(s);
}

static const MemoryRegionOps rk_iommu_ops = {
    .read = rk_iommu_read,
    .write = rk_iommu_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

/* In the last phase: the masters, which reset in the phases before, have let go by then. */
static void rk_iommu_reset_exit(Object *obj, ResetType type)
{
    rk_iommu_force_reset(RK_IOMMU(obj));
}

static void rk_iommu_init(Object *obj)
{
    RkIommu *s = RK_IOMMU(obj);

    qemu_mutex_init(&s->lock);
    qemu_cond_init(&s->unstalled);
    s->powered = true;
    memory_region_init_io(&s->iomem, obj, &rk_iommu_ops, s, TYPE_RK_IOMMU, RK_IOMMU_BANK_SIZE);
    sysbus_init_mmio(SYS_BUS_DEVICE(obj), &s->iomem);
    sysbus_init_irq(SYS_BUS_DEVICE(obj), &s->irq);
}

static void rk_iommu_finalize(Object *obj)
{
    RkIommu *s = RK_IOMMU(obj);

    rk_iommu_zap_all(s);
    qemu_cond_destroy(&s->unstalled);
    qemu_mutex_destroy(&s->lock);
}

static void rk_iommu_realize(DeviceState *dev, Error **errp)
{
    RkIommu *s = RK_IOMMU(dev);

    if (!s->memory || !s->bank) {
        error_setg(errp, "rk-iommu needs the link \"memory\", the region it translates into, and "
                   "\"bank\", its name in messages");
        return;
    }
    address_space_init(&s->as, s->memory, "rk-iommu");
    s->irq_bh = qemu_bh_new(rk_iommu_irq_bh, s);
}

static void rk_iommu_unrealize(DeviceState *dev)
{
    RkIommu *s = RK_IOMMU(dev);

    g_clear_pointer(&s->irq_bh, qemu_bh_delete);
    address_space_destroy(&s->as);
}

static int rk_iommu_post_load(void *opaque, int version_id)
{
    RkIommu *s = opaque;

    WITH_QEMU_LOCK_GUARD(&s->lock) {
        s->dte_addr &= RK_MMU_DTE_ADDR_MASK;
        s->status &= RK_MMU_STATUS_PAGING_ENABLED | RK_MMU_STATUS_PAGE_FAULT_ACTIVE |
                     RK_MMU_STATUS_STALL_ACTIVE | RK_MMU_STATUS_PAGE_FAULT_IS_WRITE;
        s->int_rawstat &= RK_MMU_IRQ_MASK;
        s->int_mask &= RK_MMU_IRQ_MASK;
        rk_iommu_zap_all(s);
    }
    return 0;
}

static const VMStateDescription vmstate_rk_iommu = {
    .name = TYPE_RK_IOMMU,
    .version_id = 1,
    .minimum_version_id = 1,
    .priority = MIG_PRI_IOMMU,
    .post_load = rk_iommu_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(dte_addr, RkIommu),
        VMSTATE_UINT32(status, RkIommu),
        VMSTATE_UINT32(fault_addr, RkIommu),
        VMSTATE_UINT32(int_rawstat, RkIommu),
        VMSTATE_UINT32(int_mask, RkIommu),
        VMSTATE_UINT32(auto_gating, RkIommu),
        VMSTATE_BOOL(hung, RkIommu),
        VMSTATE_BOOL(powered, RkIommu),
        VMSTATE_UINT64(unpowered_accesses, RkIommu),
        VMSTATE_END_OF_LIST()
    },
};

static const Property rk_iommu_properties[] = {
    DEFINE_PROP_LINK("memory", RkIommu, memory, TYPE_MEMORY_REGION, MemoryRegion *),
    DEFINE_PROP_STRING("bank", RkIommu, bank),
};

static void rk_iommu_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    dc->desc = "Rockchip IOMMU v2 register bank";
    dc->realize = rk_iommu_realize;
    dc->unrealize = rk_iommu_unrealize;
    dc->vmsd = &vmstate_rk_iommu;
    device_class_set_props(dc, rk_iommu_properties);
    rc->phases.exit = rk_iommu_reset_exit;
}

static const TypeInfo rk_iommu_types[] = {
    {
        .name = TYPE_RK_IOMMU,
        .parent = TYPE_SYS_BUS_DEVICE,
        .instance_size = sizeof(RkIommu),
        .instance_init = rk_iommu_init,
        .instance_finalize = rk_iommu_finalize,
        .class_init = rk_iommu_class_init,
    },
};

DEFINE_TYPES(rk_iommu_types)
