# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The commands of README.md and docs/, run as root in a terminal with the installed jitbpf, as they
are written there. A recording without an end gets a Ctrl-C."""

import fcntl
import glob
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

import harness
import run_for
from test_choice import mount_of_cgroups

sys.path.insert(0, os.path.join(harness.ROOT, "tests/cli"))

import documented  # pylint: disable=wrong-import-position

PARTS = os.path.join(harness.BUILD, "tests/docs")  # what docs.mk makes
LIMIT_S = 60
SAMPLING = re.compile(rb"\d samples")  # in the line of a run, and on the screen of top
SAMPLING_S = 0.3  # from then to the key; of the CPU time of processes that are named
ENDLESS = re.compile(r"\bjitbpf (record|live|top)\b(?!.* -- )")
KEPT = re.compile(r"(eval|export|cd) ")  # what later lines of a block need
PHP_PIDS, JVM_PID = ("1234", "1240"), "4321"
UNIT, CONTAINER = "nginx.service", "3f2a9c1b7e54"
REAL = {"https://debuginfod.debian.net": "http://127.0.0.1:9"}  # a server that does not answer


APP = """
function work(n) { let sum = 0; for (let i = 0; i < n; i++) sum += Math.sqrt(i); return sum; }
const end = Date.now() + 500;
while (Date.now() < end) work(10000);
"""
PROGRAM = """
import time
end = time.monotonic() + 0.5
while time.monotonic() < end:
    sum(i * i for i in range(1000))
