#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Fetches Debian packages of any suite and architecture without touching the
# host's package database and without privileges.
#
#   apt-private.sh deb     NAME ARCH SUITE...  print the path of the .deb
#   apt-private.sh source  NAME SUITE...       print the path of the .dsc
#   apt-private.sh show    NAME ARCH SUITE...  print the index entry (deb822)
#   apt-private.sh closure NAME ARCH SUITE...  print NAME and what it depends
#                                              on, one name a line
#   apt-private.sh mirror                      print the mirror in use
#
# Suites are tried in the given order: the first one that has the package and
# whose mirror still holds the file wins. Results go to stdout, progress to
# stderr; a failure is one line naming the package and the suites tried.
#
# Everything is checked against Debian's archive keyring by apt itself.
# Indexes live in BUILD/apt, archives in the shared download cache.
#
#   DEBIAN_MIRROR        mirror to use instead of the host's own
#   DEBIAN_KEYRING       keyring to trust instead of the host's own
#   RKNPU_LOCAL_PACKAGES folder of .deb or .dsc files used before any download
#   RKNPU_CACHE          download cache (default: ~/.cache/rknpu-emu)
#   RKNPU_BUILD          build folder (default: build beside this script)

set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${RKNPU_BUILD:-$top/build}
log=$build/apt/log
cache=${RKNPU_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rknpu-emu}
keyring=${DEBIAN_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}
index_hours=12      # an index older than this is refreshed
net_limit=900       # seconds one apt command may take
lock_limit=1800     # seconds to wait for another download to finish

die() {
    echo "apt-private: $*" >&2
    exit 1
}

# The mirror of the host's own release, as apt itself understands its sources.
host_mirror() {
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    apt-get indextargets --format '$(RELEASE) $(REPO_URI)' \
            'Created-By: Packages' 2>/dev/null |
        awk -v r="$1" -v c="$codename" \
            '$1 == c r && !n++ { sub("/*$", "", $2); print $2 }'
}

# Security suites live in a sibling folder of the main archive.
mirror_of() {
    base=${DEBIAN_MIRROR:-$(host_mirror "")}
    [ -n "$base" ] || die "no Debian mirror in the host's apt sources:" \
                          "set DEBIAN_MIRROR to the address of one"
    case $1 in
    *-security)
        own=
        [ -n "${DEBIAN_MIRROR:-}" ] || own=$(host_mirror -security)
        echo "${own:-${base%/}-security}" ;;
    *)
        echo "${base%/}" ;;
    esac
}

# apt of one suite and architecture ("source" for source packages) in $dir.
apt_in() {
    tool=$1
    shift
    timeout "$net_limit" "$tool" -c="$dir/apt.conf" -qq "$@" 2>>"$log"
}

write_config() {
    uri=$(mirror_of "$1")
    native=$2
    [ -r "$keyring" ] || die "$keyring is missing:" \
                             "install debian-archive-keyring"
    mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/etc"
    : >"$dir/status"
    # Backports stand on their release, and come before it.
    releases=$1
    case $1 in *-backports) releases="$1 ${1%-backports}" ;; esac
    [ "$2" != source ] || native=$(dpkg --print-architecture)
    for release in $releases; do
        if [ "$2" = source ]; then
            echo "deb-src [signed-by=$keyring target=Sources] $uri $release main"
        else
            echo "deb [signed-by=$keyring arch=$2 target=Packages] $uri $release main"
        fi
    done >"$dir/sources.list"
    cat >"$dir/apt.conf" <<CONF
Dir::State "$dir";
Dir::State::lists "$dir/lists";
Dir::State::status "$dir/status";
Dir::Cache "$dir/cache";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "srcpkgcache.bin";
Dir::Etc::sourcelist "$dir/sources.list";
Dir::Etc::sourceparts "$dir/etc";
Dir::Etc::preferences "$dir/etc/preferences";
Dir::Etc::preferencesparts "$dir/etc";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Architectures;
APT::Architecture "$native";
APT::Architectures { "$native"; };
APT::Sandbox::User "root";
APT::Get::List-Cleanup "false";
APT::Default-Release "$1";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::http::Timeout "60";
Acquire::https::Timeout "60";
CONF
}

