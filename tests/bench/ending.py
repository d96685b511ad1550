# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""From the end of the recording to the page: 100,000 samples, 9,000 JIT methods, much debug
info."""

import contextlib
import ctypes
import os
import select
import subprocess
import time

import measure
import words_library

ROUNDS = 3
TRIES = 4
SAMPLES = 100_000
METHODS = 9_000
FREQ = 9999
INLINES_FREQ = 99
SLOT_BYTES = 64
IN_MOVED_TO = 0x80

# Root first, joined by semicolons, and counted: the minimum for a stackcollapse script.
COLLAPSE = r"""
/^$/ { if (n) { s = comm; while (n) s = s ";" frame[n--]; count[s]++ } next }
/^\t/ { f = $2; sub(/\+0x[0-9a-f]+$/, "", f); frame[++n] = f; next }
{ comm = $1 }
END { for (s in count) print s, count[s] }
"""


class Placed:
    """Waits until a file has been renamed to its place, which outputs are when complete."""

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_CLOEXEC)
        folder = os.path.dirname(path).encode()
        if self.fd < 0 or libc.inotify_add_watch(self.fd, folder, IN_MOVED_TO) < 0:
            raise OSError(ctypes.get_errno(), "inotify")

    def wait(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            raise RuntimeError("the file was never finished")
        now = time.monotonic()
        os.close(self.fd)
        return now


def load(bench):
    """Generates METHODS methods during the recording, and runs each of them repeatedly."""
    cpus = os.cpu_count()
    threads = max(1, cpus - 1)  # one CPU is left for the program with debug info
    seconds = SAMPLES / cpus / FREQ
    command = [bench.engine, "storm", "--threads", str(threads), "--seconds", "3600",
               "--slots", str(METHODS // threads),
               "--code-bytes", str(SLOT_BYTES), "--rate", str(round(METHODS / seconds))]
    return command, seconds


def jitbpf(bench, words):
    """Returns (seconds to the file, seconds to the exit, samples, methods)."""
    path = bench.path("end.html")
    command, seconds = load(bench)
    placed = Placed(path)
    process = measure.start([bench.jitbpf, "record", "-a", "-F", str(FREQ), "-o", path],
                            stderr=subprocess.PIPE)
    time.sleep(measure.START_SECONDS)
    with measure.busy(words, 1), measure.busy(command, 1, env=bench.publishing()):
        time.sleep(seconds)
        began = time.monotonic()
        measure.interrupt(process)
    done = placed.wait(60)
    summary = process.stderr.read().decode()
    measure.finish(process)
    exited = time.monotonic()
    samples = measure.counted(summary, "samples taken")
    return done - began, exited - began, samples, measure.counted(summary, "JIT methods")


def write_perf_map(engine):
    """Writes a perf map with a name for each slot; the engine prints their addresses."""
    start, end = (int(word, 16) for word in engine.stdout.readline().split()[1:3])
    path = f"/tmp/perf-{engine.pid}.map"
    with open(path, "x", encoding="ascii") as out:
        for number, address in enumerate(range(start, end, SLOT_BYTES)):
            print(f"{address:x} {SLOT_BYTES:x} gen_{number}", file=out)
    return path


def perf(bench, words):
    """Returns the seconds of perf script and the collapsing, after the end of perf record."""
    data = bench.path("perf.data")
    command, seconds = load(bench)
    with measure.busy(words, 1), measure.busy(command, 1, stdout=subprocess.PIPE) as engines:
        names = write_perf_map(engines[0])
        measure.run(["perf", "record", "-g", "-q", "-a", "-F", str(FREQ), "-o", data, "--",
                     "sleep", str(seconds)])
    try:
        began = time.monotonic()
        with open(bench.path("perf.folded"), "wb") as out:
            script = measure.start(["perf", "script", "-i", data], stdout=subprocess.PIPE)
            measure.run(["awk", COLLAPSE], stdin=script.stdout, stdout=out)
            script.stdout.close()
            measure.finish(script)
        return time.monotonic() - began
    finally:
        os.unlink(names)


def perf_inlines(bench, words):
    """Returns the seconds of perf script with inlined calls, for few samples: a lower bound.

    perf has inlined calls only if it unwinds by DWARF, from a copy of each sample's stack.
    """
    data, text = bench.path("inlines.data"), bench.path("inlines.txt")
    with measure.busy(words, 1):
        measure.run(["perf", "record", "--call-graph", "dwarf,4096", "-q", "-a", "-F",
                     str(INLINES_FREQ), "-o", data, "--", "sleep", "1"])
    began = time.monotonic()
    with open(text, "wb") as out:
        measure.run(["perf", "script", "--inline", "-i", data], stdout=out)
    seconds = time.monotonic() - began
    with open(text, "rb") as lines:
        if b"(inlined)" not in lines.read():
            raise RuntimeError("perf script made no inlined frames")
    return seconds


def perf_again(bench, words):
    """Repeats perf script, which fails if other BPF programs came and went during the recording."""
    for _ in range(TRIES):
        with contextlib.suppress(RuntimeError):
            return perf(bench, words)
    return perf(bench, words)


def report(bench, table):
    words = words_library.make(bench.scratch)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(jitbpf(bench, words))
        theirs.append(perf_again(bench, words))
    inlines = [perf_inlines(bench, words)]
    done, exited, samples, methods = zip(*ours)
    table.heading(f"From the end of recording to the page, {FREQ} Hz, whole system")
    table.add("perf script + collapsing, no inlines", theirs, "s", 2)
    table.add(f"perf script --inline, 1 s at {INLINES_FREQ} Hz", inlines, "s", 1)
    table.add("jitbpf: signal to file", done, "s", 3, aim="0.2")
    table.add("  by perf --inline, which has fewer samples", [s / inlines[0] for s in done],
              "x perf", 4, aim="< 0.1")
    table.add("  by perf without inlines", measure.ratio_of(done, theirs), "x perf", 4)
    table.add("jitbpf: signal to exit (probes detached)", exited, "s", 3)
    table.add("  samples", samples, "", 0)
    table.add("  JIT methods", methods, "", 0)
