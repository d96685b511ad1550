# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The ledger of a live page says which packages have the debug symbols of files without names."""
import json
import os
import unittest

import harness
import test_live
from test_hints import DASH, DASH_PACKAGE

ROWS = """[...document.querySelectorAll('#ledger tbody:has(th)')].flatMap(group =>
    [...group.querySelectorAll('td + td')].map(cell => [cell.textContent, group.querySelector('th').textContent]))"""


class Packages(test_live.LiveTest):
    def advice(self, browser):
        """What the page says of the program's file, or None."""
        return dict(browser.evaluate(ROWS)).get(DASH)

    @unittest.skipUnless(DASH_PACKAGE, "no package of dpkg has this shell, or it has symbols")
    def test_open_ledger(self):
        """As in the JSON of the summary."""
        argv = self.record_argv(["--live", "-F", "499"], (".jitbpf",))
        live = self.start([*argv, "--", DASH, "-c", "i=0; while [ $i -lt 100000000 ]; do i=$((i + 1)); done"])
        with test_live.Browser() as browser:
            browser.screen(1280, 800)
            browser.call("Page.navigate", url=self.url)
            self.wait_for_refreshes(browser, 3)
            browser.evaluate("document.querySelector('#ledger summary').click()")
            said = self.wait_for(lambda: (self.advice(browser) or "").find("apt install") == 0 and self.advice(browser))
            self.wait_for_refreshes(browser, 3)
            self.assertEqual(self.advice(browser), said)
            self.assertEqual(browser.problems, [])
        self.stop(live)
        summary = harness.Run(self.folder, 0, b"", "").summary()
        row = next(row for row in summary["unnamed"] if os.path.realpath(row["file"]) == DASH)
        self.assertEqual(said, row["next"], json.dumps(row))
        self.assertEqual(row["package"].split(":")[0], DASH_PACKAGE.split(":")[0])


if __name__ == "__main__":
    harness.main()
