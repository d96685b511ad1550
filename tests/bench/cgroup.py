# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""CPU time of a command with all its descendants, also those that outlive it: by a cgroup."""

import contextlib
import os
import re
import subprocess
import tempfile
import time


@contextlib.contextmanager
def hierarchy():
    """Yields a folder of the cgroup v2 hierarchy, mounted for this if need be."""
    with contextlib.ExitStack() as stack:
        with open("/proc/mounts", encoding="ascii") as mounts:
            found = re.search(r"^\S+ (\S+) cgroup2 ", mounts.read(), re.MULTILINE)
        if found:
            root = found[1]
        else:
            root = stack.enter_context(tempfile.TemporaryDirectory(prefix="jitbpf-cgroup-"))
            subprocess.run(["mount", "-t", "cgroup2", "none", root], check=True)
            stack.callback(subprocess.run, ["umount", root], check=True)
        folder = tempfile.mkdtemp(prefix="jitbpf-bench-", dir=root)
        stack.callback(os.rmdir, folder)
        yield folder


def processes(folder):
    with open(os.path.join(folder, "cgroup.procs"), encoding="ascii") as file:
        return file.read().split()


def cpu_seconds(folder):
    with open(os.path.join(folder, "cpu.stat"), encoding="ascii") as file:
        return int(re.search(r"^usage_usec (\d+)", file.read(), re.MULTILINE)[1]) / 1e6


def run(folder, argv, **options):
    """Runs a command in the cgroup. Returns the CPU seconds until no process is left, and its
    CompletedProcess."""
    def enter():
        with open(os.path.join(folder, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write("0")

    before = cpu_seconds(folder)
    done = subprocess.run(argv, check=True, preexec_fn=enter, **options)
    end = time.monotonic() + 5
    while processes(folder):
        if time.monotonic() > end:
            raise RuntimeError(f"processes are left: {' '.join(argv)}")
        time.sleep(0.01)
    return cpu_seconds(folder) - before, done
