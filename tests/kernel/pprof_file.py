# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An independent reader of profile.proto files, for the tests."""

import collections
import gzip

SAMPLE, MAPPING, LOCATION, FUNCTION, STRING = 2, 3, 4, 5, 6


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def varints(data):
    at, out = 0, []
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


def message(data):
    """Returns {field: [number or bytes, ...]} of a protobuf message."""
    out, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            assert at + value <= len(data)
            value, at = data[at:at + value], at + value
        else:
            assert tag & 7 == 0, f"wire type {tag & 7}"
        out[tag >> 3].append(value)
    return out


class Profile:
    """A profile.proto, read by the published schema. opened: open, if it is not compressed."""

    def __init__(self, path, opened=gzip.open):
        with opened(path, "rb") as file:
            self.top = message(file.read())
        self.strings = [s.decode("utf-8") for s in self.top[STRING]]
        assert self.strings[0] == ""
        self.mappings = self.by_id(MAPPING)
        self.locations = self.by_id(LOCATION)
        self.functions = self.by_id(FUNCTION)
        self.samples = [message(data) for data in self.top[SAMPLE]]

    def by_id(self, kind):
        messages = [message(data) for data in self.top[kind]]
        out = {m[1][0]: m for m in messages}
        assert len(out) == len(messages) and 0 not in out
        return out

    def text(self, m, member):
        return self.strings[m[member][0]] if m[member] else ""

    def names(self, location):
        """Returns the names of a location's frames, innermost first."""
        return [self.text(self.functions[message(line)[1][0]], 2) for line in location[4]]

    def labels(self, sample):
        out = {}
        for data in sample[3]:
            label = message(data)
            out[self.text(label, 1)] = self.text(label, 2) if label[2] else label[3][0]
        return out
