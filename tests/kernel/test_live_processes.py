# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The heat maps of single processes on a live page: they keep their places, and a click on a name shows one process."""

import os
import re
import sys

import harness
from test_live import GraphTest, ROOT

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ui"))
import page_data  # pylint: disable=wrong-import-position,import-error
from browser import Browser  # pylint: disable=wrong-import-position,import-error

BUTTONS = "[...document.querySelectorAll('#processes button:not([hidden])')].map(button => button.title)"
HEIGHT = "document.getElementById('strip').clientHeight"


class ProcessMaps(GraphTest):
    def engines(self, browser):
        """Returns {pid: samples} of the engines' buttons, in their order."""
        found = (re.fullmatch(r"Only jit-engine (\d+): ([\d,]+) samples?", said) for said in browser.evaluate(BUTTONS))
        return {int(one[1]): int(one[2].replace(",", "")) for one in found if one}

    def wait_for_engines(self, browser, count):
        for _ in range(100):
            if len(self.engines(browser)) == count:
                return self.engines(browser)
            self.wait_for_refreshes(browser, 1)
        return self.fail(f"no {count} engines: {browser.evaluate(BUTTONS)}")

    def test_two_engines(self):
        command = f"{harness.ENGINE} hot --seconds 60 & {harness.ENGINE} hot --seconds 60 & wait"
        live = self.start([harness.JITBPF, "live", "-F", "499", "--", "sh", "-c", command])
        with Browser() as browser:
            browser.screen(1280, 800)
            browser.call("Page.navigate", url=self.url)
            self.wait_for_refreshes(browser, 2)
            self.assertEqual(browser.evaluate(BUTTONS), [])
            folded = browser.evaluate(HEIGHT)
            browser.evaluate("document.getElementById('unfold').click()")
            before = self.wait_for_engines(browser, 2)
            for _ in range(8):
                self.wait_for_refreshes(browser, 1)
                after = self.engines(browser)
                self.assertEqual(list(after), list(before), "they keep their places")
            self.assertTrue(all(after[pid] > before[pid] for pid in before), f"{before} {after}")
            pid = list(after)[1]
            index = next(i for i, said in enumerate(browser.evaluate(BUTTONS)) if f" {pid}:" in said)
            browser.evaluate(f"document.querySelectorAll('#processes button')[{index}].click()")
            self.assertIn(f"threads={pid}", browser.evaluate("location.hash"))
            self.assertEqual(browser.evaluate("document.getElementById('threads').value"), str(pid))
            self.wait_for_refreshes(browser, 2)
            self.assertEqual(browser.evaluate(BUTTONS), [])
            self.assertGreaterEqual(self.samples_of(self.total(browser)), after[pid])
            browser.evaluate("history.back()")
            self.assertEqual(set(self.wait_for_engines(browser, 2)), set(before))
            browser.evaluate("document.getElementById('unfold').click()")
            self.assertEqual([browser.evaluate(BUTTONS), browser.evaluate(HEIGHT)], [[], folded])
            browser.evaluate("document.getElementById('unfold').click()")
            said = self.stop(live)
            browser.wait_for(f"{ROOT}.dataset.live === 'ended'")
            self.wait_for_end(browser, said)
            shown = self.engines(browser)
            saved = page_data.PageData(browser.saved("save-page"))
            for pid, samples in shown.items():
                self.assertEqual(samples, sum(n for thread, n in saved.by_thread.items() if thread.startswith(f"{pid}.")))
            self.assertEqual(browser.problems, [])
