#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Records again (as root) what is of the current version of the format: record.sh BUILD_FOLDER.
# Then run check.sh BUILD_FOLDER --accept, and review the diff. php, storm and both were made by
# development versions of other formats, and converted.
set -eu
cd "$(dirname "$0")"
here=$PWD
build=$(cd "../../$1" && pwd)
# Recordings contain paths: these reveal nothing about the machine.
place=/tmp/jitbpf-golden
mkdir -p $place
# (opcache does not take files younger than two seconds)
cp -p "$build/jitbpf" "$build/libjitbpf.so" ../programs/workloads/numbers.php $place
cd $place
record() {
	name=$1
	shift
	unshare --uts sh -c 'hostname golden && exec "$@"' sh \
		./jitbpf record -q -F 49 --user-regs -o "$here/$name.jitbpf" -- "$@" >/dev/null
}
# PHP publishes each trace twice: through the shim (128) and as a jitdump file (32).
record packed php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing \
	-d opcache.jit_debug=160 numbers.php 0.6
# A function that runs first takes the number of the first trace; the lines of the others stay.
sed '1s/$/ first(40000);/' numbers.php >renumbered.php
cat >>renumbered.php <<'END'
function first(int $count): int
{
    for ($i = $sum = 0; $i < $count; $i++) {
        $sum += $i % 7;
    }
    return $sum;
}
END
touch -d '1 minute ago' renumbered.php
record renumbered php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M \
	-d opcache.jit=tracing -d opcache.jit_debug=160 renumbered.php 0.6
# Functions that replace each other, with their code. Debug info has the paths of sources.
objcopy --strip-debug "$build/tests/engine/jit-engine" $place/jit-engine
unshare --uts sh -c 'hostname golden && exec "$@"' sh \
	./jitbpf record -q --code -F 299 -o "$here/code.jitbpf" -- ./jit-engine storm --rate 20 \
	--seconds 0.4 --slots 4 >/dev/null
rm -r $place
