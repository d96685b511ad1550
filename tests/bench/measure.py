# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Shared by the benchmarks: running programs, measuring their CPU time, and the table."""

import contextlib
import json
import os
import re
import signal
import statistics
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PHP_SCRIPT = os.path.join(ROOT, "tests/programs/workloads/numbers.php")
START_SECONDS = 0.6  # ample time for a profiler to start sampling


class Bench:
    """The build directory, and a scratch directory for outputs."""

    def __init__(self, build, scratch):
        self.build, self.scratch = os.path.abspath(build), scratch
        self.jitbpf = os.path.join(self.build, "jitbpf")
        self.shim = os.path.join(self.build, "libjitbpf.so")
        self.engine = os.path.join(self.build, "tests/programs/engine/jit-engine")

    def path(self, name):
        return os.path.join(self.scratch, name)

    def publishing(self, wanted=True):
        """Returns the environment of an engine, which publishes its code or not."""
        environment = dict(os.environ)
        environment.pop("INTEL_JIT_PROFILER64", None)
        if wanted:
            environment["INTEL_JIT_PROFILER64"] = self.shim
        return environment

    def summary(self, recording):
        """Returns the `report --json` of a recording."""
        return json.loads(subprocess.run([self.jitbpf, "report", "--json", recording], check=True,
                                         stdout=subprocess.PIPE).stdout)


def make(bench, *programs):
    """Builds programs, given by their paths in the build directory."""
    build = os.path.relpath(bench.build, ROOT)
    subprocess.run(["make", "--no-print-directory", "-s", "-C", ROOT, f"B={build}",
                    *(f"{build}/{program}" for program in programs)], check=True)


def php(*arguments):
    return ["php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=64M",
            "-d", "opcache.jit=tracing", "-d", "opcache.jit_debug=128", PHP_SCRIPT,
            *map(str, arguments)]


def start(argv, **options):
    options.setdefault("stdout", subprocess.DEVNULL)
    options.setdefault("stderr", subprocess.DEVNULL)
    return subprocess.Popen(argv, **options)


def finish(process, also_fine=0):
    """Waits for a process; returns the CPU seconds of it and of its own children.

    A process that failed raises an error; perf dies of the signal that stops it.
    """
    _pid, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, also_fine):
        raise RuntimeError(f"exit status {process.returncode}: {' '.join(process.args)}")
    return usage.ru_utime + usage.ru_stime


def run(argv, **options):
    return finish(start(argv, **options))


@contextlib.contextmanager
def busy(argv, copies, **options):
    """Keeps copies of a program running during the block."""
    processes = [start(argv, **options) for _ in range(copies)]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextlib.contextmanager
def sysctl(path, value):
    with open(path, encoding="ascii") as file:
        before = file.read()
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(value)
        yield
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(before)


def interrupt(process):
    process.send_signal(signal.SIGINT)


def counted(summary, what):
    """Returns a number in the summary that `record` prints at the end, which has no rows of 0."""
    found = re.search(rf"^ *{what} +([\d,]+)", summary, re.MULTILINE)
    return int(found[1].replace(",", "")) if found else 0


def ratio_of(ours, theirs):
    """Divides pairs of adjacent measurements, which cancels slow changes of the machine."""
    return [a / b for a, b in zip(ours, theirs)]


class Table:
    """Rows of median and range, printed together at the end."""

    def __init__(self):
        self.rows = []

    def heading(self, text):
        self.rows.append((text,))

    def add(self, label, values, unit="", digits=3, aim=""):
        spread = f"{min(values):,.{digits}f} .. {max(values):,.{digits}f}"
        self.rows.append((label, f"{statistics.median(values):,.{digits}f}", unit, spread, aim))

    def note(self, text):
        self.rows.append(("  " + text,))

    def print(self):
        print(f"\n{'':44}{'median':>10} {'':11}{'min .. max':>22}  aim")
        for row in self.rows:
            if len(row) == 1:
                print(row[0])
            else:
                label, median, unit, spread, aim = row
                print(f"  {label:42}{median:>10} {unit:11}{spread:>22}  {aim}".rstrip())
