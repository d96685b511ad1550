#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_docs.py BUILD: README.md and docs/: their form, links and pictures, and that jitbpf has each
command and option that they name. tests/kernel/test_docs.py runs the commands as root."""

import os
import pathlib
import re
import sys
import tempfile
import unittest

from documented import PAGES, ROOT, Unprivileged, blocks, commands, run

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
LANGUAGES = {"sh", "console", "text", "python", "rust", "yaml"}
PICTURE_BYTES = 200_000
# What jitbpf says of processes, cgroups and containers that are named as examples.
ABSENT = re.compile(r"process \d+ does not exist|there is no such (cgroup|user)|no running container has")


def prose(path):
    """Returns a page without its blocks."""
    return re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S)


def anchors(path):
    """Returns the anchors that forges make of a page's headings."""
    words = re.findall(r"^#+ (.+)$", prose(path), re.M)
    return {re.sub(r"[^\w -]", "", word.lower()).replace(" ", "-") for word in words}


def name_of(path):
    return str(path.relative_to(ROOT))


class Form(unittest.TestCase):
    def test_pages_begin_with_a_command(self):
        for path in PAGES:
            if path.parent != ROOT:
                with self.subTest(name_of(path)):
                    self.assertRegex(path.read_text(),
                                     r"\A# .+\n\n(<!-- source tree -->\n)?(<!-- not run: .+ -->\n)?"
                                     r"```(sh|console)\n")

    def test_parts_of_the_source_tree_end(self):
        """tools/install.sh leaves them out of the installed pages."""
        for path in (*PAGES, ROOT / "SECURITY.md"):
            with self.subTest(name_of(path)):
                marks = re.findall(r"^<!-- (source tree|end) -->$", path.read_text(), re.M)
                self.assertEqual(marks, ["source tree", "end"] * (len(marks) // 2))

    def test_blocks_say_what_they_are(self):
        for path in PAGES:
            for block in blocks(path):
                with self.subTest(f"{name_of(path)}:{block.line}"):
                    self.assertIn(block.language, LANGUAGES)
                    self.assertTrue(commands(block) or block.language not in ("sh", "console"))
                    self.assertTrue(commands(block) or not block.reason, "a mark without commands")

    def test_links_lead_to_something(self):
        for path in PAGES:
            for link in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
                if not link.startswith("https://"):
                    file, _, anchor = link.partition("#")
                    target = (path.parent / file).resolve() if file else path
                    with self.subTest(f"{name_of(path)}: {link}"):
                        self.assertTrue(target.exists())
                        self.assertTrue(not anchor or anchor in anchors(target))

    def test_all_pages_are_linked(self):
        linked = {(path.parent / link).resolve() for path in PAGES
                  for link in re.findall(r"\]\(([^)#\s]+)", prose(path))}
        self.assertEqual([name_of(path) for path in PAGES
                          if path not in linked and path.parent != ROOT], [])

    def test_pictures(self):
        """They are small, and each is shown somewhere."""
        shown = {(path.parent / link).resolve() for path in PAGES
                 for link in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", path.read_text())}
        pictures = {path for kind in ("png", "svg") for path in (ROOT / "docs").rglob(f"*.{kind}")}
        self.assertEqual(shown, pictures)
        for path in pictures:
            self.assertLess(path.stat().st_size, PICTURE_BYTES, name_of(path))


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Unprivileged(BUILD, folder.name)

    def test_blocks(self):
        """Each line that is jitbpf alone, also of blocks that are marked as not run."""
        tried = 0
        for path in PAGES:
            for block in blocks(path):
                for line in commands(block):
                    if not re.match(r"(sudo (-E )?)?jitbpf ", line):
                        continue
                    with self.subTest(f"{name_of(path)}:{block.line}: {line}"):
                        done, expected = self.place.run(line.split(" | ")[0])
                        if not ABSENT.search(done.stdout):
                            self.assertIn(done.returncode, expected, done.stdout)
                    tried += 1
        self.assertGreater(tried, 40)

    def test_messages(self):
        """What tables of troubleshooting.md quote in their first column, jitbpf says."""
        sources = "".join(path.read_text() for path in (ROOT / "user").rglob("*.c"))
        sources += "".join(file.read_text() for file in (ROOT / "uapi").glob("record*.h"))
        sources = re.sub(r'"\s*\\?\s*"', "", sources).replace("\\", "")
        quoted = 0
        for row in re.findall(r"^\| (`.*?) \|", (ROOT / "docs/troubleshooting.md").read_text(), re.M):
            for words in re.findall(r"`([^`]+ [^`]+)`", row):
                for part in words.split(" ... "):
                    with self.subTest(part):
                        self.assertTrue(part in sources)
                        quoted += 1
        self.assertGreater(quoted, 8)

    def test_options_in_the_text(self):
        """`--option` is one of jitbpf or of another program that is named with it; `jitbpf COMMAND
        --option` is one of that command."""
        helps = {"": run([f"{self.place.folder}/jitbpf", "help"]).stdout}
        helps |= {command: run([f"{self.place.folder}/jitbpf", "help", command]).stdout
                  for command in re.findall(r"^  (\w+) ", helps[""], re.M)}
        for path in PAGES:
            for span in re.findall(r"`(?:sudo )?jitbpf ([^`]+)`", prose(path)):
                with self.subTest(f"{name_of(path)}: jitbpf {span}"):
                    command = span.split()[0]
                    if command != "COMMAND":
                        self.assertIn(command, helps)
                        for option in re.findall(r"--[a-z][\w-]*", span.partition(" -- ")[0]):
                            self.assertRegex(helps[command], rf"{option}\b")
            for option in re.findall(r"`(--[a-z][\w-]+)", prose(path)):
                with self.subTest(f"{name_of(path)}: {option}"):
                    self.assertTrue(any(re.search(rf"{option}\b", text)
                                        for text in helps.values()) or option in OTHERS)


# Options of other programs that the pages name alone.
OTHERS = {"--perf-prof", "--perf-basic-prof", "--cap-drop", "--cap-add", "--enable-vtune"}


if __name__ == "__main__":
    os.chdir(ROOT)
    unittest.main()
