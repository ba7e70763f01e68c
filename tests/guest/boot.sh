#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Debian's kernels reach a program on the rk3588 machine, with few and many
# CPUs and little and much memory, and see what the machine was given.

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

for kernel in 6.1 6.12 7; do
    boots $kernel 1 1G 850
    boots $kernel 2 4G 3700
    boots $kernel 8 8G 7500
done
finish
