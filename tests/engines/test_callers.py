# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Callers of generated kernels that realign or move the stack: each stack reaches its root."""

import collections
import os
import unittest

import engine_truth
import harness
import published
import recording

SECONDS = 1.5  # of CPU time for each kernel
WHOLE = 0.995
LARGE_BYTES = 100_000
# Until the rows of a kernel exist, at most 64 KB of its stack are known: deeper stacks are cut.
NEW = 0.1


class Callers(harness.KernelTest):
    def stacks(self, run, truth):
        """Yields (load, frames, whole) of samples in kernels, from each kernel's first whole stack
        on; and of a kernel without one, all samples."""
        ends = {(sample.tid, sample.time): sample.end for sample in run.samples()}
        by_load = collections.defaultdict(list)
        for sample in run.script():
            frames = published.user_frames(sample)
            if not frames or frames[0].module != "[jit]":
                continue
            load = truth.at(frames[0].address, sample.time)
            self.assertIsNotNone(load, frames[0])
            by_load[load].append((frames, ends[sample.tid, sample.time] == recording.END_ROOT))
        new = 0
        for load, samples in by_load.items():
            first = next((i for i, (_frames, whole) in enumerate(samples) if whole), 0)
            new += first
            for frames, whole in samples[first:]:
                yield load, frames, whole
        self.assertLess(new, NEW * sum(map(len, by_load.values())))

    def check(self, command, module, roots):
        """Returns the number of samples in large kernels. module: part of the callers' file."""
        run = self.record(command, ["-F", "999", "--no-inline"],
                          env={**engine_truth.onednn_environment(self.folder),
                               "OMP_NUM_THREADS": "1"})
        truth = engine_truth.Truth(engine_truth.onednn_loads(self.folder))
        total, large, cut = 0, [0, 0], {}
        for load, frames, whole in self.stacks(run, truth):
            total += 1
            if load.end - load.start > LARGE_BYTES:
                large[whole] += 1
            if not whole:
                cut.setdefault(load.name, []).append(frames[-1])
                continue
            caller = next(frame for frame in frames if frame.module != "[jit]")
            self.assertIn(module, os.path.basename(caller.module), frames)
            self.assertIn(frames[-1].name.strip("_"), roots, frames)
        self.assertGreater(total, 2000)
        missing = sum(map(len, cut.values()))
        self.assertLessEqual(missing, (1 - WHOLE) * total, cut)
        self.assertLessEqual(large[False], (1 - WHOLE) * sum(large), cut)
        self.check_ledger(run)
        print(f"    {module}: {100 * (1 - missing / total):.2f}% of {total} whole, "
              f"{sum(large)} in large kernels")
        return sum(large)


def has_avx512():
    with open("/proc/cpuinfo", encoding="ascii") as info:
        return "avx512bw" in info.read()


class OneDnn(Callers):
    def check_version(self, program):
        large = self.check([os.path.join(harness.BUILD, "tests/engines", program), str(SECONDS)],
                           "libdnnl.so", {"start", "_start"})
        if has_avx512():  # else it depends on the processor whether the kernel is large
            self.assertGreater(large, 500)

    def test_version_2(self):
        """The distribution's."""
        self.check_version("onednn2")

    def test_version_3(self):
        self.check_version("onednn3")


class OpenVino(Callers):
    def test_models(self):
        self.check(published.command("openvino_kernels.py", SECONDS), "openvino",
                   {"start", "clone3"})


class PyTorch(Callers):
    def test_operators(self):
        self.check([os.path.join(harness.BUILD, "tests/engines/torch_kernels"), str(SECONDS)],
                   "libtorch_cpu.so", {"start"})


if __name__ == "__main__":
    unittest.main()