"""
PERL = """
my $sum = 0;
while ((times)[0] < 0.5) {
    $sum += $_ for 1 .. 1000;
}
"""


class Terminal:
    """A shell command line in a terminal of its own."""

    def __init__(self, line, folder, environment):
        self.text = b""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 130, 0, 0))
                os.chdir(folder)
                os.execvpe("bash", ["bash", "-c", line], environment)
            finally:
                os._exit(126)

    def read(self, seconds):
        """Reads for so long, or until the command's end. Returns false at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # EIO: nobody has the terminal any more
            data = b""
        self.text += data
        return bool(data)

    def run(self, key, pids):
        """Runs to the end. A key, if any, is typed once the screen shows that samples are taken, and
        these have had some of the processes."""
        end, typing = time.monotonic() + LIMIT_S, []
        while self.read(0.05):
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                break
            if key and (typing or SAMPLING.search(self.text)):
                clocks = [time.monotonic(), *map(run_for.cpu_seconds, pids)]
                typing = typing or [clock + SAMPLING_S for clock in clocks]
                if all(clock >= then for clock, then in zip(clocks, typing)):
                    os.write(self.fd, key)
                    key = None
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Documented(harness.KernelTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        stubs = os.path.join(self.folder, "stubs")
        self.folder = os.path.join(self.folder, "home")
        for path in (stubs, self.folder):
            os.mkdir(path)
        with open(f"{stubs}/sudo", "w", encoding="ascii") as file:
            file.write(documented.SUDO)
        os.chmod(f"{stubs}/sudo", 0o755)
        self.environment = {
            "PATH": f"{os.path.abspath(PARTS)}/usr/bin:{stubs}:{os.environ['PATH']}",
            "HOME": self.folder, "TERM": "xterm", "LANG": "C.UTF-8",
            "DESTDIR": os.path.join(self.folder, "root")}  # for make install
        self.lay_files()

    def lay_files(self):
        with open(harness.PHP_SCRIPT, encoding="utf-8") as file:
            script = file.read().replace("$argv[1] ?? 3", "$argv[1] ?? 0.5")
        with open(f"{harness.ROOT}/tests/programs/workloads/convolutions.py", encoding="utf-8") as file:
            model = file.read().replace("sys.argv[1]", "0.5")
        for name, text in (("script.php", script), ("app.js", APP), ("program.py", PROGRAM),
                           ("script.pl", PERL), ("model.py", model)):
            with open(f"{self.folder}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
            hour_ago = time.time() - 3600  # opcache leaves out scripts of just now, or of 1970
            os.utime(f"{self.folder}/{name}", (hour_ago, hour_ago))
        for name in ("profile", "before", "after"):
            shutil.copy(f"{harness.ROOT}/tests/golden/php.jitbpf", f"{self.folder}/{name}.jitbpf")
        if os.path.exists(f"{PARTS}/program.jar"):
            shutil.copy(f"{PARTS}/program.jar", self.folder)

    def start(self, *command):
        environment = dict(line.split("=", 1) for line in subprocess.run(
            ["bash", "-c", "eval \"$(jitbpf env)\"; env"], env=self.environment, check=True,
            capture_output=True, text=True).stdout.splitlines() if "=" in line)
        process = subprocess.Popen(command, cwd=self.folder, env=environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def prepare(self, block):
        """Starts what the commands of a block name by pid, unit or container. Returns the words that
        stand for them."""
        text, real = "\n".join(block.lines), dict(REAL)
        for word in PHP_PIDS:
            if re.search(rf"\b{word}\b", text):
                pid = self.start(*harness.php_jit("tracing"), "script.php", "60").pid
                self.wait_for(lambda pid=pid: not harness.php_has_api() or self.methods(pid))
                real[word] = str(pid)
        if "java" in text and not os.path.exists(f"{self.folder}/program.jar"):
            self.skipTest("there is no JDK")
        if re.search(rf"\b{JVM_PID}\b", text):
            process = self.start("java", "-jar", "program.jar", "60")
            self.wait_for(lambda: "libjvm.so" in self.mappings(process.pid))
            real[JVM_PID] = str(process.pid)
        for word, name in (UNIT, UNIT), (CONTAINER, f"docker-{CONTAINER}{'0' * 52}.scope"):
            if word in text:
                self.make_cgroup(name)
        return real

    def mappings(self, pid):
        with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
            return file.read()

    def make_cgroup(self, name):
        mount = mount_of_cgroups()
        if not mount:
            self.skipTest("cgroup version 2 is not mounted")
        path = os.path.join(mount, f"jitbpf-docs-{os.getpid()}")
        for folder in path, os.path.join(path, name):
            os.mkdir(folder)
            self.addCleanup(os.rmdir, folder)
        process = self.start(*harness.php_jit("tracing"), "script.php", "60")
        with open(os.path.join(path, name, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write(str(process.pid))

    def check(self, block):
        if block.reason:
            self.skipTest(f"not run: {block.reason}")
        real, before = self.prepare(block), []
        self.pids = [int(word) for word in real.values() if word.isdigit()]
        folder = harness.ROOT if re.match(r"(sudo )?make\b", block.lines[0]) else self.folder
        for line in documented.commands(block):
            for word, meant in real.items():
                line = re.sub(rf"\b{re.escape(word)}\b", meant, line)
            self.check_line(line, before, folder)
            if KEPT.match(line):
                before.append(line)

    def check_line(self, line, before, folder):
        key = b"q" if "jitbpf top" in line else b"\x03" if ENDLESS.search(line) else None
        named = [pid for pid in self.pids if re.search(rf"\b{pid}\b", line)]
        terminal = Terminal("\n".join([*before, line]), folder, self.environment)
        status = terminal.run(key, named)
        said = terminal.text.decode(errors="replace")
        self.assertEqual(status, 0, f"{line}\n{said}")
        for option, path in re.findall(r" (-o|>) (\S+)", line):
            name, ending = path.split(".", 1)
            pattern = f"{name}.*.{ending}" if "--rotate" in line else path
            found = glob.glob(os.path.join(folder, pattern))
            self.assertTrue(found and all(map(os.path.getsize, found)), f"{option} {path}\n{said}")


def test_of(block):
    return lambda self: self.check(block)


for page in documented.PAGES:
    for found_block in documented.blocks(page):
        if documented.commands(found_block):
            place = re.sub(r"\W", "_", os.path.splitext(os.path.relpath(page, harness.ROOT))[0])
            made = test_of(found_block)
            made.is_slow = place.startswith(("docs_engines_", "docs_recording"))
            setattr(Documented, f"test_{place}_{found_block.line}", made)


class Coverage(unittest.TestCase):
    def test_some_of_each_page(self):
        """A page whose blocks are not found, or are all marked, is not tested."""
        for path in documented.PAGES:
            self.assertTrue(any(documented.commands(block) for block in documented.blocks(path)), path)
