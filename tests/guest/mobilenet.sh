#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# MobileNetV1 on the NPU with Debian's kernel, rocket and Teflon: the class of
# the demo's picture, every layer within 1 of TensorFlow Lite, and the same
# bytes from run after run, each in a fresh machine; other networks' layers.
#
#   RKNPU_RUNS        how many machines (default 3)
#   RKNPU_TEST_DATA   folder with more networks in tflite/

. "$(dirname "$0")/lib.sh"

network=/models/mobilenet_v1_1.0_224_quant.tflite
npu=/usr/lib/teflon/libteflon.so

"$emu" run --timeout 600 -- npu-demo >"$out/demo" 2>"$out/log"
ok $? "the demo agrees: class 653 and every layer within 1"
grep -q 'on the NPU' "$out/demo" || show "$out/log"
sed 's/^/# /' "$out/demo"
grep -Eq 'largest difference of a layer: [01] \(2[78] of 31 layers' "$out/demo"
ok $? "27 or 28 of 31 layers run on the NPU"
! grep -Eqi 'timed out|WARNING|Oops|BUG:' "$out/demo" "$out/log"
ok $? "no job timed out, no warning of the kernel"

run=0
while [ $run -lt "${RKNPU_RUNS:-3}" ]; do
    run=$((run + 1))
    "$emu" run --timeout 300 --share "$out" -- tflite-run --delegate "$npu" \
        --input /models/grace_hopper.ppm --expect 653 \
        --output /mnt/share/run "$network" >"$out/text" 2>&1
    status=$?
    [ -f "$out/first" ] || cp "$out/run" "$out/first"
    [ $status = 0 ] && cmp -s "$out/run" "$out/first"
    good=$?
    ok $good "run $run: right class, the same bytes as the first"
    [ $good = 0 ] || show "$out/text"
    rm -f "$out/run"
done

# layer_by_layer NAME FILE: a network whose layers are compared.
layer_by_layer() {
    "$emu" run --timeout 900 --share "$out" -- tflite-run --delegate "$npu" \
        --per-layer --max-diff 1 "$2" >"$out/text" 2>&1
    good=$?
    ok $good "$1 layer by layer: $(tail -n 1 "$out/text")"
    [ $good = 0 ] || show "$out/text"
}

layer_by_layer "MobileDet, with its ADDs" \
    /models/ssdlite_mobiledet_coco_qat_postprocess.tflite
more=${RKNPU_TEST_DATA:-/nonexistent}/tflite
for file in mobilenet_v1_0.25_128_quant mobilenet_v1_0.5_160_quant; do
    if [ -f "$more/$file.tflite" ]; then
        cp "$more/$file.tflite" "$out/"
        layer_by_layer "$file" "/mnt/share/$file.tflite"
    else
        skip "$file layer by layer" "RKNPU_TEST_DATA has no tflite/$file.tflite"
    fi
done
finish
