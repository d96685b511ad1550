# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An independent reader of recordings and scripts, for the tests."""

import collections
import os
import re
import struct
import zlib

import zstd_stream

SAMPLE, CODE, CODE_EVENT, OWNER, INFO, THREAD, FRESH = 1, 13, 14, 16, 100, 106, 107
USER_REGS, STACK_COPY, FRAME_POINTERS, WEIGHT = 1, 2, 4, 128
R15 = 17

# Behind the header of a struct jitbpf_code_event.
CODE_EVENT_FIELDS = struct.Struct("<IIQQQQQQQQQQHHIII")
PUBLISHER_SHIM, PART_NAME = 0, 1

JitEvent = collections.namedtuple("JitEvent", "pid sequence time event caller id start end name")
# ip is the address of the leaf user frame; end is an enum jitbpf_stack_end.
Sample = collections.namedtuple("Sample",
                                "time pid tid cpu ip regs user_words end guessed comm event")
Owner = collections.namedtuple("Owner", "pid uid cgroup charged_uid fs_uid")
END_ROOT, END_BAD_FRAME, END_DEPTH, END_COPY = 1, 2, 4, 7
CUT = "[cut]"
# cut: the mark of a cut stack follows the outermost frame. One before functions of a runtime, whose native
# callers are not known, is among the frames.
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


def segments(data):
    """Yields (offset, content) of each whole segment of a recording (uapi/packed_recording.h)."""
    magic, version, at = struct.unpack_from("<8sII", data)
    assert magic == b"JITBPF\r\n" and version == 5
    stream, crc = zstd_stream.Decompressor(), zlib.crc32(data[:at])
    while at + 8 <= len(data):
        size, expected = struct.unpack_from("<II", data, at)
        packed = data[at + 8:at + 8 + size]
        if len(packed) < size:
            return
        crc = zlib.crc32(packed, zlib.crc32(data[at:at + 4], crc))
        assert crc == expected
        yield at, stream.decompress(packed)
        at += 8 + size


class Lane:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def difference(self):
        value = self.number()
        return value >> 1 ^ -(value & 1)

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def ended(self):
        return self.at == len(self.data)


CONSTANT, TIME, COUNTER = range(3)


class Row:
    """The words of the chunks of a type. Most are those of the chunk before: only the others, the
    bits of `moving`, are computed."""

    def __init__(self):
        self.time = self.moving = 0
        self.last, self.steps, self.kinds = [], [], []

    def reserve(self, count):
        missing = [0] * (count - len(self.last))
        self.last += missing
        self.steps += missing
        self.kinds += missing

    def next(self, at, passed, difference):
        last, before, kind = self.last[at], self.steps[at], self.kinds[at]
        expected = last + (0, passed, before)[kind]
        word = expected + difference & 0xffffffff
        step = word - last & 0xffffffff
        if step and step == before:
            kind = COUNTER
        elif self.distance(step - passed) < self.distance(step):
            kind = TIME
        else:
            kind = CONSTANT
        self.last[at], self.steps[at], self.kinds[at] = word, step, kind
        self.moving = self.moving & ~(1 << at) | bool(step or kind) << at

    @staticmethod
    def distance(number):
        number = number + (1 << 31) & 0xffffffff
        number -= 1 << 31
        return 2 * number if number >= 0 else -2 * number - 1


class Unpacker:
    """Yields each chunk as (type, flags, time, body). The body of a packed sample is a Sample."""

    def __init__(self):
        self.rows = collections.defaultdict(Row)
        self.cpus = collections.defaultdict(lambda: [0, 0, 0])  # time, thread, time of others
        self.time = self.cpu = self.flags = self.period = 0
        self.forget()

    def forget(self):
        self.threads = []
        self.nodes = [(number, None, False) for number in range(16)]  # parent, address, kernel
        self.last_child, self.kernel_address = {}, 0
        for state in self.cpus.values():
            state[1] = 0

    def words(self, kind, first, time, count):
        row = self.rows[kind, first]
        passed, row.time = time - row.time & 0xffffffff, time
        row.reserve(count)
        mask = self.heads.number()
        left = (mask | row.moving) & (1 << count) - 1
        while left:
            at = (left & -left).bit_length() - 1
            left &= left - 1
            row.next(at, passed, self.lane_words.difference() if mask >> at & 1 else 0)
        return row.last[:count]

    def chunk(self, kind):
        flags, runs, body = self.heads.number(), self.heads.number(), b""
        self.time += self.times.difference()
        for run in range(runs):
            count = self.heads.number()
            words = self.words(kind, run == 0, self.time, count) if count else []
            size = self.heads.difference() + (words[-1] if words else 0) & 0xffffffff
            body += struct.pack(f"<{count}I", *words) + self.text.take(size)
        if kind == INFO:
            hertz = struct.unpack_from("<I", body, 8)[0]
            self.period = 10**9 // hertz
        elif kind == THREAD:
            self.threads.append(struct.unpack("<II8x16s", body))
        elif kind == FRESH:
            self.forget()
        return kind, flags, self.time, body

    def add_node(self, parent, is_kernel):
        child = self.last_child.get(parent)
        if child and self.nodes[child][2] == is_kernel:
            expected = self.nodes[child][1]
        elif is_kernel and not self.nodes[parent][2]:
            expected = self.kernel_address
        else:
            expected = self.nodes[parent][1] or 0
        address = expected + self.lane_words.difference() & (1 << 64) - 1
        if is_kernel and not self.nodes[parent][2]:
            self.kernel_address = address
        self.last_child[parent] = len(self.nodes)
        self.nodes.append((parent, address, is_kernel))
        return len(self.nodes) - 1

    def sample(self, head):
        if head & 1:
            self.cpu = self.heads.number()
        state = self.cpus[self.cpu]
        if head & 2:
            state[1] = self.heads.number()
        if head & 4:
            self.flags = self.heads.number()
        user = self.heads.number() if head & 8 else 0
        kernel = self.heads.number() if head & 16 else 0
        event = self.heads.number() if head & 32 else 0
        if self.flags & WEIGHT:
            self.heads.number()
        if event:
            self.time = state[2] = state[2] + self.times.difference()
        else:
            self.time = state[0] = state[0] + self.period + self.times.difference()
        node = self.lane_nodes.number()
        for _ in range(user):
            node = self.add_node(node, False)
        for _ in range(kernel):
            node = self.add_node(node, True)
        frames = ([], [])
        while node >= 16:
            parent, address, is_kernel = self.nodes[node]
            frames[is_kernel].append(address)
            node = parent
        regs = None
        if self.flags & USER_REGS:
            words = self.words(SAMPLE, True, self.time, 36)
            regs = struct.unpack("<18Q", struct.pack("<36I", *words))
        pid, tid, comm = self.threads[state[1]]
        user = frames[0]
        return SAMPLE, self.flags, self.time, Sample(
            self.time, pid, tid, self.cpu, user[0] if user else 0, regs, len(user), node,
            bool(self.flags & FRAME_POINTERS), comm.rstrip(b"\0").decode(errors="replace"), event)

    def chunks(self, content):
        sizes, lanes = Lane(content), []
        sizes = [sizes.number() for _ in range(5)], sizes
        for size in sizes[0]:
            lanes.append(Lane(sizes[1].take(size)))
        self.heads, self.times, self.lane_nodes, self.lane_words, self.text = lanes
        while not self.heads.ended():
            head = self.heads.take(1)[0]
            yield self.sample(head) if head & 0x80 else self.chunk(head)
        assert all(lane.ended() for lane in lanes)


