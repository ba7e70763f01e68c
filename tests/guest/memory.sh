#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The NPU's memory with the teaching driver, on both machines: the bitmap in
# the form of Rockchip's guide, jobs whose parts lie in DRAM, SRAM and NBUF,
# recovery with either kind of tree, owners that overlap, a soak, and the
# module loaded and unloaded.
#
#   RKNPU_ROUNDS   rounds of the soak (default 200)
#   RKNPU_LOADS    loads and unloads of the module (default 5)

. "$(dirname "$0")/lib.sh"

module=$build/guest/module/7/rknpu_lab.ko
dts=$build/machines/dts

# lab MACHINE OVERLAY CPUS COMMAND...: the output goes to $out/text.
lab() {
    machine=$1 overlay=$2 cpus=$3
    shift 3
    "$emu" run --machine "$machine" --driver rknpu --smp "$cpus" --memory 1G \
           --overlay "$dts/$overlay.dtbo" --module "$module" --timeout 600 \
           -- "$@" >"$out/text" 2>"$out/log"
}

# steps NAME: what the program in the guest found, as steps of this test.
steps() {
    sed -n 's/^ok [0-9]* - //p' "$out/text" >"$out/good"
    sed -n 's/^not ok [0-9]* - //p' "$out/text" >"$out/bad"
    while read -r text; do ok 0 "$1: $text"; done <"$out/good"
    while read -r text; do ok 1 "$1: $text"; done <"$out/bad"
    ! grep -Eq '^WARNING|Oops|BUG:' "$out/log"
    ok $? "$1: no warning of the kernel"
    [ -s "$out/good" ] && [ ! -s "$out/bad" ] || show "$out/log"
}

# The bitmap with 512 KB wanted: the text of Rockchip's guide for the RK3588,
# and in its form all that an RK3576 has.
guide_rk3588() {
    cat <<'TEXT'
SRAM bitmap: "*" - used, "." - free (1bit = 4KB)
[000] [********************************]
[001] [********************************]
[002] [********************************]
[003] [********************************]
[004] [................................]
[005] [................................]
[006] [................................]
[007] [...............]
SRAM total size: 978944, used: 524288, free: 454656
TEXT
}

guide_rk3576() {
    cat <<'TEXT'
SRAM bitmap: "*" - used, "." - free (1bit = 4KB)
[000] [********************************]
[001] [********************************]
[002] [********************************]
[003] [************************]
SRAM total size: 491520, used: 491520, free: 0
TEXT
}

for machine in rk3588 rk3576; do
    lab $machine $machine-npu-sram 2 sh -c \
        'rknpu-lab golden; rknpu-lab test; rknpu-lab show >/tmp/show; cat /tmp/show'
    steps $machine
    grep -q 'result equal to plain loops' "$out/text"
    ok $? "$machine: convolution with its output in SRAM"
    sed '1,/^SRAM with the output/d; /^$/,$d' "$out/text" >"$out/bitmap"
    guide_$machine | cmp -s - "$out/bitmap"
    ok $? "$machine: the bitmap is the guide's, byte for byte"
done

# The trees for kernels without a clock driver: power domains and resets are the
# firmware's.
for machine in rk3588 rk3576; do
    "$emu" run --machine $machine --dtb "$dts/$machine-fixed-clocks.dtb" \
           --overlay "$dts/$machine-npu-sram.dtbo" --module "$module" \
           --memory 1G -- rknpu-lab test >"$out/text" 2>"$out/log"
    steps "$machine, fixed clocks"
done

lab rk3588 rk3588-npu-sram-split 2 rknpu-lab golden
steps "shared with a decoder"
lab rk3588 rk3588-wrong-overlap 2 rknpu-lab overlap
steps "owners that overlap"
grep -q 'video decoder 0 overwrites data of the NPU' "$out/log"
ok $? "owners that overlap: the emulator says so"

lab rk3588 rk3588-npu-sram 8 rknpu-lab soak "${RKNPU_ROUNDS:-200}"
steps "8 CPUs"
lab rk3588 rk3588-npu-sram 8 sh -c "
    cp /sys/kernel/debug/rknpu/mm /tmp/before
    i=0
    while [ \$i -lt ${RKNPU_LOADS:-5} ]; do
        rmmod rknpu_lab && insmod /rknpu/modules/rknpu_lab.ko || exit 1
        i=\$((i + 1))
    done
    rknpu-lab test && cmp /sys/kernel/debug/rknpu/mm /tmp/before"
good=$?
ok $good "the module loads and unloads ${RKNPU_LOADS:-5} times and works after that"
[ $good = 0 ] || show "$out/log"
finish
