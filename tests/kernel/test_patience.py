# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The patience of the tests themselves: what hangs is given up, and a busy machine is waited for."""

import os
import time
import unittest

import harness
from harness import run_tests


class Patience(unittest.TestCase):
    def patience(self, seconds):
        self.now, self.share = 1000, 1
        return run_tests.Patience(seconds, lambda: self.now, lambda: self.share)

    def passed(self, patience, seconds, share):
        before = patience.left()
        self.now, self.share = self.now + seconds, share
        return before - patience.left()

    def test_quiet(self):
        patience = self.patience(60)
        self.assertEqual(self.passed(patience, 59, 1), 59)
        self.assertGreater(patience.left(), 0)
        self.passed(patience, 1, 1)
        self.assertLessEqual(patience.left(), 0)

    def test_busy(self):
        self.assertEqual(self.passed(self.patience(60), 8, 1 / 4), 2)

    def test_ends(self):
        """However busy the machine is."""
        self.assertEqual(self.passed(self.patience(60), 600, 0), 60)

    def test_share(self):
        self.assertGreater(run_tests.processor_share(), 0)
        self.assertLessEqual(run_tests.processor_share(), 1)

    def test_hanging_test(self):
        """The runner ends a test that hangs, and says so; others pass."""
        read, write = os.pipe()
        if not os.fork():
            os.dup2(write, 1)
            runner = run_tests.Runner("kernel")
            runner.limit_s = 0.2
            done = runner.run([run_tests.Test("hangs", lambda: time.sleep(1000)),
                               run_tests.Test("passes", lambda: 0)])
            os._exit(0 if not done else 1)
        os.close(write)
        with os.fdopen(read) as output:
            text = output.read()
        self.assertEqual(os.wait()[1], 0)
        self.assertIn("hangs: over its time limit of 0.2 s", text)
        self.assertIn("kernel: 1 passed, 1 failed", text)


if __name__ == "__main__":
    harness.main()
