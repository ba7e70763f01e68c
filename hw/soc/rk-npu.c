// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The NPU as a QEMU device.
 *
 * The model library (hw/npu, include/rknpu) holds registers, command streams and arithmetic; this
 * file gives it guest memory through the IOMMU banks, an interrupt, a clock and a place for events,
 * and tells it about power, clocks, resets, VM stop and snapshots.
 *
 * Banks: a core's first bank translates its reads and its last one its writes; drivers program both
 * alike (Linux drivers/iommu/rockchip-iommu.c writes every bank of a node).
 *
 * Threads: the model computes on worker threads without the big lock. Its callbacks here (map,
 * unmap, irq, event) never take that lock; the interrupt line is moved by work of a CPU's thread.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/lockable.h"
#include "qemu/log.h"
#include "qemu/rcu.h"
#include "qemu/timer.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "exec/memory.h"
#include "hw/boards.h"
#include "hw/core/cpu.h"
#include "hw/irq.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "migration/vmstate.h"
#include "system/runstate.h"
#include "trace.h"
#include "rk-iommu.h"
#include "rk-npu.h"
#include "rk-sram.h"
#include "rknpu/npu.h"

#define RK_NPU_LINES 2 /* clock and reset lines of one core: A and H */
#define RK_NPU_MMU_IRQ "mmu-irq"
#define RK_NPU_THREADS_MAX 8 /* that compute one task */
#define RK_NPU_TOLD_MAX    64

OBJECT_DECLARE_SIMPLE_TYPE(RkNpu, RK_NPU)

enum { ROUND_TRUNCATE, ROUND_MUL, ROUND_EW, ROUND_OUT, RK_NPU_ROUNDINGS };

typedef struct RkNpuCore {
    RkNpu *npu;
    unsigned index;
    MemoryRegion window;
    RkIommu *mmu[RKNPU_MAX_MMU_BANKS];
    qemu_irq irq;
    uint32_t mmu_irq;   /* bit n: bank n asks */
    bool unpowered;     /* the domain is off */
    uint32_t unclocked; /* bit n: clock line n is gated */
    uint32_t in_reset;  /* bit n: reset line n is asserted */
    RknpuCoreState state; /* the model's, when a snapshot or a reset needs to see it */
} RkNpuCore;

struct RkNpu {
    SysBusDevice parent_obj;

    char *chip_name;
    MemoryRegion *memory;
    RknpuConfig config;
    char *rounding[RK_NPU_ROUNDINGS]; /* names as typed */
    char *isa;
    bool reset_hangs_mmu;
    char *event_log;

    const RknpuChip *chip;
    RknpuNpu *model;
    AddressSpace as;
    bool irq_queued; /* atomic: a CPU is to look at the lines */
    VMChangeStateEntry *vm_change;
    bool paused;
    RkNpuCore core[RKNPU_MAX_CORES];
    uint64_t unpowered_accesses;

    QemuMutex log_lock; /* of both below: workers of all cores use them */
    FILE *log;
    GHashTable *told; /* warnings */
};

/* Interrupt */

static void rk_npu_update_irq(RkNpuCore *core)
{
    qemu_set_irq(core->irq, core->mmu_irq || rknpu_irq_level(core->npu->model, core->index));
}

static void rk_npu_update_irqs(RkNpu *s)
{
    for (unsigned i = 0; i < s->chip->cores; i++) {
        rk_npu_update_irq(&s->core[i]);
    }
}

static void rk_npu_irq_work(CPUState *cpu, run_on_cpu_data data)
{
    RkNpu *s = data.host_ptr;

    qatomic_xchg(&s->irq_queued, false); /* and not after the look at the lines */
    rk_npu_update_irqs(s);
}

static void rk_npu_set_mmu_irq(void *opaque, int n, int level)
{
    RkNpu *s = opaque;
    RkNpuCore *core = &s->core[n / RKNPU_MAX_MMU_BANKS];

    core->mmu_irq = deposit32(core->mmu_irq, n % RKNPU_MAX_MMU_BANKS, 1, level);
    rk_npu_update_irq(core);
}

/* What the model asks for */

static RknpuMemKind rk_npu_mem_kind(const RknpuChip *chip, hwaddr pa)
{
    if (pa >= chip->sram_base && pa - chip->sram_base < chip->sram_size) {
        return RKNPU_MEM_SRAM;
    }
    if (pa >= chip->nbuf_base && pa - chip->nbuf_base < chip->nbuf_size) {
        return RKNPU_MEM_NBUF;
    }
    return RKNPU_MEM_DRAM;
}

