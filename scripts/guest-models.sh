#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes BUILD/guest/models from the test models that Mesa's source package
# carries for its Teflon front end:
#
#   mobilenet_v1_1.0_224_quant.tflite   the network of the demo
#   ssdlite_mobiledet_coco_qat_postprocess.tflite  a detector, with ADDs
#   labels.txt                          its 1001 classes, one a line
#   op/*.tflite                         networks cut into single operations
#
# and grace_hopper.ppm, the demo's picture, from matplotlib's sample data.
#
# Later releases of the package left the models out, so sid is not tried.

set -eu
. "$(dirname "$0")/guest-lib.sh"

suites="trixie bookworm-backports"
part=$guest/models
made_by=$(recipe "$0" "$top/scripts/guest-lib.sh")

fetch_tests() {
    dsc=$(apt_private source mesa $suites) || return 1
    tarball=$(sed -n 's/.* \(mesa_.*\.orig\.tar\.[a-z0-9]*\)$/\1/p' "$dsc" |
              head -n 1)
    tar -xf "$(dirname "$dsc")/$tarball" -C "$work" --wildcards \
        --strip-components=1 --one-top-level=mesa \
        '*/teflon/tests/*.tflite' '*/teflon/tests/labels*.txt'
}

# The network wants 224 x 224 pixels and takes any picture squeezed to that.
make_picture() {
    unpack "$work/root" python-matplotlib-data arm64 $suites sid || return 1
    photo=$(find "$work/root" -name 'grace_hopper.jpg')
    jpegtopnm -quiet "$photo" |
        pamscale -linear -width 224 -height 224 >"$1"
}

is_current "$part" "$made_by" && exit 0
need pamscale netpbm
scratch
fetch_tests || die "no Teflon test models in the source package mesa"
tests=$work/mesa/src/gallium/targets/teflon/tests
mkdir -p "$work/new/op"
mv "$tests/mobilenet_v1_1.0_224_quant.tflite" \
   "$tests/ssdlite_mobiledet_coco_qat_postprocess.tflite" "$work/new/"
mv "$work"/mesa/src/gallium/frontends/teflon/tests/labels*.txt \
   "$work/new/labels.txt"
mv "$tests"/*-[0-9][0-9][0-9].tflite "$tests/conv2d.tflite" "$work/new/op/"
make_picture "$work/new/grace_hopper.ppm" ||
    die "no sample picture in python-matplotlib-data"
say "$(ls "$work/new/op" | wc -l) single-operation models"
publish "$work/new" "$part" "$made_by"
