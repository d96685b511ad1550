#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""compare.py SYMBOLIZE FILE|--libc

Compares the frames of our symbolizer and llvm-symbolizer at addresses all over a file's code.
Fails if they differ in number, function, file or line. With --libc the file is the system's libc,
with the debug info of libc6-dbg.
"""
import random
import re
import subprocess
import sys

COUNT = 10000
INLINED = 1000  # minimum number of inlined frames, to be a real comparison
SHOWN = 10


def run(command, stdin):
    done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode(errors="replace")


def text_of(path):
    sections = run(["readelf", "-SW", path], b"")
    found = re.search(r"\.text\s+PROGBITS\s+(\w+)\s+\w+\s+(\w+)", sections)
    return int(found[1], 16), int(found[2], 16)


def frames_of(output):
    """Returns {address: [(function, file, line)]} of the output of addr2line -a -f -i."""
    frames, lines = {}, iter(output.splitlines())
    for line in lines:
        if re.fullmatch(r"0x[0-9a-f]+", line):
            here = frames.setdefault(int(line, 16), [])
        elif line:
            place = re.sub(r" \(discriminator \d+\)$", "", next(lines))
            file, _, number = place.rpartition(":")
            number = int(number) if number.isdigit() else 0
            here.append((line, file if number else "??", number))
    return frames


def ours(symbolize, path, stdin):
    return frames_of(run([symbolize, path], stdin))


def theirs(path, stdin):
    # Linkage names, demangled by the library that jitbpf uses as well.
    raw = run(["llvm-symbolizer", "--output-style=GNU", "--inlines", "--addresses",
               "--functions=linkage", "--no-demangle", "-e", path], stdin)
    return frames_of(run(["c++filt", "-i"], raw.encode()))


def aliases_of(paths):
    """Returns {name: its addresses} of all symbols of a file and of its debug info."""
    addresses = {}
    for path in paths:
        for flag in "-a", "-D":
            listed = subprocess.run(["nm", flag, path], capture_output=True, check=False).stdout
            for line in run(["c++filt", "-i"], listed).splitlines():
                found = re.match(r"([0-9a-f]+) \S (.+?)(@|$)", line)
                if found:
                    addresses.setdefault(found[2], set()).add(int(found[1], 16))
    return addresses


def same_place(our, their):
    """Old LLVMs repeat a unit's relative directory: "./libio/./libio/x.c"."""
    return our == their or our == (re.sub(r"^(\./.+)/\1/", r"\1/", their[0]), their[1])


class Judge:
    def __init__(self, paths):
        self.aliases = aliases_of(paths)

    def same_symbol(self, our, their):
        """Aliases are equal, and jitbpf omits symbol versions."""
        their = their.partition("@")[0]
        return our == their or bool(self.aliases.get(our, set()) & self.aliases.get(their, set()))

    def same(self, our, their):
        if our[-1][0] == "??" and their == [("??", "??", 0)]:
            return True  # padding, which only the line table covers
        if len(our) != len(their) or \
                not all(same_place(a[1:], b[1:]) for a, b in zip(our, their)):
            return False
        # Without a linkage name jitbpf shows source scopes, LLVM does not.
        return self.same_symbol(our[-1][0], their[-1][0]) and \
            all(a[0] == b[0] or a[0].endswith("::" + b[0]) for a, b in zip(our[:-1], their[:-1]))


def find_libc():
    """Returns the libc, and the path of its debug info on Debian."""
    path = run(["sh", "-c", "ldd /bin/sh | sed -n 's/.*libc.so.* => \\([^ ]*\\) .*/\\1/p'"],
               b"").strip()
    build_id = re.search(r"Build ID: (\w+)", run(["readelf", "-n", path], b""))[1]
    return path, f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"


def main():
    symbolize, path = sys.argv[1:]
    debug = path
    if path == "--libc":
        path, debug = find_libc()
    start, size = text_of(path)
    addresses = sorted(random.Random(1).sample(range(start, start + size), min(COUNT, size)))
    stdin = "".join(f"{address:#x}\n" for address in addresses).encode()
    our, their = ours(symbolize, path, stdin), theirs(debug, stdin)
    judge = Judge({path, debug})
    different = [a for a in addresses if not judge.same(our[a], their[a])]
    inlined = sum(len(our[a]) > 1 for a in addresses)
    deepest = max(len(frames) for frames in our.values())
    print(f"{path}: {len(addresses)} addresses, {inlined} with inlined frames, "
          f"{deepest} frames at most, {len(different)} differ")
    for a in different[:SHOWN]:
        print(f"  {a:#x}\n    ours   {our[a]}\n    theirs {their[a]}")
    return bool(different or inlined < INLINED)


if __name__ == "__main__":
    sys.exit(main())
