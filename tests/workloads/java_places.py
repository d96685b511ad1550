# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Places in the code of a Java virtual machine, in the script of a recording with +srcline."""

import collections
import re

# leaf: the program counter of a sample, else a return address.
Place = collections.namedtuple("Place", "address leaf")


def frames_of(lines):
    """Yields (address, name, line, is inlined) of the frames of a sample."""
    frame = None
    for text in lines:
        match = re.match(r"\s+([0-9a-f]{6,16}) (.*)$", text)
        if match:
            if frame:
                yield tuple(frame)
            name = re.sub(r"\+0x[0-9a-f]+$", "", match[2].split(" (")[0])
            frame = [int(match[1], 16), name, "", "(inlined)" in text]
        elif frame and text.strip():
            line = re.search(r":(\d+)( \(inlined\))?\s*$", text)
            frame[2] = line[1] if line else ""
            frame[3] |= "(inlined)" in text
    if frame:
        yield tuple(frame)


def places(script):
    """Returns the numbers of samples by frames, (name, line) from the innermost one on, by Place."""
    found = collections.defaultdict(collections.Counter)
    for sample in script.split("\n\n"):
        frames, leaf = [], True
        for address, name, line, inlined in frames_of(sample.split("\n")[1:]):
            frames.append((name, line))
            if inlined:
                continue
            found[Place(address, leaf)][tuple(frames)] += 1
            # In the kernel, the process is at the address of its innermost user frame.
            leaf, frames = leaf and address >= 1 << 63, []
    return found


def jit_memory(maps):
    """Returns the ranges of anonymous executable memory."""
    fields = [line.split() for line in maps]
    return [tuple(int(address, 16) for address in part[0].split("-"))
            for part in fields if "x" in part[1] and len(part) < 6]
