# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The output files of -o and the terminal, whatever happens to the run."""

import json
import os
import pty
import re
import signal
import subprocess
import time

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

    def test_standard_output(self):
        """It has the output only: what the command writes goes to standard error."""
        samples = {"folded": lambda text: sum(int(line.rsplit(b" ", 1)[1]) for line in text.splitlines()),
                   "json": lambda text: json.loads(text)["samples"]["taken"],
                   "script": lambda text: text.count(b"cpu-clock:")}
        command = [harness.ENGINE, "hot", "--seconds", "0.3"]
        for form, count in samples.items():
            done = subprocess.run([harness.JITBPF, "record", "-F", "499", "-o", "-", "-f", form, "--", "sh", "-c",
                                   'echo sa""id by the command; "$@"', "sh", *command], capture_output=True, check=True)
            self.assertGreater(count(done.stdout), 50, form)
            self.assertNotIn(b"said by the command", done.stdout)
            self.assertIn(b"said by the command", done.stderr)
            self.assertIn(b"so the command's standard output goes to standard error", done.stderr)
        for args, words in ((("-o", "-"), b"needs a format"), (("-f", "json"), b"add -o FILE"),
                            (("-f", "html", "-o", "a", "-o", "b.txt"), b"its extension"),
                            (("-f", "html", "-o", "a.jitbpf"), b"is the name of a recording"),
                            (("-f", "html", "-o", "a", "--rotate", "1h"), b"--rotate"),
                            (("-f", "json", "-o", "-", "-o", "/dev/stdout"), b"given twice")):
            done = self.run_record(*args, "true")
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(words, done.stderr)

    def run_record(self, *args, **kwargs):
        return subprocess.run([harness.JITBPF, "record", "-q", *args], cwd=self.folder,
                              capture_output=True, check=False, timeout=60, **kwargs)

    def test_format_of_the_only_output(self):
        """As with report: of a file of any name, which --refresh writes, too."""
        path = os.path.join(self.folder, "page")
        done = subprocess.run([harness.JITBPF, "record", "-F", "499", "-o", path, "-f", "html",
                               "--refresh", "100ms", "--", "sh", "-c", "echo said"],
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, b"said\n")
        with open(path, encoding="utf-8") as page:
            self.assertTrue(page.read().lower().startswith("<!doctype html"))

    def test_kept_where_recording_fails(self):
        """A command that cannot be executed, or an unknown process: no file is changed."""
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

    def test_default(self):
        """The recording before stays as .old; the last words name files and what shows them."""
        for old in (False, True):
            done = subprocess.run([harness.JITBPF, "record", "--", "true"], cwd=self.folder,
                                  capture_output=True, check=True)
            words = done.stderr.decode().splitlines()[-1]
            self.assertRegex(words, r"^jitbpf: wrote profile\.jitbpf, [\d.]+ KB;.* next: "
                                    r"\S*jitbpf report -f top profile\.jitbpf$")
            self.assertEqual("the previous file is profile.jitbpf.old" in words, old)
            self.assertEqual(os.path.exists(os.path.join(self.folder, "profile.jitbpf.old")), old)
        shown = words.rpartition("next: ")[2]
        done = subprocess.run(shown, cwd=self.folder, shell=True, capture_output=True,
                              check=True)
        self.assertRegex(done.stdout, rb"(?m)^true$")

    def test_replaced_where_it_succeeds(self):
        self.put("old.jitbpf", "old.folded")
        os.chmod(self.path("old.folded"), 0o666)
        os.symlink("old.folded", self.path("link.folded"))
        done = self.run_record("-o", "old.jitbpf", "-o", "link.folded", "--", harness.ENGINE,
                               "hot", "--seconds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = subprocess.run([harness.JITBPF, "report", "-f", "folded", "old.jitbpf"],
                                cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(report.stdout, self.read("old.folded"))
        self.assertEqual(os.stat(self.path("old.folded")).st_mode & 0o777, 0o600)
        self.assertTrue(os.path.islink(self.path("link.folded")))
        self.assertEqual(len(os.listdir(self.folder)), 3)

    def test_killed(self):
        """The recording has its rounds; outputs that are written at the end are unchanged."""
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
        """A FIFO, standard output after other text, a mount point, a full disk."""
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


PAGE = 4096
FORMATS = [".folded", ".html", ".json.gz", ".pb.gz", ".speedscope.json", ".txt"]


def pages(size):
    return -(-size // PAGE)


class FullDisk(harness.KernelTest):
    """An output whose disk is full is lost alone, and the file that it was to replace is kept.
    Each output is on a tmpfs of its own, which has room for the old file and some pages."""

    STORM = [harness.ENGINE, "storm", "--seconds", "1"]

    def on_small_disks(self, rooms, argv):
        """Run argv where disk.X/out.X is on a disk with room for rooms[X] pages. What it did, and
        what is on each disk afterwards."""
        script = "set -e\n"
        for ending, room in rooms.items():
            script += (f"mkdir -p disk{ending} && mount -t tmpfs -o size={(room + 1) * PAGE} none "
                       f"disk{ending} && cp old disk{ending}/out{ending}\n")
        script += 'status=0; "$@" || status=$?\n'
        for ending in rooms:
            script += (f"rm -rf after{ending}; cp -r disk{ending} after{ending}; "
                       f"umount disk{ending}\n")
        with open(os.path.join(self.folder, "old"), "wb") as file:
            file.write(KEPT)
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script + "exit $status", "sh",
                               *argv], cwd=self.folder, capture_output=True, check=False,
                              timeout=60)
        left = {}
        for ending in rooms:
            folder = os.path.join(self.folder, f"after{ending}")
            self.assertEqual(os.listdir(folder), [f"out{ending}"])
            with open(os.path.join(folder, f"out{ending}"), "rb") as file:
                left[ending] = file.read()
        return done, left

    def check_said_once(self, done, ending):
        said = [line for line in done.stderr.decode().splitlines() if f"/out{ending} " in line]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertIn("No space left on device", said[0])
        self.assertIn("write elsewhere with -o", said[0])

    def test_report(self):
        """Full at the first byte, in the middle, at the last page; and just large enough."""
        self.record(self.STORM, ["-F", "1999"], endings=[".jitbpf"])
        for ending in [*FORMATS, ".summary", ".summary.json"]:
            whole = os.path.join(self.folder, "whole" + ending)
            argv = [harness.JITBPF, "report", "-o"]
            subprocess.run([*argv, whole, "out.jitbpf"], cwd=self.folder, check=True)
            with open(whole, "rb") as file:
                wanted = file.read()
            size = pages(len(wanted))
            if ending in FORMATS:
                self.assertGreater(size, 2)
            for room in sorted({0, size // 2, size - 1, size}):
                done, left = self.on_small_disks(
                    {ending: room}, [*argv, f"disk{ending}/out{ending}", "out.jitbpf"])
                if room == size:
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(left[ending], wanted)
                else:
                    self.assertEqual(done.returncode, 1, (ending, room))
                    self.assertEqual(left[ending], KEPT)
                    self.check_said_once(done, ending)

    @harness.slow
    def test_record(self):
        """Each output beside a whole one of its kind: all that fail are said, none costs another.
        A recording that fails later holds what was written until then."""
        argv = [harness.JITBPF, "record", "-q", "-F", "499", "--min-free", "0"]
        for ending in FORMATS:
            argv += ["-o", f"whole{ending}", "-o", f"disk{ending}/out{ending}"]
        argv += ["-o", "disk.jitbpf/out.jitbpf", "--", harness.ENGINE, "storm", "--rate", "200",
                 "--seconds", "4"]
        sizes = dict.fromkeys([*FORMATS, ".jitbpf"], 0)
        for part in (0, 0.4, 0.6):  # a run can be smaller than the one before
            rooms = {ending: int(pages(size) * part) for ending, size in sizes.items()}
            done, left = self.on_small_disks(rooms, argv)
            self.assertEqual(done.returncode, 1, done.stderr)
            for ending in FORMATS:
                sizes[ending] = os.path.getsize(os.path.join(self.folder, "whole" + ending))
                self.assertGreater(pages(sizes[ending]), rooms[ending], ending)
                self.assertEqual(left[ending], KEPT, ending)
                self.check_said_once(done, ending)
            self.check_said_once(done, ".jitbpf")
            if not part:
                self.assertEqual(left[".jitbpf"], KEPT)
                sizes[".jitbpf"] = 20000  # about 5 KB a second, which is flushed
                continue
            report = subprocess.run([harness.JITBPF, "report", "-f", "folded",
                                     "after.jitbpf/out.jitbpf"], cwd=self.folder,
                                    capture_output=True, check=False)
            self.assertEqual(report.returncode, 1)
            self.assertIn(b"the recording was cut", report.stderr)
            self.assertGreater(len(report.stdout), 0)


class Terminal(harness.KernelTest):
    def on_terminal(self, *argv):
        """Runs on a terminal; returns what was written to it."""
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
        """One line, within the width of the terminal, which is removed at the end."""
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
