# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Code that engines publish in jitdump files, alone and beside the shim."""

import collections
import glob
import os
import re
import subprocess
import sys

import engine_truth
import harness
import run_for

FUNCTIONS = os.path.join(harness.ROOT, "tests/programs/workloads/functions.js")
DUMPS = os.path.join(harness.ROOT, "tests/programs/workloads/dumps.py")
NODE = ["node", "--perf-prof", FUNCTIONS]


class JitdumpTest(harness.KernelTest):
    def dump(self):
        """Returns the loads of the only jitdump file of the test."""
        (path,) = glob.glob(os.path.join(self.folder, "jit-*.dump"))
        return engine_truth.jitdump(path)

    def published(self, run):
        """Returns the numbers of methods, of loads by either publisher, and of merged loads."""
        jit = self.check_ledger(run)["jit"]
        return tuple(jit[key] for key in ("methods", "published_shim", "published_jitdump",
                                          "merged"))


class Node(JitdumpTest):
    def check(self, run):
        truth = engine_truth.Truth(self.dump())
        samples = run.script()
        right, wrong = truth.compare(samples)
        self.assertEqual(wrong, [])
        leaves = [frame for frame in map(harness.leaf_jit, samples) if frame]
        named = [frame.name for frame in leaves if frame.module == "[jit]"]
        unnamed = [frame for frame in leaves if frame.module in ("//anon", "[unknown]")]
        self.assertGreater(len(named), 500)
        self.assertLessEqual(len(unnamed), 0.01 * len(named), unnamed)
        functions = {match.group(1) for match in
                     (re.match(rf"\w+:[*^~]?(\S+) {re.escape(FUNCTIONS)}(?::\d+)+$", name)
                      for name in right) if match}
        self.assertLessEqual({"fibonacci", "addAll", "hashString", "makeFunction"}, functions)
        generated = {name for name in named if re.match(r"\w+:\*generated_\d+ (?::\d+)+$", name)}
        self.assertGreater(len(generated), 5)
        self.assertEqual(run.summary()["samples"]["lost"], 0)
        return run

    @harness.slow
    def test_from_the_start(self):
        run = self.check(self.record([*NODE, "3"], ["-F", "999"], cwd=self.folder))
        methods, shim, jitdump, merged = self.published(run)
        self.assertEqual((shim, merged), (0, 0))
        self.assertEqual(methods, jitdump)
        self.assertEqual(jitdump, len(self.dump()))

    def test_late(self):
        node = subprocess.Popen([*NODE, "120"], cwd=self.folder, stdout=subprocess.DEVNULL)
        self.addCleanup(node.wait)
        self.addCleanup(node.kill)
        self.wait_for(lambda: run_for.cpu_seconds(node.pid) > 1)
        run = self.record_process(node.pid, 3, ["-F", "999"])
        node.kill()
        self.check(run)
        self.assertGreater(run.summary()["jit"]["late"], 1000)


class Storm(JitdumpTest):
    """Code that is rewritten at the same few addresses: each sample has the generation that ran."""

    def storm(self, rate, *options):
        run = self.record([harness.ENGINE, "storm", "--rate", str(rate), "--slots", "16",
                           "--seconds", "3", *options], ["-F", "999", "--user-regs"])
        right, unnamed, wrong = engine_truth.generations(run)
        self.assertGreater(right, 500)
        self.assertLessEqual(wrong, 0.001 * (right + wrong))  # as test_storm.py has it
        loads = int(re.search(rb"loads (\d+)", run.stdout).group(1))
        return run, right / (right + unnamed), loads

    def check_rate(self, rate):
        _run, by_shim, _loads = self.storm(rate)
        run, by_dump, loads = self.storm(rate, "--no-api", "--dump", self.folder)
        self.assertGreater(by_dump, by_shim - 0.01)
        self.assertEqual(self.published(run), (loads, 0, loads, 0))

    @harness.slow
    def test_1000_a_second(self):
        self.check_rate(1000)

    @harness.slow
    def test_10000_a_second(self):
        self.check_rate(10000)

    @harness.slow
    def test_threads(self):
        run, share, loads = self.storm(2000, "--no-api", "--dump", self.folder, "--threads", "3")
        self.assertGreater(share, 0.99)
        self.assertEqual(self.published(run), (loads, 0, loads, 0))

    def check_both(self, rate):
        run, share, loads = self.storm(rate, "--dump", self.folder)
        self.assertGreater(share, 0.99)
        methods, shim, jitdump, merged = self.published(run)
        self.assertEqual((shim, jitdump), (loads, loads))
        self.assertEqual(methods, shim + jitdump - merged)
        # A thread that is preempted between its two reports makes them differ in time.
        self.assertGreater(merged, 0.999 * loads)

    def test_both_at_1000_a_second(self):
        self.check_both(1000)

    @harness.slow
    def test_both_at_10000_a_second(self):
        self.check_both(10000)


class Php(JitdumpTest):
    @harness.needs_php_api
    def test_both_publishers(self):
        """opcache.jit_debug: 32 is the jitdump file, 128 is the shim, which reports lines too."""
        command = harness.php("tracing", 3)
        command[command.index("opcache.jit_debug=128")] = f"opcache.jit_debug={32 + 128}"
        run = self.record(command, ["-F", "999"],
                          env={**os.environ, "JITDUMPDIR": self.folder}, cwd=self.folder)
        methods, shim, jitdump, merged = self.published(run)
        self.assertGreater(methods, 5)
        self.assertEqual((shim, jitdump, merged), (methods, methods, methods))


