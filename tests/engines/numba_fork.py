# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""numba_fork.py SECONDS: parent and child use the same ids for functions of their own."""

import os
import sys
import time

import numpy as np
from numba import njit


@njit
def before(a, rounds):
    total = 0.0
    for _ in range(rounds):
        for i in range(a.size):
            total += a[i] / (1.0 + total * total)
    return total


@njit
def in_parent(a, rounds):
    total = 0.0
    for _ in range(rounds):
        for i in range(a.size):
            total += a[i] / (1.0 + total * total)
    return total


@njit
def in_child(a, rounds):
    total = 0.0
    for _ in range(rounds):
        for i in range(a.size):
            total += np.sqrt(total + a[i])
    return total


data = np.ones(1000)
before(data, 1)
child = os.fork()
mine = in_parent if child else in_child
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    mine(data, 500)
    before(data, 500)
if child:
    print(os.getpid(), child, flush=True)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xff)
