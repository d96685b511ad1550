#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_color.py BUILD: colours are for terminals, unless --color says otherwise."""

import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
BOTH, STORM, CODE = (str(GOLDEN / f"{name}.jitbpf") for name in ("both", "storm", "code"))
COMMANDS = (["report", BOTH], ["report", "-f", "top", BOTH], ["diff", BOTH, STORM], ["annotate", "gen_4", CODE])
ESCAPE = b"\x1b["


def jitbpf(command, terminal=False, **variables):
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm", **variables}
    command = [str(BUILD / "jitbpf"), *command]
    if not terminal:
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, timeout=60).stdout
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=theirs) as process:
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(ours, 65536):
                said += piece
        except OSError:  # the other side is closed
            pass
        os.close(ours)
        if process.wait(60):
            raise AssertionError(f"{command}: {process.returncode}")
    return said


class Color(unittest.TestCase):
    def test_by_where_it_goes(self):
        for command in COMMANDS:
            with self.subTest(command):
                self.assertNotIn(ESCAPE, jitbpf(command))
                self.assertIn(ESCAPE, jitbpf(command, terminal=True))
                self.assertNotIn(ESCAPE, jitbpf(command, terminal=True, NO_COLOR="1"))
                self.assertNotIn(ESCAPE, jitbpf(command, terminal=True, TERM="dumb"))

    def test_compressed_formats_are_not_for_terminals(self):
        for name in ("pprof", "firefox"):
            for output in ([], ["-o", "-"]):
                command = ["report", "-f", name, *output, BOTH]
                self.assertEqual(jitbpf(command)[:2], b"\x1f\x8b")
                self.check_refused("report", name, command)
            for command in ("record", "live"):
                self.check_refused(command, name, [command, "-f", name, "-o", "-", "--", "true"])

    def check_refused(self, by, name, command):
        ours, theirs = pty.openpty()
        done = subprocess.run([str(BUILD / "jitbpf"), *command], stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE,
                              text=True, timeout=60, check=False)
        os.close(theirs)
        os.close(ours)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, rf"\Ajitbpf {by}: {name} is not text, and standard output is a terminal: use -o FILE\.\S+\.gz\n\Z")

    def test_by_option(self):
        for command in COMMANDS:
            with self.subTest(command):
                always, never = ([*command, "--color", when] for when in ("always", "never"))
                self.assertIn(ESCAPE, jitbpf(always, NO_COLOR="1"))
                self.assertNotIn(ESCAPE, jitbpf(never, terminal=True))
                self.assertEqual(re.sub(rb"\x1b\[[\d;]*m", b"", jitbpf(always)), jitbpf(command))

    def test_files_have_none(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.txt")
            for more, wanted in (([], False), (["--color=always"], True)):
                jitbpf(["report", "-f", "summary", "-o", path, *more, BOTH], terminal=True)
                with open(path, "rb") as file:
                    self.assertEqual(ESCAPE in file.read(), wanted)


if __name__ == "__main__":
    unittest.main()
