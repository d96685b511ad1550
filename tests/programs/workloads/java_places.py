# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Places in the code of a Java virtual machine, in the script of a recording with +srcline."""

import collections
import functools
import re

# leaf: the program counter of a sample, else a return address.
Place = collections.namedtuple("Place", "address leaf")


@functools.lru_cache(maxsize=None)
def parsed(text):
    """Returns (address, name, is inlined) of a frame (0: it is interpreted), or (None, line or "", is inlined) of its
    place. Nearly all lines of a script occur again."""
    inlined = "(inlined)" in text
    match = re.match(r"\s+(0|[0-9a-f]{6,16}) (.*)$", text)
    if match:
        return int(match[1], 16), re.sub(r"\+0x[0-9a-f]+$", "", match[2].split(" (")[0]), inlined
    line = re.search(r":(\d+)( \(inlined\))?\s*$", text)
    return None, line[1] if line else "", inlined


def frames_of(lines):
    """Yields (address, name, line, is inlined) of the frames of a sample."""
    frame = None
    for text in lines:
        address, said, inlined = parsed(text)
        if address is not None:
            if frame:
                yield frame
            frame = address, said, "", inlined
        elif frame and text.strip():
            frame = *frame[:2], said, frame[3] or inlined
    if frame:
        yield frame


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
