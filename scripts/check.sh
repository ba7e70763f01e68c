#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs every layer of tests, quickest first, and counts the test cases.
#
#   check.sh [STAGE...]     lint unit sanitize device bare tool guest
#
# Each stage but "sanitize" is the suite of that name in meson's tests; run
# one alone with: make check STAGES=unit. Logs are in build/meson-logs.

set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${RKNPU_BUILD:-$top/build}
meson=$(sed -n 's/^MESON := //p' "$build/config.mak")
export RKNPU_BUILD="$build"
counts=$build/check
[ $# -gt 0 ] || set -- lint unit sanitize device bare tool guest

# limited NAME SECONDS COMMAND...: a time limit that says what it ended.
limited() {
    name=$1 seconds=$2
    shift 2
    timeout --kill-after=10 "$seconds" "$@" </dev/null && return
    status=$?
    [ $status != 124 ] || echo "check: $name took over $seconds s, ended" >&2
    return $status
}

# suite STAGE DIR SUITE SECONDS: runs a suite and leaves its counts.
suite() {
    limited "$1" "$4" $meson test -C "$2" --no-rebuild --print-errorlogs \
            --suite "$3" --logbase "check-$1" && ok=0 || ok=$?
    "$top/scripts/count-tests.py" "$2/meson-logs/check-$1.json" "$ok" \
        >"$counts/$1"
}

failed_step() {
    echo "0 1 0" >"$counts/$1"
    echo "check: $2" >&2
}

stage_sanitize() {
    asan=$build/asan
    log=$counts/sanitize.log
    {
        [ -e "$asan/build.ninja" ] ||
            $meson setup "$asan" "$top" -Dwerror=true -Doptimization=1 \
                -Db_sanitize=address,undefined -Db_lundef=false
        limited "building with sanitizers" 900 ninja -C "$asan"
    } >"$log" 2>&1 || {
        grep -E -A 5 'error|FAILED|ERROR' "$log" | head -n 40 >&2
        failed_step sanitize "the build with sanitizers failed (see $log)"
        return
    }
    suite sanitize "$asan" unit 900
}

stage_guest() {
    limited "preparing guest parts" 2400 "$top/scripts/guest-parts.sh" || {
        failed_step guest "guest parts are missing, guest tests were not run"
        return
    }
    suite guest "$build" guest 1800
}

rm -rf "$counts"
mkdir -p "$counts"
for stage in "$@"; do
    began=$(date +%s)
    echo "== $stage"
    case $stage in
    lint)       suite lint "$build" lint 120 ;;
    unit)       suite unit "$build" unit 600 ;;
    device)     suite device "$build" device 600 ;;
    bare)       suite bare "$build" bare 600 ;;
    tool)       suite tool "$build" tool 600 ;;
    sanitize)   stage_sanitize ;;
    guest)      stage_guest ;;
    *)          echo "check: there is no stage '$stage'" >&2; exit 2 ;;
    esac
    awk -v stage="$stage" -v s=$(($(date +%s) - began)) '{
        printf "== %s: %d passed, %d failed, %d skipped, %d s\n", stage, $1, $2, $3, s
    }' "$counts/$stage"
done
cat "$counts"/[a-z]* | awk 'NF == 3 && $0 !~ /[^0-9 ]/ { p += $1; f += $2; s += $3 }
    END {
        printf "%d passed, %d failed", p, f
        printf s ? ", " s " skipped\n" : "\n"
        exit f > 0 || p == 0
    }'
