# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One user tries to use up what all users share."""

import os
import shutil
import subprocess
import sys
import unittest

import harness
import run_for
from attack import ATTACKER, BESIDE, MEMORY, AttackTest, Victim

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
        self.assertLess(profile.watch.memory, MEMORY + RECOVERED)
        summary = profile.run.summary()
        self.assertEqual({owner["uid"] for owner in summary["over_memory"]}, {ATTACKER})
        self.assertIn(f"user {ATTACKER} (cgroup ", profile.run.stderr)


class Methods(AttackTest):
    """Tries: to fill the memory with methods before anybody else has some. Must hold: code without
    samples gives way, all methods of a user that comes later have their names, the summary tells
    whose code gave way and why, and a replay has the same names."""

    METHODS = 50000
    HOARDERS = 6  # of two users

    def test_first_comers_give_way(self):
        engine, shim = self.copy_for_others(harness.ENGINE, harness.SHIM)
        environment = {"INTEL_JIT_PROFILER64": shim}

        def argv(name):
            return [engine, "storm", "--slots", str(self.METHODS), "--loads", str(self.METHODS), "--rate", "20000",
                    "--seconds", "600", "--name", name]

        with self.recording(("-a", "--max-memory", str(2 * MEMORY), "--shim", shim)) as jitbpf:
            hoarders = [self.attack(argv("attacker"), ready=False, user=ATTACKER + 2 * (i % 2), env=environment)
                        for i in range(self.HOARDERS)]
            self.wait_for(lambda: all(run_for.cpu_seconds(one.pid) >= 1.5 for one in hoarders), 120)
            victim = self.attack(argv("victim_code"), ready=False, user=BYSTANDER, env=environment)
            self.wait_for(lambda: run_for.cpu_seconds(victim.pid) >= 4, 120)
        for process in (*hoarders, victim):
            self.end(process)
        processes = {row["pid"]: row for row in jitbpf.run.summary()["processes"]}
        rows = {pid: row["jit"] for pid, row in processes.items()}
        own, samples = rows[victim.pid], processes[victim.pid]["samples"]
        self.assertEqual((own["methods"], own["over_budget"], own["evicted"]), (self.METHODS, 0, 0), own)
        gave = sum(rows[one.pid]["evicted"] for one in hoarders)
        self.assertGreater(gave, self.METHODS / 4, rows)
        said = [line for line in jitbpf.run.report().stdout.decode().splitlines() if "methods that gave way" in line]
        self.assertIn(f"{gave:,}", said[0])
        self.assertIn("use a larger --max-memory", jitbpf.run.report().stdout.decode())
        functions = Victim(jitbpf.run, victim.pid).functions()
        self.assertLess(samples["code_unknown"], 0.01 * samples["taken"], functions)
        self.assertGreater(functions["victim_code"], 1000)
        self.assertEqual(functions["attacker"], 0)


class Sprawl(AttackTest):
    """Tries: to make the profile grow, by call paths, places, threads, processes or names that never
    repeat. Must hold: memory is bounded, the victim's profile is the same, nothing is lost, and the
    summary tells who did it."""

    def sprawl(self, kind, over_memory, endings=(".jitbpf",)):
        options = ("-a", "--max-memory", str(MEMORY))
        argv = [self.program("sprawl"), kind]
        # A user of its own: root may run other programs, which share root's part of the memory.
        victim = ("setpriv", f"--reuid={BYSTANDER}", f"--regid={BYSTANDER}", "--clear-groups",
                  self.program("victim"))
        with self.recording((*options, "-F", "4999"), endings=endings) as jitbpf:
            attacker, busy = self.attack(argv), self.start_victim(victim)
            self.wait_for(lambda: run_for.cpu_seconds(busy.pid) >= 2, 90)
        self.end(attacker)
        self.end(busy)
        self.assertLess(jitbpf.watch.memory, MEMORY + BESIDE)
        summary = jitbpf.run.summary()
        self.assertEqual(summary["samples"]["taken"], sum(
            process["samples"]["taken"] for process in summary["processes"]))
        if over_memory:
            self.assertIn(f"user {ATTACKER} (cgroup ", jitbpf.run.stderr)
        self.check_victim(options=options, argv=victim, during=lambda: self.attack(argv))

    def test_paths(self):
        """A run that only records keeps no call paths, so nobody uses too much memory."""
        self.sprawl("paths", False)

    def test_paths_in_a_tree(self):
        """Where call paths are kept. When it ends, the output has a tree of its own of them, which is part of
        --max-memory."""
        self.sprawl("paths", True, (".jitbpf", ".folded"))

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


DEBUG_LINKED = """
#include <time.h>
static volatile long sink;
__attribute__((noinline)) void NAME(void)
{
	for (long i = 0; i < 1000000; i++)
		sink += i;
}
int main(void)
{
	while (clock() < SECONDS * CLOCKS_PER_SEC)
		NAME();
	return 0;
}
"""
SPARSE = 128 << 20  # bytes of a debug file: 32 of them are 4 GB
PROGRAMS_WITH_DEBUG_FILE = 35


class DebugFiles(AttackTest):
    """Tries: to use up the time that jitbpf spends on checks of debug files, by programs with large
    sparse ones. Must hold: a later program of another user has the names of its debug file."""

    def build(self, name, seconds):
        """Returns the path of a program whose names are in a debug file beside it, found by its
        CRC alone."""
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        path = os.path.join(folder, name)
        subprocess.run(["gcc", "-O1", "-g", "-Wl,--build-id=none", f"-DNAME={name}",
                        f"-DSECONDS={seconds}", "-x", "c", "-o", path, "-"], check=True,
                       input=DEBUG_LINKED, text=True)
        subprocess.run(["objcopy", "--only-keep-debug", path, path + ".debug"], check=True)
        subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={path}.debug", path],
                       check=True, cwd=folder)
        return path

    def copy_of(self, program, number):
        """Returns the path of a copy that is the attacker's, with a large debug file."""
        folder = os.path.join(self.folder, str(number))
        os.mkdir(folder)
        for ending in ("", ".debug"):
            shutil.copy(program + ending, folder)
        path = os.path.join(folder, os.path.basename(program))
        os.truncate(path + ".debug", SPARSE)
        for name in (folder, path, path + ".debug"):
            os.chown(name, ATTACKER, ATTACKER)
        return path

    def test_sparse_debug_files(self):
        os.chmod(self.folder, 0o755)
        hostile = self.build("attacker", 0.25)
        programs = [self.copy_of(hostile, number) for number in range(PROGRAMS_WITH_DEBUG_FILE)]
        victim = self.build("victim_code", 3)
        with self.recording(("-a", "-F", "99")) as jitbpf:
            attacker = self.attack(["sh", "-c", "\n".join(programs) + "\necho; sleep 600"])
            busy = self.start_victim((victim,))
            busy.wait()
        self.end(attacker)
        functions = Victim(jitbpf.run, busy.pid).functions()
        self.assertGreater(functions["victim_code"], 0.9 * functions.total(), functions)


if __name__ == "__main__":
    unittest.main()
