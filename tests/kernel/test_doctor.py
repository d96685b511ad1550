# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""jitbpf doctor: what it says is what `record` does, with fewer rights each time."""

import json
import os
import subprocess
import unittest

from harness import JITBPF, KernelTest, SHIM

AGENT = os.path.join(os.path.dirname(SHIM), "libjitbpf-jvmti.so")
NOBODY = ["setpriv", "--reuid=61234", "--regid=61234", "--clear-groups"]


def doctor(prefix=(), program=JITBPF):
    """Returns the exit status and the findings by key."""
    done = subprocess.run([*prefix, program, "doctor", "--json"], capture_output=True, check=False)
    return done.returncode, {row["check"]: row for row in json.loads(done.stdout)["checks"]}


class Doctor(KernelTest):
    def record_says(self, prefix, program=JITBPF):
        done = subprocess.run([*prefix, program, "record", "-o", "/dev/null", "--", "true"],
                              capture_output=True, check=False, cwd="/")
        self.assertEqual(done.returncode, 77, done.stderr)
        return done.stderr.decode()

    def check_missing(self, prefix, key, program=JITBPF):
        """Checks that exactly this is missing, and that record refuses with the same words."""
        status, found = doctor(prefix, program)
        self.assertEqual(status, 77)
        missing = [row for row in found.values() if row["state"] == "missing"]
        self.assertEqual([row["check"] for row in missing], [key])
        self.assertNotIn("recording", found)
        self.assertEqual(self.record_says(prefix, program),
                         f"jitbpf: {missing[0]['what']}: {missing[0]['advice']}\n")
        return found

    def test_root(self):
        status, found = doctor()
        self.assertEqual(status, 0)
        self.assertEqual([row for row in found.values() if row["state"] == "missing"], [])
        self.assertEqual(found["recording"]["state"], "fine")
        self.assertIn(f"{os.cpu_count()} CPU", found["recording"]["what"])
        self.assertIn(os.uname().release, found["kernel"]["what"])

    def test_user(self):
        program, _ = self.copy_for_others(JITBPF, SHIM)
        found = self.check_missing(NOBODY, "user", program)
        self.assertEqual(found["mapped_files"]["state"], "hidden")
        self.assertEqual(found["btf"]["state"], "fine")

    def test_user_namespace(self):
        found = self.check_missing(["unshare", "-Ur"], "user_namespace")
        self.assertEqual(found["mapped_files"]["state"], "limited")

    def test_capabilities(self):
        self.check_missing(["setpriv", "--bounding-set=-sys_admin"], "capabilities")
        status, found = doctor(["setpriv", "--bounding-set=-sys_ptrace"])
        self.assertEqual(status, 0)
        self.assertIn("CAP_SYS_PTRACE", found["privileges"]["what"])
        status, found = doctor(["setpriv", "--bounding-set=-setuid,-setgid"])
        self.assertEqual((status, found["privileges"]["state"]), (0, "limited"))
        self.assertEqual(found["privileges"]["what"], "missing: CAP_SETUID, CAP_SETGID")
        self.assertIn("running JVMs", found["privileges"]["advice"])

    def test_proc(self):
        self.check_missing(["unshare", "-pf"], "proc")

    def test_pid_namespace(self):
        status, found = doctor(["unshare", "-pf", "--mount-proc"])
        self.assertEqual(status, 0)
        self.assertEqual(found["container"]["state"], "limited")
        self.assertEqual(found["recording"]["state"], "fine")

    def test_shim(self):
        program, = self.copy_for_others(JITBPF)
        status, found = doctor(program=program)
        self.assertEqual(status, 77)
        self.assertEqual(found["shim"]["state"], "missing")
        _, shim = self.copy_for_others(JITBPF, SHIM)
        os.chmod(shim, 0o700)
        status, found = doctor(program=program)
        self.assertEqual(status, 0)
        self.assertEqual(found["shim"]["state"], "limited")
        self.assertEqual(found["jvm_agent"]["state"], "limited")

    @unittest.skipUnless(os.path.exists(AGENT), "built without a JDK")
    def test_agent_for_java(self):
        _, found = doctor()
        self.assertEqual((found["jvm_agent"]["state"], found["jvm_agent"]["what"]),
                         ("fine", AGENT))

    def test_few_files(self):
        status, found = doctor(["prlimit", "--nofile=512:512"])
        self.assertEqual(status, 0)
        self.assertEqual(found["open_files"]["state"], "limited")

    def test_text(self):
        done = subprocess.run([JITBPF, "doctor"], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0)
        rows = [line for line in done.stdout.decode().splitlines() if not line.startswith(" ")]
        self.assertEqual(len(rows), len(doctor()[1]))


if __name__ == "__main__":
    unittest.main()
