# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stacks without frame pointers, of programs with known stacks (tests/programs/stacks)."""

import functools
import os

import engine_truth
import harness
import recording
import stack_truth

STACKS = os.path.join(harness.BUILD, "tests/programs/stacks")
SOURCES = os.path.join(harness.ROOT, "tests/programs/stacks")
RUN_FOR = os.path.join(harness.ROOT, "tests/kernel/run_for.py")
SECONDS = 0.5
WHOLE = 0.99
COLD = 8  # samples that may need more tables at first
FATES = {"root": "whole", "cut": "cut"}  # keys as in the programs' descriptions

# Programs by source file.
PROGRAMS = {
    "chain.c": ["chain", "chain-static", "chain-static-pie", "chain-no-header", "chain-stripped",
                "chain-debug-frame", "chain-frame-pointers", "chain-nothing",
                "chain-musl"],
    "calls.c": ["calls-lazy", "calls-ibt", "calls-now"],
    **{f"{name}.c": [name] for name in ("frames", "swap", "thin", "signals", "kernel", "threads",
                                        "contexts", "respawn", "reload", "liar", "delivery",
                                        "narrow", "narrow_liar")},
    **{f"{name}.cpp": [name] for name in ("std_thread", "exceptions")},
    "rust.rs": ["rust"],
}

# Programs with fewer whole stacks. Stacks are cut where a library was just replaced. Frames larger
# than a copy wait for the kernel's tables. A system call that starts a thread or a program has no
# table or no stack any more. Tables are wrong just before an exception is caught.
FEWER = {"frames": 0.95, "exceptions": 0.95, "threads": 0.95, "std_thread": 0.95, "respawn": 0.95,
         "reload": 0.95}


def program(source):
    return stack_truth.program(os.path.join(SOURCES, source))


@functools.lru_cache
def engine_program(generation):
    """jit-engine's frames mode: a generation has stacks of its own. Code may be unknown."""
    begin = "_start system main /^(frames_mode|workers_run|thread_main|frames_work)$/+"
    outer, middle, leaf = (rf"/^({name}_{generation}|\[unknown\])$/"
                           for name in ("outer", "middle", "leaf"))
    lines = [f"{begin} frames_call {outer} {middle} frames_callback {leaf}",
             "_start system main /^(?!frames_call|outer_|middle_|leaf_)/+"]
    return stack_truth.Program(lines)


@harness.alone
class Programs(harness.KernelTest):
    """All programs in one recording, two at a time."""

    def test_stacks_are_the_true_ones(self):
        programs = {name: program(source) for source, names in PROGRAMS.items()
                    for name in names}
        run_each = f'printf "%s\\n" "$@" | xargs -P 2 -I @ python3 "$0" {SECONDS} @; true'
        run = self.record(["sh", "-c", run_each, RUN_FOR,
                           *(os.path.join(STACKS, name) for name in programs)], ["-F", "999", "--no-inline"])
        summary = self.check_ledger(run)
        self.assertEqual(summary["samples"]["lost"], 0)
        again = run.report("-f", "script", "--no-inline")
        self.assertEqual(again.stdout, open(run.path(".txt"), "rb").read())
        for name, verdict in stack_truth.verdicts(run, programs).items():
            with self.subTest(name):
                self.check(verdict, FATES[programs[verdict.name].end])

    def check(self, verdict, expected):
        self.assertGreater(verdict.total, 50, verdict)
        self.assertEqual(verdict.counts["wrong"], 0, verdict)
        right = verdict.counts[expected]
        few = (1 - FEWER.get(verdict.name, WHOLE)) * verdict.total
        self.assertLessEqual(verdict.total - right, max(few, COLD), verdict)
        self.assertGreater(right, COLD, verdict)


@harness.alone
class Jit(harness.KernelTest):
    """JIT code with frames of all layouts, which replaces other such code."""

    def check_frames(self, rate, slots):
        run = self.record([harness.ENGINE, "frames", "--rate", str(rate), "--slots", str(slots),
                           "--code-bytes", "384", "--seconds", "2"],
                          ["-F", "999", "--user-regs", "--no-inline"])
        verdict = stack_truth.Verdict(f"{rate} a second at {slots} places")
        samples = {(s.tid, s.time): s for s in run.samples()}
        for shown in run.script():
            sample, frames = samples[shown.tid, shown.time], stack_truth.user_frames(shown)
            if shown.comm == "jit-engine" and frames:
                r15 = sample.regs[recording.R15]
                tagged = r15 >> 32 == engine_truth.GENERATION_TAG
                generation = r15 & 0xFFFFFFFF if tagged else r"\d+"
                verdict.add(engine_program(generation).judge(frames, sample), frames,
                            stack_truth.end_of(frames, sample))
        self.assertGreater(verdict.total, 50, verdict)
        self.assertEqual(verdict.counts["wrong"], 0, verdict)
        self.assertEqual(self.check_ledger(run)["samples"]["lost"], 0)
        return verdict

    def test_each_at_a_place_of_its_own(self):
        verdict = self.check_frames(20, 64)
        self.assertLessEqual(verdict.total - verdict.counts["whole"],
                             max((1 - WHOLE) * verdict.total, COLD), verdict)

    def test_replaced_now_and_then(self):
        self.check_frames(20, 1)

    def test_replaced_all_the_time(self):
        self.check_frames(10000, 4)
