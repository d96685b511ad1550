# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Storms of loads: lost records, records recovered from the journal, and memory."""

import mmap
import re
import struct
import subprocess
import time

import measure

ROUNDS = 3
# Record size: loads per second, seconds, number of addresses used in turn.
STORMS = {200: (500_000, 2, 10_000), 4096: (100_000, 1, 1_000)}
RINGS = ("8M", "256K")
METHODS = 100_000
FILL_RATE = 25_000  # each address once, in the four seconds before the measurement
PEAK_SECONDS = 3

CHUNK = struct.Struct("<IHH")
CODE_EVENT, SEQUENCE_AT = 14, 56  # struct jitbpf_code_event, with its header


def sequence_numbers(path):
    """Returns the sequence numbers of the loads in a recording."""
    numbers = set()
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        (at,) = struct.unpack_from("<I", data, 12)
        while at < len(data):
            size, kind, _flags = CHUNK.unpack_from(data, at)
            if kind == CODE_EVENT:
                numbers.update(struct.unpack_from("<Q", data, at + SEQUENCE_AT))
            at += size
    return numbers


def storm(bench, record_bytes, ring):
    """Returns (loads made, lost, recovered, live at the end but unknown)."""
    rate, seconds, slots = STORMS[record_bytes]
    recording = bench.path("storm.jitbpf")
    done = subprocess.run(
        [bench.jitbpf, "record", "-q", "-F", "1", "--code-ring", ring, "-o", recording, "--",
         bench.engine, "loads", "--bytes", str(record_bytes), "--rate", str(rate),
         "--seconds", str(seconds), "--slots", str(slots)],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=bench.publishing())
    made = int(re.search(rb"loads (\d+)", done.stdout)[1])
    summary = bench.summary(recording)
    known = sequence_numbers(recording)
    unknown = sum(number not in known for number in range(max(0, made - slots), made))
    return made, summary["counters"]["jit_ring_full"], summary["jit"]["recovered"], unknown


def peak_mb(bench, rate):
    """Returns the peak memory of the profiler, attached to a process with a rate of loads.

    wait4() would also count the memory of this process at the time of the fork.
    """
    command = [bench.engine, "loads", "--rate", str(rate), "--seconds", "60", "--slots",
               str(METHODS)]
    with measure.busy(command, 1, env=bench.publishing()) as (engine,):
        time.sleep(measure.START_SECONDS)
        recorder = measure.start([bench.jitbpf, "record", "-q", "-F", "1", "-o",
                                  bench.path("peak.jitbpf"), "-p", str(engine.pid)])
        time.sleep(measure.START_SECONDS + PEAK_SECONDS)
        with open(f"/proc/{recorder.pid}/status", encoding="ascii") as status:
            peak = int(re.search(r"VmHWM:\s+(\d+) kB", status.read())[1])
        measure.interrupt(recorder)
        measure.finish(recorder)
    return peak / 1024


def report(bench, table):
    for record_bytes, (rate, seconds, slots) in STORMS.items():
        table.heading(f"{rate * seconds:,} loads of {record_bytes} bytes in {seconds} s, "
                      f"{slots:,} live")
        for ring in RINGS:
            made, lost, recovered, unknown = zip(*(storm(bench, record_bytes, ring)
                                                   for _ in range(ROUNDS)))
            table.add(f"code ring of {ring}: loads made", made, "", 0)
            table.add("  lost on their way", lost, "", 0)
            table.add("  brought back by the journal", recovered, "", 0)
            table.add("  live at the end, and not known", unknown, "", 0, aim="0")
    table.heading(f"Peak memory of the profiler, {METHODS:,} live methods against few")
    few, many = ([peak_mb(bench, rate) for _ in range(ROUNDS)] for rate in (1, FILL_RATE))
    table.add("few", few, "MB", 1)
    table.add(f"{METHODS:,}", many, "MB", 1)
    table.add("  bytes a method", [(b - a) * 2**20 / METHODS for a, b in zip(few, many)], "", 0)
