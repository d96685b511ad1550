# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A program and a shim of different versions side by side: both go on, and a line says why code has
no name."""

import json
import os
import subprocess

import harness

# Its records and its journal have another version than this program's.
LATER_SHIM = os.path.join(harness.BUILD, "tests/programs/workloads/later-shim/libjitbpf.so")
LINE = r"{} +JIT: events and journals of another version of jitbpf\n +next: start the process anew"


class Versions(harness.KernelTest):
    def check(self, run, counted):
        """The engine with this version's shim is named, the other one is not."""
        by_name = {p["comm"]: p for p in run.summary()["processes"]}
        same, later = by_name["same"], by_name["later"]
        self.assertGreater(same["samples"]["resolved"], 0.9 * same["samples"]["taken"])
        self.assertGreater(later["samples"]["code_unknown"], 0.9 * later["samples"]["taken"])
        self.assertEqual((same["jit"]["other_version"], same["jit"]["methods"]), (0, 1))
        self.assertEqual((later["jit"]["other_version"], later["jit"]["methods"]), (counted, 0))
        self.assertEqual((later["jit"]["malformed"], later["jit"]["unreadable"]), (0, 0))
        self.assertRegex(run.stderr, LINE.format(counted))
        self.assertNotIn("that no engine published", run.stderr)
        self.assertEqual(run.report("-f", "summary").stdout.decode(), run.stderr)

    def engines(self):
        """Returns the paths of two copies of the engine, since threads have their program's name."""
        paths = [os.path.join(self.folder, name) for name in ("same", "later")]
        for path in paths:
            os.link(harness.ENGINE, path)
        return paths

    def test_from_the_start(self):
        """The only load comes before the later shim's probe is attached."""
        same, later = self.engines()
        run = self.record(["sh", "-c", f"{same} hot --seconds 1 & INTEL_JIT_PROFILER64={LATER_SHIM} "
                                       f"{later} hot --seconds 1 && wait $!"], ["-F", "499"])
        self.check(run, 1)

    def test_records(self):
        _same, later = self.engines()
        run = self.record(["env", f"INTEL_JIT_PROFILER64={LATER_SHIM}", later, "storm", "--slots", "16",
                           "--rate", "500", "--seconds", "1"], ["-F", "499"])
        jit = run.summary()["jit"]
        self.assertGreater(jit["other_version"], 200)
        self.assertEqual((jit["malformed"], jit["methods"]), (0, 0))
        self.assertRegex(run.stderr, LINE.format(f"{jit['other_version']:,}"))

    def test_list(self):
        process = subprocess.Popen([harness.ENGINE, "hot", "--seconds", "60"], stdout=subprocess.PIPE,
                                   env={**os.environ, "INTEL_JIT_PROFILER64": LATER_SHIM})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        command = [harness.JITBPF, "list", "-p", str(process.pid)]
        row, = json.loads(subprocess.run([*command, "--json"], stdout=subprocess.PIPE,
                                         check=True).stdout)["engines"]
        self.assertEqual(row["publishes"], "other_version")
        text = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertIn("shim of another version", text)


if __name__ == "__main__":
    harness.main()
