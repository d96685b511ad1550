# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The environment that makes engines publish: in a recorded command, and from jitbpf env."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness

QUIET_PHP = [*harness.php_jit("tracing")[:-2], harness.PHP_SCRIPT, "2"]


def environment(*arguments):
    return subprocess.run([harness.JITBPF, "env", *arguments], capture_output=True, check=True,
                          text=True).stdout


def variables(text):
    return dict(line.split("=", 1) for line in text.splitlines() if not line.startswith("#"))


class Command(harness.KernelTest):
    def methods(self, options=(), **kwargs):
        return self.record(QUIET_PHP, ["-F", "99", *options], **kwargs).summary()["jit"]["methods"]

    @harness.needs_php_api
    def test_php_needs_no_option(self):
        self.assertGreater(self.methods(), 5)

    @harness.needs_php_api
    def test_no_env_leaves_all_alone(self):
        self.assertEqual(self.methods(["--no-env"]), 0)

    def test_what_the_user_set_stays(self):
        printed = self.record(["sh", "-c", "echo $NUMBA_ENABLE_PROFILING $NUMBA_DEBUGINFO "
                                           "$PHP_INI_SCAN_DIR"],
                              env={**os.environ, "NUMBA_ENABLE_PROFILING": "0",
                                   "PHP_INI_SCAN_DIR": "/mine"}).stdout.decode().split()
        self.assertEqual(printed, ["0", "0", "/mine:" + os.path.join(harness.BUILD, "php")])


