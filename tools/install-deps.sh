#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs missing packages on Debian or Ubuntu, and nothing else.
#   install-deps.sh build|demo|check|check-all|deb
set -eu
purpose=${1:-build}

packages="gcc make libc6-dev clang libbpf-dev libelf-dev libiberty-dev zlib1g-dev liblzma-dev libzstd-dev libzydis-dev libcap-dev
	libseccomp-dev libmicrohttpd-dev libncurses-dev"
[ -n "$(ls /usr/sbin/bpftool /usr/bin/bpftool /usr/lib/linux-tools*/*/bpftool 2>/dev/null)" ] ||
	packages="$packages bpftool"
case $purpose in
build) ;;
deb) packages="$packages build-essential git debhelper dpkg-dev lintian debootstrap default-jdk-headless python3" ;;
demo) packages="$packages php-cli" ;;
check | check-all) packages="$packages php-cli ruby perl g++ libdnnl-dev libxbyak-dev python3-torch libcmocka-dev
	clang-format clang-tidy git python3 ca-certificates binutils xz-utils dwz llvm rustc libc6-dbg chromium-headless-shell libdebuginfod1
	e2fsprogs nodejs zsh fish mandoc tmux musl-tools"
	# Any JDK has the header and the compiler that the agent for Java and its tests need.
	{ command -v javac && ls /usr/lib/jvm/*/include/jvmti.h; } >/dev/null 2>&1 ||
		packages="$packages default-jdk-headless"
	command -v npm >/dev/null || packages="$packages npm"
	# For packages, and for engines as they are published.
	[ "$purpose" = check ] ||
		packages="$packages build-essential debhelper dpkg-dev lintian debootstrap golang-go python3-venv" ;;
*) echo "usage: $0 build|demo|check|check-all|deb" >&2; exit 2 ;;
esac

# Since Debian 13 and Ubuntu 24.04, libraries with a time in their interface have "t64" in the
# package name.
is_installed() {
	dpkg-query -W -f '${Status}\n' "$1" "${1}t64" 2>/dev/null | grep -q 'ok installed'
}

missing=""
for package in $packages; do
	is_installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

# Chromium with windows does as well, in twice the time: then a failure is none.
optional=
if [ "$missing" = " chromium-headless-shell" ] && is_installed chromium; then
	[ "$(id -u)" = 0 ] || exit 0
	optional="-o Acquire::Retries=0 -o Acquire::http::Timeout=10"
	trap 'exit 0' EXIT
fi

if [ "$(id -u)" != 0 ]; then
	echo "missing:$missing" >&2
	echo "install them, or run this as root" >&2
	exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
apt-get $optional update -qq
# Ubuntu has bpftool in its kernel tools, and Chromium only as a snap: there, tests of the page
# need a browser that the user installs.
available=""
for package in $missing; do
	if [ -n "$(apt-cache madison "$package" 2>/dev/null)" ]; then
		available="$available $package"
	elif [ -n "$(apt-cache madison "${package}t64" 2>/dev/null)" ]; then
		available="$available ${package}t64"
	elif [ "$package" = bpftool ]; then
		available="$available linux-tools-generic"
	else
		echo "not available here: $package" >&2
		exit 1
	fi
done
# shellcheck disable=SC2086
apt-get $optional install -y -qq --no-install-recommends $available >/dev/null