static bool rk_npu_map(void *opaque, unsigned index, uint32_t iova, uint64_t len, bool write,
                       RknpuSpan *span)
{
    RkNpu *s = opaque;
    unsigned banks = s->chip->mmu_banks[index];
    hwaddr pa, xlat, run = rk_iommu_translate(s->core[index].mmu[write ? banks - 1 : 0], iova, len,
                                              write, &pa);
    MemoryRegion *mr;

    if (!run) {
        return false;
    }
    RCU_READ_LOCK_GUARD();
    mr = address_space_translate(&s->as, pa, &xlat, &run, write, MEMTXATTRS_UNSPECIFIED);
    if (!memory_region_is_ram(mr) || memory_region_is_ram_device(mr) ||
        (write && (mr->readonly || mr->rom_device))) {
        trace_rk_npu_no_memory(index, iova, pa);
        return false;
    }
    *span = (RknpuSpan) {
        .iova = iova,
        .phys = pa,
        .len = run,
        .kind = rk_npu_mem_kind(s->chip, pa),
    };
    span->host = address_space_map(&s->as, pa, &span->len, write, MEMTXATTRS_UNSPECIFIED);
    trace_rk_npu_map(index, iova, pa, span->len, write);
    return span->host != NULL;
}

/* On-chip memory keeps books of who wrote it. */
static void rk_npu_note_onchip_write(RkNpu *s, const RknpuSpan *span)
{
    hwaddr xlat, len = span->len;
    MemoryRegion *mr;
    RkSram *sram;

    RCU_READ_LOCK_GUARD();
    mr = address_space_translate(&s->as, span->phys, &xlat, &len, true, MEMTXATTRS_UNSPECIFIED);
    sram = rk_sram_of(mr);
    if (sram) {
        rk_sram_note_write(sram, xlat, len, RK_SRAM_NPU);
    }
}

static void rk_npu_unmap(void *opaque, unsigned index, const RknpuSpan *span, bool written)
{
    RkNpu *s = opaque;

    if (written && span->kind != RKNPU_MEM_DRAM) {
        rk_npu_note_onchip_write(s, span);
    }
    address_space_unmap(&s->as, span->host, span->len, written, span->len);
}

static void rk_npu_irq(void *opaque, unsigned index)
{
    RkNpu *s = opaque;

    /* A CPU has to wake anyway; QEMU's main loop would be one more thread on the way. */
    if (!qatomic_xchg(&s->irq_queued, true)) {
        async_run_on_cpu(first_cpu, rk_npu_irq_work, RUN_ON_CPU_HOST_PTR(s));
    }
}

static int64_t rk_npu_now(void *opaque)
{
    return qemu_clock_get_ns(QEMU_CLOCK_REALTIME);
}

static void rk_npu_log_event(RkNpu *s, const RknpuEvent *ev)
{
    g_autofree char *line = rknpu_event_to_json(ev);

    QEMU_LOCK_GUARD(&s->log_lock);
    fprintf(s->log, "%s\n", line);
}

/* A driver only sees a job time out: what the machine knows of it is told, each text once. */
static void rk_npu_warn(RkNpu *s, const RknpuEvent *ev, const char *what)
{
    g_autofree char *text = g_strdup_printf("%s%s", ev->text, what);
    bool first = false;

    WITH_QEMU_LOCK_GUARD(&s->log_lock) {
        if (g_hash_table_size(s->told) < RK_NPU_TOLD_MAX) {
            first = g_hash_table_add(s->told, g_strdup(text));
        }
    }
    if (first) {
        warn_report("rk-npu: core %u: %s", ev->core, text);
    }
}

static void rk_npu_stop_machine(const RknpuEvent *ev)
{
    error_report("rk-npu: core %u: %s is not modelled; the machine stops because strict is on",
                 ev->core, ev->text);
    qemu_system_vmstop_request_prepare();
    qemu_system_vmstop_request(RUN_STATE_INTERNAL_ERROR);
}

