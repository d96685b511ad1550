# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Real, unmodified engines: their JIT code is named, and no event is lost."""

import os
import re
import subprocess
import time

import harness
import run_for


class Php(harness.KernelTest):
    def check_mode(self, mode):
        run = self.record(harness.php(mode, 3), ["-F", "999", *harness.WITH_CODE])
        named = unnamed = 0
        for sample in run.script():
            frame = harness.leaf_jit(sample)
            if frame and re.match(r"TRACE-|JIT\$", frame.name):
                self.assertEqual(frame.module, "[jit]")
                named += 1
            elif frame and (frame.module == "[jit]" or frame.module == "//anon"):
                unnamed += 1
        self.assertGreater(named, 300)
        self.assertLessEqual(unnamed, 0.001 * (named + unnamed))
        summary = self.check_ledger(run)
        self.assertEqual(summary["samples"]["lost"], 0)
        self.assertGreater(summary["jit"]["methods"], 5)

    def test_tracing(self):
        self.check_mode("tracing")

    def test_function(self):
        self.check_mode("function")


class SystemWide(harness.KernelTest):
    @harness.alone
    def test_two_engines_at_once(self):
        """The whole system; both engines start and compile during the recording, and end with it."""
        env = {**os.environ, "INTEL_JIT_PROFILER64": harness.SHIM, "OMP_NUM_THREADS": "1"}
        engines = []

        def both_have_run():
            if not engines:
                for command in (harness.php("tracing", 60), [harness.ONEDNN, "60", "2"]):
                    engines.append(subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL))
                    self.addCleanup(engines[-1].wait)
                    self.addCleanup(engines[-1].kill)
            return all(run_for.cpu_seconds(engine.pid) > 2 for engine in engines)

        run = self.record_until(both_have_run, ["-a", "-F", "199", *harness.WITH_CODE])
        pids = {engine.pid: 0 for engine in engines}
        for engine in engines:
            engine.kill()
        for sample in run.script():
            frame = harness.leaf_jit(sample)
            if frame and frame.module == "[jit]" and sample.pid in pids:
                pids[sample.pid] += 1
        for engine in engines:
            self.assertGreater(pids[engine.pid], 50, engine.args)
        self.check_ledger(run)

    @harness.alone
    def test_command_and_everything_else(self):
        run = self.record([harness.ENGINE, "hot", "--seconds", "1", "--name", "ours"],
                          ["-a", "-F", "499"])
        self.assertTrue(any(harness.leaf_jit(s) and harness.leaf_jit(s).name == "ours"
                            for s in run.script()))
        self.check_ledger(run)

    def test_pid(self):
        env = {**os.environ, "INTEL_JIT_PROFILER64": harness.SHIM}
        engines = [subprocess.Popen([harness.ENGINE, "hot", "--seconds", "60", "--name", name],
                                    env=env, stdout=subprocess.DEVNULL) for name in "ab"]
        for engine in engines:
            self.addCleanup(engine.wait)
            self.addCleanup(engine.kill)
        self.wait_for(lambda: all(run_for.cpu_seconds(engine.pid) > 0.1 for engine in engines))
        run = self.record_process(engines[0].pid, 0.5, ["-F", "199"])
        for engine in engines:
            engine.kill()
        samples = run.script()
        self.assertGreater(len(samples), 30)
        self.assertEqual({sample.pid for sample in samples}, {engines[0].pid})
        self.check_ledger(run)

    def test_pid_ends_with_it(self):
        engine = subprocess.Popen([harness.ENGINE, "hot", "--seconds", "2"],
                                  stdout=subprocess.DEVNULL)
        start = time.monotonic()
        run = self.record(options=["-p", str(engine.pid), "-F", "99"])
        engine.wait()
        self.assertLess(time.monotonic() - start, 60)
        self.check_ledger(run)


class Children(harness.KernelTest):
    def test_process_tree_from_start_to_end(self):
        """20 commands of 0.1 s, one after another: all of their CPU time is in the profile."""
        loop = 'for i in $(seq 20); do "$0" hot --seconds 0.1 --name f$i; done >/dev/null; times'
        run = self.record(["sh", "-c", loop, harness.ENGINE], ["-F", "999"])
        names = set()
        for sample in run.script():
            frame = harness.leaf_jit(sample)
            if frame and re.fullmatch(r"f\d+", frame.name):
                names.add(frame.name)
        self.assertEqual(len(names), 20)
        spent = sum(60 * float(m) + float(s) for m, s in
                    re.findall(rb"(\d+)m([\d.]+)s", run.stdout))
        self.assertGreater(len(run.script()) / 999, 0.9 * spent)
        self.assertLess(len(run.script()) / 999, 1.2 * spent)

    def test_exit_status(self):
        self.record(["sh", "-c", "exit 7"], status=7)
        self.record(["sh", "-c", "kill -9 $$"], status=137)

    def test_command_not_found(self):
        run = self.record(["/does/not/exist"], status=127)
        self.assertIn("/does/not/exist", run.stderr)
