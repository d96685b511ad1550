# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Published code that other code replaces without a report: names are right or unknown."""

import re

import engine_truth
import harness
import recording

UNPUBLISHED = 0x80000000  # tests/programs/engine/stale.c


class Stale(harness.KernelTest):
    def run_engine(self, how, seconds=2):
        """Returns the numbers of samples in published code with and without its name; and in
        unpublished code without and with a name."""
        run = self.record([harness.ENGINE, "stale", "--how", how, "--seconds", str(seconds)],
                          ["-F", "999", "--user-regs"])
        regs = {(s.tid, s.time): s.regs for s in run.samples()}
        named = unnamed = unknown = wrong = 0
        for sample in run.script():
            r15 = (regs[sample.tid, sample.time] or [0] * 18)[recording.R15]
            if r15 >> 32 != engine_truth.GENERATION_TAG:
                continue
            generation = r15 & 0xFFFFFFFF
            names = [frame.name for frame in sample.frames if re.match(r"gen_\d+$", frame.name)]
            if generation & UNPUBLISHED:
                wrong += bool(names)
                unknown += not names
            elif names and names != [f"gen_{generation}"]:
                wrong += 1
            else:
                named += bool(names)
                unnamed += not names
        self.check_ledger(run)
        self.check_replay(run)
        return named, unnamed, unknown, wrong

    def check_replay(self, run):
        """Checks that the recording says the same as the run did."""
        with open(run.path(".txt"), "rb") as live:
            self.assertEqual(sorted(live), sorted(run.report("-f", "script").stdout
                                                  .splitlines(keepends=True)))

    def check(self, how):
        named, unnamed, unknown, wrong = counts = self.run_engine(how)
        self.assertEqual(wrong, 0, counts)
        self.assertGreater(named, 0.95 * (named + unnamed), counts)
        self.assertGreater(named, 200, counts)
        return unknown, named

    def check_replaced(self, how):
        unknown, named = self.check(how)
        self.assertGreater(unknown, 0.2 * named)

    def test_mapped_again(self):
        self.check_replaced("unmap")

    def test_mapped_over(self):
        self.check_replaced("fixed")

    def test_protected(self):
        self.check_replaced("protect")

    def test_moved(self):
        """The kernel does not report a mapping that is moved to the place."""
        self.check_replaced("move")

    def test_written(self):
        """Nor that code is written in memory that stays writable and executable."""
        self.check_replaced("write")

    def test_other_constants(self):
        self.check_replaced("unmap-constants")

    def test_callers(self):
        self.check_replaced("unmap-calls")

    def test_short_programs(self):
        """They publish and replace code, and end before most checks can be done."""
        named = unnamed = unknown = 0
        for how in ("unmap", "fixed", "unmap-calls"):
            for seconds in (0.1, 0.2, 0.3):
                *counts, wrong = self.run_engine(how, seconds)
                self.assertEqual(wrong, 0, (how, seconds, counts))
                named, unnamed, unknown = map(sum, zip((named, unnamed, unknown), counts))
        self.assertGreater(named, 0.95 * (named + unnamed), (named, unnamed, unknown))
        self.assertGreater(unknown, 0.2 * named, (named, unnamed, unknown))

    def test_linked(self):
        """An engine that makes its code writable and links it, a thousand times a second. It
        replaces nothing."""
        self.assertEqual(self.check("link")[0], 0)
