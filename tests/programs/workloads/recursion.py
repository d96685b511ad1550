# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""recursion.py SECONDS DEPTH: Python called by C called by Python, and so on, DEPTH times."""

import sys
import time


def busy(turns):
    total = 0
    for number in range(turns):
        total ^= number
    return total


def descend(levels):
    """Each level calls sorted(), so that the interpreter calls itself."""
    if not levels:
        return busy(300000)
    return sorted([levels], key=lambda number: descend(number - 1))[0]


seconds = float(sys.argv[1])
end = time.monotonic() + seconds
while time.monotonic() < end or time.process_time() < seconds:
    descend(int(sys.argv[2]))
