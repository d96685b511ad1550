# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The slow-down of a fixed amount of work: alone, with jitbpf record, with perf record -g."""

import os
import sys

import measure

ROUNDS = 5
FREQUENCIES = (99, 999, 9999)
PHP_ROUNDS = 450  # about a second
TIMED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "timed.py")


def times(bench, profiler):
    """Returns the (CPU, wall) seconds of the work, one copy per CPU, so that no CPU is idle."""
    out = bench.path("timed")
    command = [sys.executable, TIMED, out, str(os.cpu_count()), *measure.php(0, PHP_ROUNDS)]
    measure.run([*profiler, *command])
    with open(out, encoding="ascii") as file:
        return tuple(map(float, file.read().split()))


def ours(bench, freq):
    return [bench.jitbpf, "record", "-q", "-F", str(freq), "-o", bench.path("x.jitbpf"), "--"]


def perf(bench, freq):
    return ["perf", "record", "-g", "-q", "-F", str(freq), "-o", bench.path("perf.data"), "--"]


def report(bench, table):
    table.heading("Workload, all CPUs busy: time under the profiler / time bare")
    times(bench, [])  # the first run is slow
    got = {freq: ([], [], []) for freq in FREQUENCIES}
    for _ in range(ROUNDS):
        for freq, (bare, jitbpf, peer) in got.items():
            jitbpf.append(times(bench, ours(bench, freq)))
            bare.append(times(bench, []))
            peer.append(times(bench, perf(bench, freq)))
    for freq, (bare, jitbpf, peer) in got.items():
        for which, name in enumerate(("CPU", "wall")):
            def by(a, b, which=which):
                return measure.ratio_of([x[which] for x in a], [x[which] for x in b])
            table.add(f"{freq} Hz, {name}: jitbpf", by(jitbpf, bare), "x bare")
            table.add(f"{freq} Hz, {name}: perf record -g", by(peer, bare), "x bare")
            table.add(f"{freq} Hz, {name}: jitbpf by perf", by(jitbpf, peer), "x perf", aim="<= 1")
    table.note("(wall: no CPU is spare, so what the profiler itself uses shows there as well)")
    first = measure.ratio_of([x[0] for x in got[99][0]], [x[0] for x in got[999][0]])
    table.add("noise: bare by bare, CPU", first, "x bare")
