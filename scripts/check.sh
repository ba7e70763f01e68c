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

# suite STAGE SUITE SECONDS OPTION...: runs a suite and leaves its counts.
# Limits of single tests are for an idle machine, so they are doubled.
suite() {
    stage=$1 suite=$2 seconds=$3
    shift 3
    limited "$stage" "$seconds" $meson test -C "$dir" --print-errorlogs \
            --timeout-multiplier 2 --suite "$suite" --logbase "check-$stage" "$@" &&
        ok=0 || ok=$?
    "$top/scripts/count-tests.py" "$dir/meson-logs/check-$stage.json" "$ok" \
        >"$counts/$stage"
}

failed_step() {
    echo "0 1 0" >"$counts/$1"
    echo "check: $2" >&2
}

# The unit tests under address and undefined-behaviour sanitizers, with
# warnings as errors; meson builds what the suite needs.
stage_sanitize() {
    dir=$build/asan
    [ -e "$dir/build.ninja" ] ||
        $meson setup "$dir" "$top" -Dwerror=true -Doptimization=1 \
            -Db_sanitize=address,undefined -Db_lundef=false >"$counts/setup.log" 2>&1 || {
        failed_step sanitize "no build with sanitizers (see $counts/setup.log)"
        return
    }
    RKNPU_FUZZ_RUNS=40 suite sanitize unit 1800 --timeout-multiplier 4
}

stage_guest() {
    limited "preparing guest parts" 2400 "$top/scripts/guest-parts.sh" || {
        failed_step guest "guest parts are missing, guest tests were not run"
        return
    }
    suite guest guest 3600 --no-rebuild
}

rm -rf "$counts"
mkdir -p "$counts"
for stage in "$@"; do
    began=$(date +%s)
    echo "== $stage"
    dir=$build
    case $stage in
    lint|unit|device|bare|tool)
                suite "$stage" "$stage" 900 --no-rebuild ;;
    sanitize)   stage_sanitize ;;
    guest)      stage_guest ;;
    *)          echo "check: there is no stage '$stage'" >&2; exit 2 ;;
    esac
    awk -v stage="$stage" -v s=$(($(date +%s) - began)) '{
        printf "== %s: %d passed, %d failed, %d skipped, %d s\n", stage, $1, $2, $3, s
    }' "$counts/$stage"
done
for stage in "$@"; do cat "$counts/$stage"; done | awk '{ p += $1; f += $2; s += $3 }
    END {
        printf "%d passed, %d failed", p, f
        printf s ? ", " s " skipped\n" : "\n"
        exit f > 0 || p == 0
    }'
