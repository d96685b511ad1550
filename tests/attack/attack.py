# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The base of the attack tests: an unprivileged user attacks a jitbpf that root runs.

What must hold in each: jitbpf lives, its memory and descriptors are bounded, its event loop does
not block, and the profile of a victim, which is root's, is the same as without the attacker.
"""

import collections
import contextlib
import math
import os
import signal
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "kernel"))

import harness  # pylint: disable=wrong-import-position
import recording  # pylint: disable=wrong-import-position
import run_for  # pylint: disable=wrong-import-position

PROGRAMS = os.path.join(harness.BUILD, "tests/attack")
VICTIM = os.path.join(PROGRAMS, "victim")
ATTACKER = 61234  # user and group ID, of nobody else
# What the victim's program is made to spend its time in.
SHARES = {"victim_tenth": 0.10, "victim_fifth": 0.20, "victim_third": 0.33, "victim_rest": 0.37}
SIGMAS = 3
STARTING = 100  # samples: of what the victim does in its first tenth of a second
MEMORY = 64 << 20  # for --max-memory
# What jitbpf takes beside it, in all of its processes, whatever other processes do: the programs
# and libraries, rings, kernel symbols, and what readers need for a file.
BESIDE = 72 << 20
# Of a measurement, each with more samples: of the first ones, with four shares in each test, one in
# a hundred is out of bounds, and of all six, one in 25,000.
TRIES = 6


def descendants(pid):
    """Returns the pids of a process and of all below it."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children", encoding="ascii") as children:
                    found += map(int, children.read().split())
    return found