def chunks(path):
    """Yields (type, flags, time, body) of each chunk in the whole segments of a recording."""
    unpacker = Unpacker()
    with open(path, "rb") as file:
        data = file.read()
    for _at, content in segments(data):
        yield from unpacker.chunks(content)


def samples(path):
    """Returns the samples of a recording."""
    return [body for kind, _flags, _time, body in chunks(path)
            if kind == SAMPLE and isinstance(body, Sample)]


def jit_events(path):
    """Returns the code events of a recording that the shim published."""
    out = []
    for kind, _flags, time, body in chunks(path):
        if kind != CODE_EVENT:
            continue
        (pid, _, _, _, _, caller, sequence, method, _, address, _, code, publisher, event, _, _,
         _) = CODE_EVENT_FIELDS.unpack_from(body)
        if publisher != PUBLISHER_SHIM:
            continue
        part, name = CODE_EVENT_FIELDS.size, ""
        while part + 8 <= len(body):
            part_type, part_bytes = struct.unpack_from("<II", body, part)
            if part_type == PART_NAME:
                name = body[part + 8:part + 8 + part_bytes].decode()
            part += 8 + part_bytes
        out.append(JitEvent(pid, sequence, time, event, caller, method, address, address + code,
                            name))
    return out


def owners(path):
    """Returns the owners of a recording, in order."""
    return [Owner(*struct.unpack_from("<II8xQII", body)) for kind, _flags, _time, body in chunks(path)
            if kind == OWNER]


HEAD = re.compile(r"^\s*(.+?)\s+(\d+)/(\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+(\S+):")
LINE = re.compile(r"^\t\s*([0-9a-f]+) (.*) \((.*)\)$")


def frame_of(line):
    """Returns the Frame of a line, or None for the mark of a cut stack."""
    frame = LINE.match(line)
    assert frame, f"a line that is neither sample nor frame: {line!r}"
    address, symbol, module = frame.groups()
    if symbol == module == CUT:
        return None
    name, _, offset = symbol.rpartition("+0x")
    if not name or not re.fullmatch("[0-9a-f]+", offset):
        name, offset = symbol, ""
    return Frame(int(address, 16), name, offset, module, False)


def script(path):
    """Returns the samples of a script, parsed as by another tool."""
    out, current, known = [], None, {}
    for line in open(path, encoding="utf-8", errors="replace"):
        line = line.rstrip("\n")
        if not line:
            current = None
        elif line.startswith("\t"):
            assert current, f"a frame of no sample: {line!r}"
            if line not in known:  # nearly all frames occur again
                known[line] = frame_of(line)
            if known[line]:
                if current.cut:
                    # Runtime frames lack the rest: the native stack goes on. Else it is cut itself.
                    lacks_functions = current.frames and not current.frames[-1].address
                    assert lacks_functions or not known[line].address, \
                        f"native code behind a cut: {line!r}"
                    current.frames.append(Frame(0, CUT, "", CUT, False))
                    current = out[-1] = current._replace(cut=False)
                current.frames.append(known[line])
            else:
                assert not current.cut, "two marks of a cut stack, one behind the other"
                current = out[-1] = current._replace(cut=True)
        else:
            head = HEAD.match(line)
            assert head, f"a line that is neither sample nor frame: {line!r}"
            comm, pid, tid, cpu, sec, nsec, _event = head.groups()
            current = ScriptSample(comm, int(pid), int(tid), int(cpu),
                                   int(sec) * 10**9 + int(nsec), [], False)
            out.append(current)
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
