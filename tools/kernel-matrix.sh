#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs jitbpf on other kernels, emulated, with this machine's root file system:
# no disk image, no reboot. Prints a row per kernel: whether jitbpf starts, how long that
# takes, where the probe is attached, whether JIT code is named, whether the ledger adds up.
#
#   kernel-matrix.sh KERNEL_FOLDER...
#
# KERNEL_FOLDER is an unpacked kernel package (or several, of one kernel), as from
#   apt-get download linux-image-cloud-amd64   (and its dependencies)
#   dpkg -x linux-image-*.deb KERNEL_FOLDER
#
# BUILD=build  the build to test; `make all build/tests/programs/engine/jit-engine` makes it
# ACCEL=tcg    or kvm        SECONDS_MAX=400  per kernel
# LOGS=folder  keep each kernel's console there
#
# Requires root, qemu-system-x86, virtiofsd (of QEMU or its own), busybox-static,
# cpio, python3. Times are of an emulated machine: about ten times real ones.
set -eu
repo=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${BUILD:-$repo/build}")
accel=${ACCEL:-tcg}
seconds_max=${SECONDS_MAX:-400}

fail() { echo "kernel-matrix: $*" >&2; exit 2; }

[ $# -gt 0 ] || fail "no kernel folder is given: see the head of $0"
[ "$(id -u)" = 0 ] || fail "needs root: virtiofsd shares /"
for tool in qemu-system-x86_64 busybox cpio python3; do
	command -v $tool >/dev/null || fail "$tool is missing"
done
virtiofsd=
for candidate in /usr/libexec/virtiofsd /usr/lib/qemu/virtiofsd; do
	[ ! -x $candidate ] || virtiofsd=$candidate
done
[ -n "$virtiofsd" ] || fail "virtiofsd is missing"
for file in jitbpf libjitbpf.so tests/programs/engine/jit-engine; do
	[ -e "$build/$file" ] || fail "$build/$file is not built"
done

work=$(mktemp -d)
logs=${LOGS:-$work}
mkdir -p "$logs"
daemon=
cleanup() {
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null || :
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# The first process of the guest: mounts the root from virtiofsd, read-only, and runs the test
# in it. The second serial line carries the result.
write_init() {
	cat >"$1" <<-'INIT'
	#!/busybox sh
	b=/busybox
	$b mount -t proc proc /proc
	$b mount -t sysfs sys /sys
	$b mount -t devtmpfs dev /dev
	for module in /modules/*; do [ ! -f "$module" ] || $b insmod "$module"; done
	$b mount -t virtiofs -o ro root /root
	for folder in proc sys dev; do $b mount --bind /$folder /root/$folder; done
	$b mount -t tmpfs run /root/run
	$b stty -F /dev/ttyS1 raw
	$b chroot /root /usr/bin/env PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run TMPDIR=/run \
		PYTHONDONTWRITEBYTECODE=1 $($b cat /environment) \
		/bin/sh -c 'cd /run && exec python3 "$SMOKE" /dev/ttyS1'
	echo o >/proc/sysrq-trigger
	$b sleep 60
	INIT
	chmod +x "$1"
}

# Modules for the root file system, in order of dependency; newer kernels have them built in.
copy_modules() { # KERNEL_FOLDER TO
	number=10
	for name in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci \
		fuse virtiofs; do
		file=$(find "$1" -name "$name.ko*" | head -1)
		case $file in
		"") ;;
		*.xz) xz -dc "$file" >"$2/$number-$name.ko" ;;
		*.zst) zstd -qdc "$file" >"$2/$number-$name.ko" ;;
		*) cp "$file" "$2/$number-$name.ko" ;;
		esac
		number=$((number + 1))
	done
}

make_initrd() { # KERNEL_FOLDER
	tree=$work/initrd
	rm -rf "$tree"
	mkdir -p "$tree/proc" "$tree/sys" "$tree/dev" "$tree/root" "$tree/modules"
	cp "$(command -v busybox)" "$tree/busybox"
	copy_modules "$1" "$tree/modules"
	echo "BUILD=$build SMOKE=$repo/tests/kernel/smoke.py ${JITBPF_DEBUG:+JITBPF_DEBUG=1}" \
		>"$tree/environment"
	write_init "$tree/init"
	(cd "$tree" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd.gz"
}

start_virtiofsd() {
	rm -f "$work/socket"
	"$virtiofsd" --socket-path="$work/socket" -o source=/ -o sandbox=chroot -o cache=always \
		>"$work/virtiofsd.log" 2>&1 &
	daemon=$!
	for _ in $(seq 100); do
		[ ! -S "$work/socket" ] || return 0
		sleep 0.1
	done
	fail "virtiofsd does not start: $(cat "$work/virtiofsd.log")"
}

# TCG's "max" CPU without cx16 boots all kernels.
boot() { # VMLINUZ CONSOLE RESULT
	timeout "$seconds_max" qemu-system-x86_64 -machine q35 -accel "$accel" -cpu max,-cx16 \
		-smp 2 -m 1024 -nodefaults -no-reboot -display none \
		-object memory-backend-memfd,id=memory,size=1024M,share=on \
		-numa node,memdev=memory \
		-kernel "$1" -initrd "$work/initrd.gz" \
		-append "console=ttyS0 quiet panic=-1 rdinit=/init" \
		-serial "file:$2" -serial "file:$3" \
		-chardev "socket,id=root,path=$work/socket" \
		-device vhost-user-fs-pci,chardev=root,tag=root </dev/null
}

# The user's message if jitbpf refused to run, or the end of the console if the test failed.
print_row() { # RESULT CONSOLE NAME
	python3 - "$@" <<-'ROW'
	import json, sys
	result, console, name = sys.argv[1:]
	try:
	    facts = json.loads(open(result).read())
	except (OSError, ValueError):
	    facts = {"kernel": name, "verdict": "no result"}
	columns = ("kernel", 30), ("verdict", 14), ("start_s", 8), ("verified", 9), \
	    ("probe", 9), ("event", 10), ("storm", 24), ("hot", 20), ("chosen", 36), ("events", 20)
	print("".join(str(facts.get(key, "-")).ljust(width) for key, width in columns).rstrip())
	if facts.get("message"):
	    print("    " + facts["message"].replace("\n", "\n    "))
	elif facts["verdict"] != "ok":
	    lines = open(console, errors="replace").read().splitlines()
	    print("".join("    " + line + "\n" for line in lines[-30:]), end="")
	sys.exit(facts["verdict"] != "ok")
	ROW
}

printf '%-30s%-14s%-8s%-9s%-9s%-10s%-24s%-20s%-36s%s\n' \
	KERNEL VERDICT START_S VERIFIED PROBE EVENT "STORM right/all" "HOT named/all" \
	"CHOSEN option processes" "EVENTS faults switches"
bad=0
for folder; do
	vmlinuz=$(find "$folder" -name 'vmlinuz*' -type f | head -1)
	[ -n "$vmlinuz" ] || fail "$folder has no vmlinuz"
	console=$logs/$(basename "$folder").log
	make_initrd "$folder"
	start_virtiofsd
	: >"$work/result"
	boot "$vmlinuz" "$console" "$work/result" || echo "qemu ended with $?" >>"$console"
	kill "$daemon" 2>/dev/null || :
	wait "$daemon" 2>/dev/null || :
	daemon=
	print_row "$work/result" "$console" "$folder" || bad=1
done
exit $bad
