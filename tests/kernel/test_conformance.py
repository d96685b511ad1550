# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The rules of the JIT API (tests/conformance/rules.c), and random events against a
model of them, through the real shim, kernel and profiler: samples at the address
that is asked about, of the time when it is, must say just what is expected.
"""

import bisect
import collections
import gzip
import json
import os
import unittest

import harness
import recording

Query = collections.namedtuple("Query", "how pid address begin end frames about")
KERNEL = 1 << 63
START = "startTimeAsClockMonotonicNanosecondsSinceBoot"


def rule_count():
    with open(os.path.join(harness.ROOT, "tests/conformance/rules.c"), encoding="utf-8") as rules:
        return rules.read().count('\n\t{"')


def queries(run):
    out = []
    for line in run.stdout.decode().splitlines():
        how, pid, address, begin, end, frames, about = line.split("\t")
        out.append(Query(how, int(pid), int(address, 16), int(begin), int(end), frames, about))
    return out


def firefox_samples(path):
    """{(tid, time in ns): frames as rules.h writes one, with whether it is inlined, and module}"""
    with gzip.open(path) as file:
        profile = json.load(file)
    shared, out = profile["shared"], {}
    strings, frames, funcs = shared["stringArray"], shared["frameTable"], shared["funcTable"]
    stacks, start = shared["stackTable"], profile["meta"][START]

    def frame_of(number):
        func, line = frames["func"][number], frames["line"][number]
        source = funcs["source"][func]
        source = "" if source is None else strings[shared["sources"]["filename"][source]]
        text = strings[funcs["name"][func]]
        if source or line:
            text += "@" + source
        if line:
            text += f":{line}"
        module = funcs["resource"][func]
        module = "" if module < 0 else strings[shared["resourceTable"]["name"][module]]
        return text, frames["inlineDepth"][number], module

    for thread in profile["threads"]:
        for stack, time in zip(thread["samples"]["stack"], thread["samples"]["time"]):
            found = []
            while stack is not None:
                found.append(frame_of(stacks["frame"][stack]))
                offset = stacks["prefixOffset"][stack]
                stack = stack - offset if offset else None
            out[thread["tid"], start + round(time * 1e6)] = found
    return out


def text_of(frames):
    """The frames of one place, innermost first, as rules.h writes them."""
    if frames[0][0] in ("//anon", "[unknown]"):
        return "-"
    text = " < ".join(name for name, _depth, _module in frames)
    module = frames[-1][2]
    return text if module == "[jit]" else f"{text} [{module}]"


class Places:
    """What each sample says of its first two user frames: {pid: [(time, [(address, text)])]}"""

    def __init__(self, script, firefox):
        named, self.of_pid = firefox_samples(firefox), collections.defaultdict(list)
        for sample in recording.script(script):
            frames = list(zip(sample.frames, named[sample.tid, sample.time], strict=True))
            places = []
            for number, (frame, (_name, depth, _module)) in enumerate(frames):
                if frame.address >= KERNEL or depth:
                    continue
                first = number
                while first and frames[first - 1][1][1] > frames[first][1][1]:
                    first -= 1
                places.append((frame.address, text_of([f[1] for f in frames[first:number + 1]])))
            self.of_pid[sample.pid].append((sample.time, places[:2]))
        for samples in self.of_pid.values():
            samples.sort(key=lambda s: s[0])

    def answers(self, query):
        """How often the samples of a query said what."""
        out, samples = collections.Counter(), self.of_pid[query.pid]
        at = 0 if query.how == "at" else 1
        first = bisect.bisect_left(samples, query.begin, key=lambda s: s[0])
        for time, places in samples[first:]:
            if time >= query.end:
                break
            if len(places) > at and places[at][0] == query.address:
                out[places[at][1]] += 1
        return out


class Conformance(harness.KernelTest):
    def check_answers(self, asked, places):
        for query in asked:
            answers = places.answers(query)
            self.assertEqual(list(answers), [query.frames],
                             f"{query.about}: {query.how} {query.address:#x}: {answers}")

    def check_client(self, *args):
        run = self.record([harness.CONFORMANCE, *args], ["-F", "999"],
                          endings=(".jitbpf", ".txt", ".json.gz"))
        asked = queries(run)
        self.check_answers(asked, Places(run.path(".txt"), run.path(".json.gz")))
        for form, name in (("script", "again.txt"), ("firefox", "again.json.gz")):
            done = run.report("-f", form, "-o", os.path.join(self.folder, name))
            self.assertEqual(done.returncode, 0, done.stderr)
        replayed = Places(*(os.path.join(self.folder, n) for n in ("again.txt", "again.json.gz")))
        self.check_answers(asked, replayed)
        summary = self.check_ledger(run)
        self.assertEqual(summary["jit"]["sequence_gaps"], 0)
        return asked, summary

    def test_rules(self):
        asked, summary = self.check_client("rules", "12")
        self.assertEqual(len({query.about for query in asked}), rule_count())
        self.assertGreater(summary["jit"]["other_events"], 0)
        self.assertEqual(summary["jit"]["not_understood"], 1)

    def test_random(self):
        asked, _summary = self.check_client("random", "1", "25", "8")
        self.assertGreater(len({query.about for query in asked}), 250)


if __name__ == "__main__":
    unittest.main()
