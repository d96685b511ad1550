# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stacks of Go, with and without the unwind table that its linker writes."""

import os
import unittest

import harness
import stack_truth

WHOLE = 0.99


class Go(harness.KernelTest):
    def test_stacks_are_the_true_ones(self):
        source = os.path.join(harness.ROOT, "tests/programs/stacks/gochain.go")
        truth = stack_truth.program(source)
        for name in ("gochain", "gochain-frame-pointers"):
            path = os.path.join(harness.BUILD, "tests/programs/stacks", name)
            run = self.record(["timeout", "2", path], ["-F", "999", "--no-inline"], status=124)
            (verdict,) = stack_truth.verdicts(run, {path: truth}).values()
            with self.subTest(name):
                self.assertGreater(verdict.total, 300, verdict)
                self.assertEqual(verdict.counts["wrong"], 0, verdict)
                self.assertGreater(verdict.share("whole"), WHOLE, verdict)
            self.check_ledger(run)


if __name__ == "__main__":
    unittest.main()
