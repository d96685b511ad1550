# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Java: threads have their names as Java knows them, in every output. Each thread
runs a method of its own, which identifies the thread of a sample."""

import collections
import glob
import gzip
import os
import signal
import subprocess
import unittest

import harness
import jdks
import recording
import test_java_attach

# The thread of each method. A thread that renames itself has the first 15 bytes of its new name.
THREADS = {
    "first": {"main"},
    "alpha": {"request-handler-alpha-1"},
    "beta": {"request-handler-beta-2"},
    "gamma": {"request-handler-gamma-3"},
    "before": {"before-it-renames-itself"},
    "smile": {"smörgås-😀-thread-name"},
    "pooled": {"pool-of-workers-1", "pool-of-workers-2"},
    "common": {"ForkJoinPool.commonPool-worker-1"},
}
EARLIER = {"earlier": {"earlier-renamed"}}
LATER = {**EARLIER, "delta": {"request-handler"}, "after": {"renamed-by-itse"}}
SMILE_COMM = "smörgås-?????" # the kernel has cut it in a character
LONG_NAMES = ["request-handler-alpha-1", "request-handler-beta-2", "pool-of-workers-1"]


class JavaThreads(test_java_attach.Attached):
    def setUp(self):
        super().setUp()
        self.compile_java([os.path.join(test_java_attach.WORKLOADS, "Names.java")],
                          ("-encoding", "UTF-8"))
        self.names = [*self.java, "-cp", self.folder, "Names"]

    @staticmethod
    def found(samples):
        """Returns the numbers of samples by method and thread name."""
        found = collections.defaultdict(collections.Counter)
        for sample in samples:
            for frame in sample.frames:
                owner, _, method = frame.name.partition(".")
                if owner == "Names" and method in {**THREADS, **LATER, "virtual": None}:
                    found[method][sample.comm] += 1
                    break
        return found

    def check(self, samples, wanted, least=10):
        found = self.found(samples)
        for method, names in wanted.items():
            self.assertEqual(set(found[method]), names, found)
            self.assertGreater(min(found[method].values()), least, found)
        return found

    def replayed(self, path):
        """Returns the samples of a recording, by a report of it."""
        text = os.path.join(self.folder, "replayed.txt")
        subprocess.run([harness.JITBPF, "report", "-f", "script", "-o", text, path], check=True,
                       timeout=60, capture_output=True)
        return recording.script(text)


class AtStart(JavaThreads):
    def test_names(self):
        run = self.record([*self.names, "300"], ["-F", "499"],
                          endings=(".jitbpf", ".txt", ".html", ".json.gz", ".pb.gz",
                                   ".speedscope.json"))
        found = self.check(run.script(), {**THREADS, **LATER})
        if jdks.major(self.JDK) >= 21:
            self.assertTrue(all(name.startswith("ForkJoinPool-1-worker-")
                                for name in found["virtual"]), found)
            self.assertGreater(sum(found["virtual"].values()), 10)
        jit = self.check_ledger(run)["jit"]
        self.assertEqual((jit["sequence_gaps"], jit["malformed"], jit["invalid"],
                          jit["over_budget"], jit["not_understood"]), (0, 0, 0, 0, 0))
        self.assertEqual(self.replayed(run.path(".jitbpf")), run.script())
        self.check_outputs(run)

    def check_outputs(self, run):
        by_tid = run.report("-f", "folded", "--by", "tid").stdout
        for name in map(str.encode, LONG_NAMES):
            self.assertIn(name + b"-", by_tid)
            for ending in (".html", ".json.gz", ".pb.gz", ".speedscope.json"):
                with open(run.path(ending), "rb") as file:
                    data = file.read()
                if ending.endswith(".gz"):
                    data = gzip.decompress(data)
                self.assertTrue(name in data, (name, ending)) # it is too long to show
        chosen = run.report("-f", "script", "--comm", "request-handler-alpha-1").stdout
        self.assertIn(b"Names.alpha", chosen)
        self.assertNotIn(b"Names.beta", chosen)

    @harness.slow
    def test_rotated(self):
        """Each recording has the names, also those that were reported in an earlier one."""
        self.record([*self.names, "700"], ["-F", "499", "--rotate", "1"], endings=(".jitbpf",))
        parts = sorted(glob.glob(os.path.join(self.folder, "out*.jitbpf")))
        self.assertGreater(len(parts), 2)
        of_alpha = 0
        for part in parts:
            found = self.found(self.replayed(part))
            for method, names in {**THREADS, **LATER}.items():
                self.assertLessEqual(set(found[method]), names, part)
            of_alpha += bool(found["alpha"])
        self.assertGreater(of_alpha, 1)


@jdks.needs_jdk_25
class AtStart25(AtStart):
    JDK = jdks.JDK_25


class Late(JavaThreads):
    def start_names(self, *enter):
        """Starts threads that run for long, and returns the JVM's pid when they do."""
        process = self.start([*enter, *self.names, "1000000"])
        pid = self.jvm_below(process) if enter else process.pid
        self.wait_for(lambda: self.has_thread(pid, "before-it-renam"))
        return pid

    def jvm_below(self, outer):
        pids = []

        def has_child():
            path = f"/proc/{outer.pid}/task/{outer.pid}/children"
            with open(path, encoding="ascii") as file:
                pids[:] = map(int, file.read().split())
            return pids and self.has_thread(pids[0], "C2 CompilerThre")

        self.wait_for(has_child)
        return pids[0]

    def record_late(self, pid):
        """Records a JVM, which is stopped afterwards: its threads take all processors."""
        os.kill(pid, signal.SIGCONT)
        run = self.record_process(pid, 2, ["-F", "499"])
        os.kill(pid, signal.SIGSTOP)
        self.assertEqual(self.check_ledger(run)["jit"]["sequence_gaps"], 0)
        self.assertEqual(self.replayed(run.path(".jitbpf")), run.script())
        return run

    def check_loaded(self, run):
        """Beside load, the agent may come when samples are taken already. Until then, threads have
        the names that the kernel knows, and never another thread's."""
        self.assertIn(test_java_attach.LOADED, run.stderr)
        for method, names in self.found(run.script()).items():
            if method in THREADS:
                short = {name.encode()[:15].decode(errors="replace") for name in THREADS[method]}
                self.assertLessEqual(set(names), {*THREADS[method], *short, "java", SMILE_COMM})

    def check_journal(self, pid):
        """The agent has come before: the names are in its journal."""
        run = self.record_late(pid)
        self.assertNotIn("agent", run.stderr)
        self.check(run.script(), THREADS, 5)

    def test_late(self):
        pid = self.start_names()
        run = self.record_late(pid)
        self.check_loaded(run)
        found = self.found(run.script())
        for name in LONG_NAMES:
            self.assertTrue(any(name in names for names in found.values()), found)
        self.check_journal(pid)

    def test_renamed_before(self):
        """The journal has the name that the thread had before it renamed itself."""
        self.names.insert(1, f"-agentpath:{test_java_attach.AGENT}")
        pid = self.start_names()
        self.wait_for(lambda: self.has_thread(pid, "earlier-renamed"))
        run = self.record_late(pid)
        self.assertNotIn("agent", run.stderr)
        self.check(run.script(), {**THREADS, **EARLIER}, 5)

    @harness.slow
    def test_in_a_container(self):
        """The JVM knows other tids than jitbpf."""
        pid = self.start_names("unshare", "-p", "-f", "--kill-child", "--mount-proc")
        self.check_loaded(self.record_late(pid))
        self.check_journal(pid)


@harness.slow
@jdks.needs_jdk_25
class Late25(Late):
    JDK = jdks.JDK_25


if __name__ == "__main__":
    harness.main()
