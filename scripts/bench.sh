#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs the benchmarks that meson knows, one at a time; each prints its table
# and leaves BUILD/bench/NAME.json, a list of {name, value, unit, reference,
# reference_value, ratio}. Those that boot Linux have its parts fetched first.
#
#   bench.sh [NAME...]      all, or those named

set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${RKNPU_BUILD:-$top/build}
meson=$(sed -n 's/^MESON := //p' "$build/config.mak")
export RKNPU_BUILD="$build"

case " ${*:-boot teflon} " in
*" boot "* | *" teflon "*)
    "$top/scripts/guest-parts.sh" 7 rocket busybox teflon models programs
esac
mkdir -p "$build/bench"
exec $meson test -C "$build" --no-rebuild --benchmark --verbose "$@" </dev/null
