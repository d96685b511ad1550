# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What becomes of the files that -o names, and of a terminal: whatever happens to the run."""

import os
import pty
import re
import signal
import subprocess
import time
import unittest

import harness

KEPT = b"what was there before"


class Outputs(harness.KernelTest):
    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, *names):
        for name in names:
            with open(self.path(name), "wb") as file:
                file.write(KEPT)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_record(self, *args, **kwargs):
        return subprocess.run([harness.JITBPF, "record", "-q", *args], cwd=self.folder,
                              capture_output=True, check=False, timeout=60, **kwargs)

    def test_kept_where_recording_fails(self):
        """A command that cannot be run, a process that is not there: nothing is touched."""
        names = ["old.jitbpf", "old.html", "old.folded"]
        outputs = [word for name in (*names, "new.txt") for word in ("-o", name)]
        self.put(*names)
        for wanted, subject in ((127, ["--", "/no/such/command"]), (1, ["-p", "4194304"]),
                                (1, ["--shim", "/no/such/shim", "--", "true"])):
            done = self.run_record(*outputs, *subject)
            self.assertEqual(done.returncode, wanted, done.stderr)
            for name in names:
                self.assertEqual(self.read(name), KEPT, (name, subject))
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))

    def test_kept_where_one_output_is_refused(self):
        self.put("old.html")
        for other, status in (("no/such/folder.html", 1), ("unknown.format", 2),
                              ("./old.html", 1)):
            done = self.run_record("-o", "old.html", "-o", other, "--", "true")
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(self.read("old.html"), KEPT)
        self.assertEqual(os.listdir(self.folder), ["old.html"])

    def test_replaced_where_it_succeeds(self):
        self.put("old.jitbpf", "old.folded")
        os.chmod(self.path("old.folded"), 0o640)
        os.symlink("old.folded", self.path("link.folded"))
        done = self.run_record("-o", "old.jitbpf", "-o", "link.folded", "--", harness.ENGINE,
                               "hot", "--seconds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = subprocess.run([harness.JITBPF, "report", "-f", "folded", "old.jitbpf"],
                                cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(report.stdout, self.read("old.folded"))
        self.assertEqual(os.stat(self.path("old.folded")).st_mode & 0o777, 0o640)
        self.assertTrue(os.path.islink(self.path("link.folded")))
        self.assertEqual(len(os.listdir(self.folder)), 3)

    def test_killed(self):
        """The recording has its rounds; what is written at the end is as it was."""
        self.put("old.jitbpf", "old.html")
        report = [harness.JITBPF, "report", "-f", "folded", "old.jitbpf"]
        process = subprocess.Popen([harness.JITBPF, "record", "-q", "-F", "499", "-o",
                                    "old.jitbpf", "-o", "old.html", "--", harness.ENGINE, "hot",
                                    "--seconds", "60"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL)
        for _ in range(600):
            done = subprocess.run(report, cwd=self.folder, capture_output=True, check=False)
            if done.stdout:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertEqual(self.read("old.html"), KEPT)
        self.assertEqual(sorted(os.listdir(self.folder)), ["old.html", "old.jitbpf"])
        done = subprocess.run(report, cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"the recording was cut", done.stderr)
        self.assertGreater(len(done.stdout), 0)

    def test_report_to_whatever_is_there(self):
        """A FIFO, standard output among other text, a file mounted by itself; a full disk."""
        self.assertEqual(self.run_record("-o", "r.jitbpf", "--", harness.ENGINE, "hot",
                                         "--seconds", "1").returncode, 0)
        report = f"{harness.JITBPF} report -f folded"
        os.mkfifo(self.path("fifo"))
        self.put("mounted", "over")
        script = f"""set -e
            {report} r.jitbpf >plain
            cat fifo >through & {report} -o fifo r.jitbpf; wait; cmp plain through
            (echo before; {report} -o /dev/stdout r.jitbpf; {report} -o - r.jitbpf) >among
            (echo before; cat plain plain) | cmp - among
            mount --bind mounted over; {report} -o over r.jitbpf; umount over; cmp plain mounted
            {report} -o /dev/null r.jitbpf; test -c /dev/null
            cp plain full; ! {report} -o /dev/full r.jitbpf
            ! {report} -o full plain; cmp plain full"""
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], cwd=self.folder,
                              capture_output=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read("over"), KEPT)


class Terminal(harness.KernelTest):
    def on_terminal(self, *argv):
        """Run it; what it wrote to the terminal."""
        pid, fd = pty.fork()
        if not pid:
            os.chdir(self.folder)
            os.execv(harness.JITBPF, [harness.JITBPF, *argv])
        written = b""
        while True:
            try:
                piece = os.read(fd, 65536)
            except OSError:
                piece = b""
            if not piece:
                break
            written += piece
        os.close(fd)
        self.assertEqual(os.waitpid(pid, 0)[1], 0, written)
        return written.decode()

    def test_progress_comes_and_goes(self):
        """One line, each within the terminal's width, and nothing of it is left."""
        os.mkdir(os.path.join(self.folder, "x" * 100))
        page = "x" * 100 + "/page.html"
        written = self.on_terminal("record", "-q", "-d", "1", "-o", "r.jitbpf", "-o", page, "--",
                                   "sleep", "5")
        self.assertIn(" samples  ", written)
        self.assertIn("writing xxx", written)
        self.assertNotIn("\n", written)
        self.assertEqual(written[written.rfind("\r"):], "\r\033[K")
        for line in re.split("\r\033\\[K", written):
            self.assertLess(len(line), 80)
        written = self.on_terminal("report", "-o", page, "r.jitbpf")
        self.assertIn("writing xxx", written)
        self.assertEqual(written[written.rfind("\r"):], "\r\033[K")


if __name__ == "__main__":
    unittest.main()
