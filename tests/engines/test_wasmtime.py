# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""wasmtime: modules at addresses of earlier ones, and two engines, one of which ends first."""

import re
import unittest

import harness
import published
import recording

LOAD, UNLOAD, SHUTDOWN = 3, 4, 2
PHASES = 8


class Wasmtime(harness.KernelTest):
    def setUp(self):
        super().setUp()
        self.run_ = self.record(published.command("wasmtime_engines.py", 4, PHASES),
                                ["-F", "999"])
        self.phases = [tuple(map(int, line.split())) for line in self.run_.stdout.splitlines()]

    def check_events(self):
        """Checks that the program did what the test needs."""
        events = recording.jit_events(self.run_.path(".jitbpf"))
        kinds = [event.event for event in events]
        self.assertNotIn(UNLOAD, kinds)
        self.assertIn(LOAD, kinds[kinds.index(SHUTDOWN):])
        loads = [event for event in events if event.event == LOAD]
        self.assertTrue(any(a.end == b.start for a, b in zip(loads, loads[1:])))
        by_start = {}
        for load in loads:
            by_start.setdefault(load.start, set()).add(load.name)
        self.assertTrue(any({f"spin_{number}" for number in range(3, 6)} <= names
                            for names in by_start.values()))

    def test_phases(self):
        self.check_events()
        self.assertEqual(len(self.phases), PHASES)
        seen, whole = dict.fromkeys(range(1, PHASES + 1), 0), 0
        for sample in self.run_.script():
            jit = [frame.name for frame in published.user_frames(sample)
                   if frame.module == "[jit]"]
            numbers = {int(number) for name in jit
                       for number in re.findall(r"wasmtime::(?:spin|outer)_(\d+)$", name)}
            current = {number for number, began, ended in self.phases
                       if began <= sample.time < ended}
            self.assertLessEqual(numbers, current, sample)
            if jit and current:
                # Complete to wasmtime's own caller, except at the few instructions where a
                # function has no frame yet, or not any more.
                (number,) = current
                seen[number] += 1
                whole += jit == [f"wasmtime::spin_{number}", f"wasmtime::outer_{number}",
                                 "wasmtime::wasm[0]::array_to_wasm_trampoline[1]"]
        self.assertGreater(whole, 0.95 * sum(seen.values()))
        self.assertGreater(min(seen.values()), 20, seen)
        self.assertEqual(self.check_ledger(self.run_)["samples"]["lost"], 0)


class Mixed(harness.KernelTest):
    """An engine that publishes nothing gets the memory of one that does."""

    def test_phases(self):
        run = self.record(published.command("wasmtime_mixed.py", 4, 16), ["-F", "999"])
        phases = [tuple(map(int, line.split())) for line in run.stdout.splitlines()]
        loads = [event for event in recording.jit_events(run.path(".jitbpf"))
                 if event.event == LOAD]
        named = unnamed = reused = unknown = 0
        for sample in run.script():
            current = [phase for phase in phases if phase[2] <= sample.time < phase[3]]
            if not current:
                continue
            ((number, is_published, _, _),) = current
            frames = published.user_frames(sample)
            numbers = {int(match) for frame in frames
                       for match in re.findall(r"wasmtime::(?:spin|outer)_(\d+)$", frame.name)}
            self.assertLessEqual(numbers, {number} if is_published else set(), sample)
            anonymous = frames and frames[0].module in ("//anon", "[unknown]")
            if is_published:
                named += bool(numbers)
                unnamed += bool(anonymous)
            elif anonymous:
                unknown += 1
                reused += any(load.start <= frames[0].address < load.end for load in loads)
        self.assertGreater(named, 1000)
        self.assertGreater(named, 0.95 * (named + unnamed), (named, unnamed))
        self.assertGreater(reused, 0.5 * unknown, (reused, unknown))
        self.check_ledger(run)


if __name__ == "__main__":
    unittest.main()
