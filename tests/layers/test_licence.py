#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Every source file begins with its licence: a line for it alone, behind at most two others."""

import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FOLDERS = ("bpf", "jitapi-shim", "tests", "tools", "uapi", "user")
ENDINGS = (".c", ".cpp", ".css", ".h", ".java", ".mjs", ".mk", ".php", ".py", ".rs", ".sh", ".ts")
LINE = re.compile(r"(/\*|//|#|--|<\?php //)? ?SPDX-License-Identifier: GPL-2\.0-only OR BSD-2-Clause( \*/)?")


def sources():
    for folder in FOLDERS:
        for place, folders, files in os.walk(os.path.join(ROOT, folder)):
            folders[:] = [name for name in folders if name not in ("node_modules", "corpus", "__pycache__")]
            yield from (os.path.join(place, name) for name in files if name.endswith(ENDINGS))


def has_licence(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return any(LINE.fullmatch(file.readline().rstrip("\n")) for _ in range(3))


class Licence(unittest.TestCase):
    def test_first_lines(self):
        paths = list(sources())
        self.assertGreater(len(paths), 1000)
        self.assertEqual([os.path.relpath(path, ROOT) for path in paths if not has_licence(path)], [])


if __name__ == "__main__":
    unittest.main()
