# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Attackers that fill jitbpf's tables."""

import unittest

from attack import AttackTest, BESIDE, MEMORY, sample

FILES = 60000  # a process can have 65,530 mappings


@sample
class Hoards(AttackTest):
    """Tries: to fill the tables of files and modules, and to keep the event loop searching files,
    so that programs that start later get neither names nor stacks. Must hold: the profile of a
    later program is the same, and memory and descriptors are bounded."""

    def test_files(self):
        hoarder = self.program("hoarder")
        attacked = self.check_victim(options=("-a", "--max-memory", str(MEMORY)),
                                     during=lambda: self.attack([hoarder, str(FILES)]))
        self.assertLess(attacked.watch.memory, MEMORY + BESIDE)
        self.assertLess(attacked.watch.files, 1000)


if __name__ == "__main__":
    unittest.main()
