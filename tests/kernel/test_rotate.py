# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""record --rotate: each file can be read alone, and together they hold every sample."""

import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import engine_truth
import harness

# Loads methods of random names, which do not compress: as many as are asked for at once, then up to
# 20,000 a second in their places, for 5 seconds or as many as are asked for.
RANDOM_NAMES = """
import ctypes, glob, mmap, os, sys, time
class Load(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("parent", ctypes.c_uint32), ("name", ctypes.c_char_p),
                ("address", ctypes.c_uint64), ("size", ctypes.c_uint32), ("zeros", ctypes.c_uint64 * 5)]
shim = ctypes.CDLL(sys.argv[1])
SLOTS = int(sys.argv[2])
memory = mmap.mmap(-1, 64 * SLOTS, prot=7)
begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
end, number = time.monotonic() + float(sys.argv[3] if len(sys.argv) > 3 else 5), 0
files, wanted = sys.argv[4:] or ("", 1)  # it ends once there are so many, whatever the load
while time.monotonic() < end and (number % 1000 or len(glob.glob(files)) < int(wanted)):
    number += 1
    shim.NotifyEvent(13, ctypes.byref(Load(id=number, name=os.urandom(32).hex().encode(), size=64,
                                           address=begin + 64 * (number % SLOTS))))
    if number > SLOTS and number % 1000 == 0:
        time.sleep(0.05)
"""


