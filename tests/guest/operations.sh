#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Mesa's single-operation models of MobileNetV1 and MobileDet, one by one on
# the NPU, within 1 of TensorFlow Lite. The guest program prints the TAP.

. "$(dirname "$0")/lib.sh"

exec "$emu" run --timeout 1500 -- npu-ops
