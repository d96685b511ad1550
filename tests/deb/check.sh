#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Builds the Debian packages twice, from the source tarball of the last commit and in different
# folders, compares them, runs lintian, and installs and removes the package in a fresh root.
#   check.sh [SUITE [MIRROR]]    bookworm or trixie: that of the packages, as on this machine
# Needs root, debootstrap, lintian, the packages of debian/control, and 2 GB below $TMPDIR (/var/tmp).
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=${1:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
mirror=${2:-$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' |
	grep -v -- -security | head -n 1)}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/jitbpf-deb.XXXXXX")
chmod 755 "$work"
trap 'rm -rf --one-file-system "$work"' EXIT
deb=jitbpf_*_amd64.deb

fail() {
	echo "deb: FAILED: $*" >&2
	exit 1
}

step() {
	echo "deb: $*"
}

# --- build -------------------------------------------------------------------

tools/release.sh
for copy in one another/folder; do
	mkdir -p "$work/$copy"
	tar -xf build/jitbpf-*.tar.gz -C "$work/$copy" --strip-components=1
	# Without git and node, whatever this machine has.
	mkdir -p "$work/none"
	for tool in git node npm; do
		printf '#!/bin/sh\necho "no %s in a build" >&2\nexit 1\n' $tool >"$work/none/$tool"
		chmod +x "$work/none/$tool"
	done
	PATH=$work/none:/usr/sbin:/usr/bin:/sbin:/bin unshare --net "$work/$copy/tools/deb.sh" >/dev/null ||
		fail "the tarball does not build in $copy"
done
(cd "$work/one/build/deb" && sha256sum -- *.deb) >"$work/sums"
(cd "$work/another/folder/build/deb" && sha256sum --quiet -c "$work/sums") ||
	fail "two builds differ"
step "two builds are identical"

lintian --fail-on error,warning --suppress-tags bad-distribution-in-changes-file \
	"$work"/one/build/deb/*.changes || fail "lintian"
step "lintian has no errors and warnings"

# --- install -----------------------------------------------------------------

root=$work/root
debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$work/log" 2>&1 || {
	tail -n 5 "$work/log" >&2
	fail "debootstrap"
}
cp /etc/resolv.conf /etc/hosts "$root/etc/"
for file in /etc/apt/apt.conf.d/*; do
	# Files of packages come with these.
	grep -q '^ *Acquire::' "$file" && ! dpkg -S "$file" >/dev/null 2>&1 &&
		cp "$file" "$root/etc/apt/apt.conf.d/"
done
mkdir -p "$root/usr/local/share"
cp -r /usr/local/share/ca-certificates "$root/usr/local/share/" 2>/dev/null || true
cp "$work"/one/build/deb/$deb tests/programs/workloads/numbers.php "$root/"
cat >"$root/common.sh" <<'COMMON'
set -eu
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount --rbind /host-sys /sys
files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /host-sys -o -path /run -o -path /var/cache \
		-o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log -o -path /tmp \) -prune -o -print | sort
}
COMMON
cat >"$root/use.sh" <<'USE'
apt-get update -qq
# What it depends on, and what this test needs.
apt-get install -y -qq --no-install-recommends php-cli systemd bash-completion zsh man-db \
	$(dpkg -f /jitbpf_*.deb Depends | tr ',' '\n' | sed 's/(.*//') >/dev/null 2>&1
rm -f /etc/dpkg/dpkg.cfg.d/*docker* # keeps manual pages
files >/tmp/before
dpkg -i /jitbpf_*.deb >/dev/null
jitbpf version
find /usr/share/doc/jitbpf -name '*.md' | while read -r page; do
	grep -o '](\([^):#]*\)[^):]*)' "$page" | sed 's/^](//; s/[#)].*//' | while read -r target; do
		[ -z "$target" ] || [ -e "${page%/*}/$target" ] || { echo "$page: no $target" >&2; exit 1; }
	done
done
man -P cat jitbpf-record | grep -q -- --rotate
bash -c 'source /usr/share/bash-completion/bash_completion; _completion_loader jitbpf || true
	COMP_TYPE=9 COMP_WORDS=(jitbpf rep) COMP_CWORD=1; compopt() { :; }; _jitbpf; [ "${COMPREPLY[*]}" = report ]'
zsh -c 'autoload -U compinit; compinit -D; [ "$_comps[jitbpf]" = _jitbpf ]'
systemctl --root=/ is-enabled jitbpf.service | grep -qx disabled
systemd-analyze verify /usr/lib/systemd/system/jitbpf.service /lib/systemd/system/jitbpf.service
systemd-analyze security --offline=true jitbpf.service | tail -n 1
jitbpf record -q -F 499 --interpreter yes -o /tmp/php.folded -- php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M \
	-d opcache.jit=tracing -d opcache.jit_debug="$(php -r 'echo PHP_VERSION_ID < 80400 ? 128 : 32;')" \
	/numbers.php 1 >/dev/null
grep -q 'TRACE[-$]' /tmp/php.folded
# PHP's functions, with nothing set.
jitbpf record -q -F 499 -o /tmp/php.folded -- php /numbers.php 1 >/dev/null
grep -q 'mandelbrot' /tmp/php.folded
rm -rf /tmp/jit-* /root/.debug /root/.zcompdump*
# What a service leaves is removed by a purge.
mkdir -p /var/lib/jitbpf
touch /var/lib/jitbpf/profile.jitbpf
dpkg -P jitbpf >/dev/null
files >/tmp/after
diff /tmp/before /tmp/after
USE
mkdir "$root/host-sys"
inside() { # COMMAND
	unshare --mount --propagation private sh -c 'mount --rbind /sys "$1/host-sys" && mount --rbind /dev "$1/dev" &&
		exec chroot "$1" sh -c "$2"' sh "$root" ". /common.sh && $1"
}
inside ". /use.sh" || fail "in a fresh $suite"
step "installed, used and removed in a fresh $suite: passed"

# systemd leaves files of its own.
inside "dpkg -i /jitbpf_*.deb >/dev/null"
tests/deb/boot.sh "$root" 10 || fail "the service in a fresh $suite"
inside "ls /var/lib/jitbpf/*.jitbpf && dpkg -P jitbpf" >/dev/null || fail "the service's files in a fresh $suite"
[ -z "$(ls -d "$root"/var/lib/jitbpf "$root"/etc/systemd/system/*/jitbpf* 2>/dev/null)" ] ||
	fail "the removal of the service in a fresh $suite"
step "run as a service in a fresh $suite: passed"
