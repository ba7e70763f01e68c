#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds what shows the NPU's memory in a guest:
#
#   BUILD/guest/lab/NAME/rknpu_lab.ko   the teaching driver for kernel NAME
#   BUILD/guest/lab/rknpu-lab           the program that goes with it
#   BUILD/guest/lab/rknpu-ioctl-test    tests of the vendor driver's ioctls
#
# NAME is a kernel of guest-kernel.sh; the driver needs 6.12 or newer.

set -eu
. "$(dirname "$0")/guest-lib.sh"

name=${1:?usage: guest-lab.sh 7|6.12}
sources=$top/guest-tests/linux
part=$guest/lab/$name
"$top/scripts/guest-kernel.sh" "$name"
cc=${cross}gcc
need "$cc" gcc-aarch64-linux-gnu
made_by=$(recipe "$0" "$top/scripts/guest-module.sh" "$guest/kernel/$name/version" \
                 "$sources"/driver/* "$("$cc" --version | head -n 1)")

# program NAME SOURCE...: a static program, made anew when a source changed.
program() {
    out=$guest/lab/$1
    shift
    made=$(recipe "$0" "$@" "$sources"/*.h "$sources"/driver/*.h)
    is_current "$out" "$made" && return 0
    "$cc" -std=gnu11 -O2 -Wall -Wextra -Werror -static -o "$work/program" "$@"
    publish "$work/program" "$out" "$made"
}

scratch
if ! is_current "$part" "$made_by"; then
    cp -r "$sources/driver" "$work/new"
    "$top/scripts/guest-module.sh" "$name" "$work/new"
    say "rknpu_lab.ko built for $(cat "$guest/kernel/$name/version")"
    publish "$work/new" "$part" "$made_by"
fi
program rknpu-lab "$sources/rknpu-lab.c" "$sources/npu-program.c"
program rknpu-ioctl-test "$sources/rknpu-ioctl-test.c" "$sources/npu-program.c"
