# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Java: methods and inlined methods that the agent reports, in a JVM that loads it at its start."""

import collections
import os
import re
import select
import subprocess
import sys
import unittest

import harness
import jdks

sys.path.insert(0, os.path.join(harness.ROOT, "tests/programs/workloads"))
import java_places
import java_sources

AGENT = os.path.join(os.path.dirname(harness.SHIM), "libjitbpf-jvmti.so")
SOURCE = os.path.join(harness.ROOT, "tests/programs/workloads/Fill.java")
DO_NOT_INLINE = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Fill.inlinedHelper"]

# Of tests/programs/workloads/Fill.java: the loop of the helper, and its call.
HELPER_LINES, CALL_LINES = {"13", "14"}, {"20", "21"}

CUT_MAX = 0.01 # of the stacks of a compiler


@unittest.skipUnless(os.path.exists(AGENT), "built without a JDK: there is no libjitbpf-jvmti.so")
class Java(harness.KernelTest):
    def setUp(self):
        super().setUp()
        self.compile_java([SOURCE])

    def record_java(self, options=(), agent_options=""):
        command = ["java", *options, f"-agentpath:{AGENT}{agent_options}", "-cp", self.folder,
                   "Fill", "800"]
        return self.record(command, ["-F", "999"], endings=(".jitbpf", ".folded"))

    def chains(self, run):
        """Returns the numbers of samples by innermost frames of class Fill: a tuple of
        (name, line, is inlined)."""
        text = run.report("-f", "script", "--fields=+srcline").stdout.decode(errors="replace")
        chains = collections.Counter()
        for sample in text.split("\n\n"):
            frames, lines = [], sample.split("\n")[1:]
            for frame, place in zip(lines, [*lines[1:], ""]):
                match = re.match(r"\s+[0-9a-f]+ (Fill\.[\w.]+(?:\(.*?\))?)(?:\+|$)", frame)
                if match:
                    line = re.match(r"\s+Fill\.java:(\d+)", place)
                    frames.append((match[1], line and line[1], "(inlined)" in frame + place))
            chains[tuple(frames)] += 1
        return chains

    def test_inlined(self):
        run = self.record_java()
        chains = self.chains(run)
        of_fill = {chain: count for chain, count in chains.items() if chain}
        inlined = {chain: count for chain, count in of_fill.items() if chain[0][2]}
        total = sum(of_fill.values())
        # Before the second compiler has compiled it, the helper is a function.
        self.assertGreater(total, 300, run.stderr)
        self.assertGreater(sum(inlined.values()), 0.5 * total, of_fill)
        exact = sum(count for chain, count in inlined.items()
                    if chain[0][0] == "Fill.inlinedHelper" and chain[0][1] in HELPER_LINES and
                    chain[1][0] == "Fill.fillArray" and chain[1][1] in CALL_LINES and
                    not chain[1][2])
        self.assertGreater(exact, 0.97 * sum(inlined.values()), inlined)
        jit = self.check_ledger(run)["jit"]
        # Before the agent publishes, code is found in the memory of the JVM.
        self.assertEqual((jit["published_shim"], jit["published_jvmti"]),
                         (0, jit["methods"] - jit["published_memory"]))
        self.assertGreater(jit["methods"], 200) # with the JVM's own code
        self.assertEqual((jit["sequence_gaps"], jit["malformed"], jit["invalid"],
                          jit["over_budget"], jit["inlines"]), (0, 0, 0, 0, 0))
        done = run.report("-f", "folded", "--interpreter=yes")
        self.assertIn(b";Fill.main_[j];Interpreter_[j]", done.stdout)

    def test_not_inlined(self):
        """The same program, in which the helper stays a function: with parameter types."""
        run = self.record_java(DO_NOT_INLINE, "=signatures")
        chains = self.chains(run)
        of_fill = {chain: count for chain, count in chains.items() if chain}
        helper = {chain: count for chain, count in of_fill.items()
                  if chain[0][0] == "Fill.inlinedHelper(int[], int)"}
        self.assertFalse([chain for chain in of_fill if any(frame[2] for frame in chain) and
                          chain[0][0].startswith("Fill.inlinedHelper")])
        self.assertGreater(sum(of_fill.values()), 300, run.stderr)
        self.assertGreater(sum(helper.values()), 0.9 * sum(of_fill.values()), of_fill)

    def test_unknown_option(self):
        """The agent names an option that it does not have, and the JVM runs."""
        ran = subprocess.run(["java", f"-agentpath:{AGENT}=lines", "-version"], timeout=60,
                             check=True, stderr=subprocess.PIPE, text=True)
        said = [line for line in ran.stderr.split("\n") if line.startswith("jitbpf:")]
        self.assertEqual(len(said), 1, ran.stderr)
        self.assertIn("unknown option 'lines'", said[0])


