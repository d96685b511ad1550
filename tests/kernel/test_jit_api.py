# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The events of the JIT API through shim, probe and pipeline, and their effect on samples."""

import os

import harness

# One function, which is rewritten and reported in another way each time. Nearly all samples are in
# its loop, in bytes 8 to 56.
SCRIPT = """
code @0 1
inline 3 2 leaf @8 48 - leaf.js
lines 56:70
inline 2 1 mid @4 56 K mid.js
lines 30:7 56:7 64:8
v2 1 top @0 64 Cls top.js mod
run @0 300
update 1 @0 64
run @0 300
code @0 2
v3 4 narrow @0 64 - - mod 1
run @0 300
load 7 registered 0 64 - registered.js
code @0 1
load 7 loaded @0 64
run @0 300
code @0 2
load 9 _ZN8__main__3hotB2v1B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dE5ArrayIdLi1E1C7mutable7alignedE @0 64
run @0 300
unload 9
run @0 300
"""


class JitApi(harness.KernelTest):
    ENGINE = harness.ENGINE

    def test_script(self):
        path = os.path.join(self.folder, "script")
        with open(path, "w", encoding="utf-8") as out:
            out.write(SCRIPT)
        run = self.record([self.ENGINE, "api", "--file", path], ["-F", "999", "--merge=tables"],
                          endings=(".jitbpf", ".folded"))
        inside = {}
        for stack, count in run.folded().items():
            frames = [f for f in stack.split(";") if not f.endswith("_[k]")]
            if "do_run" in frames:
                called = ";".join(frames[frames.index("do_run") + 2:])
                inside[called] = inside.get(called, 0) + count
        wanted = {"Cls::top_[j];K::mid_[i];leaf_[i]", "Cls::top_[j]", "narrow_[j]", "registered_[j]",
                  "__main__::hot(Array<double, 1, C>)_[j]", "[unknown]"}
        # The code reported for the loop, and besides it only the first and last bytes.
        self.assertLessEqual(wanted, set(inside))
        self.assertGreater(sum(inside[stack] for stack in wanted), 0.95 * sum(inside.values()),
                           inside)
        jit = self.check_ledger(run)["jit"]
        self.assertEqual((jit["methods"], jit["inlines"], jit["updates"], jit["unloads"]),
                         (4, 2, 1, 1))
        self.assertEqual((jit["invalid"], jit["other_events"]), (0, 1))
        self.assertEqual(jit["inline_no_parent"], 0)
        text = run.report("-f", "script", "--fields=+srcline").stdout.decode(errors="replace")
        for line in ("top.js:7", "mid.js:70", "(mod)", "(mod (32-bit))"):
            self.assertIn(line, text)

    def test_line_offsets(self):
        """With an explicit rule, the same table has no line for the loop."""
        path = os.path.join(self.folder, "script")
        with open(path, "w", encoding="utf-8") as out:
            out.write("code @0 1\nlines 62:7 64:8\nv2 1 top @0 64 - top.js mod\nrun @0 300\n")
        run = self.record([self.ENGINE, "api", "--file", path], ["-F", "999"])
        for options, found in (((), True), (("--line-offsets=mod=start",), False),
                               (("--line-offsets=mod=end",), True),
                               (("--line-offsets=other=start",), True)):
            done = run.report("-f", "script", "--fields=+srcline", *options)
            self.assertEqual(b"top.js:7" in done.stdout, found, options)
        self.assertEqual(run.report("--line-offsets=mod").returncode, 2)


class OnMusl(JitApi):
    """The shim and the engine in a process with musl, which loads no library that needs glibc."""
    ENGINE = harness.ENGINE_MUSL
