#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Debian's kernels reach a program on the rk3588 machine, with few and many
# CPUs and little and much memory, and see what the machine was given; one does
# with a board's own device tree.

. "$(dirname "$0")/lib.sh"

# boots KERNEL CPUS MEMORY LEAST-MIB
boots() {
    "$emu" run --kernel "$build/guest/kernel/$1/Image" --smp "$2" \
           --memory "$3" --timeout 300 -- sh -c \
           'uname -r; nproc; free -m | awk "/Mem/ { print \$2 }"' \
           >"$out/boot" 2>"$out/log"
    status=$?
    { read -r release; read -r cpus; read -r memory; } <"$out/boot"
    [ $status = 0 ] && [ "$release" = "$(cat "$build/guest/kernel/$1/version")" ] &&
        [ "$cpus" = "$2" ] && [ "$memory" -ge "$4" ]
    good=$?
    ok $good "kernel $1 with $2 CPUs and $3"
    [ $good = 0 ] || show "$out/log"
}

# board KERNEL: a board's own tree, as the kernel's package has it, and the NPU driver on it.
board() {
    "$emu" run --kernel "$build/guest/kernel/$1/Image" \
           --dtb "$build/guest/kernel/$1/dtb/rk3588-rock-5b.dtb" \
           --overlay "$build/machines/dts/rk3588-board.dtbo" --smp 8 --timeout 300 -- sh -c \
           'i=0
            while [ $i -lt 60 ] && [ ! -e /sys/bus/platform/drivers/rocket/fdad0000.npu ]; do
                i=$((i + 1))
                sleep 1
            done
            cat /proc/device-tree/model
            ls -d /sys/bus/platform/drivers/rocket/*.npu' \
           >"$out/board" 2>"$out/log"
    status=$?
    [ $status = 0 ] && grep -q "Radxa ROCK 5B" "$out/board" &&
        [ "$(grep -c '\.npu$' "$out/board")" = 3 ]
    good=$?
    ok $good "kernel $1 with the tree of a ROCK 5B: rocket drives three cores"
    [ $good = 0 ] || show "$out/log"
}

for kernel in 6.1 6.12 7; do
    boots $kernel 1 1G 850
    boots $kernel 2 4G 3700
    boots $kernel 8 8G 7500
done
board 7
finish
