#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""record.py TOOL IMAGE COMMAND...: runs a command that is Perl with frames.pl, has its frames found by
tests/runtimes/php/runtime_image, and compares them with Perl's own caller(). If they agree, the memory
image is kept. IMAGE "-": only compare."""
import os
import re
import subprocess
import sys
import time

FRAME = re.compile(r"(?P<name>.*?) (?P<place>[^ ]+:\d+|\(eval\):\d+)$")


def truth_of(process):
    for line in process.stdout:
        if line == "END\n":
            return
        name, place = line.rstrip("\n").split("\t")
        yield name, place


def differences(ours, truth):
    if len(ours) != len(truth):
        yield f"{len(ours)} frames, not {len(truth)}"
    for (name, place), (wanted, wanted_place) in zip(ours, truth):
        own = "FILE" if name == "(eval)" or name.startswith("{main} ") else name
        # The file of a function is where it begins.
        if own != wanted or place != re.sub(r"eval \d+", "eval", wanted_place):
            yield f"{name} at {place}, not {wanted} at {wanted_place}"


def main():
    tool, image, *command = sys.argv[1:]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        try:
            truth = list(truth_of(process))
            time.sleep(0.5)
            keep = [] if image == "-" else ["-o", image]
            found = subprocess.run([tool, *keep, "perl", str(process.pid)], text=True, check=True,
                                   stdout=subprocess.PIPE).stdout
        finally:
            process.kill()
    lines = [line.removesuffix(" [entry]") for line in found.splitlines()]
    frames = [FRAME.match(line) for line in lines if line != "mark"]
    wrong = list(differences([(f["name"], f["place"]) if f else ("", "") for f in frames], truth))
    print(found, "\n".join(wrong) or f"{len(frames)} frames agree", sep="")
    if wrong and image != "-":
        os.unlink(image)
    return 1 if wrong else 0


sys.exit(main())
