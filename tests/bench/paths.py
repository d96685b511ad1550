# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Recordings with many call paths: what `report` takes for them, and which share of the samples it cuts."""

import json
import os
import subprocess

import measure

SHAPES = (("build", 475_580, "a large build"), ("different", 200_000, "stacks that are all different"))


def cut_share(bench, recording):
    """The share in % of samples whose call paths had no room."""
    out = subprocess.run([bench.jitbpf, "report", "-f", "json", "-o", "-", recording], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    samples = json.loads(out)["samples"]
    return 100 * samples.get("cut", {}).get("left_out", 0) / samples["taken"]


def report(bench, table):
    measure.make(bench, "tests/bench/paths")
    table.heading("Reports with many call paths")
    for shape, samples, text in SHAPES:
        recording = os.path.join(bench.scratch, f"{shape}.jitbpf")
        subprocess.run([os.path.join(bench.build, "tests/bench/paths"), shape, str(samples), recording],
                       check=True)
        for output in ("summary", "top"):
            with subprocess.Popen([bench.jitbpf, "report", "-f", output, recording],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                _, _, used = os.wait4(process.pid, 0)
                process.returncode = 0
            table.add(f"{text}, {output}: memory", [used.ru_maxrss / 1e3], "MB", 0)
            table.add("  CPU time", [used.ru_utime + used.ru_stime], "s", 1)
        table.add("  share of samples that are cut", [cut_share(bench, recording)], "%", 1, aim="0")
