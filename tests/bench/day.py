# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A day at 99 Hz on two CPUs, as fast as it can be: memory of the recorder's part and of the page, and
the time of a delta, at several hours."""

import os
import re
import struct
import subprocess
import sys
import threading
import time

import measure

sys.path.insert(0, os.path.join(measure.ROOT, "tests/ui"))

from browser import Browser, installed_browser  # noqa: E402
from live_page import REFRESHED, PageServer, busy  # noqa: E402

HOURS = (1, 6, 12, 18, 23)
HOUR = 3600
SINGLE = 10     # deltas that are measured one by one


class Server(PageServer):
    """Sends the deltas of `day` up to the second `until`."""

    def __init__(self, page, program):
        self.program, self.until, self.changed = program, 0, threading.Condition()
        super().__init__(page)

    def go(self, until):
        with self.changed:
            self.until = until
            self.changed.notify_all()

    def send(self, out):
        with subprocess.Popen([self.program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as day:
            try:
                self.copy(day.stdout, out)
            finally:
                day.kill()

    def copy(self, deltas, out):
        seconds = 0
        while (size := deltas.read(4)) and (bytes_ := struct.unpack("<I", size)[0]):
            with self.changed:
                self.changed.wait_for(lambda: seconds < self.until)
            delta = deltas.read(bytes_)
            out.write(size + delta)
            seconds += delta[6]  # it is complete


def resident_mb(browser):
    """The memory of the process that has the page: its arrays are outside of the script's heap."""
    browser.call("HeapProfiler.collectGarbage")
    session, browser.session = browser.session, None
    processes = browser.call("SystemInfo.getProcessInfo")["processInfo"]
    browser.session = session
    sizes = []
    for process in processes:
        if process["type"] == "renderer":
            with open(f"/proc/{process['id']}/status", encoding="ascii") as file:
                sizes.append(int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) / 1e3)
    return max(sizes)


def shown_seconds(browser):
    facts = re.match(r"([\d.]+) s", browser.evaluate("document.getElementById('facts')?.textContent ?? ''"))
    return float(facts[1]) if facts else 0


def page_of_a_day(bench, page):
    """Yields (hour, MB of the page, ms of the main thread for a delta)."""
    server = Server(page, os.path.join(bench.build, "tests/bench/day"))
    with Browser(timeout=300) as browser:
        browser.screen(1400, 900)
        browser.call("Performance.enable", timeDomain="threadTicks")
        browser.call("Page.navigate", url=f"http://127.0.0.1:{server.server_port}/")
        for hour in HOURS:
            second = hour * HOUR
            server.go(second)
            while shown_seconds(browser) < second:
                time.sleep(.2)
            time.sleep(2)
            memory, (begin, _) = resident_mb(browser), busy(browser)
            for _ in range(SINGLE):
                refreshes = browser.evaluate("Number(document.documentElement.dataset.refreshes)") + 1
                second += 1
                server.go(second)
                browser.evaluate(REFRESHED % (refreshes, refreshes))
            yield hour, memory, (busy(browser)[0] - begin) / SINGLE * 1000
    server.shutdown()
    server.server_close()


def report(bench, table):
    measure.make(bench, "tests/bench/day", "tests/ui/make_deltas")
    day = subprocess.run([os.path.join(bench.build, "tests/bench/day")], stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, check=True, text=True)
    table.heading("A day at 99 Hz on two CPUs, of 4,000 stacks")
    lines = {int(line.split()[0]): [float(value) for value in line.split()] for line in day.stderr.splitlines()}
    for hour in HOURS:
        _, kilobytes, took, size, slices = lines[hour]
        table.add(f"hour {hour}: memory of the writer", [kilobytes / 1e3], "MB", 1)
        table.note(f"  a delta: {took * 1000:.0f} us, {size:.0f} bytes; {slices:,.0f} slices")
    if not installed_browser():
        table.note("there is no chromium")
        return
    page = subprocess.run([os.path.join(bench.build, "tests/ui/make_deltas"), "page", "-"], check=True,
                          stdout=subprocess.PIPE).stdout
    for hour, memory, took in page_of_a_day(bench, page):
        table.add(f"hour {hour}: memory of the page's process", [memory], "MB", 0)
        table.add("  main thread, for a delta", [took], "ms", 1, aim="50")
