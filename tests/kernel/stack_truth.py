# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The stacks that a program can have, as its first comment describes them, and the comparison with the
samples of a recording.

A line `stack: a b c` describes the stacks a, a b and a b c, from the root: each function may be the
leaf. Besides names, there are:

    f_9..f_0    f_9 f_8 ... f_0
    f*200       200 times f
    /regex/     one matching name; with `+` one or more, `*` any number, `?` one or none
    system      one or more of the C or C++ library, the linker, PLT entries or the vDSO
    ?           matches nothing: a stack that begins with it has no root

`end: cut` means that the callers cannot be determined and must not be guessed.
"""

import collections
import os
import re

import recording

SYSTEM = re.compile(r"(?:^|/)(?:libc|libm|libpthread|libdl|libstdc\+\+|libgcc_s|ld-linux-x86-64)"
                    r"[-.\d]*\.so|^\[(?:vdso|vdso32|vsyscall)\]")
LIBC_START = re.compile("__libc_(start|csu)|_start_c$")  # the latter is of musl
SUFFIX = re.compile(r"(@@?GLIBC\w*[\d.]*| \[clone [^]]*\]|\.(constprop|part|isra|cold|abi0)(\.\d+)?|"
                    r"::h[0-9a-f]{16})+$")
WORD = re.compile(r"/(?:[^/]|(?<=\\)/)*/\S?|\S+")

Step = collections.namedtuple("Step", "matches many optional name")


def is_system(frame):
    return bool(SYSTEM.search(frame.module) or LIBC_START.match(frame.name) or
                frame.name.endswith("@plt"))


def bare(name):
    """Returns a name without symbol version, clone suffix and the hash of Rust's legacy
    mangling."""
    return SUFFIX.sub("", name)


def named(name):
    return Step(lambda frame: bare(frame.name) == name, False, False, name)


def steps_of(line):
    out = []
    for word in WORD.findall(line):
        numbers = re.fullmatch(r"(\w+_)(\d+)\.\.\1(\d+)", word)
        times = re.fullmatch(r"(.+)\*(\d+)", word)
        regex = re.fullmatch(r"/(.*)/([+*?]?)", word)
        if numbers:
            name, first, last = numbers[1], int(numbers[2]), int(numbers[3])
            step = 1 if last > first else -1
            out += [named(f"{name}{n}") for n in range(first, last + step, step)]
        elif word == "?":
            out.append(Step(lambda frame: False, False, False, None))
        elif word == "system":
            out.append(Step(is_system, True, False, None))
        elif regex:
            out.append(Step(lambda frame, regex=re.compile(regex[1]): bool(regex.search(frame.name)),
                            regex[2] in ("+", "*"), regex[2] in ("?", "*"), None))
        elif times:
            out += [named(times[1])] * int(times[2])
        else:
            out.append(named(word))
    return out


def follow(steps, frames, at_root):
    """Returns whether the frames, outermost first, match the steps: from the first one, or from
    any."""

    def reach(places):
        """Returns the possible positions of the next frame, skipping optional steps."""
        out = set()
        for place in places:
            out.add(place)
            while place < len(steps) and steps[place].optional:
                place += 1
                out.add(place)
        return out

    places = reach({0} if at_root else set(range(len(steps))))
    for frame in frames:
        matched = {p for p in places if p < len(steps) and steps[p].matches(frame)}
        places = reach({p + 1 for p in matched} | {p for p in matched if steps[p].many})
        if not places:
            return False
    return True


def program(path, end=None):
    """Reads a program's stacks from its source file; `end` replaces the end given there."""
    text = open(path, encoding="utf-8").read()
    lines = re.findall(r"^[ /!*\t]*\bstack:\s*(.*)$", text, re.M)
    said = re.search(r"^[ /!*\t]*\bend:\s*(\w+)", text, re.M)
    return Program(lines, end or (said[1] if said else "root"))


class Program:
    """The stacks that a program can have."""

    def __init__(self, lines, end="root"):
        assert lines
        self.stacks, self.end = [steps_of(line) for line in lines], end
        self.functions = {step.name for steps in self.stacks for step in steps} - {"_start", None}
        self.judged = {}

    def is_before_main(self, frames):
        """Startup code of the linker and libc: such a stack only has to be complete."""
        return all(is_system(f) or (f.name != "[unknown]" and f.module.startswith("/") and
                                    bare(f.name) not in self.functions) for f in frames)

    def follows(self, frames, at_root):
        return any(follow(steps, frames, at_root) for steps in self.stacks)

    def can_be_leaf(self, frame):
        return any(step.matches(frame) for steps in self.stacks for step in steps)

    def judge(self, frames, sample):
        """Returns `whole`, `deep`, `cut`, `missed` or `wrong` for the user frames, innermost first.

        `missed` is a wrong guess that is marked as a guess: the leaf's caller is missing.
        """
        end = end_of(frames, sample)
        key = (end, sample.guessed, *((frame.name, frame.module) for frame in frames))
        if key not in self.judged:
            self.judged[key] = self.judge_new(frames[::-1], end, sample.guessed)
        return self.judged[key]

    def judge_new(self, frames, end, guessed):
        at_root = end == recording.END_ROOT
        if self.is_before_main(frames) or self.follows(frames, at_root):
            if end == recording.END_DEPTH:
                return "deep"
            return "whole" if at_root else "cut"
        if guessed and self.can_be_leaf(frames[-1]) and self.follows(frames[:-1], at_root):
            return "missed"
        return "wrong"


class Verdict:
    """The results for the samples of one program."""

    def __init__(self, name):
        self.name, self.counts, self.examples = name, collections.Counter(), {}
        self.ends = collections.Counter()

    def add(self, verdict, frames, end):
        self.counts[verdict] += 1
        if verdict != "whole":
            stack = ";".join(frame.name for frame in reversed(frames))
            self.ends[verdict, end] += 1
            self.examples.setdefault((verdict, end), collections.Counter())[stack] += 1

    @property
    def total(self):
        return self.counts.total()

    def share(self, verdict):
        return self.counts[verdict] / self.total if self.total else 0

    def __str__(self):
        out = [f"{self.name}: {self.total} samples, " +
               ", ".join(f"{100 * self.share(v):.2f}% {v}" for v in self.counts)]
        for (verdict, end), stacks in self.examples.items():
            for stack, count in stacks.most_common(3):
                if len(stack) > 600:
                    stack = f"{stack[:300]} ... {stack[-300:]}"
                out.append(f"  {count} {verdict}, end {end}: {stack}")
        return "\n".join(out)


def user_frames(sample):
    return [frame for frame in sample.frames if frame.address < 1 << 63]


def end_of(frames, sample):
    """Returns how a stack ended: by its walk, or at a caller in unmapped memory."""
    return sample.end if len(frames) == sample.user_words else recording.END_BAD_FRAME


def verdicts(run, programs):
    """Returns {comm: Verdict} for the samples of a run, by the comm of a program."""
    samples = {(s.tid, s.time): s for s in run.samples()}
    out = {os.path.basename(comm)[:15]: Verdict(comm) for comm in programs}
    sources = {os.path.basename(comm)[:15]: program for comm, program in programs.items()}
    for sample in run.script():
        frames = user_frames(sample)
        if sample.comm not in out or not frames:
            continue
        recorded = samples[sample.tid, sample.time]
        out[sample.comm].add(sources[sample.comm].judge(frames, recorded), frames,
                              end_of(frames, recorded))
    return out
