# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Debug info from debuginfod servers, good and bad ones. All are on 127.0.0.1."""

import http.server
import os
import re
import shutil
import subprocess
import sys
import threading

from harness import KernelTest
from test_roles import children, statuses

PROGRAM = """
volatile unsigned long count;
static __attribute__((noinline)) void busy_by_debug_info(unsigned long turns)
{
	while (turns--)
		count++; /* LINE */
}
int main(void) { busy_by_debug_info(%d); }
"""
LINE = 1 + PROGRAM[:PROGRAM.index("LINE")].count("\n")
MB = 1 << 20
ROOT_CACHE = "/var/cache/jitbpf"
AS_SUDO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "as_sudo.py")
NOBODY = 65534


class Server(http.server.ThreadingHTTPServer):
    """Calls answer(handler) for each request; `asked` has the requested paths."""

    daemon_threads = True

    def __init__(self, answer):
        self.asked, self.sent, self.ended = [], 0, threading.Event()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked.append(self.path)
                try:
                    answer(server, self)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            def log_message(self, *args):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def stop(self):
        self.ended.set()
        self.shutdown()
        self.server_close()


def sending(path):
    def answer(_server, handler):
        with open(path, "rb") as file:
            body = file.read()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
    return answer


def not_found(_server, handler):
    handler.send_error(404)


def silent(server, _handler):
    server.ended.wait()


def endless(server, handler):
    """Sends gigabytes without announcing the size."""
    handler.send_response(200)
    handler.end_headers()
    while not server.ended.is_set():
        handler.wfile.write(bytes(MB))
        server.sent += MB


