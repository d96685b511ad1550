# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""timed.py FILE COPIES COMMAND...: runs COPIES at once, and writes CPU and wall time to FILE.

Measures the workload only, without its profiler: this script is what the profiler executes.
"""

import os
import sys
import time


def main(path, copies, *command):
    began = time.monotonic()
    for _ in range(int(copies)):
        if os.fork() == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.execvp(command[0], command)
    cpu = 0.0
    for _ in range(int(copies)):
        _pid, status, usage = os.wait3(0)
        if status:
            sys.exit(f"{command[0]}: failed")
        cpu += usage.ru_utime + usage.ru_stime
    wall = time.monotonic() - began
    with open(path, "w", encoding="ascii") as out:
        print(cpu, wall, file=out)


main(*sys.argv[1:])
