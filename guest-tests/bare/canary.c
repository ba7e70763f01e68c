/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first program to run: if this fails the set-up is broken and nothing else is worth running.
 */
#include "lib.h"

int main(void)
{
    for (unsigned core = 0; core < BOARD_CORES; core++) {
        report_equal(npu_read(core, PC_VERSION), BOARD_VERSION, "VERSION");
    }
    return 0;
}
