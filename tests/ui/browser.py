# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
A headless Chromium that is controlled over its debugging pipe: needs no packages and opens no
port. Used as `with Browser() as b:`.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from run_tests import Patience  # pylint: disable=wrong-import-position

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-default-apps --remote-debugging-pipe"
).split()

KEYS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
        "Backspace": 8, "Home": 36, "/": 191}


# The first one cannot have windows, and takes half of the other's time.
PROGRAMS = "chromium-headless-shell", "chromium"


def installed_browser():
    """Returns its name, or None."""
    return next(filter(shutil.which, PROGRAMS), None)


class Browser:
    def __init__(self, timeout=60):
        self.timeout = timeout
        self.profile = tempfile.mkdtemp(prefix="jitbpf-ui-")
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()
        self.next_id = 0
        self.pending = b""
        self.problems = []  # console messages, exceptions, blocked and failed loads
        self.requests = []  # every address that the page requested
        # Chromium reads commands from descriptor 3 and answers on 4.
        shell = 'exec "$0" "$@" 3<&%d 4>&%d' % (to_read, from_write)
        self.process = subprocess.Popen(
            ["bash", "-c", shell, installed_browser() or PROGRAMS[0], *FLAGS, "--user-data-dir=" + self.profile, "about:blank"],
            pass_fds=(to_read, from_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.session = None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (EOFError, OSError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        patience = Patience(self.timeout)
        while b"\0" not in self.pending:
            if not select.select([self.from_read], [], [], 0.5)[0]:
                if patience.left() <= 0:
                    raise TimeoutError("the browser does not answer")
                continue
            chunk = os.read(self.from_read, 1 << 16)
            if not chunk:
                raise EOFError("the browser is gone")
            self.pending += chunk
        message, self.pending = self.pending.split(b"\0", 1)
        message = json.loads(message)
        self.note(message.get("method"), message.get("params", {}))
        return message

    def note(self, method, params):
        if method == "Runtime.consoleAPICalled":
            self.problems.append("console: %s" % [a.get("value") for a in params["args"]])
        elif method == "Runtime.exceptionThrown":
            self.problems.append("exception: %s" % params["exceptionDetails"])
        elif method == "Page.javascriptDialogOpening":
            self.problems.append("dialog: %s" % params["message"])
        elif method == "Log.entryAdded":
            self.problems.append("log: %s" % params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def call(self, method, **params):
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError("%s: %s" % (expression, result["exceptionDetails"]))
        return result["result"].get("value")

    def wait_for(self, expression):
        patience = Patience(self.timeout)
        while not self.evaluate(expression):
            if patience.left() <= 0:
                raise TimeoutError("never true: " + expression)
            time.sleep(.02)

    def open(self, address):
        # Via about:blank: an address that differs only in its fragment would not be loaded
        # again.
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete' && location.protocol === 'file:'")

    def screen(self, width, height, dark=False, ratio=1, touch=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio,
                  mobile=touch)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def mouse(self, x, y, click=False):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if click else ():
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def tap(self, x, y):
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            self.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    def wheel(self, x, y, dx=0, dy=0, ctrl=False):
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=dx, deltaY=dy, modifiers=2 * ctrl)

    def drag(self, x, y, dx, dy, steps=8, shift=False):
        def send(kind, step, **more):
            self.call("Input.dispatchMouseEvent", type=kind, x=x + dx * step / steps, y=y + dy * step / steps,
                      button="left", modifiers=8 * shift, **more)
        send("mousePressed", 0, clickCount=1)
        for step in range(1, steps + 1):
            send("mouseMoved", step, buttons=1)
        send("mouseReleased", steps, clickCount=1)

    def key(self, key):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=KEYS.get(key, 0),
                      **({"text": text} if text and kind == "keyDown" else {}))

    def type(self, text):
        self.call("Input.insertText", text=text)

    def saved(self, identity):
        """Clicks, and returns the path of the file that the page saves."""
        folder = tempfile.mkdtemp(dir=self.profile)
        self.call("Page.setDownloadBehavior", behavior="allow", downloadPath=folder)
        self.evaluate(f"document.getElementById('{identity}').click()")
        patience = Patience(self.timeout)
        while True:
            files = os.listdir(folder)
            if len(files) == 1 and not files[0].endswith(".crdownload"):
                return os.path.join(folder, files[0])
            if patience.left() <= 0:
                raise TimeoutError(f"nothing is saved: {files}")
            time.sleep(.02)

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
