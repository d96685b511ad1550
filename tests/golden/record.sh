#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes new recordings after a change of the format (as root). Then run check.sh BUILD --accept.
set -eu
cd "$(dirname "$0")"
here=$PWD
build=$(cd "../../$1" && pwd)
# Recordings contain paths: these reveal nothing about the machine.
place=/tmp/jitbpf-golden
mkdir -p $place
# (opcache does not take files younger than two seconds)
cp -p "$build/jitbpf" "$build/libjitbpf.so" "$build/tests/engine/jit-engine" ../workloads/numbers.php $place
cd $place
record() {
	name=$1
	shift
	unshare --uts sh -c 'hostname golden && exec "$@"' sh \
		./jitbpf record -q -F 199 --user-regs -o "$here/$name.jitbpf" -- "$@" >/dev/null
}
record php php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing \
	-d opcache.jit_debug=128 numbers.php 1.2
record storm ./jit-engine storm --rate 500 --seconds 0.3 --threads 2
rm -r $place
