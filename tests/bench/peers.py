# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What profilers make of the same programs: C without frame pointers, PHP's JIT, Java. The share of
samples whose innermost frame has the name of a function, the share whose stack reaches the program's
main function, bytes of output per sample, and CPU time by CPU time bare.

perf is measured as installed; samply if $SAMPLY is its path, async-profiler if $ASYNC_PROFILER is that of
libasyncProfiler.so, OpenTelemetry's eBPF profiler if $OTEL_PROFILER is its path. Engines publish for each
profiler in the way that it reads.
"""

import bisect
import collections
import functools
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys

import measure
from workload import TIMED, WORKLOADS

ROUNDS = 3
FREQ_HZ = 499
ASYNC_PROFILER, SAMPLY, OTEL_PROFILER = (
    os.environ.get(name) for name in ("ASYNC_PROFILER", "SAMPLY", "OTEL_PROFILER"))
OTLP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "otlp.py")
NO_NAME = re.compile(r"\[unknown\]|0x[0-9a-f]+|\[.*\.so.*\]|\[[\w.+-]+\]|\?*")

# main: what a whole stack contains; of Java, also what the main thread begins with, since interpreted
# methods have no names in most profilers. thread: the names of the threads that count.
Program = collections.namedtuple("Program", "name command main thread")
Outcome = collections.namedtuple("Outcome", "samples named whole size")


def is_named(name):
    return not NO_NAME.fullmatch(name)


def outcome(stacks, program, size):
    """stacks: pairs of names, outermost first, and a count."""
    total = named = whole = 0
    for names, count in stacks:
        total += count
        named += count * (bool(names) and is_named(names[-1]))
        whole += count * any(re.search(program.main, name) for name in names)
    return Outcome(total, named / total, whole / total, size / total)


def folded(text):
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        yield stack.split(";"), int(count)


def of_thread(stacks, thread):
    """Yields the stacks of threads whose name, which is the first one of a stack, matches."""
    for names, count in stacks:
        if re.fullmatch(thread, names[0]):
            yield names[1:], count


class Jitbpf:
    name, for_engine = "jitbpf", "api"

    def __init__(self, bench):
        self.bench, self.out = bench, bench.path("peers.jitbpf")

    def around(self, command):
        return [self.bench.jitbpf, "record", "-q", "-F", str(FREQ_HZ), "-o", self.out, "--", *command]

    def read(self, program):
        text = subprocess.run([self.bench.jitbpf, "report", "-f", "folded", "--by", "tid", self.out],
                              check=True, capture_output=True, text=True).stdout
        stacks = of_thread(folded(text), rf"({program.thread})-\d+/\d+")
        return outcome(stacks, program, os.path.getsize(self.out))


class Perf:
    for_engine = "map"

    def __init__(self, bench, mode):
        self.name, self.mode = f"perf record --call-graph {mode}", mode
        self.out = bench.path("peers.data")

    def around(self, command):
        return ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(FREQ_HZ), "--call-graph", self.mode,
                "-o", self.out, "--", *command]

    def stacks(self, thread):
        text = subprocess.run(["perf", "script", "-i", self.out, "--no-inline", "-F", "comm,ip,sym"], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        for sample in re.split(r"\n\n+", text.strip()):
            comm, *frames = sample.splitlines()
            if re.fullmatch(thread, comm.strip()):
                yield [frame.split(None, 1)[1].strip() for frame in reversed(frames)], 1

    def read(self, program):
        return outcome(self.stacks(program.thread), program, os.path.getsize(self.out))


class Samply:
    name, for_engine = "samply", "dump"

    def __init__(self, bench):
        self.out = bench.path("peers.json.gz")

    def around(self, command):
        return [SAMPLY, "record", "-s", "-n", "--unstable-presymbolicate", "-r", str(FREQ_HZ), "-o",
                self.out, "--", *command]

    def symbols(self):
        """Returns a function from (library's debug id, relative address) to a name or None."""
        tables = {}
        for path in glob.glob(self.out.replace(".json.gz", "*.syms.json")):
            with open(path, encoding="utf-8") as file:
                sidecar = json.load(file)
            for library in sidecar["data"]:
                rows = sorted((row["rva"], row["size"] or 0, row["symbol"])
                              for row in library["symbol_table"])
                # The profile spells it without dashes, and with an age, 0.
                debug_id = library["debug_id"].replace("-", "").upper() + "0"
                tables[debug_id] = [row[0] for row in rows], [
                    (row[0] + row[1], sidecar["string_table"][row[2]]) for row in rows]

        def find(debug_id, address):
            starts, symbols = tables.get(debug_id, ([], []))
            end, name = symbols[max(bisect.bisect_right(starts, address) - 1, 0)] if symbols else (0, "")
            return name if address < end else None
        return find

    def stacks(self, wanted):
        with gzip.open(self.out) as file:
            profile = json.load(file)
        find = self.symbols()
        for thread in profile["threads"]:
            if not re.fullmatch(wanted, thread["name"]):
                continue
            shared = profile.get("shared", thread)
            strings = shared.get("stringArray") or thread["stringArray"]
            funcs, frames, stacks, resources = (
                thread[key] for key in ("funcTable", "frameTable", "stackTable", "resourceTable"))

            def name_of(frame, funcs=funcs, frames=frames, resources=resources, strings=strings):
                func = frames["func"][frame]
                resource = funcs["resource"][func]
                if resource >= 0 and frames["address"][frame] >= 0:
                    library = profile["libs"][resources["lib"][resource]]
                    found = find(library["breakpadId"], frames["address"][frame])
                    if found:
                        return found
                return strings[funcs["name"][func]]

            @functools.cache
            def names_of(stack, stacks=stacks, name_of=name_of):
                names = []
                while stack is not None:
                    names.append(name_of(stacks["frame"][stack]))
                    stack = stacks["prefix"][stack]
                return names[::-1]

            weights = thread["samples"].get("weight")
            for i, stack in enumerate(thread["samples"]["stack"]):
                if weights is None or weights[i]:
                    yield names_of(stack), weights[i] if weights else 1

    def read(self, program):
        return outcome(self.stacks(program.thread), program, os.path.getsize(self.out))


class AsyncProfiler:
    name, for_engine = "async-profiler", "agent"

    def __init__(self, bench):
        self.out = bench.path("peers.collapsed")

    def around(self, command):
        return [command[0], f"-agentpath:{ASYNC_PROFILER}=start,event=ctimer,threads,collapsed,"
                f"interval={1000000000 // FREQ_HZ},file={self.out}", *command[1:]]

    def read(self, program):
        with open(self.out, encoding="utf-8") as file:
            stacks = of_thread(folded(file.read()), rf"\[({program.thread})( tid=\d+)?\]")
            return outcome(stacks, program, os.path.getsize(self.out))


class OpenTelemetry:
    """It samples the whole machine, so the size is by all samples."""
    name, for_engine = "OpenTelemetry eBPF profiler", "none"

    def __init__(self, bench):
        self.out = bench.path("peers.otlp.json")

    def around(self, command):
        return [sys.executable, OTLP, self.out, OTEL_PROFILER, str(FREQ_HZ), *command]

    def read(self, program):
        with open(self.out, encoding="utf-8") as file:
            sent = json.load(file)
        got = outcome(of_thread(sent["stacks"], program.thread), program, 0)
        return got._replace(size=sent["bytes"] / sent["samples"])


def programs(bench, for_engine):
    """Yields the programs, each for about two seconds, whose engines publish for a kind of reader."""
    yield Program("C without frame pointers", [bench.path("descent"), "1500"], r"^main\b", "descent")
    debug = {"api": 128, "map": 16, "dump": 32, "none": 0}.get(for_engine)
    if debug is not None:
        php = [word.replace("jit_debug=128", f"jit_debug={debug}") for word in measure.php(0, 700)]
        yield Program("PHP's JIT", php, r"^php_execute_script\b", "php")
    if shutil.which("javac"):
        options = ["-XX:+PreserveFramePointer", "-XX:+UnlockDiagnosticVMOptions",
                   "-XX:+DumpPerfMapAtExit"] if for_engine in ("map", "dump") else []
        yield Program("Java", ["java", "-XX:+UseSerialGC", *options, "-cp", bench.scratch, "Mixed", "0",
                               "60"], r"\bMixed(\.|::)main\b|^start_thread$",
                      "java|main|DestroyJavaVM")


def profilers(bench):
    found = [Jitbpf(bench), Perf(bench, "fp"), Perf(bench, "dwarf")]
    return (found + [Samply(bench)] * bool(SAMPLY) + [AsyncProfiler(bench)] * bool(ASYNC_PROFILER) +
            [OpenTelemetry(bench)] * bool(OTEL_PROFILER))


def seconds(bench, command):
    out = bench.path("timed")
    measure.run([sys.executable, TIMED, out, "1", *command], cwd=bench.scratch)
    with open(out, encoding="ascii") as file:
        return float(file.read().split()[0])


def prepare(bench):
    measure.run(["gcc", "-O2", "-g", "-fomit-frame-pointer", "-o", bench.path("descent"),
                 os.path.join(WORKLOADS, "descent.c")])
    if shutil.which("javac"):
        measure.run(["javac", "-d", bench.scratch, os.path.join(WORKLOADS, "Mixed.java")])


def timed_within(bench, profiler, command):
    """Returns the CPU seconds of the command alone, not of the profiler around it."""
    out = bench.path("timed")
    measured = [sys.executable, TIMED, out, "1"]
    if profiler.for_engine == "agent":
        return seconds(bench, profiler.around(command))
    measure.run(profiler.around([*measured, *command]), cwd=bench.scratch)
    with open(out, encoding="ascii") as file:
        return float(file.read().split()[0])


def report(bench, table):
    prepare(bench)
    # samply asks for that, also of root.
    with measure.sysctl("/proc/sys/kernel/perf_event_paranoid", "1"):
        compare(bench, table)


def compare(bench, table):
    got = collections.defaultdict(lambda: collections.defaultdict(list))
    for _ in range(ROUNDS):
        for profiler in profilers(bench):
            for program in programs(bench, profiler.for_engine):
                if profiler.for_engine == "agent" and program.name != "Java":
                    continue
                row = got[program.name][profiler.name]
                bare = seconds(bench, program.command)
                row.append((profiler_outcome(bench, profiler, program),
                            timed_within(bench, profiler, program.command) / bare))
    for program, rows in got.items():
        table.heading(f"{program}, {FREQ_HZ} Hz")
        for profiler, values in rows.items():
            table.add(f"{profiler}: named", [100 * value.named for value, _ in values], "%", 1)
            table.add("  whole stacks", [100 * value.whole for value, _ in values], "%", 1)
            table.add("  output", [value.size for value, _ in values], "B/sample", 0)
            table.add("  CPU time", [ratio for _, ratio in values], "x bare")


def profiler_outcome(bench, profiler, program):
    measure.run(profiler.around(program.command), cwd=bench.scratch)
    return profiler.read(program)
