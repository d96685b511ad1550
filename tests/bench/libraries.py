# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The profiler's own use of the machine beside programs with large libraries.

clang compiles a file again and again: libLLVM and libclang-cpp have 160 MB and 65,000 symbols.
The same is measured beside a small program. The CPU time is that of all of the profiler's
processes; their private memory and what they read is sampled every 20 ms.
"""

import contextlib
import os
import re
import signal
import subprocess
import time

import measure

ROUNDS = 3
SECONDS = 4
FREQ_HZ = 99
POLL_SECONDS = 0.02
FUNCTIONS = 60
FUNCTION = """
double f%d(double *p, char *s, int n)
{
	double r = 0;

	for (int i = 0; i < n; i++) {
		switch (s[i] %% %d) {
		case 0: r += __builtin_sin(p[i]); break;
		case 1: r *= p[i %% 3]; break;
		case 2: __builtin_memcpy(s, s + n, 5); break;
		default: r -= s[i & 15];
		}
	}
	return r;
}
"""


def children_of(pid):
    """Returns a process and its descendants."""
    found = [pid]
    for each in found:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{each}/task"):
                with open(f"/proc/{each}/task/{thread}/children", encoding="ascii") as file:
                    found += map(int, file.read().split())
    return found


class Watch:
    """The largest private memory of all processes together, and the bytes that readers read."""

    def __init__(self, pid):
        self.pid, self.peak_mb, self.read = pid, 0, {}

    def poll(self):
        private_kb = 0
        for pid in children_of(self.pid):
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                    name = file.read().strip()
                with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
                    private_kb += sum(map(int, re.findall(r"Private_\w+: +(\d+)", file.read())))
                if name == "jitbpf-read":
                    with open(f"/proc/{pid}/io", encoding="ascii") as file:
                        self.read[pid] = int(re.match(r"rchar: (\d+)", file.read())[1])
        self.peak_mb = max(self.peak_mb, private_kb / 1024)

    def read_mb(self):
        return sum(self.read.values()) / 1e6


def run(bench, command, watched):
    """Returns (own CPU seconds, peak private MB, MB read by readers)."""
    with measure.busy(command, 1, start_new_session=True) as (load,):
        try:
            process = measure.start([bench.jitbpf, "record", "-q", "-F", str(FREQ_HZ), "-p",
                                     str(load.pid), "-o", bench.path("libraries.jitbpf")])
            watch, end = Watch(process.pid), time.monotonic() + SECONDS
            while time.monotonic() < end:
                if watched:
                    watch.poll()
                time.sleep(POLL_SECONDS)
            measure.interrupt(process)
            return measure.finish(process), watch.peak_mb, watch.read_mb()
        finally:
            os.killpg(load.pid, signal.SIGKILL)


def report(bench, table):
    source = bench.path("many.c")
    with open(source, "w", encoding="ascii") as file:
        file.writelines(FUNCTION % (i, i % 7 + 3) for i in range(FUNCTIONS))
    compiler = subprocess.run(["clang", "-print-prog-name=clang"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
    loads = {
        "clang": ["sh", "-c", f"while :; do {compiler} -cc1 -triple x86_64-linux-gnu -O2 -S "
                              f"-o /dev/null {source}; done"],
        "a small program": ["sh", "-c", "while :; do :; done"],
    }
    figures = {name: [] for name in loads}
    for _ in range(ROUNDS):
        for name, command in loads.items():
            figures[name].append((run(bench, command, False)[0], *run(bench, command, True)[1:]))
    table.heading(f"Beside programs for {SECONDS} s at {FREQ_HZ} Hz: the profiler's own use")
    for name, runs in figures.items():
        cpu, peak_mb, read_mb = zip(*runs)
        table.add(f"{name}: CPU time", cpu, "s", 3, aim="0.3" if name == "clang" else "")
        table.add("  private memory, all processes", peak_mb, "MB", 1, aim="64")
        table.add("  read by reader processes", read_mb, "MB", 1)
