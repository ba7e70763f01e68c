#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes BUILD/guest/programs, a root tree with the programs and scripts of
# guest-tests/linux that run a network in the guest.

set -eu
. "$(dirname "$0")/guest-lib.sh"

"$top/scripts/guest-teflon.sh"
cc=${cross}gcc
need "$cc" gcc-aarch64-linux-gnu
sources=$top/guest-tests/linux
sysroot=$guest/sysroot
part=$guest/programs
made_by=$(recipe "$0" "$top/scripts/guest-lib.sh" "$sources"/npu-* \
                 "$sources"/tflite/*.[ch] "$sysroot/lib/libtensorflow-lite.so" \
                 "$("$cc" --version | head -n 1)")

is_current "$part" "$made_by" && exit 0
scratch
mkdir -p "$work/new/usr/bin" "$work/new/usr/share/npu-ops"
# The library wants a newer C library than this host's compiler knows; the
# guest has the one it was built for.
"$cc" -std=gnu11 -O2 -Wall -Wextra -Werror -isystem "$sysroot/include" \
    -o "$work/new/usr/bin/tflite-run" "$sources"/tflite/*.c \
    -L"$sysroot/lib" -ltensorflow-lite -Wl,--allow-shlib-undefined
install -m 755 "$sources/npu-demo" "$sources/npu-ops" "$work/new/usr/bin/"
install -m 644 "$sources/npu-ops.known" "$work/new/usr/share/npu-ops/known"
publish "$work/new" "$part" "$made_by"
