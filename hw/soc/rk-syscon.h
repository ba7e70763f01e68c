/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Register file without side effects: GRF, IOC and QoS blocks.
 *
 * Properties: "block" (name in logs), "size" (bytes, a multiple of 4, at most 64 KiB),
 * "hiword" (true: the high half of a written word is its write mask).
 */
#ifndef RK_SYSCON_H
#define RK_SYSCON_H

#define TYPE_RK_SYSCON "rk-syscon"

#endif
