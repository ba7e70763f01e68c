#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What rknpu-emu says and returns before it starts a machine. The kernel here
# is a header with nothing behind it: no test of this file boots one.

build=${RKNPU_BUILD:-build}
emu=$build/rknpu-emu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export RKNPU_GUEST="$work/guest" RKNPU_QEMU=/bin/true

mkdir -p "$work/guest/kernel/7"
{
    head -c 56 /dev/zero
    printf 'ARM\144'
    head -c 100 /dev/zero
    printf 'Linux version 7.0.0-test (x@y) #1 SMP'
} >"$work/guest/kernel/7/Image"
echo busybox >"$work/guest/busybox"
echo hello >"$work/text"
mkdir "$work/dir"

count=0
failed=0

# report NAME STATUS: one TAP line.
report() {
    count=$((count + 1))
    if [ "$2" = 0 ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        failed=$((failed + 1))
        sed 's/^/#   /' "$work/err"
    fi
}

# refuses STATUS TEXT ARGUMENT...: one line with TEXT on the standard error,
# nothing on the standard output, that status.
refuses() {
    want=$1 text=$2
    shift 2
    "$emu" "$@" >"$work/out" 2>"$work/err" </dev/null
    got=$?
    [ "$got" = "$want" ] && [ ! -s "$work/out" ] &&
        [ "$(wc -l <"$work/err")" = 1 ] && grep -qF -e "$text" "$work/err"
    report "$*: status $want, $text" $?
}

# prints TEXT ARGUMENT...: TEXT on the standard output, status 0.
prints() {
    text=$1
    shift
    "$emu" "$@" >"$work/out" 2>"$work/err" </dev/null && grep -qF -e "$text" "$work/out"
    report "$*: prints $text" $?
    rm -rf $(sed -n "s/.*files are in \([^;]*\);.*/\1/p" "$work/err")
}

prints 'Usage: rknpu-emu' --help
prints '--npu-sram=SIZE[@OFFSET]' run --help
prints 'rknpu-emu 0' --version
refuses 2 'no command' # nothing
refuses 2 "no command 'boot'" boot
refuses 2 '--nonsense' run --nonsense
refuses 2 'machine rk3588 has 1 to 8 CPUs' run --smp 9
refuses 2 'machine rk3588 takes 512 MiB' run --memory 16M -- true
refuses 2 'machine rk3588 takes 512 MiB' run --memory 1000G -- true
refuses 2 'write DEVICE.PROPERTY=VALUE' run --global strict=on -- true
refuses 2 "no machine 'rk1'" run --machine rk1
refuses 2 'does not apply to machine virt' run --machine virt --driver rocket
refuses 2 'does not apply to machine virt' run --machine virt --overlay x -- true

refuses 125 '/no/such/Image: no such file' run --kernel /no/such/Image -- true
refuses 125 'not an arm64 kernel' run --kernel "$work/text" -- true
refuses 125 'a folder' run --kernel "$work/dir" -- true
refuses 125 '/no/such.dtb' run --dtb /no/such.dtb -- true
refuses 125 'not a sound device tree' run --dtb "$work/text" -- true
refuses 125 '/no/such.ko' run --module /no/such.ko -- true
refuses 125 'not a kernel module' run --module "$work/text" -- true
refuses 125 'create the folder first' run --share /no/such/dir -- true
refuses 125 'not a folder' run --share "$work/text" -- true
refuses 125 'give a file that can be written' run --log /no/such/dir/log -- true
if [ "$(id -u)" != 0 ]; then
    chmod 000 "$work/dir"
    refuses 125 'make it readable' run --share "$work/dir" -- true
    chmod 755 "$work/dir"
fi
RKNPU_QEMU=/no/such/qemu refuses 125 'no QEMU at /no/such/qemu' run -- true
RKNPU_GUEST=/no/such/guest refuses 125 'make guest' run -- true

prints '-machine virt' run --machine virt --dry-run -- true
prints '-smp 3' run --machine virt --smp 3 --dry-run -- true
prints '-global rk-npu.strict=on' run --global rk-npu.strict=on --dry-run -- true
prints '-m 4096M' run --machine virt --memory 4G --dry-run -- true
prints ' cma=256M rk.x=1' run --machine virt --append "cma=256M rk.x=1" --dry-run -- true
prints "path=$work/dir," run --machine virt --share "$work/dir" --dry-run -- true

# checks_tree LINES TEXT ARGUMENT...: that many lines about the device tree,
# TEXT among them; the run itself is prepared.
checks_tree() {
    lines=$1 text=$2
    shift 2
    "$emu" run --driver rknpu "$@" --dry-run -- true >"$work/out" 2>"$work/err" </dev/null &&
        [ "$(grep -c 'device tree:' "$work/err")" = "$lines" ] &&
        grep -qF -e "$text" "$work/err"
    report "$*: $lines lines about the tree" $?
    rm -rf $(sed -n "s/.*files are in \([^;]*\);.*/\1/p" "$work/err")
}

trees=$build/machines/dts
checks_tree 0 '' --npu-sram 476K@0x78000
checks_tree 1 'past the SRAM' --npu-sram 512K@0x78000
checks_tree 1 'not 4 KiB aligned' --npu-sram 6K@0x800
checks_tree 0 '' --overlay "$trees/rk3588-npu-sram.dtbo"
checks_tree 0 '' --overlay "$trees/rk3588-npu-sram-split.dtbo"
checks_tree 0 '' --machine rk3576 --overlay "$trees/rk3576-npu-sram.dtbo"
checks_tree 1 'IOMMU iommu@fdab9000 is disabled' --overlay "$trees/rk3588-wrong-no-iommu.dtbo"
checks_tree 1 'no node refers to it' --overlay "$trees/rk3588-wrong-no-phandle.dtbo"
checks_tree 2 'overlap' --overlay "$trees/rk3588-wrong-overlap.dtbo"
checks_tree 1 'uses 0x0 bytes' --overlay "$trees/rk3588-wrong-too-small.dtbo"
checks_tree 1 'not 4 KiB aligned' --overlay "$trees/rk3588-wrong-unaligned.dtbo"
checks_tree 1 'IOMMU iommu@27702000 is disabled' --machine rk3576 \
    --overlay "$trees/rk3576-wrong-no-iommu.dtbo"
checks_tree 1 'no node refers to it' --machine rk3576 --overlay "$trees/rk3576-wrong-no-phandle.dtbo"
checks_tree 1 'overlap; their owners' --machine rk3576 --overlay "$trees/rk3576-wrong-overlap.dtbo"
checks_tree 1 'uses 0x0 bytes' --machine rk3576 --overlay "$trees/rk3576-wrong-too-small.dtbo"
checks_tree 1 'uses 0x76000 bytes' --machine rk3576 --overlay "$trees/rk3576-wrong-unaligned.dtbo"
refuses 125 'does not apply' run --machine rk3576 --overlay "$trees/rk3588-wrong-overlap.dtbo" -- true
refuses 2 'add --driver rknpu' run --npu-sram 4K -- true

# QEMU stand-ins: one that fails, one that ends at once.
printf '#!/bin/sh\necho "qemu: no such machine" >&2\nexit 1\n' >"$work/bad-qemu"
chmod +x "$work/bad-qemu"
RKNPU_QEMU=$work/bad-qemu "$emu" run -- true >"$work/out" 2>"$work/err" </dev/null
[ $? = 125 ] && grep -q 'qemu: no such machine' "$work/err" &&
    grep -q 'emulator: QEMU ended with status 1' "$work/err"
report "a QEMU that fails: status 125 and its own words" $?
"$emu" run -- true >"$work/out" 2>"$work/err" </dev/null
[ $? = 125 ] && grep -q 'switched the machine off before' "$work/err"
report "a QEMU that ends early: status 125" $?

# Its first free descriptors would be the streams' numbers.
printf '#!/bin/sh\nwhile [ $# -gt 0 ]; do
    [ "$1" != -initrd ] || head -c 6 "$2" >%s/magic
    shift
done\n' "$work" >"$work/reads-qemu"
chmod +x "$work/reads-qemu"
RKNPU_QEMU=$work/reads-qemu "$emu" run -- true <&- >&- 2>&-
[ "$(cat "$work/magic" 2>"$work/err")" = 070701 ]
report "all standard streams closed: QEMU gets the initramfs" $?

printf '#!/bin/sh\necho $$ >%s/pid\nexec sleep 100\n' "$work" >"$work/slow-qemu"
chmod +x "$work/slow-qemu"
RKNPU_QEMU=$work/slow-qemu "$emu" run --timeout 1 -- true >"$work/out" 2>"$work/err" </dev/null
[ $? = 124 ] && grep -q 'timeout: after [1-9][0-9]* s the kernel had not started init' "$work/err" &&
    ! kill -0 "$(cat "$work/pid")" 2>/dev/null
report "a QEMU that hangs: status 124, and it is gone" $?

RKNPU_QEMU=$work/slow-qemu "$emu" run -- true >"$work/out" 2>"$work/err" </dev/null &
emu_pid=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ "$(cat "$work/pid" 2>/dev/null)" ] && kill -0 "$(cat "$work/pid")" 2>/dev/null && break
    sleep 0.1
done
kill -TERM $emu_pid
wait $emu_pid
[ $? = 143 ] && ! kill -0 "$(cat "$work/pid")" 2>/dev/null
report "SIGTERM: status 143, and QEMU is gone" $?

echo "1..$count"
[ "$failed" = 0 ]
