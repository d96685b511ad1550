#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The files for pprof and the Firefox Profiler that the page saves, read independently: they have what
`jitbpf report` writes, and what is shown of it.
  check_saved.py JITBPF MAKE_PAGE RECORDING...
"""
import collections
import functools
import gzip
import itertools
import json
import os
import subprocess
import sys
import tempfile
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "kernel"))
import pprof_file  # noqa: E402
from browser import Browser  # noqa: E402
from check_page import Page  # noqa: E402
from check_timelines import check_firefox_references, firefox_tables  # noqa: E402
from page_data import INLINED, PageData  # noqa: E402

KINDS = ("unknown", "kernel", "native", "jit", "interpreted")
KERNEL, NATIVE = KINDS.index("kernel"), KINDS.index("native")
TICK_NS = 50_000_000

Frame = collections.namedtuple("Frame", "name category inlined depth resource lib")


def check(condition, what):
    if not condition:
        sys.exit("check_saved: not so: " + what)


def same(found, expected, what):
    if found != expected and isinstance(found, dict):
        keys = [key for key in found.keys() | expected.keys() if found.get(key) != expected.get(key)]
        sys.exit(f"check_saved: {what}: {len(keys)} differ, such as {[(k, found.get(k), expected.get(k)) for k in keys[:2]]}")
    check(found == expected, f"{what}: {str(found)[:2000]}, not {str(expected)[:2000]}")


def is_control(character):
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")


@functools.cache
def plain(name):
    """The name as pprof files have it. On the page, U+FFFD stands for bytes that are no UTF-8."""
    return "".join("?" if is_control(c) or c == "\ufffd" else c for c in name)


class Pprof:
    def __init__(self, path, opened=gzip.open):
        file = self.file = pprof_file.Profile(path, opened)
        self.period, = file.top[12]
        self.run = [file.top[number] for number in (10, 12)]
        self.types = [[file.text(pprof_file.message(data), i) for i in (1, 2)] for data in file.top[1] + file.top[11]]
        self.types.append(file.strings[file.top[14][0]])
        self.time_ns, = file.top[9]
        self.comments = [plain(file.strings[number]) for number in file.top[13]]
        self.mappings = [plain(file.text(pprof_file.message(data), 5)) for data in file.top[pprof_file.MAPPING]]
        self.inlined = {plain(file.text(m, 5)) for m in file.mappings.values() if m[10]}
        check(all(m[7] == [1] for m in file.mappings.values()), "all mappings have names of functions")
        self.lines = {line for location in file.locations.values() for line in self.lines_of(location)}
        self.samples = collections.Counter()
        for sample in file.samples:
            count, cpu_ns = pprof_file.varints(sample[2][0])
            check(count > 0 and cpu_ns == count * self.period, f"{count} samples take {cpu_ns} ns")
            labels = file.labels(sample)
            check(len(labels) == len(sample[3]), "a sample has each label once")
            stack = tuple(self.place(number) for number in pprof_file.varints(b"".join(sample[1])))
            self.samples[tuple(sorted((key, plain(str(value))) for key, value in labels.items())), stack] += count

    def lines_of(self, location):
        for line in map(pprof_file.message, location[4]):
            function = self.file.functions[line[1][0]]
            yield plain(self.file.text(function, 2)), plain(self.file.text(function, 4)), (line[2] or [0])[0]

    def place(self, number):
        """The file of a location, and the names of its frames, innermost first."""
        location = self.file.locations[number]
        mapping = self.file.mappings[location[2][0]] if location[2] else None
        return mapping and plain(self.file.text(mapping, 5)), tuple(map(plain, self.file.names(location)))

    def by_thread(self):
        """Returns samples by (pid, tid, kind of the innermost frame, names of the stack)."""
        out = collections.Counter()
        for (labels, stack), samples in self.samples.items():
            labels = dict(labels)
            names = tuple(name for _, names in stack for name in names)
            out[labels.get("pid"), labels.get("tid"), labels.get("kind"), names] += samples
        return out


class Firefox:
    def __init__(self, path, opened=gzip.open):
        with opened(path, "rb") as file:
            self.bytes = file.read()
        profile = json.loads(self.bytes)
        self.meta = profile["meta"]
        shared, counts = firefox_tables(profile)
        check_firefox_references(shared, counts)
        check(set(shared["frameTable"]["address"]) <= {-1}, "frames have no addresses")
        self.symbols = shared["nativeSymbols"]["length"]
        strings, funcs, sources = shared["stringArray"], shared["funcTable"], shared["sources"]["filename"]
        libs = [lib["path"] for lib in profile["libs"]] + [None]
        frames, self.lines = [], set()
        for func, category, inlined, depth, lib, line in zip(*(shared["frameTable"][key] for key in (
                "func", "category", "subcategory", "inlineDepth", "lib", "line"))):
            name, source = strings[funcs["name"][func]], funcs["source"][func]
            frames.append(Frame(name, category, inlined, depth, strings[shared["resourceTable"]["name"][funcs["resource"][func]]],
                                libs[lib]))
            self.lines.add((name, None if source is None else strings[sources[source]], line))
        stacks = []
        for offset, frame in zip(shared["stackTable"]["prefixOffset"], shared["stackTable"]["frame"]):
            stacks.append((stacks[-offset] if offset else ()) + (frames[frame],))
        self.threads, self.samples = {}, {}
        for thread in profile["threads"]:
            self.take(thread, stacks)

    def take(self, thread, stacks):
        key, samples = (thread["pid"], thread["tid"]), thread["samples"]
        check(key not in self.threads, f"thread {key} occurs twice")
        weights = samples["weight"] or [1] * samples["length"]
        check(all(len(samples[column]) == samples["length"] == len(weights) for column in ("stack", "time")), f"columns of {key}")
        check(samples["time"] == sorted(samples["time"]), f"the samples of {key} are in order of time")
        period = round(self.meta["interval"] * 1e6)
        if "threadCPUDelta" in samples:
            check(samples["threadCPUDelta"] == [weight * period for weight in weights], f"CPU time of {key}")
        found = collections.Counter()
        for stack, time, weight in zip(samples["stack"], samples["time"], weights):
            found[round(time * 1e6) // TICK_NS, () if stack is None else stacks[stack]] += weight
        if samples["length"]:
            self.threads[key] = thread["name"], thread["processName"], thread["isMainThread"]
            self.samples[key] = found

    def by_thread(self, keeps=lambda _pid, _tid, _tick, _stack: True, shape=lambda stack: stack):
        """Returns the samples of which keeps() is true as Pprof.by_thread() does, with the stacks that shape() makes."""
        out = collections.Counter()
        for (pid, tid), samples in self.samples.items():
            for (tick, stack), weight in samples.items():
                if keeps(pid, tid, tick, stack):
                    left = shape(stack)[::-1]
                    kind = KINDS[left[0].category] if left else None
                    out[pid, str(tid), kind, tuple(plain(frame.name) for frame in left)] += weight
        return out


    def programs(self, keeps=lambda _pid, _tid, _tick, _stack: True, shape=lambda stack: stack):
        """Returns the samples of the same by the file of the outermost frame that is in a program."""
        out = collections.Counter()
        for (pid, tid), samples in self.samples.items():
            for (tick, stack), weight in samples.items():
                files = [frame.lib for frame in shape(stack) if frame.category == NATIVE and "/" in frame.lib and
                         ".so" not in frame.lib.rsplit("/", 1)[1]]
                if keeps(pid, tid, tick, stack) and files:
                    out[plain(files[0])] += weight
        return out


def saved(page, fragment=""):
    page.open(fragment)
    return Pprof(page.browser.saved("save-pprof")), Firefox(page.browser.saved("save-firefox"))


def check_pprof(found, expected, what):
    same(found.samples, expected.samples, f"{what}: samples by stack and labels")
    for key in ("run", "types", "comments", "inlined"):
        same(getattr(found, key), getattr(expected, key), f"{what}: {key} of pprof")
    check(abs(found.time_ns - expected.time_ns) < 1000, f"{what}: it began at {found.time_ns}")
    same(sorted(found.mappings), sorted(expected.mappings), f"{what}: mappings")
    same(found.mappings[:1], expected.mappings[:1], f"{what}: the main program")
    check(found.lines <= expected.lines, f"{what}: source lines {list(found.lines - expected.lines)[:3]}")
    check(not any(location[3] for location in found.file.locations.values()), f"{what}: pprof has no addresses")
    check(not any(m[number] for m in found.file.mappings.values() for number in (2, 3, 4, 6)), f"{what}: pprof has no addresses")


def check_firefox(found, expected, what):
    same(found.threads, expected.threads, f"{what}: threads")
    same(list(found.threads), list(expected.threads), f"{what}: order of threads")
    for thread, samples in found.samples.items():
        same(samples, expected.samples[thread], f"{what}: samples of {thread} by time and stack")
    for key in ("interval", "profilingStartTime", "profilingEndTime", "product", "oscpu", "logicalCPUs", "categories",
                "preprocessedProfileVersion", "version", "startTimeAsClockMonotonicNanosecondsSinceBoot"):
        same(found.meta[key], expected.meta[key], f"{what}: {key}")
    same(found.meta["extra"][0], expected.meta["extra"][0], f"{what}: the ledger")
    check(abs(found.meta["startTime"] - expected.meta["startTime"]) < .001, f"{what}: startTime")
    check(found.symbols == 0, f"{what}: the page knows no addresses of symbols")
    check(found.lines <= expected.lines, f"{what}: source lines {list(found.lines - expected.lines)[:3]}")


def check_whole(page, pprof, firefox, what):
    """All that the page has. Returns the numbers of samples and of inlined frames."""
    found = saved(page)
    check_pprof(found[0], pprof, what)
    check_firefox(found[1], firefox, what)
    inlined = sum(frame.inlined for samples in found[1].samples.values() for _, stack in samples for frame in stack)
    return sum(found[0].samples.values()), inlined


def check_shown(page, firefox, fragment, words, **shown):
    """A part of it. shown: what of the whole file is expected, as Firefox.by_thread() has it."""
    pprof, found = saved(page, fragment)
    expected = firefox.by_thread(**shown)
    samples = sum(expected.values())
    check(0 < samples and expected != firefox.by_thread(), f"{fragment} shows something else")
    same(pprof.by_thread(), expected, f"pprof of {fragment}")
    same(found.by_thread(), expected, f"firefox of {fragment}")
    programs = firefox.programs(**shown)
    check(programs[pprof.mappings[0]] == max(programs.values()), f"{fragment}: {pprof.mappings[0]} is not the main program of {programs}")
    comment = f"saved from a page: {samples} samples, {words}"
    check(plain(comment) in pprof.comments, f"{pprof.comments} has no {comment!r}")
    entries = {entry["label"]: entry["value"] for entry in found.meta["extra"][1]["entries"]}
    check(entries["samples"] == samples and entries["shown"] == words, f"{entries} has not {samples} samples, {words}")
    return pprof, found


def without(hides):
    return lambda stack: tuple(frame for frame in stack if not hides(frame))


def folded(stack):
    """A function that calls itself has one frame: the outermost."""
    left = {}  # label: frame
    for frame in stack:
        label = frame._replace(depth=0, lib=None)
        if label in left:
            left = dict(itertools.islice(left.items(), list(left).index(label) + 1))
        left.setdefault(label, frame)
    return tuple(left.values())


def check_parts(page, firefox):
    """Ranges of time, threads, and frames that are left out."""
    ticks = [tick for samples in firefox.samples.values() for tick, _ in samples]
    first, end = max(ticks) // 4, max(ticks) // 2
    pid, tid = max(firefox.samples, key=lambda thread: sum(firefox.samples[thread].values()))
    seconds = "-".join(f"{tick * TICK_NS / 1e9:g}" for tick in (first, end))

    def in_range(_pid, _tid, tick, _stack):
        return first <= tick < end

    pprof, found = check_shown(page, firefox, f"#range={seconds}", f"of the time {seconds} s", keeps=in_range)
    check(pprof.run[0] == [(end - first) * TICK_NS], f"pprof is of {pprof.run[0]} ns")
    check([found.meta[f"profiling{key}Time"] for key in ("Start", "End")] == [first * 50, end * 50], "firefox is of the range")
    check_shown(page, firefox, f"#range={seconds}&baseline=0-{first * TICK_NS / 1e9:g}", f"of the time {seconds} s", keeps=in_range)
    check_shown(page, firefox, f"#threads={pid}", f"of process {pid}", keeps=lambda p, *_: p == pid)
    check_shown(page, firefox, f"#threads={pid}.{tid}&range={seconds}&nokernel=1",
                f"of thread {pid}.{tid}, of the time {seconds} s, without kernel frames",
                keeps=lambda p, t, tick, _: (p, t) == (pid, tid) and first <= tick < end,
                shape=without(lambda frame: frame.category == KERNEL))
    # The first program on the page has few samples here.
    last = 2 + max(tick for thread, samples in firefox.samples.items() if "<b>" in firefox.threads[thread][1] for tick, _ in samples)
    check_shown(page, firefox, f"#range=0-{last * TICK_NS / 1e9:g}", f"of the time 0-{last * TICK_NS / 1e9:g} s",
                keeps=lambda _pid, _tid, tick, _stack: tick < last)
    module = "/usr/lib/libc.so.6"
    check_shown(page, firefox, f"#hide=m{module}", f"without {module}", shape=without(lambda frame: frame.resource == module))
    check_shown(page, firefox, f"#only=m{module}", f"only stacks with {module}",
                keeps=lambda *sample: any(frame.resource == module for frame in sample[-1]))
    check_shown(page, firefox, "#collapse=1", "recursion folded", shape=folded)


def check_names(page, pprof, firefox):
    """Names are data, and cannot disguise themselves."""
    texts = pprof.file.strings + [name for *_, stack in map(tuple, itertools.chain(*firefox.samples.values()))
                                  for frame in stack for name in frame[:1]]
    check(any("<script>" in text for text in texts) and any("\u202e" in text for text in texts), "there are hostile names")
    found, profiler = saved(page)
    check(not any(is_control(c) for text in found.file.strings for c in text),
          "names in pprof have no control characters")
    text = profiler.bytes.decode("utf-8")
    check(not any(c in "<>&" or is_control(c) for c in text),
          "the JSON has no control characters and no markup")
    check(not page.browser.problems, f"the browser reports no problem: {page.browser.problems}")


def check_cgroups(page, expected):
    """Containers, units and other cgroups of threads are labels."""
    found, firefox = saved(page)
    same(found.samples, expected.samples, "samples by container and unit")
    same(firefox.by_thread(), expected.by_thread(), "samples of threads that were renamed and have moved")
    names = collections.defaultdict(set)
    for labels, _ in found.samples:
        names[dict(labels)["tid"]].add(dict(labels)["thread"])
    check(max(map(len, names.values())) == 2, f"a thread has two names: {names}")
    keys = collections.Counter(key for labels, _ in found.samples for key, _ in labels)
    check(all(0 < keys[key] < keys["tid"] for key in ("container", "unit", "cgroup")), f"labels of pprof: {keys}")


def check_unpacked(page, pprof, firefox):
    """A browser that cannot compress saves the same without it."""
    page.open()
    page.say("delete window.CompressionStream")
    paths = [page.browser.saved(identity) for identity in ("save-pprof", "save-firefox")]
    check([os.path.basename(path).split(".", 1)[1] for path in paths] == ["pb", "json"], f"files without compression: {paths}")
    check_pprof(Pprof(paths[0], open), pprof, "not compressed")
    check_firefox(Firefox(paths[1], open), firefox, "not compressed")


def check_difference(page):
    """Of two recordings, the second one; a page of them has no threads and no times."""
    data = PageData(page.path, side=1, merged=False)
    expected = collections.Counter()
    for node in data.nodes:
        if node.self:
            kinds = [KINDS[data.kinds[n.label] & ~INLINED] for n in node.path[2:]]
            expected[kinds[-1] if kinds else None, tuple(plain(n.name) for n in reversed(node.path[2:]))] += node.self
    pprof, firefox = saved(page)

    def by_kind(file):
        out = collections.Counter()
        for (_, _, kind, names), samples in file.by_thread().items():
            out[kind, names] += samples
        return out

    same(by_kind(pprof), expected, "pprof of a difference")
    same(by_kind(firefox), expected, "firefox of a difference")
    check(len(firefox.threads) > 1 and all(pid.startswith("process ") for pid, _ in firefox.threads), "threads of a difference")
    check(all("threadCPUDelta" not in thread for thread in firefox.threads), "nothing is invented")
    check(any("of the second recording of a difference" in comment for comment in pprof.comments), "it says what it is of")


def main():
    program, make_page, *recordings = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        def write(form, *command):
            path = tempfile.mkstemp(dir=folder, suffix=".html" if form in ("html", "diff") else "")[1]
            with open(path, "wb") as out:
                subprocess.run(command, check=True, stdout=out)
            return path

        def report(form, *options):
            return write(form, program, "report", "-f", form, *options)

        def make(form, *options):
            return write(form, make_page, form, *options)

        browser.screen(1280, 800)
        inlined = 0
        for recording in recordings:
            firefox = Firefox(report("firefox", recording))
            for options in ([], ["--by", "tid"], ["--by", "pid"], ["--by", "container"]):
                samples, more = check_whole(Page(browser, report("html", *options, recording)), Pprof(report("pprof", *options, recording)),
                                            firefox, f"{os.path.basename(recording)} {options}")
                check(samples > 0, f"{recording} has samples")
                inlined += more
        check_whole(Page(browser, make("html", "0")), Pprof(make("pprof", "0")), Firefox(make("firefox", "0")), "without samples")
        page, pprof, firefox = Page(browser, make("html", "5000")), Pprof(make("pprof", "5000")), Firefox(make("firefox", "5000"))
        inlined += check_whole(page, pprof, firefox, "made")[1]
        check(inlined > 100, f"{inlined} inlined frames were compared")
        check_cgroups(Page(browser, make("html", "1000", "cgroups")), Pprof(make("pprof", "1000", "cgroups")))
        check_names(page, pprof, firefox)
        check_parts(page, firefox)
        check_unpacked(page, pprof, firefox)
        check_difference(Page(browser, make("diff", "5000")))
        check(not browser.problems, f"the browser reports no problem: {browser.problems}")
    print("saved: ok")


if __name__ == "__main__":
    main()
