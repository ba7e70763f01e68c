#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Mainline's driver: convolutions on every core, before and after a job that
# cannot end. The driver itself warns of a DMA error, so a program that is not
# mapped ends with status 123.

. "$(dirname "$0")/lib.sh"

# recovery KIND STATUS: the steps of the program in the guest, and its end.
recovery() {
    "$emu" run --timeout 300 --log "$out/log" -- rocket-test "$1" \
        >"$out/text" 2>"$out/err"
    status=$?
    sed -n 's/^ok [0-9]* - //p' "$out/text" >"$out/good"
    sed -n 's/^not ok [0-9]* - //p' "$out/text" >"$out/bad"
    while read -r text; do ok 0 "$1: $text"; done <"$out/good"
    while read -r text; do ok 1 "$1: $text"; done <"$out/bad"
    [ $status = "$2" ] && grep -q '^1\.\.7$' "$out/text" &&
        grep -q 'NPU job timed out' "$out/log"
    good=$?
    ok $good "$1: one job timed out, status $status"
    [ $good = 0 ] || show "$out/err"
}

recovery endless 0
recovery unmapped 123
grep -q 'rk_iommu.*Page fault at 0x0*70000000 of type read' "$out/log"
ok $? "the IOMMU tells the address that is not mapped"
finish
