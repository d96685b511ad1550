# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Processes that hold the lock of their own memory map, and file systems that do not answer."""

import collections
import contextlib
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import unittest

import attack
import harness
from attack import ATTACKER, AttackTest, sample
import test_live
from browser import Browser  # pylint: disable=import-error
from stuck_fs import StuckFilesystem

PAUSE_MS = 100
HOLD_MS = "2500"


def stat_of(pid):
    """Returns the name and the state of a process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        name, rest = file.read().split("(", 1)[1].rsplit(") ", 1)
    return name, rest[0]


class ForkLatency:
    """Forks every millisecond. forks.end() returns the longest fork in ms."""

    def __init__(self):
        self.process = subprocess.Popen([os.path.join(attack.PROGRAMS, "fork_latency")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def end(self):
        out, _err = self.process.communicate()
        return int(out.split()[0]) / 1000


class Starvation:
    """Watches how long the main thread of a process waits for a processor: on a busy machine a turn
    of its loop takes longer, although nothing blocks it. A blocked thread does not wait for a
    processor."""

    def __init__(self, pid):
        self.path, self.seen = f"/proc/{pid}/schedstat", []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        with contextlib.suppress(OSError, IndexError):
            while not self.ended.wait(0.01):
                with open(self.path, encoding="ascii") as schedstat:
                    self.seen.append((time.monotonic(), int(schedstat.read().split()[1])))

    def end(self):
        self.ended.set()
        self.thread.join()

    def longest_ms(self, turn_ms):
        """Returns the longest such time in any turn of that length, and 20 ms around it."""
        longest_ns, window = 0, collections.deque()
        for seen in self.seen:
            window.append(seen)
            while window[-1][0] - window[0][0] > (turn_ms + 20) / 1000:
                window.popleft()
            longest_ns = max(longest_ns, window[-1][1] - window[0][1])
        return longest_ns / 1e6


class LockTest(AttackTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.fuse = os.path.join(self.folder, "fuse")  # as distributions have it: for everybody
        os.mknod(self.fuse, stat.S_IFCHR | 0o666, os.makedev(10, 229))
        os.chmod(self.fuse, 0o666)
        self.holder = self.program("lock_holder")

    def hold(self, *args, count=1, hold_ms=HOLD_MS):
        """Starts attackers that map a file and will hold their lock."""
        return [self.attack([self.holder, self.fuse, hold_ms, *args]) for _ in range(count)]

    def begin(self, holders):
        for holder in holders:
            holder.send_signal(signal.SIGUSR1)
        time.sleep(0.2)

    @contextlib.contextmanager
    def recording(self, *args, **kwargs):
        with super().recording(*args, **kwargs) as jitbpf:
            self.starvation = Starvation(jitbpf.pid)
            try:
                yield jitbpf
            finally:
                self.starvation.end()

    def check(self, options=("-a",), during=None):
        """Records the victim beside the attackers. Returns its profile."""
        forks = ForkLatency()
        self.addCleanup(forks.process.kill)
        profile = self.check_victim(options=options, during=during)
        longest_ms = forks.end()
        counters = profile.run.summary()["counters"]
        starved_ms = self.starvation.longest_ms(counters["loop_longest_ms"])
        print(f"{self.id()}: longest pause {counters['loop_longest_ms']} ms, "
              f"{starved_ms:.0f} ms without a processor, fork {longest_ms:.1f} ms, {counters['probes_deferred']} probes deferred, "
              f"{counters['processes_unanswered']} processes unanswered")
        self.assertLessEqual(counters["loop_longest_ms"], PAUSE_MS + starved_ms)
        self.assertLess(longest_ms, PAUSE_MS)
        self.assertLess(profile.watch.files, 1000)
        return profile


class Holders(LockTest):
    """Tries: to block the event loop in the maps of processes, and all forks of the machine during
    the registration of a probe. Must hold: no turn of the loop and no fork takes 100 ms."""

    def shim(self, name):
        return shutil.copy(harness.SHIM, os.path.join(self.folder, name))

    def test_before_the_start(self):
        holder, = self.hold()
        self.begin([holder])
        run = self.check().run
        told = f"process {holder.pid} \\(user 61234\\) holds the lock of its memory map"
        self.assertEqual(len(re.findall(rf"since \d\d:\d\d:\d\d, {told}", run.stderr)), 1)
        # It is told while the run goes on, not with the summary.
        self.assertLess(run.stderr.index("holds the lock"), run.stderr.index("samples taken"))
        self.assertGreater(run.summary()["counters"]["probes_deferred"], 0)
        self.assertRegex(run.stderr, r"process \d+ \(user 61234\) held the lock")

    def test_twelve_before_the_start(self):
        self.begin(self.hold(count=12))
        self.check()

    def test_forking(self):
        """Another thread forks, and waits for the lock inside the kernel's semaphore of forks."""
        self.begin(self.hold("fork"))
        self.check()

    @sample
    def test_forking_later(self):
        self.check(during=lambda: self.begin(self.hold("fork")))

    def test_mapping_the_installed_shim(self):
        shim = self.shim("libinstalled.so")
        self.begin(self.hold(shim))
        self.check(("-a", "--shim", shim))

    @sample
    def test_mapping_the_installed_shim_later(self):
        shim = self.shim("libinstalled.so")
        self.check(("-a", "--shim", shim), during=lambda: self.begin(self.hold(shim)))

    def test_mapping_a_copy(self):
        self.begin(self.hold(self.shim("libjitbpf-copy.so")))
        self.check()

    def test_mapping_a_copy_later(self):
        copy = self.shim("libjitbpf-copy.so")
        self.check(during=lambda: self.begin(self.hold(copy)))

    def test_as_the_attacher_waits(self):
        """The lock is taken while the attacher waits in the kernel, before it takes any lock."""
        with self.recording(("-a",)) as jitbpf:
            attacher = next(pid for pid in attack.descendants(jitbpf.pid)
                            if stat_of(pid)[0] == "jitbpf-attach")
            for name in ("first", "second", "third"):
                os.mkdir(os.path.join(self.folder, name))
                copy = self.shim(f"{name}/libjitbpf-copy.so")
                holder, = self.hold(copy, str(attacher), hold_ms="5000")
                forks = ForkLatency()
                self.begin([holder])
                self.wait_for(lambda: stat_of(holder.pid)[1] == "D")
                time.sleep(0.5)
                self.assertLess(forks.end(), PAUSE_MS)
                self.end(holder)
                time.sleep(1.5)  # the next copy gets its probe at once

    def test_jitdumps(self):
        """Rounds wait for jitdumps of processes that were sampled, but the loop does not."""
        folder = os.path.join(self.folder, "dumps")
        os.mkdir(folder)
        os.chmod(folder, 0o1777)
        begin = ("import os, struct, sys\n"
                 "path = f'{sys.argv[1]}/jit-{os.getpid()}.dump'\n"
                 "with open(path, 'wb') as dump:\n"
                 "    dump.write(struct.pack('<6I2Q', 0x4a695444, 1, 40, 62, 0, os.getpid(), 1, 0))\n"
                 "os.execv(sys.argv[2], [*sys.argv[2:], path])\n")
        holders = [self.attack([sys.executable, "-c", begin, folder, self.holder, self.fuse,
                                HOLD_MS]) for _ in range(4)]
        self.begin(holders)
        self.check()

    def test_end(self):
        """jitbpf ends in time, although its probe cannot be removed."""
        shim = self.shim("libinstalled.so")
        holders = self.hold(shim)
        with self.recording(("-a", "--shim", shim)):
            time.sleep(0.5)
            self.begin(holders)
            forks = ForkLatency()
            began = time.monotonic()
        self.assertLess(time.monotonic() - began, 2.5)
        time.sleep(0.5)
        self.assertLess(forks.end(), PAUSE_MS)


