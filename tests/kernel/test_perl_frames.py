# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Perl's own functions are in the stacks, from the start and late."""

import os
import shutil
import subprocess
import unittest

import harness
import run_for
import runtime_truth

SOURCE = os.path.join(harness.ROOT, "tests/programs/workloads/perl_frames.pl")
TOPS = ("{main} perl_frames.pl",)


@unittest.skipUnless(shutil.which("perl"), "perl is not installed")
class PerlFrames(harness.KernelTest):
    def check(self, run, tops=TOPS, least=0.99):
        verdict = runtime_truth.verdict_of(run.path(".txt"), SOURCE, {"perl"}, tops)
        self.assertGreater(verdict.samples, 100, verdict)
        self.assertEqual(verdict.wrong[:5], [], verdict)
        self.assertGreaterEqual(verdict.visible, least * verdict.samples, verdict)
        self.assertGreaterEqual(verdict.whole, least * verdict.samples, verdict)
        return verdict

    def test_plain(self):
        run = self.record(["perl", SOURCE, "2"], ["-F", "499", "--fields", "+srcline"])
        # While Perl compiles the program, there is no function.
        verdict = self.check(run, least=0.98)
        names = {frame.name for _, frames in runtime_truth.stacks(run.path(".txt"))
                 for frame in frames}
        # As caller() has them.
        self.assertLessEqual({"main::spin", "main::recursion__main", "main::compare__sorted",
                              "main::careful__caught", "main::__ANON__", "(eval)",
                              "Shop::price__total", "{main} perl_frames.pl"}, names)
        # A function that has not come to a statement yet has none.
        self.assertGreater(verdict.lines, 0.95 * verdict.frames, verdict)

    def test_threads(self):
        """A thread of Perl begins with its function, after Perl has copied all that there is."""
        if subprocess.run(["perl", "-e", "use threads"], stderr=subprocess.DEVNULL,
                          check=False).returncode:
            self.skipTest("perl has no threads")
        run = self.record(["perl", SOURCE, "1", "threads"],
                          ["-F", "499", "--fields", "+srcline"])
        self.check(run, ("main::__ANON__", *TOPS), 0.95)

    def test_late(self):
        engine = subprocess.Popen(["perl", SOURCE, "60"], stdout=subprocess.DEVNULL)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        self.wait_for(lambda: run_for.cpu_seconds(engine.pid) > 0.5)
        self.check(self.record_process(engine.pid, 1, ["-F", "499", "--fields", "+srcline"]))
