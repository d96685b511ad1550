#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Builds the Debian packages in build/deb/, from a copy of this tree. They depend on the sources
# and the tools alone: the time is that of debian/changelog, and paths are left out.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^VERSION := //p' Makefile)
if [ "$version" != "$(dpkg-parsechangelog -S Version)" ]; then
	echo "deb.sh: debian/changelog has another version than the Makefile, $version" >&2
	exit 1
fi
rm -rf build/deb
mkdir -p "build/deb/jitbpf-$version"
tar -c --exclude=./build --exclude=./.git --exclude=node_modules --exclude=__pycache__ . |
	tar -x -C "build/deb/jitbpf-$version"
cd "build/deb/jitbpf-$version"
# MAKEFLAGS of a make that runs this are not for the package's.
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL dpkg-buildpackage -b -us -uc >../build.log 2>&1 || {
	tail -n 30 ../build.log >&2
	exit 1
}
cd ..
rm -rf "jitbpf-$version"
ls -- *.deb
