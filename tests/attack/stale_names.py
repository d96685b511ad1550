# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The names of a victim that replaces published code without a report (tests/programs/engine/stale.c)."""

import re

import engine_truth
import recording

UNPUBLISHED = 0x80000000  # tests/programs/engine/stale.c


def check(test, run, pid, least=300):
    """Checks that published code of the process has its name, and other code none."""
    regs = {(sample.tid, sample.time): sample.regs for sample in run.samples()}
    named = unnamed = unknown = wrong = 0
    for sample in run.script():
        r15 = (regs[sample.tid, sample.time] or [0] * 18)[recording.R15]
        if sample.pid != pid or r15 >> 32 != engine_truth.GENERATION_TAG:
            continue
        names = [frame.name for frame in sample.frames if re.match(r"gen_\d+$", frame.name)]
        generation = r15 & 0xFFFFFFFF
        if generation & UNPUBLISHED:
            unknown += not names
            wrong += bool(names)
        else:
            named += names == [f"gen_{generation}"]
            unnamed += not names
            wrong += bool(names) and names != [f"gen_{generation}"]
    counts = named, unnamed, unknown, wrong
    test.assertEqual(wrong, 0, counts)
    test.assertGreater(named, least, counts)
    test.assertGreater(named, 0.98 * (named + unnamed), counts)
    test.assertGreater(unknown, least / 3, counts)
