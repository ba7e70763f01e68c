#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes sure that the packages of host-packages.txt are on the host. Missing
# ones are installed as root or through sudo; where neither is possible the
# command to run is printed and the status is 1.

set -eu

list=$(dirname "$0")/host-packages.txt
limit=1200          # seconds the installation may take

installed() {
    dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null | grep -q '^.i'
}

missing=
for package in $(sed 's/#.*//' "$list"); do
    installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    sudo=
elif sudo -n true 2>/dev/null; then
    sudo="sudo -n"
else
    echo "host-packages: run: sudo apt-get install$missing" >&2
    exit 1
fi
echo "host-packages: installing$missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
    $sudo env DEBIAN_FRONTEND=noninteractive timeout "$limit" \
        apt-get -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@" \
        >>"$log" 2>&1 </dev/null
}
# The index of the host may be older than the mirror: update, then install.
apt update && apt install --yes --no-install-recommends $missing || {
    tail -n 5 "$log" >&2
    echo "host-packages: cannot install$missing" >&2
    exit 1
}
