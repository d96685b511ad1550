# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Maps a file that looks like the journal of a JIT (uapi/jit_journal.h), but is invalid.

forger.py LIE: prints a line when the file is mapped, and works on."""

import fcntl
import mmap
import os
import struct
import sys
import threading
import time

F_ADD_SEALS, SHRINK = 1033, 2
HEAD = struct.Struct("<8sIIQQQQQQQQQQIIQQ")
DATA = 4096
COMMITTED = 0x434F4D54
TIME = 8 + 16  # offset of an event's time in its entry
LARGE_NAME = b"attacker" * 6000


def entry(sequence, name=b"forged", commit=COMMITTED, size=None, header_size=None):
    fields = struct.pack("<II", 1, len(name)) + name
    header = struct.pack("<IHHQQHHIQIIQQII", header_size or 72 + len(fields), 1, 13, sequence, 1,
                         0, 1, 1, 1, sequence + 1 & 0xFFFFFFFF, 0, 0x10000, 0x100, 0, 0)
    whole = 8 + len(header) + len(fields) + 7 & ~7
    return struct.pack("<II", size or whole, commit) + (header + fields).ljust(whole - 8, b"\0")


def head(used, capacity=1 << 20, generation=0):
    return HEAD.pack(b"JITBPFJ\n", 2, DATA, capacity, used, generation, 1 << 40, 0, 0, 0, 0, 0,
                     1 << 62, os.getpid(), 0, 0, 0)


def forge(capacity=1 << 20, seals=SHRINK):
    fd = os.memfd_create("jitbpf-journal", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, capacity)
    if seals:
        fcntl.fcntl(fd, F_ADD_SEALS, seals)
    return fd, mmap.mmap(fd, capacity)


def put(map_, entries, **kwargs):
    body = b"".join(entries)
    map_[DATA:DATA + len(body)] = body
    map_[0:HEAD.size] = head(DATA + len(body), **kwargs)


def flip(map_):
    """Changes the generation all the time."""
    generation = 0
    while True:
        generation += 2
        map_[40 - 8:40] = struct.pack("<Q", generation)


def forge_large():
    """A gigabyte of loads that are always as young as can be."""
    fd, map_ = forge(1 << 30)
    size = len(entry(0, LARGE_NAME))
    offsets = range(DATA, len(map_) - size, size)
    for sequence, at in enumerate(offsets):
        map_[at:at + size] = entry(sequence, LARGE_NAME)
    map_[0:HEAD.size] = head(offsets[-1] + size, capacity=len(map_))

    def renew():
        while True:
            now = struct.pack("<Q", time.monotonic_ns())
            for at in offsets:
                map_[at + TIME:at + TIME + 8] = now

    threading.Thread(target=renew, daemon=True).start()
    return fd, map_


def tell(lie):
    if lie == "large":
        return forge_large()
    good = [entry(n) for n in range(100)]
    fd, map_ = forge(1 << 30 if lie == "huge" else 1 << 20, 0 if lie == "unsealed" else SHRINK)
    put(map_, good, capacity=len(map_), generation=1 if lie == "odd" else 0)
    if lie == "sizes":
        put(map_, good + [entry(100, size=0xFFFFFFF8)])
    elif lie == "header":
        put(map_, good + [entry(100, header_size=0xFFFFFFFF)])
    elif lie == "used":
        map_[0:HEAD.size] = head((1 << 63) - 8, capacity=1 << 63)
    elif lie == "order":
        put(map_, [entry(n) for n in (5, 6, 3, 7)])
    elif lie == "moving":
        threading.Thread(target=flip, args=(map_,), daemon=True).start()
    elif lie == "huge":
        piece = b"".join(entry(0, commit=0) for _ in range(10000))
        at = DATA
        while at + len(piece) <= len(map_):
            map_[at:at + len(piece)] = piece
            at += len(piece)
        map_[0:HEAD.size] = head(at, capacity=len(map_))
    return fd, map_


def main():
    kept = [tell(lie) for lie in sys.argv[1:]]
    print("told", flush=True)
    while kept:
        sum(range(1000))


main()
