# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Java: the stacks of virtual threads. Those that continue have their innermost frames on the stack
of their carrier, and the others in the heap. The carrier's own frames are no callers of theirs."""

import os
import subprocess
import unittest

import harness
import jdks
import recording

AGENT = os.path.join(os.path.dirname(harness.SHIM), "libjitbpf-jvmti.so")
SOURCE = os.path.join(harness.ROOT, "tests/programs/workloads/Virtual.java")
BARRIER, THAW = "cont_returnBarrier_[j]", "cont_thaw_[j]"
FIRST = "jdk.internal.vm.Continuation.enterSpecial"


@unittest.skipUnless(os.path.exists(AGENT), "built without a JDK: there is no libjitbpf-jvmti.so")
@jdks.needs_jdk_25
class Virtual(harness.KernelTest):
    def record_threads(self, *arguments):
        """Returns the run, and its stacks in which a virtual thread computes, with their counts."""
        tools = os.path.join(jdks.JDK_25, "bin")
        subprocess.run([os.path.join(tools, "javac"), "-d", self.folder, SOURCE], check=True,
                       timeout=60)
        run = self.record([os.path.join(tools, "java"), "-cp", self.folder, "Virtual", "4",
                           *arguments], ["-F", "499"], (".jitbpf", ".folded"))
        stacks = {tuple(stack.split(";")): count for stack, count in run.folded().items()
                  if "Virtual." in stack and "JavaMain" not in stack}  # that of main()
        self.assertGreater(sum(stacks.values()), 300, run.stderr)
        return run, stacks

    @staticmethod
    def count(stacks, condition):
        return sum(count for stack, count in stacks.items() if condition(stack))

    def check_no_carrier(self, stacks):
        """Checks that no stack of a virtual thread has the frames of its carrier."""
        self.assertEqual(self.count(stacks, lambda stack: "start_thread" in stack or any(
            frame.startswith("jdk.internal.vm.Continuation.run") for frame in stack)), 0, stacks)

    def test_yielding(self):
        """The outermost frame of a thread that has yielded returns to the barrier. Its callers are
        in the heap, so the stack is cut there."""
        run, stacks = self.record_threads()
        total = sum(stacks.values())
        barrier = self.count(stacks, lambda stack: BARRIER in stack)
        self.assertGreater(barrier, 0.8 * total, run.stderr)
        self.check_no_carrier(stacks)
        self.assertEqual(self.count(stacks, lambda stack: BARRIER in stack and
                                    stack[1:3] != (recording.CUT, BARRIER)), 0, stacks)
        cut = self.check_ledger(run)["samples"]["cut"]
        self.assertGreaterEqual(cut["frozen"], barrier, cut)
        whole = self.count(stacks, lambda stack: stack[1].startswith(FIRST))
        self.assertGreater(whole + barrier, 0.95 * total, run.stderr)
        # The stub copies frames before it returns: then a thread computes.
        self.assertEqual(self.count(stacks, lambda stack: THAW in stack and not
                                    stack[-1].endswith("_[k]")), 0, stacks)

    def test_steady(self):
        """All frames are on the stack of the carrier. A thread may have waited once, for a class
        that another one initialized."""
        run, stacks = self.record_threads("steady")
        steady = {stack: count for stack, count in stacks.items() if BARRIER not in stack}
        self.assertGreater(sum(steady.values()), 200, run.stderr)
        self.check_no_carrier(stacks)
        whole = self.count(steady, lambda stack: stack[1].startswith(FIRST))
        self.assertGreater(whole, 0.97 * sum(steady.values()), run.stderr)


if __name__ == "__main__":
    harness.main()
