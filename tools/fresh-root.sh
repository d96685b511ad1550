#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs `make demo` and `make check` of the last commit in a fresh Debian, as a new user would:
# with nothing but that Debian's own packages, on this machine's kernel.
#   fresh-root.sh [-k] [-c COMMAND] bookworm|trixie [MIRROR]
#     -k      keep the new root, and say where it is
#     -c      run this instead, such as "make deb-test"
#     MIRROR  where packages come from; without it, where apt gets this machine's
# Needs root, debootstrap and about 5 GB below $TMPDIR (/var/tmp). It leaves nothing mounted and
# no process behind. Exit status: 0 if both pass, 1 if not, 2 for a wrong call, 77 if this
# machine cannot make a new root.
#
# The root is entered by pivot_root(): in a chroot the kernel forbids to create the user
# namespaces that tests need.
set -eu

# --- inside of the new root --------------------------------------------------

timed() # NAME COMMAND...: run it; its time and end go to /fresh-root.times
{
	local name=$1 begin=$SECONDS status=0
	shift
	"$@" || status=$?
	echo "$name: $((SECONDS - begin)) s, $([ $status = 0 ] && echo passed || echo "FAILED ($status)")" \
		>>/fresh-root.times
	return $status
}

inside() # ROOT COMMAND
{
	mount --make-rprivate /
	mount --bind "$1" "$1"
	cd "$1"
	mount -t proc proc proc
	mount --rbind /sys sys
	mount --rbind /dev dev
	mount -t tmpfs tmpfs run
	pivot_root . mnt
	cd /
	umount -l /mnt
	export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TMPDIR=/tmp DEBIAN_FRONTEND=noninteractive
	{
		. /etc/os-release
		echo "$PRETTY_NAME, Linux $(uname -r)"
	} >/fresh-root.times
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends make >/dev/null
	cd /root/jitbpf
	local status=0
	if [ -n "$2" ]; then
		timed "$2" sh -c "$2" || status=1
		return $status
	fi
	timed "make demo" make demo || status=1
	timed "make check" make check || status=1
	return $status
}

if [ "${1:-}" = --inside ]; then
	inside "$2" "$3"
	exit
fi

# --- outside -----------------------------------------------------------------

usage() {
	sed -n 's/^# \{0,1\}//; 3,11p' "$0" >&2
	exit 2
}

keep= command=
while getopts kc: option; do
	case $option in
	k) keep=1 ;;
	c) command=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
case ${1:-} in
bookworm | trixie) suite=$1 ;;
*) usage ;;
esac
mirror=${2:-$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' |
	grep -v -- -security | head -n 1)}
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null || [ -z "$mirror" ]; then
	echo "fresh-root.sh: needs root, debootstrap, and Debian's mirror in /etc/apt or as an argument" >&2
	exit 77
fi
repository=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
root=$(mktemp -d "${TMPDIR:-/var/tmp}/fresh-root-$suite.XXXXXX")
chmod 755 "$root" # tests become other users

processes() { # of the new root: those whose root folder it is
	local wanted pid
	wanted=$(stat -c %d:%i "$root")
	for pid in /proc/[0-9]*; do
		if [ "$(stat -Lc %d:%i "$pid/root" 2>/dev/null)" = "$wanted" ]; then
			echo "${pid#/proc/}"
		fi
	done
}

# The trap for a signal runs at once only if the shell waits for a child in the background.
# With job control that child has a process group, which ends with it.
set -m
child=
interruptible() # COMMAND...
{
	"$@" &
	child=$!
	wait "$child"
	child=
}

# Its mounts are its mount namespace's alone, and go with its last process.
leave() {
	local left
	trap '' INT TERM
	if [ -n "$child" ]; then
		kill -KILL -- "-$child" 2>/dev/null || true
		wait "$child" 2>/dev/null || true
	fi
	for _ in $(seq 100); do
		left=$(processes)
		[ -n "$left" ] || break
		# shellcheck disable=SC2086
		kill -KILL $left 2>/dev/null || true
		sleep 0.1
	done
	[ -z "$left" ] || echo "fresh-root.sh: still there: $left" >&2
	cat "$root/fresh-root.times" 2>/dev/null || true
	rm -f "$root.log"
	if [ -n "$keep" ]; then
		echo "kept: $root"
	else
		rm -rf --one-file-system "$root"
	fi
}
trap leave EXIT
trap 'exit 1' INT TERM

begin=$SECONDS
interruptible debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$root.log" 2>&1 || {
	tail -n 5 "$root.log" >&2
	exit 77
}
echo "debootstrap of $suite: $((SECONDS - begin)) s"

# How this machine reaches the network.
cp /etc/resolv.conf /etc/hosts "$root/etc/"
for file in /etc/apt/apt.conf.d/*; do
	# Files of packages come with these.
	grep -q '^ *Acquire::' "$file" && ! dpkg -S "$file" >/dev/null 2>&1 &&
		cp "$file" "$root/etc/apt/apt.conf.d/"
done
mkdir -p "$root/usr/local/share"
cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
[ -f ~/.npmrc ] && cp ~/.npmrc "$root/root/"

git clone -q --no-hardlinks "$repository" "$root/root/jitbpf"
interruptible unshare --mount "$0" --inside "$root" "$command"
