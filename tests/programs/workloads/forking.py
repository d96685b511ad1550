# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A JIT that forks: the child runs inherited code, then its own code at the address of other
inherited code. The parent generates other code at that address after the fork.

Prints both pids, and works until it is killed."""

import ctypes
import mmap
import os
import signal
import time

# push rbp; mov rbp, rsp; mov ecx, 2000000; loop: dec ecx; jnz loop; pop rbp; ret
CODE = bytes.fromhex("55 4889e5 b980841e00 ffc9 75fc 5d c3")
SIZE = 64


class Load(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("parent", ctypes.c_uint32), ("name", ctypes.c_char_p),
                ("address", ctypes.c_uint64), ("size", ctypes.c_uint32),
                ("line_count", ctypes.c_uint32), ("lines", ctypes.c_void_p),
                ("class_id", ctypes.c_uint32), ("class_name", ctypes.c_char_p),
                ("source", ctypes.c_char_p)]


SHIM = ctypes.CDLL(os.environ["INTEL_JIT_PROFILER64"])
ARENA = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                  mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
BASE = ctypes.addressof(ctypes.c_char.from_buffer(ARENA))
IDS = iter(range(1, 1000))


def make(name, slot):
    at = slot * SIZE
    ARENA[at:at + len(CODE)] = CODE
    load = Load(id=next(IDS), name=name.encode(), address=BASE + at, size=SIZE)
    SHIM.NotifyEvent(13, ctypes.byref(load))
    return ctypes.CFUNCTYPE(None)(BASE + at)


def main():
    inherited, replaced = make("inherited", 0), make("replaced", 1)
    time.sleep(0.05)  # the kernel's start time of a silent child has a resolution of a clock tick
    child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    own = make("of_the_child" if not child else "of_the_parent", 1)
    time.sleep(0.05)
    silent = os.fork() if not child else 1
    if child:
        print(os.getpid(), child, flush=True)
    signal.alarm(60)
    while True:
        inherited()
        own()
        if not silent:
            replaced()  # at the same address as own


main()
