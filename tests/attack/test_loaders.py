# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The processes that load the agent into JVMs have the IDs of the JVM's user, who can stop them."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

import attack
import harness
from attack import ATTACKER, AttackTest

sys.path.insert(0, os.path.join(attack.HERE, "..", "kernel"))
import jdks  # pylint: disable=wrong-import-position
import test_roles  # pylint: disable=wrong-import-position

AGENT = os.path.join(os.path.dirname(harness.SHIM), "libjitbpf-jvmti.so")
LOADERS = 8  # live_max of the role
SOON_S = 2


@unittest.skipUnless(os.path.exists(AGENT) and jdks.JDK,
                     "there is no libjitbpf-jvmti.so, or no JDK")
class StoppedLoaders(AttackTest):
    def setUp(self):
        super().setUp()
        self.stopped = set()

    def loaders(self):
        """Returns the pids of the attacker's loaders that are not stopped."""
        found = test_roles.statuses(attack.descendants(self.jitbpf.pid))
        return [int(one["Pid"]) for one in found if one["Name"] == "jitbpf-load" and
                one["Uid"].split()[0] == str(ATTACKER) and int(one["Pid"]) not in self.stopped]

    @staticmethod
    def jvm_of(loader):
        """Returns the pid of a loader's JVM, whose status it has open."""
        links = [os.readlink(f"/proc/{loader}/fd/{fd}") for fd in os.listdir(f"/proc/{loader}/fd")]
        return next(int(found[1]) for found in (re.fullmatch(r"/proc/(\d+)/status", link)
                                                for link in links) if found)

    def stop_loader(self):
        """Stops a loader, if there is one soon, and ends its JVM."""
        end = time.monotonic() + SOON_S
        while not (loaders := self.loaders()):
            if time.monotonic() > end:
                return
            time.sleep(0.01)
        subprocess.run(["kill", "-STOP", str(loaders[0])], user=ATTACKER, group=ATTACKER,
                       check=True)
        self.stopped.add(loaders[0])
        # A stopped process outlives jitbpf.
        self.addCleanup(subprocess.run, ["kill", "-KILL", str(loaders[0])], check=False)
        os.kill(self.jvm_of(loaders[0]), signal.SIGKILL)

    def test_stopped(self):
        """The attacker stops the loaders of its JVMs: root's JVM gets its own."""
        fake = self.copy_for_others(os.path.join(harness.ROOT, "tests/programs/workloads/fake_jvm.py"))[0]
        said = os.path.join(self.folder, "said")
        subprocess.run([os.path.join(jdks.JDK, "bin/javac"), "-d", self.folder,
                        os.path.join(harness.ROOT, "tests/programs/workloads/Fill.java")], check=True)
        java = self.start_victim(["sh", "-c", 'read go; exec "$@"', "sh",
                                  os.path.join(jdks.JDK, "bin/java"), "-cp", self.folder, "Fill",
                                  "1000000"], stdin=subprocess.PIPE)
        self.addCleanup(java.stdin.close)
        library = os.path.join(jdks.JDK, "lib/server/libjvm.so")
        fakes = [self.attack([sys.executable, fake, "silent", library, str(ATTACKER)]).pid
                 for _ in range(LOADERS)]
        for pid in (*fakes, java.pid):  # killed JVMs leave their sockets
            self.addCleanup(pathlib.Path(f"/tmp/.java_pid{pid}").unlink, missing_ok=True)
        argv = self.record_argv(["-F", "99", "-p", ",".join(map(str, (*fakes, java.pid)))],
                                (".jitbpf",))
        with open(said, "wb") as messages, \
                subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=messages) as self.jitbpf:
            self.addCleanup(self.jitbpf.kill)
            self.wait_for(self.takes_samples)
            for _ in range(LOADERS):
                self.stop_loader()
            java.stdin.write(b"go\n")
            java.stdin.flush()
            try:
                self.wait_for(lambda: f"JVM {java.pid} " in self.text_of(said))
            finally:
                self.jitbpf.terminate()
                self.jitbpf.wait(60)
        self.assertIn(f"JVM {java.pid} (java): the agent is loaded", self.text_of(said))
        self.assertEqual(len(self.stopped), 1)

    @staticmethod
    def text_of(path):
        with open(path, encoding="utf-8") as file:
            return file.read()


if __name__ == "__main__":
    harness.main(attack.HERE)
