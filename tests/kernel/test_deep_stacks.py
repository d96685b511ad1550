# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stacks of known depth, without frame pointers: whole up to the limit of a sample, and cut there."""

import collections
import os

import harness
import recording

DEEP = os.path.join(harness.BUILD, "tests/programs/stacks/deep")
RUN_FOR = os.path.join(harness.ROOT, "tests/kernel/run_for.py")
RECURSION = os.path.join(harness.ROOT, "tests/programs/workloads/recursion.py")
PYTHON = "/usr/bin/python3"
SECONDS = 0.5
FRAMES_MAX = 1024  # JITBPF_USER_FRAMES_MAX
CALLERS_MAX = 8    # of the first of the functions that call themselves
ENOUGH = 100       # samples
WHOLE = 0.99


@harness.alone
class Deep(harness.KernelTest):
    def record_deep(self, command):
        """Returns the run, and its user stacks as {pid: [sample]} in order of time."""
        run = self.record(command, ["-F", "999", "--no-inline", *harness.WITH_CODE],
                          [".jitbpf", ".folded"])
        self.assertEqual(self.check_ledger(run)["samples"]["lost"], 0)
        samples = collections.defaultdict(list)
        for sample in sorted(run.samples()):
            if sample.user_words:
                samples[sample.pid].append(sample)
        return run, samples

    def check_depth(self, samples, depth):
        """Checks that samples are whole or have as many frames as a sample holds. At first, while
        tables are made, stacks are copied, and may be deeper than the copies."""
        ends = collections.Counter(sample.end for sample in samples)
        warm = [sample for sample in samples if sample.end != recording.END_COPY]
        right = sum(sample.end == recording.END_ROOT and sample.user_words <= depth + CALLERS_MAX or
                    sample.end == recording.END_DEPTH and sample.user_words == FRAMES_MAX < depth
                    for sample in warm)
        self.assertGreater(len(warm), max(ENOUGH, 0.6 * len(samples)), ends)
        self.assertGreaterEqual(right, WHOLE * len(warm), ends)

    def check_names(self, run, comm, name, depth):
        """Checks that most samples have so many frames of a function."""
        counts = collections.Counter()
        for stack, count in run.folded().items():
            frames = stack.split(";")
            if frames[0] == comm:
                counts[frames.count(name)] += count
        wanted = min(depth, FRAMES_MAX - 1)
        found = sum(count for levels, count in counts.items() if wanted <= levels <= wanted + 1)
        self.assertGreater(found, 0.6 * counts.total(), counts)

    def test_native(self):
        depths = 100, 130, 500, 1000, 1500
        run_each = f'printf "%s\\n" "$@" | xargs -P 2 -I @ python3 "$0" {SECONDS} {DEEP} @; true'
        run, samples = self.record_deep(["sh", "-c", run_each, RUN_FOR, *map(str, depths)])
        pids = {sample.comm: sample.pid for sample in run.samples()}
        for depth in depths:
            with self.subTest(depth):
                self.check_depth(samples[pids[f"deep-{depth}"]], depth)
                self.check_names(run, f"deep-{depth}", "descend", depth)

    def test_array_that_is_never_written(self):
        """Its pages do not exist. While tables are made, stacks are copied without them. A copy has
        the whole stack if that is not deeper than 64 KB."""
        for array_bytes in "12000", "30000", "50000":
            run, samples = self.record_deep([PYTHON, RUN_FOR, str(SECONDS), DEEP, "30", array_bytes])
            pids = {sample.comm: sample.pid for sample in run.samples()}
            ends = collections.Counter(sample.end for sample in samples[pids["deep-30"]])
            self.assertGreater(ends.total(), ENOUGH, ends)
            self.assertGreaterEqual(ends[recording.END_ROOT], WHOLE * ends.total(), ends)
            self.assertEqual(ends[recording.END_COPY], 0, ends)

    def test_jit(self):
        for depth in 120, 1000, 1500:
            with self.subTest(depth):
                run, samples = self.record_deep([harness.ENGINE, "deep", "--depth", str(depth),
                                                 "--seconds", str(SECONDS)])
                self.check_depth(max(samples.values(), key=len), depth)
                self.check_names(run, "jit-engine", "deep_[j]", depth)

    def test_python(self):
        """The interpreter calls itself 100 times, in about 900 frames."""
        run, samples = self.record_deep([PYTHON, RECURSION, "2", "100"])
        ends = collections.Counter(sample.end for sample in max(samples.values(), key=len))
        self.assertGreater(ends[recording.END_ROOT], 0.9 * ends.total(), ends)
        self.check_names(run, "python3", "_PyEval_EvalFrameDefault", 100)
