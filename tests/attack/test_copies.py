# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One user floods the copies of code, which names are checked against."""

import re
import unittest

import engine_truth
import harness
import recording
from attack import AttackTest

BYSTANDER = 61235  # user ID


class Copies(AttackTest):
    """Tries: to evict the copies of another user's code by loads of large functions, so that code
    that replaces it cannot be told from it. Must hold: no sample in code that was not published
    has a name."""

    def test_flood(self):
        engine, shim = self.copy_for_others(harness.ENGINE, harness.SHIM)
        environment = {"INTEL_JIT_PROFILER64": shim}
        flood = [engine, "loads", "--rate", "3000", "--code-bytes", "32768", "--slots", "64",
                 "--seconds", "60"]
        with self.recording(("-a", "-F", "199", "--user-regs", "--code-ring", "64M",
                             "--shim", shim)) as jitbpf:
            self.attack(flood, ready=False, env=environment)
            # The flood runs before the first function of the victim is published.
            self.attack([engine, "hot", "--seconds", "0.3"], env=environment)
            victim = self.attack([engine, "stale", "--how", "unmap", "--seconds", "3"], False,
                                 BYSTANDER, env=environment)
            self.assertEqual(victim.wait(), 0)
        run = jitbpf.run
        regs = {(sample.tid, sample.time): sample.regs for sample in run.samples()}
        named = unknown = wrong = 0
        for sample in run.script():
            r15 = (regs[sample.tid, sample.time] or [0] * 18)[recording.R15]
            if sample.pid != victim.pid or r15 >> 32 != engine_truth.GENERATION_TAG:
                continue
            names = [frame.name for frame in sample.frames if re.match(r"gen_\d+$", frame.name)]
            generation = r15 & 0xFFFFFFFF
            unknown += not names
            named += names == [f"gen_{generation}"]
            wrong += bool(names) and names != [f"gen_{generation}"]
        counts = named, unknown, wrong
        self.assertEqual(wrong, 0, counts)
        self.assertGreater(named, 300, counts)
        self.assertGreater(unknown, 100, counts)


if __name__ == "__main__":
    unittest.main()
