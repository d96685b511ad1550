#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs the service of an installed package under systemd, in a root of its own, and looks at what it
# has recorded.
#   boot.sh ROOT SECONDS
# systemd is the first process of new namespaces. Its control groups are of version 2, whatever
# those of this machine are.
set -euo pipefail

if [ "$1" = --inside ]; then
	mount --make-rprivate /
	mount --bind "$2" "$2"
	cd "$2"
	mount -t proc proc proc
	mount --rbind /sys sys
	umount -l sys/fs/cgroup 2>/dev/null || true
	mount -t cgroup2 cgroup2 sys/fs/cgroup
	mount --rbind /dev dev
	mount -t tmpfs tmpfs run
	pivot_root . mnt
	cd /
	umount -l /mnt
	exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd \
		systemd.unit=basic.target
fi

root=$1
seconds=$2
unshare --mount --pid --fork --uts --ipc --cgroup --kill-child "$0" --inside "$root" \
	</dev/null >"$root.boot.log" 2>&1 &
boot=$!
trap 'kill -KILL $boot; wait $boot 2>/dev/null || true; rm -f "$root.boot.log"' EXIT

inside() { # COMMAND...
	nsenter -t "$(pgrep -P $boot)" -m -p -u -i -C -r "$@"
}

fail() {
	echo "boot: $*" >&2
	tail -n 20 "$root.boot.log" >&2
	inside systemctl status --no-pager jitbpf.service >&2 || true
	exit 1
}

for _ in $(seq 300); do
	sleep 0.2
	inside systemctl is-active --quiet basic.target 2>/dev/null && booted=1 && break
done
[ -n "${booted:-}" ] || fail "systemd does not start"
inside systemctl start jitbpf.service || fail "the service does not start"
inside sh -c "timeout $seconds sh -c 'while :; do :; done'" || true
inside systemctl is-active --quiet jitbpf.service || fail "the service has ended"
inside systemctl stop jitbpf.service
[ "$(inside systemctl show -P Result jitbpf.service)" = success ] || fail "the service failed"
# The load above, among others.
inside sh -c 'jitbpf report --json /var/lib/jitbpf/profile.*.jitbpf' >"$root.boot.log"
python3 - "$root.boot.log" "$seconds" <<'PYTHON' || fail "it has not recorded what ran"
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
wanted = 49 * float(sys.argv[2]) / 4
taken = sum(p["samples"]["taken"] for p in report["processes"] if p["comm"] == "sh")
print(f"boot: {report['samples']['taken']} samples, {taken} of the load", file=sys.stderr)
sys.exit(taken < wanted)
PYTHON
