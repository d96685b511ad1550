#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Records a real JIT engine for about 10 seconds and writes flamegraph.html.
#   demo.sh BUILD_FOLDER
set -eu
cd "$(dirname "$0")/.."
build=$1
out=$PWD/flamegraph.html

# PHP's JIT publishes its code through the API up to version 8.3.
if php -r 'exit(PHP_VERSION_ID < 80400 ? 0 : 1);' 2>/dev/null; then
	set -- php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing \
		-d opcache.jit_debug=128 tests/workloads/numbers.php 10
else
	g++ -O2 -o "$build/onednn" tests/workloads/onednn.cpp -ldnnl
	set -- env OMP_NUM_THREADS=1 "$build/onednn" 10 2
fi
echo "recording: $*"
"$build/jitbpf" record -F 999 -o "$out" -- "$@"
echo "flame graph: $out"