class Rotate(harness.KernelTest):
    def rotate(self, command, *options):
        """Records with rotation; returns a Run for each file, in order, and what was printed."""
        done = subprocess.run([harness.JITBPF, "record", "-F", "999", "-o",
                               os.path.join(self.folder, "r.jitbpf"), *options, "--", *command],
                              capture_output=True, check=False)
        said = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, 0, said)
        return self.runs_in(self.folder, said, done.stdout), said

    def runs_in(self, disk, said, stdout=b""):
        """Returns a Run for each recording there, in order."""
        runs = []
        for path in self.files_in(disk):
            folder = os.path.join(self.folder, os.path.basename(path).removesuffix(".jitbpf"))
            os.mkdir(folder)
            shutil.copy(path, os.path.join(folder, "out.jitbpf"))
            run = harness.Run(folder, 0, stdout, said)
            script = run.report("-f", "script", "--interpreter", "yes", "-o", run.path(".txt"))
            self.assertEqual(script.returncode, 0, script.stderr)
            self.assertEqual(script.stderr, b"")
            runs.append(run)
        return runs

    @staticmethod
    def files_in(folder):
        return sorted(glob.glob(os.path.join(folder, "r.*.jitbpf")))

    def check_sums(self, runs, said):
        """No sample is missing and none is there twice; returns the fates of all."""
        fates = {}
        for run in runs:
            samples = run.summary()["samples"]
            self.assertEqual(samples["taken"], sum(samples[key] for key in (
                "resolved", "code_unknown", "stack_cut", "lost")))
            for key, count in samples.items():
                if isinstance(count, int):
                    fates[key] = fates.get(key, 0) + count
        self.assertEqual(fates["taken"], int(re.search(r"(\d+) samples", said)[1]))
        last = runs[-1].summary()
        self.assertEqual(last["samples"]["taken"], last["counters"]["samples_taken"])
        seen = [(s.tid, s.time) for run in runs for s in run.script()]
        self.assertEqual(len(seen), len(set(seen)))
        self.assertEqual(len(seen), fates["taken"] - fates["lost"])
        return fates

    def test_php(self):
        """Code that was compiled in the first second is named in all files."""
        runs, said = self.rotate(harness.php("tracing", 5), "--rotate", "1")
        self.assertGreaterEqual(len(runs), 5)
        fates = self.check_sums(runs, said)
        self.assertGreater(fates["taken"], 3000)
        self.assertGreater(fates["resolved"], 0.99 * fates["taken"])
        all_named = 0
        for run in runs[1:-1]:
            samples = run.script()
            frames = [frame for frame in map(harness.leaf_jit, samples) if frame]
            named = sum(bool(re.match(r"TRACE-|JIT\$", frame.name)) for frame in frames)
            unnamed = sum(frame.name == "[unknown]" and frame.module in ("[jit]", "//anon")
                          for frame in frames)
            self.assertGreaterEqual(named, 0.2 * len(samples))
            self.assertLessEqual(unnamed, 0.001 * (named + unnamed))
            all_named += named
        self.assertGreater(all_named, 1000)

    def test_storm(self):
        """Code that is overwritten while files change."""
        runs, said = self.rotate([harness.ENGINE, "storm", "--rate", "1000", "--slots", "16",
                                  "--seconds", "5"], "--rotate", "1", "--user-regs")
        fates = self.check_sums(runs, said)
        counted = [engine_truth.generations(run) for run in runs]
        right, _unnamed, wrong = (sum(column) for column in zip(*counted))
        self.assertGreater(right, 1000)
        self.assertEqual(wrong, 0)
        self.assertLessEqual(fates["code_unknown"], 0.001 * fates["taken"])

    def test_keep(self):
        runs, said = self.rotate(harness.php("tracing", 6), "--rotate", "1", "--keep", "2")
        self.assertEqual(len(runs), 2)
        self.assertRegex(said, r"\d+ recordings, 2 kept")

    def test_size(self):
        runs, said = self.rotate([sys.executable, "-c", RANDOM_NAMES, harness.SHIM, "1000"],
                                 "--rotate", "1M")
        self.assertGreaterEqual(len(runs), 2)
        self.check_sums(runs, said)
        for run in runs[:-1]:
            self.assertGreater(os.path.getsize(run.path(".jitbpf")), 1 << 20)
            self.assertLess(os.path.getsize(run.path(".jitbpf")), 3 << 20)

    def test_size_with_much_code(self):
        """A snapshot can be larger than the files are to be; it does not end its file."""
        runs, said = self.rotate([sys.executable, "-c", RANDOM_NAMES, harness.SHIM, "60000", "120",
                                  os.path.join(self.folder, "r.*.jitbpf"), "5"], "--rotate", "1M")
        self.assertGreaterEqual(len(runs), 3)
        self.check_sums(runs, said)
        self.assertGreater(float(re.search(r"largest snapshot ([0-9.]+) KB", said)[1]), 1024)
        for run in runs[1:-1]:
            jit = run.summary()["jit"]
            self.assertGreater(jit["methods"] - jit["late"], 1000)

    def on_small_disk(self, options):
        disk = os.path.join(self.folder, "disk")
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", disk], check=False)
        return disk

    def interrupted(self, disk, until, *options, status=0):
        """Records into a folder, and waits for each condition that until(pid, said) yields; said()
        returns the messages so far. Returns all messages."""
        argv = [harness.JITBPF, "record", "-F", "999", *options, "-o",
                os.path.join(disk, "r.jitbpf"), "--", sys.executable, "-c", RANDOM_NAMES,
                harness.SHIM, "1000", "120"]
        path = os.path.join(self.folder, "said")
        with open(path, "wb") as messages, subprocess.Popen(argv, stderr=messages) as process:
            self.addCleanup(process.kill)
            for condition in until(process.pid, lambda: self.text_of(path)):
                self.wait_for(condition)
            self.assertIsNone(process.poll(), self.text_of(path))
            process.send_signal(signal.SIGINT)
            process.wait(60)
        self.assertEqual(process.returncode, status, self.text_of(path))
        return self.text_of(path)

    @staticmethod
    def text_of(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def fill_inodes(self, disk):
        names = []
        with contextlib.suppress(OSError):
            while len(names) < 1000:
                names.append(os.path.join(disk, f"other{len(names)}"))
                with open(names[-1], "wb"):
                    pass
        self.assertLess(len(names), 1000)
        return names[:-1]

    def check_next_file_fails(self, *options):
        disk = self.on_small_disk("size=100m,nr_inodes=30")

        def until(_pid, said):
            yield lambda: self.files_in(disk)
            others = self.fill_inodes(disk)
            before = len(self.files_in(disk))
            yield lambda: "No space left on device" in said()
            time.sleep(3)
            self.assertEqual(len(self.files_in(disk)), before)
            for path in others:
                os.unlink(path)
            yield lambda: len(self.files_in(disk)) > before

        said = self.interrupted(disk, until, "--min-free", "0", *options)
        self.assertEqual(said.count("No space left"), 1, said)
        self.check_sums(self.runs_in(disk, said), said)

    def test_next_file_fails(self):
        """One message; the current file goes on, and has all samples until another one begins."""
        self.check_next_file_fails("--rotate", "1M")

    @harness.slow
    def test_next_file_fails_with_max_size(self):
        self.check_next_file_fails("--rotate", "60", "--max-size", "40M")

    @harness.slow
    def test_next_file_fails_by_time(self):
        self.check_next_file_fails("--rotate", "1")

    def test_full_disk(self):
        """A file that cannot be written to the end has a successor once there is room again."""
        disk = self.on_small_disk("size=20m")
        other = os.path.join(disk, "other")

        def until(_pid, said):
            yield lambda: self.files_in(disk)
            with contextlib.suppress(OSError), open(other, "wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
            yield lambda: "is incomplete: No space left on device" in said()
            time.sleep(3)
            os.unlink(other)
            yield lambda: len(self.files_in(disk)) > 1
            size = os.path.getsize(self.files_in(disk)[1])
            yield lambda: os.path.getsize(self.files_in(disk)[1]) > size + 10000
            time.sleep(3)  # the first file is complete by now, and its failure still counts

        said = self.interrupted(disk, until, "--min-free", "0", "--rotate", "1h", status=1)
        self.assertEqual(said.count("No space left"), 2, said)
        self.assertIn("samples are lost meanwhile", said)
        last = self.files_in(disk)[-1]
        done = subprocess.run([harness.JITBPF, "report", last], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_no_descriptor(self):
        """As for a full disk."""
        def until(pid, said):
            yield lambda: self.files_in(self.folder)
            harness.limit_files(pid, 0)
            yield lambda: "Too many open files" in said()
            before = len(self.files_in(self.folder))
            time.sleep(3)
            self.assertEqual(len(self.files_in(self.folder)), before)
            harness.limit_files(pid, 1024)
            yield lambda: len(self.files_in(self.folder)) > before

        said = self.interrupted(self.folder, until, "--rotate", "1M")
        self.assertEqual(said.count("Too many open files"), 1, said)
        self.check_sums(self.runs_in(self.folder, said), said)

    def test_removed_folder(self):
        """A folder that is made again gets the next files."""
        disk = os.path.join(self.folder, "disk")
        os.mkdir(disk)

        def until(_pid, said):
            yield lambda: self.files_in(disk)
            shutil.rmtree(disk)
            yield lambda: "No such file or directory" in said()
            os.mkdir(disk)
            yield lambda: self.files_in(disk)

        said = self.interrupted(disk, until, "--rotate", "1", "--keep", "3")
        self.assertEqual(said.count("No such file"), 1, said)
        self.assertTrue(self.runs_in(disk, said))

    def test_misuse(self):
        for options in (["--rotate", "0"], ["--rotate", "10x"], ["--rotate", "4K"],
                        ["--keep", "3"], ["--rotate", "1", "-o", "x.html"],
                        ["--rotate", "1", "-o", "x.jitbpf", "-o", "y.folded"]):
            done = subprocess.run([harness.JITBPF, "record", *options, "--", "true"],
                                  cwd=self.folder, capture_output=True, check=False)
            self.assertEqual(done.returncode, 2, (options, done.stderr))
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