@sample
class LivePage(LockTest, test_live.LiveTest):
    """Tries: to keep the names of JIT code away from a live page, unnoticed. Must hold: the page
    says why while the lock is held, and the recording has the same number."""

    def test_page(self):
        self.begin(self.hold())
        live = self.start(self.record_argv(["-a", "--live"], (".jitbpf",)))
        with Browser() as browser:
            browser.call("Page.navigate", url=self.url)
            self.wait_for_refreshes(browser, 2)
            browser.evaluate("document.querySelector('#ledger details').open = true")
            browser.wait_for(f"/(\\d+)probes that waited: a process held the lock of its memory map/"
                             f".test({test_live.text('ledger')})")
            shown = browser.evaluate(test_live.text("ledger"))
        said = self.stop(live)
        run = harness.Run(self.folder, 0, b"", said)
        counted = run.summary()["counters"]["probes_deferred"]
        self.assertGreaterEqual(counted, int(re.search(r"(\d+)probes that waited", shown)[1]))
        self.assertRegex(said, rf"(?m)^ +{counted}  probes that waited")
        waited = re.search(r"attached late \((\d+)\) or not at all \((\d+)\)", said)
        self.assertEqual(counted, sum(map(int, waited.groups())))


class FuseCopies(LockTest):
    """Tries: to block all forks by a copy of the shim on a FUSE file system, whose server does not
    answer when the registration of the probe reads a page of it. Must hold: no fork takes 100 ms,
    and the summary counts the copy."""

    def attacker(self, program, *how):
        shim = self.copy_for_others(harness.SHIM)[0]
        return [self.program(program), str(ATTACKER), self.fuse, shim, HOLD_MS, *how]

    def check_refused(self, *how):
        self.attack(self.attacker("fuse_shim", *how), user=0)
        profile = self.check()
        self.assertGreater(profile.run.summary()["counters"]["shims_refused"], 0)

    def test_copy(self):
        self.check_refused()

    @sample
    def test_copy_below_an_overlay(self):
        self.check_refused("overlay")

    def test_copied_up(self):
        """The copy is in memory below an overlay, and is copied to a FUSE file system while jitbpf
        looks at it."""
        attacker = self.attacker("copy_up")
        profile = self.check(during=lambda: self.attack(attacker, user=0))
        self.assertGreater(profile.run.summary()["counters"]["shims_refused"], 0)


class ManyDevices(LockTest):
    """Tries: to use up the time for files with many file systems that hang, each another device.
    Must hold: no turn of the loop takes 100 ms, and the victim's names come."""

    def test_hanging_open(self):
        systems = []
        for number in range(12):
            folder = os.path.join(self.folder, f"mount{number}")
            os.mkdir(folder)
            with open("/bin/sleep", "rb") as file:  # takes no CPU time from jitbpf
                systems.append(StuckFilesystem(folder, {"attacker": file.read()}))
            self.addCleanup(systems[-1].close)
        processes = [self.attack([os.path.join(system.folder, "attacker"), "60"], ready=False)
                     for system in systems]
        time.sleep(0.5)
        for system, process in zip(systems, processes):
            system.hang("open", process.pid)
        self.check()
        self.assertTrue(any(system.hung for system in systems), "no access hung")


if __name__ == "__main__":
    unittest.main()
