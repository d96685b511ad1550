# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Java: code that is flushed and compiled again, and code of classes that are unloaded. The program
says which class ran when."""

import bisect
import collections
import os
import re
import subprocess
import unittest

import harness
import jdks
import test_java_attach

AGENT = os.path.join(os.path.dirname(harness.SHIM), "libjitbpf-jvmti.so")
WORKLOADS = os.path.join(harness.ROOT, "tests/programs/workloads")
RUNS = "192"
# So little room that the JVM frees code of methods that it may need again.
SMALL = ["-Xmx96m", "-XX:ReservedCodeCacheSize=4m", "-XX:InitialCodeCacheSize=4m"]

Verdicts = collections.namedtuple("Verdicts", "right own unknown wrong")


class Rotation:
    """Which class ran when, as the program printed it."""

    def __init__(self, stdout):
        self.tid = int(re.search(rb"(?m)^thread \d+/task/(\d+)$", stdout)[1])
        rows = re.findall(r"(?m)^(TurnoverBody\d+) (\d+) (\d+)$", stdout.decode())
        self.rows = [(int(start), int(end), name) for name, start, end in rows]
        self.starts = [row[0] for row in self.rows]

    def at(self, time):
        row = bisect.bisect_right(self.starts, time) - 1
        if row < 0 or time >= self.rows[row][1]:
            return None
        return self.rows[row][2]

    def classes(self):
        return len({name for _, _, name in self.rows})

    def judge(self, script):
        """Returns the numbers of samples while a class ran, by the name of the innermost frame in
        user space; and a few of those that are unknown or wrong. Any frame of another class is
        wrong."""
        counts, examples = collections.Counter(), []
        for sample in script:
            name = self.at(sample.time)
            user = [frame for frame in sample.frames if frame.address < 1 << 63]
            if not name or not user or sample.tid != self.tid:
                continue
            classes = {cls for f in user for cls in re.findall(r"TurnoverBody\d+", f.name)}
            verdict = ("wrong" if classes - {name} else
                       "unknown" if user[0].module in ("[unknown]", "//anon") else
                       "right" if user[0].name.startswith(name + ".") else "own")
            counts[verdict] += 1
            if verdict in ("unknown", "wrong"):
                examples.append((verdict, name, sample))
        examples.sort(key=lambda example: example[0], reverse=True)
        return Verdicts(*(counts[field] for field in Verdicts._fields)), examples[:5]


@unittest.skipUnless(os.path.exists(AGENT), "built without a JDK: there is no libjitbpf-jvmti.so")
@jdks.needs_jdk
class Turnover(harness.KernelTest):
    """The JVM has the agent from its start."""

    JDK = jdks.JDK
    OPTIONS = ()  # of record
    RUNS = RUNS

    def setUp(self):
        super().setUp()
        self.compile_java([os.path.join(WORKLOADS, name) for name in
                           ("Turnover.java", "TurnoverBody000000.java")])

    def program(self, *options):
        return [os.path.join(self.JDK, "bin/java"), *SMALL, *options, "-cp", self.folder,
                "Turnover", self.RUNS, "20", "16"]

    def check(self, run, *options):
        jit = self.check_ledger(run)["jit"]
        rotation = Rotation(run.stdout)
        verdicts, examples = rotation.judge(run.script())
        seen = f"{options} {verdicts}\n{examples}\n{run.stderr}"
        # Code was freed, and other code was put where it had been.
        self.assertEqual(rotation.classes(), int(RUNS) // 2, seen)
        self.assertGreater(jit["unloads"], 150, seen)
        self.assertEqual((jit["sequence_gaps"], jit["malformed"]), (0, 0), seen)
        self.assertGreater(verdicts.right, 600, seen)
        # HotSpot reports the end of code late, too: it may have put other code there before.
        self.assertLess(verdicts.wrong, 0.001 * sum(verdicts), seen)
        # At a load of 20, 0.13 % of the samples were unknown.
        self.assertLessEqual(verdicts.unknown, 0.002 * sum(verdicts), seen)

    def check_turnover(self, *options):
        self.check(self.record(self.program(*options), ["-F", "999", *self.OPTIONS]), *options)

    @harness.slow
    def test_pauses(self):
        """Classes are unloaded while the program stands still."""
        self.check_turnover()

    def test_beside_the_program(self):
        """IDs of methods become invalid at any time."""
        self.check_turnover("-XX:+UseZGC")

    @harness.slow
    def test_first_compiler(self):
        self.check_turnover("-XX:+UseParallelGC", "-XX:TieredStopAtLevel=1")


class Found(Turnover):
    """The JVM has no agent: its code is found in its memory, and nobody reports its end."""

    OPTIONS = ("--no-attach-jvms",)
    RUNS = "64"

    test_pauses = test_first_compiler = None

    def check(self, run, *options):
        jit = self.check_ledger(run)["jit"]
        rotation = Rotation(run.stdout)
        verdicts, examples = rotation.judge(run.script())
        seen = f"{options} {verdicts}\n{jit}\n{examples}\n{run.stderr}"
        self.assertEqual(rotation.classes(), int(self.RUNS) // 2, seen)
        self.assertEqual((jit["published_jvmti"], jit["malformed"]), (0, 0), seen)
        self.assertGreater(jit["replaced"], 10, seen)
        self.assertGreater(verdicts.right, 100, seen)
        self.assertLess(verdicts.wrong, 0.01 * sum(verdicts), seen)
        # Code that ran only between two looks at the memory has no name.
        self.assertLess(verdicts.unknown, 0.5 * sum(verdicts), seen)


@harness.slow
@jdks.needs_jdk_25
class Turnover25(Turnover):
    JDK = jdks.JDK_25


@harness.slow
class Late(Turnover):
    """The JVM gets the agent while it runs, and has still less room for code."""

    test_pauses = test_beside_the_program = test_first_compiler = None

    def test_late(self):
        command = self.program("-XX:ReservedCodeCacheSize=3m", "-XX:InitialCodeCacheSize=3m")
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            self.addCleanup(process.kill)
            self.wait_for(lambda: test_java_attach.Attached.has_thread(process.pid,
                                                                       "C2 CompilerThre"))
            run = self.record((), ["-F", "999", "-p", str(process.pid)])
            run.stdout = process.stdout.read()
        self.check(run)


if __name__ == "__main__":
    harness.main()
