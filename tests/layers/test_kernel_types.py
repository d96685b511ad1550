#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Each kernel type whose fields the BPF programs read is in structs_read: otherwise libbpf does
not see the type, and reports that its fields do not exist."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class KernelTypes(unittest.TestCase):
    def test_all_are_listed(self):
        header = (ROOT / "bpf/kernel_types.h").read_text()
        source = (ROOT / "user/agent/kernel/bpf/program_types.c").read_text()
        listed = set(re.findall(r'"(\w+)"', re.search(
            r"structs_read\[\] = \{(.*?)\};", source, re.DOTALL).group(1)))
        relocated = re.search(r"attribute push(.*?)attribute pop", header, re.DOTALL).group(1)
        bodies = dict(re.findall(r"^struct (\w+) \{(.*?)^\}", relocated,
                                 re.DOTALL | re.MULTILINE))
        self.assertGreater(len(bodies), 10)
        # What a type holds comes with it, but not what it points to.
        held = {name for body in bodies.values()
                for name in re.findall(r"struct (\w+) \w+(?:\[\w+\])?;", body)}
        self.assertEqual(set(bodies) - held - listed, set())
        self.assertEqual(listed - set(bodies), set())


if __name__ == "__main__":
    unittest.main()
