#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""otlp.py OUT PROFILER FREQ COMMAND...: profile a command with OpenTelemetry's eBPF profiler.

The profiler samples the whole machine, and sends profiles by gRPC to a collector. This program is the
collector: it begins the command when the profiler samples, waits for the profiles of its end, and writes
to OUT, as JSON, the stacks of the command's process, the bytes that were sent, and the samples in them.

The profiler leaves the names of native functions to its collector. So these frames get names here, by
llvm-symbolizer from the files that the command maps, with their separate debug files.
"""

import collections
import gzip
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

INTERVAL_SECONDS = 1
START_SECONDS = 120
BUSY = ["sh", "-c", "while :; do :; done"]
TRACEFS = "/sys/kernel/tracing"

# HTTP/2: types and flags of frames, and an answer "200, no error". Requests' headers are not looked at.
DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 4, 6, 8
ACK = END_STREAM = 1
END_HEADERS, PADDED = 4, 8
WIDE = (1 << 31) - 1
BEGIN = b"\x88" + b"\x0f\x10" + bytes([len(b"application/grpc")]) + b"application/grpc"
END = b"\x00" + bytes([len(b"grpc-status")]) + b"grpc-status" + b"\x01" + b"0"


def exactly(connection, size):
    data = bytearray()
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


class Collector:
    """Accepts one connection, and keeps the messages of all its requests."""

    def __init__(self):
        self.messages, self.bytes, self.lock = [], 0, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:{}".format(self.listener.getsockname()[1])
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            try:
                self.answer(connection)
            except (EOFError, ConnectionError):
                connection.close()

    def answer(self, connection):
        def send(kind, flags, stream, data=b""):
            connection.sendall(struct.pack(">I", len(data))[1:] + struct.pack(">BBI", kind, flags, stream) + data)

        exactly(connection, len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
        send(SETTINGS, 0, 0, struct.pack(">HI", 4, WIDE))
        send(WINDOW_UPDATE, 0, 0, struct.pack(">I", WIDE - 65535))
        bodies = collections.defaultdict(bytearray)
        while True:
            head = exactly(connection, 9)
            kind, flags, stream = struct.unpack(">BBI", head[3:])
            data = exactly(connection, int.from_bytes(head[:3], "big"))
            if kind in (SETTINGS, PING) and not flags & ACK:
                send(kind, ACK, 0, data if kind == PING else b"")
            elif kind == DATA:
                bodies[stream] += data[1:len(data) - data[0]] if flags & PADDED else data
            if kind in (DATA, HEADERS) and flags & END_STREAM:
                self.take(bytes(bodies.pop(stream, b"")))
                send(HEADERS, END_HEADERS, stream, BEGIN)
                send(DATA, 0, stream, bytes(5))
                send(HEADERS, END_HEADERS | END_STREAM, stream, END)

    def take(self, body):
        compressed, size = struct.unpack(">BI", body[:5])
        message = body[5:5 + size]
        with self.lock:
            self.bytes += len(message)
            self.messages.append(gzip.decompress(message) if compressed else message)

    def last(self):
        with self.lock:
            return self.messages[-1:]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """Returns {number: [integer or bytes, ...]} of a protobuf message."""
    out, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
            value, at = data[at:at + size], at + size
        out[tag >> 3].append(value)
    return out


def integer(message, number):
    return message[number][-1] if message[number] else 0


def integers(message, number):
    """Returns a repeated field of integers, packed or not."""
    out = []
    for value in message[number]:
        at = 0
        while isinstance(value, bytes) and at < len(value):
            one, at = varint(value, at)
            out.append(one)
        if isinstance(value, int):
            out.append(value)
    return out


class Dictionary:
    """The tables of one message, which its samples refer to by index."""

    def __init__(self, message):
        tables = fields(message)
        self.strings = [value.decode("utf-8", "replace") for value in tables[5]]
        self.mappings, self.locations, self.functions, self.attributes, self.stacks = (
            [fields(value) for value in tables[number]] for number in (1, 2, 3, 6, 7))

    def attribute(self, message, field, key):
        """Returns the text or number of an attribute, or None."""
        for index in integers(message, field):
            found = self.attributes[index]
            if self.strings[integer(found, 1)] == key:
                value = fields(integer(found, 2))
                return value[1][0].decode("utf-8", "replace") if value[1] else integer(value, 3)
        return None

    def frames(self, stack):
        """Yields names, or pairs of a file's name and an address in it, innermost first."""
        for index in integers(self.stacks[stack], 1):
            location = self.locations[index]
            lines = [fields(line) for line in location[3]]
            for line in lines:
                yield self.strings[integer(self.functions[integer(line, 1)], 1)]
            if not lines:
                mapping = self.mappings[integer(location, 1)]
                yield self.strings[integer(mapping, 4)], integer(location, 2)


