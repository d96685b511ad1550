# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""takes.py PID SECONDS: waits until a process has taken so much more CPU time."""

import sys
import time

from run_for import cpu_seconds


def main():
    pid, seconds = int(sys.argv[1]), float(sys.argv[2])
    begin = cpu_seconds(pid)
    while cpu_seconds(pid) - begin < seconds:
        time.sleep(0.05)


if __name__ == "__main__":
    main()
