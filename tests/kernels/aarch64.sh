#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds the inner loops for AArch64 and compares NEON with portable C under
# QEMU's user mode. Exit status 77 = skipped, the reason is printed.

set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
cc=${AARCH64_CC:-aarch64-linux-gnu-gcc}

for emulator in qemu-aarch64-static qemu-aarch64 ""; do
    command -v "$emulator" >/dev/null 2>&1 && break
done
if [ "$(uname -m)" = aarch64 ]; then
    echo "skipped: the host is AArch64, the native test covers it"
    exit 77
fi
if [ -z "$emulator" ] || ! command -v "$cc" >/dev/null 2>&1; then
    echo "skipped: needs $cc (gcc-aarch64-linux-gnu) and qemu-aarch64 (qemu-user-static)"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kernels=$top/hw/npu/kernels
build() { # PROGRAM SOURCE...
    program=$1
    shift
    "$cc" -std=gnu11 -O2 -Wall -static -ffp-contract=off -I"$top/include" -I"$top/hw/npu" \
        "$top/tests/kernels/$program.c" "$kernels/isa.c" "$@" -lm -o "$work/$program"
}
build int8_compare "$kernels/int8.c" "$kernels/int8_portable.c" "$kernels/int8_neon.c"
"$emulator" "$work/int8_compare" 150
build float_compare "$top/hw/npu/types.c" "$kernels/float_portable.c" "$kernels/float_neon.c"
"$emulator" "$work/float_compare" 200
