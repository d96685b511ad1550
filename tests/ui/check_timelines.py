# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Checks a speedscope and a Firefox Profiler file of one profile: the requirements of their formats,
and that they have the same samples as folded stacks and script.
  check_timelines.py SPEEDSCOPE FIREFOX FOLDED [SCRIPT]
"""
import collections
import gzip
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "kernel"))
import recording  # noqa: E402


def check(what, said):
    if not what:
        sys.exit("check_timelines: " + said)


def is_count(value, below):
    return type(value) is int and 0 <= value < below


def speedscope_threads(path):
    """Returns {(pid, tid): [stack of each sample]}; stacks are names, outermost first."""
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    check(profile["$schema"] == "https://www.speedscope.app/file-format-schema.json", "speedscope: wrong schema")
    frames = profile["shared"]["frames"]
    for frame in frames:
        check(set(frame) == {"name", "file"} and all(isinstance(s, str) for s in frame.values()),
              f"speedscope: a frame {frame}")
    check(len({(f["name"], f["file"]) for f in frames}) == len(frames), "speedscope: a frame occurs twice")
    out = {}
    for one in profile["profiles"]:
        check(one["type"] == "sampled" and one["unit"] == "nanoseconds" and one["startValue"] == 0,
              f"speedscope: profile {one['name']}")
        check(len(one["samples"]) == len(one["weights"]), "speedscope: not one weight for each sample")
        check(sum(one["weights"]) == one["endValue"], "speedscope: the weights do not add up")
        pid, tid = re.search(r" ([0-9.]+)/(\d+)$", one["name"]).groups()
        stacks = out.setdefault((pid, int(tid)), [])
        for stack, weight in zip(one["samples"], one["weights"]):
            check(all(is_count(frame, len(frames)) for frame in stack), "speedscope: an invalid frame number")
            stacks.append((tuple(frames[frame]["name"] for frame in stack), weight))
    weights = [weight for stacks in out.values() for _, weight in stacks]
    period = min(weights, default=1)
    check(all(weight % period == 0 for weight in weights), f"speedscope: whole samples of {period} ns")
    if profile["profiles"]:
        busiest = max(p["endValue"] for p in profile["profiles"])
        check(profile["profiles"][profile["activeProfileIndex"]]["endValue"] == busiest,
              "speedscope: the busiest thread comes first")
    return {thread: [stack for stack, weight in stacks for _ in range(weight // period)]
            for thread, stacks in out.items()}


def firefox_tables(profile):
    shared = profile["shared"]
    counts = {"libs": len(profile["libs"]), "strings": len(shared["stringArray"]),
              "categories": len(profile["meta"]["categories"]), "lines": 2**32, "depths": 256}
    for key, table in shared.items():
        if key == "stringArray":
            continue
        counts[key] = table["length"]
        for column, values in table.items():
            check(column == "length" or len(values) == table["length"], f"firefox: {key}.{column} has another length")
    check(len(set(shared["stringArray"])) == counts["strings"], "firefox: a string occurs twice")
    return shared, counts


def check_firefox_references(shared, counts):
    references = [
        ("stackTable", "frame", "frameTable", ()), ("frameTable", "func", "funcTable", ()),
        ("frameTable", "lib", "libs", (-1,)), ("frameTable", "nativeSymbol", "nativeSymbols", (None,)),
        ("frameTable", "category", "categories", ()), ("frameTable", "line", "lines", (None,)),
        ("frameTable", "inlineDepth", "depths", ()), ("funcTable", "name", "strings", ()),
        ("funcTable", "resource", "resourceTable", ()), ("funcTable", "source", "sources", (None,)),
        ("resourceTable", "name", "strings", ()), ("nativeSymbols", "libIndex", "libs", ()),
        ("nativeSymbols", "name", "strings", ()), ("sources", "filename", "strings", ()),
    ]
    for table, column, into, others in references:
        for value in shared[table][column]:
            check(value in others or is_count(value, counts[into]), f"firefox: {table}.{column}: {value}")
    frames = shared["frameTable"]
    for lib, symbol in zip(frames["lib"], frames["nativeSymbol"]):
        check(symbol is None or shared["nativeSymbols"]["libIndex"][symbol] == lib, "firefox: a symbol of another lib")
    offsets = shared["stackTable"]["prefixOffset"]
    for i, offset in enumerate(offsets):
        check(type(offset) is int and 0 <= offset <= i, "firefox: a caller comes after its callees")


FORMATS = {"string": str, "bytes": int, "integer": int, "unique-string": int}


def check_firefox_markers(profile, thread):
    """Each marker has a valid time and data of a kind in the schema."""
    schemas = {s["name"]: {f["key"]: f["format"] for f in s["fields"]} for s in profile["meta"]["markerSchema"]}
    strings, categories = len(profile["shared"]["stringArray"]), len(profile["meta"]["categories"])
    markers = thread["markers"]
    columns = [markers[key] for key in ("data", "name", "startTime", "endTime", "phase", "category")]
    check(all(len(column) == markers["length"] for column in columns), "firefox: columns of markers")
    for data, name, start, end, phase, category in zip(*columns):
        check(is_count(name, strings) and is_count(category, categories), f"firefox: marker {data}")
        check(start >= 0 and (end is None if phase == 0 else phase == 1 and end >= start), f"firefox: time of {data}")
        for key, value in data.items():
            wanted = "string" if key == "type" else schemas[data["type"]][key]
            check(type(value) is FORMATS[wanted], f"firefox: {key} of marker {data}")
            check(wanted != "unique-string" or is_count(value, strings), f"firefox: {key} of marker {data}")
    return markers["length"]


def firefox_threads(path):
    """Returns {(pid, tid): [(time in ms, stack)]}."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        profile = json.load(file)
    meta = profile["meta"]
    shared, counts = firefox_tables(profile)
    check_firefox_references(shared, counts)
    check(meta["preprocessedProfileVersion"] == 70, "firefox: another version of the format")
    check(meta["categories"][0]["color"] == "grey", "firefox: a default category")
    names = [shared["stringArray"][shared["funcTable"]["name"][func]] for func in shared["frameTable"]["func"]]
    stacks = [()] * counts["stackTable"]
    for i, offset in enumerate(shared["stackTable"]["prefixOffset"]):
        stacks[i] = (stacks[i - offset] if offset else ()) + (names[shared["stackTable"]["frame"][i]],)
    out, seen = {}, set()
    for thread in profile["threads"]:
        samples = thread["samples"]
        check(len(samples["stack"]) == len(samples["time"]) == len(samples["threadCPUDelta"]) == samples["length"],
              "firefox: columns of samples")
        check(check_firefox_markers(profile, thread) or samples["length"], "firefox: a thread without samples and markers")
        check(samples["time"] == sorted(samples["time"]), "firefox: samples in order of time")
        check(thread["isMainThread"] == (thread["pid"].split(".")[0] == str(thread["tid"])), "firefox: the main thread")
        key = thread["pid"], thread["tid"]
        check(key not in seen, f"firefox: thread {key} occurs twice")
        seen.add(key)
        if samples["length"]:
            out[key] = [(time, () if stack is None else stacks[stack])
                        for time, stack in zip(samples["time"], samples["stack"])]
    check(set(range(counts["stackTable"])) >= {s for t in profile["threads"] for s in t["samples"]["stack"] if s is not None},
          "firefox: an invalid stack number")
    return out


