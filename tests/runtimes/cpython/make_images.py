#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes the memory images of tests/runtimes/cpython/images: runs python_stacks.py with an interpreter,
and shows its frames by cpython_image. They must be those that Python itself has written.

usage: make_images.py CPYTHON_IMAGE FOLDER NAME INTERPRETER...     as root, because of ptrace
    FOLDER gets NAME.image and NAME.truth. INTERPRETER is a command, such as `chroot ROOT python3.14`.
"""

import os
import pathlib
import subprocess
import sys
import time

SCRIPT = pathlib.Path(__file__).resolve().parent / "python_stacks.py"


def threads_of(text):
    """Returns the lines of each thread, by its thread pointer."""
    threads, lines = {}, []
    for line in text.splitlines():
        if line.startswith("thread "):
            lines = threads.setdefault(int(line.split()[1]), [])
        elif not line.startswith(("#", "mark")):
            lines.append(line.removesuffix(" [entry]"))
    return threads


def same(truth, walked):
    """The truth was written some lines before the program stopped, in its innermost function."""
    if truth[:1] and truth[0].startswith("dump "):
        truth, walked = truth[1:], walked[1:] if walked[0].startswith("dump ") else walked
    return truth == walked


def wait_until_stopped(process):
    while process.poll() is None:
        stat = pathlib.Path(f"/proc/{process.pid}/stat").read_text()
        if stat.rpartition(") ")[2][0] == "T":
            return
        time.sleep(0.02)
    sys.exit("the interpreter has ended")


def main(tool, folder, name, *interpreter):
    # The paths are in the image, so they are the same wherever it is made.
    root = pathlib.Path(interpreter[1] if interpreter[0] == "chroot" else "/")
    truth_file = root / "tmp" / f"{name}.truth"
    image = pathlib.Path(folder) / f"{name}.image"
    script = root / "tmp" / SCRIPT.name
    script.write_bytes(SCRIPT.read_bytes())
    with subprocess.Popen([*interpreter, f"/tmp/{SCRIPT.name}", f"/tmp/{name}.truth"],
                          env={**os.environ, "LC_ALL": "C.UTF-8"}) as process:
        try:
            wait_until_stopped(process)
            walk = subprocess.run([tool, str(process.pid), image], check=True,
                                  capture_output=True, text=True).stdout
        finally:
            process.kill()
    truth = truth_file.read_text()
    truth_file.unlink()
    script.unlink()
    true, walked = threads_of(truth), threads_of(walk)
    wrong = [ident for ident in true if not same(true[ident], walked.get(ident, ["none"]))]
    for ident in wrong:
        print(f"thread {ident}", *true[ident], "but the walk has", *walked.get(ident, []), sep="\n")
    print(name, *(line for line in walk.splitlines() if line.startswith("#")), sep="\n")
    print(f"{len(true)} threads, {sum(map(len, true.values()))} frames, {len(wrong)} differ, "
          f"{sum(line.endswith(' [entry]') for line in walk.splitlines())} entries")
    (pathlib.Path(folder) / f"{name}.truth").write_text(truth)
    sys.exit(bool(wrong or not true))


if __name__ == "__main__":
    main(*sys.argv[1:])
