# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""1,000 locations of a library with 100 MB of debug info, named by jitbpf and by addr2line -i."""

import os
import random
import subprocess
import time

import measure
import words_library

ROUNDS = 3
LOCATIONS = 1000


def addresses_of(path):
    """Returns addresses in functions, sorted, as record sorts its requests."""
    functions = []
    for line in subprocess.run(["nm", "-S", "--defined-only", path], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "tTwW":
            functions.append((int(fields[0], 16), int(fields[1], 16)))
    rng, chosen = random.Random(1), set()
    while len(chosen) < LOCATIONS:
        start, size = rng.choices(functions, weights=[size for _, size in functions])[0]
        chosen.add(start + rng.randrange(size))
    return "".join(f"{address:#x}\n" for address in sorted(chosen)).encode()


def named(command, stdin):
    """Returns (seconds, CPU seconds, peak MB)."""
    began = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as child:
        child.stdin.write(stdin)
        child.stdin.close()
        _pid, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{command[0]}: failed")
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def report(bench, table):
    symbolize = os.path.join(bench.build, "tests/oracles/symbols/symbolize")
    measure.make(bench, "tests/oracles/symbols/symbolize")
    words_library.make(bench.scratch)
    plain, packed = bench.path("libwords.so"), bench.path("packed.so")
    subprocess.run(["objcopy", "--compress-debug-sections=zlib", plain, packed], check=True)
    stdin = addresses_of(plain)
    for path, what in (plain, ""), (packed, ", compressed"):
        size_mb = os.path.getsize(path) / 1e6
        table.heading(f"{LOCATIONS:,} locations of a library of {size_mb:.0f} MB{what}: CPU time")
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(named([symbolize, path], stdin))
            theirs.append(named(["addr2line", "-a", "-f", "-i", "-C", "-e", path], stdin))
        (_, our_cpu, our_mb), (_, their_cpu, their_mb) = zip(*ours), zip(*theirs)
        table.add("addr2line -i through a pipe", their_cpu, "s", 2)
        table.add("jitbpf", our_cpu, "s", 2)
        table.add("  by addr2line", measure.ratio_of(our_cpu, their_cpu), "x addr2line", 3,
                  aim="" if what else "0.1")
        table.add("memory: addr2line", their_mb, "MB", 0)
        table.add("memory: jitbpf", our_mb, "MB", 0)
