#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The rule of includes (ARCHITECTURE.md): a stage includes only itself and the
# stages before it, and the core knows neither libbpf nor the kernel's interfaces.
set -eu
cd "$(dirname "$0")/.."
order="base engines decode state locate unwind profile symbolize sink pipeline agent cli"
core="base engines decode state locate unwind profile symbolize sink pipeline"
bad=0
seen=""
for stage in $order; do
	seen="$seen $stage"
	for file in $(find "user/$stage" -name '*.[ch]'); do
		# The steps of unwinding are for the BPF programs and us alike.
		for inc in $(grep -v '"bpf/unwind.h"' "$file" |
			sed -n 's/^#include "\([a-z-]*\)\/.*/\1/p' | sort -u); do
			case " $seen uapi " in
			*" $inc "*) ;;
			*) echo "$file: includes $inc/, which comes after $stage/"; bad=1 ;;
			esac
		done
	done
done
for stage in $core; do
	if grep -nE '#include <(bpf/|linux/perf_event|linux/bpf|sys/(mman|socket|ioctl)|pthread|fcntl|time\.h)' \
		-r "user/$stage" --include='*.[ch]'; then
		echo "user/$stage: the core does no I/O and reads no clock"
		bad=1
	fi
done
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
