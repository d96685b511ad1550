# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reports about the code of root's shared memory, by a user who may only read it."""

import os
import sys
import textwrap
import unittest

import harness
from attack import AttackTest, beyond

# Both map a file as shared memory. Code: push rbp; mov rbp, rsp; mov ecx, 200000; loop: dec ecx;
# jnz loop; pop rbp; ret
COMMON = """
import ctypes, os, random, sys, time
CODE = bytes.fromhex("55 4889e5 b9400d0300 ffc9 75fc 5d c3")
LOAD, UNLOAD = 13, 14
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
shim = ctypes.CDLL(sys.argv[1])
class Load(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("parent", ctypes.c_uint32), ("name", ctypes.c_char_p),
                ("address", ctypes.c_uint64), ("size", ctypes.c_uint32),
                ("line_count", ctypes.c_uint32), ("lines", ctypes.c_void_p),
                ("class_id", ctypes.c_uint32), ("class_name", ctypes.c_char_p),
                ("source", ctypes.c_char_p)]
def map_shared(file, protection):
    base = libc.mmap(None, 4096, protection, 1, file, 0)
    assert base != ctypes.c_void_p(-1).value
    return base
def report(base, number, name):
    shim.NotifyEvent(LOAD, ctypes.byref(Load(id=number, name=name, address=base + 64 * number - 64,
                                             size=64)))
"""

CALLS_S = 10000  # of the victim's functions, in a second of CPU time; at least

VICTIM = COMMON + """
base = map_shared(os.open(sys.argv[2], os.O_RDWR), 7)
for number in (1, 2):
    ctypes.memmove(base + 64 * number - 64, CODE, len(CODE))
if sys.argv[3] == "reports":
    report(base, 1, b"victim_1")
    report(base, 2, b"victim_2")
functions = [ctypes.CFUNCTYPE(None)(base + at) for at in (0, 64)]
# In random order: the period of calls in turn is near a fraction of the period of the samples, which
# would then not be independent of each other.
while True:
    random.choice(functions)()
"""

ATTACKER = COMMON + """
base = map_shared(os.open(sys.argv[2], os.O_RDONLY), 5)
print(flush=True)
while True:
    report(base, 1, b"attacker_1")
    shim.NotifyEvent(UNLOAD, ctypes.byref(ctypes.c_uint32(2)))
    report(base, 2, b"attacker_2")
    # What it runs itself has the names that it reports.
    for _ in range(10):
        if ctypes.c_ubyte.from_address(base).value:
            ctypes.CFUNCTYPE(None)(base)()
    shim.NotifyEvent(UNLOAD, ctypes.byref(ctypes.c_uint32(2)))
    time.sleep(0.01)
"""


class SharedMemory(AttackTest):
    """Tries: to rename, and to unload, code in shared memory of root that it can only read. Must
    hold: the victim's names, also where it reports none; the reports count for the attacker."""

    def setUp(self):
        super().setUp()
        self.shim = self.copy_for_others(harness.SHIM)[0]
        self.memory = os.path.join(self.folder, "memory")
        with open(self.memory, "wb") as memory:
            memory.truncate(4096)
        os.chmod(self.memory, 0o644)

    def leaves(self, mode):
        """Returns the counts of the victim's functions, and of the attacker's own name."""
        victim = [sys.executable, "-c", textwrap.dedent(VICTIM), self.shim, self.memory, mode]
        attacker = self.attack([sys.executable, "-c", ATTACKER, self.shim, self.memory])
        profile = self.victim_profile(argv=victim, options=("-a", "--shim", self.shim))
        self.assertEqual([name for name in profile.names() if "attacker" in name], [])
        leaves = [harness.leaf_jit(sample) for sample in profile.run.script()
                  if sample.pid == attacker.pid]
        own = sum(1 for leaf in leaves if leaf and leaf.name == "attacker_1")
        return profile.functions(), own

    def test_reported_code(self):
        functions, own = self.leaves("reports")
        # The choice of the function is random too: its deviation is that of CALLS_S calls.
        seconds = functions.total() / 999
        variance = 1 + functions.total() / (CALLS_S * seconds)
        wrong = beyond(functions, {"victim_1": 0.5, "victim_2": 0.5}, variance,
                       starting=0.05 * functions.total())
        self.assertFalse(wrong, functions)
        # Where the victim reports code, its report is the one that counts.
        self.assertEqual(own, 0)

    def test_code_without_reports(self):
        functions, own = self.leaves("silent")
        self.assertEqual(functions["victim_1"] + functions["victim_2"], 0)
        self.assertGreater(own, 20)


if __name__ == "__main__":
    unittest.main()
