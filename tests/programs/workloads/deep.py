# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""deep.py DEPTH COUNT: counts, in the innermost one of DEPTH calls of a function."""

import sys


def leaf(count):
    total = 0
    for i in range(count * 1000):
        total += i * i
    return total


def down(depth, count):
    return leaf(count) if depth <= 1 else down(depth - 1, count)


sys.setrecursionlimit(5000)
down(int(sys.argv[1]), int(sys.argv[2]))
