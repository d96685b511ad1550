# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Bytes of a recording for each sample, with all names, and what the last segment has of them."""

import os
import shutil
import struct
import subprocess

import measure

SECONDS = 30
WORKLOADS = os.path.join(measure.ROOT, "tests/programs/workloads")


def commands(bench):
    """Returns the command of each program whose language is installed."""
    c = bench.path("mixed")
    subprocess.run(["gcc", "-O2", "-g", "-o", c, os.path.join(WORKLOADS, "mixed.c")], check=True)
    found = {"C": [c, str(SECONDS)], "PHP": measure.php(SECONDS)}
    if shutil.which("javac"):
        subprocess.run(["javac", "-d", bench.scratch, os.path.join(WORKLOADS, "Mixed.java")], check=True)
        found["Java"] = ["java", "-cp", bench.scratch, "Mixed", str(SECONDS)]
    if shutil.which("node"):
        found["Node"] = ["node", "--perf-prof", os.path.join(WORKLOADS, "mixed.js"), str(SECONDS)]
    return found


def last_segment(path):
    """Returns the bytes of the last segment: the names, and less than a second of samples."""
    with open(path, "rb") as file:
        data = file.read()
    at = struct.unpack_from("<I", data, 12)[0]
    while at < len(data):
        size = 8 + struct.unpack_from("<I", data, at)[0]
        at += size
    return size


def report(bench, table):
    table.heading(f"Bytes of a recording for each sample, {SECONDS} s of CPU time, names included")
    for name, command in commands(bench).items():
        for freq, aim in (999, "<= 15"), (99, "<= 25"):
            path = bench.path("size.jitbpf")
            process = measure.start([bench.jitbpf, "record", "-F", str(freq), "-o", path, "--", *command],
                                    stderr=subprocess.PIPE, cwd=bench.scratch)
            summary = process.stderr.read().decode(errors="replace")
            measure.finish(process)
            samples = measure.counted(summary, "samples taken")
            table.add(f"{name}, {freq} Hz", [os.path.getsize(path) / samples], "bytes", 1, aim=aim)
            table.add("  of which names", [last_segment(path) / samples], "bytes", 1)
