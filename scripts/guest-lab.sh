#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds what drives the NPU in a guest without a network:
#
#   BUILD/guest/lab             root tree with rknpu-lab, which goes with the
#                               teaching driver, rknpu-ioctl-test, which
#                               tests Rockchip's own, and rocket-test
#   BUILD/guest/module/NAME/rknpu_lab.ko  the teaching driver for kernel NAME
#
# NAME is a kernel of guest-kernel.sh; the driver needs 6.12 or newer.

set -eu
. "$(dirname "$0")/guest-lib.sh"

name=${1:?usage: guest-lab.sh 7|6.12}
sources=$top/guest-tests/linux
"$top/scripts/guest-kernel.sh" "$name"
cc=${cross}gcc
need "$cc" gcc-aarch64-linux-gnu
compiler=$("$cc" --version | head -n 1)

# program NAME SOURCE...: a static program in the new root tree, with what the
# programs share.
program() {
    into=$1
    shift
    "$cc" -std=gnu11 -O2 -Wall -Wextra -Werror -static \
        -o "$work/root/usr/bin/$into" "$@" "$sources/npu-program.c" \
        "$sources/npu-test.c" "$sources/npu-mm.c"
}

scratch
part=$guest/module/$name
made_by=$(recipe "$0" "$top/scripts/guest-module.sh" "$sources"/driver/* \
                 "$guest/kernel/$name/version" "$compiler")
if ! is_current "$part" "$made_by"; then
    cp -r "$sources/driver" "$work/new"
    "$top/scripts/guest-module.sh" "$name" "$work/new"
    say "rknpu_lab.ko built for $(cat "$guest/kernel/$name/version")"
    publish "$work/new" "$part" "$made_by"
fi

part=$guest/lab
made_by=$(recipe "$0" "$sources"/rknpu-* "$sources"/npu-*.[ch] \
                 "$sources/rocket-test.c" \
                 "$sources"/driver/rknpu_lab.h "$compiler")
if ! is_current "$part" "$made_by"; then
    mkdir -p "$work/root/usr/bin"
    program rknpu-lab "$sources/rknpu-lab.c"
    program rknpu-ioctl-test "$sources/rknpu-ioctl-test.c" \
            "$sources/rknpu-client.c"
    program rocket-test "$sources/rocket-test.c"
    publish "$work/root" "$part" "$made_by"
fi
