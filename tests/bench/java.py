# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What profiling costs a JVM: CPU time of a fixed amount of work with our agent alone, with jitbpf
recording, with perf, and with async-profiler if $ASYNC_PROFILER is the path of libasyncProfiler.so.

perf needs frame pointers and a map that the JVM writes at its end; its runs have both.
"""

import os
import shutil
import sys

import measure
import workload

ROUNDS = 5
FREQUENCIES = (99, 999)
ASYNC_PROFILER = os.environ.get("ASYNC_PROFILER")


def works(bench):
    """Returns, for each program, a function from options of the JVM to its command."""
    measure.run(["javac", "-d", bench.scratch, os.path.join(workload.WORKLOADS, "Mixed.java")])
    sources = workload.many_classes(bench)

    def small(*options):
        return ["java", "-XX:+UseSerialGC", *options, "-cp", bench.scratch, "Mixed", "0", "40"]

    def large(*options):
        return ["javac", "-J-XX:+UseSerialGC", *(f"-J{option}" for option in options), "-d",
                bench.path("compiled"), *sources]

    return {"small (collections)": small, "large (javac)": large}


def arms(bench):
    """Returns (command before the work, options of the JVM) of each kind of run."""
    found = {
        "bare": ([], []),
        "our agent alone": ([], [f"-agentpath:{bench.build}/libjitbpf-jvmti.so"]),
    }
    for freq in FREQUENCIES:
        found[f"jitbpf, {freq} Hz"] = ([bench.jitbpf, "record", "-q", "-F", str(freq), "-o",
                                        bench.path("x.jitbpf"), "--"], [])
        found[f"perf -g, {freq} Hz"] = (["perf", "record", "-g", "-q", "-F", str(freq), "-o",
                                         bench.path("perf.data"), "--"],
                                        ["-XX:+PreserveFramePointer",
                                         "-XX:+UnlockDiagnosticVMOptions",
                                         "-XX:+DumpPerfMapAtExit"])
        if ASYNC_PROFILER:
            found[f"async-profiler, {freq} Hz"] = (
                [], [f"-agentpath:{ASYNC_PROFILER}=start,event=ctimer,"
                     f"interval={1000000000 // freq},file={bench.path('async.jfr')}"])
    return found


def cpu_seconds(bench, profiler, command):
    out = bench.path("timed")
    measure.run([*profiler, sys.executable, workload.TIMED, out, "1", *command], cwd=bench.scratch)
    with open(out, encoding="ascii") as file:
        return float(file.read().split()[0])


def report(bench, table):
    if not shutil.which("javac") or not os.path.exists(f"{bench.build}/libjitbpf-jvmti.so"):
        table.heading("Java: not measured, since there is no JDK")
        return
    table.heading("Java: CPU time of the JVM / CPU time bare")
    if not ASYNC_PROFILER:
        table.note("async-profiler is not compared: ASYNC_PROFILER is not set")
    for name, work in works(bench).items():
        got = {}
        cpu_seconds(bench, [], work())  # the first run is slow
        for _ in range(ROUNDS):
            for arm, (profiler, options) in arms(bench).items():
                got.setdefault(arm, []).append(cpu_seconds(bench, profiler, work(*options)))
        aims = {"our agent alone": "<= 1.01", "jitbpf, 999 Hz": "<= 1.03"}
        for arm, values in got.items():
            if arm != "bare":
                table.add(f"{name}: {arm}", measure.ratio_of(values, got["bare"]), "x bare",
                          aim=aims.get(arm, ""))
        table.add(f"{name}: bare", got["bare"], "s", 2)