@unittest.skipUnless(os.path.exists(AGENT), "built without a JDK: there is no libjitbpf-jvmti.so")
class Compiler(harness.KernelTest):
    """A larger program: the Java compiler, with classes that are generated for it."""

    def record_compiler(self, *options, javac="javac"):
        sources = java_sources.write(self.folder, 20)
        command = [javac, f"-J-agentpath:{AGENT}", *options, "-proc:none", "-d", self.folder,
                   *sources]
        return self.record(command, ["-F", "1499"], endings=(".jitbpf", ".folded"))

    def check_known(self, run, unknown_max):
        """Checks that few methods were taken for others, and returns the summary."""
        summary = self.check_ledger(run)
        taken = summary["samples"]["taken"]
        self.assertGreater(taken, 1000, run.stderr)
        self.assertGreater(summary["jit"]["methods"], 1000)
        self.assertLess(summary["jit"]["replaced"], 0.01 * summary["jit"]["methods"], run.stderr)
        self.assertLess(summary["samples"]["code_unknown"], unknown_max * taken, run.stderr)
        return summary

    def test_whole_and_known(self):
        """Code stays known while the JVM changes its call sites and moves its objects. Stacks
        continue through the interpreter, also where it was called by compiled code."""
        run = self.record_compiler()
        summary = self.check_known(run, 0.05)
        samples, taken = summary["samples"], summary["samples"]["taken"]
        self.assertLess(samples["stack_cut"], CUT_MAX * taken, run.stderr)
        self.assertLess(samples["frame_pointers"], 0.03 * taken, run.stderr)
        done = run.report("-f", "folded", "--interpreter=yes")
        stacks = [line.rsplit(b" ", 1) for line in done.stdout.splitlines()]
        through = sum(int(count) for stack, count in stacks if b"Interpreter_[j];" in stack)
        self.assertGreater(through, 0.1 * taken)

    @harness.slow
    def test_first_compiler(self):
        """Stacks are deep, and most methods on them are new."""
        run = self.record_compiler("-J-XX:TieredStopAtLevel=1")
        summary = self.check_known(run, 0.05)
        samples, taken = summary["samples"], summary["samples"]["taken"]
        self.assertLess(samples["stack_cut"], CUT_MAX * taken, run.stderr)

    @harness.slow
    @jdks.needs_jdk_25
    def test_colours(self):
        """ZGC writes the colour of object pointers to the code of all methods."""
        run = self.record_compiler("-J-XX:+UseZGC", javac=os.path.join(jdks.JDK_25, "bin/javac"))
        self.check_known(run, 0.02)


