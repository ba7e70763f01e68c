#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Adds rocket.ko, the mainline NPU driver, to BUILD/guest/kernel/NAME.
#
# Debian's kernels carry the driver's source but do not build it, so it is
# compiled, unmodified, from the linux-source package of the same version
# against the headers of the same kernel. A kernel that ships it needs nothing.

set -eu
. "$(dirname "$0")/guest-lib.sh"

name=${1:?usage: guest-rocket.sh 7}
"$top/scripts/guest-kernel.sh" "$name"
kernel=$guest/kernel/$name
release=$(cat "$kernel/version")
suite=$(cat "$kernel/suite")
modules=$kernel/modules/lib/modules/$release
series=$(echo "$release" | sed -E 's/^([0-9]+\.[0-9]+).*/\1/')
driver=drivers/accel/rocket
part=$guest/rocket/$name
made_by=$(recipe "$0" "$top/scripts/guest-module.sh" "$release" \
                 "$(${cross}gcc --version 2>/dev/null | head -n 1)")

# Unpacks the driver alone out of the kernel source.
fetch_source() {
    unpack "$work" "linux-source-$series" arm64 "$suite" || return 1
    tar -xJf "$work/usr/src/linux-source-$series.tar.xz" -C "$work" \
        --strip-components=3 --one-top-level=new \
        "linux-source-$series/$driver"
}

install_module() {
    mkdir -p "$modules/extra"
    cp "$part/rocket.ko" "$modules/extra/"
    index_modules "$kernel/modules" "$release"
}

[ -z "$(find "$modules/kernel" -name 'rocket.ko')" ] || exit 0
grep -qx 'CONFIG_DRM_ACCEL=y' "$kernel/config" ||
    die "kernel $release of $suite has no DRM_ACCEL, so rocket cannot load"
if ! is_current "$part" "$made_by"; then
    scratch
    fetch_source || die "no $driver in linux-source-$series of $suite"
    "$top/scripts/guest-module.sh" "$name" "$work/new/rocket" \
        CONFIG_DRM_ACCEL_ROCKET=m
    say "rocket.ko built for $release"
    publish "$work/new/rocket" "$part" "$made_by"
fi
cmp -s "$part/rocket.ko" "$modules/extra/rocket.ko" || install_module