class Circumstances(JitdumpTest):
    """What happens to files and their processes; see tests/programs/workloads/dumps.py."""

    def run_mode(self, mode, *options):
        return self.record([sys.executable, DUMPS, mode, self.folder], ["-F", "999", *options])

    def leaves(self, run):
        """Returns the number of samples for each (process name, leaf), where it is JIT code."""
        return collections.Counter(
            (sample.comm, leaf.name) for sample, leaf in
            ((sample, harness.leaf_jit(sample)) for sample in run.script())
            if leaf and leaf.module in ("[jit]", "//anon"))

    def check_names(self, run, *names):
        """All samples in JIT code have one of the names, and each name has samples."""
        leaves = collections.Counter()
        for (_comm, name), count in self.leaves(run).items():
            leaves[name] += count
        unnamed = leaves.pop("[unknown]", 0)
        self.assertEqual(set(leaves), set(names))
        self.assertLessEqual(unnamed, 0.01 * sum(leaves.values()))
        return self.check_ledger(run)

    def test_fork(self):
        """Other code at one address: each process has its own."""
        run = self.run_mode("fork")
        leaves = self.leaves(run)
        for comm in ("parent", "child"):
            self.assertGreater(leaves[comm, "of_both"], 50)
            self.assertGreater(leaves[comm, f"of_{comm}"], 50)
        self.assertEqual({name for comm, name in leaves if comm == "parent"},
                         {"of_both", "of_parent"})
        self.assertEqual({name for comm, name in leaves if comm == "child"},
                         {"of_both", "of_child"})
        self.assertEqual(self.check_ledger(run)["jit"]["malformed"], 0)

    def test_parent_ends(self):
        done = subprocess.run([*self.record_argv(["-F", "999", "-d", "3"], (".jitbpf", ".txt")),
                               "--", "sh", "-c", '"$@" & wait; sleep 2', "sh", sys.executable,
                               DUMPS, "daemon", self.folder], capture_output=True, check=False)
        run = self.finished(done.returncode, done.stdout, done.stderr)
        leaves = self.leaves(run)
        self.assertEqual({name for comm, name in leaves if comm == "child"},
                         {"of_both", "of_child"})
        self.assertGreater(leaves["child", "of_child"], 50)

    def test_short_processes(self):
        """Most have ended when their mapping is seen."""
        loop = 'for i in $(seq 20); do "$@" 0.01; done'
        run = self.record(["sh", "-c", loop, "sh", sys.executable, DUMPS, "hot", self.folder],
                          ["-F", "4999"])
        summary = self.check_names(run, "hot")
        self.assertEqual(summary["counters"]["jitdumps"], 20)
        self.assertEqual(summary["jit"]["methods"], 20)

    def test_deleted(self):
        self.check_names(self.run_mode("deleted"), "first", "second")

    def test_truncated(self):
        summary = self.check_names(self.run_mode("truncated"), "first", "second")
        self.assertEqual(summary["jit"]["unreadable"], 1)

    def test_several_files(self):
        summary = self.check_names(self.run_mode("several"), "first", "second")
        self.assertEqual(summary["counters"]["jitdumps"], 2)

    def test_move(self):
        run = self.run_mode("move")
        self.check_names(run, "moved")
        leaves = self.leaves(run)
        self.assertGreater(leaves["before", "moved"], 100)
        self.assertGreater(leaves["after", "moved"], 100)
        self.assertEqual(run.summary()["jit"]["moves"], 1)

    def test_close(self):
        """Code stays where it is."""
        self.check_names(self.run_mode("close"), "first", "second")

    def test_times_of_another_clock(self):
        run = self.run_mode("clock")
        self.assertEqual({name for _comm, name in self.leaves(run)}, {"[unknown]"})
        self.assertEqual(run.summary()["counters"]["jitdumps_clock"], 1)
        self.assertIn("JITDUMP_USE_ARCH_TIMESTAMP", run.stderr)

    def test_file_of_another_user(self):
        run = self.run_mode("given")
        self.assertEqual({name for _comm, name in self.leaves(run)}, {"[unknown]"})
        self.assertEqual(run.summary()["counters"]["jitdumps_other_user"], 1)

    def test_container(self):
        """A file in a mount namespace of its process, with pids of its own."""
        inside = 'mount -t tmpfs none "$0"; exec "$@"'
        run = self.record(["unshare", "-m", "-p", "-f", "--mount-proc", "sh", "-c", inside,
                           self.folder, sys.executable, DUMPS, "several", self.folder],
                          ["-F", "999"])
        self.check_names(run, "first", "second")

    def test_fork_in_container(self):
        inside = 'mount -t tmpfs none "$0"; exec "$@"'
        run = self.record(["unshare", "-m", "-p", "-f", "--mount-proc", "sh", "-c", inside,
                           self.folder, sys.executable, DUMPS, "fork", self.folder],
                          ["-F", "999"])
        self.check_names(run, "of_both", "of_parent", "of_child")
