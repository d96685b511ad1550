# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
An independent reader of the data of a flame graph page, without the page's script, for comparison.
"""
import base64
import collections
import itertools
import json
import re
import sys
import unicodedata

JIT = 3
PROCESS = 127
INLINED = 128


def visible(name):
    """Escapes characters as the page does."""
    if len(name) > 4000:
        name = f"{name[:4000]}… ({len(name):,} characters)"
    return "".join(f"\\u{{{ord(c):x}}}" if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") else c for c in name)


def numbers(table, key):
    """Decodes LEB128 in base64."""
    out, value, shift = [], 0, 0
    for byte in base64.b64decode(table[key], validate=True):
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            out.append(value)
            value = shift = 0
    assert shift == 0 and len(out) == table["rows"], key
    return out


class Node:
    def __init__(self, depth, label, name, parent):
        self.depth, self.label, self.name, self.parent = depth, label, name, parent
        self.source = ""
        self.self, self.left, self.total, self.children = 0, 0, 0, []

    @property
    def path(self):
        """From the root to this one."""
        nodes, node = [], self
        while node:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]


class PageData:
    """
    threads: keys "PID.TID" whose samples count; None for all. side: of a difference. ticks: the
    first tick whose samples count, and the one behind the last. merged: all code of a function with the
    same callers is one node, with the first label of the function, as the page shows it.
    """

    def __init__(self, path, threads=None, side=None, ticks=None, merged=True):
        page = open(path, encoding="utf-8").read()
        data = json.loads(re.search(r'<script type="application/json" id="profile">(.*?)</script>', page, re.S)[1])
        self.runs, strings = data["runs"], data["strings"]
        self.names = [strings[i] for i in numbers(data["labels"], "name")]
        self.kinds = numbers(data["labels"], "kind")
        self.function_of = [label - twin for label, twin in enumerate(numbers(data["labels"], "twin"))]
        self.plain = [strings[plain] or name for plain, name in zip(numbers(data["labels"], "plain"), self.names)]
        self.threads = [f"{pid}.{tid}" for pid, tid in zip(numbers(data["threads"], "pid"),
                                                           numbers(data["threads"], "tid"))]
        self.nodes = self.read_nodes(data["nodes"])
        files, lines = numbers(data["sources"], "file"), numbers(data["sources"], "line")
        for node, source in zip(self.nodes, numbers(data["nodes"], "source")):
            node.source = strings[files[source]] and f"{strings[files[source]]}:{lines[source]}"
        self.by_thread = collections.Counter()
        at = 0
        for step, group, samples in zip(*(numbers(data["counts"], key) for key in ("step", "group", "samples"))):
            at += step
            thread = self.threads[group] if self.threads else None
            self.by_thread[thread] += samples
            if (threads is None or thread in threads) and (side is None or side == group):
                self.nodes[at].self += samples
        self.slices = self.read_slices(data)
        self.engines = data["code"].get("engines", [])
        self.code = self.read_code(data)
        if ticks:
            self.count_ticks(threads, *ticks)
        self.code_names = self.names
        if merged and any(label != first for label, first in enumerate(self.function_of)):
            self.merge()
        self.lay_out()

    def merge(self):
        """Nodes become those of functions, and names and kinds of labels those of their functions."""
        labels = collections.defaultdict(list)
        for label, first in enumerate(self.function_of):
            labels[first].append(label)
        names, kinds = list(self.names), list(self.kinds)
        for first, code in labels.items():
            kind = JIT if any(self.kinds[label] & ~INLINED == JIT for label in code) else self.kinds[first] & ~INLINED
            for label in code:
                names[label] = self.plain[first] if len({self.names[code_] for code_ in code}) > 1 else self.names[first]
                kinds[label] = kind | (INLINED if all(self.kinds[code_] & INLINED for code_ in code) else 0)
        self.names, self.kinds = names, kinds
        root = Node(0, 0, self.nodes[0].name, None)
        merged, places = {}, {self.nodes[0]: root}
        root.self = self.nodes[0].self
        for node in self.nodes[1:]:
            up, label = places[node.parent], self.function_of[node.label]
            if (up, label) not in merged:
                merged[up, label] = Node(node.depth, label, self.names[label], up)
                merged[up, label].source = node.source
                up.children.append(merged[up, label])
            places[node] = merged[up, label]
            places[node].self += node.self
        self.nodes = []

        def add(node):
            self.nodes.append(node)
            node.children.sort(key=lambda n: (self.plain[n.label].encode("utf-16-be", "surrogatepass"), n.label))
            for child in node.children:
                add(child)
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 10000))
        add(root)

    def read_code(self, data):
        """Returns {bin: (loads, unloads, live bytes of each engine)}."""
        code, live = data["code"], iter(numbers(data["code_live"], "bytes"))
        return {bin_: (loads, unloads, [next(live) for _ in self.engines]) for bin_, loads, unloads in
                zip(itertools.accumulate(numbers(code, "step")), numbers(code, "loads"), numbers(code, "unloads"))}

    def count_ticks(self, threads, first, end):
        for node in self.nodes:
            node.self = 0
        for (tick, thread, node), samples in self.slices.items():
            if first <= tick < end and (threads is None or thread in threads):
                self.nodes[node].self += samples

    def read_slices(self, data):
        """Returns {(tick, thread, number of the node): samples}."""
        ticks, several = data["ticks"], dict(zip(itertools.accumulate(numbers(data["several"], "step")),
                                                 numbers(data["several"], "more")))
        nodes = list(itertools.accumulate(numbers(data["counts"], "step")))
        groups, steps = numbers(data["counts"], "group"), numbers(data["slices"], "step")
        slices, at = collections.Counter(), 0
        for tick, size in zip(itertools.accumulate(numbers(ticks, "step")), numbers(ticks, "slices")):
            count = 0
            for at in range(at, at + size):
                count += steps[at]
                slices[tick, self.threads[groups[count]], nodes[count]] += 1 + several.get(at, 0)
            at += 1
        assert at == len(steps)
        return slices

    def read_nodes(self, table):
        nodes, path = [], []
        for up, label in zip(numbers(table, "up"), numbers(table, "label")):
            del path[len(path) - up if nodes else 0:]
            parent = path[-1] if path else None
            nodes.append(Node(len(path), label, self.names[label], parent))
            path.append(nodes[-1])
            if parent:
                parent.children.append(nodes[-1])
        return nodes

    def lay_out(self):
        for node in reversed(self.nodes):
            node.total += node.self
            if node.parent:
                node.parent.total += node.total
        for node in self.nodes:
            left = node.left
            for child in node.children:
                child.left = left
                left += child.total

    @property
    def total(self):
        return self.nodes[0].total

    def matched(self, pattern):
        samples, until = 0, 0
        matching = {function for function, names in zip(self.function_of, zip(self.code_names, self.plain))
                    if any(re.search(pattern, name, re.I) for name in names)}
        for node in self.nodes:
            if node.left >= until and node.total and self.function_of[node.label] in matching:
                samples, until = samples + node.total, node.left + node.total
        return samples

    def functions(self, under=None):
        """Returns {first label of a function: [self, total]} without processes; a stack counts once in a total."""
        out = collections.defaultdict(lambda: [0, 0])
        for node in self.nodes:
            if node.self and (under is None or under in node.path):
                path = node.path[under.depth if under else 0:]
                if self.kinds[node.label] != PROCESS:
                    out[self.function_of[node.label]][0] += node.self
                for label in {self.function_of[n.label] for n in path if self.kinds[n.label] != PROCESS}:
                    out[label][1] += node.self
        return out

    def callers(self):
        """Returns {(label of the leaf, of its caller, ...): samples}, two levels deep."""
        out = collections.Counter()
        for node in self.nodes[1:]:
            if node.self:
                out[(node.label,)] += node.self
                if node.depth > 1:
                    out[(node.label, node.parent.label)] += node.self
        return out
