# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An independent reader of recordings and scripts, for the tests."""

import collections
import os
import re
import struct

RECORD = struct.Struct("<IHHQ")
SAMPLE, CODE, CODE_EVENT, OWNER, SAMPLE_REF, STACK = 1, 13, 14, 16, 102, 101
USER_REGS, STACK_COPY, FRAME_POINTERS = 1, 2, 4
STACK_FRESH = 1
R15 = 17

# Behind the header of a struct jitbpf_code_event.
CODE_EVENT_FIELDS = struct.Struct("<IIQQQQQQQQQQHHIII")
PUBLISHER_SHIM, PART_NAME = 0, 1

JitEvent = collections.namedtuple("JitEvent", "pid sequence time event caller id start end name")
# ip is the address of the leaf user frame; end is an enum jitbpf_stack_end.
Sample = collections.namedtuple("Sample",
                                "time pid tid cpu ip regs user_frames end guessed comm")
Owner = collections.namedtuple("Owner", "pid uid cgroup charged_uid fs_uid")
END_ROOT, END_BAD_FRAME, END_DEPTH, END_COPY = 1, 2, 4, 7
CUT = "[cut]"
# cut: the mark of a cut stack follows the outermost frame.
ScriptSample = collections.namedtuple("ScriptSample", "comm pid tid cpu time frames cut")
Frame = collections.namedtuple("Frame", "address name offset module inlined")


def shown_name(frame):
    """The name in all formats except the script: unnamed native code is shown by its file."""
    if frame.name == "[unknown]" and "/" in frame.module:
        return f"[{os.path.basename(frame.module)}]"
    return frame.name


def shown_names(sample):
    """The names of a script's sample in all formats except the script, innermost first."""
    return *map(shown_name, sample.frames), *[CUT] * sample.cut


def chunks(data):
    """Yields (offset, size, type, flags, time) of each chunk of a recording."""
    magic, _version, at = struct.unpack_from("<8sII", data)
    assert magic == b"JITBPF\r\n"
    while at < len(data):
        size, kind, flags, time = RECORD.unpack_from(data, at)
        assert size >= 16
        yield at, size, kind, flags, time
        at += size


def samples(path):
    """Returns the samples of a recording."""
    data = open(path, "rb").read()
    stacks, out = [], []
    for at, _size, kind, flags, time in chunks(data):
        if kind == STACK:
            if flags & STACK_FRESH:
                stacks.clear()
            kernel, user, end = struct.unpack_from("<HHI", data, at + 16)
            ips = struct.unpack_from(f"<{kernel + user}Q", data, at + 24)
            stacks.append((ips[kernel] if user else 0, user, end))
        elif kind == SAMPLE_REF:
            pid, tid, _start, cpu, stack, comm = struct.unpack_from("<IIQII16s", data, at + 16)
            regs = None
            if flags & USER_REGS:
                regs = struct.unpack_from("<18Q", data, at + 56)
            out.append(Sample(time, pid, tid, cpu, stacks[stack][0], regs, *stacks[stack][1:],
                              bool(flags & FRAME_POINTERS),
                              comm.rstrip(b"\0").decode(errors="replace")))
    return out


def jit_events(path):
    """Returns the code events of a recording that the shim published."""
    data, out = open(path, "rb").read(), []
    for at, size, kind, _flags, time in chunks(data):
        if kind != CODE_EVENT:
            continue
        (pid, _, _, _, _, caller, sequence, method, _, address, _, code, publisher, event, _, _,
         _) = CODE_EVENT_FIELDS.unpack_from(data, at + RECORD.size)
        if publisher != PUBLISHER_SHIM:
            continue
        part, name = at + RECORD.size + CODE_EVENT_FIELDS.size, ""
        while part + 8 <= at + size:
            part_type, part_bytes = struct.unpack_from("<II", data, part)
            if part_type == PART_NAME:
                name = data[part + 8:part + 8 + part_bytes].decode()
            part += 8 + part_bytes
        out.append(JitEvent(pid, sequence, time, event, caller, method, address, address + code,
                            name))
    return out


def owners(path):
    """Returns the owners of a recording, in order."""
    data = open(path, "rb").read()
    return [Owner(*struct.unpack_from("<II8xQII", data, at + RECORD.size))
            for at, _size, kind, _flags, _time in chunks(data) if kind == OWNER]


HEAD = re.compile(r"^\s*(.+?)\s+(\d+)/(\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+(\S+):")
LINE = re.compile(r"^\t\s*([0-9a-f]+) (.*) \((.*)\)$")


def script(path):
    """Returns the samples of a script, parsed as by another tool."""
    out, current = [], None
    for line in open(path, encoding="utf-8", errors="replace"):
        line = line.rstrip("\n")
        if not line:
            current = None
            continue
        head = HEAD.match(line)
        if head and not line.startswith("\t"):
            comm, pid, tid, cpu, sec, nsec, _event = head.groups()
            current = ScriptSample(comm, int(pid), int(tid), int(cpu),
                                   int(sec) * 10**9 + int(nsec), [], False)
            out.append(current)
            continue
        frame = LINE.match(line)
        assert frame and current, f"a line that is neither sample nor frame: {line!r}"
        address, symbol, module = frame.groups()
        assert not current.cut, f"a frame behind the mark of a cut stack: {line!r}"
        if symbol == module == CUT:
            current = out[-1] = current._replace(cut=True)
            continue
        name, _, offset = symbol.rpartition("+0x")
        if not name or not re.fullmatch("[0-9a-f]+", offset):
            name, offset = symbol, ""
        current.frames.append(Frame(int(address, 16), name, offset, module, False))
    return out


def is_unknown(sample):
    """Returns whether the user leaf of a script's sample is at an unknown address."""
    user = [frame for frame in sample.frames if frame.address < 1 << 63]
    return bool(user) and user[0].module in ("[unknown]", "//anon")


def folded(path):
    """Returns {stack: count} of a folded file."""
    out = {}
    for line in open(path, encoding="utf-8", errors="replace"):
        stack, count = line.rstrip("\n").rsplit(" ", 1)
        out[stack] = int(count)
    return out