static void rk_npu_event(void *opaque, const RknpuEvent *ev)
{
    RkNpu *s = opaque;

    if (s->log) {
        rk_npu_log_event(s, ev);
    }
    if (trace_event_get_state_backends(TRACE_RK_NPU_EVENT)) {
        g_autofree char *text = rknpu_event_to_text(ev);

        trace_rk_npu_event(text);
    }
    if (ev->type == RKNPU_EVENT_GUEST_ERROR) {
        qemu_log_mask(LOG_GUEST_ERROR, "rk-npu: core %u: %s\n", ev->core, ev->text);
    } else if (ev->type == RKNPU_EVENT_UNIMP) {
        qemu_log_mask(LOG_UNIMP, "rk-npu: core %u: %s\n", ev->core, ev->text);
        if (s->config.strict) {
            rk_npu_stop_machine(ev);
        } else {
            rk_npu_warn(s, ev, " is not modelled");
        }
    } else if (ev->type == RKNPU_EVENT_JOB_STALL) {
        rk_npu_warn(s, ev, "; the job will not end");
    }
}

/* A worker that waits for a stalled bank gives up while `on`. */
static void rk_npu_interrupt(void *opaque, unsigned index, bool on)
{
    RkNpu *s = opaque;

    for (unsigned b = 0; b < s->chip->mmu_banks[index]; b++) {
        rk_iommu_set_draining(s->core[index].mmu[b], on);
    }
}

/* Those that read guest memory under RCU have to be known to it. */
static void rk_npu_thread(void *opaque, bool on)
{
    if (on) {
        rcu_register_thread();
    } else {
        rcu_unregister_thread();
    }
}

static const RknpuHost rk_npu_host = {
    .map = rk_npu_map,
    .unmap = rk_npu_unmap,
    .irq = rk_npu_irq,
    .now = rk_npu_now,
    .event = rk_npu_event,
    .interrupt = rk_npu_interrupt,
    .thread = rk_npu_thread,
};

/* Registers */

static bool rk_npu_accessible(const RkNpuCore *core)
{
    return !core->unpowered && !core->unclocked && !core->in_reset;
}

/* Counts and reports an access that a board does not survive. */
static bool rk_npu_check_access(RkNpuCore *core, hwaddr offset)
{
    if (rk_npu_accessible(core)) {
        return true;
    }
    core->npu->unpowered_accesses++;
    qemu_log_mask(LOG_GUEST_ERROR, "rk-npu: core %u: access to register 0x%" HWADDR_PRIx
                  " while the core is %s\n", core->index, offset,
                  core->unpowered ? "off" : core->unclocked ? "without clock" : "in reset");
    return false;
}

static uint64_t rk_npu_read(void *opaque, hwaddr offset, unsigned size)
{
    RkNpuCore *core = opaque;
    uint32_t value;

    if (!rk_npu_check_access(core, offset)) {
        return 0;
    }
    value = rknpu_read(core->npu->model, core->index, offset);
    trace_rk_npu_read(core->index, offset, value);
    return value;
}

static void rk_npu_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    RkNpuCore *core = opaque;

    if (!rk_npu_check_access(core, offset)) {
        return;
    }
    trace_rk_npu_write(core->index, offset, value);
    rknpu_write(core->npu->model, core->index, offset, value);
    rk_npu_update_irq(core);
}

