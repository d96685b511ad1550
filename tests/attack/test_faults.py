# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Memory whose readers wait for a userfaultfd."""

import os
import stat
import unittest

from attack import AttackTest, harness

DEVICE = "/dev/userfaultfd"
PAUSE_MS = 100


class StuckMemory(AttackTest):
    """Tries: to keep each helper waiting that reads JIT code from the attacker's memory, so that
    stacks of others are not unwound. Must hold: no turn of the loop takes 100 ms, the victim's
    profile is the same, and its stacks are whole."""

    def setUp(self):
        super().setUp()
        if not os.path.exists(DEVICE):
            self.skipTest("this kernel has no /dev/userfaultfd")
        os.chmod(self.folder, 0o755)
        self.device = os.path.join(self.folder, "userfaultfd")  # for everybody
        os.mknod(self.device, stat.S_IFCHR | 0o666, os.stat(DEVICE).st_rdev)
        os.chmod(self.device, 0o666)

    def attack_memory(self):
        program = self.program("stuck_code")
        shim = self.copy_for_others(harness.SHIM)[0]
        for _ in range(2):
            self.attack([program, self.device], env={**os.environ, "INTEL_JIT_PROFILER64": shim})

    def test_code(self):
        """A JIT victim, whose code is too long to be copied at its load, needs such reads too."""
        self.attack_memory()
        engine = [harness.ENGINE, "hot", "--seconds", "60", "--name", "honest", "--code-bytes",
                  "100000"]
        environment = {**os.environ, "INTEL_JIT_PROFILER64": harness.SHIM}
        victims = []
        profile = self.check_victim(
            seconds=1, during=lambda: victims.append(self.start_victim(engine, env=environment)))
        counters = profile.run.summary()["counters"]
        stacks = [sample.frames for sample in profile.run.script()
                  if sample.pid in [victim.pid for victim in victims]]
        self.assertGreater(len(stacks), 100)
        whole = [frames for frames in stacks if any("main" in str(frame) for frame in frames)]
        print(f"{self.id()}: longest pause {counters['loop_longest_ms']} ms, {len(whole)} of "
              f"{len(stacks)} stacks whole")
        self.assertGreater(len(whole), 0.9 * len(stacks))
        self.assertLessEqual(counters["loop_longest_ms"], PAUSE_MS)


if __name__ == "__main__":
    unittest.main()
