#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""perl_memory.py FOLDER: writes inputs of tests/fuzz/fuzz_perl_memory.c: the memory of a thread of
Perl that is whole, with threads and without."""
import struct
import sys

BASE, HEAD_BYTES = 0x10000, 96
VALUE, COP, STACK, MEMBER = 32, 48, 64, 224
GLOB, HASH = 9, 12
NAMED = 0x8000
MAIN, SORT = 1, 3
BLOCK, FUNCTION, EVAL, TRY = 2, 9, 11, 0x40
NEXT_STATE = 195


class Memory:
    def __init__(self):
        self.bytes = bytearray(HEAD_BYTES)

    def put(self, at, data):
        self.bytes[at - BASE:at - BASE + len(data)] = data

    def add(self, data):
        at = BASE + len(self.bytes)
        self.bytes += data + bytes(-len(data) % 8)
        return at

    def words(self, *words):
        return self.add(struct.pack(f"<{len(words)}Q", *words))

    def text(self, text):
        """A text with its hash and its length."""
        data = text.encode()
        return self.add(struct.pack("<II", 0x1234567, len(data)) + data + b"\0\1")

    def value(self, kind, body):
        return self.add(struct.pack("<QIIQ", body, 1, kind, 0))

    def stash(self, name):
        return self.value(HASH, self.words(0, 0, 0, 0, self.text(name), 0, 0, 0))

    def glob(self, name, stash):
        return self.value(GLOB, self.words(0, 0, 0, 0, self.text(name), stash))

    def place(self, line, file):
        """A statement."""
        return self.add(struct.pack("<4QIIQQ", 0, 0, 0, 0, NEXT_STATE, line, 0, file))

    def sub(self, stash, start, name, file, flags):
        body = self.add(struct.pack("<9QQQIII", 0, 0, 0, 0, stash, start, 0x77, name, file, 0, 0, 0,
                                    flags, 1))
        return self.value(13, body), body

    def stack(self, kind, contexts, outer):
        """Contexts: (type, place, retop, function). All but blocks have callers."""
        array, last = b"", -1
        for number, (type_, place, retop, function) in enumerate(contexts):
            array += struct.pack("<QQQQQQQqQQQQQ", type_, 0, place, 0, 0, 0, retop,
                                 last & 0xFFFFFFFF, 0, function, 0, 0, 0)
            if type_ != BLOCK:
                last = number
        return self.add(struct.pack("<4Q4i", 0, self.add(array), outer, 0, len(contexts) - 1,
                                    len(contexts), last, kind))


def seed(has_threads, everywhere):
    m = Memory()
    file = m.add(b"/src/program.pl\0")
    # Without threads, a file is a glob.
    of_place = file if has_threads else m.glob("_</src/program.pl", 0)
    places = [m.place(line, of_place) for line in range(10, 16)]
    package = m.stash("Shop")
    named, body = m.sub(package, places[0], m.text("price"), file, NAMED)
    nameless, _ = m.sub(package, m.words(places[1], 0, 0, 0, 7), m.glob("__ANON__", package), file, 0)
    main = m.stack(MAIN, [(BLOCK, 0, 0, 0), (FUNCTION, places[0], 1, named), (EVAL, places[1], 1, 0),
                          (EVAL | TRY, places[2], 1, 0)], 0)
    sort = m.stack(SORT, [(FUNCTION, places[3], 0, nameless)], m.stack(SORT, [], main))
    if has_threads:
        interpreter = m.add(bytes(MEMBER - 16) + struct.pack("<3Q", places[4], 0, sort))
        m.put(BASE + VALUE, struct.pack("<QQ", 1, interpreter))
    m.put(BASE + COP, struct.pack("<Q", places[4]))
    m.put(BASE + STACK, struct.pack("<Q", sort))
    return bytes((has_threads, everywhere)) + struct.pack("<QQ", body, file) + m.bytes


def main():
    for has_threads in (False, True):
        for everywhere in (False, True):
            name = f"5.36{'-threads' if has_threads else ''}{'-everywhere' if everywhere else ''}"
            with open(f"{sys.argv[1]}/{name}", "wb") as file:
                file.write(seed(has_threads, everywhere))


main()
