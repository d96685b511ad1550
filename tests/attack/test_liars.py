# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Attackers whose files, journals and memory maps lie."""

import lzma
import os
import random
import signal
import struct
import subprocess
import sys
import threading
import time
import unittest
import zlib

from attack import AttackTest, PROGRAMS, harness, sample

FORGER = os.path.join(harness.ROOT, "tests/programs/workloads/forger.py")
BOMB_BYTES = 300 << 20
SECTION = struct.Struct("<IIQQQQIIQQ")
COMPRESSED = 1 << 11
ZLIB = 1


class Elf:
    """The bytes of an ELF file, and where its sections are."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = bytearray(file.read())
        self.headers_at, = struct.unpack_from("<Q", self.data, 40)
        count, names = struct.unpack_from("<HH", self.data, 60)
        rows = [SECTION.unpack_from(self.data, self.headers_at + i * SECTION.size)
                for i in range(count)]
        texts = rows[names][4]
        self.sections = {}
        for number, row in enumerate(rows):
            name = bytes(self.data[texts + row[0]:]).split(b"\0", 1)[0].decode()
            self.sections[name] = (number, row[4], row[5])

    def scribble(self, name, chance, share):
        """Replaces that share of the bytes of a section."""
        _number, at, size = self.sections[name]
        for _ in range(max(1, int(size * share))):
            self.data[at + chance.randrange(size)] = chance.choice((0, 1, 0x7f, 0x80, 0xff,
                                                                    chance.randrange(256)))

    def replace(self, name, contents, compressed_bytes=None):
        """Puts other contents at the end of the file; with compressed_bytes, as a zlib section."""
        if compressed_bytes is not None:
            contents = struct.pack("<IIQQ", ZLIB, 0, compressed_bytes, 1) + contents
        number, _at, _size = self.sections[name]
        at = self.headers_at + number * SECTION.size
        row = list(SECTION.unpack_from(self.data, at))
        row[2] |= COMPRESSED if compressed_bytes is not None else 0
        row[4], row[5] = len(self.data), len(contents)
        SECTION.pack_into(self.data, at, *row)
        self.data += contents

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.data)
        os.chmod(path, 0o755)


class Files(AttackTest):
    """Tries: to crash, hang or fill jitbpf with the sections of the attacker's own programs. Must
    hold: the victim's profile is the same, memory is bounded."""

    def run_programs(self, paths):
        """Runs the programs one after the other, again and again."""
        script = "\n".join(f"{path} 0.2" for path in paths)
        self.attack(["sh", "-c", f"echo; while :; do\n{script}\ndone"], stderr=subprocess.DEVNULL)

    def check(self, paths):
        self.run_programs(paths)
        profile = self.check_victim(seconds=3)
        self.assertLess(profile.watch.memory, 400 << 20)
        self.assertIn("busy", {sample.comm.split("-")[0] for sample in profile.run.script()})

    def falsified(self, names, count=12):
        """Programs in which sections are scribbled over."""
        os.chmod(self.folder, 0o755)
        paths = []
        for number in range(count):
            chance = random.Random(f"{names}{number}")
            elf = Elf(os.path.join(PROGRAMS, "busy"))
            for name in names:
                elf.scribble(name, chance, chance.choice((0.002, 0.05, 0.5)))
            paths.append(os.path.join(self.folder, f"busy-{number}"))
            elf.write(paths[-1])
        return paths

    @sample
    def test_debug_info(self):
        self.check(self.falsified([".debug_info", ".debug_abbrev", ".debug_line", ".debug_str"]))

    def test_call_frames(self):
        self.check(self.falsified([".eh_frame", ".eh_frame_hdr"]))

    def test_symbols(self):
        self.check(self.falsified([".symtab", ".strtab", ".dynsym", ".dynstr", ".note.gnu.build-id"]))

    def test_bombs(self):
        """Sections that grow a thousandfold, or say that they do."""
        os.chmod(self.folder, 0o755)
        paths = [os.path.join(self.folder, f"busy-{number}") for number in range(4)]
        zeros = zlib.compress(bytes(BOMB_BYTES), 1)
        for path, name, contents, size in (
                (paths[0], ".debug_str", zeros, BOMB_BYTES),
                (paths[1], ".debug_info", zeros, BOMB_BYTES),
                (paths[2], ".debug_info", zlib.compress(b"x"), 1 << 62)):
            elf = Elf(os.path.join(PROGRAMS, "busy"))
            elf.replace(name, contents, size)
            elf.write(path)
        packed = os.path.join(self.folder, "packed")
        with open(packed, "wb") as file:
            file.write(lzma.compress(bytes(BOMB_BYTES), preset=0))
        subprocess.run(["objcopy", "--strip-all", "--add-section", f".gnu_debugdata={packed}",
                        os.path.join(PROGRAMS, "busy"), paths[3]], check=True)
        os.chmod(paths[3], 0o755)
        self.check(paths)


