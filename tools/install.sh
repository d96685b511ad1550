#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs what is built, or removes what was installed: for `make install` and `make uninstall`.
#   install.sh install|uninstall BUILD
# From the environment: DESTDIR, and absolute paths: PREFIX, BINDIR, LIBDIR, MANDIR, DOCDIR, BASHDIR,
# ZSHDIR, FISHDIR, UNITDIR.
#
# First all files are written under temporary names, so that a failure leaves what was there. Then
# they are renamed, so that processes keep the library that they run. LIBDIR/installed lists them,
# and the folders that were made, in the order of making.
set -eu
umask 022
build=$2
list=$LIBDIR/installed
tab=$(printf '\t')

complain() {
	echo "make install: $*" >&2
	exit 1
}

for path in "$PREFIX" "$BINDIR" "$LIBDIR" "$MANDIR" "$DOCDIR" "$BASHDIR" "$ZSHDIR" "$FISHDIR" "$UNITDIR"; do
	case $path in
	*"$tab"* | *'
'*) complain "a folder has a tab or a newline in its name" ;;
	/*) ;;
	*) complain "not an absolute path: $path" ;;
	esac
done

file() # MODE SOURCE TARGET
{
	printf '%s\t%s\t%s\n' "$@"
}

files() {
	file 755 "$build/jitbpf" "$BINDIR/jitbpf"
	file 644 "$build/libjitbpf.so" "$LIBDIR/libjitbpf.so"
	[ ! -e "$build/libjitbpf-jvmti.so" ] ||
		file 644 "$build/libjitbpf-jvmti.so" "$LIBDIR/libjitbpf-jvmti.so"
	file 644 "$build/php/jitbpf.ini" "$LIBDIR/php/jitbpf.ini"
	for page in "$build"/man/*.1; do
		file 644 "$page" "$MANDIR/man1/${page##*/}"
	done
	file 644 tools/completion/jitbpf.bash "$BASHDIR/jitbpf"
	file 644 tools/completion/_jitbpf "$ZSHDIR/_jitbpf"
	file 644 tools/completion/jitbpf.fish "$FISHDIR/jitbpf.fish"
	file 644 "$work/jitbpf.service" "$UNITDIR/jitbpf.service"
	find README.md SECURITY.md docs -name '*.md' | sort | while IFS= read -r text; do
		file 644 "$work/pages/$text" "$DOCDIR/$text"
	done
	file 644 LICENSE "$DOCDIR/LICENSE"
	find docs -name '*.png' | sort | while IFS= read -r text; do
		file 644 "$text" "$DOCDIR/$text"
	done
	file 644 docs/report.schema.json "$DOCDIR/docs/report.schema.json"
	for text in LICENSES/*; do
		file 644 "$text" "$DOCDIR/$text"
	done
}

# --- install -----------------------------------------------------------------

make_folder() # FOLDER: with its parents; each one that is new is noted
{
	[ ! -d "$DESTDIR$1" ] || return 0
	[ "$1" = / ] || [ -z "$1" ] || make_folder "${1%/*}"
	mkdir "$DESTDIR$1" 2>"$work/error" || return 1
	echo "$1" >>"$work/folders"
}

make_unit() # with the path of the program, in which systemd reads "%" as a specifier
{
	awk '{
		at = index($0, "@BINDIR@")
		folder = ENVIRON["BINDIR"]
		gsub(/%/, "%%", folder)
		print at ? substr($0, 1, at - 1) folder substr($0, at + 8) : $0
	}' tools/systemd/jitbpf.service.in
}

make_pages() # without what only the source tree has: its commands, marks for its tests, links to its files
{
	find README.md SECURITY.md docs -name '*.md' | while IFS= read -r page; do
		mkdir -p "$work/pages/$(dirname "$page")" &&
			sed -e '/^<!-- source tree -->$/,/^<!-- end -->$/d' -e '/^<!-- not run: .* -->$/d' \
				-e 's/\[\([A-Z]*\.md\)\]([AC][A-Z]*\.md)/\1/g' "$page" | cat -s >"$work/pages/$page"
	done
}

undo() {
	status=$?
	trap '' INT TERM HUP
	if [ $status != 0 ]; then
		while IFS= read -r target; do
			rm -f "$DESTDIR$target.jitbpf-new"
		done <"$work/written"
		tac "$work/folders" | while IFS= read -r folder; do
			rmdir "$DESTDIR$folder" 2>/dev/null || true
		done
	fi
	rm -rf "$work"
}

install_all() {
	work=$(mktemp -d)
	: >"$work/written"
	: >"$work/folders"
	trap undo EXIT
	trap 'exit 1' INT TERM HUP
	make_unit >"$work/jitbpf.service"
	make_pages
	files >"$work/files"
	while IFS=$tab read -r mode source target; do
		make_folder "${target%/*}" && [ ! -d "$DESTDIR$target" ] &&
			echo "$target" >>"$work/written" &&
			install -m "$mode" "$source" "$DESTDIR$target.jitbpf-new" 2>"$work/error" ||
			complain "$DESTDIR$target cannot be written: $(sed 's/.*: //' "$work/error");" \
				"nothing was installed"
	done <"$work/files"
	if [ -z "$DESTDIR" ]; then
		echo "$list" >>"$work/written"
		# An earlier installation made folders that exist by now, and perhaps other files.
		{
			cat "$list" 2>/dev/null || true
			sed 's/^/folder /' "$work/folders"
			sed 's/^/file /' "$work/written"
		} | awk '!seen[$0]++' >"$work/list"
		install -m 644 "$work/list" "$list.jitbpf-new" 2>"$work/error" ||
			complain "$list cannot be written: $(sed 's/.*: //' "$work/error"); nothing was installed"
	fi
	trap '' INT TERM HUP
	while IFS= read -r target; do
		mv -fT "$DESTDIR$target.jitbpf-new" "$DESTDIR$target"
	done <"$work/written"
}

# --- uninstall ---------------------------------------------------------------

uninstall_all() {
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	if [ -z "$DESTDIR" ] && [ -e "$list" ]; then
		cp "$list" "$work/list"
	else
		# Folders that are jitbpf's alone; below DESTDIR, all that are empty.
		files | cut -f 3 >"$work/files"
		{
			sed 's/^/file /' "$work/files"
			printf 'folder %s\n' "$LIBDIR" "$LIBDIR/php" "$DOCDIR" "$DOCDIR/LICENSES" \
				"$DOCDIR/docs" "$DOCDIR/docs/engines" "$DOCDIR/docs/pictures"
			[ -z "$DESTDIR" ] || while IFS= read -r folder; do
				while folder=${folder%/*} && [ -n "$folder" ]; do
					echo "folder $folder"
				done
			done <"$work/files" | sort -u
		} >"$work/list"
	fi
	sed -n 's/^file //p' "$work/list" | while IFS= read -r target; do
		rm -f "$DESTDIR$target" 2>"$work/error" || {
			echo "make uninstall: $(cat "$work/error")" >&2
			exit 1
		}
	done
	sed -n 's/^folder //p' "$work/list" | tac | while IFS= read -r folder; do
		rmdir --ignore-fail-on-non-empty "$DESTDIR$folder" 2>/dev/null || true
	done
}

case $1 in
install) install_all ;;
uninstall) uninstall_all ;;
*)
	echo "usage: $0 install|uninstall BUILD" >&2
	exit 2
	;;
esac
