#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_man.py BUILD: the manual pages have each command and option, and their examples run."""

import os
import pathlib
import re
import sys
import tempfile
import unittest

from documented import Unprivileged, man_examples, run

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
MAN = BUILD / "man"


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
    def test_all(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        tried, place = 0, Unprivileged(BUILD, folder.name)
        for path in MAN.iterdir():
            for line in man_examples(path):
                with self.subTest(line):
                    done, expected = place.run(line)
                    self.assertIn(done.returncode, expected, f"{line}\n{done.stdout}")
                    tried += 1
        self.assertGreater(tried, 15)
        self.assertTrue(os.path.exists(f"{folder.name}/change.html"))


if __name__ == "__main__":
    unittest.main()
