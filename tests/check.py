#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check.py: runs all parts of `make check`, even if one fails, and prints the time of each.

First everything is built. Then the parts that only compute run, two at a time, or one per
processor. The parts that depend on the kernel and the clock run last, one at a time.
"""

import collections
import os
import subprocess
import sys
import tempfile
import threading
import time

CPUS = os.cpu_count() or 1

# A part is the arguments of a make call. Parts that run in parallel are sorted, longest first.
Part = collections.namedtuple("Part", "name arguments")
BUILDS = (
    Part("build", ["all", "test-programs", f"-j{CPUS}"]),
    Part("build, ASan and UBSan", ["SAN=1", "sanitized-programs", f"-j{CPUS}"]),
    Part("build, TSan", ["TSAN=1", "thread-programs", f"-j{CPUS}"]),
)
BESIDE = (
    Part("unit, ASan and UBSan", ["SAN=1", "unit"]),
    Part("symbols", ["symbols-test"]),
    Part("ui", ["ui-test"]),
    Part("unit", ["unit"]),
    Part("random model", ["random-model"]),
    Part("frames", ["frames-test"]),
    Part("layers", ["layers"]),
    Part("shim", ["shim-test"]),
    Part("page", ["page-check"]),
    Part("code", ["code-test"]),
    Part("replay, ASan and UBSan", ["SAN=1", "replay"]),
    Part("threads, TSan", ["TSAN=1", "thread-test"]),
    Part("format", ["format-check"]),
    Part("golden", ["golden"]),
)
ALONE = (
    Part("kernel", ["kernel-test"]),
    Part("kernel, ASan and UBSan", ["kernel-test", "JITBPF=build/san/jitbpf",
                                    "TESTS=test_files.py test_record.py test_list.py "
                                    "test_outputs.py test_jit_api.py"]),
)


def environment():
    """Returns make's environment with its options, but without its job server."""
    flags = [word for word in os.environ.get("MAKEFLAGS", "").split()
             if not word.startswith(("-j", "--jobserver"))]
    return {**os.environ, "MAKEFLAGS": " ".join(flags)}


class Check:
    def __init__(self):
        self.rows, self.lock = [], threading.Lock()

    def run(self, part, arguments=(), output=None):
        """Runs one part; returns false if it failed. With `output`, the output is printed at
        the end."""
        begin = time.monotonic()
        command = ["make", "--no-print-directory", *part.arguments, *arguments]
        status = subprocess.run(command, env=environment(), stdout=output, stderr=output,
                                check=False).returncode
        row = (part.name, time.monotonic() - begin, status)
        with self.lock:
            if output:
                output.seek(0)
                print(f"--- {part.name}", flush=True)
                sys.stdout.buffer.write(output.read())
                sys.stdout.flush()
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
                with tempfile.TemporaryFile() as output:
                    self.run(part, ["LANES=1"], output)

        lanes = [threading.Thread(target=lane) for _ in range(CPUS)]
        for thread in lanes:
            thread.start()
        for thread in lanes:
            thread.join()

    def show(self, seconds):
        print(f"\n{'part':<26} {'seconds':>8}")
        for name, took, status in self.rows:
            print(f"{name:<26} {took:8.1f}{'  FAILED' if status else ''}")
        print(f"{'all':<26} {seconds:8.1f}")


def main():
    begin, check = time.monotonic(), Check()
    if all([check.run(part) for part in BUILDS]):
        check.run_beside(BESIDE)
        for part in ALONE:
            check.run(part)
    check.show(time.monotonic() - begin)
    return 1 if any(status for _, _, status in check.rows) else 0


if __name__ == "__main__":
    sys.exit(main())
