# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Attackers that fill jitbpf's tables."""

import unittest

from attack import AttackTest

FILES = 70000  # more than the tables have room for


class Hoards(AttackTest):
    """Tries: to fill the tables of files and modules, so that programs that start later get
    neither names nor stacks. Must hold: the profile of a later program is the same, and the memory
    is bounded."""

    def test_files(self):
        hoarder = self.program("hoarder")
        attacked = self.victim_profile(during=lambda: self.attack([hoarder, str(FILES)]))
        print(attacked.run.stderr, attacked.functions(), attacked.watch.rss >> 20)
        self.fail()


if __name__ == "__main__":
    unittest.main()
