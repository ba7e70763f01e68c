/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The System Control and Management Interface (SCMI) of Rockchip's boot firmware: clock,
 * power and reset protocol over a shared-memory channel that is rung by an SMC.
 *
 * QOM interface
 *   property "memory"  link to the MemoryRegion that the channel and the chip's registers lie in
 *   property "shmem"   physical address of the channel, RK_SCMI_SHMEM_SIZE bytes
 */
#ifndef RK_SCMI_H
#define RK_SCMI_H

#include "qom/object.h"

#define TYPE_RK_SCMI "rk-scmi" /* abstract */
#define TYPE_RK3588_SCMI "rk3588-scmi"
#define TYPE_RK3576_SCMI "rk3576-scmi"

/* "arm,smc-id" of the device trees of both chips. */
#define RK_SCMI_SMC_ID 0x82000010
#define RK_SCMI_SHMEM_SIZE 0x100

OBJECT_DECLARE_TYPE(RkScmi, RkScmiClass, RK_SCMI)

/*
 * Serves the message in the channel; needs the big lock. Errors go into the message's status word.
 */
void rk_scmi_ring(RkScmi *s);

#endif
