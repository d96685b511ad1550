#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""v8_memory.py FOLDER: writes seeds of fuzz_v8_memory: a function of V8 with its script, name and
table of positions, as Node.js 20 and 24 have them in memory, and such a table alone."""
import os
import struct
import sys

SIZE = 1024
SOURCE = b"a()\nfunction f(){\n  g();\n}\n"


class Memory:
    def __init__(self):
        self.bytes = bytearray(SIZE)
        self.next = 80
        self.maps = {}

    def put(self, at, form, *values):
        struct.pack_into("<" + form, self.bytes, at, *values)

    def room(self, size):
        at, self.next = self.next, self.next + (size + 7) // 8 * 8
        return at

    def map(self, kind):
        if kind not in self.maps:
            self.maps[kind] = self.room(16)
            self.put(self.maps[kind] + 12, "H", kind)
        return self.maps[kind] + 1

    def object(self, kind, words):
        """Words are integers, which become small ones, or pairs: the words themselves."""
        at = self.room(8 + 8 * len(words))
        self.put(at, "Q", self.map(kind))
        for i, word in enumerate(words):
            self.put(at + 8 + 8 * i, "Q", word[0] if isinstance(word, tuple) else word << 32)
        return at + 1

    def text(self, text):
        at = self.room(16 + len(text))
        self.put(at, "Q", self.map(8))  # sequential, of one byte
        self.put(at + 12, "i", len(text))
        self.bytes[at + 16:at + 16 + len(text)] = text
        return at + 1


def number(value):
    bits, ret = (value << 1) ^ (value >> 63), b""
    while bits > 0x7f:
        ret += bytes([bits & 0x7f | 0x80])
        bits >>= 7
    return ret + bytes([bits])


def positions(entries):
    ret, offset, source = b"", -1, 0
    for at, position in entries:
        ret += number(at - offset) + number((position + 1) * 2 - source)
        offset, source = at, (position + 1) * 2
    return ret


TABLE = positions([(0, 14), (2, 20), (6, 25)])


def function(new):
    memory = Memory()
    name = memory.text(b"f")
    table = memory.object(300, [len(TABLE)] + [0] * ((len(TABLE) + 7) // 8))
    memory.bytes[table - 1 + 16:table - 1 + 16 + len(TABLE)] = TABLE
    if new:
        code = memory.object(186, [9, 0, (table,), 0, 0, 0, 0, 0, 0])
        scope = memory.object(280, [(1 << 12 | 4,), 0, 0, 14, 26, (name,), 0])
    else:
        code = memory.object(191, [9, 0, 0, (table,), 0, 0, 0, 0])
        scope = memory.object(261, [1 << 12 | 2, 0, 0, (name,), 0, 14, 26])
    ends = memory.object(310, [4, 3, 17, 24, 26]) if new else 0
    if new:
        memory.put(ends - 1 + 8 + 8 * 4, "Q", len(SOURCE) << 32)
    script = memory.object(167, [(memory.text(SOURCE),), (memory.text(b"/a.js"),), 0, 0, 0, 0,
                                 (ends or name,), 7])
    shift = 8 if new else 0
    memory.put(0, "Q", memory.map(282 if new else 262))
    memory.put(8, "Q", code)
    memory.put(16 + shift, "Q", scope)
    memory.put(32 + shift, "Q", script)
    memory.put(40 + shift, "HHH", 1, 1, 9)
    memory.put(52 + shift, "i", 3)
    return bytes([1 if new else 0]) + bytes(memory.bytes)


def main():
    for name, seed in (("node-20", function(False)), ("node-24", function(True)),
                       ("positions", bytes([2]) + TABLE)):
        with open(os.path.join(sys.argv[1], name), "wb") as file:
            file.write(seed)


main()
