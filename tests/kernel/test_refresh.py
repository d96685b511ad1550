# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""record --refresh: outputs that are written while the recording goes on."""

import json
import os
import re
import signal
import subprocess
import unittest

import harness
import recording
from test_live import page_data


class Refresh(harness.KernelTest):
    def path(self, ending):
        return os.path.join(self.folder, "out" + ending)

    def versions(self, process, ending):
        """Returns the contents of an output each time that it was replaced, until the process ends."""
        seen, before = [], None
        while process.poll() is None:
            try:
                with open(self.path(ending), "rb") as file:
                    now = os.fstat(file.fileno()).st_mtime_ns
                    if now != before:
                        seen.append(file.read())
                        before = now
            except FileNotFoundError:
                pass
            try:
                process.wait(0.05)
            except subprocess.TimeoutExpired:
                pass
        return seen

    def start(self, options, endings, command=()):
        argv = self.record_argv(options, endings)
        return subprocess.Popen(argv + (["--", *command] if command else []),
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def test_php(self):
        """Each version holds what was sampled by then, with its names; the last one holds all."""
        with self.start(["-F", "999", "--refresh", "1", "--interpreter", "yes"],
                        [".folded", ".html", ".summary.json", ".jitbpf"],
                        harness.php("tracing", 5)) as process:
            versions = self.versions(process, ".folded")
            said = process.stderr.read().decode()
        self.assertEqual(process.returncode, 0, said)
        self.assertGreaterEqual(len(versions), 3)
        counts = []
        for number, text in enumerate(versions):
            with open(self.path(f".{number}.folded"), "wb") as out:
                out.write(text)
            stacks = recording.folded(self.path(f".{number}.folded"))
            counts.append(sum(stacks.values()))
            if number >= 2:
                named = sum(count for stack, count in stacks.items() if ";TRACE$" in stack)
                self.assertGreater(named, 0.8 * counts[-1])
        self.assertEqual(counts, sorted(counts))
        final = sum(recording.folded(self.path(".folded")).values())
        with open(self.path(".summary.json"), encoding="utf-8") as file:
            samples = json.load(file)["samples"]
        self.assertEqual(final, samples["taken"] - samples["lost"])
        self.assertLess(counts[1], 0.8 * final)
        with open(self.path(".folded"), "rb") as file, open(self.path(".html"), "rb") as page:
            last = file.read()
            self.assertIn(b"<html", page.read(2000))
        # The recording gives the same as the last version.
        report = subprocess.run([harness.JITBPF, "report", "--interpreter", "yes", "-o", self.path(".again.folded"),
                                 self.path(".jitbpf")], capture_output=True, check=False)
        self.assertEqual(report.returncode, 0, report.stderr)
        with open(self.path(".again.folded"), "rb") as file:
            self.assertEqual(file.read(), last)

    def test_lives(self):
        """Each version of a page has the table of the lives of JIT code, with the samples that they had about then."""
        with self.start(["-F", "499", "--refresh", "1"], [".html"],
                        [harness.ENGINE, "storm", "--rate", "10", "--slots", "4", "--seconds", "5"]) as process:
            versions = self.versions(process, ".html")
            said = process.stderr.read().decode()
        self.assertEqual(process.returncode, 0, said)
        self.assertGreaterEqual(len(versions), 3)
        before, shares = 0, []
        for version in versions:
            data = json.loads(re.search(rb'id="profile">(.*?)</script>', version, re.S)[1])
            if not data["code"]["rows"]:
                continue  # before the first load
            lives = data["lives"]
            names = {data["strings"][name] for name in page_data.numbers(lives, "name")}
            samples = sum(page_data.numbers(lives, "samples"))
            self.assertTrue(all(name.startswith("gen_") for name in names), names)
            self.assertGreaterEqual(lives["rows"], before)
            self.assertEqual(lives["left_lives"] + lives["forgotten_lives"], 0)
            shares.append(samples / data["runs"][0]["samples"]["taken"])
            before = lives["rows"]
        self.assertGreater(before, 10)
        # Almost all samples are of this code, also before the end.
        self.assertGreater(shares[-1], 0.8)
        self.assertGreater(max(shares[:-1]), 0.5)

    def test_refused(self):
        """With nothing that could be written before the end, --refresh is a mistake."""
        for options, endings, reason in (
                (["--refresh", "1"], [".jitbpf"], "needs an output"),
                (["--refresh", "1"], [".json.gz", ".txt"], "needs an output"),
                (["--refresh", "1", "--rotate", "5"], [".jitbpf"], "cannot be combined")):
            with self.start(options, endings, ["true"]) as process:
                said = process.stderr.read().decode()
            self.assertEqual(process.returncode, 2, said)
            self.assertIn(reason, said)

    def test_output_that_fails(self):
        """A folder that goes away is said once; the other output is written to the end."""
        os.mkdir(os.path.join(self.folder, "gone"))
        argv = self.record_argv(["-F", "499", "-a", "--refresh", "1"], [".folded"])
        argv += ["-o", os.path.join(self.folder, "gone/x.folded")]
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            self.wait_for(lambda: os.path.exists(os.path.join(self.folder, "gone/x.folded")))
            os.unlink(os.path.join(self.folder, "gone/x.folded"))
            os.rename(os.path.join(self.folder, "gone"), os.path.join(self.folder, "moved"))
            for _ in range(3):
                before = os.stat(self.path(".folded")).st_mtime_ns
                self.wait_for(lambda: os.stat(self.path(".folded")).st_mtime_ns != before)
            process.send_signal(signal.SIGINT)
            said = process.stderr.read().decode()
        self.assertEqual(len(re.findall("x.folded: No such file", said)), 1, said)
        self.assertGreater(sum(recording.folded(self.path(".folded")).values()), 0)


if __name__ == "__main__":
    unittest.main()
