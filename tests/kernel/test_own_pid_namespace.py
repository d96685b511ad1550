# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Recordings in a pid namespace with the least capabilities, as docs/containers.md names them."""

import os
import shutil
import subprocess
import unittest

import harness
from harness import ENGINE, KernelTest

OTHER = "12345"  # user of the process that already runs
SETPRIV_OTHER = f"setpriv --reuid {OTHER} --regid {OTHER} --clear-groups"


class Containers(KernelTest):
    def setUp(self):
        super().setUp()
        self.jitbpf, self.shim = self.copy_for_others(harness.JITBPF, harness.SHIM)

    def record_inside(self, capabilities, before="", options=(), command=()):
        """Records in a pid namespace, bounded to these capabilities, after a shell command that
        is not bounded."""
        bound = ",".join(["-all", *(f"+{name}" for name in capabilities)])
        argv = self.record_argv(options, (".jitbpf", ".folded"))
        argv[0] = self.jitbpf
        if command:
            argv += ["--", *command]
        done = subprocess.run(
            ["unshare", "-m", "-p", "-f", "--mount-proc", "--kill-child", "sh", "-c",
             before + 'exec "$@"', "sh", "setpriv", f"--bounding-set={bound}", *argv],
            capture_output=True, check=False)
        run = self.finished(done.returncode, done.stdout, done.stderr)
        self.check_ledger(run)
        return run

    def shares(self, run, *names):
        """Returns the share of the engine's samples that have a frame of each name. The first samples do not count: on
        a busy machine, it takes a while until a running process has been attached to."""
        self.assertEqual(run.report("-f", "script", "--comm", os.path.basename(ENGINE), "-o", run.path(".txt")).returncode, 0)
        stacks = [{frame.name for frame in sample.frames} for sample in run.script()]
        first = next((i for i, stack in enumerate(stacks) if names[0] in stack), len(stacks))
        self.assertGreater(len(stacks) - first, 50, first)
        return [sum(name in stack for stack in stacks[first:]) / (len(stacks) - first) for name in names]

    def test_own_command(self):
        """A command of root needs CAP_SYS_ADMIN only."""
        run = self.record_inside(["sys_admin"], options=["-F", "499"],
                                 command=[ENGINE, "hot", "--seconds", "1", "--name", "hot"])
        hot, main = self.shares(run, "hot", "main")
        self.assertGreater(hot, 0.9)
        self.assertGreater(main, 0.9)

    def test_all_processes(self):
        """What belongs to other users needs three more: a process of another user runs already,
        and only that user can read its program. What each of them is for: test_roles.py."""
        private = os.path.join(self.folder, "private")
        os.mkdir(private)
        program = shutil.copy(ENGINE, private)
        for path in (private, program):
            os.chown(path, int(OTHER), int(OTHER))
            os.chmod(path, 0o700)
        before = (f"INTEL_JIT_PROFILER64={self.shim} {SETPRIV_OTHER} {program} hot "
                  "--seconds 20 --name hot >/dev/null & "
                  "until grep -q jitbpf-journal /proc/$!/maps; do kill -0 $! || exit; done; ")
        run = self.record_inside(["sys_admin", "sys_ptrace", "dac_read_search",
                                  "checkpoint_restore"], before, ["-a", "-F", "499", "-d", "2"])
        hot, main = self.shares(run, "hot", "main")
        self.assertGreater(hot, 0.8)
        self.assertGreater(main, 0.8)


if __name__ == "__main__":
    unittest.main()
