# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Few open files (ulimit -n): a recording works, or says how many it needs."""

import os
import re
import shutil
import subprocess

import harness


class FewFiles(harness.KernelTest):
    def run_record(self, limit, *options):
        return subprocess.run(["prlimit", f"--nofile={limit}:{limit}", harness.JITBPF, "record",
                               *options], cwd=self.folder, capture_output=True,
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

    def test_none_left_later(self):
        """Files that are mapped when no more can be opened are counted, with the true reason."""
        engine = shutil.copy(harness.ENGINE, os.path.join(self.folder, "engine"))
        go = os.path.join(self.folder, "go")
        os.mkfifo(go)
        with subprocess.Popen([*self.record_argv(("-F", "499"), (".jitbpf",)), "--", "sh", "-c",
                               'read line <"$0"; exec "$@"', go, engine, "hot", "--seconds", "1"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            with open(go, "w", encoding="ascii") as begin:  # once the command reads
                # What is open remains so.
                harness.limit_files(process.pid, 3)
                begin.write("go\n")
            said = process.communicate()[1].decode()
        self.assertEqual(process.returncode, 0, said)
        self.assertRegex(said, r"(?m)^jitbpf: \d+ mapped files? (was|were) not opened, since jitbpf "
                               r"had no descriptor left: .* \(ulimit -Hn\)$")
        self.assertNotIn("no answer in time", said)
