# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Events beside CPU time on a live page, and on the page that it saves."""

import json
import os
import re
import subprocess
import sys

import harness
from test_events import FAULTS, PAGES, ROUNDS, SOURCE, SWITCHES
from test_live import LiveTest, ROOT, text

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ui"))
from browser import Browser  # pylint: disable=wrong-import-position,import-error

PERIODS = {event: int(period) for event, period in (e.split(":") for e in (FAULTS, SWITCHES))}


class LiveEvents(LiveTest):
    def taken(self, browser):
        return int(re.match(r"([\d,]+) samples? taken", browser.evaluate(text("ledger"))).group(1).replace(",", ""))

    def choose(self, browser, event):
        """Chooses an event, as a person does. Returns the samples that the page shows."""
        browser.evaluate("(() => { const list = document.getElementById('event');"
                         f"list.value = '{event}'; list.dispatchEvent(new Event('change')); }})()")
        browser.wait_for(f"{text('facts')}.includes('{'cpu-clock' if event == 'cpu-time' else event}')"
                         f"|| {text('facts')}.includes('cycles')")
        return self.taken(browser)

    def functions(self, browser, wanted):
        """The share of the samples that a search matches."""
        browser.evaluate("(() => { const box = document.getElementById('search');"
                         f"box.value = '{wanted}'; box.dispatchEvent(new Event('input')); }})()")
        return float(re.match(r"matched ([\d.]+) %", browser.evaluate(text("matched"))).group(1))

    def test_each_event(self):
        """Weights are what the kernel has counted, in the functions that cause it."""
        program = os.path.join(self.folder, "events")
        subprocess.run(["gcc", "-O1", "-g", "-o", program, SOURCE], check=True)
        argv = self.record_argv(["--live", "-e", f"{FAULTS},{SWITCHES}"], (".jitbpf",))
        truth = os.path.join(self.folder, "truth")
        live = self.start([*argv, "--", "sh", "-c", f'read line; exec "$0" {PAGES} {ROUNDS} >"$1"', program, truth],
                          stdin=subprocess.PIPE)
        with Browser() as browser:
            browser.call("Page.navigate", url=self.url)
            browser.wait_for(f"{ROOT}?.dataset.live === 'live'")
            live.stdin.write(b"\n")
            live.stdin.close()
            self.assertEqual(live.wait(120), 0, self.said())
            browser.wait_for(f"{ROOT}.dataset.live === 'ended'")
            self.check(browser, truth)
            with open(browser.saved("save-page"), encoding="utf-8") as file:
                data = json.loads(re.search(r'id="profile">(.*?)</script>', file.read(), re.S).group(1))
            self.assertEqual(browser.problems, [])
        self.assertEqual([other["event"] for other in data["others"]], ["page-faults", "context-switches"])

    def check(self, browser, truth):
        with open(truth, encoding="ascii") as file:
            faults, switches, _cpu_ns = map(int, file.read().split())
        report = json.loads(subprocess.run([harness.JITBPF, "report", "--json", os.path.join(self.folder, "out.jitbpf")],
                                           check=True, capture_output=True).stdout)
        events = {event["name"]: event["samples"] for event in report["events"]}
        self.assertEqual(browser.evaluate(
            "[...document.getElementById('event').options].map(option => option.value)"), list(events))
        for event, samples in events.items():
            self.choose(browser, event)
            browser.wait_for(f"{text('ledger')}.startsWith('{samples:,} samples taken')")
        for event, count, wanted in (("page-faults", faults, "^touch_pages$"),
                                     ("context-switches", switches, "^p[io]ng$")):
            taken = self.choose(browser, event)
            self.assertAlmostEqual(taken * PERIODS[event] / count, 1, delta=0.03, msg=(event, taken, count))
            self.assertGreater(self.functions(browser, wanted), 97, event)
        self.assertLess(self.functions(browser, "^touch_pages$"), 3)
        self.choose(browser, "cpu-time")


if __name__ == "__main__":
    harness.unittest.main()
