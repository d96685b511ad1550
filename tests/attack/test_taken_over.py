# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Processes of jitbpf that an attacker has taken over, by whatever defect."""

import os
import pwd
import subprocess
import sys

import attack
import harness
from stuck_fs import StuckFilesystem

AS_SUDO = os.path.join(harness.ROOT, "tests/kernel/as_sudo.py")
LIBRARY = os.path.join(attack.PROGRAMS, "taken_over.so")
KEPT = b"what was there before"
REPORT_BYTES = 1 << 20
USER = "daemon"
# Not the process that writes the outputs, which has the rights of the invoking user for it.
CONFINED = {"jitbpf", "jitbpf-as-user", "jitbpf-attach", "jitbpf-files", "jitbpf-read", "jitbpf-serve",
            "jitbpf-sources"}


class TakenOver(attack.AttackTest):
    """Tries: each process writes files of root and of the invoking user, and signals a process of
    root, by all calls that could, as soon as it has dropped its rights (preload/taken_over.c).
    Must hold: no attempt succeeds, whatever the kernel has beside user IDs, and names are right."""

    def put(self, name, owner):
        folder = os.path.join(self.folder, name)
        os.mkdir(folder, 0o755)
        os.chown(folder, owner, owner)
        path = os.path.join(folder, "file")
        with open(path, "wb") as file:
            file.write(KEPT)
        os.chown(path, owner, owner)
        os.chmod(path, 0o644)
        return path

    def start_private(self, name, user):
        """Starts an engine whose program only that user can open."""
        folder = os.path.join(self.folder, f"private{user}")
        os.mkdir(folder)
        with open(harness.ENGINE, "rb") as program:
            files = StuckFilesystem(folder, {"engine": program.read()}, user)
        self.addCleanup(files.close)
        return self.start_victim((f"{folder}/engine", "hot", "--seconds", "60", "--name", name),
                                 user=user, group=user,
                                 env={**os.environ, "INTEL_JIT_PROFILER64": harness.SHIM})

    def check_confined(self, *before, user=0, **environment):
        os.chmod(self.folder, 0o777)
        files = [self.put("roots", 0), self.put("theirs", pwd.getpwnam(USER).pw_uid)]
        report = os.path.join(self.folder, "report")
        with open(report, "wb") as file:
            file.truncate(REPORT_BYTES)
        bystander = self.start_victim(("sleep", "100"))
        # Processes of jitbpf become the users who alone can open these programs: they own the files.
        engine, _busy = [self.start_private("hot", owner) for owner in (0, pwd.getpwnam(USER).pw_uid)]
        jitbpf = subprocess.Popen(
            [*before, *self.record_argv(["-F", "499", "-a", "-d", "3", "--live"], (".jitbpf", ".txt"))],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
            env={**os.environ, "LD_PRELOAD": LIBRARY, "TAKEN_OVER_REPORT": report,
                 "TAKEN_OVER_FILES": ":".join(files), "TAKEN_OVER_PID": str(bystander.pid),
                 **environment})
        self.addCleanup(jitbpf.wait)
        self.addCleanup(jitbpf.kill)
        stdout, stderr = jitbpf.communicate(timeout=60)
        run = self.finished(jitbpf.returncode, stdout, stderr)
        attempts = self.attempts(report)
        self.assertLessEqual(CONFINED, {process for process, *_ in attempts})
        self.assertEqual([one for one in attempts if one[0] in CONFINED and one[-1] == "0"], [])
        # The attempts are real ones: those of the process that may do so succeed.
        self.assertIn(["jitbpf-outputs", f"openat2:{files[1 if user else 0]}", "0"], attempts)
        named = attack.Victim(run, engine.pid).names()
        self.assertTrue([name for name in named if name.startswith("hot")], named)

    def attempts(self, report):
        with open(report, "rb") as file:
            used = int.from_bytes(file.read(8), sys.byteorder)
            text = file.read(used).decode()
        self.assertLess(used + 8, REPORT_BYTES)
        return [line.split(" ") for line in text.splitlines()]

    def test_root(self):
        self.check_confined()

    def test_root_without_landlock(self):
        self.check_confined(TAKEN_OVER_NO_LANDLOCK="1")

    def test_sudo(self):
        self.check_confined(sys.executable, AS_SUDO, USER, user=1)

    def test_sudo_without_landlock(self):
        self.check_confined(sys.executable, AS_SUDO, USER, user=1, TAKEN_OVER_NO_LANDLOCK="1")


if __name__ == "__main__":
    harness.main(attack.HERE)
