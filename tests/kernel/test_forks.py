# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Engines that fork: the code of each process, in private and in shared memory."""

import collections
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import harness
import run_for

WORKLOADS = os.path.join(harness.ROOT, "tests/programs/workloads")
FORKS = os.path.join(WORKLOADS, "forks.py")
FORKING = os.path.join(WORKLOADS, "forking.py")
SPACES = os.path.join(WORKLOADS, "spaces.py")


def leaves(run, key):
    """Returns the number of samples for each leaf name, by key(sample). Code without a name in
    anonymous memory has the name of its module."""
    out = collections.defaultdict(collections.Counter)
    for sample in run.script():
        leaf = harness.leaf_jit(sample)
        if leaf:
            out[key(sample)][leaf.module if leaf.module == "//anon" else leaf.name] += 1
    return out


class ForksTest(harness.KernelTest):
    def path(self, name):
        return os.path.join(self.folder, name)

    def aside(self, command):
        """Runs with the output in a file: a pipe would be open until the last process ends."""
        return ["sh", "-c", 'exec "$@" >"$0" 2>&1', self.path("said"), *command]


class Forks(ForksTest):
    def test_child_goes_on(self):
        """The parent has hit the probe before the fork, so the child inherits the patched site."""
        run = self.record([sys.executable, FORKS, "20"], ["-F", "99"])
        summary = self.check_ledger(run)
        methods = sorted(p["jit"]["methods"] for p in summary["processes"])
        self.assertEqual([count for count in methods if count], [20, 40])

    def test_code_of_before_and_after(self):
        """Other code at the same address and id: each process has its own."""
        def have_run():
            with contextlib.suppress(FileNotFoundError), \
                    open(self.path("said"), encoding="ascii") as said:
                pids[:] = map(int, said.read().split())
            forked = run_for.children_of(pids[1]) if pids else None
            return forked and run_for.have_taken([*pids, *forked], 0.7)

        pids = []
        run = self.record_until(have_run, ["-F", "499"],
                                command=self.aside([sys.executable, FORKING]))
        parent, child = pids
        by_pid = leaves(run, lambda sample: sample.pid)
        for pid in by_pid:
            if pid != parent:
                os.kill(pid, signal.SIGKILL)
        ours = ("inherited", "replaced", "of_the_parent", "of_the_child")
        for pid, names in by_pid.items():
            own = "of_the_parent" if pid == parent else "of_the_child"
            jit = {name: count for name, count in names.items() if name in ours}
            self.assertEqual(set(jit) - {"replaced"} if pid == parent else set(jit),
                             {"inherited", own}, names)
        self.assertIn(child, by_pid)
        self.assertEqual(len(by_pid), 3)
        self.check_ledger(run)

    def test_exec(self):
        """Code of the old program is not code of the new one."""
        run = self.record([sys.executable, SPACES, "exec"], ["-F", "499"])
        names = leaves(run, lambda sample: sample.comm)
        self.assertGreater(names["told"]["told"], 30)
        self.assertGreater(names["silent"]["//anon"], 30)
        self.assertEqual(names["silent"]["told"], 0)

    def test_pid_used_again(self):
        """The pid is reused at once, in a pid namespace without other processes."""
        done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", harness.JITBPF,
                               "record", "-F", "499", "-o", self.path("out.jitbpf"),
                               "-o", self.path("out.txt"), "--", sys.executable, SPACES, "pid"],
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = harness.Run(self.folder, 0, b"", "")
        samples = run.script()
        self.assertLessEqual({sample.pid for sample in samples if sample.comm == "silent"},
                             {sample.pid for sample in samples if sample.comm == "told"})
        names = leaves(run, lambda sample: sample.comm)
        self.assertGreater(names["told"]["told"], 30)
        self.assertGreater(names["silent"]["//anon"], 30)
        self.assertEqual(names["silent"]["told"], 0)

    def test_shared_memory(self):
        """Different addresses and equal ids, reported by either process: valid for both until
        it ends."""
        run = self.record([sys.executable, SPACES, "shared"], ["-F", "999"])
        names = leaves(run, lambda sample: sample.comm)
        for comm in ("both_0", "both_1"):
            self.assertGreater(names[comm]["of_0"], 30)
            self.assertGreater(names[comm]["of_1"], 30)
            self.assertEqual(names[comm]["//anon"], 0)
        self.assertGreater(names["ended"]["of_1"], 20)
        self.assertGreater(names["ended"]["//anon"], 20)
        self.assertEqual(names["ended"]["of_0"], 0)
        jit = self.check_ledger(run)["jit"]
        self.assertEqual((jit["methods"], jit["unloads"]), (2, 1))


