# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""dumps.py MODE FOLDER: a JIT that publishes in a jitdump file of the folder, under unusual
circumstances.

  hot        runs one function
  fork       forks; each process publishes its own code at one address in the file of the parent
  daemon     the same, and the parent ends at once
  deleted    deletes the file when it is mapped
  truncated  somebody truncates the file
  several    two files
  move       moves code
  close      closes the file and goes on
  clock      with times of the TSC
  given      a file that belongs to another user

The process name says what is running."""

import ctypes
import mmap
import os
import struct
import sys
import time

# push rbp; mov rbp, rsp; mov ecx, 200000; loop: dec ecx; jnz loop; pop rbp; ret
CODE = bytes.fromhex("55 4889e5 b9400d0300 ffc9 75fc 5d c3")
SLOT = 64
LOAD, MOVE, CLOSE = 0, 1, 3
FLAG_TSC = 1
NOBODY = 65534
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                      ctypes.c_long]
ARENA = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                  mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
BASE = ctypes.addressof(ctypes.c_char.from_buffer(ARENA))
FOLDER = sys.argv[2]
SECONDS = 0.4


class Dump:
    def __init__(self, prefix="", flags=0, owner=None):
        self.path = os.path.join(FOLDER, f"jit-{prefix}{os.getpid()}.dump")
        self.fd = os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o644)
        os.write(self.fd, struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, os.getpid(),
                                      time.monotonic_ns(), flags))
        if owner:
            os.fchown(self.fd, owner, owner)
        # The mmap of Python refuses what is larger than the file.
        LIBC.mmap(None, 4096, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE, self.fd, 0)

    def put(self, kind, body):
        os.write(self.fd, struct.pack("<IIQ", kind, 16 + len(body), time.monotonic_ns()) + body)

    def load(self, name, slot):
        at = BASE + slot * SLOT
        ARENA[slot * SLOT:slot * SLOT + len(CODE)] = CODE
        self.put(LOAD, struct.pack("<IIQQQQ", os.getpid(), os.getpid(), at, at, SLOT, 1) +
                 name.encode() + b"\0" + ARENA[slot * SLOT:(slot + 1) * SLOT])

    def move(self, old, new):
        ARENA[new * SLOT:(new + 1) * SLOT] = ARENA[old * SLOT:(old + 1) * SLOT]
        self.put(MOVE, struct.pack("<IIQQQQQ", os.getpid(), os.getpid(), BASE + new * SLOT,
                                   BASE + old * SLOT, BASE + new * SLOT, SLOT, 1))


def run(*slots, seconds=SECONDS):
    """Runs for some CPU time, however busy the machine is."""
    functions = [ctypes.CFUNCTYPE(None)(BASE + slot * SLOT) for slot in slots]
    end = time.process_time() + seconds
    while time.process_time() < end:
        for function in functions:
            function()


def phase(name):
    LIBC.prctl(15, name.encode(), 0, 0, 0)


def hot():
    Dump().load("hot", 0)
    run(0, seconds=float(sys.argv[3]))


def fork():
    dump = Dump()
    dump.load("of_both", 0)
    child = os.fork()
    phase("parent" if child else "child")
    if not child or sys.argv[1] == "fork":
        dump.load("of_parent" if child else "of_child", 1)
        run(0, 1)
    if child and sys.argv[1] == "fork":
        os.waitpid(child, 0)


def deleted():
    dump = Dump()
    os.unlink(dump.path)
    dump.load("first", 0)
    run(0)
    dump.load("second", 1)
    run(1)


def truncated():
    dump = Dump()
    dump.load("first", 0)
    run(0)
    os.truncate(dump.path, 0)
    run(0)
    dump.load("second", 1)
    run(1)


def several():
    Dump().load("first", 0)
    Dump("7-").load("second", 1)
    run(0, 1)


def move():
    dump = Dump()
    dump.load("moved", 0)
    phase("before")
    run(0)
    dump.move(0, 1)
    phase("after")
    run(1)


def close():
    dump = Dump()
    dump.load("first", 0)
    dump.put(CLOSE, b"")
    run(0)
    dump.load("second", 1)
    run(1)


def clock():
    Dump(flags=FLAG_TSC).load("first", 0)
    run(0)


def given():
    Dump(owner=NOBODY).load("first", 0)
    run(0)


{"hot": hot, "fork": fork, "daemon": fork, "deleted": deleted, "truncated": truncated,
 "several": several, "move": move, "close": close, "clock": clock, "given": given}[sys.argv[1]]()
