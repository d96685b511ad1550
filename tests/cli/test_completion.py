#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_completion.py BUILD: completion in bash, zsh and fish, as a user at a terminal sees it."""

import ctypes
import fcntl
import os
import pathlib
import pty
import pwd
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "tools/completion"
RECORDING = pathlib.Path(__file__).resolve().parents[1] / "golden/php.jitbpf"
LIMIT_S = 60
PR_SET_NAME = 15
# Bash would run it, zsh would split it, a terminal would change its colour.
HOSTILE = b"\x1b[31m`>Q`\n;>Q #"
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             f"source '{SCRIPTS}/jitbpf.bash'; bind 'set completion-query-items 0'; "
             "bind 'set page-completions off'; bind 'set enable-bracketed-paste off'"),
    "zsh": (["zsh", "-f", "-i"],
            f"fpath=('{SCRIPTS}' $fpath); autoload -U compinit; compinit -D -u; LISTMAX=100000"),
}


class Terminal:
    """An interactive shell."""

    def __init__(self, name, folder):
        self.output = b""
        command, setup = SHELLS[name]
        environment = {**os.environ, "TERM": "dumb", "HOME": folder, "PS1": "> ",
                       "PATH": f"{BUILD}:{os.environ['PATH']}"}
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("4H", 5000, 120, 0, 0))
        self.type(setup + "\n")
        self.wait_for_prompt()

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def wait_for_prompt(self):
        """Returns what the shell has written since the last time."""
        self.type("echo REA''DY\n")
        end = time.monotonic() + LIMIT_S
        while b"READY" not in self.output:
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"no prompt after {self.output!r}")
            self.output += os.read(self.fd, 65536)
        text, self.output = self.output.decode(errors="replace"), b""
        return text

    def complete(self, line):
        """Returns what is shown when the user presses the tab key twice after a line."""
        self.type(line + "\t\t")
        # The rest of a menu's choice, or of the line, is an argument.
        self.type(" \x01: \n")
        return self.wait_for_prompt()

    def run(self, line):
        """Returns the output of a line, in which a tab completes."""
        self.type(line + "\n")
        return self.wait_for_prompt()

    def close(self):
        os.close(self.fd)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def named_process(name):
    """Returns the pid of a process with a name."""
    ready = os.pipe()
    pid = os.fork()
    if not pid:
        ctypes.CDLL(None).prctl(PR_SET_NAME, name, 0, 0, 0)
        os.write(ready[1], b"1")
        signal.pause()
        os._exit(0)
    os.read(ready[0], 1)
    os.close(ready[0])
    os.close(ready[1])
    return pid


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name in ("one.jitbpf", "t w o.jitbpf", "three.html", "other.c"):
            pathlib.Path(self.folder, name).touch()
        pathlib.Path(self.folder, "below").mkdir()
        self.recording = pathlib.Path(self.folder, "profile.jitbpf")
        shutil.copy(RECORDING, self.recording)

    def start_hostile(self):
        """Returns the beginning that the pids of two such processes share, and the pids."""
        pids = []
        while not os.path.commonprefix([str(pid) for pid in pids[-2:]]) or len(pids) < 2:
            pids.append(named_process(HOSTILE))
            self.addCleanup(os.waitpid, pids[-1], 0)
            self.addCleanup(os.kill, pids[-1], signal.SIGKILL)
        pids = [str(pid) for pid in pids[-2:]]
        return os.path.commonprefix(pids), pids


    def start_named(self, name):
        pid = named_process(name)
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)

    def start_in_cgroup(self):
        """Returns the path and the unit of a cgroup with a process, or None without rights to make one."""
        with open("/proc/self/mounts", encoding="utf-8") as mounts:
            mount = next((line.split()[1] for line in mounts if line.split()[2] == "cgroup2"), None)
        unit = f"jitbpf-completion-{os.getpid()}.service"
        if not mount or os.geteuid():
            return None
        path = f"/jitbpf-completion-{os.getpid()}.slice"
        process = subprocess.Popen(["sleep", "600"])
        made = []

        def clean():
            process.kill()
            process.wait()
            for folder in reversed(made):
                os.rmdir(folder)
        self.addCleanup(clean)
        try:
            for folder in (mount + path, f"{mount}{path}/{unit}"):
                os.mkdir(folder)
                made.append(folder)
            pathlib.Path(made[-1], "cgroup.procs").write_text(str(process.pid), encoding="ascii")
        except OSError:
            return None
        return f"{path}/{unit}", unit


