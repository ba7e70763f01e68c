/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One run of the machine: from the started process to an exit status.
 */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include "console.h"
#include "launch.h"
#include "options.h"

G_BEGIN_DECLS

/*
 * Serves the guest until its command, QEMU, the limit or the user ends the run; stops QEMU; says
 * on the standard error what went wrong, if anything did.  tty: the command has a terminal.
 * log: NULL, or where the kernel log goes.  Returns the exit status of rknpu-emu.
 */
int emu_run(const EmuOptions *options, EmuProcess *process, bool tty, FILE *log);

G_END_DECLS

#endif
