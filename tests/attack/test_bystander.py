# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Attackers that do nothing but what every user may do, as fast as they can."""

import sys
import unittest

import harness
from attack import AttackTest, sample

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
        # All processes of the recorder; its own limit is 256 MB, or more on a large machine.
        self.assertLess(attacked.watch.memory, 300 << 20)
        self.assertLess(attacked.watch.files, 1000)


# Children with JIT code of their own: mov ecx, 100000; loop: dec ecx; jnz loop; ret
CROWD = """
import ctypes, mmap, os, sys, time
class Load(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("unused", ctypes.c_uint32), ("name", ctypes.c_char_p),
                ("address", ctypes.c_uint64), ("size", ctypes.c_uint32), ("rest", ctypes.c_uint64 * 5)]
shim = ctypes.CDLL(sys.argv[1])
memory = mmap.mmap(-1, 4096, prot=7)
memory.write(bytes.fromhex("b9a0860100 ffc9 75fc c3"))
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
run = ctypes.CFUNCTYPE(None)(address)
def child():
    for number in range(1, 21):
        shim.NotifyEvent(13, ctypes.byref(Load(
            id=number, name=b"attacker_%d" % number, address=address + 128 * number, size=64)))
    shim.NotifyEvent(13, ctypes.byref(Load(id=99, name=b"attacker", address=address, size=64)))
    run()
for _ in range(int(sys.argv[2])):  # they live
    if not os.fork():
        child()
        while True:
            time.sleep(10)
            run()
print(flush=True)
while True:  # and die at once
    if not os.fork():
        child()
        os._exit(0)
    os.wait()
"""


class Crowds(AttackTest):
    """Tries: to use up what is kept for each process with JIT code, by thousands of processes that
    live, and thousands that end. Must hold: the victim's profile is the same, memory is bounded."""

    @sample
    def test_crowd(self):
        shim, = self.copy_for_others(harness.SHIM)
        self.attack([sys.executable, "-c", CROWD, shim, "2000"])
        profile = self.check_victim(seconds=3, options=("-a", "--shim", shim))
        self.assertLess(profile.watch.memory, 400 << 20)
        self.assertLess(profile.watch.files, 1000)


for storm in STORMS:
    setattr(Storms, f"test_{storm}", lambda self, kind=storm: self.storm(kind))
sample(Storms.test_mappings)

if __name__ == "__main__":
    unittest.main()
