#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Boots and runs in a row: the same command in N fresh machines gives status 0
# and the same bytes each time, and the kernel never complains.
#
#   soak.sh [N [COMMAND ARGS...]]
#
# Without a command: MobileNetV1 on the NPU where the guest parts for it are
# there, else a checksum over the kernel's symbols. N is 2 in `make check`;
# before a release it is 20: tests/guest/soak.sh 20

. "$(dirname "$0")/lib.sh"

runs=${1:-2}
[ $# = 0 ] || shift
network=/models/mobilenet_v1_1.0_224_quant.tflite
if [ $# -gt 0 ]; then
    :
elif [ -f "$build/guest$network" ]; then
    set -- sh -c "tflite-run --delegate /usr/lib/teflon/libteflon.so \
        --input /models/grace_hopper.ppm --expect 653 --output /tmp/out $network >&2 &&
        cat /tmp/out"
else
    set -- sh -c 'cut -d " " -f 3- /proc/kallsyms | md5sum'
fi

i=0
while [ $i -lt "$runs" ]; do
    i=$((i + 1))
    "$emu" run --timeout 300 --log "$out/kernel.log" -- "$@" \
        </dev/null >"$out/out" 2>"$out/err"
    status=$?
    [ -f "$out/first" ] || cp "$out/out" "$out/first"
    [ $status = 0 ] && cmp -s "$out/out" "$out/first" &&
        ! grep -q 'job timed out' "$out/kernel.log"
    good=$?
    ok $good "run $i of $runs: status $status, the first run's bytes, no job timed out"
    if [ $good != 0 ]; then
        show "$out/err"
        show "$out/kernel.log"
    fi
done
finish
