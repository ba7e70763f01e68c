#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: guest-tests/bare/build.sh BOARD PROGRAM OUTPUT
#
# Builds PROGRAM.c for BOARD (rk3588, rk3576) as an image that QEMU's -kernel
# and U-Boot's booti start: position independent, no relocations, no library.

set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
here=$top/guest-tests/bare
board=$(echo "$1" | tr '[:lower:]' '[:upper:]')
cross=${CROSS_COMPILE:-aarch64-linux-gnu-}

"${cross}gcc" -std=c11 "-DBOARD_$board" "-I$top/include" \
    -O2 -g -Wall -Wextra -Werror \
    -ffreestanding -fno-builtin -fno-tree-loop-distribute-patterns \
    -mgeneral-regs-only -mstrict-align -fPIC -fvisibility=hidden \
    -fno-stack-protector -nostdlib -static \
    -Wl,-T,"$here/bare.lds" -Wl,--build-id=none -Wl,-z,noexecstack \
    -Wl,--no-warn-rwx-segments -o "$3.elf" \
    "$here/start.S" "$here/lib.c" "$here/copy.c" "$here/$2.c" -lgcc
"${cross}objcopy" -O binary "$3.elf" "$3"
