# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--max-size and --min-free: a recording does not fill the disk, and is complete when it ends."""

import glob
import os
import subprocess
import time

import harness

MB = 1 << 20
# About 170 KB of recording a second.
STORM = [harness.ENGINE, "storm", "--rate", "50000", "--seconds", "60"]


class DiskLimits(harness.KernelTest):
    def run_record(self, *options, output="out.jitbpf"):
        """Returns what was printed, and the seconds that it took."""
        begin = time.monotonic()
        done = subprocess.run([harness.JITBPF, "record", "-F", "499", *options, "-o", output, "--",
                               *STORM], cwd=self.folder, capture_output=True, timeout=60,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.decode(), time.monotonic() - begin

    def check_whole(self, path):
        done = subprocess.run([harness.JITBPF, "report", path], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_max_size(self):
        said, seconds = self.run_record("-d", "30", "--max-size", "1M", "-o", "out.folded")
        self.assertIn("has reached 1.0 MB (--max-size): the run ends", said)
        self.assertLess(seconds, 25)
        path = os.path.join(self.folder, "out.jitbpf")
        self.check_whole(path)
        size = os.path.getsize(path)
        self.assertGreater(size, MB)
        self.assertLess(size, 2 * MB)
        self.assertGreater(os.path.getsize(os.path.join(self.folder, "out.folded")), 0)

    def test_max_size_of_a_rotation(self):
        """The run goes on; the oldest files are deleted."""
        begin = time.monotonic()
        with subprocess.Popen([harness.JITBPF, "record", "-q", "-d", "8", "--rotate", "60",
                               "--max-size", "1M", "-o", "r.jitbpf", "--", *STORM],
                              cwd=self.folder) as process:
            largest = 0
            while process.poll() is None:
                sizes = []
                for path in glob.glob(os.path.join(self.folder, "r.*.jitbpf")):
                    try:
                        sizes.append(os.path.getsize(path))
                    except FileNotFoundError:
                        pass
                largest = max(largest, sum(sizes))
                time.sleep(0.05)
        self.assertEqual(process.returncode, 0)
        self.assertGreater(time.monotonic() - begin, 7)
        files = glob.glob(os.path.join(self.folder, "r.*.jitbpf"))
        self.assertGreaterEqual(len(files), 2)
        self.assertGreater(largest, 0.6 * MB)
        self.assertLess(largest, 1.5 * MB)
        for path in files:
            self.check_whole(path)

    def on_small_disk(self, size):
        disk = os.path.join(self.folder, "disk")
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", disk], check=False)
        return disk

    def free_bytes(self, disk):
        fs = os.statvfs(disk)
        return fs.f_bavail * fs.f_frsize

    def test_min_free(self):
        """5 % of a small disk, by default."""
        disk = self.on_small_disk(100 * MB)
        with open(os.path.join(disk, "other"), "wb") as file:
            file.write(b"x" * (94 * MB))
        said, seconds = self.run_record("-d", "30", output=os.path.join(disk, "out.jitbpf"))
        self.assertIn("less than 5.2 MB (--min-free): the run ends", said)
        self.assertLess(seconds, 25)
        self.check_whole(os.path.join(disk, "out.jitbpf"))
        self.assertGreater(self.free_bytes(disk), 0)
        self.assertLess(self.free_bytes(disk), 6 * MB)

    def test_min_free_of_a_rotation(self):
        disk = self.on_small_disk(64 * MB)
        said, seconds = self.run_record("-d", "8", "--rotate", "1", "--keep", "1000", "--min-free",
                                        "63M", output=os.path.join(disk, "r.jitbpf"))
        self.assertNotIn("the run ends", said)
        self.assertGreater(seconds, 7)
        files = glob.glob(os.path.join(disk, "r.*.jitbpf"))
        self.assertGreaterEqual(len(files), 2)
        self.assertGreater(self.free_bytes(disk), 62 * MB)
        self.assertLess(self.free_bytes(disk), 63.5 * MB)
        for path in files:
            self.check_whole(path)
