# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The rules of the JIT API (tests/conformance/rules.c), and random events compared with a model of
them, through the real shim, kernel and profiler. Samples of a queried address and time must have
exactly the expected frames.
"""

import bisect
import collections
import contextlib
import gzip
import json
import os
import signal
import subprocess
import threading
import time

import engine_truth
import harness
import recording
import run_for

Query = collections.namedtuple("Query", "how pid address begin end frames about")
KERNEL = 1 << 63

ENDINGS = (".jitbpf", ".txt", ".json.gz")
START = "startTimeAsClockMonotonicNanosecondsSinceBoot"


def rule_count():
    with open(os.path.join(harness.ROOT, "tests/conformance/rules.c"), encoding="utf-8") as rules:
        return rules.read().count('\n\t{"')


def queries(stdout):
    out = []
    for line in stdout.decode().splitlines():
        how, pid, address, begin, end, frames, about = line.split("\t")
        out.append(Query(how, int(pid), int(address, 16), int(begin), int(end), frames, about))
    return out


def firefox_samples(path):
    """Returns {(tid, time in ns): frames in the format of rules.h, with inlining and module}."""
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
    """Returns the frames of one place, innermost first, in the format of rules.h."""
    if frames[0][0] == "[unknown]":
        return "-"
    text = " < ".join(name for name, _depth, _module in frames)
    module = frames[-1][2]
    return text if module == "[jit]" else f"{text} [{module}]"


class Places:
    """The first two user frames of each sample: {pid: [(time, [(address, text)])]}."""

    def __init__(self, script, firefox):
        named, self.of_pid = firefox_samples(firefox), collections.defaultdict(list)
        for sample in recording.script(script):
            names = named[sample.tid, sample.time]
            if sample.cut:
                assert names.pop()[0] == recording.CUT
            frames = list(zip(sample.frames, names, strict=True))
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
        """Returns the number of samples for each answer to a query."""
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

    def check_client(self, *args, options=()):
        run = self.record([harness.CONFORMANCE, *args], ["-F", "999", *options], endings=ENDINGS)
        asked = queries(run.stdout)
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
        asked, summary = self.check_client("random", "1", "20", "1", "8")
        self.assertGreater(len({query.about for query in asked}), 250)
        self.assertEqual(summary["jit"]["recovered"], 0)

    def test_random_lossy(self):
        """Most of each burst does not fit into the ring, and is read from the journal."""
        _asked, summary = self.check_client("random", "100", "12", "40", "8",
                                            options=("--code-ring", "4K"))
        self.assertGreater(summary["counters"]["jit_ring_full"], 500)
        self.assertGreater(summary["jit"]["recovered"], 500)
        self.assertEqual(summary["jit"]["unreadable"], 0)

    def test_threads(self):
        """16 threads call the collector for the first time at once."""
        for _ in range(3):
            asked, summary = self.check_client("threads", "16", "8")
            self.assertEqual(len({query.about for query in asked}), 16)
            self.assertEqual(summary["jit"]["methods"], 16)


class Drain(threading.Thread):
    """Reads the output of a client while it runs."""

    def __init__(self, client):
        super().__init__()
        self.client, self.told = client, b""
        self.start()

    def run(self):
        self.told = self.client.stdout.read()

    def finish(self):
        self.client.kill()
        self.join()
        return queries(self.told.rpartition(b"\n")[0])


class Steady(harness.KernelTest):
    """A process that started before the recording, and whose code does not change."""

    def start(self, seed):
        env = {**os.environ, "INTEL_JIT_PROFILER64": harness.SHIM}
        client = subprocess.Popen([harness.CONFORMANCE, "steady", str(seed), "8"], env=env,
                                  stdout=subprocess.PIPE)
        self.addCleanup(client.wait)
        self.addCleanup(client.stdout.close)
        self.addCleanup(client.kill)
        self.assertEqual(client.stdout.readline(), b"steady\n")
        return client

    def check_samples(self, run, asked):
        places = Places(run.path(".txt"), run.path(".json.gz"))
        answered = set()
        for query in asked:
            answers = places.answers(query)
            self.assertLessEqual(set(answers), {query.frames},
                                 f"{query.about}: {query.how} {query.address:#x}: {answers}")
            if answers:
                answered.add((query.how, query.address))
        self.assertGreater(len(answered), 60)

    def record_late(self, client, seconds=2.5):
        for ending in ENDINGS:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.folder, "out" + ending))
        return self.record_process(client.pid, seconds, ["-F", "999"], ENDINGS)

    def test_late(self):
        for seed in range(3):
            client = self.start(seed)
            reader = Drain(client)
            run = self.record_late(client)
            self.check_samples(run, reader.finish())
            summary = self.check_ledger(run)
            self.assertGreater(summary["jit"]["late"], 0)
            self.assertEqual(summary["jit"]["sequence_gaps"], 0)

    def test_profiler_killed(self):
        """A killed profiler leaves no probes behind, and the next one sees the same code."""
        client = self.start(7)
        reader = Drain(client)
        runs = []
        for _ in range(2):
            killed = subprocess.Popen([harness.JITBPF, "record", "-q", "-p", str(client.pid), "-o",
                                       os.path.join(self.folder, "killed.jitbpf")])
            time.sleep(1)
            killed.kill()
            self.assertEqual(killed.wait(), -signal.SIGKILL)
            runs.append(self.record_late(client, 1).summary()["jit"])
        self.check_samples(self.record_late(client), reader.finish())
        self.assertEqual(runs[0]["methods"], runs[1]["methods"])
        self.assertGreater(runs[0]["late"], 0)


class Killed(harness.KernelTest):
    def test_writers(self):
        """Processes are killed while they write their journals, and the journals are read."""
        # Always behind its rate, so that each burst loads all slots: many times the ring's
        # size.
        script = ('for i in 1 2 3 4 5 6; do python3 "$1" 0.4 "$0" storm --rate 10000000 '
                  '--slots 256 --iterations 1000000 --seconds 30; done 2>/dev/null')
        run = self.record(["bash", "-c", script, harness.ENGINE, run_for.__file__],
                          ["-F", "999", "--user-regs", "--code-ring", "4K"])
        named = {(s.tid, s.time): harness.leaf_jit(s) for s in run.script()}
        right = 0
        for sample in run.samples():
            frame = named[sample.tid, sample.time]
            if sample.regs and sample.regs[recording.R15] >> 32 == engine_truth.GENERATION_TAG \
                    and frame and frame.module in ("[jit]", "//anon"):
                generation = f"gen_{sample.regs[recording.R15] & 0xFFFFFFFF}"
                self.assertIn(frame.name, (generation, "[unknown]"))
                right += frame.name == generation
        self.assertGreater(right, 300)
        summary = self.check_ledger(run)
        self.assertGreater(summary["counters"]["jit_ring_full"], 1000)
        self.assertGreater(summary["jit"]["recovered"], 1000)
        self.assertEqual(summary["jit"]["malformed"], 0)
