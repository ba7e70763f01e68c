/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The QEMU process.
 */
#ifndef TOOLS_LAUNCH_H
#define TOOLS_LAUNCH_H

#include <stdbool.h>
#include "options.h"

G_BEGIN_DECLS

/* Files as QEMU is to name them. */
typedef struct {
    const char *qemu;
    const char *kernel;
    const char *initrd;
    const char *tree;       /* the machine's driver= property; NULL for none */
    const char *dtb;        /* NULL: the machine's own tree */
} EmuFiles;

/* The running process and our ends of its connections. */
typedef struct {
    GPid pid;
    int console;            /* what the UART sends */
    int console_in;         /* what it receives */
    int port;               /* the virtio-serial port of the frames */
    int qmp;                /* QEMU's control protocol */
    int errors;             /* its standard error */
} EmuProcess;

/*
 * The words of the QEMU command.  attached: as a child of ours, on inherited connections;
 * otherwise as people run it, with the guest's console and QEMU's monitor on the terminal.
 * verbose: the kernel prints its whole log.
 */
char **emu_launch_argv(const EmuOptions *options, const EmuFiles *files, bool attached,
                       bool verbose);

/*
 * Starts QEMU by that command.  It gets our descriptors `keep`, whose numbers it sees as
 * EMU_LAUNCH_FIRST_KEPT and up.  QEMU ends with us, however we end.  SIGINT, SIGTERM and SIGHUP are
 * held back from here on, so that none comes between QEMU and the handlers that end it.
 */
#define EMU_LAUNCH_FIRST_KEPT 7
bool emu_launch(char **argv, const int *keep, unsigned count, EmuProcess *process,
                GError **error);

/* Blocks these signals, or lets them through. */
void emu_launch_hold_signals(bool hold);

/* Ends the process, by its own id, first asking; waits for it.  Its status as waitpid() gives. */
int emu_launch_stop(EmuProcess *process);

/* One line that a shell reads back as these words. */
char *emu_launch_quote(char **argv);

G_END_DECLS

#endif