def check_script(path, firefox):
    """The samples of script are those of the threads."""
    left = {thread: collections.deque(samples) for thread, samples in firefox.items()}
    first = None
    for sample in recording.script(path):
        time, stack = left[(str(sample.pid), sample.tid)].popleft()
        names = recording.shown_names(sample)[::-1]
        stack = tuple(re.sub(r"[\x00-\x1f\x7f\ufffd]", "?", name) for name in stack)  # as in the script
        check(names == stack, f"script has {names}, firefox {stack}")
        if first is None:
            first = sample.time - time * 1e6
        check(abs(sample.time - time * 1e6 - first) < 1000, f"script has no sample at {time} ms")
    check(not any(left.values()), "firefox has samples that script lacks")


def main():
    speedscope, firefox = speedscope_threads(sys.argv[1]), firefox_threads(sys.argv[2])
    delivered = sum(recording.folded(sys.argv[3]).values())
    check(list(speedscope) == list(firefox), "the two formats have different threads")
    for thread, samples in firefox.items():
        check(speedscope[thread] == [stack for _, stack in samples], f"the two formats have different stacks of {thread}")
    check(sum(map(len, firefox.values())) == delivered, f"not all of {delivered} samples are in the output")
    if len(sys.argv) > 4:
        check(delivered > 0, "there are no samples to compare")
        check_script(sys.argv[4], firefox)


if __name__ == "__main__":
    main()
