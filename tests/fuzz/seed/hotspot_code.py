# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Seeds for tests/fuzz/fuzz_hotspot.c: a compiled method in a code cache, in both forms. The memory
of SIZE bytes repeats. To be run by hand: hotspot_code.py FOLDER"""

import struct
import sys

SIZE = 4096
CODE, CODE_OFFSETS = 4, 5  # kinds of fuzz_hotspot.c
HEAP = 0x400  # with segments of 64 bytes
CODE_AT, CODE_BYTES = 0x680, 64


class Memory:
    def __init__(self):
        self.bytes = bytearray(SIZE)

    def put(self, at, value, size_bytes=8):
        self.bytes[at:at + size_bytes] = (value & (1 << 8 * size_bytes) - 1).to_bytes(size_bytes, "little")

    def text(self, at, text):
        self.bytes[at:at + len(text)] = text

    def symbol(self, at, text):
        self.put(at + 4, len(text), 2)
        self.text(at + 6, text)

    def method(self, at, const_method, constants, class_at, name):
        """A class in the default package, with one method that has one line."""
        self.put(at + 8, SIZE + const_method)
        self.put(const_method + 8, SIZE + constants)
        self.put(const_method + 24, 8, 4)  # words
        self.put(const_method + 28, 1, 2)  # it has lines
        self.put(const_method + 32, 8, 2)  # bytes of code
        self.put(const_method + 34, 1, 2)
        self.text(const_method + 48 + 8, b"\x07\x00")
        self.put(constants + 24, SIZE + class_at)
        self.put(constants + 72 + 8, SIZE + constants + 96)
        self.symbol(constants + 96, name)
        self.put(class_at + 24, SIZE + class_at + 40)
        self.symbol(class_at + 40, b"C")
        self.put(class_at + 232, SIZE + constants)


def make(kind):
    memory = Memory()
    blob, heap = HEAP + (16 if kind == CODE else 8), 0x100
    spaces, shift, zero_free = ((8, 120), 256, 0) if kind == CODE else ((0, 112), 248, 1)
    memory.put(0, 0x10000 + CODE_AT)  # the address that is looked up
    memory.put(8, SIZE + 0x20)
    memory.put(0x20, 1, 4)
    memory.put(0x28, SIZE + 0x30)
    memory.put(0x30, SIZE + heap)
    memory.put(heap + spaces[0] + 16, 0x10000 + HEAP)
    memory.put(heap + spaces[0] + 24, 0x10000 + HEAP + 0x400)
    memory.put(heap + spaces[1] + 16, SIZE + 0x40)
    memory.put(heap + shift, 6, 4)
    for segment in range(16):
        memory.put(0x40 + segment, min(segment, 3), 1)
    memory.put(HEAP, 16, 4)
    memory.put(HEAP + (8 if kind == CODE else 4), 1, 1)
    code = 0x10000 + CODE_AT
    scopes = bytes(byte + zero_free for byte in (9, 0, 1, 1, 1, 2, 1))
    places = struct.pack("<16i", -1, 0, 0, 0, 15, 1, 0, 0, 31, 4, 0, 0, 99, 0, 0, 0)
    if kind == CODE:
        memory.text(0xe0, b"nmethod")
        for at, value, size in ((12, 0x3f0, 4), (32, code, 8), (40, code + CODE_BYTES, 8),
                                (96, SIZE + 0xe0, 8), (112, SIZE + 0x900, 8), (304, 7, 4),
                                (260, 0x2c0, 4), (120, 0x10000 + blob + 0x2d0, 8),
                                (268, 0x2e0, 4), (272, 0x320, 4)):
            memory.put(blob + at, value, size)
        metadata, data, pcs = blob + 0x2c0, blob + 0x2d0, blob + 0x2e0
    else:
        for at, value, size in ((24, 0x3f0, 4), (36, CODE_AT - blob, 4),
                                (40, CODE_AT - blob + CODE_BYTES, 4), (56, 1, 1),
                                (80, SIZE + 0x900, 8), (212, 7, 4), (16, SIZE + 0x800, 8),
                                (28, 8, 4), (48, 24, 4), (96, SIZE + 0x840, 8), (160, 0x60, 4),
                                (196, 0, 4), (200, 0x40, 4)):
            memory.put(blob + at, value, size)
        metadata, data, pcs = 0x808, 0x880, 0x840
    memory.put(metadata, SIZE + 0x900)
    memory.put(metadata + 8, SIZE + 0xc00)
    memory.text(data, scopes)
    memory.text(pcs, places)
    memory.method(0x900, 0x940, 0x990, 0xa20, b"outer")
    memory.method(0xc00, 0xc40, 0xc90, 0xd20, b"inner")
    return bytes([kind]) + bytes(memory.bytes)


for name, kind in (("code", CODE), ("code-offsets", CODE_OFFSETS)):
    with open(f"{sys.argv[1]}/{name}", "wb") as seed:
        seed.write(make(kind))