class Debuginfod(KernelTest):
    def setUp(self):
        super().setUp()
        self.program, self.debug = self.make(150_000_000)
        self.cache = os.path.join(self.folder, "cache")

    def make(self, turns):
        source, program = (os.path.join(self.folder, f"busy{turns}{end}") for end in (".c", ""))
        with open(source, "w", encoding="ascii") as file:
            file.write(PROGRAM % turns)
        for command in (["cc", "-O1", "-g", "-fno-omit-frame-pointer", "-Wl,--build-id",
                         "-o", program, source],
                        ["objcopy", "--only-keep-debug", program, program + ".debug"],
                        ["strip", program]):
            subprocess.run(command, check=True)
        return program, program + ".debug"

    def serve(self, answer):
        server = Server(answer)
        self.addCleanup(server.stop)
        return server

    def run_with(self, urls, options=(), **variables):
        """Records with these servers; returns the run, and whether its frames have names."""
        env = {key: value for key, value in os.environ.items() if not key.startswith("DEBUGINFOD")}
        env.update(DEBUGINFOD_CACHE_PATH=self.cache, **variables)
        if urls:
            env["DEBUGINFOD_URLS"] = urls
        run = self.record([self.program], ["-F", "999", *options],
                          env=env)
        self.check_ledger(run)
        text = run.report("-f", "script", "--fields", "+srcline").stdout.decode()
        self.assertIn(self.program, text)
        named = "busy_by_debug_info" in text
        self.assertEqual(re.search(rf"{self.program}\.c:{LINE}\b", text) is not None, named)
        return run, named

    def test_right(self):
        server = self.serve(sending(self.debug))
        run, named = self.run_with(server.url())
        self.assertTrue(named)
        self.assertTrue(server.asked)
        for path in server.asked:
            self.assertRegex(path, "^/buildid/[0-9a-f]{40}/debuginfo$")
        self.assertNotIn("no answer", run.stderr)
        asked = len(server.asked)
        self.assertTrue(self.run_with(server.url())[1])
        self.assertEqual(len(server.asked), asked, "a cached file was requested again")

    def test_not_wanted(self):
        server = self.serve(sending(self.debug))
        self.assertFalse(self.run_with(server.url(), ["--no-debuginfod"])[1])
        self.assertFalse(self.run_with(None)[1])
        self.assertFalse(self.run_with("")[1])
        self.assertEqual(server.asked, [])

    def test_not_found(self):
        server = self.serve(not_found)
        run, named = self.run_with(server.url())
        self.assertFalse(named)
        self.assertTrue(server.asked)
        self.assertNotIn("no answer", run.stderr)

    def test_of_another_build(self):
        server = self.serve(sending(self.make(150_000_001)[1]))
        self.assertFalse(self.run_with(server.url())[1])
        self.assertTrue(server.asked)

    def test_silent(self):
        """A server that never answers is tried once."""
        server = self.serve(silent)
        run, named = self.run_with(server.url(), DEBUGINFOD_TIMEOUT="1", DEBUGINFOD_MAXTIME="2")
        self.assertFalse(named)
        self.assertEqual(len(set(server.asked)), 1)
        self.assertLess(len(server.asked), 5)
        self.assertIn("no answer in time from a debuginfod server", run.stderr)

    def test_endless(self):
        server = self.serve(endless)
        _run, named = self.run_with(server.url(), DEBUGINFOD_MAXSIZE=str(8 * MB))
        self.assertFalse(named)
        self.assertTrue(server.asked)
        self.assertLess(server.sent, len(server.asked) * 32 * MB)
        sizes = [os.path.getsize(os.path.join(folder, name))
                 for folder, _folders, names in os.walk(self.cache) for name in names]
        self.assertTrue(all(size <= 8 * MB for size in sizes), sizes)

    def start_as_sudo(self, user, urls):
        os.chmod(self.folder, 0o777)
        env = {**os.environ, "DEBUGINFOD_CACHE_PATH": self.cache, "DEBUGINFOD_URLS": urls,
               "DEBUGINFOD_TIMEOUT": "3", "DEBUGINFOD_MAXTIME": "3"}
        argv = [sys.executable, AS_SUDO, user, *self.record_argv(["-F", "999"], [".jitbpf"])]
        process = subprocess.Popen([*argv, "--", self.program], env=env, stderr=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_as_the_invoking_user(self):
        """The cache is that of the user who calls sudo."""
        process = self.start_as_sudo("nobody", self.serve(sending(self.debug)).url())
        run = self.finished(*self.end_of(process))
        self.assertIn("busy_by_debug_info", run.report("-f", "folded").stdout.decode())
        for folder, _folders, names in os.walk(self.cache):
            for name in ["", *names]:
                self.assertEqual(os.stat(os.path.join(folder, name)).st_uid, NOBODY, name)
        self.assertTrue(os.listdir(self.cache))

    def test_privileges(self):
        """The fetcher has the invoking user's rights, and none of root's."""
        server = self.serve(silent)
        process = self.start_as_sudo("nobody", server.url())
        self.wait_for(lambda: server.asked)
        seen = list(statuses(children(process.pid)))
        fetchers = [one for one in seen if one["Name"] == "jitbpf-fetch"]
        self.assertTrue(fetchers, seen)
        for one in fetchers:
            self.assertEqual(set(one["Uid"].split() + one["Gid"].split()), {str(NOBODY)})
            self.assertEqual(one["Groups"].split(), [str(NOBODY)])
            for field in "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb":
                self.assertEqual(int(one[field], 16), 0, field)
            self.assertEqual((one["NoNewPrivs"], one["Seccomp"]), ("1", "2"))
        self.finished(*self.end_of(process))

    @staticmethod
    def end_of(process):
        stderr = process.communicate()[1]
        return process.returncode, b"", stderr

    def test_home_of_another_user(self):
        """With the environment that sudo keeps, root does not write into a user's home."""
        home = os.path.join(self.folder, "home")
        os.mkdir(home)
        os.chown(home, 12345, 12345)
        self.cache = ""
        before = set(os.listdir(ROOT_CACHE)) if os.path.isdir(ROOT_CACHE) else set()
        self.assertTrue(self.run_with(self.serve(sending(self.debug)).url(), HOME=home,
                                      XDG_CACHE_HOME="")[1])
        self.assertEqual(os.listdir(home), [])
        added = set(os.listdir(ROOT_CACHE)) - before
        self.assertTrue(added)
        for name in added:
            shutil.rmtree(os.path.join(ROOT_CACHE, name), True)
