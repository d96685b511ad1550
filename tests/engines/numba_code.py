# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""numba_code.py ROUNDS FILE: functions that numba inlines; their assembly is written to FILE.

Prints the CPU time of the rounds in seconds.
"""

import sys
import time

import numpy as np
from numba import njit, vectorize


@njit
def square(x):
    return x * x


@njit
def step(x, y):
    return square(x) / (y + square(y) + 1e9)


@njit
def hot(a, rounds):
    total = 0.0
    for _ in range(rounds):
        for i in range(a.size):
            total = step(total, a[i]) + square(a[i])
    return total


@vectorize(["float64(float64)"])
def root(x):
    return np.sqrt(square(x))


data = np.ones(2000)
hot(data, 1)
begin = time.process_time()
hot(root(data), int(sys.argv[1]))
print(time.process_time() - begin)
with open(sys.argv[2], "w", encoding="utf-8") as out:
    for function in (square, step, hot):
        out.write("\n".join(function.inspect_asm().values()))
