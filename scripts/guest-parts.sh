#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Fetches and builds everything a guest runs, all from Debian packages, into
# BUILD/guest. Needs no privileges. What is there and up to date is left
# alone, so a second run takes a moment and needs no network.
#
#   guest-parts.sh [--refresh] [PART...]
#
# Parts: kernels (7, 6.12, 6.1), rocket, busybox, teflon, models, programs,
# lab; without a name, all of them. --refresh looks for newer packages.
# docs/guest-parts.md says what comes from where.

set -eu
. "$(dirname "$0")/guest-lib.sh"

refresh=
if [ "${1:-}" = --refresh ]; then
    refresh=yes
    shift
fi
[ $# -gt 0 ] || set -- kernels rocket busybox teflon models programs lab

# fresh SCRIPT ARGUMENT...: a part that comes straight from packages.
fresh() {
    script=$1
    shift
    RKNPU_REFRESH=$refresh "$top/scripts/$script" "$@"
}

for part in "$@"; do
    case $part in
    kernels)        for k in 7 6.12 6.1; do fresh guest-kernel.sh "$k"; done ;;
    7|6.12|6.1)     fresh guest-kernel.sh "$part" ;;
    rocket)         "$top/scripts/guest-rocket.sh" 7 ;;
    busybox)        fresh guest-busybox.sh ;;
    teflon)         fresh guest-teflon.sh ;;
    models)         fresh guest-models.sh ;;
    programs)       "$top/scripts/guest-programs.sh" ;;
    lab)            "$top/scripts/guest-lab.sh" 7 ;;
    *)              die "there is no part '$part'; see the head of $0" ;;
    esac
done
