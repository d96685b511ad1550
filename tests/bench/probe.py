# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cost of a load for the engine, with and without a profiler, and the maximum rate."""

import re
import subprocess

import measure

ROUNDS = 5
RECORD_BYTES = 200
FLAT_OUT_SECONDS = 0.5
RATE = 200_000
RATE_SECONDS = 5


def loads(bench, profiler, rate, seconds, publishing=True):
    """Returns (ns per load in the engine's threads, loads made)."""
    command = [bench.engine, "loads", "--bytes", str(RECORD_BYTES), "--rate", str(rate),
               "--seconds", str(seconds)]
    done = subprocess.run([*profiler, *command], stdout=subprocess.PIPE, check=True,
                          stderr=subprocess.DEVNULL, env=bench.publishing(publishing))
    found = re.search(r"loads (\d+) .*ns_per_load ([\d.]+)", done.stdout.decode())
    return float(found[2]), int(found[1])


def record(bench, path):
    """Records with hardly any samples, to measure the probe alone."""
    return [bench.jitbpf, "record", "-q", "-F", "1", "-o", path, "--"]


def report(bench, table):
    recording = bench.path("loads.jitbpf")
    nobody, alone, attached = [], [], []
    for _ in range(ROUNDS):
        nobody.append(loads(bench, [], 0, FLAT_OUT_SECONDS, publishing=False)[0])
        alone.append(loads(bench, [], 0, FLAT_OUT_SECONDS)[0])
        # Below the reader's capacity, so that every hit is copied.
        attached.append(loads(bench, record(bench, recording), RATE, 1)[0])
    table.heading(f"The probe: thread CPU of one load, {RECORD_BYTES}-byte record")
    table.add("engine alone, no collector", nobody, "ns", 1)
    table.add("collector loaded, nobody listens", alone, "ns", 1)
    table.add("  beyond the call: the journal", [b - a for a, b in zip(nobody, alone)], "ns", 1,
              aim="< 150 append, plus compaction")
    table.add("attached", attached, "ns", 0, aim="< 1,500")

    made = loads(bench, record(bench, recording), RATE, RATE_SECONDS)[1]
    summary = bench.summary(recording)
    lost = {key: summary["counters"][key] for key in ("jit_ring_full", "jit_unreadable",
                                                      "sideband_lost")}
    table.note(f"{RATE:,} loads/s for {RATE_SECONDS} s: {made:,} made, "
               f"{summary['counters']['jit_hits']:,} hits, {summary['jit']['methods']:,} methods; "
               f"sequence gaps {summary['jit']['sequence_gaps']}, "
               + ", ".join(f"{key} {value}" for key, value in lost.items()) + "  (aim: 0 lost)")
