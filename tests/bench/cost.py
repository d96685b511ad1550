# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The profiler's own CPU time per sample, while other processes keep all CPUs busy."""

import collections
import os
import re
import signal
import subprocess
import time

import measure

ROUNDS = 3
SECONDS = 4
SHORT_SECONDS = 0.3  # of a run that mostly starts and ends
BPF_PROG_TYPE_PERF_EVENT = "7"

Ours = collections.namedtuple("Ours", "cpu_us bpf_us samples lost")


def load(bench):
    return measure.busy(measure.php(3600), os.cpu_count(), env=bench.publishing())


def bpf_time_us(pid):
    """Returns the sampling program's time per run, as the kernel measures it
    (kernel.bpf_stats_enabled)."""
    folder = f"/proc/{pid}/fdinfo"
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="ascii") as file:
            info = dict(re.findall(r"^(\w+):\s*(\S+)", file.read(), re.MULTILINE))
        if info.get("prog_type") == BPF_PROG_TYPE_PERF_EVENT:
            return int(info["run_time_ns"]) / 1e3 / max(1, int(info["run_cnt"]))
    raise RuntimeError("jitbpf has no sampling program")


def jitbpf(bench, freq, seconds):
    """The load starts after the attach, so that its methods have names."""
    process = measure.start([bench.jitbpf, "record", "-a", "-F", str(freq), "-o",
                             bench.path("cost.folded")], stderr=subprocess.PIPE)
    time.sleep(measure.START_SECONDS)
    with load(bench):
        time.sleep(seconds)
        bpf_us = bpf_time_us(process.pid)
        measure.interrupt(process)
        summary = process.stderr.read().decode()
        cpu = measure.finish(process)
    return Ours(cpu * 1e6, bpf_us, measure.counted(summary, "samples taken"),
                measure.counted(summary, "lost"))


def perf(bench, freq, seconds):
    """Returns the us per sample of perf record and perf script together."""
    data, text = bench.path("perf.data"), bench.path("perf.txt")
    process = measure.start(["perf", "record", "-g", "-q", "-a", "-F", str(freq), "-o", data])
    time.sleep(measure.START_SECONDS)
    with load(bench):
        time.sleep(seconds)
        measure.interrupt(process)
        cpu = measure.finish(process, also_fine=-signal.SIGINT)
    with open(text, "wb") as out:
        cpu += measure.run(["perf", "script", "-i", data], stdout=out)
    with open(text, "rb") as lines:
        return cpu * 1e6 / sum(line == b"\n" for line in lines)


def add_rows(table, label, ours, theirs, aims):
    alone = [run.cpu_us / run.samples for run in ours]
    whole = [run.cpu_us / run.samples + run.bpf_us for run in ours]
    table.add(f"{label}: perf record -g + perf script", theirs, "us/sample", 2)
    table.add(f"{label}: jitbpf to folded", alone, "us/sample", 2)
    table.add("  its BPF program", [run.bpf_us for run in ours], "us/sample", 2)
    table.add("  with its BPF program", whole, "us/sample", 2, aim=aims[0])
    table.add("  by perf, without its BPF program", measure.ratio_of(alone, theirs), "x perf", 3,
              aim=aims[1])
    table.add("  by perf, with it", measure.ratio_of(whole, theirs), "x perf", 3)


def report(bench, table):
    ours, theirs, fixed = {999: [], 9999: []}, {999: [], 9999: []}, []
    with measure.sysctl("/proc/sys/kernel/bpf_stats_enabled", "1"):
        for _ in range(ROUNDS):
            fixed.append(jitbpf(bench, 999, SHORT_SECONDS))
            for freq in ours:
                ours[freq].append(jitbpf(bench, freq, SECONDS))
                theirs[freq].append(perf(bench, freq, SECONDS))
    table.heading(f"The profiler's own CPU time, whole system, all CPUs busy for {SECONDS} s")
    for freq, aims in (999, ("", "<= 0.1")), (9999, ("5", "")):
        add_rows(table, f"{freq} Hz", ours[freq], theirs[freq], aims)
    more = [(b.cpu_us - a.cpu_us) / (b.samples - a.samples)
            for a, b in zip(ours[999], ours[9999])]
    table.add("jitbpf, each sample more", more, "us/sample", 2)
    table.add("jitbpf, beginning and end alone", [run.cpu_us / 1e3 for run in fixed], "ms", 0)
    table.add("jitbpf, 9999 Hz: samples taken", [run.samples for run in ours[9999]], "", 0)
    table.add("jitbpf, 9999 Hz: samples lost", [run.lost for run in ours[9999]], "", 0)
