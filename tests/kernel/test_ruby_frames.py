# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Ruby's own functions are in the stacks, from the start and late."""

import os
import shutil
import subprocess
import unittest

import harness
import run_for
import runtime_truth

SOURCE = os.path.join(harness.ROOT, "tests/programs/workloads/ruby_frames.rb")
FIBERS = os.path.join(harness.ROOT, "tests/programs/workloads/ruby_fibers.rb")
TOPS = ("<main>",)


@unittest.skipUnless(shutil.which("ruby"), "ruby is not installed")
class RubyFrames(harness.KernelTest):
    def check(self, run, source=SOURCE, tops=TOPS):
        verdict = runtime_truth.verdict_of(run.path(".txt"), source, {"ruby"}, tops)
        self.assertGreater(verdict.samples, 100, verdict)
        self.assertEqual(verdict.wrong[:5], [], verdict)
        self.assertGreaterEqual(verdict.visible, 0.99 * verdict.samples, verdict)
        self.assertGreaterEqual(verdict.whole, 0.99 * verdict.samples, verdict)
        return verdict

    def test_plain(self):
        run = self.record(["ruby", SOURCE, "2"], ["-F", "499", "--fields", "+srcline"])
        verdict = self.check(run)
        names = {frame.name for _, frames in runtime_truth.stacks(run.path(".txt"))
                 for frame in frames}
        # As Ruby 3.4 writes them in a backtrace.
        self.assertLessEqual({"Shop#price__main", "Shop.open__main", "Mixed#mixed__main",
                              "Object#spin", "block (2 levels) in Object#blocks__main",
                              "Array#each", "Integer#times"}, names)
        # Functions of C have no lines, but they are not of the source either.
        self.assertGreater(verdict.lines, 0.99 * verdict.frames, verdict)

    def test_compiled(self):
        """YJIT's code has no unwind rows; it is called by the interpreter, and calls blocks."""
        command = ["ruby", "--yjit", "--yjit-call-threshold=5"]
        if subprocess.run([*command, "-e", "1"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("ruby has no YJIT")
        run = self.record([*command, SOURCE, "2"], ["-F", "1999", "--fields", "+srcline"])
        verdict = self.check(run)
        self.assertLess(verdict.unknown, 0.02 * verdict.samples, verdict)

    def test_fibers(self):
        """While a thread switches stacks, no frame gets a caller of the other stack."""
        run = self.record(["ruby", FIBERS, "2"], ["-F", "1999", "--fields", "+srcline"])
        verdict = runtime_truth.verdict_of(run.path(".txt"), FIBERS, {"ruby"}, ("<main>", "Object#main"))
        self.assertGreater(verdict.samples, 100, verdict)
        self.assertEqual(verdict.wrong[:5], [], verdict)
        self.assertGreaterEqual(verdict.visible, 0.95 * verdict.samples, verdict)

    def test_late(self):
        engine = subprocess.Popen(["ruby", SOURCE, "60"], stdout=subprocess.DEVNULL)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        self.wait_for(lambda: run_for.cpu_seconds(engine.pid) > 0.5)
        self.check(self.record_process(engine.pid, 1, ["-F", "499", "--fields", "+srcline"]))
