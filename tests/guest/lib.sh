# SPDX-License-Identifier: GPL-2.0-or-later
#
# TAP for tests that boot a guest. Sourced, never run.

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${RKNPU_BUILD:-$top/build}
emu=$build/rknpu-emu
number=0
failed=0
out=$(mktemp -d "${TMPDIR:-/tmp}/rknpu-test.XXXXXX")
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM

# ok CONDITION-STATUS TEXT
ok() {
    number=$((number + 1))
    if [ "$1" = 0 ]; then
        echo "ok $number - $2"
    else
        failed=$((failed + 1))
        echo "not ok $number - $2"
    fi
}

# show FILE: the end of a failed run's output, as TAP comments.
show() {
    tail -n 30 "$1" | sed 's/^/# /'
}

skip() {
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

finish() {
    echo "1..$number"
    exit "$((failed > 0))"
}
