#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""run_tests.py [-j LANES] [-v] KIND COMMAND...

Runs tests, each in a process of its own and within the time limit of its kind, and names those that
failed or timed out. A COMMAND is a shell command line. LANES tests (default 1) run at a time. The
output of a test is shown if it failed, or with -v. Processes that a test leaves behind are
killed. The kernel tests (tests/kernel/harness.py) run by the same rules. A test that finds that it
does not apply to this machine's programs says why, and is counted apart.
"""

import argparse
import collections
import contextlib
import ctypes
import os
import re
import select
import signal
import sys
import tempfile
import time

# Time limits in seconds, by Patience: about ten times the slowest test of a kind, with sanitizers.
# They are for tests that hang; a slow or busy machine must not reach them.
LIMITS = {
    "unit": 120,     # a program of tests/unit
    "replay": 120,   # a fuzz target over its corpus
    "fuzz": 86400,   # a fuzz target, which ends by itself after FUZZ_SECONDS
    "cli": 120,      # one script: completion in shells, manual pages, an installation
    "golden": 60,    # the recordings in all formats
    "shim": 120,     # a program of tests/shim
    "model": 300,    # random events against the model of the JIT API
    "symbols": 120,  # one program against llvm-symbolizer
    "frames": 300,   # all programs against readelf
    "code": 300,     # rows of machine code against call frame information
    "ui": 300,       # one script with its browser
    "kernel": 180,   # one test method on the real kernel
}
SIGNALS = (signal.SIGTERM, signal.SIGKILL)  # a kernel test cleans up after the first one
GRACE_S = 10  # between the two signals
LOOK_S = 0.5  # from one look at the patience with the running tests to the next
PR_SET_CHILD_SUBREAPER = 36
NOT_APPLICABLE = 79  # exit status of a test that does not apply here; its output says why

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
libc = ctypes.CDLL(None, use_errno=True)


def processor_share():
    """Returns the part of a processor that a program gets now, if all that can run get the same."""
    with open("/proc/loadavg", encoding="ascii") as file:
        runnable = int(file.read().split()[3].split("/")[0])
    return min(1, len(os.sched_getaffinity(0)) / max(1, runnable))


class Patience:
    """A limit of so many seconds for a wait. Where processors are busy, a part of the time counts:
    what a program gets of a processor, as of each call of left(), and at least 1/SLOWEST. So a
    program that only lacks a processor is waited for, and one that hangs is given up."""

    SLOWEST = 10

    def __init__(self, seconds, clock=time.monotonic, share=processor_share):
        self.clock, self.share = clock, share
        self.rest, self.before = seconds, clock()

    def left(self):
        """Returns what is left, in seconds of a program that has a processor; not above 0: none."""
        now = self.clock()
        self.rest -= (now - self.before) * max(self.share(), 1 / self.SLOWEST)
        self.before = now
        return self.rest


def refuse_below_tmp():
    """Ends the program if the tree is below /tmp, where some kernel tests cannot see it."""
    hidden = os.path.realpath("/tmp")
    if os.path.commonpath((ROOT, hidden)) == hidden:
        sys.exit(f"{ROOT} is below /tmp, over which the tests of Java mount an empty folder: they "
                 "would not find jitbpf there. Move the tree to another folder")


# main() runs in the test's process and returns its exit status. A test with `alone` set runs
# while no other test runs.
Test = collections.namedtuple("Test", "name main alone", defaults=[False])


def command(line):
    """Returns the test for a shell command line."""
    def main():
        os.execvp("sh", ["sh", "-c", "exec " + line])
    return Test(line, main)


class Running:
    """A running test: its process, and the file with its output."""

    def __init__(self, test, limit_s):
        self.test, self.limit_s = test, limit_s
        self.output = tempfile.TemporaryFile()
        self.begin = time.monotonic()
        self.patience, self.signals = Patience(limit_s), list(SIGNALS)
        self.pid = os.fork()
        if not self.pid:
            self.be_test()
        self.fd = os.pidfd_open(self.pid)

    def be_test(self):
        status = 1
        try:
            os.setpgid(0, 0)  # keeps a terminal's Ctrl-C away from the test
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            # Orphans of the test become children of its process, so that they are found.
            libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            for fd in (1, 2):
                os.dup2(self.output.fileno(), fd)
            status = self.test.main()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)

    def is_stuck(self):
        """After the limit, sends SIGTERM, then SIGKILL; returns true if neither ended the
        test."""
        if self.patience.left() > 0:
            return False
        if self.signals:
            os.kill(self.pid, self.signals.pop(0))
            self.patience = Patience(GRACE_S)
            return False
        return True

    def finish(self):
        """Returns the exit status, the reason for a failure or None, the output, and the CPU time
        in seconds."""
        os.close(self.fd)
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        cpu_s = usage.ru_utime + usage.ru_stime
        status = os.waitstatus_to_exitcode(status)
        self.output.seek(0)
        text = self.output.read().decode(errors="replace")
        self.output.close()
        if not pid or len(self.signals) < len(SIGNALS):
            return status, f"over its time limit of {self.limit_s} s", text, cpu_s
        if status < 0:
            return status, f"killed by {signal.Signals(-status).name}", text, cpu_s
        failed = status not in (0, NOT_APPLICABLE)
        return status, f"exit status {status}" if failed else None, text, cpu_s


def children(pid):
    out = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), \
                    open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                out += map(int, file.read().split())
    return out


def kill_orphans(running):
    """Kills the processes that ended tests left behind: all children except running tests."""
    end = time.monotonic() + GRACE_S
    while time.monotonic() < end:  # a process may survive SIGKILL
        left = set(children(os.getpid())) - {test.pid for test in running}
        if not left:
            return
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, os.WNOHANG)
        time.sleep(0.001)


def cases_of(text):
    """Returns the number of cases that a cmocka program reports; 1 for other tests. Also returns
    how many of them do not apply here."""
    run, skipped = (sum(map(int, re.findall(pattern, text, re.M))) for pattern in (
        r"^\[==========\].* (\d+) test\(s\) run", r"^\[  SKIPPED \] (\d+) test\(s\)"))
    return run or 1, skipped


class Runner:
    def __init__(self, kind, verbose=False):
        self.kind, self.verbose, self.limit_s = kind, verbose, LIMITS[kind]
        self.running, self.cases, self.failed, self.not_applicable = [], 0, [], 0

    def run(self, tests, lanes=1):
        """Runs tests, those with `alone` last; returns true if there were any and all passed."""
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
        begin = time.monotonic()
        try:
            self.run_lanes([test for test in tests if not test.alone], lanes)
            self.run_lanes([test for test in tests if test.alone], 1)
        finally:
            kill_orphans([])
        for name, reason in self.failed:
            print(f"FAILED  {name}: {reason}")
        print(f"{self.kind}: {self.cases} passed, {len(self.failed)} failed, "
              f"{f'{self.not_applicable} not applicable, ' if self.not_applicable else ''}"
              f"{time.monotonic() - begin:.1f} s", flush=True)
        return not self.failed and bool(tests)

    def run_lanes(self, tests, lanes):
        tests = list(tests)
        while tests or self.running:
            while tests and len(self.running) < lanes:
                self.running.append(Running(tests.pop(0), self.limit_s))
            self.wait()

    def wait(self):
        """Waits until a test has ended or timed out."""
        poll = select.poll()
        for running in self.running:
            poll.register(running.fd, select.POLLIN)
        ended = {fd for fd, _ in poll.poll(LOOK_S * 1000)}
        for running in list(self.running):
            if running.fd in ended or running.is_stuck():
                self.running.remove(running)
                self.show(running, *running.finish())
                kill_orphans(self.running)

    def show(self, running, status, reason, text, cpu_s):
        seconds = time.monotonic() - running.begin
        name, word = running.test.name, "ok"
        if reason:
            word = "FAILED"
            self.failed.append((name, reason))
        elif status == NOT_APPLICABLE:
            word = "N/A"
            self.not_applicable += 1
        else:
            cases, skipped = cases_of(text)
            self.cases += cases - skipped
            self.not_applicable += skipped
        print(f"{word:>6} {seconds:6.1f} s {cpu_s:6.1f} s CPU  {name}"
              f"{': ' + reason if reason else ''}", flush=True)
        if text and (word != "ok" or self.verbose):
            print("".join("\t" + line for line in text.splitlines(True)).rstrip("\n"), flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-j", dest="lanes", type=int, default=1)
    parser.add_argument("-v", dest="verbose", action="store_true")
    parser.add_argument("kind", choices=LIMITS)
    parser.add_argument("commands", nargs="*")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    runner = Runner(args.kind, args.verbose)
    return 0 if runner.run(map(command, args.commands), args.lanes) else 1


if __name__ == "__main__":
    sys.exit(main())
