# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Intel's OpenCL: names of kernels with --jit-debug; without it, nothing is published."""

import os
import re
import unittest

import harness
import published


class OpenCl(harness.KernelTest):
    def kernels(self, *options):
        """Returns the names in JIT code, and the number of methods."""
        command = published.command("opencl_code.py", 20, os.path.join(self.folder, "code"))
        run = self.record(command, ["-F", "999", *options])
        names = {frame.name.partition("+")[0] for sample in run.script()
                 for frame in published.user_frames(sample) if frame.module == "[jit]"}
        return names, self.check_ledger(run)["jit"]["methods"]

    def test_names(self):
        names, methods = self.kernels("--jit-debug")
        for kernel in ("spin", "pass_on"):
            # The name of a vectorized variant has a prefix for the processor.
            self.assertTrue(any(re.fullmatch(rf"(_ZGV\w+_)?{kernel}", name) for name in names),
                            names)
        self.assertGreaterEqual(methods, 2)
        names, methods = self.kernels()
        self.assertEqual((names, methods), (set(), 0))


if __name__ == "__main__":
    unittest.main()
