#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Shows the NPU's memory on both machines: the bitmap of the SRAM before,
# during and after a convolution whose output lies in it.

set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${RKNPU_BUILD:-$top/build}
"$top/scripts/guest-parts.sh" 7 busybox lab
for machine in rk3588 rk3576; do
    echo "== $machine"
    "$build/rknpu-emu" run --stats --machine $machine --driver rknpu \
        --overlay "$build/machines/dts/$machine-npu-sram.dtbo" \
        --module "$build/guest/module/7/rknpu_lab.ko" --timeout 600 \
        -- rknpu-lab show
done
