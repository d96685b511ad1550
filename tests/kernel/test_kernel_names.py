# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Names that the kernel prints for single addresses are those in /proc/kallsyms."""

import bisect
import collections
import os
import signal
import subprocess

import harness

KERNEL, BPF = "[kernel.kallsyms]", "[bpf]"
MODULES = 0xffffffffc0000000  # BPF programs are among the modules


class Symbols:
    """The current /proc/kallsyms."""

    def __init__(self):
        self.at = collections.defaultdict(set)
        for line in open("/proc/kallsyms", encoding="utf-8"):
            address, _kind, name, *module = line.split()
            self.at[int(address, 16)].add((name, module[0] if module else KERNEL))
        self.starts = sorted(self.at)

    def before(self, address):
        """Returns the start of an address's symbol, and its names (aliases)."""
        start = self.starts[bisect.bisect_right(self.starts, address) - 1]
        return start, self.at[start]


class KernelNames(harness.KernelTest):
    def earlier(self):
        """Starts another jitbpf first, so that its BPF programs are running too."""
        other = subprocess.Popen(
            [harness.JITBPF, "record", "-q", "-o", os.path.join(self.folder, "other.folded"),
             "--", harness.ENGINE, "storm", "--rate", "20000", "--slots", "16", "--seconds", "30"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(other.communicate)
        self.addCleanup(other.send_signal, signal.SIGINT)
        other.stdout.readline()  # the engine runs

    @harness.alone
    def test_agree_with_kallsyms(self):
        """All but BPF programs that came or went meanwhile, such as this recording's own."""
        self.earlier()
        before = Symbols()
        run = self.record(options=["-a", "-F", "999", "-d", "4"])
        after = Symbols()
        # A caller is where its call instruction is, which may be the last one of its function.
        frames = {(f, depth > 0) for s in run.script() for depth, f in enumerate(s.frames)
                  if f.address >> 63}
        # A BPF program that is gone when its name is looked up has none.
        of_kernel = [f for f in frames if f[0].module == KERNEL and
                     (f[0].offset or f[0].address < MODULES)]
        of_bpf = [f for f in frames if f[0].module == BPF and f[0].name.endswith("_jit_event")]
        seen = collections.Counter()
        for frame, is_caller in of_kernel + of_bpf:
            start = frame.address - int(frame.offset, 16)
            if frame.module == BPF and not (start in before.at and start in after.at):
                continue
            place, names = before.before(frame.address - is_caller)
            # Padding holds no call: an interrupt came at the first byte of the function behind.
            if all(name.startswith("__pfx_") for name, _module in names):
                place, _names = before.before(frame.address)
            self.assertEqual(place, start, frame)
            self.assertIn((frame.name, frame.module), before.at[start], frame)
            seen[frame.module] += 1
        self.assertGreater(seen[KERNEL], 50)
        self.assertGreater(seen[BPF], 0)
