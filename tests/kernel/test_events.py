# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Events beside CPU time: page faults and context switches (record -e)."""

import json
import os
import subprocess
import unittest

import harness
import recording

SOURCE = os.path.join(harness.ROOT, "tests/programs/workloads/events.c")
PAGES, ROUNDS = 200000, 50000
# Periods that are no multiples of what the program does alternately.
FAULTS, SWITCHES = "page-faults:97", "context-switches:37"


class Events(harness.KernelTest):
    def setUp(self):
        super().setUp()
        self.program = os.path.join(self.folder, "events")
        subprocess.run(["gcc", "-O1", "-g", "-o", self.program, SOURCE], check=True)

    def record_work(self, *options, pages=PAGES, rounds=ROUNDS):
        """Returns the Run, and what the kernel has counted for the program."""
        run = self.record([self.program, str(pages), str(rounds)], options,
                          endings=(".jitbpf",))
        faults, switches, cpu_ns = map(int, run.stdout.split())
        return run, {"page-faults": faults, "context-switches": switches, "cpu-time": cpu_ns}

    def shown(self, run, event):
        done = run.report("-e", event, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def assert_fates(self, summary):
        """The fates add up, in total, by process, and to the count of the BPF program."""
        fates = ("resolved", "code_unknown", "stack_cut", "lost")
        for samples in (summary["samples"], *(p["samples"] for p in summary["processes"])):
            self.assertEqual(samples["taken"], sum(samples[fate] for fate in fates))
        self.assertEqual(summary["samples"]["taken"],
                         sum(p["samples"]["taken"] for p in summary["processes"]))
        self.assertEqual(summary["samples"]["taken"], summary["counters"]["samples_taken"],
                         summary["run"]["event"])
        self.assertEqual(summary["malformed_records"], 0)

    def share_in(self, run, event, functions):
        """The share of the event's samples that are in the functions."""
        path = os.path.join(self.folder, "shown.folded")
        done = run.report("-e", event, "-o", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        stacks = recording.folded(path)
        inside = sum(count for stack, count in stacks.items() if functions & set(stack.split(";")))
        return inside / sum(stacks.values())

    def test_weights(self):
        """The weights add up to what the kernel has counted, in the functions that cause it."""
        run, truth = self.record_work("-e", f"{FAULTS},{SWITCHES}")
        events = {event["name"]: event for event in run.summary()["events"]}
        self.assertEqual(list(events), ["cpu-time", "page-faults", "context-switches"])
        self.assertGreaterEqual(truth["page-faults"], PAGES, truth)
        self.assertGreaterEqual(truth["context-switches"], ROUNDS, truth)
        for name in ("page-faults", "context-switches"):
            self.assertAlmostEqual(events[name]["weight"] / truth[name], 1, delta=0.05,
                                   msg=(name, events, truth))
        self.assertGreater(self.share_in(run, "page-faults", {"touch_pages"}), 0.97)
        self.assertGreater(self.share_in(run, "context-switches", {"ping", "pong"}), 0.97)
        for name in events:
            self.assert_fates(self.shown(run, name))
        for name, unit in (("page-faults", "faults"), ("context-switches", "switches")):
            shown = self.shown(run, name)
            self.assertEqual((shown["run"]["event"], shown["run"]["unit"]), (name, unit))
            self.assertEqual(shown["samples"]["taken"], events[name]["samples"])
        self.assertNotIn("unit", run.summary()["run"])
        # In the recording, an independent reader sees the same.
        samples = run.samples()
        for number, event in enumerate(events.values()):
            self.assertEqual(sum(sample.event == number for sample in samples),
                             event["samples"] - event["lost"])

    def test_cpu_time_is_unaffected(self):
        """As many samples for the CPU time that the program takes as without other events."""
        ratios = []
        for options in ((), ("-e", "page-faults,context-switches,cpu-migrations,minor-faults")):
            run, truth = self.record_work("-F", "997", *options, pages=2 * PAGES)
            summary = run.summary()
            self.assert_fates(summary)
            self.assertEqual("events" in summary, bool(options))
            self.assertEqual(summary["run"]["freq_hz"], 997)
            ratios.append(summary["samples"]["taken"] / truth["cpu-time"])
        self.assertAlmostEqual(ratios[1] / ratios[0], 1, delta=0.15, msg=ratios)

    def test_lost_samples(self):
        """Samples without room in the ring are counted by event."""
        run, _truth = self.record_work("--sample-ring", "4096", "-e", "page-faults:1",
                                       "-e", "context-switches:1", pages=30000, rounds=10000)
        events = {event["name"]: event for event in run.summary()["events"]}
        self.assertGreater(events["page-faults"]["lost"], 0, events)
        self.assertGreater(events["context-switches"]["lost"], 0, events)
        for name, event in events.items():
            shown = self.shown(run, name)
            self.assert_fates(shown)
            self.assertEqual(shown["samples"]["lost"], event["lost"], name)
        # Each sample has the weight 1, and lost ones count.
        self.assertGreaterEqual(events["page-faults"]["weight"], 30000, events)

    def test_outputs_show_one_event(self):
        run = self.record([self.program, str(PAGES), "0"],
                          ("-e", FAULTS, "--show-event", "page-faults"),
                          endings=(".jitbpf", ".folded", ".txt"))
        stacks = run.folded()
        inside = sum(count for stack, count in stacks.items() if "touch_pages" in stack)
        self.assertGreater(inside / sum(stacks.values()), 0.97)
        self.assertEqual(sum(stacks.values()), len(run.script()))
        with open(run.path(".txt"), encoding="utf-8") as file:
            self.assertIn(" page-faults: ", file.read())
        self.assertRegex(run.stderr, r"samples of page-faults: [\d,]+ faults \(shown here\)")
        for format_ in ("html", "pprof", "firefox", "speedscope", "top", "summary", "script"):
            done = run.report("-e", "page-faults", "-f", format_, "-o",
                              os.path.join(self.folder, "shown." + format_))
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_usage(self):
        """Errors say what is possible."""
        for options, said in (
                (("-e", "page-fault"), r"unknown event 'page-fault': use page-faults, .*"
                                       r"cpu-migrations"),
                (("-e", "cycles"), "CPU time is always sampled"),
                (("-e", "page-faults:0"), "the period must be a number from 1"),
                (("-e", "page-faults,page-faults"), "given twice"),
                (("-e", ""), "unknown event ''"),
                (("--show-event", "page-faults"), "this run does not sample it")):
            done = subprocess.run([harness.JITBPF, "record", *options, "--", "true"],
                                  cwd=self.folder, capture_output=True, check=False)
            self.assertEqual(done.returncode, 2, options)
            self.assertRegex(done.stderr.decode(), said)
        run = self.record([self.program, "1000", "0"], ("-e", "page-faults"),
                          endings=(".jitbpf",))
        done = run.report("-e", "context-switches")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(),
                         r"has no event 'context-switches': use -e cpu-time, page-faults$")


if __name__ == "__main__":
    unittest.main()
