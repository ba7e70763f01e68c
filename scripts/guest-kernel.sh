#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes BUILD/guest/kernel/NAME from Debian's own arm64 kernel packages:
#
#   Image        the kernel as Debian ships it
#   config       its configuration
#   dtb/         its trees of RK3588 and RK3576 boards
#   version      its release, as `uname -r` prints it
#   suite        the suite it came from
#   modules/     lib/modules/RELEASE with the modules of guest-modules.txt,
#                unpacked, with modules.dep
#
# NAME is 7 (backports or sid), 6.12 (trixie) or 6.1 (bookworm).

set -eu
. "$(dirname "$0")/guest-lib.sh"

name=${1:?usage: guest-kernel.sh 7|6.12|6.1}
case $name in
7)    suites="trixie-backports sid" ;;
6.12) suites="trixie bookworm-backports" ;;
6.1)  suites="bookworm" ;;
*)    die "there is no kernel '$name': 7, 6.12 and 6.1 are known" ;;
esac
list=$top/scripts/guest-modules.txt
part=$guest/kernel/$name
made_by=$(recipe "$0" "$top/scripts/guest-lib.sh" "$list" "$suites")

# The packages that hold kernel $release in $suite. Kernels before 7 come in
# one package, later ones in three.
packages_of() {
    pieces=$(apt_private show "linux-image-$release" arm64 "$suite" |
             depends_on 'linux-(binary|modules|base)-[0-9].*') || pieces=
    echo "${pieces:-linux-image-$release}"
}

# Unpacks the kernel of $suite into $work/root and sets $release.
fetch_kernel() {
    suite=$1
    release=$(apt_private show linux-image-arm64 arm64 "$suite" |
              depends_on 'linux-image-.*' | sed -n '1s/^linux-image-//p')
    [ -n "$release" ] || return 1
    rm -rf "$work/root"
    for package in $(packages_of); do
        unpack "$work/root" "$package" arm64 "$suite" || return 1
    done
}

# copy_first TO FILE...: copies the first file that exists.
copy_first() {
    to=$1
    shift
    for file in "$@"; do
        [ -f "$file" ] && cp "$file" "$to" && return 0
    done
    die "the packages of $release have no $(basename "$1")"
}

# Names in the list and everything they need, as paths below $tree.
wanted_modules() {
    sed 's/#.*//' "$list" | awk -v dep="$tree/modules.dep" '
        function stem(path) {
            sub(/.*\//, "", path)
            sub(/\.ko.*/, "", path)
            gsub(/-/, "_", path)
            return path
        }
        BEGIN {
            while ((getline line < dep) > 0) {
                split(line, half, ": *")
                path[stem(half[1])] = half[1]
                needs[half[1]] = half[2]
            }
        }
        NF {
            first = path[stem($1)]
            if (first == "")
                next
            print first
            count = split(needs[first], more, " ")
            for (i = 1; i <= count; i++)
                print more[i]
        }' | sort -u
}

# Copies the wanted modules to $new/modules, without compression: the guest's
# loader then needs no xz.
prune_modules() {
    kept=$new/modules/lib/modules/$release
    mkdir -p "$kept"
    for path in $(wanted_modules); do
        mkdir -p "$kept/$(dirname "$path")"
        case $path in
        *.xz) xz -dc "$tree/$path" >"$kept/${path%.xz}" ;;
        *)    cp "$tree/$path" "$kept/$path" ;;
        esac
    done
    (cd "$kept" && find kernel -name '*.ko') |
        grep -xFf - "$tree/modules.order" >"$kept/modules.order"
    cp "$tree/modules.builtin" "$kept/"
    index_modules "$new/modules" "$release"
}

is_current "$part" "$made_by" && exit 0
need depmod kmod
need xz xz-utils
scratch
found=
for try in $suites; do
    if fetch_kernel "$try"; then found=$try; break; fi
done
[ -n "$found" ] || die "no suite of '$suites' has a whole arm64 kernel" \
                       "(linux-image-arm64)"
say "kernel $name is $release of $found"

root=$work/root
new=$work/new
mkdir -p "$new" "$root/usr/lib"
# Some kernels use /lib, some /usr/lib.
[ -d "$root/lib/modules" ] && tree=$root/lib/modules/$release ||
    tree=$root/usr/lib/modules/$release
copy_first "$new/Image" "$tree/vmlinuz" "$root/boot/vmlinuz-$release"
copy_first "$new/config" "$tree/config" "$root/boot/config-$release"
mkdir "$new/dtb"
find "$root" -path '*/rockchip/rk35[78]*.dtb' -exec cp -t "$new/dtb" {} +
depmod -b "${tree%/lib/modules/*}" "$release"
prune_modules
echo "$release" >"$new/version"
echo "$found" >"$new/suite"
publish "$new" "$part" "$made_by"
