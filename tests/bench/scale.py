#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""scale.py BUILD [-o FOLDER] [--short] [CURVE...]: what jitbpf takes when there is twice as much.

Each curve doubles one thing (samples, call paths, methods, ...) from row to row, and measures CPU
time, memory and bytes. Prints tables, and writes them to FOLDER/scale.md with a picture, scale.svg.
Nothing here passes or fails: look at the columns "x", which say by how much a figure has grown
since the row before. Above GROWTH_MAX they are bold.
"""

import argparse
import collections
import contextlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import measure
import scale_picture

SECONDS = 4       # of a live run
FREQ_HZ = 999
HOURS = (1, 2, 4, 8, 16)
GROWTH_MAX = 2.2  # goal: what twice the work may take
LIBRARY = "void spin(void) { for (volatile int i = 0; i < 20000; i++) ; }"

Row = collections.namedtuple("Row", "size cpu_s memory_mb megabytes whole")
# sizes are of a whole run; a short one leaves out the larger half.
Curve = collections.namedtuple("Curve", "title unit sizes measure")


def doubled(first, times):
    return [first << i for i in range(times)]


def run(command, **options):
    """Returns (CPU s, memory in MB) of a command, of which the largest process counts."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    _pid, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"exit status {process.returncode}: {' '.join(command)}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3


def resolved(bench, recording):
    """The share of the samples in % that are whole, with the code of each frame known."""
    # As text, which is short: run() would count the memory of this process, too.
    text = subprocess.run([bench.jitbpf, "report", recording], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    taken, whole = measure.counted(text, "samples taken"), measure.counted(text, "resolved")
    return 100 * whole / max(1, taken)


def made(bench, shape, output, size):
    """A report of a recording that has `size` samples."""
    recording = bench.path("made.jitbpf")
    subprocess.run([os.path.join(bench.build, "tests/bench/paths"), shape, str(size), recording], check=True)
    used = run([bench.jitbpf, "report", "-f", output, "-o", bench.path("out"), recording])
    return Row(size, *used, os.path.getsize(recording) / 1e6, resolved(bench, recording))


def copies_of_library(bench, count):
    """Makes libraries that differ, and returns the path before their numbers."""
    path = bench.path("scale.so")
    source = bench.path("scale.c")
    with open(source, "w", encoding="ascii") as file:
        file.write(LIBRARY)
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,--build-id=0x0123456789abcdef0123456789abcdef",
                    "-o", path, source], check=True)
    with open(path, "rb") as file:
        image = file.read()
    build_id = image.index(bytes.fromhex("0123456789abcdef0123456789abcdef"))
    for i in range(count):
        with open(f"{path}.{i}", "wb") as file:
            file.write(image[:build_id] + i.to_bytes(16, "little") + image[build_id + 16:])
    return path


@contextlib.contextmanager
def load_of(bench, kind, size):
    command = [os.path.join(bench.build, "tests/bench/scale_load"), kind, str(size)]
    if kind in ("modules", "mappings"):
        command.append(copies_of_library(bench, size if kind == "modules" else 0))
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=bench.publishing(kind == "methods")) as process:
        try:
            if process.stdout.readline() != b"ready\n":
                raise RuntimeError(" ".join(command))
            yield process
        finally:
            process.kill()


def live(bench, kind, size):
    """A run that begins when the program has everything."""
    recording = bench.path("live.jitbpf")
    with load_of(bench, kind, size) as process:
        chosen = ["-a"] if kind == "processes" else ["-p", str(process.pid)]
        used = run([bench.jitbpf, "record", "-q", "-F", str(FREQ_HZ), "-d", str(SECONDS), *chosen, "-o", recording])
    return Row(size, *used, os.path.getsize(recording) / 1e6, resolved(bench, recording))


