# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the tests of published engines share: where they are, and the programs that use them."""

import os

import harness

PYTHON = os.path.join(harness.ROOT, "build/engines-venv/bin/python3")


def command(program, *arguments):
    folder = os.path.dirname(os.path.abspath(__file__))
    return [PYTHON, os.path.join(folder, program), *map(str, arguments)]


def user_frames(sample):
    """The frames of a sample outside of the kernel, innermost first."""
    return [frame for frame in sample.frames if frame.address < 1 << 63]
