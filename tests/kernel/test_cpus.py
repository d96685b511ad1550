# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""CPUs that go offline and come online during a recording."""

import collections
import contextlib
import os
import signal
import subprocess
import sys
import time
import unittest

import harness
import recording

ONLINE = "/sys/devices/system/cpu/cpu1/online"
# Puts the CPU online again when the test has ended, however it ends.
GUARD = f"import sys; sys.stdin.read(); open({ONLINE!r}, 'w').write('1')"
# Takes two seconds of CPU time, and prints when the second one began and ended.
BUSY = "import os, time\nos.sched_setaffinity(0, {1})\nfor end in (1, 2):\n" \
       "    while time.process_time() < end:\n        pass\n    print(time.monotonic_ns())"


def set_online(value):
    with open(ONLINE, "w", encoding="ascii") as file:
        file.write(str(value))


def can_change():
    with contextlib.suppress(OSError):
        with open(ONLINE, encoding="ascii") as file:
            return file.read() == "1\n" and os.access(ONLINE, os.W_OK)
    return False


@harness.alone
@unittest.skipUnless(can_change(), "this machine cannot switch off a CPU")
class Cpus(harness.KernelTest):
    def setUp(self):
        super().setUp()
        guard = subprocess.Popen([sys.executable, "-c", GUARD], stdin=subprocess.PIPE,
                                 start_new_session=True)
        self.addCleanup(guard.wait)
        self.addCleanup(guard.stdin.close)

    def record_during(self, change):
        """Records the whole system during change(), which returns the times [from, to) in which
        CPU 1 is busy. Returns the samples of that time, and the Run."""
        process = subprocess.Popen([harness.JITBPF, "record", "-F", "499",
                                    *self.outputs(), "-a"], stderr=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.wait_for(self.takes_samples)
        begin, end = change()
        process.send_signal(signal.SIGINT)
        stderr = process.communicate()[1]
        run = self.finished(process.returncode, b"", stderr)
        return [sample for sample in run.script() if begin <= sample.time < end], run

    def outputs(self):
        return [word for ending in (".jitbpf", ".txt")
                for word in ("-o", os.path.join(self.folder, "out" + ending))]

    def busy(self):
        """Keeps CPU 1 busy. Returns the times of the last second of CPU time."""
        with subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE) as process:
            self.pid = process.pid
            begin, end = map(int, process.stdout.read().split())
        self.assertEqual(process.returncode, 0)
        return begin, end

    def check(self, samples, run):
        counts = collections.Counter(sample.cpu for sample in samples)
        self.assertGreater(counts[1], 300, counts)
        self.assertNotIn("cannot be sampled", run.stderr)
        self.check_ledger(run)
        # Mappings of new processes were lost while the CPU came back. They have been read again.
        # Others, such as a browser, may have code that is unknown for reasons of their own.
        busy = [sample for sample in samples if sample.pid == self.pid]
        unknown = sum(map(recording.is_unknown, busy))
        self.assertGreater(len(busy), 200)
        self.assertLess(unknown, 0.02 * len(busy), run.stderr)

    def test_comes_later(self):
        """It was offline when the recording began."""
        set_online(0)

        def change():
            set_online(1)
            time.sleep(1.5)
            return self.busy()
        self.check(*self.record_during(change))

    def test_leaves_and_returns(self):
        def change():
            set_online(0)
            time.sleep(1.5)
            set_online(1)
            time.sleep(1.5)
            return self.busy()
        self.check(*self.record_during(change))

    def test_leaves_for_a_moment(self):
        """Between two looks at the list of CPUs; repeatedly."""
        def change():
            for _ in range(3):
                set_online(0)
                set_online(1)
                time.sleep(0.1)
            time.sleep(1.5)
            return self.busy()
        self.check(*self.record_during(change))
