# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""PHP's JIT code runs in a frame of the interpreter: stacks are complete to the program's start."""

import collections
import os
import subprocess

import harness
import run_for

OPTIONS = ["-F", "499", *harness.WITH_CODE]
JIT = ("TRACE", "JIT$", "jit$")
SCRIPT = {"zend_execute_scripts", "zend_execute_script"}  # up to PHP 8.3, and from 8.4 on


class PhpStacks(harness.KernelTest):
    def check(self, run):
        seen = collections.Counter()
        for stack, count in run.folded().items():
            frames = stack.split(";")
            jit = next((i for i, name in enumerate(frames) if name.startswith(JIT)), None)
            if jit is None:
                continue
            whole = "_start" in frames[:jit] and not SCRIPT.isdisjoint(frames[:jit])
            seen["whole" if whole else "cut" if "[cut]" in frames[:jit] else stack] += count
        self.assertGreater(seen["whole"], 100)
        self.assertLess(seen.pop("cut", 0), 0.005 * seen["whole"])  # 1 of 9,000 was seen
        self.assertEqual(len(seen), 1, seen)

    def test_tracing(self):
        self.check(self.record(harness.php("tracing", 3), OPTIONS, (".jitbpf", ".folded")))

    def test_function(self):
        self.check(self.record(harness.php("function", 3), OPTIONS, (".jitbpf", ".folded")))

    def test_late(self):
        """All code was compiled before the recording: the engine is known from its journal."""
        engine = subprocess.Popen(harness.php("tracing", 60), stdout=subprocess.DEVNULL,
                                  env={**os.environ, "INTEL_JIT_PROFILER64": harness.SHIM})
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        self.wait_for(lambda: run_for.cpu_seconds(engine.pid) > 2)
        self.check(self.record_process(engine.pid, 2.5, OPTIONS, (".jitbpf", ".folded")))
