# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Java methods that the virtual machine interprets are in the stacks, with their lines."""

import os

import harness
import jdks
import runtime_truth

SOURCE = os.path.join(harness.ROOT, "tests/programs/workloads/Interpreted.java")
CLASS = "Interpreted."
CALLERS = {  # of a method, without itself
    "main": {None}, "left": {"main"}, "right": {"main"}, "lambda": {"main"},
    "<init>": {"right"}, "reflected": {"main"}, "deep_left": {"left"}, "locked_right": {"right"},
    "lambda$lambda$0": {"lambda"}, "called_reflected": {"reflected"},
    "work": {"deep_left", "locked_right", "lambda$lambda$0", "called_reflected"},
}


@jdks.needs_jdk
class Interpreted(harness.KernelTest):
    OPTIONS = ()  # of record
    JVM = ("-Xint",)

    def record_stacks(self, jdk):
        """Records the program, and returns its stacks in the thread of main(): lists of frames,
        innermost first."""
        self.compile_java([SOURCE], ["--release", "17"])
        run = self.record([os.path.join(jdk, "bin/java"), *self.JVM, "-cp", self.folder,
                           "Interpreted", "30000"],
                          ["-F", "499", "--fields", "+srcline", *self.OPTIONS])
        return run, [frames for _, frames in runtime_truth.stacks(run.path(".txt"))
                     if any(frame.name == "jni_CallStaticVoidMethod" for frame in frames)]

    def check(self, jdk):
        run, stacks = self.record_stacks(jdk)
        own = [[frame for frame in frames if frame.name.startswith(CLASS)] for frames in stacks]
        self.assertGreater(len(stacks), 60, run.stderr)
        # Others are of the start of the program, and of the few instructions around calls.
        self.assertGreater(sum(map(bool, own)), 0.8 * len(stacks), run.stderr)
        without = unread = 0  # frames without a line, and with a caller that could not be read
        for whole, frames in zip(stacks, own):
            for name, caller, is_read in self.calls(whole):
                if is_read:
                    self.assertIn(caller, CALLERS[name] | ({"deep_left"} if name == "deep_left"
                                                           else set()), whole)
                unread += not is_read
            for i, frame in enumerate(frames):
                self.assertTrue(frame.file.endswith("Interpreted.java"), frame)
                # While it calls or is called, the innermost one may have no position.
                if frame.line or i:
                    self.assertIn(frame.line, self.lines(frame.name[len(CLASS):]), frame)
                without += not frame.line
        self.assertLess(without, 0.05 * sum(map(bool, own)))
        self.assertLess(unread, 0.05 * sum(map(bool, own)))
        self.assertGreater(len({frame.name for frames in own for frame in frames}), 8)

    @staticmethod
    def calls(frames):
        """Yields each own method of a stack with its caller, None if there is none, and whether
        the frame behind it could be read: one of the interpreter without its method could not."""
        for i, frame in enumerate(frames):
            if frame.name.startswith(CLASS):
                own = [other.name[len(CLASS):] for other in frames[i:]
                       if other.name.startswith(CLASS)]
                behind = frames[i + 1].name if i + 1 < len(frames) else ""
                yield own[0], next(iter(own[1:]), None), behind != "Interpreter"

    @staticmethod
    def lines(method):
        """Returns the lines of a method in the source, with its head."""
        text = open(SOURCE, encoding="utf-8").read().splitlines()
        if method == "<init>":
            return [text.index("public class Interpreted {") + 1]
        head = method.split("$")[1] if method.startswith("lambda$") else method
        first = next(i for i, line in enumerate(text, 1)
                     if f" {head}(" in line and line.endswith("{"))
        return range(first, next(i for i in range(first, 99) if text[i - 1] == "    }") + 1)

    def test_java(self):
        self.check(jdks.JDK)

    @jdks.needs_jdk_25
    def test_java_25(self):
        self.check(jdks.JDK_25)


@jdks.needs_jdk
class WithoutAgent(Interpreted):
    """The virtual machine refuses our agent: its interpreter is found in its memory."""

    OPTIONS = ("--no-attach-jvms",)
    JVM = ("-Xint", "-XX:+DisableAttachMechanism")

    def check(self, jdk):
        super().check(jdk)
        jit = self.check_ledger(harness.Run(self.folder, 0, b"", ""))["jit"]
        self.assertEqual((jit["published_jvmti"], jit["published_memory"]), (0, jit["methods"]))
        self.assertGreater(jit["methods"], 0)


@jdks.needs_jdk
class Start(harness.KernelTest):
    """In its first half second, most stacks of a virtual machine have a frame without an unwind row,
    and user space completes them."""

    def test_callers(self):
        self.compile_java([SOURCE], ["--release", "17"])
        run = self.record([os.path.join(jdks.JDK, "bin/java"), "-cp", self.folder, "Interpreted",
                           "2000"], ["-F", "1999", "--fields", "+srcline"])
        stacks = [[frame.name for frame in frames]
                  for _, frames in runtime_truth.stacks(run.path(".txt"))]
        stacks = [names for names in stacks if "jni_CallStaticVoidMethod" in names]
        self.assertGreater(len(stacks), 20, run.stderr)
        # Without the functions of completed stacks, it is a third or more.
        unread = sum("Interpreter" in names[1:] for names in stacks)
        self.assertLess(unread, 0.2 * len(stacks), run.stderr)
