#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The rule of includes (ARCHITECTURE.md): a file includes only from its own folder and from folders
before it in ORDER. So no two folders, and no two stages, depend on each other.

usage: check_includes.py [ROOT]     exits with 1 after printing each violation
"""

import pathlib
import re
import sys

# Below user/, in order. An entry is a folder without its sub-folders, or one header of a later
# folder: such a header may include only what comes before it.
ORDER = """
base
engines
decode/record
decode/recording
decode/media
decode/text
decode/elf
decode/dwarf
decode/cfi
decode/x86
decode/x86/gaps
state/space
state/code
state/process
runtimes
runtimes/cpython
runtimes/php
runtimes/ruby
runtimes/perl
runtimes/hotspot
runtimes/v8
runtimes/runtime_readers.c
locate
unwind/tables
unwind/unwind_key.h
unwind/unwind_service.h
unwind/runtimes
unwind/unwind_regions.h
unwind/code
unwind
profile
symbolize/name
symbolize/debug
symbolize
sink/write
sink
sink/live
sink/top
sink/timeline
sink/format
sink/diff
sink/annotate
pipeline/source.h
pipeline/finished_records.h
pipeline/record
pipeline/intake
pipeline/analysis/epoch
pipeline/analysis
pipeline
agent
agent/roles
agent/launch
agent/files/helper
agent/files/reading
agent/files
agent/files/sources
agent/machine
agent/outputs
agent/kernel/proc
agent/kernel/bpf
agent/kernel/events
agent/kernel/probes
agent/jvm
agent/publisher/journal
agent/publisher
agent/live
agent/workers
agent/readers
agent/server
agent/terminal
run/messages
run/target
run/outputs
run/page
run
cli/options
cli
cli/complete
"""

# The core ends here: no libbpf, no clock, no threads and no I/O of its own.
CORE_END = "pipeline"
NOT_IN_CORE = re.compile(r"#include (<(bpf/|linux/perf_event|linux/bpf|sys/(mman|socket|ioctl)|"
                         r'pthread|fcntl|time\.h)|"(attach|jitbpf)\.skel\.h")')

# Outside user/: what a folder may include besides itself.
OTHERS = {"uapi": (), "bpf": ("uapi",), "jitapi-shim": ("uapi",)}

# For user/: the unwind steps are shared with the BPF programs.
SHARED = {
    "unwind": ("bpf/compiled_frame.h", "bpf/unwind.h", "bpf/unwind_narrow.h", "bpf/unwind_end.h"),
    "decode/x86": ("bpf/call_site.h",),
}

INCLUDE = re.compile(r'\s*#\s*include "([^"]+)"')


def places():
    """Returns the number of each entry of ORDER: higher ones may include lower ones."""
    return {entry: number for number, entry in enumerate(ORDER.split())}


def place_of(path, place):
    """Returns the number of a file (below user/), or None if its folder is not in ORDER."""
    return place.get(path, place.get(path.rpartition("/")[0]))


def includes(file):
    for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
        if line.lstrip().startswith("#"):
            yield number, line.strip()


def sources(folder):
    return sorted(file for file in folder.rglob("*.[ch]") if "node_modules" not in file.parts)


def check_user(root, place):
    used = set()
    for file in sources(root / "user"):
        name = file.relative_to(root / "user").as_posix()
        folder = name.rpartition("/")[0]
        own = place_of(name, place)
        used.add(folder)
        used.add(name)
        if own is None:
            yield f"user/{name}: the folder is not in the order of {pathlib.Path(__file__).name}"
            continue
        for number, line in includes(file):
            where = f"user/{name}:{number}"
            if own <= place[CORE_END] and NOT_IN_CORE.match(line):
                yield f"{where}: {line}: the core does no I/O and reads no clock"
            match = INCLUDE.match(line)
            if not match or "/" not in match[1] or match[1].startswith("uapi/"):
                continue
            included = match[1]
            if included in SHARED.get(folder, ()):
                continue
            other = place_of(included, place)
            if other is None:
                yield f"{where}: includes {included}, which is not in user/ or in no known folder"
            elif other > own:
                yield f"{where}: includes {included}, which comes after {folder}/"
    for entry in place.keys() - used:
        yield f"{entry}: is in the order, but there is no such folder or file in user/"


def check_others(root):
    for folder, allowed in OTHERS.items():
        for file in sources(root / folder):
            for number, line in includes(file):
                match = INCLUDE.match(line)
                if match and match[1].partition("/")[0] not in (folder, *allowed):
                    yield f"{file.relative_to(root)}:{number}: includes {match[1]}"


def check(root):
    return [*check_user(root, places()), *check_others(root)]


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))
