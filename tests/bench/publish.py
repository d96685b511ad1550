# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cost of publishing a method: through the API, in a perf map, in a jitdump."""

import os
import re
import subprocess

import measure

ROUNDS = 5
LIVE = 10_000
COUNTS = {200: 200_000, 4096: 50_000}
METHODS = 100_000
LIVE_COUNTS = (1_000, 100_000, 600_000, 1_000_000)


def tell(bench, how, record_bytes, count, live, profiler=(), **variables):
    """Returns (ns per method, KB of growth of the process)."""
    program = os.path.join(bench.build, "tests/bench/publish_cost")
    done = subprocess.run([*profiler, program, how, str(record_bytes), str(count), str(live)],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          cwd=bench.scratch,
                          env=bench.publishing(how == "api") | variables).stdout.decode()
    found = re.search(r"ns ([\d.]+) grown_kb (-?\d+)", done)
    return float(found[1]), int(found[2])


def report_size(bench, table, record_bytes):
    recording = [bench.jitbpf, "record", "-q", "-F", "1", "-o", bench.path("tell.jitbpf"), "--"]
    ways = {
        "API, nobody listens": ("api", {}),
        "  with no journal": ("api", {"JITBPF_JOURNAL_MB": "0"}),
        "API, attached": ("api", {"profiler": recording}),
        "perf map line, buffered": ("map", {}),
        "perf map line, written at once": ("lines", {}),
        "jitdump entry, buffered": ("dump", {}),
    }
    figures = {label: [] for label in ways}
    for _ in range(ROUNDS):
        for label, (how, options) in ways.items():
            figures[label].append(tell(bench, how, record_bytes, COUNTS[record_bytes], LIVE,
                                       **options)[0])
    table.heading(f"To tell of a method: thread CPU, {record_bytes}-byte record, {LIVE:,} live")
    for label, values in figures.items():
        table.add(label, values, "ns", 0)
    ours = figures["API, nobody listens"]
    for theirs in ("perf map line, buffered", "jitdump entry, buffered"):
        table.add(f"  nobody listens / {theirs.split(',')[0]}",
                  measure.ratio_of(ours, figures[theirs]), "", 2)


def report_live(bench, table):
    """The last third of the events overwrites live code."""
    table.heading("To tell of a method: thread CPU, 200-byte record, nobody listens")
    for live in LIVE_COUNTS:
        costs = [tell(bench, "api", 200, max(live * 3 // 2, 200_000), live)[0] for _ in range(3)]
        table.add(f"{live:,} live", costs, "ns", 0)


def report(bench, table):
    for record_bytes in COUNTS:
        report_size(bench, table, record_bytes)
    report_live(bench, table)
    table.heading(f"Memory of the process for {METHODS:,} live methods, 200-byte records")
    for label, variables in (("the shim's journal", {}), ("none", {"JITBPF_JOURNAL_MB": "0"})):
        grown = [tell(bench, "api", 200, METHODS, METHODS, **variables)[1] / 1024
                 for _ in range(3)]
        table.add(label, grown, "MB", 1)
