#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A guest that is saved in the middle of its work goes on in a new QEMU.

. "$(dirname "$0")/lib.sh"

limit=120       # seconds for each wait

# wait_for TEXT FILE: false when the text does not come, or QEMU is gone.
wait_for() {
    tries=$((limit * 5))
    while [ $tries -gt 0 ] && kill -0 "$qemu" 2>/dev/null; do
        grep -aqs "$1" "$2" && return 0
        tries=$((tries - 1))
        sleep 0.2
    done
    grep -aqs "$1" "$2" && return 0
    echo "# waited for '$1' in the console's text"
    return 1
}

# start NAME OPTION...: QEMU with its console in $out/NAME and its monitor on
# descriptor 9.
start() {
    mkfifo "$out/$1.monitor"
    eval "exec ${command%-serial mon:stdio} -serial 'file:$out/$1' -monitor stdio $2" \
        <"$out/$1.monitor" >"$out/$1.replies" 2>&1 &
    qemu=$!
    exec 9>"$out/$1.monitor"
}

# saves MACHINE
saves() {
    command=$("$emu" run --machine "$1" --smp 2 --dry-run -- sh -c 'i=0
        while [ $i -lt 60 ]; do i=$((i + 1)); echo tick $i; sleep 0.1; done; echo through' \
        2>"$out/prepared")
    start "$1.old" ''
    wait_for 'tick 5' "$out/$1.old"
    good=$?
    [ $good = 0 ] && printf 'migrate file:%s\nquit\n' "$out/$1.state" >&9 || kill $qemu
    wait $qemu
    start "$1.new" "-incoming 'file:$out/$1.state'"
    wait_for through "$out/$1.new" && grep -aq 'tick 59' "$out/$1.new" &&
        ! grep -aq 'tick 4$' "$out/$1.new" && [ $good = 0 ]
    good=$?
    kill $qemu 2>/dev/null
    wait $qemu
    ok $good "$1: the guest counts on after it was loaded"
    [ $good = 0 ] || show "$out/$1.new.replies"
    rm -rf "$(sed -n 's/.*files are in \([^;]*\);.*/\1/p' "$out/prepared")"
}

saves rk3588
saves rk3576
finish
