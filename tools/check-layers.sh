#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Checks the rule of includes (check_includes.py), SPDX lines, and that each header compiles alone.
set -eu
cd "$(dirname "$0")/.."
bad=0
tools/check_includes.py || bad=1

# shellcheck disable=SC2046
lacking=$(awk '
	FNR <= 3 && index($0, "SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause") { has[FILENAME] = 1 }
	FNR == 3 { nextfile }
	END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has)) print ARGV[i] }' \
	$(git ls-files -co --exclude-standard '*.c' '*.h' '*.sh' '*.mk' Makefile '*.py' '*.html' '*.ts' '*.css' '*.mjs'))
for file in $lacking; do
	echo "$file: no SPDX line"
	bad=1
done

# The build has compiled those headers alone with which a source file of user/ begins.
# shellcheck disable=SC2046
built=$(awk '/^#/ { if ($1 == "#include") { gsub(/"/, "", $2); print $2 } nextfile }' \
	$(git ls-files -co --exclude-standard 'user/*.c'))
for header in $(git ls-files -co --exclude-standard 'uapi/*.h' 'user/*.h'); do
	case "
$built
" in
	*"
${header#user/}
"*) continue ;;
	esac
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -I. -Iuser -I"${BUILD:-build}/bpf" -fsyntax-only -x c "$header" || {
		echo "$header: does not compile alone"; bad=1; }
done
[ $bad = 0 ] && echo "layers: ok"
exit $bad
