# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Shared by the tests of published engines: their paths, and the programs that use them."""

import os

import harness

PYTHON = os.path.join(harness.ROOT, "build/engines-venv/bin/python3")


def command(program, *arguments):
    folder = os.path.dirname(os.path.abspath(__file__))
    return [PYTHON, os.path.join(folder, program), *map(str, arguments)]


def user_frames(sample):
    """Returns the user frames of a sample, innermost first."""
    return [frame for frame in sample.frames if frame.address < 1 << 63]
