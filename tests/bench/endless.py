#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""endless.py BUILD [MINUTES [FOLDER]]: memory and recordings of a run without end.

Records the whole system with --rotate 10 --keep 6 while two compilers and PHP workers that are
replaced every second run in loops. Prints the resident memory of jitbpf and of its helper
processes every 15 s, its open files, and its growth since the end of the second minute.

The recordings are linked into FOLDER as they appear, so that none is lost when jitbpf removes it.
At the end each is read alone; together they must hold every sample that jitbpf counted, and the
kept ones must be the last six. Exits with 1 if that is not so. The share of the samples of the
compilers and of PHP whose stacks are resolved is printed for the first and the last recordings;
other processes of the machine do not count there. It needs root, gcc and PHP with pcntl, and some
500 MB in FOLDER.
"""

import glob
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import measure

ROTATE, KEEP, STEP = 10, 6, 15
LOAD = ("cc1", "gcc", "as", "php")
WORKERS = os.path.join(measure.ROOT, "tests/workloads/workers.php")
SOURCE = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int cmp(const void *a, const void *b) {{ return *(const int *)a - *(const int *)b; }}
int f{n}(int x) {{ int v[64]; for (int i = 0; i < 64; i++) v[i] = i * x * {n}; qsort(v, 64, 4, cmp);
 return v[x % 64]; }}
"""


def compile_until(end, out):
    number = 0
    while time.monotonic() < end:
        subprocess.run(["gcc", "-O2", "-x", "c", "-c", "-o", out, "-"], check=True,
                       input=SOURCE.format(n=number).encode())
        number += 1


def serve_until(end, environment):
    while time.monotonic() < end:
        seconds = min(60, end - time.monotonic())
        subprocess.run(["php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=64M",
                        "-d", "opcache.jit=tracing", "-d", "opcache.jit_debug=128", WORKERS,
                        str(seconds), "2"], check=False, env=environment)


def resident_kb(pid):
    """Returns (all, private) resident memory."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        sizes = dict(re.findall(r"^(\w+):\s+(\d+) kB", file.read(), re.M))
    return int(sizes["Rss"]), int(sizes["Private_Clean"]) + int(sizes["Private_Dirty"])


def children(pid):
    """Returns the children of all threads, and theirs."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(path, encoding="ascii") as file:
            found += map(int, file.read().split())
    return found + [grandchild for child in found for grandchild in children(child)]


class Watch(threading.Thread):
    """Links new recordings, and notes the memory of jitbpf every STEP seconds."""

    def __init__(self, process, folder, kept):
        super().__init__()
        self.process, self.folder, self.kept = process, folder, kept
        self.rows, self.stopped, self.loaded = [], threading.Event(), threading.Event()

    def link(self):
        for path in glob.glob(os.path.join(self.folder, "*.jitbpf")):
            link = os.path.join(self.kept, os.path.basename(path))
            if not os.path.exists(link):
                os.link(path, link)

    def note(self, seconds):
        pid = self.process.pid
        try:
            helpers = [resident_kb(child) for child in children(pid)]
            row = (seconds, *resident_kb(pid), len(helpers), sum(private for _, private in helpers),
                   len(os.listdir(f"/proc/{pid}/fd")))
        except OSError:
            return
        self.rows.append(row)
        print("%5d s  %7.1f MB  private %7.1f MB   %d helpers %5.1f MB   %4d files" % (
            seconds, row[1] / 1e3, row[2] / 1e3, row[3], row[4] / 1e3, row[5]), flush=True)

    def run(self):
        began = time.monotonic()
        due = STEP
        while not self.stopped.wait(0.5):
            self.link()
            if time.monotonic() - began >= due and not self.loaded.is_set():
                self.note(due)
                due += STEP


def growth_kb_a_minute(rows):
    """The slope of a line through the sizes after the second minute."""
    late = [(row[0] / 60, row[1]) for row in rows if row[0] > 120]
    if len(late) < 3:
        return None
    return statistics.linear_regression(*zip(*late)).slope


def resolved_share(summary):
    """Returns the share in percent of the load's samples."""
    samples = [row["samples"] for row in summary["processes"] if row["comm"] in LOAD]
    taken = sum(row["taken"] for row in samples)
    return 100 * sum(row["resolved"] for row in samples) / max(taken, 1)


def check(jitbpf, folder, kept, said):
    """Reads every recording alone. Returns what is wrong."""
    recordings, resolved, late, wrong = sorted(glob.glob(os.path.join(kept, "*.jitbpf"))), [], 0, []
    taken = 0
    for path in recordings:
        done = subprocess.run([jitbpf, "report", "--json", path], capture_output=True, check=False)
        if done.returncode or done.stderr:
            wrong.append(f"{path}: {done.stderr.decode()}")
            continue
        summary = json.loads(done.stdout)
        samples = summary["samples"]
        taken += samples["taken"]
        late += summary["counters"]["names_late"]
        resolved.append(resolved_share(summary))
        if samples["taken"] != sum(samples[key] for key in (
                "resolved", "code_unknown", "stack_cut", "lost")):
            wrong.append(f"{path}: its fates do not add up")
        last = summary
    left = sorted(os.path.basename(path) for path in glob.glob(os.path.join(folder, "*.jitbpf")))
    if left != [os.path.basename(path) for path in recordings[-KEEP:]]:
        wrong.append(f"kept: {left}")
    counted = int(re.search(r"(\d+) samples", said)[1])
    if taken != counted:
        wrong.append(f"the recordings have {taken} samples, the run {counted}")
    if last["counters"]["samples_taken"] != last["samples"]["taken"]:
        wrong.append("the last recording's count of the BPF programs")
    print(f"{len(recordings)} recordings, each read alone: {taken} samples, {counted} counted")
    print("resolved, in percent, of the first six: %s; of the last six: %s; lowest %.2f" % (
        *(" ".join(f"{share:.2f}" for share in part) for part in (resolved[:6], resolved[-6:])),
        min(resolved)))
    print(f"names that came too late: {late}")
    return wrong


def main(build, minutes="10", folder=None):
    bench = measure.Bench(build, folder or tempfile.mkdtemp(prefix="jitbpf-endless-"))
    kept = bench.path("all")
    os.makedirs(kept)
    end = time.monotonic() + 60 * float(minutes)
    process = subprocess.Popen(
        [bench.jitbpf, "record", "-a", "-F", "999", "--rotate", str(ROTATE), "--keep", str(KEEP),
         "-o", bench.path("r.jitbpf")], stderr=subprocess.PIPE)
    watch = Watch(process, bench.scratch, kept)
    watch.start()
    load = [threading.Thread(target=compile_until, args=(end, bench.path(name)))
            for name in ("a.o", "b.o")]
    load.append(threading.Thread(target=serve_until, args=(end, bench.publishing())))
    for thread in load:
        thread.start()
    for thread in load:
        thread.join()
    watch.loaded.set()  # the last files take their time, and names are resolved at once
    process.send_signal(signal.SIGINT)
    said = process.communicate()[1].decode()
    watch.stopped.set()
    watch.join()
    watch.link()
    print(said.strip())
    slope = growth_kb_a_minute(watch.rows)
    if slope is not None:
        print(f"growth after the second minute: {slope / 1e3:.2f} MB a minute")
    wrong = check(bench.jitbpf, bench.scratch, kept, said)
    print("\n".join(wrong) or "nothing is wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
