# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How much a process can make root write."""

import os
import re
import shutil
import time

import attack
import harness

MIB = 1 << 20
# user/pipeline/intake/event_budget.h
BURST, RATE = 64 * MIB, 4 * MIB


@harness.alone
class Junk(attack.AttackTest):
    """Tries: a process without rights maps the shim, and calls its probe as fast as it can.
    Must hold: what it writes is within a budget, refusals are counted, others keep their names."""

    def flood(self, mode, seconds=4):
        """Records while the attacker runs."""
        program, shim = self.program("junk"), self.copy_for_others(harness.SHIM)[0]
        attacker = self.attack([program, shim, mode])
        options = ["-p", str(attacker.pid), "--shim", shim, "-F", "99"]
        with self.recording(options, endings=[".jitbpf"]) as jitbpf:
            time.sleep(seconds)
        self.end(attacker)
        size = os.path.getsize(jitbpf.run.path(".jitbpf"))
        print(f"{mode}: {size / MIB:.1f} MiB in {seconds} s")
        return size, jitbpf.run.summary(), attacker.pid

    def row(self, summary, pid):
        return next(row for row in summary["processes"] if row["pid"] == pid)

    @attack.sample
    def test_malformed(self):
        """Refusals are counted, and take no room each."""
        size, summary, pid = self.flood("malformed")
        self.assertLess(size, 2 * MIB)
        self.assertGreater(self.row(summary, pid)["jit"]["other_version"], 100000)

    def test_valid(self):
        """Valid events, with which a process reaches its budget."""
        size, summary, pid = self.flood("unloads", 12)
        self.assertLess(size, BURST + 16 * RATE)
        self.assertGreater(self.row(summary, pid)["jit"]["over_rate"], 1000)
