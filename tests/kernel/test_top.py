# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""jitbpf top, driven by tmux as a person would, and how it leaves the terminal."""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import time

import harness
from harness import ENGINE, JITBPF, WITH_CODE, needs_php_api, php
from test_roles import children, status

REVERSE = re.compile(r"\x1b\[(?:\d+;)*7m")
ESCAPE = re.compile(r"\x1b\[[\d;]*m|[\x0e\x0f]")
PROMPT = "ready$ "


class Terminal(harness.KernelTest):
    """A shell in a terminal."""

    def setUp(self):
        super().setUp()
        self.server = f"jitbpf-{os.getpid()}-{self.id().rpartition('.')[2]}"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "130", "-y", "40",
                  f"env -i PATH={os.environ['PATH']} LANG=C.UTF-8 TERM=screen PS1='{PROMPT}' "
                  f"HOME={self.folder} bash --norc --noprofile -i")
        self.addCleanup(self.tmux, "kill-server")
        self.wait_for(lambda: PROMPT.strip() in self.screen())
        self.type("stty -g >before")

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", "-L", self.server, *arguments], cwd=self.folder, text=True,
                              capture_output=True, check=True)
        return done.stdout

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, words):
        self.tmux("send-keys", "-l", f"cd {shlex.quote(self.folder)}; {words}")
        self.keys("Enter")

    def coloured(self):
        return self.tmux("capture-pane", "-p", "-e")

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def selected(self):
        """Returns the line of the screen that is selected."""
        found = [line for line in self.coloured().splitlines() if REVERSE.search(line)]
        return ESCAPE.sub("", found[-1]) if found else ""

    def wait_for_screen(self, words, seconds=60):
        try:
            return self.wait_for(lambda: re.search(words, self.screen()), seconds)
        except AssertionError:
            self.fail(f"no {words!r} on the screen:\n{self.screen()}")

    def top(self, *arguments):
        """Starts jitbpf top, whose exit status goes to the file `status`."""
        self.type(shlex.join([JITBPF, "top", *arguments]) + "; echo $? >status; stty -g >after")

    def status(self):
        """Waits for the end, and returns the exit status."""
        self.check_restored("after")
        with open(os.path.join(self.folder, "status"), encoding="ascii") as file:
            return int(file.read())

    def check_restored(self, name):
        """The terminal has the modes from before, the main screen, and a cursor."""
        self.assertEqual(self.line_of(name), self.line_of("before"))
        self.wait_for_screen(re.escape(PROMPT))
        self.assertEqual(self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}"),
                         "0 1\n")

    def line_of(self, name):
        """Waits for a line in a file, and returns it."""
        path = os.path.join(self.folder, name)

        def read():
            with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as file:
                text = file.read()
                return text if text.endswith("\n") else None
        return self.wait_for(read)

    def recorder(self):
        """Returns the pid of the recorder."""
        pane = int(self.tmux("display-message", "-p", "#{pane_pid}"))
        return next(pid for pid in children(pane) if status(pid)["Name"] == "jitbpf")

    def viewer(self):
        return next(pid for pid in children(self.recorder())
                    if status(pid)["Name"] == "jitbpf-top")


