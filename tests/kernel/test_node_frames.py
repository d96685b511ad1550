# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Functions of a plain Node.js, without any option, are in the stacks, in all tiers."""

import os
import shutil
import subprocess
import unittest

import harness
import run_for
import runtime_truth

SOURCE = os.path.join(harness.ROOT, "tests/programs/workloads/node_frames.js")
# What the compiler inlines has no frame of its own.
NODE = ["node", "--no-turbo-inlining", SOURCE]
TOPS = ("main", "(anonymous)")


@unittest.skipUnless(shutil.which("node"), "Node.js is not installed")
class NodeFrames(harness.KernelTest):
    def test_late(self):
        node = subprocess.Popen([*NODE, "60"], stdout=subprocess.DEVNULL)
        self.addCleanup(node.wait)
        self.addCleanup(node.kill)
        self.wait_for(lambda: run_for.cpu_seconds(node.pid) > 1)
        run = self.record_process(node.pid, 2, ["-F", "499", "--fields", "+srcline"])
        node.kill()
        verdict = runtime_truth.verdict_of(run.path(".txt"), SOURCE, {"node", "MainThread"}, TOPS)
        self.assertGreater(verdict.samples, 100, verdict)
        self.assertEqual(verdict.wrong[:5], [], verdict)
        self.assertGreaterEqual(verdict.visible, 0.9 * verdict.samples, verdict)
        self.assertLessEqual(verdict.unknown, 0.02 * verdict.samples, verdict)
        names = {frame.name.replace(SOURCE, "FILE") for _, frames in
                 runtime_truth.stacks(run.path(".txt")) for frame in frames}
        # As V8's profilers call them, with the place of the first parenthesis.
        self.assertLessEqual({"price__main FILE:20:13", "get stock__main FILE:28:17",
                              "main FILE:90:20"}, names)
