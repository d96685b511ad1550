#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The outputs that show threads over time, read by another JSON parser: each by
# itself, and each sample of real recordings as script has it.
#   tests/ui/check-timelines.sh [BUILD]
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build}
program=$build/tests/ui/make_page
make -s B="$build" "$program" "$build/jitbpf"

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
check() {
	PYTHONDONTWRITEBYTECODE=1 python3 tests/ui/check_timelines.py "$@"
}

for nodes in 0 5000; do
	for format in speedscope firefox folded; do
		"$program" $format $nodes >"$made/$format"
	done
	check "$made/speedscope" "$made/firefox" "$made/folded"
	"$program" firefox $nodes | cmp - "$made/firefox"
done
for recording in tests/golden/*.jitbpf; do
	for format in speedscope firefox folded script; do
		"$build/jitbpf" report --merge=tables -f $format -o "$made/$format" "$recording"
	done
	check "$made/speedscope" "$made/firefox" "$made/folded" "$made/script"
done
echo "timelines: ok"
