# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Attackers that do nothing but what every user may do, as fast as they can."""

import sys
import unittest

from attack import AttackTest

STORMS = {
    "forks": "import os\nwhile 1:\n os.fork() or os._exit(0)\n os.wait()",
    "threads": "import threading\nwhile 1:\n t = threading.Thread(target=int)\n t.start()\n t.join()",
    "execs": "import os\nwhile 1:\n os.spawnl(os.P_WAIT, '/bin/true', 'true')",
    "mappings": "import mmap\nwhile 1:\n"
                " mmap.mmap(-1, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()",
    "memfds": "import mmap, os\nwhile 1:\n fd = os.memfd_create('attacker')\n"
              " os.ftruncate(fd, 4096)\n"
              " mmap.mmap(fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_EXEC).close()\n"
              " os.close(fd)",
    "names": "import ctypes\nlibc = ctypes.CDLL(None)\nn = 0\nwhile 1:\n n += 1\n"
             " libc.prctl(15, b'attacker;\\x1b[%d' % n)",
}


class Storms(AttackTest):
    """Tries: to flood the side-band. Must hold: the victim's profile is the same, memory and
    descriptors are bounded."""

    def storm(self, kind):
        self.attack([sys.executable, "-c", "print(flush=True)\n" + STORMS[kind]])
        attacked = self.check_victim()
        self.assertLess(attacked.watch.rss, 200 << 20)
        self.assertLess(attacked.watch.files, 1000)


for storm in STORMS:
    setattr(Storms, f"test_{storm}", lambda self, kind=storm: self.storm(kind))

if __name__ == "__main__":
    unittest.main()
