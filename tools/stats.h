/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the NPU did during a run.
 */
#ifndef TOOLS_STATS_H
#define TOOLS_STATS_H

#include "qmp.h"

G_BEGIN_DECLS

/*
 * A few lines for people about the NPU's counters.  json: a list of cores as the NPU's property
 * "stats" has it: jobs, tasks, macs, busy_ns, faults, guest_errors, unimplemented, and traffic in
 * bytes by memory and stream.  Freed by the caller; NULL when the text is no such list.
 */
char *emu_stats_format(const char *json);

/* Asks the machine, NULL when it did not answer, and prints the lines on the standard error. */
void emu_stats_print(EmuQmp *qmp);

G_END_DECLS

#endif
