#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ruby_memory.py FOLDER: writes inputs of tests/fuzz/fuzz_ruby_memory.c: the memory of a thread of
Ruby that is whole, in each layout and with each way to the execution context."""
import struct
import sys

BASE, HEAD_BYTES = 0x10000, 96
SYMBOLS, ARRAY_CLASS, CONTEXT, THREAD = 16, 48, 56, 72
CLASS, STRING, ARRAY, SINGLETON = 2, 5, 7, 1 << 12
METHOD, SVAR = 6 << 12 | 0x1A, 2 << 12 | 0x1A
LOCAL, FINISH = 0x2, 0x20
LAYOUTS = {
    1: {"stride": 64, "thread": 40, "lines": 120, "parent": 168, "local": 176},
    3: {"stride": 56, "thread": 48, "lines": 112, "parent": 160, "local": 168},
}


class Memory:
    def __init__(self, minor):
        self.bytes = bytearray(HEAD_BYTES)
        self.minor = minor
        self.layout = LAYOUTS[minor]

    def put(self, at, *words):
        """Puts words at an address."""
        at -= BASE
        self.bytes[at:at + 8 * len(words)] = struct.pack(f"<{len(words)}Q",
                                                         *(word & (1 << 64) - 1 for word in words))

    def room(self, size_bytes):
        at = BASE + len(self.bytes)
        self.bytes += bytes(size_bytes + -size_bytes % 8)
        return at

    def add(self, *words):
        at = self.room(8 * len(words))
        self.put(at, *words)
        return at

    def string(self, text, in_object=True):
        text = text.encode()
        padded = text + bytes(40 - len(text) % 8)
        words = struct.unpack(f"<{len(padded) // 8}Q", padded)
        if not in_object:
            return self.add(STRING | 1 << 13, 0, len(text), self.add(*words))
        if self.minor == 1:
            return self.add(STRING | len(text) << 14, 0, *words)
        return self.add(STRING, 0, len(text), *words)

    def pointing_to(self, index, word):
        """An array with this element; those before it are whatever is there."""
        at = self.add(word)
        return self.add(ARRAY, 0, 1 << 16, 0, at - 8 * index)

    def klass(self, path, flags=CLASS, attached=0):
        if self.minor == 3:
            at = self.room(160)
            self.put(at, flags)
            self.put(at + 152, path)
            self.put(at + 128, attached)
            return at
        entries = self.add(0, 0x77, 3, 0, 0x55, path) if path else self.add(0, 0x11, attached)
        table = self.add(0, 0, 0, 0, 0, 2 if path else 1, entries)
        return self.add(flags, 0, 0, self.add(0, table))

    def method(self, owner, name):
        return self.add(METHOD, owner, self.add(0, 0, 0, 0, name), 0, owner)

    def iseq(self, kind, label, line, parent=0, local=0, entries=(0,), words=20):
        body = self.room(192)
        name = self.string(label)
        path = self.string("/src/a.rb", in_object=False)
        self.put(body, kind | words << 32, 0x7000000)
        self.put(body + 64, self.add(ARRAY | 1 << 13 | 2 << 15, 0, path, path, 0), name, name,
                 line << 1 | 1 if self.minor == 1 else line)
        infos = self.room(12 * len(entries))
        self.bytes[infos - BASE:infos - BASE + 12 * len(entries)] = b"".join(
            struct.pack("<III", line + i, 0, 0) for i in range(len(entries)))
        self.put(body + self.layout["lines"], infos, 0, len(entries), self.positions(entries, words))
        self.put(body + self.layout["parent"], parent)
        self.put(body + self.layout["local"], local)
        return self.add(0, 0, body)

    def positions(self, entries, words):
        table = [0] * (6 + (max(words - 54, 0) + 511) // 512 * 10)
        for entry in entries:
            for word in range(entry, 54):
                table[word // 9] += 1 << word % 9 * 7
            if entry >= 54:
                block, bit = divmod(entry - 54, 512)
                table[6 + block * 10 + 2 + bit // 64] |= 1 << bit % 64
        return self.add(*table)

    def body_of(self, iseq):
        return struct.unpack_from("<Q", self.bytes, iseq + 16 - BASE)[0]

    def environment(self, method, previous, flags):
        return self.add(method, previous, flags) + 16


def start(m, context, by_module):
    """The head of the memory, and what must be right before frames are looked at."""
    m.bytes[:6] = b"3.%d.2\0" % m.minor
    m.put(BASE + SYMBOLS, 1000, 0, m.pointing_to(0, m.pointing_to(2 * ord("+"), m.string("+"))))
    m.put(BASE + ARRAY_CLASS, m.klass(m.string("Array")))
    m.put(BASE + CONTEXT, 1 if by_module else -8, 8 if by_module else context)
    m.put(BASE + THREAD, 0, m.add(0, 0, m.add(0, context)))


def frames(m):
    """Returns the frames, the newest first, and an object with its owner."""
    shop = m.klass(m.string("Shop"))
    own = m.klass(0, CLASS | SINGLETON, shop)
    m.put(shop + 8, own)
    plus, open_ = m.method(shop, ord("+")), m.method(own, ord("+"))
    main = m.iseq(7, "<main>", 1)
    method = m.iseq(1, "open", 10, entries=(0, 5, 53, 54, 600), words=700)
    m.put(m.body_of(method) + m.layout["local"], method)
    block = m.iseq(2, "block in open", 12, method, method, entries=(0, 3))
    rescue = m.iseq(4, "rescue in open", 14, method, method, entries=(2, 9))
    outer = m.environment(m.add(SVAR, open_), 0, 0x11110001 | LOCAL)
    code = 0x7000000
    return [
        (0, 0, m.environment(plus, 0, 0x55550001 | LOCAL)),
        (code + 32, block, m.environment(0, outer | 1, 0x22220001)),
        (code + 88, rescue, m.environment(0, outer | 1, 0x77770001)),
        (code + 608, method, outer),
        (0, main, m.environment(0, 0, 0x77770001 | LOCAL)),
        (code + 8, main, m.environment(0, 0, 0x77770001 | LOCAL | FINISH)),
        (0, 0, m.environment(0, 0, 0x79990001 | LOCAL | FINISH)),
    ], m.body_of(block), open_


def seed(minor, by_module, everywhere):
    """Byte 0 is a kind of enum ruby_context - 1: all three are in some seed."""
    m = Memory(minor)
    stack, body, owner = frames(m)
    newest = m.room(m.layout["stride"] * len(stack))
    for i, (pc, iseq, scope) in enumerate(stack):
        m.put(newest + i * m.layout["stride"], pc, 0, iseq, 0, scope)
    thread = m.room(64)
    context = m.add(0, 0, newest, 0, 0, 0, thread)
    m.put(thread + m.layout["thread"], context)
    start(m, context, by_module)
    kind = 2 if by_module else everywhere
    return bytes((kind, everywhere)) + struct.pack("<QQ", body, owner) + m.bytes


def main():
    for minor in LAYOUTS:
        for by_module in (False, True):
            for everywhere in (False, True):
                name = f"3.{minor}{'-module' if by_module else ''}{'-everywhere' if everywhere else ''}"
                with open(f"{sys.argv[1]}/{name}", "wb") as file:
                    file.write(seed(minor, by_module, everywhere))


main()
