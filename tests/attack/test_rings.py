# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One user floods the ring of JIT records and of copied code."""

import unittest

import harness
import stale_names
from attack import ATTACKER, AttackTest

BYSTANDER = 61235  # user ID
FLOODERS = 4


class Rings(AttackTest):
    """Tries: to keep the ring full, so that another user's JIT records are lost and their code is
    not copied. Then code is read only when it is sampled first, and may be other code by then. Must
    hold: no record of the victim is lost, and each name is right."""

    def flood(self, *load, options=(), flooders=FLOODERS, victim_user=BYSTANDER):
        """Returns the summary, and the victim's row of it."""
        engine, shim = self.copy_for_others(harness.ENGINE, harness.SHIM)
        environment = {"INTEL_JIT_PROFILER64": shim}
        with self.recording(("-a", "-F", "499", "--user-regs", "--shim", shim, *options)) as jitbpf:
            for _ in range(flooders):
                self.attack([engine, "loads", "--slots", "64", *load, "--seconds", "80"], ready=False,
                            env=environment)
            # The flood runs before the first function of the victim is published.
            self.attack([engine, "hot", "--seconds", "0.5"], env=environment).wait()
            victim = self.attack([engine, "stale", "--how", "unmap", "--seconds", "2"], False,
                                 victim_user, env=environment)
            self.assertEqual(victim.wait(), 0)
        stale_names.check(self, jitbpf.run, victim.pid)
        summary = jitbpf.run.summary()
        (row,) = [row for row in summary["processes"] if row["pid"] == victim.pid]
        return summary, row

    def check_nothing_lost(self, row):
        self.assertEqual((row["jit"]["recovered"], row["jit"]["sequence_gaps"]), (0, 0))

    def test_records(self):
        summary, row = self.flood("--rate", "0", "--bytes", "4000")
        self.check_nothing_lost(row)
        counters = summary["counters"]
        self.assertGreater(counters["jit_over_share"], 10000)
        # One is read after the other, while the flood goes on.
        self.assertLess(abs(counters["jit_ring_full"] - counters["jit_over_share"]),
                        0.001 * counters["jit_ring_full"])

    def test_process_of_the_same_user(self):
        """A process that is merely busy."""
        summary, row = self.flood("--rate", "0", "--bytes", "4000", options=("--code-ring", "2M"),
                                  flooders=1, victim_user=ATTACKER)
        self.check_nothing_lost(row)
        self.assertGreater(summary["counters"]["jit_over_share"], 10000)

    def test_copies_of_code(self):
        summary, row = self.flood("--rate", "30000", "--code-bytes", "32768")
        self.check_nothing_lost(row)
        self.assertGreater(summary["counters"]["code_not_copied"], 10000)


if __name__ == "__main__":
    unittest.main()
