# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a run says about itself: --stats, and the pauses of the event loop."""

import json
import os

from harness import ENGINE, KernelTest


class Stats(KernelTest):
    @staticmethod
    def cpu_of_children():
        times = os.times()
        return times.children_user + times.children_system

    def test_lines(self):
        path = os.path.join(self.folder, "stats")
        before = self.cpu_of_children()
        run = self.record([ENGINE, "hot", "--seconds", "3"], ["--stats", path])
        both = self.cpu_of_children() - before
        with open(path, encoding="ascii") as file:
            lines = [json.loads(line) for line in file]
        self.assertGreaterEqual(len(lines), 2)
        for line, after in zip(lines, lines[1:]):
            self.assertGreaterEqual(after["time_s"] - line["time_s"], 0.5)
            self.assertGreaterEqual(after["cpu_s"], line["cpu_s"])
        last = lines[-1]
        self.assertGreater(last["processes"], 2)  # jitbpf and its helpers, without the command
        # Without the command, which takes at least three.
        self.assertLess(last["cpu_s"], both - 2.9)
        self.assertGreater(last["rss_bytes"], 1 << 20)
        self.assertGreater(last["descriptors"], 10)
        self.assertGreater(last["modules"], 1)
        counters = run.summary()["counters"]
        longest = max(line["loop_pause_ms"] for line in lines)
        self.assertGreater(longest, 0)
        self.assertGreaterEqual(counters["loop_longest_ms"], int(longest))
        self.assertEqual(os.stat(path).st_nlink, 1)

    def test_rotated(self):
        path = os.path.join(self.folder, "stats")
        self.record(["sleep", "2.5"], ["--stats", path, "--rotate", "1"], endings=(".jitbpf",))
        with open(path, encoding="ascii") as file:
            self.assertGreaterEqual(len(file.readlines()), 2)
