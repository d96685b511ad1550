# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Commands in the manual pages, README.md and docs/, and a folder in which they are tried without root."""

import collections
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
UNSUPPORTED = 77
NOBODY = 65534
LIMIT_S = 60
SUDO = "#!/bin/sh\n[ \"$1\" != -E ] || shift\nexec env \"$@\"\n"
MARK = re.compile(r"<!-- not run: (.+) -->")

# language: the word behind the fence. reason: why its commands are not run, or None.
Block = collections.namedtuple("Block", "page line language reason lines")


def run(command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S, check=False,
                          **options)


def man_examples(path):
    """Yields the lines of a manual page's examples of jitbpf."""
    for block in re.findall(r"^\.EX\n(.*?)^\.EE$", path.read_text(), re.M | re.S):
        for line in block.replace(r"\-", "-").splitlines():
            if re.search(r"\bjitbpf ", line):
                yield line


def blocks(path):
    """Yields the fenced blocks of a Markdown page."""
    opened, before = None, ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.startswith("```"):
            if opened:
                opened.lines.append(line)
            elif line:
                before = line
        elif opened:
            yield opened
            opened, before = None, ""
        else:
            mark = MARK.fullmatch(before)
            opened = Block(path, number, line[3:], mark and mark[1], [])
    assert not opened, f"{path}: a block does not end"


def commands(block):
    """Returns the commands of a block: each line of "sh", and what follows "$ " in "console". A
    backslash at the end of a line continues it."""
    text = "\n".join(block.lines).replace("\\\n", " ")
    if block.language == "sh":
        return [line for line in text.splitlines() if line and not line.startswith("#")]
    if block.language == "console":
        return re.findall(r"^\$ (.+)$", text, re.M)
    return []


class Unprivileged:
    """A folder with jitbpf, recordings, and a sudo that changes nothing: without root, options are
    checked, and nothing is recorded."""

    def __init__(self, build, folder):
        self.folder = str(folder)
        os.chmod(folder, 0o755)
        for name in ("jitbpf", "libjitbpf.so"):
            shutil.copy(build / name, folder)
        for name in ("profile", "before", "after"):
            shutil.copy(GOLDEN / "php.jitbpf", f"{folder}/{name}.jitbpf")
        shutil.copy(GOLDEN / "events.jitbpf", f"{folder}/faults.jitbpf")
        with open(f"{folder}/sudo", "w", encoding="utf-8") as file:
            file.write(SUDO)
        os.chmod(f"{folder}/sudo", 0o755)

    def run(self, line):
        """Runs a shell command line, as nobody if it begins with sudo. Returns (done, the expected
        statuses)."""
        root = "sudo" in line
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if root and not os.geteuid() \
            else {}
        done = run(["sh", "-c", line], cwd=self.folder,
                   env={"PATH": f"{self.folder}:/usr/bin:/bin"}, **user)
        return done, (0, UNSUPPORTED) if root else (0,)
