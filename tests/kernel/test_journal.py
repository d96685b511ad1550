# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Journals of JIT events: late recordings, lost records, and invalid journals."""

import collections
import os
import pathlib
import signal
import subprocess
import sys

import engine_truth
import harness
import recording
import run_for
from stuck_fs import StuckFilesystem

FORGER = os.path.join(harness.ROOT, "tests/programs/workloads/forger.py")
FORKING = os.path.join(harness.ROOT, "tests/programs/workloads/forking.py")
MAPPER = """
import mmap, os, sys, time
mapped = mmap.mmap(os.open(sys.argv[1], os.O_RDONLY), 4096, mmap.MAP_SHARED, mmap.PROT_READ)
print(flush=True)
time.sleep(60)
"""
ENVIRONMENT = {**os.environ, "INTEL_JIT_PROFILER64": harness.SHIM}


class Journal(harness.KernelTest):
    def start(self, command, methods=0, environment=None, stdout=subprocess.PIPE):
        """A process, once so many methods are in its journal."""
        process = subprocess.Popen(command, env={**ENVIRONMENT, **(environment or {})},
                                   stdout=stdout)
        self.addCleanup(process.wait)
        if process.stdout:
            self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        self.wait_for(lambda: self.methods(process.pid) >= methods)
        return process

    def attach(self, pid, *others, options=("-F", "499")):
        return self.record_process(pid, 1.2, options, others=others)

    def jit(self, run):
        return run.summary()["jit"]

    def leaves(self, run, pid):
        """Returns the number of samples for each leaf name of a process."""
        return collections.Counter(
            leaf.name for leaf in (harness.leaf_jit(s) for s in run.script() if s.pid == pid)
            if leaf)


