# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What jitbpf itself uses for a live page at 99 Hz: without one, with one that nobody watches, and with one in headless
Chromium. CPU time of jitbpf and its helper processes, while it records PHP."""

import os
import re
import subprocess
import sys
import time

import measure

sys.path.insert(0, os.path.join(measure.ROOT, "tests/ui"))

from browser import Browser, installed_browser  # noqa: E402

SECONDS = 10
ROUNDS = 3
REFRESHES = "Number(document.documentElement?.dataset.refreshes ?? 0)"


def watch(process):
    """Opens the page, watches it, and returns how often it was updated."""
    address = re.search(r"http://\S+", process.stderr.readline().decode()).group()
    with Browser() as browser:
        browser.screen(1400, 900)
        browser.call("Page.navigate", url=address)
        browser.wait_for(f"{REFRESHES} > 0")
        time.sleep(SECONDS)
        updates = browser.evaluate(REFRESHES)
        measure.interrupt(process)
        return updates


def record(bench, live=False, watched=False):
    """Returns the CPU seconds, and how often the page was updated."""
    updates = 0
    with measure.busy(measure.php(10 * SECONDS), 1) as [program]:
        time.sleep(measure.START_SECONDS)
        process = measure.start([bench.jitbpf, "record", "-q", "-F", "99", "-p", str(program.pid), *(["--live"] if live else []),
                                 "-o", bench.path("watched.jitbpf")], stderr=subprocess.PIPE)
        if watched:
            updates = watch(process)
        else:
            time.sleep(SECONDS)
            measure.interrupt(process)
        process.stderr.read()
        return measure.finish(process), updates


def report(bench, table):
    if not installed_browser():
        table.note("there is no chromium")
        return
    alone, served, watched, updates = [], [], [], []
    for _ in range(ROUNDS):
        alone.append(record(bench)[0])
        served.append(record(bench, live=True)[0])
        seconds, count = record(bench, live=True, watched=True)
        watched.append(seconds)
        updates.append(count)
    table.heading(f"jitbpf's own CPU time at 99 Hz, PHP, {SECONDS} s")
    table.add("recording alone", alone, "s")
    table.add("  and a page that nobody watches", served, "s")
    table.add("  and a page in a browser", watched, "s")
    table.add("    more than alone", [100 * (w - a) / SECONDS for w, a in zip(watched, alone)], "% of a CPU", 2, aim="1")
    table.note(f"  {', '.join(map(str, updates))} updates of the page")
