#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes BUILD/guest/busybox: the static arm64 busybox that is the guest's
# shell, its loader of modules and all its small tools.

set -eu
. "$(dirname "$0")/guest-lib.sh"

suites="trixie sid bookworm"
part=$guest/busybox
made_by=$(recipe "$0" "$top/scripts/guest-lib.sh")

is_current "$part" "$made_by" && exit 0
scratch
unpack "$work/root" busybox-static arm64 $suites ||
    die "no static busybox for arm64"
for file in "$work/root/usr/bin/busybox" "$work/root/bin/busybox"; do
    [ ! -f "$file" ] || publish "$file" "$part" "$made_by"
done
[ -x "$part" ] || die "the package busybox-static has no busybox"