def samples(messages):
    """Yields (process ID, thread's name, frames innermost first, number of samples)."""
    for message in map(fields, messages):
        dictionary = Dictionary(message[2][0])
        for resource in map(fields, message[1]):
            process = {}
            for value in fields(integer(resource, 1) or b"")[1]:
                pair = fields(value)
                process[pair[1][0].decode()] = integer(fields(integer(pair, 2)), 3)
            for scope in map(fields, resource[2]):
                for profile in map(fields, scope[2]):
                    for sample in map(fields, profile[2]):
                        count = sum(len(value) // 8 for value in sample[5]) or sum(integers(sample, 4))
                        yield (process.get("process.pid"), dictionary.attribute(sample, 2, "thread.name"),
                               tuple(dictionary.frames(integer(sample, 1))), count)


def symbolized(stacks, paths):
    """Replaces the pairs of file and address by the names of the files' functions, or "[FILE]"."""
    wanted = collections.defaultdict(set)
    for _, frames, _ in stacks:
        for frame in frames:
            if not isinstance(frame, str):
                wanted[frame[0]].add(frame[1])
    names = {}
    for file, addresses in wanted.items():
        addresses = sorted(addresses)
        got = []
        if file in paths:
            got = subprocess.run(["llvm-symbolizer", f"--obj={paths[file]}", "--output-style=JSON",
                                  "--no-inlines"], input="".join(f"{address:#x}\n" for address in addresses),
                                 capture_output=True, text=True, check=True).stdout.splitlines()
        for address, line in zip(addresses, got):
            names[file, address] = json.loads(line)["Symbol"][0]["FunctionName"]
    for thread, frames, count in stacks:
        yield [thread, *(frame if isinstance(frame, str) else names.get(frame) or f"[{frame[0]}]"
                         for frame in reversed(frames))], count


def mapped_files(pid, paths):
    """Adds the files that a process maps, by their names."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                path = line.rstrip("\n").split(None, 5)[5:]
                if path and path[0].startswith("/"):
                    paths[os.path.basename(path[0])] = path[0]
    except OSError:
        pass


def within_tracefs(argv):
    """The profiler needs tracefs. It gets a mount of its own if the machine has none."""
    if os.path.exists(os.path.join(TRACEFS, "events")):
        return argv
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c",
            f'mount -t tracefs tracefs {TRACEFS} && exec "$@"', "sh", *argv]


def wait_ready(profiler, collector, freq, log):
    """The profiler drops samples of processes that it does not know yet, and first visits all of /proc.
    So wait for half the samples of a busy process in one interval."""
    end = time.monotonic() + START_SECONDS
    busy = subprocess.Popen(BUSY)
    try:
        seen = 0
        while seen < freq * INTERVAL_SECONDS // 2:
            if profiler.poll() is not None or time.monotonic() > end:
                with open(log, encoding="utf-8", errors="replace") as text:
                    sys.exit(f"otlp: the profiler does not sample; it said:\n{text.read()}")
            time.sleep(0.1)
            last = collector.last()
            seen = sum(count for pid, _, _, count in samples(last) if pid == busy.pid)
    finally:
        busy.kill()
        busy.wait()


def main(out, path, freq, *command):
    collector, paths = Collector(), {}
    with tempfile.NamedTemporaryFile() as log:
        profiler = subprocess.Popen(within_tracefs([
            path, "-collection-agent", collector.address, "-disable-tls", "-samples-per-second", freq,
            "-reporter-interval", f"{INTERVAL_SECONDS}s"]), stdout=log, stderr=log)
        try:
            wait_ready(profiler, collector, int(freq), log.name)
            program = subprocess.Popen(command)
            while program.poll() is None:
                mapped_files(program.pid, paths)
                time.sleep(0.05)
            time.sleep(4 * INTERVAL_SECONDS)
        finally:
            profiler.send_signal(signal.SIGINT)
            profiler.wait()
    with collector.lock:
        found = list(samples(collector.messages))
    ours = [(thread, frames, count) for pid, thread, frames, count in found if pid == program.pid]
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"bytes": collector.bytes, "samples": sum(sample[3] for sample in found),
                   "stacks": list(symbolized(ours, paths))}, file)
    sys.exit(program.returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])
