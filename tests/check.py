#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check.py: runs all parts of `make check`, even if one fails, and prints the time of each.

First everything is built. Then the parts that only compute run, two at a time, or one per
processor. The parts that depend on the kernel and the clock run last, one at a time.
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
# Some of each kind; all of them take four minutes (make attack-test).
ATTACKS = "|".join((
    "Storms.test_mappings", "Hoards", "Deaths.test_deaths", "Files.test_debug_info", "Journals",
    "PidReuse", "Substitution.test_debug_file", "Pinned.test_memfd", "Junk.test_malformed", "Links",
    "LivePage", "Holders.test_forking_later", "Holders.test_mapping_the_installed_shim_later",
    "FuseCopies.test_copy_below_an_overlay"))
# Slow ones that are left out, since others of their kind run; make kernel-test runs all.
SLOW = "|".join((
    r"java_attach\.(Late|Launched)25", r"java_turnover\.(Turnover25|Late)",
    r"java_threads\.(Late25|AtStart25.test_rotated|Late.test_in_a_container)",
    r"(Compiler|Turnover)\.test_first_compiler",
    "test_many_silent_ones", "test_both_at_10000_a_second", "jitdump.Storm.test_threads",
    "Node.test_from_the_start", "Lost.test_two_threads", "Lies.test_that_cannot_be_read",
    "Storm.test_1000_a_second", "live.Names.test_hostile", "live.Many.test_twenty",
    "live_by.By.test_thread",
    "LiveCode.test_(native|php)", "live_again.Away", "live_engines",
    r"live_methods\.(Storm|Engines)",
    r"java\.Compiler\.test_colours", r"\.Turnover\.test_pauses",
    r"\.AtStart\.test_rotated", r"jitdump\.Storm\.test_10000",
    r"docs\.Documented\.test_docs_(engines|recording)_", "test_ten_thousand_of_a_name",
    r"choice_recorded\.Later\.test_(rotation|executes_the_chosen)",
    r"java_patches\.Patches\.test_(parallel|z|jdk_25)", "test_next_file_fails_(by_time|with_max_size)",
    "FullDisk.test_record", "test_max_size_of_a_rotation", "test_min_free_of_a_rotation"))
# A fifth of the kernel tests mostly wait, so there is one more at a time than processors.
KERNEL = ["kernel-test", f"LANES={CPUS + 1}"]
# With sanitizers, these prove all that they prove without.
SANITIZED = ("files", "record", "list", "outputs", "jit_api")
ALONE = (
    Part("kernel", [*KERNEL, rf"ONLY=^(?!test_({'|'.join(SANITIZED)})\.|.*({SLOW}))"]),
    Part("attacks", ["attack-test", f"ONLY={ATTACKS}"]),
    Part("soak, 20 s", ["soak", "MINUTES=0.33"]),
    Part("kernel, ASan and UBSan", [*KERNEL, f"ONLY=^(?!.*({SLOW}))", "JITBPF=build/san/jitbpf",
                                    f"TESTS={' '.join(f'test_{name}.py' for name in SANITIZED)}"]),
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


def main():
    run_tests.refuse_below_tmp()
    begin, check = time.monotonic(), Check()
    if all([check.run(part) for part in BUILDS]):
        check.run_beside(BESIDE)
        for part in ALONE:
            check.run(part)
    check.show(time.monotonic() - begin)
    return 1 if any(row.status for row in check.rows) else 0


if __name__ == "__main__":
    sys.exit(main())
