#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rknpu-replay: a 2x2 maximum over a 4x4 map, made here word by word, and what it says to wrong input.
# By hand: RKNPU_BUILD=build tests/tool/replay.sh

set -u

replay=${RKNPU_BUILD:-build}/tools/rknpu-replay
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0

report() { # STATUS TEXT
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        sed 's/^/#   /' "$work/err"
    fi
}

bytes() { # VALUE COUNT: little endian
    value=$1 left=$2
    while [ "$left" -gt 0 ]; do
        printf "\\$(printf %03o $((value & 255)))"
        value=$((value >> 8)) left=$((left - 1))
    done
}

word() { # TARGET OFFSET VALUE
    bytes "$2" 2
    bytes "$3" 4
    bytes "$1" 2
}

run() { # WANTED_STATUS TEXT ARGUMENT...
    wanted=$1 text=$2
    shift 2
    "$replay" "$@" >"$work/out" 2>"$work/err"
    [ $? -eq "$wanted" ]
    report $? "$text"
}

says() { # TEXT
    grep -q -- "$1" "$work/err"
    report $? "it says '$1'"
}

{
    word 0x4001 0x6004 0xe
    word 0x8001 0x7004 0xe
    for w in 600c:3 6010:3 6014:15 6018:1 601c:1 6020:15 6024:17 6034:0x110101 6070:0x3000 607c:64 6084:0; do
        word 0x4001 "0x${w%:*}" "${w#*:}"
    done
    for w in 700c:3 7010:3 7014:15 701c:0x2000 7024:64 7028:256 7030:1; do
        word 0x8001 "0x${w%:*}" "${w#*:}"
    done
    word 0 0 0
    word 0x101 0x14 0
    word 0x41 0 0
    word 0x81 8 0x60
} >"$work/program"
i=0
while [ $i -lt 256 ]; do # 16 pixels of 16 channels: pixel p holds p in every channel
    bytes $((i / 16)) 1
    i=$((i + 1))
done >"$work/input"

run 0 "a pooling job completes" --load "0x1000:$work/program" --load "0x2000:$work/input" \
    --zero 0x3000:64 --job 0x1000 --save "0x3000:64:$work/result"
[ "$(od -An -v -tu1 "$work/result" | tr -s ' \n' '  ' | tr ' ' '\n' | grep . | sort -n | uniq -c | tr -s ' \n' '  ')" \
    = " 16 5 16 7 16 13 16 15 " ]
report $? "its maxima are 5 7 13 15"
grep -q 'jobs 1, tasks 1,' "$work/out"
report $? "its statistics are on stdout"

run 0 "the event log can be had" --load "0x1000:$work/program" --load "0x2000:$work/input" \
    --zero 0x3000:64 --job 0x1000 --events
says 'task-end units=0x60'
run 1 "a job that reads beside its buffers does not complete" --load "0x1000:$work/program" \
    --zero 0x3000:64 --job 0x1000
says 'did not complete'
run 2 "no job" --load "0x1000:$work/program"
says 'nothing to run'
run 2 "a program that is not there" --load "0x1000:$work/program" --job 0x9000
says 'no buffer holds the program'
run 2 "buffers that overlap" --load "0x1000:$work/program" --zero 0x1010:16 --job 0x1000
says 'overlaps'
run 2 "an unknown chip" --chip rk9 --job 0
says 'known are rk3588 and rk3576'
echo "1..$count"
