#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds the int8 inner loops for AArch64 and compares NEON with portable C
# under QEMU's user mode. Exit status 77 = skipped, the reason is printed.

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
"$cc" -std=gnu11 -O2 -Wall -static -ffp-contract=off -I"$top/include" -I"$top/hw/npu" \
    "$top/tests/kernels/int8_compare.c" "$kernels/int8.c" "$kernels/isa.c" \
    "$kernels/int8_portable.c" "$kernels/int8_neon.c" -o "$work/compare"
"$emulator" "$work/compare" 150
