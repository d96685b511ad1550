#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""record.py TOOL IMAGE COMMAND...: runs a command that is Node.js with frames.js, has its frames
found by tests/runtimes/v8/v8_image, and compares them with V8's own stack. If they agree, the
memory image is kept. IMAGE "-": only compare."""
import os
import re
import subprocess
import sys
import time

# The name of a function ends with where it begins.
FRAME = re.compile(r"(?P<name>.*) \S*:\d+:\d+ (?P<file>\S*):(?P<line>\d+)$")
# "    at async Class.name [as alias] (file:1:2)", "    at file:1:2"
TRUTH = re.compile(r"    at (?:(?P<name>.*) \()?(?:eval at .*, )?(?P<file>[^()]*):(?P<line>\d+):\d+\)?$")


def truth_of(process):
    for line in process.stdout:
        if line == ".\n":
            return
        match = TRUTH.match(line.rstrip("\n"))
        if match:
            yield match["name"] or "", match["file"], int(match["line"])


def is_same(ours, truth):
    """V8's stack has the class of the receiver in front of a method's name, and the name of the
    property that a function without one was found by."""
    name = re.sub(r" \[as .*\]$", "", truth[0]).removeprefix("new ")
    own = name.removeprefix("get ").split(".")[-1]
    file = "" if truth[1] == "<anonymous>" else truth[1]
    names = {name, own} if ours[0] != "(anonymous)" else {"(anonymous)"}
    return ours[0].split(" ")[-1].split(".")[-1] in {one.split(".")[-1] for one in names} and \
        ours[1:] == (file, truth[2])


def main():
    tool, image, *command = sys.argv[1:]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        try:
            truth = list(truth_of(process))
            time.sleep(0.5)
            keep = [] if image == "-" else ["-o", image]
            found = subprocess.run([tool, *keep, str(process.pid)], text=True, check=True,
                                   stdout=subprocess.PIPE).stdout
        finally:
            process.kill()
    frames = [FRAME.match(line) for line in found.splitlines()]
    ours = [(f["name"], f["file"], int(f["line"])) if f else ("?", "", 0) for f in frames]
    # The stack has ten entries. stop() has gone on since.
    if len(ours) < len(truth) or ours[0][0] != "stop":
        sys.exit(f"record.py: the frames are {ours}, the stack {truth}")
    wrong = [f"{mine}, not {one}" for mine, one in list(zip(ours, truth))[1:]
             if not is_same(mine, one)]
    print(found, "\n".join(wrong) or f"{len(truth)} frames agree", sep="")
    if wrong and image != "-":
        os.unlink(image)
    return 1 if wrong else 0


sys.exit(main())
