# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""numba_kinds.py SECONDS: calls functions of each kind for an amount of CPU time."""

import sys
import time

import numpy as np
from numba import guvectorize, njit, types, vectorize
from numba.experimental import jitclass
from numba.typed import Dict


def outer():
    @njit
    def inner(a):
        total = 0.0
        for i in range(a.size):
            total += a[i] / (1.0 + total * total)
        return total
    return inner


@vectorize(["float64(float64,float64)"])
def vector(a, b):
    return np.sin(a) / (1.0 + b)


@guvectorize(["void(float64[:],float64[:])"], "(n)->()")
def general(a, result):
    total = 0.0
    for i in range(a.size):
        total += a[i] / (1.0 + total * total)
    result[0] = total


@jitclass([("total", types.float64)])
class Sum:
    def __init__(self):
        self.total = 0.0

    def add(self, a):
        for i in range(a.size):
            self.total += a[i] / (1.0 + self.total * self.total)


@njit
def count(counts, pair):
    for i in range(20000):
        counts[i % 100] = counts.get(i % 100, 0) + pair[0]


data = np.ones(50000)
closure, object_, counted = outer(), Sum(), Dict.empty(types.int64, types.int64)


def call_all():
    closure(data)
    vector(data, data)
    general(data)
    object_.add(data)
    count(counted, (1, 2.0))


call_all()  # compiles them
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    call_all()