# Makes the index of suite $1, architecture $2 usable; sets $dir.
# With $3 = fresh it is downloaded again whatever its age.
use_index() {
    dir=$build/apt/$1-$2
    mkdir -p "$dir"
    if [ "${3:-}" != fresh ] && [ -n "$(find "$dir/stamp" \
            -mmin -$((index_hours * 60)) 2>/dev/null)" ]; then
        return 0
    fi
    write_config "$1" "$2"
    echo "apt-private: reading the index of $1 ($2)" >&2
    apt_in apt-get update -o APT::Update::Error-Mode=any >&2 || return 1
    touch "$dir/stamp"
}

field() {
    sed -n "s/^$1: //p" | head -n 1
}

# A user's own file stands in for a download.
local_file() {
    [ -n "${RKNPU_LOCAL_PACKAGES:-}" ] || return 1
    found=$(find "$RKNPU_LOCAL_PACKAGES" -name "$1" | sort -V | tail -n 1)
    [ -n "$found" ] && echo "$found"
}

entry() {
    apt_in apt-cache show --no-all-versions "$1"
}

# Newest version of source package $1 in the current index.
source_version() {
    apt_in apt-cache showsrc --only-source "$1" |
        awk '$1 == "Version:" { print $2 }' | sort -V | tail -n 1
}

fetch_deb() {
    info=$(entry "$1") || return 1
    sum=$(echo "$info" | field SHA256)
    file=$cache/debs/$(basename "$(echo "$info" | field Filename)")
    if ! echo "$sum  $file" | sha256sum -c --status 2>/dev/null; then
        part=$(mktemp -d "$cache/debs/part.XXXXXX")
        if ! (cd "$part" && apt_in apt-get download "$1" >&2); then
            rm -rf "$part"
            return 1
        fi
        mv "$part"/*.deb "$file"
        rmdir "$part"
    fi
    echo "$file"
}

fetch_source() {
    version=$(source_version "$1")
    [ -n "$version" ] || return 1
    (cd "$cache/sources" &&
     apt_in apt-get source --download-only --only-source \
            "$1=$version" >&2) || return 1
    file=$cache/sources/$1_${version#*:}.dsc
    [ -f "$file" ] && echo "$file"
}

do_show() {
    info=$(entry "$1") || return 1
    echo "$info"
    echo "Suite: $suite"
}

do_closure() {
    apt_in apt-get --simulate --no-install-recommends install "$1" \
        >"$dir/plan" || return 1
    awk '$1 == "Inst" { print $2 }' "$dir/plan"
}

# Runs "$1 NAME" in each suite until one succeeds. An index can be older than
# the pool behind it, so a failed suite is retried once with a fresh index.
first_suite() {
    action=$1 name=$2 arch=$3
    shift 3
    for suite in "$@"; do
        for age in any fresh; do
            use_index "$suite" "$arch" "$age" || break
            if result=$($action "$name"); then
                echo "$result"
                return 0
            fi
            [ -n "$(find "$dir/stamp" -mmin +5)" ] || break
        done
    done
    cause=$(sed -n 's/^E: //p' "$log" | head -n 1)
    die "cannot get package '$name' ($arch) from any of: $*${cause:+: $cause} (see $log)"
}

usage() {
    sed -n '/^#   apt/,/^# stderr/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

[ $# -ge 1 ] || usage
command=$1
shift
case $command in
mirror) mirror_of ""; exit 0 ;;
deb)
    [ $# -ge 3 ] || usage
    local_file "$1_*_$2.deb" && exit 0
    local_file "$1_*_all.deb" && exit 0
    action=fetch_deb ;;
show|closure)
    [ $# -ge 3 ] || usage
    action=do_$command ;;
source)
    [ $# -ge 2 ] || usage
    local_file "$1_*.dsc" && exit 0
    name=$1
    shift
    set -- "$name" source "$@"
    action=fetch_source ;;
*) usage ;;
esac

# One download at a time: several builds may share the cache.
mkdir -p "$cache/debs" "$cache/sources" "$build/apt"
: >"$log"
exec 9>"$cache/lock"
flock -w "$lock_limit" 9 ||
    die "another download has held $cache/lock for $lock_limit s: is it stuck?"
first_suite "$action" "$@"