class Journals(AttackTest):
    """Tries: to mislead late attach by journals that are no journals. Must hold: the victim's
    profile is the same, and the forged names are nowhere in it."""

    @sample
    def test_journals(self):
        forger, = self.copy_for_others(FORGER)
        for lie in ("huge", "odd", "sizes", "header", "used", "order"):
            # It would also spin, and a profile of it takes time.
            self.attack([sys.executable, forger, lie]).send_signal(signal.SIGSTOP)
        profile = self.check_victim(hostile="forged")
        self.assertLess(profile.watch.memory, 400 << 20)


class Maps(AttackTest):
    """Tries: to change a memory map while jitbpf reads it. Must hold: the victim's profile is the
    same, memory is bounded."""

    def test_maps(self):
        self.attack([self.program("churn_maps")])
        profile = self.check_victim()
        self.assertLess(profile.watch.memory, 400 << 20)


class Deaths(AttackTest):
    """Tries: to die at each step of late attach. Must hold: jitbpf goes on, the victim's profile is
    the same."""

    @sample
    def test_deaths(self):
        engine, shim = self.copy_for_others(harness.ENGINE, harness.SHIM)
        environment = {**os.environ, "INTEL_JIT_PROFILER64": shim}
        # New ones all the time: at any moment, many of them are about to end.
        script = (f"echo; while :; do for n in 1 2 3 4 5 6 7 8; do {engine} hot --seconds 0.$n "
                  "--name attacker & done; wait; done")
        self.attack(["sh", "-c", script], env=environment)
        for _ in range(3):
            self.check_victim(seconds=1)

    def start_engine(self):
        engine, shim = (os.path.join(self.folder, os.path.basename(path))
                        for path in (harness.ENGINE, harness.SHIM))
        if not os.path.exists(engine):
            self.copy_for_others(harness.ENGINE, harness.SHIM)
        return self.attack([engine, "hot", "--seconds", "60", "--name", "attacker"], ready=False,
                           env={**os.environ, "INTEL_JIT_PROFILER64": shim})

    def test_each_moment_of_one_target(self):
        """The target of -p is killed after each of many delays."""
        for delay_ms in range(0, 400, 30):
            target = self.start_engine()
            time.sleep(0.05)
            argv = self.record_argv(["-F", "999", "-p", str(target.pid)], (".jitbpf",))
            with subprocess.Popen(argv, stderr=subprocess.PIPE) as jitbpf:
                time.sleep(delay_ms / 1000)
                target.kill()
                _out, stderr = jitbpf.communicate(timeout=20)
            # It says that there is no such process, or records until the process has ended.
            text = stderr.decode(errors="replace")
            self.assertIn(jitbpf.returncode, (0, 1), f"after {delay_ms} ms: {text}")
            self.assertIn(f"process {target.pid}" if jitbpf.returncode else "samples taken", text,
                          f"after {delay_ms} ms")

    def test_each_moment_of_many(self):
        """Of 60 processes with code, one dies every 10 ms from the start of jitbpf on."""
        engines = [self.start_engine() for _ in range(60)]
        time.sleep(0.3)
        for engine in engines:
            engine.send_signal(signal.SIGSTOP)  # they have reported their code; now they only wait

        def kill():
            for engine in engines:
                time.sleep(0.01)
                engine.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        self.addCleanup(killer.join)
        profile = self.check_victim()
        self.check_ledger(profile.run)


class PidReuse(AttackTest):
    """Tries: to leave code behind at the pid that the victim gets. Must hold: the victim's profile
    is the same, with no name of the attacker's."""

    @sample
    def test_reuse(self):
        path = "/proc/sys/kernel/pid_max"
        with open(path, encoding="ascii") as file:
            before = file.read()
        self.addCleanup(self.write, path, before)
        # Few pids, so that each is used again soon.
        self.write(path, str(max(400, 2 * len(os.listdir("/proc")))))
        engine, shim = self.copy_for_others(harness.ENGINE, harness.SHIM)
        script = f"echo; while :; do {engine} hot --seconds 0.01 --name attacker_code; done"
        for _ in range(2):
            self.attack(["sh", "-c", script], env={**os.environ, "INTEL_JIT_PROFILER64": shim})
        self.check_victim(seconds=3)

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)


if __name__ == "__main__":
    unittest.main()