class Printed(unittest.TestCase):
    def test_shell(self):
        """A shell evaluates the same variables that record sets, and php still reads its own
        settings."""
        shown = "echo $INTEL_JIT_PROFILER64; echo $NUMBA_ENABLE_PROFILING; php -i"
        done = subprocess.run(["sh", "-c", f'eval "$({harness.JITBPF} env)"; {shown}'], check=True,
                              capture_output=True, text=True,
                              env={**os.environ, "NUMBA_ENABLE_PROFILING": "0"}).stdout
        self.assertEqual(done.splitlines()[:2], [harness.SHIM, "0"])
        self.assertRegex(done, r"opcache\.jit_debug => 128 => 128")
        self.assertIn("jitbpf.ini", done)

    def test_option_for_java(self):
        """It names the agent's file."""
        done = subprocess.run([harness.JITBPF, "env"], check=True, capture_output=True, text=True)
        agent = os.path.join(os.path.dirname(harness.SHIM), "libjitbpf-jvmti.so")
        self.assertRegex(done.stdout, rf"(?m)^#   Java: .* -agentpath:{re.escape(agent)}$")

    def test_java(self):
        """The user's own options of JVMs stay."""
        self.assertNotIn("JAVA_TOOL_OPTIONS", environment())
        done = subprocess.run(["sh", "-c", f'eval "$({harness.JITBPF} env '
                               '--java-debug-nonsafepoints)"; echo "$JAVA_TOOL_OPTIONS"'],
                              check=True, capture_output=True, text=True,
                              env={**os.environ, "JAVA_TOOL_OPTIONS": "-Dmine=1"}).stdout
        self.assertEqual(done, "-Dmine=1 -XX:+UnlockDiagnosticVMOptions "
                               "-XX:+DebugNonSafepoints\n")
        done = subprocess.run([harness.JITBPF, "env", "-f", "container",
                               "--java-debug-nonsafepoints"], check=True, capture_output=True,
                              text=True)
        self.assertNotIn("JAVA_TOOL_OPTIONS", done.stdout)
        self.assertIn("JAVA_TOOL_OPTIONS is left out", done.stderr)

    def numba_values(self, options, **values):
        """Returns numba's two variables after the shell has evaluated them, in that environment."""
        shown = 'echo "$NUMBA_ENABLE_PROFILING $NUMBA_DEBUGINFO"'
        env = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
        return subprocess.run(["sh", "-c", f'eval "$({harness.JITBPF} env {options})"; {shown}'],
                              check=True, capture_output=True, text=True,
                              env={**env, **values}).stdout.split()

    def test_engine_keeps_its_behaviour(self):
        """Profiling turns on numba's debug info, which makes its code slower: not by our doing."""
        self.assertEqual(self.numba_values(""), ["1", "0"])
        # What numba does by itself with the user's values.
        self.assertEqual(self.numba_values("", NUMBA_ENABLE_PROFILING="1"), ["1", "1"])
        self.assertEqual(self.numba_values("", NUMBA_DEBUGINFO="1"), ["1", "1"])
        self.assertEqual(self.numba_values("--jit-debug"), ["1", "1"])
        self.assertEqual(self.numba_values("--jit-debug", NUMBA_DEBUGINFO="0"), ["1", "1"])

    def test_shell_quotes_paths(self):
        with tempfile.TemporaryDirectory(prefix="jitbpf it's $HOME ") as folder:
            shim = shutil.copy(harness.SHIM, folder)
            text = environment("--shim", shim)
            done = subprocess.run(["sh", "-c", text + "echo \"$INTEL_JIT_PROFILER64\""],
                                  check=True, capture_output=True, text=True).stdout
            self.assertEqual(done.strip(), shim)
            # there is no such directory beside that shim
            self.assertNotIn("PHP_INI_SCAN_DIR", text)
            refused = subprocess.run([harness.JITBPF, "env", "-f", "container", "--shim", shim],
                                     capture_output=True, check=False)
            self.assertEqual((refused.returncode, refused.stdout), (2, b""))

    def test_fish(self):
        """fish sets what sh sets, beside the same variables of before."""
        before = {"LD_LIBRARY_PATH": "/a:/b", "PYTHONPATH": "x", "NUMBA_ENABLE_PROFILING": "0",
                  "PHP_INI_SCAN_DIR": "/it's", "JAVA_TOOL_OPTIONS": "-Da=b"}
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        shim = os.path.join(folder.name, "it's \\'$HOME\\ lib.so")
        shutil.copy(harness.SHIM, shim)
        for add, options in (({}, ""), (before, ""), (before, "--jit-debug --java-debug-nonsafepoints")):
            given = {"PATH": os.environ["PATH"], "HOME": folder.name, **add}
            command = f"{harness.JITBPF} env {options}"
            found = []
            for shell, line in (("sh", f'eval "$({command} --shim "$0")"; env -0'),
                                ("fish", f"{command} -f fish --shim $argv[1] | source; env -0")):
                done = subprocess.run([shell, "-c", line, shim], env=given, check=True,
                                      capture_output=True, text=True)
                self.assertEqual(done.stderr, "")
                found.append(dict(row.split("=", 1) for row in done.stdout.split("\0") if row))
            own = ("SHLVL", "PWD", "OLDPWD", "_")  # of the shells themselves
            for name in set(found[0]) - set(own):
                self.assertEqual(found[1].get(name), found[0][name], name)
            self.assertIn(shim, found[1].values())

    def test_service(self):
        lines = environment("-f", "systemd").splitlines()
        self.assertEqual(lines[0], "[Service]")
        values = dict(re.fullmatch(r'Environment="(\w+)=(.*)"', line).groups()
                      for line in lines[1:] if not line.startswith("#"))
        self.assertEqual(values["INTEL_JIT_PROFILER64"], harness.SHIM)
        self.assertTrue(values["PHP_INI_SCAN_DIR"].startswith(":/"))

    def test_options(self):
        """Engines that no variable helps are named in comments, not among container options."""
        for form in ("sh", "fish", "systemd"):
            self.assertIn("#   Node.js: --perf-prof\n", environment("-f", form))
            self.assertNotIn("CL_CONFIG", environment("-f", form))
            self.assertRegex(environment("-f", form, "--jit-debug"), "CL_CONFIG_USE_VTUNE[= ]")
        self.assertNotIn("#", environment("-f", "container"))

    def test_container(self):
        values = variables(environment("-f", "container").replace("--env=", ""))
        folder = os.path.dirname(harness.SHIM)
        self.assertEqual(values["--volume"], f"{folder}:{folder}:ro")
        self.assertEqual(values["INTEL_JIT_PROFILER64"], harness.SHIM)

    def test_unknown_format(self):
        done = subprocess.run([harness.JITBPF, "env", "-f", "csh"], capture_output=True,
                              check=False, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("systemd", done.stderr)
