#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes BUILD/guest/kbuild/NAME: what it takes to build a module for the
# guest kernel NAME (see guest-kernel.sh) on this host.
#
#   usr/src/...   Debian's arm64 headers of exactly that kernel
#   usr/lib/...   Debian's kernel build tools for this host
#   host/         the C library those tools run on
#
# The build tools of newer suites need a newer C library than this host may
# have, so each is started through the loader of the newest one.

set -eu
. "$(dirname "$0")/guest-lib.sh"

name=${1:?usage: guest-kbuild.sh 7|6.12|6.1}
kernel=$guest/kernel/$name
"$top/scripts/guest-kernel.sh" "$name"
release=$(cat "$kernel/version")
suite=$(cat "$kernel/suite")
host=$(dpkg --print-architecture)
part=$guest/kbuild/$name
made_by=$(recipe "$0" "$top/scripts/guest-lib.sh" "$release")

# wrap TOOL PROGRAM: makes TOOL a script that starts PROGRAM on host/'s loader.
wrap() {
    cat >"$1.new" <<SH
#!/bin/sh
h=\$(cd "\$(dirname "\$0")" && pwd -P | sed 's|/usr/lib/linux-kbuild.*|/host|')
exec "\$h/loader" --library-path "\$h" "\$(dirname "\$0")/$2" "\$@"
SH
    chmod +x "$1.new"
    mv "$1.new" "$1"
}

fetch_headers() {
    headers=linux-headers-$release
    others=$(apt_private show "$headers" arm64 "$suite" |
             depends_on 'linux-(headers-.*-common|kbuild-.*)') || return 1
    unpack "$1" "$headers" arm64 "$suite" || return 1
    for package in $others; do
        unpack "$1" "$package" "$host" "$suite" || return 1
    done
}

fetch_loader() {
    unpack "$work/libc" libc6 "$host" sid trixie || return 1
    mkdir -p "$1"
    loader=$(find "$work/libc" -name 'ld-linux-*.so.*' -type f | head -n 1)
    cp "$loader" "$1/loader"
    cp "$(dirname "$loader")"/libc.so.6 "$1/"
}

wrap_tools() {
    tools=$(echo "$1"/usr/lib/linux-kbuild-*/scripts)
    mv "$tools/basic/fixdep" "$tools/basic/fixdep.host"
    wrap "$tools/basic/fixdep" fixdep.host
    # modpost comes once for each word size and byte order of the target.
    wrap "$tools/mod/modpost" modpost.real-lsb-64
}

is_current "$part" "$made_by" && exit 0
scratch
fetch_headers "$work/new" || die "no headers for $release in $suite"
fetch_loader "$work/new/host" || die "no C library for the build tools"
wrap_tools "$work/new"
say "headers and build tools of $release"
publish "$work/new" "$part" "$made_by"