static const MemoryRegionOps rk_npu_ops = {
    .read = rk_npu_read,
    .write = rk_npu_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

/* Reset, power, stop */

static void rk_npu_core_reset(RkNpuCore *core, const char *why)
{
    trace_rk_npu_core_reset(core->index, why);
    rknpu_reset(core->npu->model, core->index);
    rk_npu_update_irq(core);
}

static bool rk_npu_job_active(RkNpuCore *core)
{
    rknpu_get_state(core->npu->model, core->index, &core->state);
    return core->state.job_active;
}

static void rk_npu_update_access(RkNpuCore *core)
{
    for (unsigned b = 0; b < core->npu->chip->mmu_banks[core->index]; b++) {
        rk_iommu_set_powered(core->mmu[b], rk_npu_accessible(core));
    }
}

static void rk_npu_set_power(void *opaque, int n, int level)
{
    RkNpuCore *core = &RK_NPU(opaque)->core[n];

    if (core->unpowered == !level) {
        return;
    }
    core->unpowered = !level;
    trace_rk_npu_power(n, level);
    if (core->unpowered) {
        rk_npu_core_reset(core, "power off");
        for (unsigned b = 0; b < core->npu->chip->mmu_banks[core->index]; b++) {
            rk_iommu_force_reset(core->mmu[b]);
        }
    }
    rk_npu_update_access(core);
}

static void rk_npu_set_clock(void *opaque, int n, int level)
{
    RkNpuCore *core = &RK_NPU(opaque)->core[n / RK_NPU_LINES];

    core->unclocked = deposit32(core->unclocked, n % RK_NPU_LINES, 1, !level);
    rk_npu_update_access(core);
}

/*
 * The banks keep their registers. Rockchip's driver resets all cores after a timeout and does not
 * program the IOMMU again: its detach and attach are of the domain that is attached already, which
 * the kernel skips; on boards jobs run all the same (docs/hardware-notes.md).
 */
static void rk_npu_set_reset(void *opaque, int n, int level)
{
    RkNpuCore *core = &RK_NPU(opaque)->core[n / RK_NPU_LINES];
    bool was_asserted = extract32(core->in_reset, n % RK_NPU_LINES, 1);

    core->in_reset = deposit32(core->in_reset, n % RK_NPU_LINES, 1, !!level);
    if (level && !was_asserted) {
        bool hang = core->npu->reset_hangs_mmu && rk_npu_job_active(core);

        rk_npu_core_reset(core, "reset line");
        for (unsigned b = 0; hang && b < core->npu->chip->mmu_banks[core->index]; b++) {
            rk_iommu_hang(core->mmu[b]);
        }
    }
    rk_npu_update_access(core);
}

static void rk_npu_reset_enter(Object *obj, ResetType type)
{
    RkNpu *s = RK_NPU(obj);

    for (unsigned i = 0; i < s->chip->cores; i++) {
        rknpu_reset(s->model, i);
    }
    s->unpowered_accesses = 0;
}

static void rk_npu_reset_hold(Object *obj, ResetType type)
{
    rk_npu_update_irqs(RK_NPU(obj));
}

static void rk_npu_pause(RkNpu *s)
{
    rknpu_pause(s->model);
    s->paused = true;
}

static void rk_npu_vm_change(void *opaque, bool running, RunState state)
{
    RkNpu *s = opaque;

    if (running && s->paused) {
        s->paused = false;
        rk_npu_update_irqs(s); /* a snapshot may have come between a job's end and its line */
        rknpu_resume(s->model);
    } else if (!running && !s->paused) {
        rk_npu_pause(s);
    }
}

/* Properties that a person or a program reads */

static char *rk_npu_get_waiting(Object *obj, Error **errp)
{
    RkNpu *s = RK_NPU(obj);
    GString *text = g_string_new(NULL);

    for (unsigned i = 0; s->model && i < s->chip->cores; i++) {
        RkNpuCore *core = &s->core[i];
        g_autofree char *state = rknpu_describe(s->model, i);

        g_string_append_printf(text, "core %u: %s%s%s%s\n", i, state,
                               core->unpowered ? " [off]" : "",
                               core->unclocked ? " [no clock]" : "",
                               core->in_reset ? " [in reset]" : "");
        for (unsigned b = 0; b < s->chip->mmu_banks[i]; b++) {
            rk_iommu_describe(core->mmu[b], text);
        }
    }
    return g_string_free(text, false);
}

static void rk_npu_append_traffic(GString *json, const RknpuTraffic *t)
{
    g_string_append(json, "\"traffic\": {");
    for (unsigned k = 0; k < RKNPU_MEM_KINDS; k++) {
        g_string_append_printf(json, "%s\"%s\": {", k ? ", " : "", rknpu_mem_kind_name(k));
        for (unsigned n = 0; n < RKNPU_STREAMS; n++) {
            g_string_append_printf(json, "%s\"%s\": %" PRIu64, n ? ", " : "", rknpu_stream_name(n),
                                   t->bytes[k][n]);
        }
        g_string_append_c(json, '}');
    }
    g_string_append_c(json, '}');
}

static char *rk_npu_get_stats(Object *obj, Error **errp)
{
    RkNpu *s = RK_NPU(obj);
    GString *json = g_string_new("[");

    for (unsigned i = 0; s->model && i < s->chip->cores; i++) {
        RknpuStats st;

        rknpu_stats(s->model, i, &st);
        g_string_append_printf(json, "%s{\"core\": %u, \"jobs\": %" PRIu64 ", \"tasks\": %" PRIu64
                               ", \"macs\": %" PRIu64 ", \"busy_ns\": %" PRIu64
                               ", \"faults\": %" PRIu64 ", \"guest_errors\": %" PRIu64
                               ", \"unimplemented\": %" PRIu64 ", ",
                               i ? ", " : "", i, st.jobs, st.tasks, st.macs, st.busy_ns, st.faults,
                               st.guest_errors, st.unimplemented);
        rk_npu_append_traffic(json, &st.traffic);
        g_string_append_c(json, '}');
    }
    g_string_append_c(json, ']');
    return g_string_free(json, false);
}

static void rk_npu_get_unpowered(Object *obj, Visitor *v, const char *name, void *opaque,
                                 Error **errp)
{
    RkNpu *s = RK_NPU(obj);
    uint64_t value = s->unpowered_accesses;

    for (unsigned i = 0; s->model && i < s->chip->cores; i++) {
        for (unsigned b = 0; b < s->chip->mmu_banks[i]; b++) {
            value += rk_iommu_unpowered_accesses(s->core[i].mmu[b]);
        }
    }
    visit_type_uint64(v, name, &value, errp);
}

/* Construction */

static bool rk_npu_realize_bank(RkNpu *s, RkNpuCore *core, unsigned b, Error **errp)
{
    g_autofree char *name = g_strdup_printf("npu%u.mmu%u", core->index, b);
    g_autofree char *child = g_strdup_printf("core%u-mmu%u", core->index, b);
    DeviceState *mmu = qdev_new(TYPE_RK_IOMMU);
    SysBusDevice *sbd = SYS_BUS_DEVICE(mmu);

    core->mmu[b] = RK_IOMMU(mmu);
    object_property_add_child(OBJECT(s), child, OBJECT(mmu));
    qdev_prop_set_string(mmu, "bank", name);
    object_property_set_link(OBJECT(mmu), "memory", OBJECT(s->memory), &error_abort);
    if (!sysbus_realize_and_unref(sbd, errp)) {
        return false;
    }
    memory_region_add_subregion_overlap(&core->window, s->chip->mmu_offset[core->index][b],
                                        sysbus_mmio_get_region(sbd, 0), 1);
    sysbus_connect_irq(sbd, 0, qdev_get_gpio_in_named(DEVICE(s), RK_NPU_MMU_IRQ,
                                                      core->index * RKNPU_MAX_MMU_BANKS + b));
    return true;
}

static bool rk_npu_realize_core(RkNpu *s, unsigned index, Error **errp)
{
    RkNpuCore *core = &s->core[index];
    g_autofree char *name = g_strdup_printf("rk-npu%u", index);

    core->npu = s;
    core->index = index;
    memory_region_init_io(&core->window, OBJECT(s), &rk_npu_ops, core, name, s->chip->window);
    sysbus_init_mmio(SYS_BUS_DEVICE(s), &core->window);
    sysbus_init_irq(SYS_BUS_DEVICE(s), &core->irq);
    for (unsigned b = 0; b < s->chip->mmu_banks[index]; b++) {
        if (!rk_npu_realize_bank(s, core, b, errp)) {
            return false;
        }
    }
    return true;
}

/* The names of the properties "round-..." into the model's configuration. */
static bool rk_npu_take_roundings(RkNpu *s, Error **errp)
{
    static const char *const names[] = {
        [RKNPU_ROUND_HALF_EVEN] = "half-even", [RKNPU_ROUND_HALF_AWAY] = "half-away",
        [RKNPU_ROUND_HALF_UP] = "half-up", [RKNPU_ROUND_TRUNCATE] = "truncate",
    };
    RknpuRound *const to[RK_NPU_ROUNDINGS] = {
        [ROUND_TRUNCATE] = &s->config.round_truncate, [ROUND_MUL] = &s->config.round_mul,
        [ROUND_EW] = &s->config.round_ew, [ROUND_OUT] = &s->config.round_out,
    };

    for (unsigned i = 0; i < RK_NPU_ROUNDINGS; i++) {
        unsigned n = 0;

        while (s->rounding[i] && n < ARRAY_SIZE(names) && strcmp(s->rounding[i], names[n])) {
            n++;
        }
        if (n == ARRAY_SIZE(names)) {
            error_setg(errp, "rk-npu: no rounding \"%s\": there are half-even, half-away, half-up "
                       "and truncate", s->rounding[i]);
            return false;
        }
        *to[i] = n;
    }
    return true;
}

/*
 * Processors of the host that the guest's CPUs leave. On the others a helper would drive translated
 * code out of the caches: that costs a small job more than the helper saves.
 */
static unsigned rk_npu_spare_processors(void)
{
    unsigned host = g_get_num_processors(), guest = current_machine->smp.cpus;

    return host > guest ? MIN(host - guest, RK_NPU_THREADS_MAX) : 1;
}

static void rk_npu_realize(DeviceState *dev, Error **errp)
{
    RkNpu *s = RK_NPU(dev);

    s->chip = s->chip_name ? rknpu_chip_by_name(s->chip_name) : NULL;
    if (!s->chip || !s->memory) {
        error_setg(errp, "rk-npu needs \"chip\" (rk3588 or rk3576) and the link \"memory\"");
        return;
    }
    if (!rk_npu_take_roundings(s, errp)) {
        return;
    }
    if (s->isa && !rknpu_isa_by_name(s->isa, &s->config.force_isa)) {
        error_setg(errp, "rk-npu: this host has no kernels \"%s\": there are best, none, portable, "
                   "avx2, avx512 and neon", s->isa);
        return;
    }
    if (s->config.threads > RK_NPU_THREADS_MAX) {
        error_setg(errp, "rk-npu: \"threads\" is at most %u", RK_NPU_THREADS_MAX);
        return;
    }
    if (!s->config.threads) {
        s->config.threads = rk_npu_spare_processors();
    }
    if (s->event_log) {
        s->log = fopen(s->event_log, "w");
        if (!s->log) {
            error_setg_file_open(errp, errno, s->event_log);
            return;
        }
    }
    qdev_init_gpio_in_named(dev, rk_npu_set_power, RK_NPU_POWER, s->chip->cores);
    qdev_init_gpio_in_named(dev, rk_npu_set_clock, RK_NPU_CLOCK, s->chip->cores * RK_NPU_LINES);
    qdev_init_gpio_in_named(dev, rk_npu_set_reset, RK_NPU_RESET, s->chip->cores * RK_NPU_LINES);
    qdev_init_gpio_in_named(dev, rk_npu_set_mmu_irq, RK_NPU_MMU_IRQ,
                            s->chip->cores * RKNPU_MAX_MMU_BANKS);
    address_space_init(&s->as, s->memory, TYPE_RK_NPU);
    s->model = rknpu_new(s->chip, &rk_npu_host, s, &s->config);
    for (unsigned i = 0; i < s->chip->cores; i++) {
        if (!rk_npu_realize_core(s, i, errp)) {
            return;
        }
    }
    rk_npu_pause(s); /* until the machine runs */
    s->vm_change = qemu_add_vm_change_state_handler(rk_npu_vm_change, s);
}

static void rk_npu_unrealize(DeviceState *dev)
{
    RkNpu *s = RK_NPU(dev);

    g_clear_pointer(&s->vm_change, qemu_del_vm_change_state_handler);
    g_clear_pointer(&s->model, rknpu_free);
    address_space_destroy(&s->as);
    g_clear_pointer(&s->log, fclose);
}

static void rk_npu_init(Object *obj)
{
    RkNpu *s = RK_NPU(obj);

    qemu_mutex_init(&s->log_lock);
    s->told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    object_property_add_str(obj, "waiting", rk_npu_get_waiting, NULL);
    object_property_add_str(obj, "stats", rk_npu_get_stats, NULL);
    object_property_add(obj, "unpowered-accesses", "uint64", rk_npu_get_unpowered, NULL, NULL,
                        NULL);
}

static void rk_npu_finalize(Object *obj)
{
    RkNpu *s = RK_NPU(obj);

    qemu_mutex_destroy(&s->log_lock);
    g_hash_table_destroy(s->told);
}

/* Snapshots */

static int rk_npu_pre_save(void *opaque)
{
    RkNpu *s = opaque;

    for (unsigned i = 0; i < s->chip->cores; i++) {
        rknpu_get_state(s->model, i, &s->core[i].state);
    }
    return 0;
}

static int rk_npu_post_load(void *opaque, int version_id)
{
    RkNpu *s = opaque;

    for (unsigned i = 0; i < s->chip->cores; i++) {
        if (!rknpu_set_state(s->model, i, &s->core[i].state)) {
            error_report("rk-npu: core %u: the snapshot holds a state that is out of range", i);
            return -EINVAL;
        }
        rk_npu_update_access(&s->core[i]);
    }
    return 0;
}

/* A member of the model's state, whatever its dimensions, as an array of its numbers. */
#define STATE_FIELD(member, type) {                                         \
        .name = #member,                                                    \
        .info = &vmstate_info_ ## type,                                     \
        .flags = VMS_ARRAY,                                                 \
        .offset = offsetof(RkNpuCore, state.member),                        \
        .size = sizeof(type ## _t),                                         \
        .num = sizeof_field(RknpuCoreState, member) / sizeof(type ## _t),   \
    }

static const VMStateDescription vmstate_rk_npu_core = {
    .name = "rk-npu-core",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(mmu_irq, RkNpuCore),
        VMSTATE_BOOL(unpowered, RkNpuCore),
        VMSTATE_UINT32(unclocked, RkNpuCore),
        VMSTATE_UINT32(in_reset, RkNpuCore),
        STATE_FIELD(pc, uint32),
        STATE_FIELD(group, uint32),
        STATE_FIELD(pointer, uint32),
        STATE_FIELD(lut, int16),
        STATE_FIELD(raw_status, uint32),
        STATE_FIELD(job_active, uint32),
        STATE_FIELD(job_stalled, uint32),
        STATE_FIELD(job_by_host, uint32),
        STATE_FIELD(job_address, uint32),
        STATE_FIELD(job_amount, uint32),
        STATE_FIELD(job_tasks_done, uint32),
        STATE_FIELD(job_tasks_total, uint32),
        STATE_FIELD(global_enable, uint32),
        STATE_FIELD(dma, uint32),
        STATE_FIELD(counter_control, uint32),
        STATE_FIELD(counter_bytes, uint64),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription vmstate_rk_npu = {
    .name = TYPE_RK_NPU,
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = rk_npu_pre_save,
    .post_load = rk_npu_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT_ARRAY(core, RkNpu, RKNPU_MAX_CORES, 1, vmstate_rk_npu_core, RkNpuCore),
        VMSTATE_UINT64(unpowered_accesses, RkNpu),
        VMSTATE_END_OF_LIST()
    },
};

static const Property rk_npu_properties[] = {
    DEFINE_PROP_STRING("chip", RkNpu, chip_name),
    DEFINE_PROP_LINK("memory", RkNpu, memory, TYPE_MEMORY_REGION, MemoryRegion *),
    DEFINE_PROP_BOOL("strict", RkNpu, config.strict, false),
    DEFINE_PROP_STRING("round-truncate", RkNpu, rounding[ROUND_TRUNCATE]),
    DEFINE_PROP_STRING("round-mul", RkNpu, rounding[ROUND_MUL]),
    DEFINE_PROP_STRING("round-ew", RkNpu, rounding[ROUND_EW]),
    DEFINE_PROP_STRING("round-out", RkNpu, rounding[ROUND_OUT]),
    DEFINE_PROP_STRING("isa", RkNpu, isa),
    DEFINE_PROP_UINT32("threads", RkNpu, config.threads, 0),
    DEFINE_PROP_BOOL("dw-tail-as-mesa-packs", RkNpu, config.dw_tail_as_mesa_packs, false),
    DEFINE_PROP_BOOL("ow-sum-without-padding", RkNpu, config.ow_sum_without_padding, false),
    DEFINE_PROP_BOOL("chain-null-completes", RkNpu, config.chain_null_completes, false),
    DEFINE_PROP_BOOL("reset-hangs-mmu", RkNpu, reset_hangs_mmu, false),
    DEFINE_PROP_STRING("event-log", RkNpu, event_log),
};

static void rk_npu_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    dc->desc = "Rockchip NPU";
    dc->realize = rk_npu_realize;
    dc->unrealize = rk_npu_unrealize;
    dc->vmsd = &vmstate_rk_npu;
    device_class_set_props(dc, rk_npu_properties);
    rc->phases.enter = rk_npu_reset_enter;
    rc->phases.hold = rk_npu_reset_hold;
}

static const TypeInfo rk_npu_types[] = {
    {
        .name = TYPE_RK_NPU,
        .parent = TYPE_SYS_BUS_DEVICE,
        .instance_size = sizeof(RkNpu),
        .instance_init = rk_npu_init,
        .instance_finalize = rk_npu_finalize,
        .class_init = rk_npu_class_init,
    },
};

DEFINE_TYPES(rk_npu_types)
