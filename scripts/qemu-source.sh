#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prepares BUILD/qemu-src: a QEMU 10.0 tree with this project linked in.
#
#   qemu-source.sh [DIR]    DIR: a QEMU 10.0 source tree to copy instead of
#                           the source package of Debian
#
# The only changes to QEMU are the links and the three lines in lay_in.

set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${RKNPU_BUILD:-$top/build}
src=$build/qemu-src
suites="trixie trixie-updates trixie-security"

die() {
    echo "qemu-source: $*" >&2
    exit 1
}

check_version() {
    [ -r "$1/VERSION" ] || die "$1 is not a QEMU source tree (no VERSION file)"
    version=$(cat "$1/VERSION")
    case $version in
    10.0.*) ;;
    *) die "$1 is QEMU $version: a tree of the 10.0 series is needed" ;;
    esac
    [ ! -e "$1/hw/rknpu" ] ||
        die "$1 has this project in it already (hw/rknpu): give a tree as QEMU ships it"
}

unpack() {
    rm -rf "$src.part"
    if [ -n "${1:-}" ]; then
        check_version "$1"
        mkdir -p "$src.part"
        cp -a "$1/." "$src.part"
    else
        dsc=$("$top/scripts/apt-private.sh" source qemu $suites)
        echo "qemu-source: unpacking $(basename "$dsc")" >&2
        dpkg-source --no-check --no-copy -x "$dsc" "$src.part" >"$build/unpack.log" 2>&1 ||
            die "cannot unpack $dsc (see $build/unpack.log)"
        check_version "$src.part"
    fi
}

# Adds line $2 to file $1 of the tree, after the line that matches $3.
add_line() {
    grep -q "$3" "$src.part/$1" || die "$1 of QEMU has no line like '$3'"
    sed -i "/$3/a\\
$2" "$src.part/$1"
}

lay_in() {
    mkdir "$src.part/hw/rknpu"
    for part in hw machines include qemu/meson.build qemu/Kconfig; do
        ln -s "$top/$part" "$src.part/hw/rknpu/"
    done
    ln -s "$top/qemu/devices.mak" \
          "$src.part/configs/devices/aarch64-softmmu/rknpu.mak"
    add_line hw/meson.build "subdir('rknpu')" "^subdir('xtensa')"
    add_line hw/Kconfig "source rknpu/Kconfig" '^source xtensa.Kconfig'
    add_line meson.build "  'hw/rknpu/hw/soc'," '^trace_events_subdirs = \['
}

# A tree that is there stays, whatever it came from, unless another is asked for.
if [ -e "$src" ]; then
    [ -z "${1:-}" ] || [ "$(cat "$src.from" 2>/dev/null)" = "$1" ] ||
        die "$build has another QEMU source already: run 'make clean' first"
    exit 0
fi
mkdir -p "$build"
unpack "${1:-}"
lay_in
echo "${1:-}" >"$src.from"
mv "$src.part" "$src"
