# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The CPU time of a fixed amount of work, bare, with jitbpf record, and with perf record -g, with what
BPF does in its context: deep C, PHP, Node, and Java small and large (javac)."""

import os
import shutil
import sys

import measure

ROUNDS = 3
FREQUENCIES = (999, 9999)
WORKLOADS = os.path.join(measure.ROOT, "tests/programs/workloads")
TIMED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "timed.py")
CLASSES = 40  # that javac compiles
# The collector's threads would take what the machine has left.
JAVA = ["-XX:+UseSerialGC", "-XX:+PreserveFramePointer"]


def many_classes(bench):
    """Returns the paths of CLASSES copies of Mixed.java, each with a class of its own."""
    with open(os.path.join(WORKLOADS, "Mixed.java"), encoding="utf-8") as file:
        text = file.read()
    folder = bench.path("classes")
    os.makedirs(folder)
    paths = [os.path.join(folder, f"Mixed{i}.java") for i in range(CLASSES)]
    for i, path in enumerate(paths):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("class Mixed", f"class Mixed{i}"))
    return paths


def commands(bench):
    """Returns the command of each program whose language is installed: about a second of work."""
    c = bench.path("descent")
    measure.run(["gcc", "-O2", "-g", "-fno-omit-frame-pointer", "-o", c,
                 os.path.join(WORKLOADS, "descent.c")])
    found = {"C, deep recursion": [c, "500"], "PHP": measure.php(0, 500)}
    if shutil.which("node"):
        found["Node"] = ["node", "--perf-prof", os.path.join(WORKLOADS, "mixed.js"), "0", "50"]
    if shutil.which("javac"):
        measure.run(["javac", "-d", bench.scratch, os.path.join(WORKLOADS, "Mixed.java")])
        found["Java, small"] = ["java", *JAVA, "-cp", bench.scratch, "Mixed", "0", "40"]
        found["Java, large"] = ["javac", *(f"-J{option}" for option in JAVA), "-d",
                                bench.path("compiled"), *many_classes(bench)]
    return found


def profilers(bench):
    """Returns the command before the work: bare, and each profiler at each rate."""
    found = {"bare": []}
    for freq in FREQUENCIES:
        found["jitbpf", freq] = [bench.jitbpf, "record", "-q", "-F", str(freq), "-o",
                                 bench.path("x.jitbpf"), "--"]
        found["perf", freq] = ["perf", "record", "-g", "-q", "-F", str(freq), "-o",
                               bench.path("perf.data"), "--"]
    return found


def seconds(bench, profiler, work):
    out = bench.path("timed")
    # Engines write their jitdumps into the current folder.
    measure.run([*profiler, sys.executable, TIMED, out, "1", *work], cwd=bench.scratch)
    with open(out, encoding="ascii") as file:
        return float(file.read().split()[0])


def report(bench, table):
    table.heading("Workload: CPU time under the profiler / CPU time bare")
    for name, work in commands(bench).items():
        got = {}
        seconds(bench, [], work)  # the first run is slow
        for _ in range(ROUNDS):
            for arm, profiler in profilers(bench).items():
                got.setdefault(arm, []).append(seconds(bench, profiler, work))
        for freq in FREQUENCIES:
            ours, theirs = got["jitbpf", freq], got["perf", freq]
            table.add(f"{name}, {freq} Hz: jitbpf", measure.ratio_of(ours, got["bare"]), "x bare")
            table.add("  perf record -g", measure.ratio_of(theirs, got["bare"]), "x bare")
            table.add("  jitbpf by perf", measure.ratio_of(ours, theirs), "x perf",
                      aim="<= 1.00" if freq == 999 else "<= 1.03")
        table.add("  bare", got["bare"], "s", 2)
