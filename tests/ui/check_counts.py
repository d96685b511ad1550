#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The page of a recording has the stacks of the folded output, and as many samples as the ledger:
check_counts.py JITBPF RECORDING...
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

from page_data import PageData


def as_folded(name):
    """The name as folded stacks have it."""
    return re.sub(r"[\x00-\x1f\x7f\ufffd]", "?", name.replace(";", ":"))


def stacks_of(data, exact):
    out = collections.Counter()
    for node in data.nodes:
        if node.self:
            out[";".join(as_folded(n.name if exact else data.plain[n.label]) for n in node.path[1:])] += node.self
    return out


def folded_of(text):
    out = collections.Counter()
    for line in text.splitlines():
        stack, samples = line.rsplit(" ", 1)
        out[re.sub(r"_\[[ijkp]\](?=;|$)", "", stack)] += int(samples)
    return out


def main():
    program = sys.argv[1]
    all_loads = 0
    for recording in sys.argv[2:]:
        for options in ([], ["--by", "tid"], ["--no-inline", "--kernel=no"], ["--merge=all"], ["--merge=tables"], ["--merge=none"]):
            def report(form):
                return subprocess.run([program, "report", "-f", form, *options, recording], check=True,
                                      stdout=subprocess.PIPE, encoding="utf-8").stdout
            with tempfile.NamedTemporaryFile("w", encoding="utf-8") as page:
                page.write(report("html"))
                page.flush()
                data = PageData(page.name, merged=False)
            samples = data.runs[0]["samples"]
            where = f"check_counts: {os.path.basename(recording)} {' '.join(options)}: "
            if data.total != samples["taken"] - samples["lost"] or not data.total:
                sys.exit(f"{where}{data.total} samples on the page, {samples} in the ledger")
            by_count = collections.Counter()
            for (_, thread, node), samples in data.slices.items():
                by_count[node] += samples
            if by_count != {i: node.self for i, node in enumerate(data.nodes) if node.self}:
                sys.exit(where + "the slices have other samples")
            loads, unloads = (sum(bin_[i] for bin_ in data.code.values()) for i in (0, 1))
            jit = data.runs[0]["jit"]
            all_loads += loads
            if loads != jit["methods"] - jit["late"]:
                sys.exit(f"{where}{loads} loads in the lane, {jit} in the ledger")
            if unloads != jit["unloads"] + jit["replaced"] + jit["unchecked"]:
                sys.exit(f"{where}{unloads} unloads in the lane, {jit} in the ledger")
            live = [0] + [sum(bin_[2]) for bin_ in data.code.values()]
            if not min(loads, 1) <= max(live) <= jit["code_bytes"]:
                sys.exit(f"{where}{max(live)} bytes live at most, {jit['code_bytes']} loaded")
            if stacks_of(data, options in (["--merge=tables"], ["--merge=none"])) != folded_of(report("folded")):
                sys.exit(where + "page and folded stacks differ")
    if not all_loads:
        sys.exit("check_counts: no recording has JIT code")
    print("page and folded: ok")


if __name__ == "__main__":
    main()
