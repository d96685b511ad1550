# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Java: code that the JVM itself changes keeps its names, and they are those that the JVM logs."""

import collections
import os
import re
import time
import unittest

import harness
import jdks

AGENT = os.path.join(os.path.dirname(harness.SHIM), "libjitbpf-jvmti.so")
SOURCE = os.path.join(harness.ROOT, "tests/programs/workloads/Patches.java")
SECONDS = "5"

# A small heap is below 4 GB, and is collected often.
HEAP = "-Xmx192m"
LOG = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+LogCompilation"]

# The log has the time of a method in ms; the method is in force a moment later.
NEAR_S = 0.2

Method = collections.namedtuple("Method", "start end since name")
Verdicts = collections.namedtuple("Verdicts", "right unknown wrong")


def plain(name):
    """A name without what differs between the log and JVMTI: addresses of hidden classes, and the
    kind of a linker, for which the JVM has one method ID."""
    name = re.sub(r"[./+]0x[0-9a-f]+", "", name.replace("/", "."))
    return re.sub(r"(\.MethodHandle)\.(linkTo\w+|invokeBasic)$", r"\1.linker", name)


class Compiled:
    """The methods that the JVM has compiled, from its log of compilations."""

    def __init__(self, path):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        to_monotonic = time.clock_gettime(time.CLOCK_MONOTONIC) - time.time()
        start = int(re.search(r"<hotspot_log .*?time_ms='(\d+)'", text)[1]) / 1000 + to_monotonic
        self.pages, self.count = collections.defaultdict(list), 0
        for match in re.finditer(r"<nmethod ([^>]*)/>", text):
            has = dict(re.findall(r"(\w+)='([^']*)'", match[1]))
            words = has["method"].replace("&lt;", "<").replace("&gt;", ">").split(" ")
            address, size = int(has["address"], 16), int(has["size"])
            method = Method(address, address + size, start + float(has["stamp"]),
                            plain(f"{words[0]}.{words[1]}"))
            for page in range(method.start >> 12, (method.end >> 12) + 1):
                self.pages[page].append(method)
            self.count += 1

    def names(self, address, when):
        """Returns the names that the code at an address may have had at a time."""
        at = sorted((method for method in self.pages[address >> 12]
                     if method.start <= address < method.end), key=lambda method: method.since)
        before = [method for method in at if method.since <= when]
        return ({method.name for method in at if abs(method.since - when) < NEAR_S} |
                {method.name for method in before[-1:]})


@unittest.skipUnless(os.path.exists(AGENT), "built without a JDK: there is no libjitbpf-jvmti.so")
class Patches(harness.KernelTest):
    def setUp(self):
        super().setUp()
        self.compile_java([SOURCE])

    @staticmethod
    def judge(script, compiled):
        """Returns the numbers of innermost frames in compiled methods, and of callers, by name;
        and a few that are wrong."""
        counts, wrong = {True: collections.Counter(), False: collections.Counter()}, []
        for sample in script:
            # The frames of inlined methods come before that of the method that has them.
            frames = [frame for frame in sample.frames
                      if frame.address < 1 << 63 and frame.module != "inlined"]
            for i, frame in enumerate(frames):
                names = compiled.names(frame.address - bool(i), sample.time / 1e9)
                if not names:
                    continue
                name = plain(frame.name)
                verdict = ("unknown" if frame.module in ("[unknown]", "//anon") else
                           "right" if name in names else "wrong")
                counts[not i][verdict] += 1
                if verdict == "wrong":
                    wrong.append((sample.time, hex(frame.address), name, names))
        leaves, callers = (Verdicts(*(counts[leaf][verdict] for verdict in Verdicts._fields))
                           for leaf in (True, False))
        return leaves, callers, wrong[:5]

    def check(self, *options, jdk=jdks.JDK):
        log = os.path.join(self.folder, "compiled.log")
        run = self.record([os.path.join(jdk, "bin/java"), HEAP, *options, *LOG,
                           f"-XX:LogFile={log}", "-cp", self.folder, "Patches", SECONDS],
                          ["-F", "1999"])
        summary, compiled = self.check_ledger(run), Compiled(log)
        leaves, callers, wrong = self.judge(run.script(), compiled)
        seen = f"{options} {compiled.count} {leaves} {callers}\n{wrong}\n{run.stderr}"
        self.assertGreater(compiled.count, 1500, seen)
        self.assertGreater(leaves.right, 400, seen)
        self.assertGreater(callers.right, 10000, seen)
        self.assertEqual((leaves.wrong, callers.wrong), (0, 0), seen)
        # The rest is code that ended before it could be compared.
        self.assertLess(leaves.unknown, 0.003 * sum(leaves), seen)
        self.assertLess(callers.unknown, 0.001 * sum(callers), seen)
        self.assertLess(summary["jit"]["replaced_samples"], 0.002 * summary["samples"]["taken"],
                        seen)
        self.assertEqual(summary["jit"]["replaced"], 0, seen)

    @harness.slow
    def test_serial(self):
        self.check("-XX:+UseSerialGC")

    @harness.slow
    def test_parallel(self):
        self.check("-XX:+UseParallelGC")

    def test_g1(self):
        self.check("-XX:+UseG1GC")

    @harness.slow
    def test_z(self):
        """Call sites change; objects have no compressed addresses."""
        self.check("-XX:+UseZGC", "-Xmx512m")

    @harness.slow
    @jdks.needs_jdk_25
    def test_jdk_25(self):
        self.check("-XX:+UseParallelGC", jdk=jdks.JDK_25)


if __name__ == "__main__":
    harness.main()
