# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Processes of jitbpf that are killed or stopped, and too little memory: what the user is told."""

import contextlib
import os
import re
import signal
import socket
import subprocess

from harness import BUILD, ENGINE, SHIM, WITH_CODE, KernelTest
from test_roles import Recording

BUSY = ["python3", "-c", "import time\nwhile time.process_time() < 2: sorted(map(str, range(1000)))"]
NAMED = "PyEval_EvalCode"


class Broker(Recording):
    def start_recording(self):
        recorder = self.start(options=["-a", "-F", "499"])
        return recorder, self.broker(recorder)

    def names(self, run, pid):
        return {str(frame) for sample in run.script() if sample.pid == pid
                for frame in sample.frames}

    def run_busy(self):
        busy = subprocess.Popen(BUSY)
        self.assertEqual(busy.wait(), 0)
        return busy.pid

    def test_killed(self):
        """The user is told at once, what is missing is not blamed on files, and the run fails."""
        recorder, broker = self.start_recording()
        os.kill(broker, signal.SIGKILL)
        said = recorder.stderr.readline()  # while the recording goes on
        while b"jitbpf-broker" not in said:
            self.assertTrue(said)
            said = recorder.stderr.readline()
        self.assertIn(f"(process {broker})".encode(), said)
        self.assertIsNone(recorder.poll())
        self.run_busy()
        recorder.send_signal(signal.SIGINT)
        stdout, stderr = recorder.communicate()
        run = self.finished(recorder.returncode, stdout, stderr, expected=1)
        self.assertEqual(run.summary()["counters"]["broker_lost"], 1)
        self.assertIn("loss of jitbpf-broker", run.stderr)
        self.assertNotIn("install debug symbols", run.stderr)
        self.assertNotIn("that no engine published", run.stderr)

    def test_stopped(self):
        """It is continued when it is needed, so a program that starts then has names."""
        recorder, broker = self.start_recording()
        os.kill(broker, signal.SIGSTOP)
        for reader in self.children_of(broker, "jitbpf-read"):
            os.kill(reader, signal.SIGKILL)  # the next one is the broker's to start
        pid = self.run_busy()
        os.kill(broker, signal.SIGSTOP)
        run = self.finish(recorder)
        self.assertEqual(run.summary()["counters"]["broker_lost"], 0)
        names = run.report("-f", "folded", *WITH_CODE).stdout.decode()
        self.assertIn(NAMED, names, pid)

    def children_of(self, pid, name):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            pids = file.read().split()
        for child in pids:
            with contextlib.suppress(FileNotFoundError), \
                    open(f"/proc/{child}/comm", encoding="ascii") as file:
                if file.read().strip() == name:
                    yield int(child)


class Outputs(Recording):
    def test_stopped(self):
        """The run ends, and all outputs are complete."""
        recorder = self.start(options=["-a", "-o", os.path.join(self.folder, "out.html")])
        os.kill(*self.named(recorder, "jitbpf-outputs"), signal.SIGSTOP)
        subprocess.run(BUSY, check=True)
        run = self.finish(recorder)
        self.assertGreater(run.summary()["samples"]["taken"], 0)
        with open(run.path(".html"), encoding="utf-8") as page:
            self.assertIn("</html>", page.read())
        self.assertEqual(sorted(os.listdir(self.folder)), ["out.html", "out.jitbpf"])

    def test_killed(self):
        """What it has not published is an error that is told."""
        recorder = self.start(options=["-a", "-o", os.path.join(self.folder, "out.html")])
        os.kill(*self.named(recorder, "jitbpf-outputs"), signal.SIGKILL)
        recorder.send_signal(signal.SIGINT)
        _, stderr = recorder.communicate()
        self.assertEqual(recorder.returncode, 1)
        self.assertIn(b"out.html", stderr)


class Server(Recording):
    def test_killed(self):
        """Nobody else gets its port, and with it the token of the page that browsers ask for."""
        recorder = self.start(options=["-a", "--live"])
        said = recorder.stderr.readline().decode()
        while "live page:" not in said:
            self.assertTrue(said)
            said = recorder.stderr.readline().decode()
        port = int(re.search(r"127\.0\.0\.1:(\d+)/", said).group(1))
        os.kill(*self.named(recorder, "jitbpf-serve"), signal.SIGKILL)
        while b"server has ended" not in recorder.stderr.readline():
            self.assertIsNone(recorder.poll())
        with socket.socket() as another:
            another.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with self.assertRaises(OSError):
                another.bind(("127.0.0.1", port))
                another.listen()
        with socket.create_connection(("127.0.0.1", port), timeout=30) as browser, \
                contextlib.suppress(ConnectionResetError):
            browser.sendall(b"GET / HTTP/1.1\r\n\r\n")
            self.assertEqual(browser.recv(1), b"")  # at once: the recorder closes it
        self.assertGreater(self.finish(recorder).summary()["samples"]["taken"], 0)


