#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Checks the rule of includes (check_includes.py), SPDX lines, and that each header compiles alone.
set -eu
cd "$(dirname "$0")/.."
bad=0
tools/check_includes.py || bad=1
for file in $(git ls-files -co --exclude-standard '*.c' '*.h' '*.sh' '*.mk' Makefile '*.py' '*.html' \
	'*.ts' '*.css' '*.mjs'); do
	head -3 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause' || {
		echo "$file: no SPDX line"; bad=1; }
done
for header in $(git ls-files -co --exclude-standard 'uapi/*.h' 'user/*.h'); do
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -I. -Iuser -I"${BUILD:-build}/bpf" -fsyntax-only -x c "$header" || {
		echo "$header: does not compile alone"; bad=1; }
done
[ $bad = 0 ] && echo "layers: ok"
exit $bad
