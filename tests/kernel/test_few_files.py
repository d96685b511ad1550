# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Few open files (ulimit -n): a recording works, or says how many it needs."""

import os
import re
import subprocess

import harness


class FewFiles(harness.KernelTest):
    def run_record(self, limit, *options):
        return subprocess.run(["prlimit", f"--nofile={limit}:{limit}", harness.JITBPF, "record",
                               *options], cwd=self.folder, capture_output=True, timeout=60,
                              check=False)

    def needed(self, limit):
        done = self.run_record(limit, "-q", "--", "touch", "ran")
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertEqual(os.listdir(self.folder), [])
        return int(re.search(rb"up to %d open files: raise the limit \(ulimit -Hn\) to (\d+)"
                             % limit, done.stderr)[1])

    def test_too_few(self):
        for limit in (16, 32, 64):
            self.assertGreater(self.needed(limit), limit)

    def test_as_few_as_needed(self):
        """Beside more files than may be open."""
        outputs = [word for ending in (".jitbpf", ".txt") for word in ("-o", "out" + ending)]
        done = self.run_record(self.needed(64), "-F", "499", "-a", *outputs, "--",
                               harness.ENGINE, "hot", "--seconds", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        run = harness.Run(self.folder, 0, b"", done.stderr.decode())
        leaves = [harness.leaf_jit(sample) for sample in run.script()]
        self.assertGreater(sum(bool(leaf) and leaf.module == "[jit]" for leaf in leaves), 300)
        self.check_ledger(run)
