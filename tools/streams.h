/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The standard streams a program is started with.
 */
#ifndef TOOLS_STREAMS_H
#define TOOLS_STREAMS_H

/*
 * Opens /dev/null for each of the descriptors 0 to 2 that the caller closed. Without it the next
 * file that is opened gets that number and is taken for the stream. Called before any other open.
 */
void emu_hold_streams(void);

#endif
