# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Changes the file of a runtime in place, while processes run it and profilers read it: it is cut,
grows again, or is overwritten. The files are copies, a new one for each process.

usage: torn_files.py FOLDER FILE ARGUMENT...

Each ARGUMENT @ is the copy, and all together are the command. A program that runs cannot be written
to: it is changed when its process has ended.
"""
import contextlib
import os
import random
import shutil
import subprocess
import sys
import time

FOLDER, FILE, COMMAND = sys.argv[1], sys.argv[2], sys.argv[3:]
PIECES = 200  # changes of one file
OTHER = "/bin/true"


def cut(file, size):
    """What is mapped behind the end is gone: a read of it is SIGBUS."""
    file.truncate(random.choice((0, 1, 64, 4096, size // 2, size - 1, random.randrange(size))))
    file.truncate(size)


def cut_slowly(file, size):
    file.truncate(random.randrange(size))
    time.sleep(0.005)


def overwrite(file, size):
    file.seek(random.randrange(size))
    file.write(os.urandom(1 << random.randrange(16)))


def overwrite_heads(file, size):
    """The headers of the file, and what is at its end: section headers and symbols."""
    at = random.choice((16, 24, 32, 40, 52, random.randrange(64, 1024), size - 4096))
    file.seek(at)
    file.write(random.choice((b"\xff" * 8, b"\0" * 8, os.urandom(8), b"\x7f" * 512)))


def flicker(file, size):
    """Two reads of one word have two values."""
    file.seek(0)
    head = file.read(4096)
    for junk in b"\xff", b"\0":
        file.seek(64)
        file.write(junk * 4032)
        file.seek(0)
        file.write(head)


def become_another(file, size):
    with open(OTHER, "rb") as other:
        file.seek(0)
        file.write(other.read())


def tear(path, tries):
    size, kind = os.path.getsize(path), random.choice(
        (cut, cut_slowly, overwrite, overwrite_heads, flicker, become_another))
    with open(path, "r+b", buffering=0) as file:
        for _ in range(tries):
            kind(file, size)


def run(number):
    path = os.path.join(FOLDER, f"{os.getpid()}-{number}", os.path.basename(FILE))
    os.mkdir(os.path.dirname(path))
    shutil.copy(FILE, path)
    process = subprocess.Popen([path if word == "@" else word for word in COMMAND],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    time.sleep(random.choice((0.02, 0.05, 0.2, 0.4)))
    if path == COMMAND[0] or COMMAND[0] == "@":
        process.kill()
        process.wait()
    with contextlib.suppress(OSError):  # a child of the process may run the file
        tear(path, PIECES)
    time.sleep(0.1)
    process.kill()
    process.wait()
    shutil.rmtree(os.path.dirname(path))


def main():
    print(flush=True)
    number = 0
    while True:
        number += 1
        run(number)


main()
