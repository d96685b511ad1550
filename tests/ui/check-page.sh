#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The outputs seen by programs that are not ours: the page by a browser, JSON by
# another parser, folded stacks by sort. Needs Chromium and python3.
#   tests/ui/check-page.sh BUILD PART [FOLDER for screenshots]
# PART: texts page difference time maps code lives counts (ui.mk)
set -eu
cd "$(dirname "$0")/../.."
build=$1
part=$2
shots=${3:-}
program=$build/tests/ui/make_page

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
html() {
	"$program" html "$2" >"$made/$1.html"
}
recorded() {
	"$build/jitbpf" report -f html "tests/golden/storm.jitbpf" >"$made/jit.html"
	"$build/jitbpf" report --code -f html tests/golden/code.jitbpf >"$made/code.html" 2>/dev/null
}
check() {
	script=$1
	shift
	PYTHONDONTWRITEBYTECODE=1 python3 "tests/ui/$script" "$@" ${shots:+"$shots"}
}

case $part in
texts)
	"$program" json 5000 >"$made/summary.json"
	python3 -c '
import json, sys
s = json.load(open(sys.argv[1], encoding="utf-8"))
fates = ("resolved", "code_unknown", "stack_cut", "lost")
for samples in [s["samples"]] + [p["samples"] for p in s["processes"]]:
    assert samples["taken"] == sum(samples[f] for f in fates), samples
assert any("\u202e" in p["comm"] for p in s["processes"])
' "$made/summary.json"
	echo "json: ok"

	"$program" folded 5000 >"$made/stacks.folded"
	LC_ALL=C sort -cu "$made/stacks.folded"
	if grep -qvP '^[^;]+(;[^;]+)* [0-9]+$' "$made/stacks.folded"; then
		echo "folded: a line that is none"
		exit 1
	fi
	echo "folded: ok"
	html small 5000
	"$program" html 5000 | cmp - "$made/small.html"
	;;
page)
	html empty 0
	html small 5000
	html large 100000
	"$build/jitbpf" report -f html tests/golden/php.jitbpf >"$made/functions.html"
	check check_page.py "$made/empty.html" "$made/small.html" "$made/large.html" "$made/functions.html"
	;;
difference)
	"$program" diff 5000 >"$made/diff.html"
	check check_diff.py "$made/diff.html"
	;;
time | maps)
	html small 5000
	recorded
	script=check_time.py
	[ "$part" = time ] || script=check_process_maps.py
	check $script "$made/small.html" "$made/jit.html"
	;;
code)
	html small 5000
	recorded
	check check_code.py "$made/small.html" "$made/code.html"
	;;
lives)
	html small 5000
	recorded
	"$build/jitbpf" report --code -f html tests/golden/php.jitbpf >"$made/pieces.html" 2>/dev/null
	check check_lives.py "$made/jit.html" "$made/code.html" "$made/pieces.html" "$made/small.html"
	;;
counts)
	PYTHONDONTWRITEBYTECODE=1 python3 tests/ui/check_counts.py "$build/jitbpf" tests/golden/*.jitbpf
	;;
*)
	echo "no such part: $part" >&2
	exit 2
	;;
esac
