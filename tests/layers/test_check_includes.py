#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check_includes.py finds violations of the rule of includes, and nothing else."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
import check_includes


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for entry in check_includes.places():
            self.write(f"user/{entry}" if entry.endswith((".c", ".h")) else f"user/{entry}/some.h", "")
        for folder in check_includes.OTHERS:
            self.write(f"{folder}/some.h", "")

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def found(self):
        """Returns what the command prints, and checks its exit status."""
        done = subprocess.run([TOOLS / "check_includes.py", self.root], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 1 if done.stdout else 0)
        return done.stdout.splitlines()

    def refuses(self, name, text):
        self.write(name, text)
        found = self.found()
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(name), found)

    def test_what_is_allowed(self):
        self.write("user/state/process/a.c", '#include "uapi/some.h"\n#include "base/some.h"\n'
                   '#include "decode/x86/some.h"\n#include "state/space/some.h"\n'
                   '#include "state/process/some.h"\n#include <errno.h>\n')
        self.write("user/pipeline/record/a.c", '#include "pipeline/source.h"\n')
        self.write("user/agent/files/a.c", '#include <fcntl.h>\n#include "jitbpf.skel.h"\n')
        self.write("user/unwind/a.c", '#include "bpf/unwind.h"\n')
        self.write("bpf/a.bpf.c", '#include "uapi/some.h"\n#include "bpf/some.h"\n')
        self.assertEqual(self.found(), [])

    def test_a_later_stage(self):
        self.refuses("user/decode/elf/a.c", '\n#include "state/code/some.h"\n')

    def test_a_later_folder_of_the_stage(self):
        self.refuses("user/decode/elf/a.h", '#include "decode/dwarf/some.h"\n')

    def test_a_stage_and_its_own_folder(self):
        self.refuses("user/sink/a.c", '#include "sink/format/some.h"\n')
        self.write("user/sink/a.c", '#include "sink/write/some.h"\n')
        self.assertEqual(self.found(), [])

    def test_a_header_in_the_order_may_not_include_its_folder(self):
        self.refuses("user/pipeline/source.h", '#include "pipeline/some.h"\n')

    def test_an_include_with_spaces(self):
        self.refuses("user/base/a.c", '# include "cli/some.h"\n')

    def test_a_folder_without_a_place(self):
        self.refuses("user/decode/new/a.c", "")

    def test_a_file_beside_the_stages(self):
        self.refuses("user/a.c", "")

    def test_an_unknown_folder_included(self):
        self.refuses("user/cli/a.c", '#include "tests/some.h"\n')

    def test_the_order_names_what_is_gone(self):
        (self.root / "user/decode/cfi/some.h").unlink()
        self.assertEqual(len(self.found()), 1)

    def test_the_core_reads_no_clock(self):
        self.refuses("user/locate/a.c", "#include <time.h>\n")

    def test_the_core_knows_no_bpf(self):
        self.refuses("user/sink/format/a.c", "#include <bpf/libbpf.h>\n")

    def test_the_core_knows_no_skeleton(self):
        self.refuses("user/pipeline/a.c", '#include "jitbpf.skel.h"\n')

    def test_only_unwinding_shares_code_with_the_programs(self):
        self.refuses("user/locate/a.c", '#include "bpf/unwind.h"\n')

    def test_the_programs_know_no_user_space(self):
        self.refuses("bpf/a.bpf.c", '#include "base/some.h"\n')

    def test_the_shim_knows_no_programs(self):
        self.refuses("jitapi-shim/a.c", '#include "bpf/some.h"\n')


if __name__ == "__main__":
    unittest.main()
