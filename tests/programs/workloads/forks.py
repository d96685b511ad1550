# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""forks.py LOADS: an engine that sends loads, forks, and sends more in parent and child.

Exits with the child's status.
"""

import ctypes
import os
import sys

LOAD_FINISHED = 13


class Load(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("name", ctypes.c_char_p), ("address", ctypes.c_void_p),
                ("size", ctypes.c_uint32), ("line_count", ctypes.c_uint32),
                ("lines", ctypes.c_void_p), ("class_id", ctypes.c_uint32),
                ("class_name", ctypes.c_char_p), ("source", ctypes.c_char_p)]


collector = ctypes.CDLL(os.environ["INTEL_JIT_PROFILER64"])
collector.Initialize()


def send(count, name):
    for i in range(count):
        load = Load(i + 1, name, 0x10000 + 64 * i, 64)
        collector.NotifyEvent(LOAD_FINISHED, ctypes.byref(load))


loads = int(sys.argv[1])
send(loads, b"before")
child = os.fork()
send(loads, b"parent" if child else b"child")
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xff)