class Late(Journal):
    @harness.needs_php_api
    def test_php(self):
        """Nothing is compiled during the recording; all code has its name."""
        process = self.start(harness.php("tracing", 60), 20)
        methods = [20, None]  # all is compiled when nothing more comes in some CPU time
        while methods[-1] != methods[-2]:
            before = run_for.cpu_seconds(process.pid)
            self.wait_for(lambda: run_for.cpu_seconds(process.pid) - before > 0.5)
            methods.append(self.methods(process.pid))
        run = self.attach(process.pid, options=("-F", "499", *harness.WITH_CODE))
        jit = self.jit(run)
        self.check_ledger(run)
        self.assertGreater(jit["late"], 20)
        self.assertEqual(jit["sequence_gaps"], 0)
        names = self.leaves(run, process.pid)
        self.assertGreater(sum(n for name, n in names.items() if name.startswith("TRACE-")),
                           0.5 * sum(names.values()), names)
        self.assertEqual(run.summary()["samples"]["code_unknown"], 0)

    def test_engine(self):
        process = self.start([harness.ENGINE, "hot", "--seconds", "60", "--name", "was_there"], 1)
        run = self.attach(process.pid)
        self.assertEqual(self.jit(run)["late"], 1)
        names = self.leaves(run, process.pid)
        self.assertGreater(names["was_there"], 0.9 * sum(names.values()))

    def test_registered_without_code(self):
        """A load without an address names the method's code, also in a journal that was
        compacted in between: what dies meanwhile takes 2.5 times as much as makes one due."""
        path = os.path.join(self.folder, "script")
        with open(path, "w", encoding="utf-8") as out:
            out.write("load 1 registered 0 0 Class file.js\nload 3 waits 0 0\n")
            out.write(f"load 9 {'other' * 200} @4096 64\n" * 2500)
            out.write("code @0 1\nload 1 loaded @0 64\nrun @0 30000\n")
        process = self.start([harness.ENGINE, "api", "--file", path], 2)
        run = self.attach(process.pid)
        jit = self.jit(run)
        self.assertLess(jit["late"], 2000, "nothing was compacted")
        self.assertEqual((jit["invalid"], jit["unreadable"]), (0, 0))
        names = self.leaves(run, process.pid)
        self.assertGreater(names["Class::registered"], 0.9 * sum(names.values()))

    def test_in_the_middle_of_a_storm(self):
        """Events from the probe, the journal or both are applied once and in order."""
        process = self.start([harness.ENGINE, "storm", "--rate", "20000", "--slots", "16",
                              "--seconds", "60"], 16)
        run = self.attach(process.pid, options=("-F", "999", "--user-regs"))
        right = wrong = 0
        named = {(s.tid, s.time): harness.leaf_jit(s) for s in run.script()}
        for sample in run.samples():
            leaf = named[sample.tid, sample.time]
            if not sample.regs or not leaf or not leaf.name.startswith("gen_") or \
                    sample.regs[recording.R15] >> 32 != engine_truth.GENERATION_TAG:
                continue
            truth = f"gen_{sample.regs[recording.R15] & 0xFFFFFFFF}"
            right, wrong = right + (leaf.name == truth), wrong + (leaf.name != truth)
        self.assertGreater(right, 300)
        self.assertEqual(wrong, 0)
        self.assertEqual(self.jit(run)["sequence_gaps"], 0)

    def script(self, lines):
        path = os.path.join(self.folder, "script")
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(line + "\n" for line in lines)
        return [harness.ENGINE, "api", "--file", path]

    def many(self, ending):
        """Three times the methods that a journal of 1 MB has room for, then what runs."""
        loads = [f"load {i + 2} name_{i:06} {0x10000000 + i * 64} 64" for i in range(30000)]
        return self.script(["code @0 1", "load 1 the_first @0 64", *loads, *ending])

    def full(self, ending):
        answers = os.path.join(self.folder, "answers")  # one for each load
        with open(answers, "wb") as out:
            process = self.start(self.many(ending), 5000, {"JITBPF_JOURNAL_MB": "1"}, out)
        self.wait_for(lambda: pathlib.Path(answers).read_bytes().count(b"\n") > 29000)
        run = self.attach(process.pid)
        jit = self.jit(run)
        self.assertGreater(jit["late"], 5000)
        self.assertGreater(jit["left_out"], 10000)
        return self.leaves(run, process.pid)

    def test_full_journal(self):
        """What a full journal has is used."""
        names = self.full(["run @0 60000"])
        self.assertGreater(names["the_first"], 0.9 * sum(names.values()), names)

    def test_overwritten_when_full(self):
        """A load for which the journal has no room has ended the code that it overwrites."""
        names = self.full(["code @0 2", "load 99999 the_last @0 64", "run @0 60000"])
        self.assertEqual(names["the_first"], 0, names)

    def attach_to_many(self, methods, *options):
        command = [harness.ENGINE, "storm", "--slots", str(methods), "--loads", str(methods),
                   "--rate", "0", "--seconds", "120"]
        run = self.attach(self.start(command, methods).pid, options=("-F", "499", *options))
        jit, samples = self.jit(run), run.summary()["samples"]
        self.assertEqual((jit["late"], jit["left_out"], jit["over_budget"]), (methods, 0, 0))
        self.assertGreater(samples["taken"], 100)
        self.assertLess(samples["code_unknown"], 0.01 * samples["taken"])

    def test_300_000_methods(self):
        self.attach_to_many(300_000)

    @harness.slow
    def test_1_000_000_methods(self):
        self.attach_to_many(1_000_000, "--max-memory", "1G")

    def test_forks(self):
        """A child has the inherited code; later code is its own."""
        process = self.start([sys.executable, FORKING])
        parent, child = (int(pid) for pid in process.stdout.readline().split())
        self.addCleanup(os.kill, child, signal.SIGKILL)
        children = f"/proc/{child}/task/{child}/children"
        grandchild = int(self.wait_for(lambda: open(children, encoding="ascii").read()))
        self.addCleanup(os.kill, grandchild, signal.SIGKILL)
        run = self.attach(parent, child, grandchild)
        own = {parent: "of_the_parent", child: "of_the_child", grandchild: "of_the_child"}
        for pid, name in own.items():
            names = self.leaves(run, pid)
            jit = {n: count for n, count in names.items()
                   if n in ("inherited", "replaced", *own.values())}
            self.assertEqual(set(jit), {"inherited", name}, names)
            self.assertGreater(sum(jit.values()), 0.8 * sum(names.values()))

    def test_profiler_killed_and_started_anew(self):
        process = self.start([harness.ENGINE, "hot", "--seconds", "60", "--name", "goes_on"], 1)
        first = subprocess.Popen([harness.JITBPF, "record", "-q", "-p", str(process.pid), "-o",
                                  os.path.join(self.folder, "killed.jitbpf")])
        self.wait_for(lambda: self.takes_samples("killed.jitbpf"))
        first.kill()
        first.wait()
        names = self.leaves(self.attach(process.pid), process.pid)
        self.assertGreater(names["goes_on"], 0.9 * sum(names.values()))


