# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One user tries to use up what all users share."""

import os
import shutil
import sys
import unittest

import harness
import run_for
from attack import ATTACKER, BESIDE, MEMORY, AttackTest

BYSTANDER = 61235  # user ID
# A round holds 48 MB of events, and then one more piece of each journal and what the rings hold.
RECOVERED = 176 << 20


class Memory(AttackTest):
    """Tries: to fill the memory with methods that have long names, from three processes. Must
    hold: memory is bounded, code of another user has its names, the summary tells who did it."""

    def test_methods_with_long_names(self):
        engine, shim = self.copy_for_others(harness.ENGINE, harness.SHIM)
        environment = {"INTEL_JIT_PROFILER64": shim}

        def during():
            for _ in range(3):
                self.attack([engine, "loads", "--rate", "20000", "--bytes", "4000", "--slots",
                             "1000000", "--seconds", "60"], ready=False, env=environment)

        victim = ("env", "INTEL_JIT_PROFILER64=" + shim, harness.ENGINE, "hot", "--seconds", "60", "--name", "victim_code")
        profile = self.victim_profile(4, ("-a", "--max-memory", str(MEMORY), "--shim", shim),
                                      victim, during)
        functions = profile.functions()
        self.assertGreater(functions["victim_code"], 0.95 * functions.total(), functions)
        self.assertLess(profile.watch.rss, MEMORY + RECOVERED)
        summary = profile.run.summary()
        self.assertEqual({owner["uid"] for owner in summary["over_memory"]}, {ATTACKER})
        self.assertIn(f"user {ATTACKER} (cgroup ", profile.run.stderr)


class Sprawl(AttackTest):
    """Tries: to make the profile grow, by call paths, places, threads, processes or names that never
    repeat. Must hold: memory is bounded, the victim's profile is the same, nothing is lost, and the
    summary tells who did it."""

    def sprawl(self, kind, over_memory):
        options = ("-a", "--max-memory", str(MEMORY))
        argv = [self.program("sprawl"), kind]
        # A user of its own: root may run other programs, which share root's part of the memory.
        victim = ("setpriv", f"--reuid={BYSTANDER}", f"--regid={BYSTANDER}", "--clear-groups",
                  self.program("victim"))
        with self.recording((*options, "-F", "4999"), endings=(".jitbpf",)) as jitbpf:
            attacker, busy = self.attack(argv), self.start_victim(victim)
            self.wait_for(lambda: run_for.cpu_seconds(busy.pid) >= 2, 90)
        self.end(attacker)
        self.end(busy)
        self.assertLess(jitbpf.watch.rss, MEMORY + BESIDE)
        summary = jitbpf.run.summary()
        self.assertEqual(summary["samples"]["taken"], sum(
            process["samples"]["taken"] for process in summary["processes"]))
        if over_memory:
            self.assertIn(f"user {ATTACKER} (cgroup ", jitbpf.run.stderr)
        self.check_victim(options=options, argv=victim, during=lambda: self.attack(argv))

    def test_paths(self):
        self.sprawl("paths", True)

    def test_places(self):
        self.sprawl("places", True)

    def test_threads(self):
        self.sprawl("threads", False)

    def test_processes(self):
        self.sprawl("processes", False)

    def test_crowd(self):
        self.sprawl("crowd", False)


MANY_COPIES = """
import ctypes, os, shutil, sys, time
for number in range(100):
    copy = f"{sys.argv[2]}/libjitbpf.so.{number}"
    shutil.copy(sys.argv[1], copy)
    ctypes.CDLL(copy)
print(flush=True)
time.sleep(600)
"""


class Shims(AttackTest):
    """Tries: to use up the copies of the shim that are attached to. Must hold: the copy of another
    user is attached to, and its code has its names."""

    def test_many_copies(self):
        shim = self.copy_for_others(harness.SHIM)[0]
        folder = os.path.join(self.folder, "attacker")
        os.mkdir(folder)
        os.chown(folder, ATTACKER, ATTACKER)
        own = os.path.join(self.folder, "libjitbpf.so.own")
        shutil.copy(shim, own)
        victim = ("env", "INTEL_JIT_PROFILER64=" + own, harness.ENGINE, "hot", "--seconds", "60",
                  "--name", "victim_code")
        # What runs before its copy is attached to has no names: on a busy machine, 0.25 s.
        profile = self.victim_profile(
            4, argv=victim,
            during=lambda: self.attack([sys.executable, "-c", MANY_COPIES, shim, folder]))
        functions = profile.functions()
        self.assertGreater(functions["victim_code"], 0.9 * functions.total(), functions)
        self.assertGreater(profile.run.summary()["counters"]["shims_over_budget"], 30)


if __name__ == "__main__":
    unittest.main()