def memory_bytes(pid):
    """Returns the resident memory of a process, with its part of what it shares with others."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:
        return next(int(line.split()[1]) << 10 for line in rollup if line.startswith("Pss:"))


class Watch:
    """Watches a process with its children: the largest memory in bytes and number of open files,
    and their CPU time in seconds, each of all of them together."""

    def __init__(self, pid):
        self.pid, self.memory, self.files, self.cpu = pid, 0, 0, 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def look(self):
        memory = files = cpu = 0
        for pid in descendants(self.pid):
            with contextlib.suppress(OSError):
                memory += memory_bytes(pid)
                files += len(os.listdir(f"/proc/{pid}/fd"))
                cpu += run_for.cpu_seconds(pid)
        self.memory, self.files = max(self.memory, memory), max(self.files, files)
        self.cpu = max(self.cpu, cpu)

    def run(self):
        while not self.ended.wait(0.1):
            self.look()

    def end(self):
        self.ended.set()
        self.thread.join()


def sample(test):
    """Marks a test method, or a class of them, that `make check` runs: some of each kind."""
    test.is_sample = True
    return test


class Victim:
    """What a recording says of one process."""

    def __init__(self, run, pid):
        self.run = run
        self.samples = [sample for sample in run.script() if sample.pid == pid]

    def names(self):
        """All names in its stacks."""
        return {recording.shown_name(frame) for sample in self.samples for frame in sample.frames}

    def functions(self):
        """Number of its samples by the innermost user function; kernel code counts to it."""
        counts = collections.Counter()
        for sample in self.samples:
            leaf = harness.leaf_jit(sample)
            counts[recording.shown_name(leaf) if leaf else "[none]"] += 1
        return counts


def is_stopped(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        return stat.read().rpartition(") ")[2].startswith("T")


class AttackTest(harness.KernelTest):
    alone = True  # it records the whole system
    victim_class = Victim

    def setUp(self):
        super().setUp()
        self.attackers, self.paused = [], []

    def program(self, name):
        """Copies a hostile program to where the attacker can run it. Returns its path."""
        return self.copy_for_others(os.path.join(PROGRAMS, name))[0]

    def attack(self, argv, ready=True, user=ATTACKER, **kwargs):
        """Starts a program as the attacker, in a process group that ends with the test. If ready,
        waits until it prints a line. Returns the Popen."""
        attacker = subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True,
                                    user=user, group=user, extra_groups=(), cwd="/", **kwargs)
        self.addCleanup(self.end, attacker)
        self.attackers.append(attacker)
        if ready:
            self.assertTrue(attacker.stdout.readline(), "the attacker has ended")
        return attacker

    def pause(self):
        """Stops the attackers that run: after a recording, they would only slow the test down."""
        for attacker in self.attackers:
            if attacker.poll() is None and not is_stopped(attacker.pid):
                os.killpg(attacker.pid, signal.SIGSTOP)
                self.paused.append(attacker)

    def go_on(self):
        while self.paused:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.paused.pop().pid, signal.SIGCONT)

    def end(self, process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout:
            process.stdout.close()

    def start_victim(self, argv=(VICTIM,), **kwargs):
        victim = subprocess.Popen(argv, stdout=subprocess.DEVNULL, start_new_session=True,
                                  **kwargs)
        self.addCleanup(self.end, victim)
        return victim

    @contextlib.contextmanager
    def recording(self, options=("-a",), endings=(".jitbpf", ".txt"), **kwargs):
        """Records during the `with` block. Yields the Popen, with the attributes `watch` and,
        after the block, `run`."""
        for ending in endings:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.folder, "out" + ending))
        argv = self.record_argv(["-F", "999", *options], endings)
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              **kwargs) as jitbpf:
            jitbpf.watch = Watch(jitbpf.pid)
            try:
                self.wait_for(self.takes_samples)
                yield jitbpf
            finally:
                jitbpf.send_signal(signal.SIGINT)
                try:
                    stdout, stderr = jitbpf.communicate(timeout=60)
                except subprocess.TimeoutExpired:
                    jitbpf.kill()
                    raise
                finally:
                    jitbpf.watch.end()
            jitbpf.run = self.finished(jitbpf.returncode, stdout, stderr)

    def victim_profile(self, seconds=2, options=("-a",), argv=(VICTIM,), during=None):
        """Records until a victim, started for it, has taken so much CPU time. during(), if given,
        is called when the recording has begun. Returns a Victim."""
        self.go_on()
        with self.recording(options) as jitbpf:
            if during:
                during()
            victim = self.start_victim(argv)
            self.wait_for(lambda: run_for.cpu_seconds(victim.pid) >= seconds, 90)
        self.end(victim)
        self.pause()
        profile = self.victim_class(jitbpf.run, victim.pid)
        profile.watch = jitbpf.watch
        return profile

    def check_victim(self, hostile="attacker", **kwargs):
        """Records the victim beside an attacker. Checks that each function has its true share of
        the samples, within three standard deviations, and that no name in its stacks contains the
        text of the attacker. Takes the arguments of victim_profile(). Returns the Victim."""
        counts = collections.Counter()
        for tries in range(1, TRIES + 1):
            profile = self.victim_profile(**kwargs)
            self.assertEqual([name for name in profile.names() if hostile in name], [])
            counts += profile.functions()
            wrong = beyond(counts, SHARES, starting=STARTING * tries)
            if not wrong:
                return profile
        return self.fail(f"{wrong}: {counts}")

    def assert_same_profile(self, quiet, attacked, hostile="attacker"):
        """The same with two measured profiles of another victim."""
        self.assertEqual([name for name in attacked.names() if hostile in name], [])
        before, after = quiet.functions(), attacked.functions()
        shares = {name: count / before.total() for name, count in before.items()}
        # Both are samples: their difference has the deviations of both.
        wrong = beyond(after, shares, 1 + after.total() / before.total())
        self.assertFalse(wrong, f"{wrong}: {before} {after}")


def beyond(counts, shares, variance=1, starting=STARTING):
    """Returns the names whose shares of the counts are not the expected ones. variance: that of
    the difference, in units of the binomial one. starting: how many samples may have other names."""
    named = sum(counts[name] for name in shares)
    others = counts.total() - named
    wrong = [f"{others} others"] if others > starting else []
    for name, share in shares.items():
        sigma = math.sqrt(share * (1 - share) / max(named, 1) * variance)
        if abs(counts[name] / max(named, 1) - share) > SIGMAS * sigma:
            wrong.append(f"{name} {counts[name] / max(named, 1):.3f} instead of {share:.3f}")
    return wrong


if __name__ == "__main__":
    harness.main(HERE, lambda case: harness.is_marked(case, "is_sample"))