def hours(bench, size):
    """The part of a live run that writes deltas, for so many hours at 99 samples a second and CPU."""
    day = subprocess.run([os.path.join(bench.build, "tests/bench/day"), str(size * 3600)], check=True, text=True,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    hour, kilobytes, took_ms, size_bytes, _slices = map(float, day.stderr.splitlines()[-1].split())
    return Row(round(hour), took_ms / 1e3, kilobytes / 1e3, size_bytes / 1e6, 100)


CURVES = {
    "samples": Curve("Samples of a build, `report`", "samples", doubled(125_000, 6),
                     lambda bench, size: made(bench, "build", "summary", size)),
    "folded": Curve("Samples of a build, `report -f folded`", "samples", doubled(125_000, 6),
                    lambda bench, size: made(bench, "build", "folded", size)),
    "pprof": Curve("Samples of a build, `report -f pprof`", "samples", doubled(125_000, 6),
                   lambda bench, size: made(bench, "build", "pprof", size)),
    "stacks": Curve("Stacks that are all different, 42 frames, `report`", "stacks", doubled(12_500, 6),
                    lambda bench, size: made(bench, "different", "summary", size)),
    **{kind: Curve(f"{kind.capitalize()}, attached late, {SECONDS} s", kind, doubled(first, times),
                   lambda bench, size, kind=kind: live(bench, kind, size))
       for kind, first, times in (("methods", 31_250, 6), ("processes", 312, 5), ("threads", 625, 5),
                                  ("mappings", 937, 6), ("modules", 125, 5))},
    "hours": Curve("Hours of a live run: the last delta", "hours", HOURS, hours),
}


def growth(before, now):
    if not before:
        return "-"
    text = f"{now / before:.2f}"
    return f"**{text}**" if now / before > GROWTH_MAX else text


def table_of(curve, rows):
    """Lines of a table in Markdown."""
    lines = [f"| {curve.unit} | CPU s | x | memory MB | x | bytes MB | x | whole % |",
             "|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for before, row in zip([None, *rows], rows):
        cells = [f"{row.size:,}"]
        for name, digits in (("cpu_s", 3 if row.cpu_s < .1 else 2), ("memory_mb", 1), ("megabytes", 3)):
            now = getattr(row, name)
            cells += [f"{now:,.{digits}f}", growth(getattr(before, name), now) if before else ""]
        lines.append(f"| {' | '.join(cells)} | {row.whole:.1f} |")
    return lines


def write_page(folder, tables, loads, short):
    """tables: (curve, rows) of each curve. loads: the load average before and after."""
    lines = ["# Scale", "",
             "```sh",
             "jitbpf report --max-memory 1G profile.jitbpf         # the default: a quarter of the memory that is free",
             "```", "",
             "What jitbpf takes when there is twice as much of one thing. `x` is the growth from the row above; it is bold "
             f"above {GROWTH_MAX}, which twice the work should not exceed. Measured on "
             f"{os.cpu_count()} CPUs, Linux {platform.release().split('-')[0]}, {time.strftime('%d %B %Y')}, at a load "
             f"average of {loads[0]:.0f} before and {loads[1]:.0f} after"
             f"{', without the larger half of each curve (--short)' if short else ''}. CPU time is that of the process that is measured; on a "
             "machine with other load it has some more.", "",
             "<!-- source tree -->",
             "<!-- not run: takes minutes, and writes this page -->",
             "```sh",
             "make bench-scale",
             "```", "",
             "![What grows with what](pictures/scale.svg)",
             "<!-- end -->", ""]
    for curve, rows in tables:
        lines += [f"## {curve.title}", "", *table_of(curve, rows), ""]
    with open(os.path.join(folder, "scale.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    os.makedirs(os.path.join(folder, "pictures"), exist_ok=True)
    scale_picture.write(os.path.join(folder, "pictures/scale.svg"), tables)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("build")
    parser.add_argument("-o", metavar="FOLDER", help="write scale.md and pictures/scale.svg there")
    parser.add_argument("--short", action="store_true", help="leave out the larger half of each curve")
    parser.add_argument("curves", nargs="*", metavar="CURVE", help=", ".join(CURVES))
    options = parser.parse_intermixed_args()
    if os.geteuid() != 0:
        sys.exit("scale.py needs root")
    tables, load = [], os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="jitbpf-scale-") as scratch:
        bench = measure.Bench(options.build, scratch)
        measure.make(bench, *(f"tests/bench/{name}" for name in ("paths", "day", "scale_load")))
        for name in options.curves or CURVES:
            curve, rows = CURVES[name], []
            print(f"\n{curve.title}", flush=True)
            sizes = curve.sizes[:len(curve.sizes) // 2 + 1] if options.short else curve.sizes
            for size in sizes:
                rows.append(curve.measure(bench, size))
                print("\n".join(table_of(curve, rows)[-1 if len(rows) > 1 else 0:]), flush=True)
            tables.append((curve, rows))
    if options.o:
        write_page(options.o, tables, (load, os.getloadavg()[0]), options.short)
    return 0


if __name__ == "__main__":
    sys.exit(main())
