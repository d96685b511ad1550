# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stacks of real engines without frame pointers, down to their roots."""

import bisect
import collections
import os
import re
import shutil
import subprocess

import harness
import recording
import stack_truth

WORKLOADS = os.path.join(harness.ROOT, "tests/programs/workloads")
# the distribution's, without frame pointers, for which torch is packaged
PYTHON = "/usr/bin/python3"
WHOLE = 0.99
FATES = {recording.END_ROOT: "whole", recording.END_DEPTH: "deep"}


def is_jit(frame):
    return frame.module == "[jit]"


class Engine(harness.KernelTest):
    def whole_stacks(self, run, comm, minimum=WHOLE, begin=0):
        """Returns the frames of whole stacks, outermost first, of which a minimum is required.
        Without those of the first part of the samples, as far as `begin`: beside other load, rows
        for a large program come late."""
        ends = {(s.tid, s.time): s.end for s in run.samples()}
        verdict, whole = stack_truth.Verdict(comm), []
        samples = [sample for sample in run.script() if sample.comm == comm]
        for sample in samples[int(begin * len(samples)):]:
            frames = stack_truth.user_frames(sample)
            if not frames:
                continue
            end = ends[sample.tid, sample.time]
            verdict.add(FATES.get(end, "cut"), frames, end)
            if end == recording.END_ROOT:
                whole.append(frames[::-1])
        self.assertGreater(verdict.total, 100, verdict)
        self.assertGreater(verdict.share("whole") + verdict.share("deep"), minimum, verdict)
        for frames in whole:
            self.check_root(frames)
        self.check_ledger(run)
        return whole

    def check_root(self, frames):
        """Checks that a stack starts where programs and threads start, and that all code is
        known."""
        text = ";".join(frame.name for frame in frames)
        root = frames[0]
        self.assertTrue(root.name in ("_start", "clone3", "__clone3") or
                        root.module.startswith("/usr/lib") and "/ld-" in root.module, text)
        for frame in frames:
            self.assertNotIn(frame.module, ("//anon", "[unknown]", ""), text)


class Python(Engine):
    def test_interpreter_that_calls_itself(self):
        depth = 4
        run = self.record([PYTHON, os.path.join(WORKLOADS, "recursion.py"), "2", str(depth)],
                          ["-F", "999", "--no-inline", *harness.WITH_CODE])
        deepest = 0
        # At first, while stacks are copied, they are deeper than the copies.
        whole = self.whole_stacks(run, "python3", 0.95)
        for frames in whole:
            names = [frame.name for frame in frames]
            deepest += names.count("_PyEval_EvalFrameDefault") == depth + 1
        self.assertGreater(deepest, 0.8 * len(whole))