class Memory(Recording):
    LIMIT = 200 << 20

    def make_cgroup(self):
        """Makes a cgroup with a limit of memory, of the version that this machine has for it."""
        with open("/proc/self/cgroup", encoding="ascii") as file:
            ours = {line.split(":")[1]: line.rstrip("\n").split(":", 2)[2] for line in file}
        path = next((path for names, path in ours.items() if "memory" in names.split(",")), None)
        folder, limit = (("memory" + path, "memory.limit_in_bytes") if path is not None else
                         (ours[""], "memory.max"))
        cgroup = os.path.join("/sys/fs/cgroup", folder.lstrip("/"), f"jitbpf-test-{os.getpid()}")
        if path is None:
            with contextlib.suppress(OSError), open(os.path.join(
                    os.path.dirname(cgroup), "cgroup.subtree_control"), "w") as file:
                file.write("+memory")
        os.mkdir(cgroup)
        self.addCleanup(self.wait_for, lambda: self.remove(cgroup))
        if not os.path.exists(os.path.join(cgroup, limit)):
            self.skipTest("memory of this machine's cgroups cannot be limited")
        with open(os.path.join(cgroup, limit), "w", encoding="ascii") as file:
            file.write(str(self.LIMIT))
        return cgroup

    def remove(self, cgroup):
        """Some processes live longer than the recorder, for a moment."""
        with contextlib.suppress(OSError):
            os.rmdir(cgroup)
        return not os.path.exists(cgroup)

    def adjusted(self, pid):
        with open(f"/proc/{pid}/oom_score_adj", encoding="ascii") as file:
            return int(file.read())

    def test_limit(self):
        """A limit that jitbpf may exceed is told at the start, and if memory runs out, the kernel
        kills helpers before the recorder."""
        cgroup = self.make_cgroup()
        engine = subprocess.Popen([ENGINE, "hot", "--seconds", "60", "--name", "hot"],
                                  env={**os.environ, "INTEL_JIT_PROFILER64": SHIM},
                                  stdout=subprocess.DEVNULL)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)

        def enter():
            with open(os.path.join(cgroup, "cgroup.procs"), "w", encoding="ascii") as file:
                file.write("0")
        recorder = self.start(options=["-a"], preexec_fn=enter)
        for name in ("jitbpf-files", "jitbpf-read"):
            for pid in self.named(recorder, name):
                self.assertEqual(self.adjusted(pid), 1000, name)
        self.assertEqual(self.adjusted(recorder.pid), self.adjusted(os.getpid()))
        run = self.finish(recorder)
        self.assertIn("the limit of memory is 209.7 MB", run.stderr)
        self.assertIn("--max-memory 120M", run.stderr)

    def test_enough(self):
        run = self.finish(self.start(options=["-a", "--max-memory", "16M"]))
        self.assertNotIn("limit of memory", run.stderr)


class CallPaths(KernelTest):
    """A program whose stacks are all different, with memory for a part of them."""

    DIFFERENT = os.path.join(BUILD, "tests/programs/stacks/different")
    OPTIONS = ("-F", "9999", "--max-memory", "16M")

    def record_different(self, endings):
        process = subprocess.Popen([self.DIFFERENT])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return self.record_process(process.pid, 2, self.OPTIONS, endings)

    def test_recording(self):
        """A run that only records keeps no call paths, so it has none to leave out."""
        run = self.record_different((".jitbpf",))
        self.assertNotIn("too many call paths", run.stderr)
        self.assertNotIn("used its share of the memory", run.stderr)
        samples = run.summary()["samples"]
        self.assertGreater(samples["taken"], 5000)
        self.assertEqual(samples["cut"]["left_out"], 0)

    def test_other_output(self):
        """The output has no room for all, and says so; the recording has all."""
        run = self.record_different((".jitbpf", ".folded"))
        self.assertIn("too many call paths", run.stderr)
        self.assertEqual(run.summary()["samples"]["cut"]["left_out"], 0)
