# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A FUSE file system with a few files, which stops answering on request."""

import ctypes
import mmap
import os
import signal
import stat
import struct

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE = 1, 2, 3, 14, 15, 17, 18
FLUSH, INIT, OPENDIR, RELEASEDIR, INTERRUPT, BATCH_FORGET = 25, 26, 27, 29, 36, 42
NAMES = {"lookup": LOOKUP, "open": OPEN, "read": READ, "flush": FLUSH}
ENOENT, ENOSYS = 2, 38
KEEP_CACHE = 2
MNT_DETACH = 2
PR_SET_PDEATHSIG = 1
ROOT = 1

libc = ctypes.CDLL(None, use_errno=True)


class State:
    """What the test tells the server (`silent`, `spared`) and learns from it (`hung`).

    Shared memory: silent is a bit mask of opcodes (u64), spared a pid or 0 (u32), then come the
    number of hung requests (u32) and the pid of each (u32), as far as there is room.
    """

    BYTES = 4096
    HUNG_MAX = (BYTES - 16) // 4

    def __init__(self):
        self.memory = mmap.mmap(-1, self.BYTES)

    def silence(self, opcode, spared):
        silent, = struct.unpack_from("<Q", self.memory)
        struct.pack_into("<QI", self.memory, 0, silent | 1 << opcode, spared or 0)

    def is_silent(self, opcode, pid):
        silent, spared = struct.unpack_from("<QI", self.memory)
        return bool(silent >> opcode & 1) and pid != spared

    def add_hung(self, pid):
        count, = struct.unpack_from("<I", self.memory, 12)
        if count < self.HUNG_MAX:
            struct.pack_into("<I", self.memory, 16 + 4 * count, pid)
            struct.pack_into("<I", self.memory, 12, count + 1)

    def hung(self):
        count, = struct.unpack_from("<I", self.memory, 12)
        return list(struct.unpack_from(f"<{count}I", self.memory, 16))


class StuckFilesystem:
    """files is {name: bytes}. After hang(), requests of other processes get no answer. If `user` is
    not None, nobody but that user can open the files, as if they had mounted them.

    A separate process serves the requests. A thread of the test could not: subprocess.Popen()
    waits for its child's exec() without releasing the interpreter's lock, and exec() opens a file
    of this file system.
    """

    def __init__(self, folder, files, user=None):
        self.folder = folder
        self.files = [(name.encode(), content) for name, content in files.items()]
        self.state = State()
        self.fuse = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.fuse},rootmode=40000,user_id={user or 0},group_id={user or 0}"
        options += ",allow_other" if user is None else ""
        if libc.mount(b"stuck", folder.encode(), b"fuse", 0, options.encode()):
            raise OSError(ctypes.get_errno(), "mount")
        self.server = os.fork()
        if not self.server:
            self._serve_until_killed()
        os.close(self.fuse)

    def hang(self, what, but_for):
        """Stops answering requests of a kind ("read", ...), except those of process but_for."""
        self.state.silence(NAMES[what], but_for)

    @property
    def hung(self):
        """Returns the pids whose requests got no answer."""
        return self.state.hung()

    def detach(self):
        """Detaches the mount: no new opens, but open and mapped files stay."""
        libc.umount2(self.folder.encode(), MNT_DETACH)

    def close(self):
        """Fails the pending requests and unmounts the file system."""
        os.kill(self.server, signal.SIGKILL)
        os.waitpid(self.server, 0)
        self.detach()

    def _serve_until_killed(self):
        """The server process. It runs none of the test's cleanups, and ends with the test."""
        try:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            self._serve()
        finally:
            os._exit(1)

    def _serve(self):
        while True:
            request = os.read(self.fuse, 1 << 18)
            _size, opcode, unique, node, _uid, _gid, pid = struct.unpack_from("<IIQQIII", request)
            if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            if self.state.is_silent(opcode, pid):
                self.state.add_hung(pid)
                continue
            error, body = self._answer(opcode, node, request[40:])
            try:
                os.write(self.fuse, struct.pack("<IiQ", 16 + len(body), -error, unique) + body)
            except OSError:
                pass  # the requesting process has exited

    def _attributes(self, node):
        size = 0 if node == ROOT else len(self.files[node - 2][1])
        mode = stat.S_IFDIR | 0o755 if node == ROOT else stat.S_IFREG | 0o755
        return struct.pack("<6Q10I", node, size, (size + 511) // 512, 0, 0, 0,
                           0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def _answer(self, opcode, node, body):
        if opcode == INIT:
            return 0, struct.pack("<IIIIHHIIHHI28x", 7, 31, 1 << 17, 0, 16, 12, 1 << 17, 1, 0, 0, 0)
        if opcode == LOOKUP:
            name = body[:-1]
            for number, (known, _content) in enumerate(self.files):
                if known == name:
                    return 0, struct.pack("<4Q2I", number + 2, 0, 0, 0, 0, 0) + \
                        self._attributes(number + 2)
            return ENOENT, b""
        if opcode == GETATTR:
            return 0, struct.pack("<QII", 0, 0, 0) + self._attributes(node)
        if opcode in (OPEN, OPENDIR):
            return 0, struct.pack("<QII", 0, KEEP_CACHE, 0)
        if opcode == READ:
            _handle, offset, size = struct.unpack_from("<QQI", body)
            return 0, self.files[node - 2][1][offset:offset + size]
        if opcode in (RELEASE, RELEASEDIR, FLUSH):
            return 0, b""
        return ENOSYS, b""