class InTerminals(Case):
    def check(self, name):
        shell = Terminal(name, self.folder)
        self.addCleanup(shell.close)
        self.assertRegex(shell.run("jitbpf vers\t"), r"jitbpf \d+\.\d+")
        shown = shell.complete("jitbpf li")
        self.assertIn("list", shown)
        self.assertIn("live", shown)
        shown = shell.complete("jitbpf report --by ")
        for word in ("comm", "pid", "tid"):
            self.assertIn(word, shown)
        shown = shell.complete("jitbpf report ")
        self.assertIn("one.jitbpf", shown)
        self.assertIn("below/", shown)
        self.assertNotIn("three.html", shown)
        shown = shell.complete("jitbpf record --output=")
        self.assertIn("one.jitbpf", shown)
        self.assertIn("three.html", shown)
        self.assertNotIn("other.c", shown)
        self.assertIn("speedscope", shell.complete("jitbpf record -o x."))
        shown = shell.complete("jitbpf annotate mand")
        self.assertIn("mandelbrot", shown)
        self.assertIn("one.jitbpf", shell.complete("jitbpf annotate mandelbrot on"))
        self.assertIn("sha512sum", shell.complete("jitbpf record -F 99 -- sha512su"))
        user = pwd.getpwuid(os.getuid()).pw_name
        self.assertIn(user, shell.complete("jitbpf record -u "))
        prefix, pids = self.start_hostile()
        shown = shell.complete(f"jitbpf record -p {prefix}")
        for pid in pids:
            self.assertRegex(shown, pid + r"  (\(|-- )\?\[31m`>Q`")
        self.assertNotIn("\x1b[31m", shown)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "Q")))

    def test_bash(self):
        self.check("bash")

    def test_zsh(self):
        self.check("zsh")


class Recordings(Case):
    """Which recordings are read for their functions."""

    def functions(self):
        done = subprocess.run([BUILD / "jitbpf", "complete", "zsh", "", "annotate", "mand"],
                              cwd=self.folder, capture_output=True, timeout=LIMIT_S, check=True)
        return done.stdout.decode().splitlines()[1:]

    def test_own(self):
        self.assertEqual(self.functions(), ["mandelbrot"])

    def test_none(self):
        self.recording.unlink()
        self.assertEqual(self.functions(), [])

    def test_fifo(self):
        self.recording.unlink()
        os.mkfifo(self.recording)
        self.assertEqual(self.functions(), [])

    def test_damaged(self):
        self.recording.write_bytes(self.recording.read_bytes()[:999])
        self.assertEqual(self.functions(), [])

    def test_of_another_user(self):
        """In a folder that all may write to, a key reads nothing of others."""
        if os.geteuid():
            self.skipTest("needs root")
        os.chown(self.recording, 1, 1)
        self.assertEqual(self.functions(), [])


class Fish(Case):
    """fish prints the candidates of a line."""

    def complete(self, line):
        environment = {**os.environ, "HOME": self.folder, "PATH": f"{BUILD}:{os.environ['PATH']}"}
        shell = subprocess.run(
            ["fish", "-N", "-c", f"source '{SCRIPTS}/jitbpf.fish'; complete -C '{line}'"],
            cwd=self.folder, env=environment, capture_output=True, timeout=LIMIT_S, check=True)
        self.assertEqual(shell.stderr, b"")
        return [line.split("\t") for line in shell.stdout.decode(errors="replace").splitlines()]

    def names(self, line):
        return sorted(row[0] for row in self.complete(line))

    def test_candidates(self):
        self.assertEqual(self.names("jitbpf li"), ["list", "live"])
        self.assertEqual(self.names("jitbpf report --by "), ["comm", "container", "pid", "tid"])
        self.assertEqual(self.names("jitbpf report --by=t"), ["--by=tid"])
        self.assertEqual(self.names("jitbpf report "), ["below/", "one.jitbpf", "profile.jitbpf", "t w o.jitbpf"])
        self.assertEqual(self.names("jitbpf annotate mand"), ["mandelbrot"])
        self.assertIn("zend_hash_find", self.names("jitbpf annotate "))
        self.assertEqual(self.names("jitbpf annotate mandelbrot o"), ["one.jitbpf"])
        found = self.names("jitbpf report --output=th")
        for name in ("three.html", "th.html", "th.pb.gz", "th.speedscope.json"):
            self.assertIn("--output=" + name, found)
        self.assertNotIn("other.c", found)
        self.assertIn("grep", self.names("jitbpf record -- gre"))

    def test_choices(self):
        """Users and cgroups that have processes; and names that -p would not take apart."""
        self.assertIn(pwd.getpwuid(os.getuid()).pw_name, self.names("jitbpf record -u "))
        self.assertIn(f"--user={pwd.getpwuid(os.getuid()).pw_name}", self.names("jitbpf top --user="))
        self.start_named(b"zz-plain")
        self.start_named(b"zz-two,names")
        self.assertEqual(self.names("jitbpf record -p zz"), ["zz-plain"])
        made = self.start_in_cgroup()
        if made:
            path, unit = made
            self.assertIn(unit, self.names("jitbpf record -G jitbpf-c"))
            found = self.names("jitbpf record -G /jitbpf-c")
            self.assertEqual(found, [os.path.dirname(path), path])

    def test_hostile_names(self):
        prefix, pids = self.start_hostile()
        rows = {row[0]: row[1:] for row in self.complete(f"jitbpf record -p {prefix}")}
        for pid in pids:
            self.assertEqual(rows[pid], ["?[31m`>Q`?;>Q #"])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "Q")))


if __name__ == "__main__":
    unittest.main()
