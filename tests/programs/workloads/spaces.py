# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Code that must not be confused with other code at its address or with its pid.

  exec     reports code and runs it, executes itself, and runs unreported code at that address
  pid      the same in two processes, the second one with the pid of the first
  shared   two processes report, with equal ids, code in shared memory, and run all of it

The process name says what is running."""

import ctypes
import mmap
import os
import socket
import sys
import time

# push rbp; mov rbp, rsp; mov ecx, 200000; loop: dec ecx; jnz loop; pop rbp; ret
CODE = bytes.fromhex("55 4889e5 b9400d0300 ffc9 75fc 5d c3")
SLOT = 64
PLACE = 0x7000_0000_0000  # an unused address
LOAD, UNLOAD = 13, 14
RWX = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
MAP_FIXED = 0x10
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                      ctypes.c_long]


class Load(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("parent", ctypes.c_uint32), ("name", ctypes.c_char_p),
                ("address", ctypes.c_uint64), ("size", ctypes.c_uint32),
                ("line_count", ctypes.c_uint32), ("lines", ctypes.c_void_p),
                ("class_id", ctypes.c_uint32), ("class_name", ctypes.c_char_p),
                ("source", ctypes.c_char_p)]


class Jit:
    def __init__(self, place=PLACE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, fd=-1):
        self.shim = ctypes.CDLL(os.environ["INTEL_JIT_PROFILER64"])
        self.base = LIBC.mmap(place, 4096, RWX, flags | MAP_FIXED, fd, 0)
        assert self.base == place

    def write(self, slot):
        ctypes.memmove(self.base + slot * SLOT, CODE, len(CODE))

    def tell(self, number, name, slot):
        load = Load(id=number, name=name.encode(), address=self.base + slot * SLOT, size=SLOT)
        self.shim.NotifyEvent(LOAD, ctypes.byref(load))

    def unload(self, number):
        self.shim.NotifyEvent(UNLOAD, ctypes.byref(ctypes.c_uint32(number)))

    def run(self, seconds, *slots):
        """Runs for some CPU time, however busy the machine is."""
        functions = [ctypes.CFUNCTYPE(None)(self.base + slot * SLOT) for slot in slots]
        end = time.process_time() + seconds
        while time.process_time() < end:
            for function in functions:
                function()


def phase(name):
    LIBC.prctl(15, name.encode(), 0, 0, 0)


def told():
    phase("told")
    jit = Jit()
    jit.write(0)
    jit.tell(1, "told", 0)
    jit.run(0.5, 0)


def silent():
    phase("silent")
    jit = Jit()
    jit.write(0)
    jit.run(0.5, 0)


def with_pid(wanted, work):
    """Runs the work in a child with that pid, in a pid namespace. Returns false if the pid is
    taken."""
    with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as last:
        last.write(str(wanted - 1))
    pid = os.fork()
    if not pid:
        if os.getpid() == wanted:
            work()
        os._exit(0)
    os.waitpid(pid, 0)
    return pid == wanted


def with_same_pid():
    """Repeats the attempt: a thread of the profiler may take the pid."""
    for pid in range(1000, 2000, 20):
        if with_pid(pid, told) and with_pid(pid, silent):
            return
    sys.exit("no pid was to be had twice")


def sharing(fd, number, meet):
    """One of two processes; the other one's code is in the other slot."""
    jit = Jit(PLACE + number * 0x100000, mmap.MAP_SHARED, fd)
    jit.write(number)
    jit.tell(1, f"of_{number}", number)
    meet()
    phase(f"both_{number}")
    jit.run(0.5, 0, 1)
    meet()
    if number == 0:
        jit.unload(1)
    meet()
    if number == 1:
        phase("ended")
        jit.run(0.5, 0, 1)


def in_two(work):
    """Runs work(0, meet) here and work(1, meet) in a child; meet() waits for the other process."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    end = ours if child else theirs

    def meet():
        end.sendall(b"x")
        end.recv(1)

    work(int(not child), meet)
    if child:
        os.waitpid(child, 0)


def main():
    mode = sys.argv[1]
    if mode == "exec":
        told()
        os.execv(sys.executable, [sys.executable, __file__, "silent"])
    elif mode == "silent":
        silent()
    elif mode == "pid":
        with_same_pid()
    elif mode == "shared":
        fd = os.memfd_create("jit")
        os.ftruncate(fd, 4096)
        in_two(lambda number, meet: sharing(fd, number, meet))


main()
