# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Code that is rewritten at the same few addresses: each sample has the generation that ran."""

import engine_truth
import harness


class Storm(harness.KernelTest):
    def check_rate(self, rate, *options):
        run = self.record([harness.ENGINE, "storm", "--rate", str(rate), "--slots", "16",
                           "--seconds", "4"], ["-F", "999", "--user-regs", *options])
        right, unnamed, wrong = engine_truth.generations(run)
        self.assertGreater(right, 500)
        self.assertLessEqual(unnamed + wrong, 0.001 * (right + unnamed + wrong))
        summary = self.check_ledger(run)
        self.assertEqual(summary["samples"]["lost"], 0)
        # A small ring can be full on a busy machine. Then the journal fills the gap.
        if not options:
            self.assertEqual(summary["jit"]["sequence_gaps"], 0)
        self.assertGreater(summary["jit"]["methods"], rate)

    @harness.slow
    def test_1000_a_second(self):
        self.check_rate(1000)

    def test_10000_a_second(self):
        self.check_rate(10000)

    def test_rings_come_round(self):
        """Rings are filled many times, so that records wrap around their ends."""
        self.check_rate(1000, "--code-ring", "64K", "--sample-ring", "64K")

    def test_copies_of_code_lose_nothing(self):
        """Copies of code exceed the ring many times over: events have precedence."""
        # Events of two seconds have room in the ring: a busy machine may keep the recorder away.
        run = self.record([harness.ENGINE, "loads", "--rate", "2000", "--seconds", "2",
                           "--code-bytes", "65536"], ["-F", "99", "--code-ring", "1M"])
        summary = self.check_ledger(run)
        self.assertEqual(summary["counters"]["jit_ring_full"], 0)
        self.assertEqual(summary["jit"]["methods"], summary["counters"]["jit_hits"])
        self.assertGreater(summary["jit"]["methods"], 1000)

    def test_lost_is_counted(self):
        """With rings far too small, losses are counted, and the sums hold."""
        run = self.record([harness.ENGINE, "storm", "--rate", "20000", "--seconds", "2"],
                          ["-F", "9999", "--code-ring", "4K", "--sample-ring", "4K"])
        summary = self.check_ledger(run)
        self.assertGreater(summary["samples"]["lost"], 0)
        self.assertGreater(summary["counters"]["jit_ring_full"], 0)
        jit, counters = summary["jit"], summary["counters"]
        # The journal goes with its process, so losses at its very end may be missing.
        self.assertLessEqual(jit["methods"], counters["jit_hits"])
        self.assertGreater(jit["recovered"], 0)
        self.assertGreaterEqual(jit["methods"] + counters["jit_ring_full"], counters["jit_hits"])
        self.assertLessEqual(jit["sequence_gaps"], counters["jit_ring_full"])
