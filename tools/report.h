/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a machine that does not go on is waiting for.
 */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include <glib.h>

G_BEGIN_DECLS

/*
 * Asks the machine behind a QMP connection for the state of its NPU, IOMMU and interrupt lines
 * and prints it, indented, on the standard error.
 */
void emu_report_waiting(int qmp_fd);

G_END_DECLS

#endif