class OneDnn(Engine):
    def test_kernels_under_those_who_call_them(self):
        run = self.record([harness.ONEDNN, "3", "3", "200"], ["-F", "999", "--no-inline"],
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
        kernels = 0
        for frames in self.whole_stacks(run, "onednn"):
            if not is_jit(frames[-1]):
                continue
            names = [frame.name for frame in frames]
            self.assertEqual(frames[0].name.strip("_"), "clone3", names)
            self.assertTrue(any(name.startswith("work(") for name in names), names)
            self.assertTrue(any(name.startswith("dnnl_primitive_execute") for name in names), names)
            kernels += 1
        self.assertGreater(kernels, 100)


class PyTorch(Engine):
    def test_kernels_under_operators_under_python(self):
        """oneDNN's kernels and their callers, and on the main thread the script's interpreter."""
        run = self.record([PYTHON, os.path.join(WORKLOADS, "convolutions.py"), "4"],
                          ["-F", "999", "--no-inline", *harness.WITH_CODE])
        kernels = {"_start": 0, "clone3": 0}
        for frames in self.whole_stacks(run, "python3", 0.98):
            if not is_jit(frames[-1]):
                continue
            names = [frame.name for frame in frames]
            text = ";".join(names)
            root = names[0].strip("_") if "clone" in names[0] else names[0]
            kernels[root] += 1
            modules = [os.path.basename(frame.module) for frame in frames]
            self.assertTrue(any(name.startswith("libdnnl.so") for name in modules), text)
            self.assertTrue(any(name.startswith("libgomp.so") for name in modules), text)
            if root == "_start":
                self.assertRegex(text, "Py_RunMain.*_PyEval_EvalFrameDefault.*at::.*"
                                       "(dnnl::impl::|dnnl_primitive_execute)")
        self.assertGreater(min(kernels.values()), 50, kernels)


class Large(Engine):
    def check_kernels(self, run, minimum):
        leaves = 0
        for frames in self.whole_stacks(run, "large", minimum):
            if is_jit(frames[-1]):
                names = [frame.name for frame in frames]
                self.assertRegex(names[-1], r"^large_\d+$", names)
                self.assertTrue(names[-2].startswith("repeat"), names)
                self.assertEqual(names[-3], "main", names)
                leaves += 1
        self.assertGreater(leaves, 100)

    def test_code_of_a_short_run(self):
        """Rows of large code take longer than the process runs."""
        self.check_kernels(self.record([harness.LARGE, "4", "8"], ["-F", "4999", "--no-inline"]),
                           0.95)

    def test_storm(self):
        """Rows of large code are made as fast as a program makes such code."""
        self.check_kernels(self.record([harness.LARGE, "60", "8"], ["-F", "1999", "--no-inline"]),
                           0.9)


class Node(Engine):
    def check_has_names(self, run, names):
        """Debian's Node.js has no symbols of its builtins, and from 20 on, --perf-prof does not
        report them. So its samples in builtins cannot be recognized."""
        if not any(re.fullmatch(names, frame.name) for sample in run.script()
                   for frame in sample.frames):
            self.skipTest("this Node.js has no names of its builtins")

    def test_prologue_in_a_builtin(self):
        """V8's baseline compiler calls a builtin that makes the frame. Its functions are called
        "Function:^leaf" by Node.js 18, and "JS:^leaf" by 20. Only leaf calculates, and for that
        calls builtins that have no frame until they need one."""
        run = self.record(["node", "--perf-prof", "--always-sparkplug", "--no-opt",
                           os.path.join(WORKLOADS, "baseline.js"), "2"],
                          ["-F", "1999", "--no-inline"], cwd=self.folder)
        leaves = in_builtins = 0
        # By a symbol of the program or, where it is stripped as Debian's, by --perf-prof.
        builtins_of_leaf = {f"{prefix}{name}_Baseline" for prefix in ("Builtins_", "Builtin:")
                            for name in ("Modulus", "ModulusSmi", "Multiply")}
        for frames in self.whole_stacks(run, "node", 0.98, 0.4):
            names = [match.group(1) for match in
                     (re.match(r"(?:JS|Function):\^(\S*) .*/baseline\.js(?::\d+)+$", frame.name)
                      for frame in frames) if match]
            chain = ["", "outer", "middle", "leaf"]
            self.assertEqual(names, chain[:len(names)])
            leaves += names == chain
            if frames[-1].name in builtins_of_leaf:
                self.assertEqual(names, chain)
                in_builtins += 1
        self.assertGreater(leaves, 200)
        self.check_has_names(run, r"Builtin(s_|:)\w+_Baseline")
        self.assertGreater(in_builtins, 200)

    def test_interpreter(self):
        """The interpreter calls handlers of bytecodes. Some of them make their frame at once, some
        never do; the function that runs is on the stack of all. Without --perf-prof, it is a
        frame of the interpreter."""
        run = self.record(["node", "--no-opt", "--no-sparkplug",
                           os.path.join(WORKLOADS, "baseline.js"), "2"],
                          ["-F", "1999", "--no-inline", *harness.WITH_CODE], cwd=self.folder)
        self.check_has_names(run, r"Builtins_\w+Handler")
        self.check_leaf_is_on_stack(run, "node", lambda frame: frame.name)

    def check_leaf_is_on_stack(self, run, comm, name_of):
        depths = collections.defaultdict(collections.Counter)
        for frames in self.whole_stacks(run, comm, 0.98, 0.4):
            names = [name_of(frame) for frame in frames]
            handler = re.match(r"Builtins_(Mul|ModSmi)\w*Handler$", names[-1])
            if handler:  # Only leaf has such bytecodes.
                depths[handler.group(1)][names.count("Builtins_InterpreterEntryTrampoline")] += 1
        self.assertEqual(len(depths), 2, depths)
        self.assertEqual(len({depth for of in depths.values() for depth in of}), 1, depths)
        self.assertGreater(min(sum(of.values()) for of in depths.values()), 50, depths)

    def test_stripped(self):
        """Without symbols, as Debian's, the file still has a table of its builtins."""
        program = os.path.realpath(shutil.which("node"))
        symbols = self.symbols_of_builtins(program)
        if not symbols:
            self.skipTest("this Node.js has no names of its builtins")
        stripped = os.path.join(self.folder, "node")
        subprocess.run(["strip", "-s", "-o", stripped, program], check=True)
        run = self.record([stripped, "--no-opt", "--no-sparkplug",
                           os.path.join(WORKLOADS, "baseline.js"), "2"],
                          ["-F", "1999", "--no-inline"], cwd=self.folder)
        self.check_leaf_is_on_stack(run, "node", lambda frame: self.symbol_at(symbols, frame))

    def symbols_of_builtins(self, program):
        """Returns (address, name) of builtins, ascending, of a program with fixed addresses."""
        listed = subprocess.run(["nm", "-n", program], check=True, capture_output=True, text=True)
        if "DYN" in subprocess.run(["readelf", "-h", program], check=True, capture_output=True,
                                   text=True).stdout:
            return []
        words = [line.split() for line in listed.stdout.splitlines() if " Builtins_" in line]
        return [(int(address, 16), name) for address, _, name in words]

    def symbol_at(self, symbols, frame):
        at = bisect.bisect(symbols, (frame.address, "~")) - 1
        builtin = at >= 0 and frame.address - symbols[at][0] < 1 << 14
        return symbols[at][1] if builtin else frame.name

    def test_replaced_frames(self):
        """V8 makes functions return to the start of a builtin, which no call precedes."""
        run = self.record(["node", "--perf-prof", "--allow-natives-syntax", "--no-use-osr",
                           "--no-sparkplug", os.path.join(WORKLOADS, "replaced.js"), "2"],
                          ["-F", "999", "--no-inline"], cwd=self.folder)
        replaced = 0
        for frames in self.whole_stacks(run, "node", 0.98, 0.4):
            # The byte before a builtin is padding, which has no name. The function that runs in
            # the interpreter's frame is shown in its place if it was read.
            text = ";".join(frame.name for frame in frames)
            replaced += bool(re.search(r"\[unknown\];\[unknown\];"
                                       r"(Builtin:InterpreterEntryTrampoline|leaf )", text))
        self.assertGreater(replaced, 500)
