#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Real recordings replayed, as nobody special, and compared with what they are known to say.
#   check.sh BUILD_FOLDER            compare
#   check.sh BUILD_FOLDER --accept   take what is said now as right (then look at the diff)
set -eu
cd "$(dirname "$0")"
jitbpf=$(cd "../../$1" && pwd)/jitbpf
passed=0
failed=0
for recording in *.jitbpf; do
	name=${recording%.jitbpf}
	for format in folded script summary json; do
		expected=$name.$format
		if [ "${2:-}" = --accept ]; then
			"$jitbpf" report -f $format -o "$expected" "$recording"
		elif "$jitbpf" report -f $format "$recording" | cmp -s - "$expected"; then
			passed=$((passed + 1))
		else
			echo "golden: $name: $format differs from tests/golden/$expected"
			failed=$((failed + 1))
		fi
	done
done
[ "${2:-}" = --accept ] && exit 0
echo "golden: $passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
