# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Attackers that offer their own file in the place of a root program's."""

import os
import re
import subprocess
import unittest

from attack import AttackTest, HERE, sample

BUILD_ID = "c0ffee00" * 5
OTHER_ID = "badc0de0" * 5


class Substitution(AttackTest):
    """Tries: to give the samples of root's program names of the attacker's choice, by a file with
    the inode number, the path or the build ID of the program. Must hold: no such name is shown, and
    the program's own names are right."""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        # A file system whose inode numbers are low: on a disk the attacker counts for a minute.
        self.place = os.path.join(self.folder, "place")
        os.mkdir(self.place)
        subprocess.run(["mount", "-t", "tmpfs", "none", self.place], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.place], check=True)
        self.impostor = self.program("impostor")

    def build(self, name, build_id, renamed=False, *, folder=None):
        """Builds the victim, or a program of the attacker's from it."""
        with open(os.path.join(HERE, "programs/victim.c"), encoding="ascii") as file:
            source = file.read()
        path = os.path.join(folder or self.place, name)
        subprocess.run(["cc", "-x", "c", "-std=gnu11", "-O1", "-g", f"-Wl,--build-id=0x{build_id}",
                        "-o", path, "-"], check=True,
                       input=re.sub("victim_", "attacker_" if renamed else "victim_",
                                    source).encode())
        os.chmod(path, 0o755)
        return path

    def check(self, program, *impostor):
        self.check_victim(argv=(program,),
                          during=lambda: self.attack([self.impostor, *impostor]))

    def test_inode_number(self):
        """A file with the number of the program's inode lies at the program's path."""
        program = self.build("program", BUILD_ID)
        self.check(program, program, self.build("hostile", OTHER_ID, True), program)

    def test_inode_number_and_build_id(self):
        program = self.build("program", BUILD_ID)
        self.check(program, program, self.build("hostile", BUILD_ID, True), program)

    def test_build_id(self):
        """A file elsewhere has the program's build ID."""
        program = self.build("program", BUILD_ID)
        self.check(program, self.build("hostile", BUILD_ID, True))

    def check_debug_file(self, debug_path):
        """The program's names are in a debug file; the attacker maps the program, and has a debug
        file of its own in its mount namespace."""
        program = self.build("program", BUILD_ID)
        hostile = self.build("hostile", BUILD_ID, True)
        os.makedirs(os.path.dirname(debug_path), exist_ok=True)
        self.addCleanup(os.unlink, debug_path)
        subprocess.run(["objcopy", "--only-keep-debug", program, debug_path], check=True)
        subprocess.run(["strip", program], check=True)
        self.check(program, program, hostile, debug_path)

    @sample
    def test_debug_file(self):
        self.check_debug_file(f"/usr/lib/debug/.build-id/{BUILD_ID[:2]}/{BUILD_ID[2:]}.debug")


if __name__ == "__main__":
    unittest.main()
