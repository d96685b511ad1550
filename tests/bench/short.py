# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Short runs as a user feels them: from the call to the command, from its end to the prompt, and
the CPU time of a run that samples next to nothing."""

import subprocess
import time

import cgroup

ROUNDS = 7
COMMANDS = (("true", ["true"]), ("php -v", ["php", "-v"]),
            ("python3 -c 'import json'", ["/usr/bin/python3", "-c", "import json"]))

# Prints the time before and after it runs its arguments.
TIMES = ["/usr/bin/python3", "-I", "-S", "-c",
         "import os, sys, time\n"
         "began = time.monotonic()\n"
         "child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ,\n"
         "    file_actions=[(os.POSIX_SPAWN_OPEN, 1, '/dev/null', os.O_WRONLY, 0)])\n"
         "os.waitpid(child, 0)\n"
         "print(began, time.monotonic())"]


def timed(argv):
    """Returns (seconds to the command, seconds from its end to the prompt)."""
    before = time.monotonic()
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True)
    after = time.monotonic()
    began, ended = map(float, done.stdout.split())
    return began - before, after - ended


def report(bench, table):
    record = [bench.jitbpf, "record", "-o", bench.path("short.jitbpf"), "--"]
    table.heading("Short runs")
    with cgroup.hierarchy() as folder:
        for name, command in COMMANDS:
            starts, ends, bare, whole = [], [], [], []
            for _ in range(ROUNDS):
                alone, _ = timed(TIMES + command)
                start, end = timed(record + TIMES + command)
                starts.append((start - alone) * 1e3)
                ends.append(end * 1e3)
                bare.append(cgroup.run(folder, command, stdout=subprocess.DEVNULL)[0])
                whole.append(cgroup.run(folder, record + command, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)[0])
            table.add(f"{name}: start to the command", starts, "ms", 1, aim="80")
            table.add("  end of the command to the prompt", ends, "ms", 1, aim="50")
            table.add("  own CPU time", [(a - b) * 1e3 for a, b in zip(whole, bare)], "ms", 1,
                      aim="40")
