#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes the source tarball of the last commit: build/jitbpf-VERSION.tar.gz. The same commit makes
# the same bytes. The tarball builds without git, node and network, since it holds the page as built.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^VERSION := //p' Makefile)
mkdir -p build
git archive --format=tar --prefix="jitbpf-$version/" HEAD | gzip -9n >"build/jitbpf-$version.tar.gz"
echo "build/jitbpf-$version.tar.gz"
