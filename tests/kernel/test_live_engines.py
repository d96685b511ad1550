# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The live page as a person uses it while Java and oneDNN run. With SCREENSHOTS=FOLDER in the environment, pictures of it
are kept there."""
import os
import re
import time
import unittest

import harness
import test_java
import test_live
import test_onednn
from test_live import ROOT, STRIP, Browser, page_data, text
from test_live_code import ROWS, SAMPLED, TABS


class Engine(test_live.GraphTest):
    def picture(self, browser, name):
        folder = os.environ.get("SCREENSHOTS")
        if not folder:
            return
        for width, height in ((1280, 800), (400, 700)):
            for dark in (False, True):
                browser.screen(width, height, dark)
                browser.wait_for(f"innerWidth === {width}")
                time.sleep(0.5)
                browser.screenshot(os.path.join(folder, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
        browser.screen(1280, 800)

    def drive(self, engine, command, wanted, *arguments, line=None, **options):
        """wanted: the names of the engine's methods. line: a source line that the code pane has to show."""
        live = self.start([harness.JITBPF, "live", "-F", "499", *arguments, "--", *command], **options)
        with Browser() as browser:
            browser.screen(1280, 800)
            browser.call("Page.navigate", url=self.url)
            self.wait_for_refreshes(browser, 2)
            name = self.zoom_to(browser, wanted)
            self.picture(browser, engine + "-zoom")
            browser.key("Escape")
            self.check_refreshes(browser, name)
            self.check_reload(browser, name)
            self.check_time(browser, engine)
            self.check_code(browser, name, engine, line)
            self.assertEqual(browser.problems, [])
            said = self.stop(live)
            browser.wait_for(f"{ROOT}.dataset.live === 'ended'")
            self.wait_for_end(browser, said)
            self.assertIsNone(browser.evaluate(f"{ROOT}.dataset.error"))

    def check_refreshes(self, browser, name):
        """A search, and a zoom that stays in ten refreshes."""
        browser.evaluate("document.getElementById('search').focus()")
        browser.type("^" + re.escape(name) + "$")
        self.zoom_to(browser, re.escape(name) + "$")
        y, before = self.settled_row_of(browser, name), self.samples(browser)
        self.assertIsNotNone(y)
        self.wait_for_refreshes(browser, 10)
        self.assertGreater(self.samples(browser), before)
        self.assertEqual(self.row_of(browser, name), y)
        self.assertRegex(browser.evaluate(text("matched")), r"matched \d+\.\d+ %, [\d,]+ samples?")

    def check_reload(self, browser, name):
        address, search = browser.evaluate("[location.href, document.getElementById('search').value]")
        self.assertIn("path=", address)
        browser.call("Page.navigate", url="about:blank")
        browser.call("Page.navigate", url=address)
        browser.wait_for(f"Number({ROOT}?.dataset.refreshes ?? 0) >= 2")
        self.assertIsNotNone(self.settled_row_of(browser, name))
        self.assertEqual(browser.evaluate("document.getElementById('search').value"), search)

    def check_time(self, browser, engine):
        """A range, and one before it as its baseline: shares of both."""
        browser.evaluate("document.getElementById('graph').focus()")
        browser.key("Escape")
        browser.key("Escape")
        left, top, width, _ = browser.evaluate(STRIP)
        browser.drag(left + width * .6, top + 12, width * .3, 0)
        browser.wait_for("location.hash.includes('range=')")
        chosen = self.samples_of(self.total(browser))
        browser.drag(left + width * .2, top + 12, width * .3, 0, shift=True)
        browser.wait_for("location.hash.includes('baseline=')")
        said = self.total(browser)
        self.assertRegex(said, rf"before [\d,]+, 100.0 % · after {chosen:,}, 100.0 %")
        self.picture(browser, engine + "-difference")
        before = re.search(r"before ([\d,]+)", said).group()
        self.wait_for_refreshes(browser, 3)
        self.assertIn(before, self.total(browser))
        browser.evaluate("document.getElementById('all-time').click()")
        browser.wait_for("!location.hash.includes('range=')")

    def check_code(self, browser, name, engine, line):
        """Instructions of a method, with samples that grow; a saved page of it has all samples."""
        self.zoom_to(browser, re.escape(name) + "$")
        browser.key("a")
        browser.wait_for(f"{SAMPLED} > 0")
        before = browser.evaluate(SAMPLED)
        browser.wait_for(f"{SAMPLED} > {before}")
        if line:
            self.assertTrue(any(line in row[-1] for row in browser.evaluate(ROWS.format("source"))))
        self.picture(browser, engine + "-code")
        tabs = browser.evaluate(TABS)
        self.assertTrue(tabs and all("sample" in tab for tab in tabs), tabs)
        address = browser.evaluate("location.href")
        browser.call("Page.navigate", url="about:blank")
        browser.call("Page.navigate", url=address)
        browser.wait_for(f"{SAMPLED} > {before}")
        browser.evaluate("document.getElementById('code-close').click()")
        browser.evaluate("document.getElementById('pause').click()")
        self.assertEqual(page_data.PageData(browser.saved("save-page")).total, self.samples_of(self.everything(browser)))
        browser.evaluate("document.getElementById('pause').click()")

    def everything(self, browser):
        browser.evaluate("document.getElementById('reset').click()")
        return self.total(browser)


@harness.slow
@unittest.skipUnless(os.path.exists(test_java.AGENT), "built without a JDK: there is no libjitbpf-jvmti.so")
class Java(Engine):
    def test_live(self):
        self.compile_java([test_java.SOURCE])
        self.drive("java", ["java", "-cp", self.folder, "Fill", "1000000"],
                   r"Fill\.fillArray",  # main() is interpreted
                   "--source", os.path.dirname(test_java.SOURCE), line="hash = hash * 31 + array")


@harness.slow
class OneDnn(Engine):
    def test_live(self):
        """Inside PyTorch: convolutions."""
        self.drive("onednn", [test_onednn.PYTHON, test_onednn.CONVOLUTIONS, "1000"], r"_?jit_\w+conv")
