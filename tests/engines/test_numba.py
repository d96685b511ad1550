# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""numba: lines (with --jit-debug), names, and functions of parent and child with the same ids."""

import bisect
import collections
import re
import subprocess
import unittest

import harness
import published
import recording

ARRAY = "Array<double, 1, C>"


def line_rows(path):
    """Returns (addresses, lines) of an object file's line table, as LLVM reads it."""
    text = subprocess.run(["llvm-dwarfdump", "--debug-line", path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    rows = [(int(address, 16), int(line)) for address, line in
            re.findall(r"^0x([0-9a-f]+) +(\d+) ", text, re.MULTILINE)]
    return [row[0] for row in rows], [row[1] for row in rows]


def marked_lines(path, *marks):
    return [number for mark in marks for number, line in enumerate(open(path, encoding="utf-8"), 1)
            if line.rstrip().endswith("# " + mark)]


class Lines(harness.KernelTest):
    def test_every_sample(self):
        command = published.command("numba_lines.py", 4, self.folder + "/hot.o")
        run = self.record(command, ["-F", "999", "--jit-debug"])
        addresses, lines = line_rows(self.folder + "/hot.o")
        text = run.report("-f", "script", "--fields=+srcline").stdout.decode(errors="replace")
        hot = rf"^\t *[0-9a-f]+ {re.escape(f'__main__::hot({ARRAY}, long long)')}\+0x"
        seen = collections.Counter()
        for offset, file, line in re.findall(
                rf"{hot}([0-9a-f]+) \(\[jit\]\)\n  ([\w.]+)(?::(\d+))?\n", text, re.MULTILINE):
            truth = lines[bisect.bisect_right(addresses, int(offset, 16)) - 1]
            self.assertEqual((file, int(line or 0)), ("numba_lines.py", truth), offset)
            seen[truth] += 1
        self.assertEqual(sum(seen.values()), len(re.findall(hot, text, re.MULTILINE)))
        divide, root = marked_lines(command[1], "divide", "root")
        self.assertGreater(seen[divide], 100)
        self.assertGreater(seen[root], 100)
        self.assertGreater(seen[divide] + seen[root], 0.5 * sum(seen.values()))
        self.assertEqual(self.check_ledger(run)["samples"]["lost"], 0)


class Fork(harness.KernelTest):
    def test_same_ids(self):
        run = self.record(published.command("numba_fork.py", 4), ["-F", "999"])
        parent, child = map(int, run.stdout.split())
        ids = {parent: {}, child: {}}
        for event in recording.jit_events(run.path(".jitbpf")):
            ids[event.pid][event.id] = event.name
        common = {i for i in ids[parent].keys() & ids[child].keys()
                  if "in_parent" in ids[parent][i] and "in_child" in ids[child][i]}
        self.assertTrue(common, "the ids are to be the same")
        seen = collections.Counter()
        for sample in run.script():
            for frame in published.user_frames(sample):
                if frame.module == "[jit]":
                    seen[sample.pid, frame.name.partition("(")[0]] += 1
        for pid, own, other in ((parent, "in_parent", "in_child"),
                                (child, "in_child", "in_parent")):
            self.assertGreater(seen[pid, f"__main__::{own}"], 50, seen)
            self.assertGreater(seen[pid, "__main__::before"], 50, seen)
            self.assertEqual(seen[pid, f"__main__::{other}"], 0, seen)
        self.assertEqual(self.check_ledger(run)["samples"]["lost"], 0)


class Names(harness.KernelTest):
    def test_inlined(self):
        """As numba compiles them by itself: some are inlined into their wrappers."""
        self.check(("__gufunc__.__main__::general(Array<double, 1, A>, Array<double, 1, A>)",
                    f"__main__::outer::<locals>::inner({ARRAY})"), (), ())

    def test_kinds(self):
        self.check((f"__main__::outer::<locals>::inner({ARRAY})",
                    "__ufunc__.__main__::vector(double, double)",
                    "__main__::count(DictType[int64,int64]<iv=None>, Tuple<long long, double>)"),
                   (r"__main__::general\(Array<double, 1, A>, Array<double, 1, A>\)$",
                    r"__main__::Sum::add\(instance::jitclass::Sum.*<total:float64>, .*\)$"),
                   ("--jit-debug",))

    def check(self, expected, patterns, options):
        run = self.record(published.command("numba_kinds.py", 4), ["-F", "999", *options])
        names = {frame.name for sample in run.script() for frame in sample.frames
                 if frame.module == "[jit]"}
        self.assertLessEqual(set(expected), names)
        for pattern in patterns:
            self.assertTrue(any(re.match(pattern, name) for name in names), (pattern, names))
        for name in names:
            self.assertNotRegex(name, r"_Z|\[abi:|_3c|_5b|_28")


if __name__ == "__main__":
    unittest.main()
