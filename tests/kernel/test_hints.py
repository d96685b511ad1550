# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the summary and `list` advise where code has no names: the engine's name, and what was not
tried yet."""

import subprocess
import unittest

import harness

LOOP = "function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2); } for (;;) f(20);"
JIT = [word for word in harness.php_jit("tracing")[:-2] if word != "php"]


class Hints(harness.KernelTest):
    def advice(self, command):
        """Runs a command that ends by itself, or after a second of CPU time. V8 writes a log to its
        working directory."""
        return self.record(["prlimit", "--cpu=1", *command], ["-F", "499"], status=self.ends_with,
                           cwd=self.folder).stderr

    def setUp(self):
        super().setUp()
        self.ends_with = 137  # SIGKILL: the second is over

    def test_node(self):
        text = self.advice(["node", "-e", LOOP])
        self.assertIn("[unknown] code that no engine published: V8: start Node.js with --perf-prof",
                      text)
        text = self.advice(["node", "--perf-basic-prof", "-e", LOOP])
        self.assertIn("V8: --perf-basic-prof writes a perf map", text)
        self.assertNotIn("jitbpf env", text)

    @harness.needs_php_api
    def test_php(self):
        self.ends_with = 0
        self.assertIn("(PHP's JIT is off: -d opcache.enable_cli=1",
                      self.advice(["php", harness.PHP_SCRIPT, "0.5"]))
        text = self.advice(["php", "-n", "-d", "zend_extension=opcache", *JIT, harness.PHP_SCRIPT,
                            "0.5"])
        self.assertIn("PHP: with -n, PHP does not read jitbpf's setting: add "
                      "-d opcache.jit_debug=128", text)

    @harness.needs_php_api
    def test_late_without_the_environment(self):
        with subprocess.Popen(["php", *JIT, harness.PHP_SCRIPT, "60"],
                              stdout=subprocess.DEVNULL) as process:
            self.addCleanup(process.kill)
            self.wait_for(lambda: "PHP" in self.listed(process.pid).stdout)
            text = self.record_process(process.pid, 0.5, ["-F", "499"]).stderr
            process.kill()
        self.assertIn("PHP: start it with the variables of 'jitbpf env'", text)

    def listed(self, pid):
        done = subprocess.run([harness.JITBPF, "list", "-p", str(pid)], capture_output=True,
                              check=True, text=True)
        if "PHP" in done.stdout:
            self.assertIn("is shown as [unknown]\njitbpf: PHP: start it with the variables",
                          done.stderr)
        return done


if __name__ == "__main__":
    unittest.main()
