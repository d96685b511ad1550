#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_man.py BUILD: the manual pages have each command and option, and their examples run."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
MAN = BUILD / "man"
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
UNSUPPORTED = 77
NOBODY = 65534
LIMIT_S = 60


def run(command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S, check=False,
                          **options)


def jitbpf(*arguments):
    return run([str(BUILD / "jitbpf"), *arguments]).stdout


def commands():
    return re.findall(r"^  (\w+) ", jitbpf("help"), re.M)


def page(command):
    return MAN / f"jitbpf-{command}.1" if command else MAN / "jitbpf.1"


def text_of(path):
    """Returns a page as it is shown, each run of spaces as one."""
    shown = run(["mandoc", "-T", "ascii", "-O", "width=200", str(path)]).stdout
    return re.sub(r"\s+", " ", re.sub(".\b", "", shown))


def examples(path):
    """Yields the lines of the examples of jitbpf."""
    for block in re.findall(r"^\.EX\n(.*?)^\.EE$", path.read_text(), re.M | re.S):
        for line in block.replace(r"\-", "-").splitlines():
            if re.search(r"\bjitbpf ", line):
                yield line


class Pages(unittest.TestCase):
    def test_all_commands_have_one(self):
        self.assertIn("record", commands())
        self.assertEqual(sorted(path.name for path in MAN.iterdir()),
                         sorted(page(command).name for command in [None, *commands()]))
        for command in commands():
            self.assertIn(f"jitbpf-{command}(1)", text_of(page(None)))

    def test_lint(self):
        for path in MAN.iterdir():
            self.assertEqual(run(["mandoc", "-T", "lint", "-W", "warning", str(path)]).stdout, "")

    def test_options_are_those_of_the_help(self):
        for command in commands():
            shown = text_of(page(command))
            options = re.findall(r"^  (?:(-\w), |    )(--[\w-]+)(?: (\S+))?", jitbpf("help", command),
                                 re.M)
            self.assertIn(("-h", "--help", ""), [(*option[:2], "") for option in options])
            for short, name, argument in options:
                # After two spaces, the text begins.
                begins = " ".join(word for word in (f"{short}," if short else "", name) if word)
                self.assertIn(f" {begins} ", shown, command)
                if argument.isupper():
                    self.assertIn(f" {begins} {argument}", shown, command)


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o755)
        for name in ("jitbpf", "libjitbpf.so"):
            shutil.copy(BUILD / name, self.folder)
        for name in ("profile", "before", "after"):
            shutil.copy(GOLDEN / "php.jitbpf", f"{self.folder}/{name}.jitbpf")
        # sudo and docker are not tried: without root, options are checked, and nothing is recorded.
        with open(f"{self.folder}/sudo", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexec \"$@\"\n")
        os.chmod(f"{self.folder}/sudo", 0o755)

    def check(self, line):
        root = "sudo" in line
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if root and not os.geteuid() \
            else {}
        environment = {"PATH": f"{self.folder}:/usr/bin:/bin"}
        done = run(["sh", "-c", line], cwd=self.folder, env=environment, **user)
        self.assertIn(done.returncode, (0, UNSUPPORTED) if root else (0,),
                      f"{line}\n{done.stdout}")

    def test_all(self):
        tried = 0
        for path in MAN.iterdir():
            for line in examples(path):
                with self.subTest(line):
                    self.check(line)
                    tried += 1
        self.assertGreater(tried, 15)
        self.assertTrue(os.path.exists(f"{self.folder}/change.html"))


if __name__ == "__main__":
    unittest.main()
