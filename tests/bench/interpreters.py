# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the functions of an interpreter cost: Python and PHP, by depth of the call stack.

The workload's CPU time beside perf record -g, interleaved; and, attached late, what each sample more
takes of the CPU time of all processes of jitbpf, in the BPF program, and in the recording.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import time

import cost
import measure
import workload

ROUNDS = 3
SECONDS = 4
DEPTHS = (1, 20, 1000)
FREQUENCIES = (99, 999)
COUNT = {"Python": 12_000, "PHP": 40_000}  # about a second of work
FOREVER = 100_000_000
ACCOUNTING = "/sys/fs/cgroup/cpuacct"  # of cgroup v1; of v2: cpu.stat of each group


def programs():
    found = {"Python": [sys.executable, os.path.join(workload.WORKLOADS, "deep.py")]}
    if shutil.which("php"):
        found["PHP"] = ["php", "-d", "opcache.enable_cli=0",
                        os.path.join(workload.WORKLOADS, "deep.php")]
    return found


class Group:
    """A cgroup that counts the CPU time of all processes that are started in it."""

    def __init__(self):
        self.is_old = os.path.isdir(ACCOUNTING)
        root = ACCOUNTING if self.is_old else "/sys/fs/cgroup"
        self.path = os.path.join(root, f"jitbpf-bench-{os.getpid()}")

    def enter(self):
        with open(os.path.join(self.path, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write("0")

    def cpu_us(self):
        name = "cpuacct.usage" if self.is_old else "cpu.stat"
        with open(os.path.join(self.path, name), encoding="ascii") as file:
            text = file.read()
        return int(text) / 1e3 if self.is_old else int(text.split("usage_usec")[1].split()[0])

    def __enter__(self):
        os.mkdir(self.path)
        return self

    def __exit__(self, *_error):
        for _ in range(50):  # until the last process has left it
            with contextlib.suppress(OSError):
                os.rmdir(self.path)
                return
            time.sleep(0.1)


def attached(bench, group, pid, freq):
    """Returns CPU time in us, samples, bytes, and the time of the BPF program for a sample."""
    out, before = bench.path("interpreter.jitbpf"), group.cpu_us()
    process = measure.start([bench.jitbpf, "record", "-F", str(freq), "-p", str(pid), "-o", out],
                            stderr=subprocess.PIPE, preexec_fn=group.enter)
    time.sleep(SECONDS)
    bpf_us = cost.bpf_time_us(process.pid)
    measure.interrupt(process)
    summary = process.stderr.read().decode()
    measure.finish(process)
    return (group.cpu_us() - before, measure.counted(summary, "samples taken"),
            os.path.getsize(out), bpf_us)


def own_cost(bench, table, work, depth):
    rows = []
    with Group() as group, measure.busy([*work, str(depth), str(FOREVER)], 1) as (process,):
        time.sleep(measure.START_SECONDS)
        for _ in range(ROUNDS):
            few, many = (attached(bench, group, process.pid, freq) for freq in FREQUENCIES)
            more = many[1] - few[1]
            rows.append(((many[0] - few[0]) / more, (many[2] - few[2]) / more, many[3]))
    aim = {20: "<= 6", 1000: "<= 60"}.get(depth, "")
    table.add("  own CPU time, each sample more", [row[0] for row in rows], "us/sample", 1, aim=aim)
    table.add("  the BPF program", [row[2] for row in rows], "us/sample", 1)
    table.add("  recording, each sample more", [row[1] for row in rows], "bytes", 1, aim="<= 20")


def slowing(bench, table, work):
    """work: with its depth and count."""
    got = {}
    workload.seconds(bench, [], work)  # the first run is slow
    profilers = {("jitbpf", freq): [bench.jitbpf, "record", "-q", "-F", str(freq), "-o",
                                    bench.path("x.jitbpf"), "--"] for freq in FREQUENCIES}
    profilers |= {("perf", freq): ["perf", "record", "-g", "-q", "-F", str(freq), "-o",
                                   bench.path("perf.data"), "--"] for freq in FREQUENCIES}
    for _ in range(ROUNDS):
        for arm, profiler in profilers.items():
            got.setdefault(arm, []).append(workload.seconds(bench, profiler, work))
    for freq in FREQUENCIES:
        table.add(f"  its CPU time at {freq} Hz, by that under perf",
                  measure.ratio_of(got["jitbpf", freq], got["perf", freq]), "x perf", aim="<= 1.01")


def report(bench, table):
    with measure.sysctl("/proc/sys/kernel/bpf_stats_enabled", "1"):
        for name, work in programs().items():
            for depth in DEPTHS:
                table.heading(f"{name}, {depth:,} functions deep")
                slowing(bench, table, [*work, str(depth), str(COUNT[name])])
                own_cost(bench, table, work, depth)
