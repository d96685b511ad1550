# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Files that do not answer: a recording neither waits for them nor loses a sample."""

import os
import subprocess
import tempfile
import time
import unittest

from harness import KernelTest
from stuck_fs import StuckFilesystem

PROGRAM = """
#include <unistd.h>
volatile unsigned long count;
__attribute__((noinline)) void busy_in_stuck_file(void) { for (;;) count++; }
int main(void) { alarm(60); busy_in_stuck_file(); }
"""
FAR = 4 << 20  # bytes between what the program has read of itself and its section headers


class StuckFiles(KernelTest):
    def setUp(self):
        super().setUp()
        source, program = (os.path.join(self.folder, name) for name in ("busy.c", "busy"))
        with open(source, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        subprocess.run(["cc", "-O1", "-fno-omit-frame-pointer", "-static", "-Wl,--build-id", "-o",
                        program, source], check=True)
        with tempfile.NamedTemporaryFile() as padding:
            padding.truncate(FAR)
            subprocess.run(["objcopy", "--add-section", f".padding={padding.name}", program],
                           check=True)
        self.mount = os.path.join(self.folder, "mnt")
        os.mkdir(self.mount)
        with open(program, "rb") as file:
            self.files = StuckFilesystem(self.mount, {"busy": file.read()})
        self.addCleanup(self.files.close)
        self.program = os.path.join(self.mount, "busy")

    def start(self):
        busy = subprocess.Popen([self.program])  # ends with its alarm, or here
        self.addCleanup(busy.wait)
        self.addCleanup(busy.kill)
        time.sleep(0.3)  # it is running, and has read what it needs
        return busy

    def check_named_by_file(self, run, pid, named):
        self.check_ledger(run)
        samples = [sample for sample in run.script() if sample.pid == pid]
        self.assertGreater(len(samples), 50)
        text = open(run.path(".txt"), encoding="utf-8", errors="replace").read()
        self.assertIn(self.program, text)
        self.assertEqual("busy_in_stuck_file" in text, named)

    def test_answers(self):
        """The file system itself: it serves while it answers."""
        busy = self.start()
        run = self.record(options=["-p", str(busy.pid), "-d", "1"])
        self.check_named_by_file(run, busy.pid, True)
        self.assertNotIn("no answer", run.stderr)
        self.assertEqual(run.summary()["counters"]["files_unanswered"], 0)

    def check_hang(self, what):
        busy = self.start()
        self.files.hang(what, busy.pid)
        run = self.record(options=["-p", str(busy.pid), "-d", "1"])
        self.check_named_by_file(run, busy.pid, False)
        self.assertTrue(self.files.hung, "nobody was kept waiting: the test shows nothing")
        self.assertEqual(run.stderr.count("jitbpf: no answer in time from " + self.program), 2)
        self.assertGreaterEqual(run.summary()["counters"]["files_unanswered"], 1)

    def test_hanging_lookup(self):
        self.check_hang("lookup")

    def test_hanging_open(self):
        self.check_hang("open")

    def test_hanging_read(self):
        self.check_hang("read")

    def test_hanging_close(self):
        self.check_hang("flush")


if __name__ == "__main__":
    unittest.main()
