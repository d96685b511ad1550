# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Decompresses a zstd stream piece by piece, by the library that jitbpf itself links."""

import ctypes

LIBRARY = ctypes.CDLL("libzstd.so.1")
LIBRARY.ZSTD_createDCtx.restype = ctypes.c_void_p
LIBRARY.ZSTD_decompressStream.restype = ctypes.c_size_t
PIECE = 1 << 20


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t)]


class Decompressor:
    def __init__(self):
        self.context = ctypes.c_void_p(LIBRARY.ZSTD_createDCtx())
        self.room = ctypes.create_string_buffer(PIECE)

    def __del__(self):
        LIBRARY.ZSTD_freeDCtx(self.context)

    def decompress(self, packed):
        """Returns all that the stream holds up to here."""
        source = ctypes.create_string_buffer(bytes(packed), len(packed))
        data, out = Buffer(ctypes.addressof(source), len(packed), 0), []
        while True:
            to = Buffer(ctypes.addressof(self.room), PIECE, 0)
            result = LIBRARY.ZSTD_decompressStream(self.context, ctypes.byref(to), ctypes.byref(data))
            if LIBRARY.ZSTD_isError(ctypes.c_size_t(result)):
                raise ValueError("not a zstd stream")
            out.append(self.room.raw[:to.at])
            if data.at == data.size and to.at < PIECE:
                return b"".join(out)
