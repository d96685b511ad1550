# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the event loop does with a sample, without a kernel: CPU time and instructions.

Instructions are the same in each run, so two trees can be compared by them on a busy machine.
"""

import os
import re
import shutil
import subprocess

import measure

ROUNDS = 5
# What the processes run, and how many samples they have. Instructions are counted for a tenth of
# these, and a half of that.
KINDS = {"code": ("JIT code", 500_000), "native": ("native code", 500_000),
         "1": ("CPython", 200_000), "20": ("CPython, 20 functions deep", 200_000),
         "1000": ("CPython, 1,000 functions deep", 20_000)}


def figures(program, count, kind):
    lines = subprocess.run([program, str(count), kind], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    return {name: float(value) for name, value in (line.split() for line in lines)}


def instructions(program, count, kind):
    log = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program,
                          str(count), kind], check=True, text=True, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE).stderr
    return int(re.search(r"Collected : (\d+)", log)[1])


def report(bench, table):
    measure.make(bench, "tests/bench/samples")
    program = os.path.join(bench.build, "tests/bench/samples")
    for kind, (text, many) in KINDS.items():
        rows = [figures(program, many, kind) for _ in range(ROUNDS)]
        table.heading(f"Samples in {text} through intake, recorder and analysis")
        table.add("CPU time", [row["cpu_us"] for row in rows], "us/sample", 3)
        if shutil.which("valgrind"):
            few, more = many // 20, many // 10
            counts = [instructions(program, count, kind) for count in (few, more)]
            table.add("instructions, each sample more", [(counts[1] - counts[0]) / (more - few)],
                      "", 0)
        table.add("recording", [row["bytes"] for row in rows], "bytes/sample", 2)
        table.add("memory", [row["resident_kb"] / 1024 for row in rows], "MB", 1)
