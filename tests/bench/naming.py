#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""naming.py BUILD: 1,000 locations of a program with much debug info, by us and by addr2line -i.

The program is made of many copies of one C++ source, so that each copy is a unit
of its own. What is measured is the whole run of each: user and system time, the wall
clock, and the memory at its peak.
"""
import os
import random
import re
import subprocess
import sys
import tempfile
import time

UNITS = int(os.environ.get("UNITS", "56"))
LOCATIONS = 1000
SOURCE = os.path.join(os.path.dirname(__file__), "../symbols/words.cpp")


def make_program(folder):
    """One object is compiled, and linked again and again under other names."""
    path = os.path.join(folder, "many")
    root = os.path.join(os.path.dirname(__file__), "../..")
    unit = os.path.join(folder, "unit.o")
    subprocess.run(["g++", "-std=c++17", "-O2", "-g", "-I", root, "-c", SOURCE, "-o", unit,
                    "-Dmain=words_main", "-D_GLIBCXX_EXTERN_TEMPLATE=0"], check=True)
    objects = []
    for number in range(UNITS):
        objects.append(os.path.join(folder, f"unit{number}.o"))
        subprocess.run(["objcopy", f"--prefix-symbols=u{number}_", "--wildcard", unit, objects[-1]],
                       check=True)
    subprocess.run(["ld", "-e", "0", "--unresolved-symbols=ignore-all", "-z", "noexecstack",
                    *objects, "-o", path], check=True)
    return path


def addresses_of(path):
    sections = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True,
                              text=True).stdout
    found = re.search(r"\.text\s+PROGBITS\s+(\w+)\s+\w+\s+(\w+)", sections)
    start, size = int(found[1], 16), int(found[2], 16)
    # In order, as record and report ask for what waits to be named.
    chosen = sorted(random.Random(1).sample(range(start, start + size), LOCATIONS))
    return "".join(f"{address:#x}\n" for address in chosen).encode()


def measure(command, stdin):
    begin = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    child.stdin.write(stdin)
    child.stdin.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        raise SystemExit(f"{command[0]} failed")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    symbolize = os.path.join(sys.argv[1], "tests/symbols/symbolize")
    with tempfile.TemporaryDirectory() as folder:
        plain = make_program(folder)
        packed = plain + "-packed"
        subprocess.run(["objcopy", "--compress-debug-sections=zlib", plain, packed], check=True)
        stdin = addresses_of(plain)
        for path in plain, packed:
            megabytes = os.path.getsize(path) / 1e6
            print(f"{LOCATIONS} locations of a file of {megabytes:.0f} MB, {UNITS} units:")
            ours = [measure([symbolize, path], stdin) for _ in range(2)]
            theirs = [measure(["addr2line", "-a", "-f", "-i", "-C", "-e", path], stdin)
                      for _ in range(1)]
            for name, runs in ("jitbpf", ours), ("addr2line -i", theirs):
                wall, cpu, rss = min(runs)
                print(f"  {name:13} {wall:6.2f} s, {cpu:6.2f} s of CPU, {rss:6.0f} MB")


if __name__ == "__main__":
    main()
