# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A sub-interpreter runs in the thread of the main one: half of the time it has the lock.

usage: sub_interpreter.py SECONDS     of CPU time
"""

import sys

try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters

INNER = """
import time, zlib


def inner_locked(end):
    while time.process_time() < end:
        sum([1, 2, 3])


def inner_free(end):
    data = bytes(range(256)) * 1000
    while time.process_time() < end:
        zlib.compress(data, 9)


def inner_main(seconds):
    start = time.process_time()
    inner_locked(start + seconds / 2)
    inner_free(start + seconds)


inner_main(%s)
"""


def outer_call(interpreter):
    interpreters.run_string(interpreter, INNER % sys.argv[1])


def outer_main():
    outer_call(interpreters.create())


outer_main()
