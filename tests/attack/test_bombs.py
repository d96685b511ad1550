# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Code of attackers that is small to report, and large to name."""

import os
import subprocess
import sys
import unittest

import harness
from attack import AttackTest, PROGRAMS, sample

FORGER = os.path.join(harness.ROOT, "tests/programs/workloads/forger.py")
MEMORY_MAX = 400 << 20
NESTED = 10000
ROWS = 4000000

# A method with NESTED inlined methods, one in the other, and a line table of the largest size.
# Code: mov ecx, 200000; loop: dec ecx; jnz loop; ret
JIT_BOMB = f"""
import ctypes, mmap, sys
LOAD, INLINE = 13, 16
class Load(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("parent", ctypes.c_uint32), ("name", ctypes.c_char_p),
                ("address", ctypes.c_uint64), ("size", ctypes.c_uint32),
                ("line_bytes", ctypes.c_uint32), ("lines", ctypes.c_void_p),
                ("class_id", ctypes.c_uint64), ("class_name", ctypes.c_char_p),
                ("source", ctypes.c_char_p)]
class Inlined(ctypes.Structure):
    _fields_ = Load._fields_[:7] + Load._fields_[8:]
shim = ctypes.CDLL(sys.argv[1])
memory = mmap.mmap(-1, 1 << 16, prot=7)
memory.write(bytes.fromhex("b9400d0300 ffc9 75fc c3"))
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
run = ctypes.CFUNCTYPE(None)(address)
lines = (ctypes.c_uint32 * (2 * 65536))(*(value for row in range(65536) for value in (row, row + 1)))
print(flush=True)
first = 1
while True:
    shim.NotifyEvent(LOAD, ctypes.byref(Load(
        id=first, name=b"attacker_host", address=address, size=1 << 16, source=b"attacker.c",
        line_bytes=65536, lines=ctypes.addressof(lines))))
    for number in range(first + 1, first + {NESTED}):
        shim.NotifyEvent(INLINE, ctypes.byref(Inlined(
            id=number, parent=number - 1, name=b"attacker_inlined", address=address, size=1 << 16,
            source=b"attacker.c", line_bytes=800, lines=ctypes.addressof(lines))))
        if number % 100 == 0:
            run()
    first += {NESTED}
"""

# An endless loop with NESTED inlined functions, one in the other, and ROWS rows of one address.
DWARF_BOMB = f"""
	.text
	.globl main
main:
begin:
	.rept 64
	imul %rax, %rax
	.endr
	jmp begin
end:
	.section .debug_abbrev
	.byte 1, 0x11, 1, 0x11, 1, 0x12, 7, 0x10, 0x17, 3, 8, 0, 0
	.byte 2, 0x2e, 1, 3, 8, 0x11, 1, 0x12, 7, 0, 0
	.byte 3, 0x1d, 1, 0x31, 0x13, 0x11, 1, 0x12, 7, 0, 0
	.byte 4, 0x2e, 0, 3, 8, 0x20, 0x0b, 0, 0
	.byte 0
	.section .debug_info
info:	.long info_end - info_begin
info_begin:
	.short 4
	.long 0
	.byte 8
	.byte 1
	.quad begin, end - begin
	.long 0
	.asciz "attacker.c"
origin:	.byte 4
	.asciz "attacker_inlined"
	.byte 1
	.byte 2
	.asciz "attacker_main"
	.quad begin, end - begin
	.rept {NESTED}
	.byte 3
	.long origin - info
	.quad begin, end - begin
	.endr
	.rept {NESTED}
	.byte 0
	.endr
	.byte 0, 0
info_end:
	.section .debug_line
	.long line_end - line_begin
line_begin:
	.short 4
	.long line_program - line_header
line_header:
	.byte 1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0
	.asciz "attacker.c"
	.byte 0, 0, 0, 0
line_program:
	.byte 0, 9, 2
	.quad begin
	.fill {ROWS}, 1, 19 # the next line, at the same address
	.byte 9
	.short end - begin
	.byte 0, 1, 1
line_end:
	.section .note.GNU-stack
"""


def growing_name(levels):
    """A C++ function whose parameters double in size, from one to the next."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    names = ["S_"] + [f"S{digits[n // 36] if n >= 36 else ''}{digits[n % 36]}_" for n in range(levels)]
    return "_Z8attackerSt4pairIiiE" + "".join(f"S_I{name}{name}E" for name in names[1:])


class Bombs(AttackTest):
    """Tries: to use up the time and memory of jitbpf by code that is small to report, but large to
    name. Must hold: the victim's profile is the same, memory is bounded."""

    def check(self, options=("-a",)):
        profile = self.check_victim(seconds=3, options=options)
        failed = profile.run.summary()["counters"]["readers_failed"]
        print(f"{self.id()}: {profile.watch.memory >> 20} MB, {failed} readers failed")
        self.assertLess(profile.watch.memory, MEMORY_MAX)

    def run_program(self, path):
        os.chmod(self.folder, 0o755)
        os.chmod(path, 0o755)
        self.attack([path], ready=False)
        self.check()

    @sample
    def test_nested_jit(self):
        shim, = self.copy_for_others(harness.SHIM)
        for _ in range(2):
            self.attack([sys.executable, "-c", JIT_BOMB, shim])
        self.check(("-a", "--shim", shim))

    @sample
    def test_large_journals(self):
        """What a journal says that a process did after the start of the run is held in memory."""
        forger, = self.copy_for_others(FORGER)
        for _ in range(2):
            self.attack([sys.executable, forger, "large"])
        self.check(("-a", "--max-memory", "64M"))

    def test_nested_debug_info(self):
        path = os.path.join(self.folder, "bomb")
        subprocess.run(["gcc", "-no-pie", "-x", "assembler", "-o", path, "-"], check=True,
                       input=DWARF_BOMB, text=True)
        self.run_program(path)

    def test_growing_names(self):
        path = os.path.join(self.folder, "bomb")
        subprocess.run(["objcopy", "--strip-debug", f"--redefine-sym=main={growing_name(60)}",
                        os.path.join(PROGRAMS, "victim"), path], check=True)
        self.run_program(path)


if __name__ == "__main__":
    unittest.main()
