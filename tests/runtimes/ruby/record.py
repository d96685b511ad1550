#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""record.py TOOL IMAGE COMMAND...: runs a command that is Ruby with frames.rb, has its frames found by
tests/runtimes/php/runtime_image, and compares them with Ruby's own backtrace. If they agree, the
memory image is kept. IMAGE "-": only compare."""
import os
import re
import subprocess
import sys
import time

# Parts of code that Ruby names apart before 3.4.
PARTS = re.compile(r"^(rescue|ensure) in ")
FRAME = re.compile(r"(?P<name>.*) (?P<file>\S*):(?P<line>\d+)$")


def without_class(name):
    """Before 3.4, Ruby names no classes; a class of its own is in "<class:Name>"."""
    return re.sub(r"[^ <>]*[#.](?=[^ >]+$)", "", name)


def differences(ours, truth):
    """Ruby gives a function of C the place of its caller."""
    if len(ours) != len(truth):
        yield f"{len(ours)} frames, not {len(truth)}"
    for (name, file, line), (wanted_file, wanted_line, label) in zip(ours, truth):
        if without_class(name) != PARTS.sub("", label):
            yield f"{name}, not {label}"
        if file and (file, line) != (wanted_file, wanted_line):
            yield f"{name} is at {file}:{line}, not {wanted_file}:{wanted_line}"


def truth_of(process):
    """The line of stop() is that of its backtrace, not of its sleep."""
    for line in process.stdout:
        if line == "END\n":
            return
        file, number, label = line.rstrip("\n").split("\t")
        yield file, int(number), label


def main():
    tool, image, *command = sys.argv[1:]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        try:
            truth = list(truth_of(process))
            time.sleep(0.5)
            keep = [] if image == "-" else ["-o", image]
            found = subprocess.run([tool, *keep, "ruby", str(process.pid)], text=True, check=True,
                                   stdout=subprocess.PIPE).stdout
        finally:
            process.kill()
    frames = [FRAME.match(line.removesuffix(" [entry]")) for line in found.splitlines()]
    ours = [(f["name"], f["file"], int(f["line"])) for f in frames]
    if [name for name, *_ in ours[:2]] != ["Kernel#sleep", "Object#stop"]:
        sys.exit(f"record.py: the newest frames are {ours[:2]}")
    wrong = list(differences(ours[2:], truth[1:]))
    print(found, "\n".join(wrong) or f"{len(ours)} frames agree", sep="")
    if wrong and image != "-":
        os.unlink(image)
    return 1 if wrong else 0


sys.exit(main())
