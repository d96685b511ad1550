# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a run says about itself: --stats, and the pauses of the event loop."""

import json
import os

from harness import KernelTest


class Stats(KernelTest):
    def test_lines(self):
        path = os.path.join(self.folder, "stats")
        run = self.record(["timeout", "3", "sh", "-c", "while :; do :; done"],
                          ["--stats", path], status=124)
        with open(path, encoding="ascii") as file:
            lines = [json.loads(line) for line in file]
        self.assertGreaterEqual(len(lines), 2)
        for line, after in zip(lines, lines[1:]):
            self.assertGreaterEqual(after["time_s"] - line["time_s"], 0.5)
            self.assertGreaterEqual(after["cpu_s"], line["cpu_s"])
        last = lines[-1]
        self.assertGreater(last["processes"], 2)  # jitbpf and its helpers, without the command
        self.assertLess(last["cpu_s"], 2)  # the command takes three
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
