# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""run_for.py SECONDS PROGRAM: runs it for so long, and until it has taken as much CPU time.

On a busy machine a profiler then takes as many samples of it as on an idle one. A program that
only waits is ended after ten times the seconds.
"""

import os
import signal
import subprocess
import sys
import time

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """Of a process and of those of its children that have ended."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) * TICK_S


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return list(map(int, children.read().split()))


def have_taken(pids, seconds):
    """Returns true once each of the processes has taken so much CPU time."""
    return min(map(cpu_seconds, pids)) > seconds


def main():
    seconds, begin = float(sys.argv[1]), time.monotonic()
    program = subprocess.Popen(sys.argv[2:], start_new_session=True)
    while program.poll() is None:
        took = time.monotonic() - begin
        if took >= 10 * seconds or (took >= seconds and cpu_seconds(program.pid) >= seconds):
            break
        time.sleep(0.05)
    try:
        os.killpg(program.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass  # it has ended by itself


if __name__ == "__main__":
    main()
