/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The standard streams a program is started with.
 */
#include <fcntl.h>
#include <unistd.h>

#include "streams.h"

void emu_hold_streams(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) {
        close(fd);
    }
}
