# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""oneDNN alone, beside another engine, and inside PyTorch, compared with its own jitdump."""

import collections
import contextlib
import json
import os
import shlex
import subprocess
import time

import engine_truth
import harness
import recording

XBYAK = os.path.join(harness.BUILD, "tests/programs/workloads/xbyak")
CONVOLUTIONS = os.path.join(harness.ROOT, "tests/programs/workloads/convolutions.py")
PYTHON = "/usr/bin/python3"  # the distribution's, for which torch is packaged


class OneDnn(harness.KernelTest):
    def setUp(self):
        super().setUp()
        self.env = {**engine_truth.onednn_environment(self.folder), "OMP_NUM_THREADS": "1"}

    @contextlib.contextmanager
    def ready_for_later(self, command):
        """Runs a command with the variables of `jitbpf env` for the duration of the block."""
        publish = f'eval "$({shlex.quote(harness.JITBPF)} env)"; exec "$@"'
        with subprocess.Popen(["sh", "-c", publish, "sh", *command], env=self.env,
                              stdout=subprocess.PIPE, text=True) as process:
            try:
                yield process
            finally:
                process.kill()

    def compare(self, run, more_loads=()):
        """Returns the samples with only correct frames, and the truth."""
        loads = engine_truth.onednn_loads(self.folder)
        truth = engine_truth.Truth([*loads, *more_loads])
        # The name is jitdump's if a preempted thread published by both long after each other.
        samples = [sample._replace(frames=[
            frame._replace(name=engine_truth.onednn_name(frame.name))
            if frame.module == "[jit]" else frame for frame in sample.frames])
            for sample in run.script()]
        right, wrong = truth.compare(samples)
        self.assertEqual(wrong, [])
        self.assertGreater(sum(right.values()), 100)
        summary = self.check_ledger(run)
        self.assertEqual(summary["jit"]["published_shim"], len(truth.loads))
        self.assertEqual((summary["jit"]["unloads"], summary["samples"]["lost"]), (0, 0))
        return samples, truth, right


class Alone(OneDnn):
    def test_kernels_without_cache(self):
        run = self.record([harness.ONEDNN, "3", "3"], ["-F", "999"], env=self.env)
        samples, truth, _right = self.compare(run)
        self.assertGreater(len(truth.loads), 2 * len(truth.names_by_address()))
        threads = {s.tid for s in samples if any(f.module == "[jit]" for f in s.frames)}
        self.assertGreaterEqual(len(threads), 3)
        self.check_code_was_copied(run)

    def check_code_was_copied(self, run):
        """Kernels live for milliseconds; copies of their code are not recorded."""
        summary = run.summary()
        self.assertLess(summary["counters"]["unwind_code_unread"],
                        0.01 * summary["jit"]["methods"])
        self.assertLess(summary["samples"]["stack_cut"], 0.02 * summary["samples"]["taken"])
        kinds = {kind for kind, *_ in recording.chunks(run.path(".jitbpf"))}
        self.assertNotIn(recording.CODE, kinds)


class BesideXbyak(OneDnn):
    def test_same_ids(self):
        run = self.record([XBYAK, "3"], ["-F", "999"], env=self.env)
        theirs = []
        for line in run.stdout.decode().splitlines():
            when, start, end, name = line.split()
            theirs.append(engine_truth.Load(int(when), int(start, 16), int(end, 16), name))
        _samples, _truth, right = self.compare(run, theirs)
        xbyak = sum(count for name, count in right.items() if name.startswith("xbyak_"))
        self.assertGreater(xbyak, 50)
        self.assertGreater(sum(right.values()) - xbyak, 50)
        names = collections.defaultdict(set)
        for event in recording.jit_events(run.path(".jitbpf")):
            names[event.id].add(event.name.startswith("xbyak_"))
        self.assertGreater(sum(len(engines) == 2 for engines in names.values()), 100,
                           "the ids are to be the same")


    def test_listed(self):
        """Listed by the library that contains the engine, with its own code."""
        with self.ready_for_later([XBYAK, "60"]) as process:
            methods = {}
            for _ in range(300):  # until both have started
                done = subprocess.run([harness.JITBPF, "list", "--json", "-p", str(process.pid)],
                                      check=True, stdout=subprocess.PIPE)
                methods = {row["engine"]: row["methods"]
                           for row in json.loads(done.stdout)["engines"] if row.get("engine")}
                if len(methods) > 1:
                    break
                time.sleep(0.1)
            self.assertGreater(methods.pop("xbyak"), 100)
            ((library, kernels),) = methods.items()
            self.assertRegex(library, r"^libdnnl\.so")
            self.assertGreater(kernels, 0)


class PyTorchLate(OneDnn):
    def test_kernels_made_before(self):
        with self.ready_for_later([PYTHON, CONVOLUTIONS, "60"]) as torch:
            self.assertEqual(torch.stdout.readline(), "ready\n")
            run = self.record(options=["-p", str(torch.pid), "-F", "999", "-d", "3"])
        samples, truth, right = self.compare(run)
        self.assertGreater(len(right), 1)
        self.assertEqual(run.summary()["jit"]["late"], len(truth.loads))
        threads = {s.tid for s in samples if any(f.module == "[jit]" for f in s.frames)}
        self.assertGreaterEqual(len(threads), 3)
