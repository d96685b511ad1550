# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--max-size and --min-free: a recording does not fill the disk, and is complete when it ends."""

import contextlib
import glob
import os
import signal
import subprocess
import time

import harness

MB = 1 << 20
# About 170 KB of recording a second.
STORM = [harness.ENGINE, "storm", "--rate", "50000", "--seconds", "120"]
SECONDS_MAX = 100  # on a busy machine a recording grows more slowly


class DiskLimits(harness.KernelTest):
    def run_record(self, *options, output="out.jitbpf"):
        """Returns what was printed."""
        done = subprocess.run([harness.JITBPF, "record", "-F", "499", "-d", str(SECONDS_MAX),
                               *options, "-o", output, "--", *STORM], cwd=self.folder,
                              capture_output=True, timeout=SECONDS_MAX + 30, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.decode()

    def rotate(self, folder, *options):
        """Records into r.*.jitbpf of the folder until the first file is deleted, and a second
        longer. Returns the messages, and the size of all files together over time."""
        sizes = []

        def first_is_deleted():
            names = sorted(os.listdir(folder))
            paths = [os.path.join(folder, name) for name in names if name.startswith("r.")]
            with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
                sizes.append(sum(map(os.path.getsize, paths)))
            first.extend(paths[:1] if not first else [])
            return first and not os.path.exists(first[0])

        first = []
        with subprocess.Popen([harness.JITBPF, "record", "-F", "499", *options, "-o",
                               os.path.join(folder, "r.jitbpf"), "--", *STORM],
                              cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as process:
            self.addCleanup(process.kill)
            self.wait_for(first_is_deleted, SECONDS_MAX)
            time.sleep(1)
            self.assertIsNone(process.poll(), "the run has ended")
            process.send_signal(signal.SIGINT)
            said = process.communicate()[1].decode()
        self.assertEqual(process.returncode, 0, said)
        return said, sizes

    def check_whole(self, path):
        done = subprocess.run([harness.JITBPF, "report", path], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_max_size(self):
        said = self.run_record("--max-size", "1M", "-o", "out.folded")
        self.assertIn("has reached 1.0 MB (--max-size): the run ends", said)
        path = os.path.join(self.folder, "out.jitbpf")
        self.check_whole(path)
        size = os.path.getsize(path)
        self.assertGreater(size, MB)
        self.assertLess(size, 2 * MB)
        self.assertGreater(os.path.getsize(os.path.join(self.folder, "out.folded")), 0)

    @harness.slow
    def test_max_size_of_a_rotation(self):
        """The run goes on; the oldest files are deleted."""
        _said, sizes = self.rotate(self.folder, "--rotate", "60", "--max-size", "1M")
        files = glob.glob(os.path.join(self.folder, "r.*.jitbpf"))
        self.assertGreaterEqual(len(files), 2)
        self.assertGreater(max(sizes), 0.6 * MB)
        self.assertLess(max(sizes), 1.5 * MB)
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
        said = self.run_record(output=os.path.join(disk, "out.jitbpf"))
        self.assertIn("less than 5.2 MB (--min-free): the run ends", said)
        self.check_whole(os.path.join(disk, "out.jitbpf"))
        self.assertGreater(self.free_bytes(disk), 0)
        self.assertLess(self.free_bytes(disk), 6 * MB)

    @harness.slow
    def test_min_free_of_a_rotation(self):
        disk = self.on_small_disk(64 * MB)
        said, _sizes = self.rotate(disk, "--rotate", "1", "--keep", "1000", "--min-free", "63M")
        self.assertNotIn("the run ends", said)
        files = glob.glob(os.path.join(disk, "r.*.jitbpf"))
        self.assertGreaterEqual(len(files), 2)
        self.assertGreater(self.free_bytes(disk), 62 * MB)
        self.assertLess(self.free_bytes(disk), 63.5 * MB)
        for path in files:
            self.check_whole(path)
