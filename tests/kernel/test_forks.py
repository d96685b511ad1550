# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An engine that forks: the children live, and what they tell is known."""

import os
import sys
import unittest

import harness

FORKS = os.path.join(harness.ROOT, "tests/workloads/forks.py")


class Forks(harness.KernelTest):
    def test_child_goes_on(self):
        """The parent has run the probe before: what the kernel made of it there goes to the child."""
        run = self.record([sys.executable, FORKS, "20"], ["-F", "99"])
        summary = self.check_ledger(run)
        methods = sorted(p["jit"]["methods"] for p in summary["processes"])
        self.assertEqual([count for count in methods if count], [20, 40])


if __name__ == "__main__":
    unittest.main()
