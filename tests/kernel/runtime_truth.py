# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stacks of programs whose callers are known: python_frames.py, php_frames.php, ruby_frames.rb and perl_frames.pl. A
function NAME__CALLER is called by CALLER, or by itself, only. Frames of other files may lie between both."""

import collections
import os
import re

FRAME = re.compile(r"\t\s*[0-9a-f]+ (?P<name>.*?)(?:\+0x[0-9a-f]+)?"
                   r" \((?P<module>[^()]*(?:\([^()]*\)[^()]*)*)\)(?: \[[^\]]*\])?( \(inlined\))?$")
HEAD = re.compile(r".*? (?P<pid>\d+)/\d+ +\[\d+\]")
UNKNOWN = re.compile(r"\[unknown \w+ function\]")
CLOSURE = re.compile(r"\{closure:[^}]*\}")  # from PHP 8.4 on, with its place
PLACE = re.compile(r"  (?P<file>.*?)(?::(?P<line>\d+))?$")
Frame = collections.namedtuple("Frame", "name module file line")


def samples(path):
    """Yields (comm, pid, frames) of each sample of a script with the field srcline, innermost
    first."""
    comm, pid, frames = None, None, []
    for line in open(path, encoding="utf-8", errors="replace"):
        line = line.rstrip("\n")
        if line.startswith("\t"):
            match = FRAME.match(line)
            frames.append(Frame(CLOSURE.sub("{closure}", match["name"]), match["module"], "", 0) if match
                          else Frame(line.strip(), "", "", 0))
        elif line.startswith("  ") and frames:
            match = PLACE.match(line)
            frames[-1] = frames[-1]._replace(file=match["file"], line=int(match["line"] or 0))
        elif line:
            if comm is not None:
                yield comm, pid, frames
            comm, frames = line.split()[0], []
            pid = HEAD.match(line)["pid"]
    if comm is not None:
        yield comm, pid, frames


def stacks(path):
    """The same without the pid."""
    return ((comm, frames) for comm, _, frames in samples(path))


def shown_by_process(path, loop):
    """Returns a list for each process with samples in a runtime's loop, in the order of their first
    ones: for each such sample, whether it shows functions of the runtime."""
    found = {}
    for _, pid, frames in samples(path):
        shown = any(frame.module in ("[python]", "[php]", "[ruby]", "[perl]") for frame in frames)
        if shown or any(frame.name.startswith(loop) for frame in frames):
            found.setdefault(pid, []).append(shown)
    return list(found.values())


def own_name(name):
    """The name of a function, without its class and the functions that it was defined in; of a
    block of Ruby, the name of its method; of JavaScript, without its place and "get"."""
    name = re.sub(r" \S*:\d+:\d+$", "", name).removeprefix("get ")
    return re.split(r"\.|::|#| in ", name)[-1]


class Verdict:
    """Counts of samples. `wrong` has examples of stacks that are impossible, and of lines that are
    not in their function."""

    def __init__(self):
        self.samples = self.visible = self.whole = self.frames = self.lines = 0
        self.unknown = 0  # samples with an unknown function of the runtime
        self.wrong = []

    def __str__(self):
        return (f"{self.samples} samples, visible {share(self.visible, self.samples)}, whole "
                f"{share(self.whole, self.samples)}, with an unknown function "
                f"{share(self.unknown, self.samples)}, {self.frames} frames, "
                f"{share(self.lines, self.frames)} with a line, {len(self.wrong)} wrong")


def share(part, whole):
    return f"{100 * part / max(whole, 1):.2f} %"


def functions_of(source):
    """Returns {name: (first line, last line)} of the functions of a script."""
    text, out, name = open(source, encoding="utf-8").read().splitlines(), {}, None
    for number, line in enumerate(text, 1):
        match = re.match(r"\s*(?:async |public |static )*(?:def|function|sub) (?:self\.)?(\w+)", line)
        if match:
            name = match[1]
            out[name] = (number, number)
        elif name and (line[:1] in (" ", "\t", "{", "}") or line == "end"):
            out[name] = (out[name][0], number)
        elif line.strip():
            name = None
    return out


def check_pairs(verdict, frames, source):
    """An unknown function may be any, and anybody can call `__init__`."""
    own = [frame for frame in frames if frame.file.startswith(source) or UNKNOWN.match(frame.name)]
    names = [own_name(frame.name) for frame in own]
    for callee, caller in zip(names, names[1:]):
        wanted = "" if callee.startswith("__") else callee.partition("__")[2]
        if (wanted and callee != caller and caller.partition("__")[0] != wanted
                and not UNKNOWN.match(caller)):
            verdict.wrong.append((callee, caller, names))


def check_lines(verdict, frames, source, functions):
    """A frame that has just begun is at the line of its decorator."""
    for frame in frames:
        first, last = functions.get(own_name(frame.name), (0, 1 << 30))
        if frame.line and frame.file == source and not first - 1 <= frame.line <= last:
            verdict.wrong.append((frame.name, frame.line, (first, last)))


def check(verdict, frames, source, functions, tops):
    """Counts the stack of one sample of a process that has run the source."""
    own = [frame for frame in frames if frame.file.startswith(source)]
    verdict.samples += 1
    verdict.unknown += any(UNKNOWN.match(frame.name) for frame in frames)
    verdict.visible += bool(own)
    verdict.whole += bool(own) and any(top in own[-1].name for top in tops)
    verdict.frames += len(own)
    verdict.lines += sum(frame.line > 0 for frame in own)
    check_pairs(verdict, frames, source)
    check_lines(verdict, own, source, functions)


def verdict_of(path, source, comms, tops):
    """Checks the samples of the processes with these names, from the first with a function of the
    source to the last: not those of the start and the end of a runtime."""
    functions, verdict, behind = functions_of(source), Verdict(), []
    for comm, frames in stacks(path):
        if os.path.basename(comm) not in comms:
            continue
        behind.append(frames)
        if any(frame.file.startswith(source) for frame in frames):
            for stack in behind if verdict.samples else behind[-1:]:
                check(verdict, stack, source, functions, tops)
            behind = []
    return verdict
