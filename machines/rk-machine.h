/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the Rockchip machines share. A machine file describes its chip with an RkLayout and creates
 * its interrupt controller; rk-machine.c builds everything else from the description.
 */
#ifndef RK_MACHINE_H
#define RK_MACHINE_H

#include "hw/boards.h"
#include "hw/arm/boot.h"
#include "hw/cpu/cluster.h"
#include "qom/object.h"

#define TYPE_RK_MACHINE MACHINE_TYPE_NAME("rk-common") /* abstract */
OBJECT_DECLARE_TYPE(RkMachineState, RkMachineClass, RK_MACHINE)

#define RK_MAX_CPUS 8
#define RK_MAX_CLUSTERS 2
#define RK_MAX_NPU_CORES 3
#define RK_TIMER_HZ 24000000 /* crystal xin24m */

/* Private peripheral interrupts of both chips, GIC binding numbers. */
#define RK_PPI_PMU       7
#define RK_PPI_MAINT     9
#define RK_PPI_TIMER_HYP 10
#define RK_PPI_TIMER_VIRT 11
#define RK_PPI_TIMER_HYPVIRT 12
#define RK_PPI_TIMER_SEC 13
#define RK_PPI_TIMER_PHYS 14

/* What stands in a part of the address map, and so who creates it. */
typedef enum RkBlockKind {
    RK_BLOCK_GIC,    /* the machine file */
    RK_BLOCK_CRU,
    RK_BLOCK_PMU,
    RK_BLOCK_GRF,    /* register file with write masks */
    RK_BLOCK_QOS,    /* register file without */
    RK_BLOCK_SRAM,
    RK_BLOCK_UART,   /* debug console, first -serial */
    RK_BLOCK_VIRTIO, /* RK_VIRTIO_SLOTS transports; not on the chip, the emulator's convenience */
    RK_BLOCK_UNIMP,  /* nobody modelled it: accesses are logged under its name */
} RkBlockKind;

typedef struct RkBlock {
    const char *name;
    RkBlockKind kind;
    hwaddr base;
    uint64_t size;
    unsigned spi; /* first SPI of the block, where it has one */
} RkBlock;

#define RK_VIRTIO_SLOTS 16
#define RK_VIRTIO_SLOT_SIZE 0x200

/* CPUs of one type; CPU i of the cluster has affinity mpidr + i * mpidr_step. */
typedef struct RkCluster {
    const char *cpu_type;
    unsigned cpus;
    uint32_t mpidr, mpidr_step;
} RkCluster;

/* Where the lines of one NPU core come from: numbers of rk-pmu.h and rk-cru.h. -1: no such line. */
typedef struct RkNpuWiring {
    int power;
    int clock[2];
    int reset[2];
} RkNpuWiring;

/* A master that shares the system SRAM: the part [offset, offset + size) is its own by default. */
typedef struct RkDecoderShare {
    hwaddr base;
    uint32_t offset, size;
} RkDecoderShare;

#define RK_MAX_DECODERS 2

typedef struct RkLayout {
    const char *chip;             /* row of the model's chip table; stem of device tree names */
    const char *compatible;       /* root node's SoC compatible, to recognise foreign trees */
    const RkBlock *blocks;
    unsigned block_count;
    const RkCluster *clusters;
    unsigned cluster_count;
    hwaddr dram_base;             /* DRAM up to dram_low_size, the rest at dram_high_base */
    uint64_t dram_low_size;
    hwaddr dram_high_base;
    uint64_t dram_max;            /* largest -m */
    uint64_t firmware_reserved;   /* first bytes of DRAM that firmware keeps from the kernel */
    const char *cru_type, *pmu_type, *scmi_type;
    hwaddr scmi_shmem;
    RkNpuWiring npu[RK_MAX_NPU_CORES];
    int nbuf_power;               /* power domain of the NBUF, where the chip has one */
    RkDecoderShare decoder[RK_MAX_DECODERS]; /* size 0: no such decoder */
} RkLayout;

struct RkMachineClass {
    MachineClass parent_class;

    const RkLayout *layout;
    /* Creates the interrupt controller, connects the CPUs to it and sets rms->gic. */
    void (*create_gic)(RkMachineState *rms);
};

struct RkMachineState {
    MachineState parent_obj;

    char *driver;    /* which of the chip's device trees */
    char *dtb_dir;   /* where they lie; NULL: beside the emulator */
    bool strict;
    char *npu_log;

    struct arm_boot_info bootinfo;
    Notifier machine_done;
    CPUClusterState cluster[RK_MAX_CLUSTERS];
    DeviceState *cpu[RK_MAX_CPUS];
    DeviceState *gic; /* GPIO input n is SPI n */
    DeviceState *cru, *pmu, *npu, *scmi;
    DeviceState *sram, *nbuf; /* that the NPU can use; nbuf: NULL where the chip has none */
    DeviceState *virtio[RK_VIRTIO_SLOTS];
    MemoryRegion dram_low, dram_high;
};

/* Block of that kind; every layout has one of each kind that is asked for. */
const RkBlock *rk_find_block(const RkLayout *layout, RkBlockKind kind);

/* Bytes of RAM at dram_base, and the rest at dram_high_base. */
uint64_t rk_dram_low_size(const RkMachineState *rms);
uint64_t rk_dram_high_size(const RkMachineState *rms);

/*
 * rk-dtb.c: chooses the device tree (-dtb wins over the property "driver") and checks it; on an
 * error prints one line and ends the program with status 1.
 */
void rk_dtb_choose(RkMachineState *rms);

/*
 * Adapts the tree in use: memory, the CPUs that -smp gave, virtio transports that carry a device,
 * seeds.
 */
void rk_dtb_fix_up(const struct arm_boot_info *info, void *fdt);

#endif
