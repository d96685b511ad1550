# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the roles cost: starts of processes, requests to readers, and a run that does nothing."""

import os
import subprocess

import measure

ROUNDS = 5
RUNS = 10  # of `record -- true`


def run(*argv):
    lines = subprocess.run(argv, check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    return {name: float(value) for name, value in (line.split() for line in lines)}


def report(bench, table):
    measure.make(bench, "tests/bench/readers")
    program = os.path.join(bench.build, "tests/bench/readers")
    rows = [run(program, bench.jitbpf) for _ in range(ROUNDS)]
    data, recording = bench.path("true.data"), bench.path("true.jitbpf")
    ours, theirs = [], []
    for _ in range(RUNS):
        ours.append(measure.run([bench.jitbpf, "record", "-q", "-o", recording, "--",
                                 "true"]) * 1e3)
        theirs.append(measure.run(["perf", "record", "-q", "-g", "-a", "-F", "999", "-o", data,
                                   "--", "true"]) * 1e3)

    def values(name):
        return [row[name] for row in rows]

    table.heading("Roles: CPU time of all processes")
    table.add("start and end of a reader", values("start_reader_us"), "us", 0)
    table.add("start and end of an opener", values("start_opener_us"), "us", 0)
    table.add("start and end of the broker", values("start_broker_us"), "us", 0)
    for what, label in ("name", "name of an address, file known"), ("page", "unwind rows of a page"):
        here, there = values(f"{what}_here_us"), values(f"{what}_reader_us")
        table.add(f"{label}: in process", here, "us", 2)
        table.add("  by a reader", there, "us", 2)
        table.add("  by in process", measure.ratio_of(there, here), "x", 2)
    table.add("record -- true: jitbpf", ours, "ms", 1)
    table.add("  perf record -g -a", theirs, "ms", 1)
    table.add("  by perf", measure.ratio_of(ours, theirs), "x perf", 2)
