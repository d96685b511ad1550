#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Records a PHP program for about 10 seconds, and says how to look at it.
#   demo.sh BUILD_FOLDER
set -eu
cd "$(dirname "$0")/.."
build=$1
page=$PWD/flamegraph.html
recording=$PWD/demo.jitbpf

# Up to version 8.3, PHP's JIT publishes its code through the API. Later ones run without JIT: its
# code would be [unknown] below the functions that it runs. So is the code of PCRE's JIT.
jit=
if php -r 'exit(PHP_VERSION_ID < 80400 ? 0 : 1);'; then
	jit="-d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=function"
fi
# shellcheck disable=SC2086 # several words
set -- php $jit -d pcre.jit=0 tests/programs/workloads/shop.php 10
echo "recording: $*"
"$build/jitbpf" record -q -F 499 -o "$recording" -o "$page" -- "$@"
"$build/jitbpf" report -f top --rows 12 "$recording"
cat <<END

Look at it:
  $page    a flame graph: open it in a browser
  $build/jitbpf report -f top $recording    the same as above, with more rows
Look at your own programs, as root:
  $build/jitbpf top                              all processes, in the terminal, while they run
  $build/jitbpf live                             the same in a browser
  $build/jitbpf record -- COMMAND                writes profile.jitbpf; -p PID, or nothing for all
END
