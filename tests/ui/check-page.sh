#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The outputs seen by programs that are not ours: the page by a browser, JSON by
# another parser, folded stacks by sort. Needs chromium and python3.
#   tests/ui/check-page.sh [BUILD [FOLDER for screenshots]]
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build}
program=$build/tests/ui/make_page
make -s B="$build" "$program"

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
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

"$program" html 0 >"$made/empty.html"
"$program" html 5000 >"$made/small.html"
"$program" html 5000 | cmp - "$made/small.html"
"$program" html 100000 >"$made/large.html"
PYTHONDONTWRITEBYTECODE=1 python3 tests/ui/check_page.py "$made/empty.html" "$made/small.html" "$made/large.html" ${2:-}

"$program" diff 5000 >"$made/diff.html"
PYTHONDONTWRITEBYTECODE=1 python3 tests/ui/check_diff.py "$made/diff.html" ${2:-}

"$build/jitbpf" report -f html tests/golden/storm.jitbpf >"$made/jit.html"
PYTHONDONTWRITEBYTECODE=1 python3 tests/ui/check_time.py "$made/small.html" "$made/jit.html" ${2:-}
PYTHONDONTWRITEBYTECODE=1 python3 tests/ui/check_process_maps.py "$made/small.html" "$made/jit.html" ${2:-}

"$build/jitbpf" report --code -f html tests/golden/code.jitbpf >"$made/code.html" 2>/dev/null
PYTHONDONTWRITEBYTECODE=1 python3 tests/ui/check_code.py "$made/small.html" "$made/code.html" ${2:-}

PYTHONDONTWRITEBYTECODE=1 python3 tests/ui/check_lives.py "$made/jit.html" "$made/code.html" "$made/small.html" ${2:-}

PYTHONDONTWRITEBYTECODE=1 python3 tests/ui/check_counts.py "$build/jitbpf" tests/golden/*.jitbpf
