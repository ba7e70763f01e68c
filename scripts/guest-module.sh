#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds an external kernel module for a guest kernel:
#
#   guest-module.sh NAME DIR [MAKE-ARGUMENT...]
#
# NAME is a kernel of guest-kernel.sh, DIR holds the module's sources with
# their Kbuild file or Makefile and receives the .ko. CROSS_COMPILE chooses
# the compiler (default aarch64-linux-gnu-).

set -eu
. "$(dirname "$0")/guest-lib.sh"

[ $# -ge 2 ] || die "usage: guest-module.sh NAME DIR [MAKE-ARGUMENT...]"
name=$1
dir=$(cd "$2" && pwd)
shift 2
"$top/scripts/guest-kbuild.sh" "$name"
kbuild=$guest/kbuild/$name
release=$(cat "$guest/kernel/$name/version")
cc=${cross}gcc
need "$cc" gcc-aarch64-linux-gnu
need make make

# The configuration speaks of the compiler that built the kernel; an older
# one does not know this option.
"$cc" -fmin-function-alignment=4 -x c -c /dev/null -o /dev/null 2>/dev/null ||
    set -- "$@" CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=
# Type information for BPF would need pahole and says nothing to a guest.
set -- "$@" CONFIG_DEBUG_INFO_BTF_MODULES=

log=$dir/build.log
make -s -C "$(echo "$kbuild"/usr/src/linux-headers-*-common)" \
     O="$kbuild/usr/src/linux-headers-$release" M="$dir" \
     ARCH=arm64 CROSS_COMPILE="$cross" CC="$cc" \
     "$@" modules >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "the module in $dir does not build for $release (see $log)"
}
