/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Errors of rknpu-emu.  The code of an error is the exit status that it leads to.
 */
#ifndef TOOLS_ERROR_H
#define TOOLS_ERROR_H

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
    EMU_STATUS_USAGE   = 2,     /* the command line cannot be carried out as it stands */
    EMU_STATUS_KERNEL  = 123,   /* panic, oops, WARN, KASAN or lockdep report of the guest kernel */
    EMU_STATUS_TIMEOUT = 124,   /* as timeout(1) */
    EMU_STATUS_SETUP   = 125,   /* the emulator could not do its part; git bisect skips on it */
} EmuStatus;

#define EMU_ERROR (emu_error_quark())
GQuark emu_error_quark(void);

G_END_DECLS

#endif
