/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a machine that does not go on is waiting for.
 */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include "qmp.h"

G_BEGIN_DECLS

/*
 * Asks the machine for the state of its NPU, IOMMU and interrupt lines and prints it, indented, on
 * the standard error. NULL: a machine that did not answer; said too.
 */
void emu_report_waiting(EmuQmp *qmp);

G_END_DECLS

#endif
