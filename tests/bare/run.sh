#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: tests/bare/run.sh [BOARD [PROGRAM]...]
#
# Runs the programs of guest-tests/bare on the machine, without an operating
# system, and prints their results as one TAP stream. Without arguments: all
# programs on all boards. A program has 60 seconds.
#
# One program by hand, for instance under gdb (add -s -S and attach):
#   guest-tests/bare/build.sh rk3588 pc /tmp/pc
#   build/qemu-system-aarch64 -M rk3588 -smp 1 -m 1G -display none \
#       -serial stdio -monitor none -no-reboot -kernel /tmp/pc

set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
out=$top/build/bare
limit=60
count=0
failed=0
mkdir -p "$out"

result() {
    count=$((count + 1))
    [ "$1" = ok ] || failed=$((failed + 1))
    echo "$1 $count - $2"
}

# Renumbers a program's TAP lines and checks that its plan came.
relay() {
    local name=$1 log=$2 line text

    while IFS= read -r line; do
        line=${line%$'\r'}
        text=${line#* - }
        case $line in
        "ok "*) result ok "$name: $text" ;;
        "not ok "*) result "not ok" "$name: $text" ;;
        "#"*) echo "$line" ;;
        esac
    done <"$log"
    if grep -q '^1\.\.0 # SKIP' "$log"; then
        count=$((count + 1))
        echo "ok $count - $name # SKIP$(sed -n 's/^1\.\.0 # SKIP//p' "$log" | tr -d '\r')"
    elif ! grep -q '^1\.\.[1-9]' "$log"; then
        result "not ok" "$name: the program ended without a plan (see $log)"
    fi
}

run() {
    local board=$1 program=$2 status
    local image=$out/$board-$program

    if ! "$top/guest-tests/bare/build.sh" "$board" "$program" "$image"; then
        result "not ok" "$board $program: does not build"
        return
    fi
    timeout --kill-after=5 "$limit" "$top/build/qemu-system-aarch64" \
        -M "$board" -smp 1 -m 1G -display none -serial stdio -monitor none \
        -no-reboot -kernel "$image" >"$image.log" 2>"$image.err" </dev/null
    status=$?
    [ "$status" -ne 124 ] ||
        result "not ok" "$board $program: waited $limit s for the program to power off"
    relay "$board $program" "$image.log"
    sed 's/^/# qemu: /' "$image.err"
}

boards=${1:-"rk3588 rk3576"}
[ $# -eq 0 ] || shift
programs=${*:-"canary pc iommu conv"}
for board in $boards; do
    for program in $programs; do
        run "$board" "$program"
    done
done
echo "1..$count"
[ "$failed" -eq 0 ]
