# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the kernel tests share: running jitbpf on real engines, and reading what it wrote."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import recording

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
JITBPF = os.path.join(BUILD, "jitbpf")
SHIM = os.path.join(BUILD, "libjitbpf.so")
ENGINE = os.path.join(BUILD, "tests/engine/jit-engine")
CONFORMANCE = os.path.join(BUILD, "tests/engine/conformance-client")
ONEDNN = os.path.join(BUILD, "tests/workloads/onednn")
PHP_SCRIPT = os.path.join(ROOT, "tests/workloads/numbers.php")


def php(mode, seconds):
    return ["php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=64M",
            "-d", f"opcache.jit={mode}", "-d", "opcache.jit_debug=128", PHP_SCRIPT, str(seconds)]


class Run:
    """One finished `jitbpf record`: its outputs by ending, its exit status and messages."""

    def __init__(self, folder, status, stdout, stderr):
        self.folder, self.status, self.stdout, self.stderr = folder, status, stdout, stderr

    def path(self, ending):
        return os.path.join(self.folder, "out" + ending)

    def script(self):
        return recording.script(self.path(".txt"))

    def folded(self):
        return recording.folded(self.path(".folded"))

    def samples(self):
        return recording.samples(self.path(".jitbpf"))

    def report(self, *args):
        return subprocess.run([JITBPF, "report", *args, self.path(".jitbpf")],
                              capture_output=True, check=False)

    def summary(self):
        done = self.report("--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


class KernelTest(unittest.TestCase):
    """Records into a folder of its own, which goes with the test."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="jitbpf-test-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def record(self, command=(), options=(), endings=(".jitbpf", ".txt"), status=0, **kwargs):
        argv = [JITBPF, "record", *options]
        for ending in endings:
            argv += ["-o", os.path.join(self.folder, "out" + ending)]
        if command:
            argv += ["--", *command]
        done = subprocess.run(argv, capture_output=True, timeout=120, check=False, **kwargs)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return Run(self.folder, done.returncode, done.stdout, done.stderr.decode(errors="replace"))

    def check_ledger(self, run):
        """The fates add up to the kernel's own count, in all and per process."""
        summary = run.summary()
        samples = summary["samples"]
        fates = [samples[key] for key in ("resolved", "code_unknown", "stack_cut", "lost")]
        self.assertEqual(samples["taken"], sum(fates))
        self.assertEqual(samples["taken"], summary["counters"]["samples_taken"])
        for process in summary["processes"]:
            row = process["samples"]
            self.assertEqual(row["taken"], row["resolved"] + row["code_unknown"] +
                             row["stack_cut"] + row["lost"])
        self.assertEqual(samples["taken"],
                         sum(p["samples"]["taken"] for p in summary["processes"]))
        return summary


def leaf_jit(sample):
    """The innermost user frame of a script sample, or None."""
    for frame in sample.frames:
        if frame.address < 1 << 63:
            return frame
    return None


def main(folder=os.path.dirname(os.path.abspath(__file__))):
    if os.geteuid() != 0:
        sys.exit("the kernel tests need root")
    suite = unittest.defaultTestLoader.discover(folder, os.environ.get("TESTS", "test_*.py"))
    result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.skipped)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed or not result.testsRun else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
