#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check.py [all]: runs all parts of `make check`, even if one fails, and prints the time of each.

First everything is built. Then the parts that only compute run, two at a time, or one per
processor. The parts that depend on the kernel and the clock run last, one at a time. Of kernel tests
and attacks, some are left out, which `all` runs too (harness.slow(), attack.sample()), and with it
what needs much time or a large download.
"""

import collections
import os
import re
import subprocess
import sys
import threading
import time

import run_tests

CPUS = os.cpu_count() or 1

# A part is the arguments of a make call. Parts that run in parallel are sorted, longest first.
Part = collections.namedtuple("Part", "name arguments")
Row = collections.namedtuple("Row", "name cases not_applicable seconds cpu_seconds status")
BUILDS = (
    Part("build", ["all", "test-programs", f"-j{CPUS}"]),
    Part("build, ASan and UBSan", ["SAN=1", "sanitized-programs", f"-j{CPUS}"]),
    Part("build, TSan", ["TSAN=1", "thread-programs", f"-j{CPUS}"]),
)
BESIDE = (
    Part("unit, ASan and UBSan", ["SAN=1", "unit"]),
    Part("symbols", ["symbols-test"]),
    Part("ui", ["ui-test"]),
    Part("random model", ["random-model"]),
    Part("frames", ["frames-test"]),
    Part("layers", ["layers"]),
    Part("shim", ["shim-test"]),
    Part("page", ["page-check"]),
    Part("code", ["code-test"]),
    Part("gaps", ["gaps-test"]),
    Part("replay, ASan and UBSan", ["SAN=1", "replay"]),
    Part("threads, TSan", ["TSAN=1", "thread-test"]),
    Part("format", ["format-check"]),
    Part("cli", ["cli-test"]),
    Part("golden", ["golden"]),
)
# A fifth of the kernel tests mostly wait, so there is one more at a time than processors.
KERNEL = ["kernel-test", f"LANES={CPUS + 1}"]
# With sanitizers, these prove all that they prove without.
SANITIZED = ("files", "record", "list", "outputs", "jit_api")
ALONE = (
    Part("kernel", [*KERNEL, rf"ONLY=^(?!test_({'|'.join(SANITIZED)})\.)"]),
    Part("attacks", ["attack-test"]),
    Part("kernel, ASan and UBSan", [*KERNEL, "JITBPF=build/san/jitbpf",
                                    f"TESTS={' '.join(f'test_{name}.py' for name in SANITIZED)}"]),
)
SHORT = (Part("soak, 20 s", ["soak", "MINUTES=0.33"]),)
LONG = (
    Part("soak, 10 minutes", ["soak", "MINUTES=10"]),
    Part("packages", ["deb-test"]),
    Part("engines", ["check-engines"]),
    Part("fuzz, 30 s each", ["fuzz", "FUZZ_SECONDS=30"]),
)


def environment():
    """Returns make's environment with its options, but without its job server."""
    flags = [word for word in os.environ.get("MAKEFLAGS", "").split()
             if not word.startswith(("-j", "--jobserver"))]
    return {**os.environ, "MAKEFLAGS": " ".join(flags)}


class Check:
    def __init__(self):
        self.rows, self.lock = [], threading.Lock()

    def run(self, part, arguments=(), later=False):
        """Runs one part and returns false if it failed. Prints its output as it comes, or at its
        end if `later` is set."""
        begin, lines, cases, not_applicable = time.monotonic(), [], "", ""
        command = ["make", "--no-print-directory", *part.arguments, *arguments]
        # pylint: disable=consider-using-with
        make = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace")
        for line in make.stdout:
            if later:
                lines.append(line)
            else:
                print(line, end="", flush=True)
            ended = re.match(r"\w+: (\d+) passed, \d+ failed(?:, (\d+) not applicable)?", line)
            cases, not_applicable = ended.groups() if ended else (cases, not_applicable)
        _pid, status, usage = os.wait4(make.pid, 0)
        row = Row(part.name, cases, not_applicable or "", time.monotonic() - begin,
                  usage.ru_utime + usage.ru_stime, status)
        with self.lock:
            if later:
                print(f"--- {part.name}\n{''.join(lines)}", end="", flush=True)
            self.rows.append(row)
        return not status

    def run_beside(self, parts):
        """Runs parts in parallel, one per processor."""
        left = list(parts)

        def lane():
            while True:
                with self.lock:
                    if not left:
                        return
                    part = left.pop(0)
                self.run(part, ["LANES=1"], later=True)

        lanes = [threading.Thread(target=lane) for _ in range(CPUS)]
        for thread in lanes:
            thread.start()
        for thread in lanes:
            thread.join()

    def show(self, seconds):
        print(f"\n{'part':<26} {'cases':>6} {'N/A':>4} {'seconds':>8} {'CPU':>8}")
        for row in self.rows:
            print(f"{row.name:<26} {row.cases:>6} {row.not_applicable:>4} {row.seconds:8.1f} "
                  f"{row.cpu_seconds:8.1f}"
                  f"{'  FAILED' if row.status else ''}")
        cpu_seconds = sum(row.cpu_seconds for row in self.rows)
        print(f"{'all':<26} {'':>6} {'':>4} {seconds:8.1f} {cpu_seconds:8.1f}")


def main(extent="some"):
    run_tests.refuse_below_tmp()
    begin, check = time.monotonic(), Check()
    if all([check.run(part) for part in BUILDS]):
        check.run_beside(BESIDE)
        for part in ALONE:
            check.run(part, ["CHECK=1"] if extent == "some" else [])
        for part in SHORT if extent == "some" else LONG:
            check.run(part)
    check.show(time.monotonic() - begin)
    return 1 if any(row.status for row in check.rows) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