class Workers(ForksTest):
    """PHP's server: one process compiles, all processes run its code."""

    def setUp(self):
        super().setUp()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.command = [*harness.php_jit("tracing"), "-S", f"127.0.0.1:{self.port}",
                        os.path.join(WORKLOADS, "page.php")]
        self.environment = {**os.environ, "PHP_CLI_SERVER_WORKERS": "3"}
        self.served = collections.Counter()
        self.addCleanup(self.kill_workers)

    def kill_workers(self):
        """Workers outlive the process that was started."""
        for pid in self.served:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def get(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=10) as page:
                self.served[int(page.read().split()[0])] += 1
        except OSError:
            time.sleep(0.05)  # not started yet, or ended

    def load(self, seconds):
        def work():
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                self.get()

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        return threads

    def check(self, run):
        compiled = {p["pid"]: p["jit"]["methods"] for p in run.summary()["processes"]}
        names = leaves(run, lambda sample: sample.pid)
        traces = {}
        for pid in self.served:
            found = {n for n in names[pid] if n.startswith("TRACE-")}
            named = sum(names[pid][n] for n in found)
            self.assertLessEqual(names[pid]["//anon"], 0.001 * named, names[pid])
            if named > 20:
                traces[pid] = found
        self.assertGreaterEqual(len(traces), 2)
        # Traces are numbered in shared memory, so a number identifies one trace.
        self.assertTrue(set.intersection(*traces.values()), traces)
        self.assertGreater(sum(compiled.get(pid, 0) for pid in self.served), 0)
        self.check_ledger(run)

    def test_from_the_start(self):
        threads = self.load(6)
        run = self.record(self.aside(self.command), ["-F", "499", "-d", "5", *harness.WITH_CODE],
                          env=self.environment)
        for thread in threads:
            thread.join()
        self.check(run)

    def test_late(self):
        """All code was compiled before the recording; workers that compiled nothing have no
        journal."""
        server = subprocess.Popen(self.command, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL,
                                  env={**self.environment, "INTEL_JIT_PROFILER64": harness.SHIM})
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for thread in self.load(2):
            thread.join()
        threads = self.load(5)
        run = self.record(options=["-F", "499", "-d", "3", *harness.WITH_CODE, "-p",
                                   ",".join(str(pid) for pid in {server.pid, *self.served})])
        for thread in threads:
            thread.join()
        self.assertGreater(run.summary()["jit"]["late"], 0)
        self.check(run)


class WorkersByJitdump(Workers):
    """The same through the jitdump file of the server, to which its workers write."""

    def setUp(self):
        super().setUp()
        self.command = [re.sub(r"^opcache\.jit_debug=.*", "opcache.jit_debug=32", word)
                        for word in self.command]
        self.addCleanup(self.remove_dumps)

    def remove_dumps(self):
        """PHP writes them to /tmp, or to $JITDUMPDIR since 8.4."""
        for pid in self.served:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"/tmp/jit-{pid}.dump")

    def check(self, run):
        super().check(run)
        jit = run.summary()["jit"]
        self.assertEqual((jit["published_shim"], jit["malformed"], jit["sequence_gaps"]), (0, 0, 0))
        self.assertEqual(jit["published_jitdump"], jit["methods"])
