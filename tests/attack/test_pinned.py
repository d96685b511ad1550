# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Attackers that let jitbpf keep memory which they have dropped."""

import threading
import time
import unittest

from attack import AttackTest, sample

MEGABYTES = 24  # of each file
KEPT_MAX = 200  # megabytes: what jitbpf may keep, what the attacker has, and what others do


def shared_megabytes():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) >> 10 for line in file if line.startswith("Shmem:"))


class Pinned(AttackTest):
    """Tries: to have files in memory kept by jitbpf's descriptors after the attacker has dropped
    them. Must hold: the memory is bounded while jitbpf runs, and few descriptors are open."""

    def check(self, kind):
        before, peak, ended = shared_megabytes(), [0], threading.Event()

        def look():
            while not ended.wait(0.05):
                peak[0] = max(peak[0], shared_megabytes() - before)

        with self.recording() as jitbpf:
            looking = threading.Thread(target=look)
            looking.start()
            try:
                self.attack([self.program("dropper"), kind, str(MEGABYTES)])
                time.sleep(7)
            finally:
                ended.set()
                looking.join()
        print(f"{kind}: {peak[0]} MB, {jitbpf.watch.files} descriptors")
        self.assertLess(peak[0], KEPT_MAX)
        self.assertLess(jitbpf.watch.files, 1000)


for made in ("memfd", "deleted", "unmounted", "run", "grown"):
    setattr(Pinned, f"test_{made}", lambda self, kind=made: self.check(kind))
sample(Pinned.test_memfd)

if __name__ == "__main__":
    unittest.main()
