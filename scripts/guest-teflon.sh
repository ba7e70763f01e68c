#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes BUILD/guest/teflon, a root tree with Mesa's Teflon delegate, TensorFlow
# Lite and the libraries these two need, and BUILD/guest/sysroot, the headers
# and the library to build programs for it. Both delegate and library come
# from sid: a closed set built against one another.

set -eu
. "$(dirname "$0")/guest-lib.sh"

suites="sid trixie-backports"
triplet=aarch64-linux-gnu
teflon=usr/lib/teflon/libteflon.so
part=$guest/teflon
sysroot=$guest/sysroot
made_by=$(recipe "$0" "$top/scripts/guest-lib.sh")

# Unpacks $1 and everything it depends on, all of one suite.
fetch_set() {
    names=$(apt_private closure "$1" arm64 $suites) || return 1
    for package in $names; do
        unpack "$work/root" "$package" arm64 $suites || return 1
    done
}

# The package's name carries the library's version, which moves on.
tensorflow_package() {
    apt_private show libtensorflow-lite-dev arm64 $suites |
        depends_on 'libtensorflow-lite[0-9].*' | head -n 1
}

needed_by() {
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# Copies library $1 and, in turn, the libraries it needs.
keep() {
    if [ -e "$libs/$1" ]; then return 0; fi
    from=$(find "$work/root" -path "*/$triplet/$1" | head -n 1)
    [ -n "$from" ] || die "no package of the Teflon set holds $1"
    cp -L "$from" "$libs/$1"
    for other in $(needed_by "$libs/$1"); do
        keep "$other"
    done
}

# The loader is named in every program as /lib/ld-linux-aarch64.so.1.
build_tree() {
    libs=$work/new/lib/$triplet
    loader=ld-linux-aarch64.so.1
    mkdir -p "$libs" "$work/new/$(dirname $teflon)"
    cp -L "$(find "$work/root" -path "*/$triplet/$loader" | head -n 1)" \
       "$work/new/lib/$loader"
    cp -L "$work/new/lib/$loader" "$libs/$loader"
    cp "$work/root/$teflon" "$work/new/$teflon"
    for library in $(needed_by "$work/new/$teflon") "$soname" libgcc_s.so.1; do
        keep "$library"
    done
    rm "$libs/$loader"
}

build_sysroot() {
    unpack "$work/sys" libtensorflow-lite-dev arm64 $suites ||
        die "no headers of TensorFlow Lite"
    mkdir -p "$work/newsys/lib"
    cp -r "$work/sys/usr/include" "$work/newsys/"
    cp -L "$libs/$soname" "$work/newsys/lib/libtensorflow-lite.so"
}

is_current "$part" "$made_by" && is_current "$sysroot" "$made_by" && exit 0
need readelf binutils
scratch
package=$(tensorflow_package) || die "no libtensorflow-lite-dev in: $suites"
for name in mesa-teflon-delegate "$package"; do
    fetch_set "$name" || die "the packages of $name are not complete"
done
library=$(find "$work/root" -name 'libtensorflow-lite.so.*' -type f)
soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
build_tree
build_sysroot
say "Teflon of mesa-teflon-delegate with $package"
publish "$work/newsys" "$sysroot" "$made_by"
publish "$work/new" "$part" "$made_by"
