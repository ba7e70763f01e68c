# SPDX-License-Identifier: GPL-2.0-or-later
#
# Shared by the guest-*.sh scripts: where things are, how a part is fetched,
# and how a finished part is put in place. Sourced, never run.
#
#   RKNPU_BUILD     build folder (default: build beside scripts/)
#   RKNPU_REFRESH   not empty: look for newer packages even if a part is there

PATH=$PATH:/usr/sbin:/sbin
top=$(cd "$(dirname "$0")/.." && pwd)
RKNPU_BUILD=${RKNPU_BUILD:-$top/build}
export RKNPU_BUILD
guest=$RKNPU_BUILD/guest
cross=${CROSS_COMPILE:-aarch64-linux-gnu-}

die() {
    echo "$(basename "$0" .sh): $*" >&2
    exit 1
}

say() {
    echo "$(basename "$0" .sh): $*" >&2
}

# need TOOL PACKAGE: stops unless the host has the program.
need() {
    command -v "$1" >/dev/null ||
        die "$1 is missing: install the package $2 on this host"
}

apt_private() {
    "$top/scripts/apt-private.sh" "$@"
}

# unpack DIR NAME ARCH SUITE...: unpacks one binary package into DIR.
unpack() {
    into=$1
    shift
    deb=$(apt_private deb "$@") || return 1
    mkdir -p "$into"
    dpkg-deb -x "$deb" "$into" || return 1
}

# depends_on PATTERN: names in a Depends field (stdin) that match the pattern.
depends_on() {
    sed -n 's/^Depends: //p' | tr ',' '\n' | awk '{ print $1 }' | grep -xE "$1"
}

# A part's recipe: when one of these files or words changes it is made anew.
recipe() {
    for word in "$@"; do
        if [ -f "$word" ]; then cat "$word"; else echo "$word"; fi
    done | sha256sum | cut -d' ' -f1
}

# is_current PART RECIPE: true when PART is there and was made by RECIPE.
is_current() {
    [ -z "${RKNPU_REFRESH:-}" ] && [ -e "$1" ] &&
        [ "$(cat "$guest/.stamps/$(stamp_name "$1")" 2>/dev/null)" = "$2" ]
}

stamp_name() {
    echo "${1#"$guest"/}" | tr / _
}

# publish NEW PART RECIPE: moves a finished tree into place and stamps it.
publish() {
    mkdir -p "$(dirname "$2")" "$guest/.stamps"
    rm -rf "$2"
    mv "$1" "$2"
    echo "$3" >"$guest/.stamps/$(stamp_name "$2")"
}

# Sets $work to a scratch folder inside the build folder, removed on exit.
scratch() {
    mkdir -p "$guest"
    work=$(mktemp -d "$guest/.work.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
}

# index_modules BASE RELEASE: writes modules.dep and the other text indexes
# that busybox reads; the binary ones are for kmod's own loader.
index_modules() {
    index=$1/lib/modules/$2
    : >"$index/modules.builtin.modinfo"
    depmod -b "$1" "$2"
    rm -f "$index"/modules.*.bin "$index/modules.builtin.modinfo"
}
