# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Deltas of a profile that grows to 1,000,000 nodes: what they cost the pipeline's thread."""

import os
import subprocess

import measure

ROUNDS = 5


def run(*argv):
    lines = subprocess.run(argv, check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    return {name: float(value) for name, value in (line.split() for line in lines)}


def report(bench, table):
    measure.make(bench, "tests/bench/deltas")
    program = os.path.join(bench.build, "tests/bench/deltas")
    rows = [run(program, "1000000") for _ in range(ROUNDS)]

    def values(name, per=1):
        return [row[name] / (row[per] if isinstance(per, str) else per) for row in rows]

    table.heading("Deltas of a profile that grows to 1,000,000 nodes in 50 rounds (CPU time)")
    table.add("the longest", values("grow_longest_ms"), "ms", 2, aim="10")
    table.add("all of them", values("grow_total_ms"), "ms", 1)
    table.add("  size per node", values("grow_bytes", "nodes"), "bytes", 1)
    table.add("round without a change", values("unchanged_total_ms", "unchanged_calls"), "ms", 4)
    table.add("  size", values("unchanged_bytes", "unchanged_calls"), "bytes", 0)
    table.add("snapshot for a late reader, in all", values("snapshot_total_ms"), "ms", 1)
    table.add("  rounds that it takes", values("snapshot_calls"), "", 0)
    table.add("  the longest of them", values("snapshot_longest_ms"), "ms", 2, aim="10")
    table.add("with 1,000,000 processes, the longest", [run(program, "4000000", "1000000")["grow_longest_ms"]],
              "ms", 2, aim="10")
    table.add("applying all of them, on another thread", values("apply_ms"), "ms", 1)
