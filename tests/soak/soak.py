#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""soak.py BUILD [MINUTES [FOLDER]]: a run without end, and what becomes of it.

Records the whole system with --rotate 10 --keep 6 while two compilers, PHP workers that are replaced
every second, and containers with files of their own come and go. A table over time shows what jitbpf
takes, with its helper processes: memory, descriptors, memory of deleted files and of others' shared
memory that the descriptors hold, the longest pause of the event loop, and CPU time.

The recordings are linked into FOLDER as they appear, so that none is lost when jitbpf removes it.
At the end each is read alone; together they must hold every sample that jitbpf counted, and the
kept ones must be the last six. The share of the samples of the compilers and of PHP whose stacks
are resolved is printed for the first and the last recordings; other processes of the machine do not
count there.

Exits with 1 if a recording is not as it should be, if a limit is exceeded, or if something grows
after the second minute. Growth needs four minutes to be seen. It needs root, gcc, PHP with pcntl,
and some 50 MB a minute in FOLDER.
"""

import contextlib
import glob
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))

import measure  # pylint: disable=wrong-import-position

ROTATE, KEEP, STEP, WARM = 10, 6, 15, 120
RSS_MAX = 256 << 20  # of all processes together
RSS_GROWTH_MAX = 1 << 20  # bytes a minute
DESCRIPTORS_MAX, PINNED_MAX = 1000, 64 << 20
CONTAINER = """mount -t tmpfs none /mnt && cp "$1" "$2" "$3" /mnt && cd /mnt &&
INTEL_JIT_PROFILER64=/mnt/libjitbpf.so timeout 1 ./jit-engine storm --rate 500 --seconds 1
timeout 0.5 ./sha256sum /dev/zero; rm /mnt/*; true"""
LOAD = ("cc1", "gcc", "as", "php", "jit-engine", "sha256sum")
COLUMNS = ("time", "RSS MB", "files open", "pinned MB", "pause ms", "CPU %", "kept", "modules",
           "processes")
WORKERS = os.path.join(measure.ROOT, "tests/programs/workloads/workers.php")
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


def contain_until(end, engine, shim):
    """Containers: a pid and a mount namespace each, with copies of programs and of the shim."""
    while time.monotonic() < end:
        subprocess.run(["unshare", "-mpf", "--mount-proc", "sh", "-c", CONTAINER, "container",
                        engine, shim, "/usr/bin/sha256sum"], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def tree(pid):
    """Returns a process and those below it."""
    found = [pid]
    for parent in found:
        for path in glob.glob(f"/proc/{parent}/task/*/children"):
            with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


def pinned_bytes(pid):
    """Memory and disk space of files without a name that the descriptors of a process hold."""
    files = {}
    for process in tree(pid):
        for path in glob.glob(f"/proc/{process}/fd/*"):
            with contextlib.suppress(OSError):
                if os.readlink(path).endswith(" (deleted)"):
                    st = os.stat(path)
                    files[st.st_dev, st.st_ino] = st.st_blocks * 512
    return sum(files.values())


class Watch(threading.Thread):
    """Links new recordings, and notes what jitbpf takes every STEP seconds."""

    def __init__(self, process, folder, kept, stats):
        super().__init__()
        self.process, self.folder, self.kept, self.stats = process, folder, kept, stats
        self.rows, self.stopped, self.loaded = [], threading.Event(), threading.Event()
        self.seen, self.cpu_s = 0, 0.0

    def link(self):
        for path in glob.glob(os.path.join(self.folder, "*.jitbpf")):
            link = os.path.join(self.kept, os.path.basename(path))
            if not os.path.exists(link):
                with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
                    os.link(path, link)

    def note(self, seconds):
        with open(self.stats, encoding="ascii") as file:
            lines = [json.loads(line) for line in file if line.endswith("\n")]
        new, self.seen = lines[self.seen:], len(lines)
        if not new:
            return
        last = new[-1]
        row = {"time": seconds, "RSS MB": max(line["rss_bytes"] for line in new) / 1e6,
               "files open": max(line["descriptors"] for line in new),
               "pinned MB": pinned_bytes(self.process.pid) / 1e6,
               "pause ms": max(line["loop_pause_ms"] for line in new),
               "CPU %": 100 * (last["cpu_s"] - self.cpu_s) / len(new), "kept": last["kept_files"],
               "modules": last["modules"], "processes": last["processes"]}
        self.cpu_s = last["cpu_s"]
        self.rows.append(row)
        print("".join(f"{row[name]:11.1f}" if isinstance(row[name], float) else f"{row[name]:11}"
                      for name in COLUMNS), flush=True)

    def run(self):
        began = time.monotonic()
        due = STEP
        print("".join(f"{name:>11}" for name in COLUMNS), flush=True)
        while not self.stopped.wait(0.5):
            self.link()
            if time.monotonic() - began >= due and not self.loaded.is_set():
                self.note(due)
                due += STEP


def growth(rows, name):
    """The slope a minute of a line through the values after the second minute, or None."""
    late = [(row["time"] / 60, row[name]) for row in rows if row["time"] > WARM]
    if len(late) < 8:
        return None
    return statistics.linear_regression(*zip(*late)).slope


def exceeded(rows):
    """Returns what is over its limit, or grows."""
    wrong = []
    for name, limit in (("RSS MB", RSS_MAX / 1e6), ("files open", DESCRIPTORS_MAX),
                        ("pinned MB", PINNED_MAX / 1e6)):
        most = max(row[name] for row in rows)
        if most > limit:
            wrong.append(f"{name}: {most:.1f}, and the limit is {limit:.1f}")
    for name, most in (("RSS MB", RSS_GROWTH_MAX / 1e6), ("files open", 2), ("pinned MB", 0.2),
                       ("CPU %", 0.5)):
        slope = growth(rows, name)
        if slope is not None:
            print(f"{name}: grows by {slope:.2f} a minute")
            if slope > most:
                wrong.append(f"{name} grows by {slope:.2f} a minute")
    return wrong


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


def main(build, minutes="30", folder=None):
    bench = measure.Bench(build, folder or tempfile.mkdtemp(prefix="jitbpf-soak-"))
    kept, stats = bench.path("all"), bench.path("stats.json")
    os.makedirs(kept)
    end = time.monotonic() + 60 * float(minutes)
    process = subprocess.Popen(
        [bench.jitbpf, "record", "-a", "-F", "999", "--rotate", str(ROTATE), "--keep", str(KEEP),
         "--stats", stats, "-o", bench.path("r.jitbpf")], stderr=subprocess.PIPE)
    watch = Watch(process, bench.scratch, kept, stats)
    watch.start()
    load = [threading.Thread(target=compile_until, args=(end, bench.path(name)))
            for name in ("a.o", "b.o")]
    load.append(threading.Thread(target=serve_until, args=(end, bench.publishing())))
    load.append(threading.Thread(target=contain_until, args=(end, bench.engine, bench.shim)))
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
    wrong = check(bench.jitbpf, bench.scratch, kept, said) + exceeded(watch.rows)
    print("\n".join(wrong) or "nothing is wrong")
    if not folder:
        shutil.rmtree(bench.scratch)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
