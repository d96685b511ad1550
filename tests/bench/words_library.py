# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A library with 100 MB of debug info, with many inlined calls, and a program that runs all of
it."""

import os
import subprocess

import measure

COPIES = 60
SOURCES = os.path.join(measure.ROOT, "tests/oracles/symbols")
FLAGS = ["-std=c++17", "-O2", "-g", "-fPIC", "-I", measure.ROOT]


def make(folder):
    """Builds the program. One object is compiled, and linked many times: each copy is a unit."""
    def path(name):
        return os.path.join(folder, name)

    def run(*command):
        subprocess.run(command, check=True)
    run("g++", *FLAGS, "-c", f"{SOURCES}/count.cpp", "-o", path("count.o"))
    # Makes code that all copies would share (templates, in groups) local to each copy.
    run("g++", *FLAGS, "-fno-gnu-unique", "-Dmain=run_words", "-c", f"{SOURCES}/words.cpp", "-o",
        path("words.o"))
    copies = [path(f"words{number}.o") for number in range(COPIES)]
    for number, copy in enumerate(copies):
        run("objcopy", "-R", ".group", f"--keep-global-symbol=words{number}",
            f"--redefine-sym=_Z9run_wordsiPPc=words{number}", path("words.o"), copy)
    run("g++", "-shared", "-Wl,--build-id", *copies, path("count.o"), "-o", path("libwords.so"))
    with open(path("main.c"), "w", encoding="ascii") as out:
        for number in range(COPIES):
            print(f"int words{number}(int, char **);", file=out)
        print('int main(void) { char *argv[] = {"k12", 0}; for (;;) {', file=out)
        for number in range(COPIES):
            print(f"words{number}(3, argv);", file=out)
        print("} }", file=out)
    run("gcc", "-O1", path("main.c"), "-o", path("words"), f"-L{folder}", "-lwords",
        f"-Wl,-rpath,{folder}")
    return [path("words")]
