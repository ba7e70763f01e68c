#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What rknpu-emu promises about a command: its output, its status, and what is
# said when the kernel or the command fails. Each line is a boot, so lines are
# few.
#
#   RKNPU_MACHINE   machine to boot (default rk3588)

. "$(dirname "$0")/lib.sh"

run() {
    "$emu" run --machine "${RKNPU_MACHINE:-rk3588}" --smp 2 --memory 1G --timeout 240 "$@"
}

# check NAME: the status of the line before it.
check() {
    good=$?
    ok $good "$1"
    [ $good = 0 ] || show "$out/err"
}

for status in 0 3 77; do
    run -- sh -c "echo out; echo err >&2; exit $status" \
        </dev/null >"$out/out" 2>"$out/err"
    [ $? = $status ] && [ "$(cat "$out/out")" = out ] && [ "$(cat "$out/err")" = err ]
    check "status $status passes, streams stay apart"
done

head -c 100000 /dev/urandom >"$out/bytes"
run -- cat <"$out/bytes" 2>"$out/err" | cmp -s - "$out/bytes"
check "100000 random bytes pass through a pipe unchanged"

mkdir "$out/bare" "$out/share"
cp "$build/guest/kernel/6.1/Image" "$out/bare/"
head -c 3000 "$out/bytes" >"$out/some"
run --kernel "$out/bare/Image" -- sh -c 'cat; exit 5' <"$out/some" >"$out/out" 2>"$out/err"
[ $? = 5 ] && cmp -s "$out/out" "$out/some"
check "a kernel without modules: the same over the UART"

# The machine once left the transports of -device out of its device tree.
run -- sh -c 'grep -x rknpu /sys/class/virtio-ports/*/name' </dev/null >"$out/out" 2>"$out/err"
[ $? = 0 ]
check "the streams use a virtio port"

echo "from the host" >"$out/share/in"
run --share "$out/share" -- sh -c 'cat /mnt/share/in; echo "from the guest" >/mnt/share/out' \
    </dev/null >"$out/out" 2>"$out/err"
[ $? = 0 ] && [ "$(cat "$out/out")" = "from the host" ] &&
    [ "$(cat "$out/share/out")" = "from the guest" ]
check "--share is read and written"

run -- /no/such/program </dev/null >"$out/out" 2>"$out/err"
[ $? = 127 ] && grep -q '/no/such/program: No such file' "$out/err"
check "a program that is not there: status 127"

run --log "$out/kernel.log" -- sh -c 'echo c >/proc/sysrq-trigger' \
    </dev/null >"$out/out" 2>"$out/err"
[ $? = 123 ] && grep -q 'kernel: .*Kernel panic - not syncing' "$out/err" &&
    grep -q 'Call trace' "$out/kernel.log"
check "a panic: status 123, the reason and the log"

# "WARNING: " as printk would write it; SysRq has no key that warns.
run -- sh -c 'echo "<4>WARNING: test of the test" >/dev/kmsg; exit 9' \
    </dev/null >"$out/out" 2>"$out/err"
[ $? = 123 ] && grep -q "the command's own status was 9" "$out/err"
check "a warning of the kernel: status 123 in place of the command's"

run --timeout 60 -- sh -c 'echo begun; exec sleep 1000' </dev/null >"$out/out" 2>"$out/err"
[ $? = 124 ] && grep -q 'timeout: after .* the command was still running' "$out/err" &&
    [ "$(cat "$out/out")" = begun ]
check "a command that hangs: status 124"
if [ "${RKNPU_MACHINE:-rk3588}" != virt ]; then
    grep -q 'core 0' "$out/err"
    check "  and what the NPU was doing"
fi

run --append 'panic_on_warn=0 gpu_sched.sched_policy=0' -- sh -c \
    'cat /sys/module/gpu_sched/parameters/sched_policy; grep -c panic_on_warn /proc/cmdline' \
    </dev/null >"$out/out" 2>"$out/err"
[ "$(cat "$out/out")" = "$(printf '0\n1')" ]
check "--append reaches the kernel and, as gpu_sched.sched_policy, a module"

run -- yes 2>"$out/err" | head -n 2 >"$out/out"
[ "$(cat "$out/out")" = "$(printf 'y\ny')" ]
check "a reader that leaves ends the run"

modules=$(find "$build/guest/kernel/6.1/modules" -name '9pnet.ko*' | head -n 1)
run --kernel 7 --module "$modules" -- true </dev/null >"$out/out" 2>"$out/err"
[ $? = 125 ] && [ "$(wc -l <"$out/err")" = 1 ] && grep -q 'built for kernel 6.1' "$out/err"
check "a module of another kernel: status 125, one line"

finish