class Lost(Journal):
    def storm(self, ring, *options, environment=None):
        """Returns the run and its number of samples with the right name; none has a wrong one."""
        run = self.record([harness.ENGINE, "storm", "--slots", "16", "--seconds", "3", *options],
                          ["-F", "999", "--user-regs", "--code-ring", ring],
                          env={**os.environ, **(environment or {})})
        self.check_ledger(run)
        with open(run.path(".txt"), "rb") as live:
            self.assertEqual(live.read(), run.report("-f", "script").stdout)
        right, unnamed, wrong = engine_truth.generations(run)
        self.assertGreater(right + unnamed, 500)
        self.assertEqual(wrong, 0)
        return run, right

    def test_all_is_recovered(self):
        run, right = self.storm("16K", "--rate", "20000")
        summary = run.summary()
        self.assertGreater(summary["counters"]["jit_ring_full"], 0)
        self.assertGreater(summary["jit"]["recovered"], 0)
        self.assertGreater(right, 500)

    @harness.slow
    def test_two_threads(self):
        run, right = self.storm("32K", "--rate", "40000", "--threads", "2")
        self.assertGreater(self.jit(run)["recovered"], 0)
        self.assertGreater(right, 500)

    def test_journal_that_drops(self):
        """A small journal drops dead code all the time: names are right or unknown."""
        run, _right = self.storm("4K", "--rate", "20000", environment={"JITBPF_JOURNAL_MB": "1"})
        self.assertGreater(self.jit(run)["recovered"], 0)

    def test_no_journal(self):
        """Lost events cannot be recovered: names are right or unknown."""
        run, _right = self.storm("4K", "--rate", "20000", environment={"JITBPF_JOURNAL_MB": "0"})
        jit = self.jit(run)
        self.assertEqual(jit["recovered"], 0)
        self.assertGreater(jit["unreadable"], 0)
        self.assertGreater(jit["sequence_gaps"], 0)


class Lies(Journal):
    def check_beside(self, *lies):
        """An engine beside a process with an invalid journal is profiled as if it were alone."""
        forger = self.start([sys.executable, FORGER, *lies])
        forger.stdout.readline()
        engine = self.start([harness.ENGINE, "hot", "--seconds", "60", "--name", "honest"], 1)
        run = self.record_process(engine.pid, 0.5, ["-F", "499"], others=[forger.pid])
        self.check_ledger(run)
        names = self.leaves(run, engine.pid)
        self.assertGreater(sum(names.values()), 20)
        self.assertGreater(names["honest"], 0.9 * sum(names.values()))
        return self.jit(run)

    @harness.slow
    def test_that_cannot_be_read(self):
        for lie in ("unsealed", "sizes", "header", "used", "order", "odd"):
            with self.subTest(lie):
                self.assertEqual(self.check_beside(lie)["unreadable"], 1)

    def test_that_moves(self):
        """Entries that are stable while they are read are used; else it is said that they are
        not."""
        jit = self.check_beside("moving")
        read = jit["late"] == 100 + 1  # and the engine's
        self.assertEqual(jit["unreadable"], 0 if read else 1, jit)

    def test_that_does_not_answer(self):
        """A file named like a journal on a hanging file system is not opened."""
        name = "memfd:jitbpf-journal"
        mount = os.path.join(self.folder, "mnt")
        os.mkdir(mount)
        files = StuckFilesystem(mount, {name: bytes(8192)})
        self.addCleanup(files.close)
        mapper = self.start([sys.executable, "-c", MAPPER, os.path.join(mount, name)])
        mapper.stdout.readline()
        files.detach()  # now its path starts there
        with open(f"/proc/{mapper.pid}/maps", encoding="ascii") as maps:
            self.assertIn(f" /{name}\n", maps.read())
        files.hang("open", mapper.pid)
        run = self.record(options=["-d", "1.5", "-p", str(mapper.pid)])
        self.assertEqual(self.jit(run)["unreadable"], 1)
        self.assertEqual(files.hung, [])

    def test_of_a_gigabyte(self):
        self.assertEqual(self.check_beside("huge")["late"], 1)