class Top(Terminal):
    @needs_php_api
    def test_php(self):
        """Functions of PHP appear by name; what is selected stays so over updates and sizes."""
        self.top("-F", "499", *WITH_CODE, "--", *php("tracing", 60))
        self.wait_for_screen(r"jit +\[jit\] +TRACE-\d+\$mandelbrot")
        self.keys("/")
        self.keys("-l", "mandelbrot")
        self.keys("Enter")
        self.wait_for_screen("search /mandelbrot/")
        self.wait_for(lambda: "mandelbrot" in self.selected())
        # TRACE-2$mandelbrot$11 becomes TRACE$mandelbrot$11 with a second trace from there.
        chosen = re.search(r"mandelbrot(\$\d+)?", self.selected()).group()
        self.keys("s")
        self.wait_for_screen("by total")
        self.assertIn(chosen, self.selected())
        seen = status(self.viewer())  # it draws names that others have made
        self.assertEqual({seen[field] for field in ("CapPrm", "CapEff", "CapInh", "CapAmb")},
                         {"0" * 16})
        self.assertEqual((seen["NoNewPrivs"], seen["Seccomp"]), ("1", "2"))
        before = self.samples()
        self.wait_for(lambda: self.samples() > before + 300)
        self.assertIn(chosen, self.selected())

        self.tmux("resize-window", "-x", "90", "-y", "20")
        self.wait_for(lambda: len(self.screen().splitlines()) <= 20 and chosen in self.selected())
        self.assertTrue(all(len(line) <= 90 for line in self.screen().splitlines()))

        self.keys("Enter")  # its place in the tree
        self.wait_for_screen(r"\[3 tree\]")
        self.assertIn(chosen, self.selected())
        self.keys("Home")
        self.wait_for_screen("- php\n(.*\n)*.* zend_execute")
        self.keys("1")
        self.wait_for_screen(r"PROCESS\n.* php\n")
        self.keys("f")
        self.keys("-l", "xyzzy")
        self.keys("Enter")
        self.wait_for_screen("zy/ +search")  # the line has no room for all of it
        self.assertNotRegex(self.screen(), r"PROCESS\n.* php\n")
        self.keys("q")
        self.assertEqual(self.status(), 0)

    def samples(self):
        return int(re.search(r"^([\d,]+) samples", self.screen(), re.M).group(1).replace(",", ""))

    def test_by_container(self):
        """The tree begins with the cgroup of the shell; of version 2, all may be in the root."""
        self.top("--by", "container", "-F", "499", "--", ENGINE, "hot", "--seconds", "60")
        self.wait_for_screen("jit-engine")
        self.keys("3")
        self.wait_for_screen(r"- (host|/\S+|\S+\.(scope|service|slice))\n(.*\n)?.*- jit-engine")
        self.keys("q")
        self.status()

    def test_ends(self):
        """The terminal is restored whoever ends: the run, the viewer or the recorder."""
        engine = [ENGINE, "hot", "--seconds", "60", "--name", "hot\x1b[31m\u202e"]
        for end, expected in ((lambda: self.keys("C-c"), (0, 130)),  # so did the command
                              (lambda: os.kill(self.recorder(), signal.SIGTERM), (0,)),
                              (lambda: os.kill(self.viewer(), signal.SIGKILL), (1,)),
                              (lambda: os.kill(self.recorder(), signal.SIGKILL), (137,))):
            self.top("--", *engine)
            self.wait_for_screen(r"\[jit\] +hot")
            command = next(pid for pid in children(self.recorder())
                           if status(pid)["Name"] == "jit-engine")
            end()
            self.assertIn(self.status(), expected, self.screen())
            with contextlib.suppress(ProcessLookupError):  # a killed recorder leaves it
                os.kill(command, signal.SIGKILL)
            for name in ("status", "after"):
                os.unlink(os.path.join(self.folder, name))
            self.type("clear")
            self.wait_for(lambda: "hot" not in self.screen())

    def test_stopped(self):
        """Ctrl-Z gives the terminal to the shell; the screen comes back in the foreground."""
        self.top("--window", "5s", "--", ENGINE, "hot", "--seconds", "60", "--name", "warm")
        self.wait_for_screen(r"last 5 s\n(.*\n)*.*\[jit\] +warm")
        self.keys("w")
        self.wait_for_screen(r"by self\n(.*\n)*.*\[jit\] +warm")
        self.keys("w", "w")
        self.wait_for_screen(r"last 10 s\n(.*\n)*.*\[jit\] +warm")
        self.keys("C-z")
        self.wait_for_screen("Stopped")
        self.type("stty -g >stopped")
        self.check_restored("stopped")
        self.keys("-l", "fg")
        self.keys("Enter")
        self.wait_for_screen(r"\[jit\] +warm")
        self.keys("q")
        self.wait_for_screen(re.escape(PROMPT))
        self.type("stty -g >after")
        self.check_restored("after")

    def test_output(self):
        """What the command writes does not reach the screen, which stays when the command ends."""
        self.top("--", "sh", "-c", f"echo DISTURB''ING; {ENGINE} hot --seconds 1 --name brief; "
                                   "echo DISTURB''ING >&2")
        self.wait_for_screen("the run has ended")
        self.assertRegex(self.screen(), r"\[jit\] +brief")
        self.assertNotIn("DISTURBING", self.screen())
        self.keys("q")
        self.assertEqual(self.status(), 0)
        self.assertNotIn("DISTURBING", self.screen())


class NoTerminal(harness.KernelTest):
    def test_pipe(self):
        """Without a terminal, it says what shows the same as text."""
        for options in ([], ["--once"]):
            done = subprocess.run([JITBPF, "top", *options, "--", "true"], capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=60, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"report -f top", done.stderr)
