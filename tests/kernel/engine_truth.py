# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An engine's own log of its code: what it put where and when, for comparison."""

import bisect
import collections
import glob
import os
import re
import struct

import harness
import recording

GENERATION_TAG = 0x6A697400  # value of r15 while a generation of the engine runs: tests/programs/engine/code.h
PAGE = 4096
DUMP_MAGIC, CODE_LOAD = 0x4A695444, 0
PREFIX = struct.Struct("<IIQ")     # id, size, time
LOAD = struct.Struct("<IIQQQQ")    # pid, tid, vma, address, code size, code index

Load = collections.namedtuple("Load", "time start end name")


def jitdump(path):
    """Returns the loads of a jitdump, in its order."""
    data = open(path, "rb").read()
    magic, _version, at = struct.unpack_from("<III", data)
    assert magic == DUMP_MAGIC
    out = []
    while at + PREFIX.size <= len(data):
        kind, size, time = PREFIX.unpack_from(data, at)
        if size < PREFIX.size or at + size > len(data):
            break  # the engine was killed while writing
        if kind == CODE_LOAD:
            _pid, _tid, _vma, start, code, _index = LOAD.unpack_from(data, at + PREFIX.size)
            name = at + PREFIX.size + LOAD.size
            out.append(Load(time, start, start + code, data[name:data.index(0, name)].decode()))
        at += size
    return out


def onednn_environment(folder):
    """Environment that makes oneDNN, alone or inside other programs, write a jitdump."""
    names = ("DNNL_JIT_PROFILE", "ONEDNN_JIT_PROFILE")
    return {**os.environ, "JITDUMPDIR": folder, **{name: "5" for name in names}}


def onednn_name(name):
    """Returns a name without the number that oneDNN's jitdump adds, and the JIT API's does not."""
    return re.sub(r"\.\d+$", "", name)


def onednn_loads(folder):
    """Returns oneDNN's loads, by their names in the JIT API."""
    (path,) = glob.glob(os.path.join(folder, ".debug/jit/*/jit-*.dump"))
    return [load._replace(name=onednn_name(load.name)) for load in jitdump(path)]


class Truth:
    """The code at an address and a time: the newest load that covers it."""

    def __init__(self, loads):
        self.loads = sorted(loads)
        self.pages = collections.defaultdict(list)  # the loads that touch a page
        for load in self.loads:
            for page in range(load.start // PAGE, (load.end - 1) // PAGE + 1):
                self.pages[page].append(load)

    def at(self, address, time):
        loads = self.pages.get(address // PAGE, ())
        for i in range(bisect.bisect_right(loads, time, key=lambda load: load.time) - 1, -1, -1):
            if loads[i].start <= address < loads[i].end:
                return loads[i]
        return None

    def names_by_address(self):
        """Returns {address: names} of the loads at each address, in order."""
        out = collections.defaultdict(set)
        for load in self.loads:
            out[load.start].add(load.name)
        return out

    def compare(self, samples):
        """Returns (number of correct frames, including the offset; wrong frames)."""
        right, wrong = collections.Counter(), []
        for sample in samples:
            # Functions of a runtime have no address.
            user = [frame for frame in sample.frames if 0 < frame.address < 1 << 63]
            for depth, frame in enumerate(user):
                load = self.at(frame.address - (depth > 0), sample.time)
                shown = frame.module == "[jit]"
                if not load and not shown:
                    continue
                if load and shown and (frame.name, frame.address - int(frame.offset, 16)) == \
                        (load.name, load.start):
                    right[frame.name] += 1
                else:
                    wrong.append((sample, frame, load))
        return right, wrong


def generations(run):
    """Returns the numbers of samples in generations of the engine with the right name, no name
    and a wrong name."""
    named = {(s.tid, s.time): harness.leaf_jit(s) for s in run.script()}
    arena = [int(x, 16) for x in run.stdout.decode().split("arena ")[1].split()[:2]]
    right = unnamed = wrong = 0
    for sample in run.samples():
        if not sample.regs or not arena[0] <= sample.ip < arena[1]:
            continue
        r15 = sample.regs[recording.R15]
        if r15 >> 32 != GENERATION_TAG:
            continue  # the generation is not in its register yet, or not any more
        frame = named[sample.tid, sample.time]
        if frame.name == f"gen_{r15 & 0xFFFFFFFF}":
            right += 1
        elif frame.module != "[jit]":
            unnamed += 1
        else:
            wrong += 1
    return right, unnamed, wrong