@unittest.skipUnless(os.path.exists(AGENT), "built without a JDK: there is no libjitbpf-jvmti.so")
class Truth(harness.KernelTest):
    """Places in compiled code, compared with what the JVM's serviceability agent says of them."""

    EXPORTS = [f"--add-exports=jdk.hotspot.agent/sun.jvm.hotspot{package}=ALL-UNNAMED"
               for package in ("", ".code", ".debugger", ".oops", ".runtime", ".types")]

    def truth(self, pid, addresses):
        """Returns what Truth.java says, by address."""
        said = subprocess.run(["java", "--add-modules=jdk.hotspot.agent", *self.EXPORTS, "-cp",
                               self.folder, "Truth", str(pid)], check=True, timeout=300,
                              input="".join(f"{address:x}\n" for address in addresses),
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        lines = [line.split(" ", 1) for line in said.split("\n") if " " in line]
        return {int(address, 16): place for address, place in lines
                if re.fullmatch("[0-9a-f]+", address)}

    def judge(self, ours, said):
        """Returns what is wrong with the frames of a place, or None."""
        names = [re.sub(r"[+/]0x[0-9a-f]+", "", name) for name, _ in ours]
        if names == ["[unknown]"]:
            return "unknown"
        if said.startswith("*"):
            return None
        truth = [frame.rsplit(":", 1) for frame in said.split(" ")]
        # The JVM gives our agent one method ID for all linkers.
        want = [re.sub(r"[+/]0x[0-9a-f]+", "", name) for name, _ in truth]
        want = [re.sub(r"(\.MethodHandle)\.(linkTo\w+|invokeBasic)$", r"\1.linker", name)
                for name in want]
        if names != want:
            return "name" if names[-1] != want[-1] else "inlined"
        lines = [(line, frame[1]) for (_, line), frame in zip(ours, truth)
                 if frame[1] not in ("0", "-1") and line != frame[1]]
        if not lines:
            return None
        return "line" if any(line for line, _ in lines) else "no line"

    @harness.slow
    def test_places(self):
        workloads = os.path.join(harness.ROOT, "tests/programs/workloads")
        self.compile_java([os.path.join(workloads, "Truth.java")],
                          ("--add-modules=jdk.hotspot.agent", *self.EXPORTS))
        self.compile_java([os.path.join(workloads, "Compile.java")])
        sources = java_sources.write(self.folder, 16)
        # No method is freed: the truth is requested at the end.
        command = ["java", "-XX:-MethodFlushing", f"-agentpath:{AGENT}", "-cp", self.folder,
                   "Compile", "-proc:none", "-d", self.folder, *sources]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as java:
            self.addCleanup(java.kill)
            run = self.record_until(lambda: select.select([java.stdout], [], [], 0)[0],
                                    ["-F", "1999", "-p", str(java.pid)], (".jitbpf",), 140)
            text = run.report("-f", "script", "--fields=+srcline").stdout
            places = java_places.places(text.decode(errors="replace"))
            with open(f"/proc/{java.pid}/maps", encoding="utf-8") as maps:
                memory = java_places.jit_memory(maps)
            places = {place: frames for place, frames in places.items()
                      if any(start <= place.address < end for start, end in memory)}
            truth = self.truth(java.pid, {place.address for place in places})
            java.stdin.close()
        verdicts, examples = collections.Counter(), collections.defaultdict(list)
        for place, counts in places.items():
            said = truth[place.address]
            for frames, count in counts.items():
                verdict = self.judge(frames, said)
                verdicts[verdict, place.leaf] += count
                examples[verdict].append((hex(place.address), count, frames, said))
        seen = f"{verdicts}\n{ {v: e[:3] for v, e in examples.items() if v} }\n{run.stderr}"
        callers = sum(count for (_, leaf), count in verdicts.items() if not leaf)
        leaves = sum(count for (_, leaf), count in verdicts.items() if leaf)
        inlined = sum(count for counts in places.values()
                      for frames, count in counts.items() if len(frames) > 1)
        self.assertGreater(leaves, 500, seen)
        self.assertGreater(inlined, 1000, seen)
        # A line is known to differ at single places, about 1 in 200,000.
        self.assertLess(verdicts["line", True] + verdicts["line", False], 1e-4 * callers, seen)
        for wrong in ("name", "inlined"):
            self.assertEqual(verdicts[wrong, True] + verdicts[wrong, False], 0, seen)
        self.assertLess(verdicts["unknown", True], 0.02 * leaves, seen)
        self.assertLess(verdicts["unknown", False], 0.01 * callers, seen)
        self.assertLess(verdicts["no line", True], 0.01 * leaves, seen)
        self.assertLess(verdicts["no line", False], 0.01 * callers, seen)


if __name__ == "__main__":
    harness.main()
