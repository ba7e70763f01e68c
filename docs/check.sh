#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Is docs/not-modelled.md what its generator prints, and does it name every
# mode that the model refuses? Prints TAP.
#
#   check.sh GENERATOR

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
page=$top/docs/not-modelled.md

echo "1..2"
if "$1" | diff -u "$page" - >&2; then
    echo "ok 1 - not-modelled.md is current"
else
    echo "not ok 1 - not-modelled.md is current"
    echo "# renew it with: ninja -C build docs"
fi
missing=$(grep -ohE 'unimplemented\(job, "[^"]*"|\{ RKNPU_F_[A-Z_]*, "[^"]*" \}' "$top"/hw/npu/*.c |
          sed 's/[^"]*"\([^"]*\)".*/\1/' | sort -u |
          while read -r mode; do grep -qF "| $mode |" "$page" || echo "# $mode"; done)
if [ -z "$missing" ]; then
    echo "ok 2 - not-modelled.md names every mode that the model refuses"
else
    echo "not ok 2 - not-modelled.md names every mode that the model refuses"
    echo "$missing"
fi
