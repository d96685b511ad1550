#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""record.py TOOL IMAGE PHP [OPTION...]: runs frames.php by a PHP, has its frames found by
tests/runtimes/php/runtime_image, and compares them with PHP's own backtrace. If they agree, the
memory image is kept. IMAGE "-": only compare. FIBER=1 runs it in a fiber, LOOPS=N warms up a JIT. PHP may
be embed.c, which has a frame of its own."""
import os
import re
import subprocess
import sys
import tempfile
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))


def parsed(line):
    """A line "name file:line", of which the file may be empty."""
    entry = line.endswith(" [entry]")
    name, file, number = re.match(r"(.*?)(?: (\S*/.*|-|))?:(\d+)$",
                                  line.removesuffix(" [entry]")).groups()
    return name, file or "", int(number), entry


def without_host(lines):
    """The code by which embed.c runs the script."""
    return [parsed(line) for line in lines if " embedded:" not in line]


def same_name(ours, php):
    """PHP writes calls of include and eval() as such, and shortens anonymous classes."""
    if ours.startswith("{main} "):
        return php in ("require", None)
    if ours == "eval()":
        return php == "eval"
    return ours == php or (php == "class@anonymous" and ours.startswith("class@anonymous::"))


def differences(ours, truth):
    """A backtrace has the place of each call with the callee."""
    names = [name for name, *_ in truth] + [None]
    places = [None] + [(file, line) for _, file, line, _ in truth]
    if len(ours) != len(names):
        yield f"{len(ours)} frames, not {len(names)}"
    for (name, file, line, _), php, place in zip(ours, names, places):
        if not same_name(name, php):
            yield f"{name}, not {php}"
        if place and place[0] != "-" and place != (file, line):
            yield f"{name} is at {file}:{line}, not {place}"


def main():
    tool, image, *php = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        truth = folder + "/truth"
        fiber = ["fiber"] if os.environ.get("FIBER") else []
        script = [os.path.join(os.environ.get("SCRIPTS", FOLDER), "frames.php"), truth,
                  os.environ.get("LOOPS", "0")]
        process = subprocess.Popen(php + script + fiber, stdout=subprocess.DEVNULL)
        try:
            while not os.path.exists(truth) or not os.path.getsize(truth):
                if process.poll() is not None:
                    sys.exit("record.py: PHP has ended")
                time.sleep(0.02)
            thread = sorted(os.listdir(f"/proc/{process.pid}/task"), key=int)[-1]
            with open(f"/proc/{thread}/wchan", encoding="ascii") as state:
                while "nanosleep" not in state.read():
                    time.sleep(0.02)
                    state.seek(0)
            keep = [] if image == "-" else ["-o", image]
            found = subprocess.run([tool, *keep, "php", thread], text=True, check=True,
                                   stdout=subprocess.PIPE).stdout
        finally:
            process.kill()
            process.wait()
        with open(truth, encoding="utf-8") as file:
            wanted = without_host(file.read().splitlines())
    frames = without_host(found.splitlines())
    if not frames or frames.pop(0)[0] != "sleep":
        sys.exit("record.py: the newest frame is not sleep()")
    wrong = list(differences([f for f in frames if f[0] != "{internal}"], wanted))
    print("\n".join(wrong) or f"{len(frames)} frames agree")
    if wrong and image != "-":
        os.unlink(image)
    return 1 if wrong else 0


sys.exit(main())
