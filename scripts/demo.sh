#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs MobileNetV1 on the emulated NPU: fetches the guest's parts when they are
# not there yet, boots Debian's kernel on the rk3588 machine and runs npu-demo
# in it; then shows the NPU's memory. Arguments go to npu-demo.

set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${RKNPU_BUILD:-$top/build}
"$top/scripts/guest-parts.sh" 7 rocket busybox teflon models programs
"$build/rknpu-emu" run --stats --timeout 600 -- npu-demo "$@"
exec "$top/scripts/memory-demo.sh"
