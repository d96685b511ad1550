# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A day at 99 Hz on the live page, at 1,000 times its speed: a recording of real engines again and again through
pipeline, recorder and server, and a page in headless Chromium. Memory of each, the time of a second on the page,
and whether all samples arrive."""

import os
import re
import subprocess
import sys
import time

import measure

sys.path.insert(0, os.path.join(measure.ROOT, "tests/ui"))

from browser import Browser, installed_browser  # noqa: E402
from day import resident_mb, shown_seconds  # noqa: E402
from live_page import busy  # noqa: E402

HOURS = (1, 2, 6, 12, 18, 23)
HOUR, DAY = 3600, 24 * 3600
SPEED = 1000
RECORDED = 30   # seconds of the recording
SINGLE = 10     # seconds that are measured alone
LAST = 5        # seconds of a run, that the page may not have got while the run waits
REFRESHES = "Number(document.documentElement.dataset.refreshes)"


def real_recording(bench):
    """PHP and the test engine on all CPUs, with all else that the machine does."""
    path = bench.path("real.jitbpf")
    with measure.busy(measure.php(0, 10000), 1, env=bench.publishing()), \
            measure.busy([bench.engine, "storm", "--rate", "5", "--iterations", "60000000", "--slots", "512",
                          "--seconds", "600"], 1, env=bench.publishing()):
        time.sleep(measure.START_SECONDS)
        measure.run([bench.jitbpf, "record", "-q", "-a", "-F", "99", "-d", str(RECORDED), "-o", path])
    return path


def server_mb(recorder):
    """The memory of all processes below one: the broker and the page's server."""
    parents, sizes = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
                status = file.read()
        except OSError:
            continue  # it has ended
        parents[int(pid)] = int(re.search(r"PPid:\s+(\d+)", status)[1])
        if size := re.search(r"VmRSS:\s+(\d+)", status):
            sizes[int(pid)] = int(size[1]) / 1e3

    def is_below(pid):
        return pid == recorder or (pid in parents and is_below(parents[pid]))

    return sum(size for pid, size in sizes.items() if pid != recorder and is_below(pid))


class Run:
    """The program live_day, which goes on when it is told to."""

    def __init__(self, bench, recording):
        self.output, self.messages = bench.path("day.jitbpf"), bench.path("messages")
        with open(self.messages, "w", encoding="ascii") as out:
            self.process = subprocess.Popen(
                [os.path.join(bench.build, "tests/bench/live_day"), recording, self.output, str(SPEED)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=out, text=True, bufsize=1)

    def said(self, pattern):
        with open(self.messages, encoding="utf-8") as file:
            return re.search(pattern, file.read())

    @property
    def address(self):
        while not (found := self.said(r"http://\S+/")):
            time.sleep(.05)
        return found.group()

    def go(self, second):
        """Returns resident KB, CPU ms, samples, bytes of the recording, slices."""
        self.process.stdin.write(f"{second}\n")
        return [float(value) for value in self.process.stdout.readline().split()]

    def end(self):
        """Returns the samples of the ledger."""
        self.process.stdin.close()
        return int(self.process.stdout.readline())


def heap_mb(browser):
    metrics = {m["name"]: m["value"] for m in browser.call("Performance.getMetrics")["metrics"]}
    return metrics["JSHeapUsedSize"] / 1e6


def wait_until_shown(browser, second):
    deadline = time.monotonic() + browser.timeout
    while shown_seconds(browser) < second - LAST:
        if time.monotonic() > deadline:
            raise TimeoutError(f"second {second} is not shown")
        time.sleep(.2)
    time.sleep(2)


def second_alone(run, browser, second):
    """Goes on for SINGLE seconds. Returns ms of CPU time of the page's main thread, for one."""
    begin, refreshes = busy(browser)[0], browser.evaluate(REFRESHES)
    for i in range(SINGLE):
        run.go(second + i + 1)
        time.sleep(1)   # as in a run at its own speed
    versions = browser.evaluate(REFRESHES) - refreshes
    return (busy(browser)[0] - begin) / SINGLE * 1000, versions


def page_samples(browser):
    """Returns the samples of the page's tree, and of its ledger."""
    browser.evaluate("{ const s = document.getElementById('search'); s.value = '.';"
                     " s.dispatchEvent(new Event('input')); }")
    texts = (browser.evaluate("document.getElementById('matched').textContent"),
             browser.evaluate("document.querySelector('#ledger .fates span').textContent"))
    tree, ledger = re.search(r"([\d,]+) sample", texts[0]), re.search(r"([\d,]+) sample", texts[1])
    return [int(found[1].replace(",", "")) for found in (tree, ledger)]


def measure_hours(run, browser, table):
    before = (0, 0)
    for hour in HOURS:
        began = time.monotonic()
        kilobytes, cpu, samples, size, slices = run.go(hour * HOUR)
        took = time.monotonic() - began
        wait_until_shown(browser, hour * HOUR)
        late = time.monotonic() - began - took - 2
        page, heap = resident_mb(browser), heap_mb(browser)
        alone, versions = second_alone(run, browser, hour * HOUR)
        table.add(f"hour {hour}: memory of the recorder", [kilobytes / 1e3], "MB", 1)
        table.add("  of broker and server", [server_mb(run.process.pid)], "MB", 1)
        table.add("  of the page's process", [page], "MB", 0)
        table.add("  of its script", [heap], "MB", 1)
        table.add("  recorder, for a second", [(cpu - before[0]) / (hour - before[1]) / HOUR], "ms", 3)
        table.add("  main thread of the page, for a second", [alone], "ms", 1, aim="50")
        table.note(f"  {samples:,.0f} samples, {slices:,.0f} slices, recording {size / 1e6:.1f} MB; "
                   f"speed {(hour - before[1]) * HOUR / took:,.0f}, page {late:.1f} s later; {versions} versions alone")
        before = (cpu, hour)


def report(bench, table):
    measure.make(bench, "tests/bench/live_day")
    table.heading(f"A day on the live page at {SPEED:,} times its speed, of real engines")
    if not installed_browser():
        table.note("there is no chromium")
        return
    run = Run(bench, real_recording(bench))
    with Browser(timeout=300) as browser:
        browser.screen(1400, 900)
        browser.call("Performance.enable", timeDomain="threadTicks")
        browser.call("Page.navigate", url=run.address)
        browser.wait_for("document.documentElement?.dataset.live")
        time.sleep(1)
        measure_hours(run, browser, table)
        given = run.go(DAY)[2]
        ledger = run.end()
        browser.wait_for("document.documentElement.dataset.live === 'ended'")
        time.sleep(2)
        tree, shown = page_samples(browser)
    run.process.wait()
    recorded = bench.summary(run.output)["samples"]["taken"]
    table.note(f"samples given {given:,.0f}, in the ledger {ledger:,}, in the recording {recorded:,}, in the page's "
               f"ledger {shown:,}, in its tree {tree:,}")
    fell = run.said(r"fell behind (\d+) times")
    table.note(f"the page fell behind {fell[1] if fell else 0} times")
