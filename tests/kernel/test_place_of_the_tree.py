# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A tree below /tmp: what cannot work there is refused at once, and the rest runs."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness
import test_java_attach


class BelowTmp(unittest.TestCase):
    def setUp(self):
        self.tree = tempfile.mkdtemp(prefix="jitbpf-test-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.tree, True)
        os.mkdir(f"{self.tree}/tests")
        for name in ("check.py", "run_tests.py"):
            shutil.copy(os.path.join(harness.ROOT, "tests", name), f"{self.tree}/tests")
        shutil.copytree(os.path.join(harness.ROOT, "tests/kernel"), f"{self.tree}/tests/kernel",
                        ignore=shutil.ignore_patterns("__pycache__"))

    def run_script(self, name, **variables):
        return subprocess.run([sys.executable, f"tests/{name}"], cwd=self.tree, text=True,
                              env={**os.environ, "BUILD": harness.BUILD, **variables},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                              check=False)

    def check_refused(self, done):
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, rf"\A{re.escape(self.tree)} is below /tmp, .+\n\Z")

    def test_check(self):
        self.check_refused(self.run_script("check.py"))

    @unittest.skipUnless(os.path.exists(test_java_attach.AGENT), "built without a JDK")
    def test_tests_that_hide_it(self):
        self.check_refused(self.run_script("kernel/harness.py", TESTS="test_java_threads.py"))

    def test_other_tests(self):
        done = self.run_script("kernel/harness.py", TESTS="test_few_files.py", ONLY="too_few")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("kernel: 1 passed", done.stdout)
