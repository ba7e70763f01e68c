/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A client of QEMU's control protocol (docs/interop/qmp-spec.rst) for a machine that may hang:
 * each call has a limit, and none is fatal.
 */
#ifndef TOOLS_QMP_H
#define TOOLS_QMP_H

#include <stdbool.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef struct {
    int fd;
    GByteArray *input;
} EmuQmp;

/* Takes the greeting and enters command mode on a connected socket; NULL when QEMU is silent. */
EmuQmp *emu_qmp_open(int fd);
void emu_qmp_close(EmuQmp *qmp);

/*
 * Runs one command.  arguments: a JSON object as text, or NULL.  Returns the "return" value, or
 * NULL when QEMU answers with an error or not within its limit.
 */
JsonNode *emu_qmp_run(EmuQmp *qmp, const char *command, const char *arguments);

/*
 * Name of the next event that QEMU has sent, freed by the caller; NULL when there is none yet. Does
 * not wait. Events that come during emu_qmp_run() are lost.
 */
char *emu_qmp_event(EmuQmp *qmp);

/* A property of an object as text; NULL when it has none of that name. */
char *emu_qmp_get(EmuQmp *qmp, const char *path, const char *property);

G_END_DECLS

#endif
