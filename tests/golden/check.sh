#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Replays real recordings, without root, and compares the outputs with the expected ones.
#   check.sh BUILD_FOLDER            compare
#   check.sh BUILD_FOLDER --accept   accept the current outputs (then review the diff)
set -eu
cd "$(dirname "$0")"
jitbpf=$(cd "../../$1" && pwd)/jitbpf
output_of() # RECORDING FORMAT; what is packed is compared unpacked: zlib has versions
{
	case $2 in
	firefox) "$jitbpf" report -f "$2" "$1" | gzip -dc ;;
	*) "$jitbpf" report --no-packages -f "$2" "$1" ;; # they are those of this machine
	esac
}

passed=0
failed=0
mode=${2:-}
check() # EXPECTED COMMAND...
{
	expected=$1
	shift
	echo "$expected" # the last one that is named is the one that hangs
	if [ "$mode" = --accept ]; then
		"$@" >"$expected"
	elif "$@" | cmp -s - "$expected"; then
		passed=$((passed + 1))
	else
		echo "golden: $* differs from tests/golden/$expected"
		failed=$((failed + 1))
	fi
}

for recording in *.jitbpf; do
	for format in folded script summary json speedscope firefox top; do
		check "${recording%.jitbpf}.$format" output_of "$recording" $format
	done
done
check packed.top-narrow "$jitbpf" report -f top --width 64 --sort total --rows 8 packed.jitbpf
check packed.top-user "$jitbpf" report -f top --width 100 --rows 0 --kernel no --by pid packed.jitbpf
check php.top-exact "$jitbpf" report -f top --merge=none php.jitbpf
check php.folded-exact "$jitbpf" report -f folded --merge=none php.jitbpf
check php.script-tiers "$jitbpf" report -f script --merge=all --fields sym,tier php.jitbpf
for format in table folded; do
	check php-storm.diff.$format "$jitbpf" diff -f $format php.jitbpf storm.jitbpf
	check both-renumbered.diff.$format "$jitbpf" diff -f $format both.jitbpf renumbered.jitbpf
done
check code.annotate "$jitbpf" annotate gen_4 code.jitbpf
check runtimes.annotate "$jitbpf" annotate Search.run runtimes.jitbpf
check runtimes.annotate-json "$jitbpf" annotate -f json 'App\Search::run' runtimes.jitbpf
check runtimes.folded-interpreter "$jitbpf" report -f folded --interpreter=yes runtimes.jitbpf
check runtimes.script-lines "$jitbpf" report -f script --fields sym,dso,srcline,tier runtimes.jitbpf
check runtimes.pprof sh -c '"$1" report -f pprof runtimes.jitbpf | gzip -dc' - "$jitbpf"
for event in page-faults context-switches; do
	for format in folded json pprof script top; do
		case $format in
		pprof) check events.$event.pprof sh -c \
			'"$1" report -e "$2" -f pprof events.jitbpf | gzip -dc' - "$jitbpf" $event ;;
		*) check events.$event.$format "$jitbpf" report --no-packages -e $event -f $format events.jitbpf ;;
		esac
	done
done
[ "$mode" = --accept ] && exit 0

# bombs/equal.jitbpf: two million equal samples in a kilobyte. Formats of single samples stay small.
for format in firefox script speedscope; do
	echo "bomb.$format"
	if (ulimit -d 32768 && "$jitbpf" report -f $format bombs/equal.jitbpf >/dev/null); then
		passed=$((passed + 1))
	else
		echo "golden: bombs/equal.jitbpf takes more than 32 MB with -f $format"
		failed=$((failed + 1))
	fi
done
echo "golden: $passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
