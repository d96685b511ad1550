# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One user has more code in doubt than can be checked."""

import unittest

import harness
import stale_names
from attack import AttackTest

BYSTANDER = 61235  # user ID


class Doubts(AttackTest):
    """Tries: to use up the checks of code, by stacks of functions that are all in doubt. Must hold:
    the run goes on, and each name of another user's code is right."""

    def test_checks(self):
        engine, shim = self.copy_for_others(harness.ENGINE, harness.SHIM)
        environment = {"INTEL_JIT_PROFILER64": shim}
        with self.recording(("-a", "-F", "199", "--user-regs", "--shim", shim)) as jitbpf:
            self.attack([self.program("doubtful")], env=environment)
            victim = self.attack([engine, "stale", "--how", "unmap", "--seconds", "2"], False,
                                 BYSTANDER, env=environment)
            self.assertEqual(victim.wait(), 0)
        stale_names.check(self, jitbpf.run, victim.pid, least=120)
        # The attack had its effect on the attacker.
        self.assertGreater(jitbpf.run.summary()["jit"]["unchecked"], 100)


if __name__ == "__main__":
    unittest.main()
