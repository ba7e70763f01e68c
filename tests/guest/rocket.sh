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
grep -q 'rk-npu: core [0-2]: the program has no enable word' "$out/err"
ok $? "the machine tells why that job does not end"
recovery unknown 0
grep -q 'rk-npu: core [0-2]: CNA CONV_CON1 CONV_MODE = 0x1 is not modelled' "$out/err"
ok $? "the machine names the mode that it does not model"
"$emu" run --timeout 300 --global rk-npu.strict=on -- rocket-test unknown >"$out/text" 2>"$out/err"
[ $? = 125 ] && grep -q 'CONV_MODE = 0x1 is not modelled; the machine stops' "$out/err" &&
    grep -q 'stalled in task 1 of 1' "$out/err"
ok $? "strict=on stops the machine there: status 125, and what the NPU was doing"
recovery unmapped 123
grep -q 'rk_iommu.*Page fault at 0x0*70000000 of type read' "$out/log"
ok $? "the IOMMU tells the address that is not mapped"
finish
