# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which processes are profiled: by name, user, cgroup and container."""

import os
import secrets
import shutil
import signal
import subprocess
import sys

import harness

FREQ_HZ = 999
# Uses CPU time after a line came, and moves itself between cgroups.
LOAD = """
import os, sys, time
input()
for part in sys.argv[1:]:
    cgroup, seconds = part.rsplit("=", 1)
    if cgroup:
        with open(cgroup + "/cgroup.procs", "w") as procs:
            procs.write(str(os.getpid()))
    end = time.process_time() + float(seconds)
    while time.process_time() < end:
        pass
"""


def mount_of_cgroups():
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        return next((line.split()[1] for line in mounts if line.split()[2] == "cgroup2"), None)


class Loads(harness.KernelTest):
    def start(self, *parts, program=sys.executable, **kwargs):
        """Starts a load that waits, and returns its process."""
        process = subprocess.Popen([program, "-c", LOAD, *parts], stdin=subprocess.PIPE, bufsize=0,
                                   **kwargs)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdin.close)
        return process

    def run_loads(self, loads, options):
        """Records while the loads run, and returns the samples of processes that have some."""
        waiting = list(loads)

        def have_run():
            while waiting:
                waiting.pop().stdin.write(b"\n")
            return all(load.poll() is not None for load in loads)

        run = self.record_until(have_run, ["-F", str(FREQ_HZ), *options], (".jitbpf",))
        return self.sampled(run), run

    def sampled(self, run):
        rows = self.check_ledger(run)["processes"]
        return {row["pid"]: row["samples"]["taken"] for row in rows if row["samples"]["taken"]}


class Choice(Loads):
    def other_program(self):
        """Python by a name that no other process has, and the process gets."""
        path = os.path.join(self.folder, f"other-{os.getpid()}")
        os.symlink(os.path.realpath(sys.executable), path)
        return path

    def test_name_of_process(self):
        """Of the process, also of one that starts later."""
        other, later = self.other_program(), []
        name = os.path.basename(other)

        def has_run():
            if not later:
                load = self.start("=0.3", program=other)
                load.communicate(b"\n")
                later.append(load.pid)
            return True

        run = self.record_until(has_run, ["-F", str(FREQ_HZ), "-p", f"{name},none-has-this"],
                                (".jitbpf",))
        self.assertIn("no process of the name 'none-has-this' runs", run.stderr)
        self.assertIn(f"no process of the name '{name}' runs", run.stderr)
        rows = self.sampled(run)
        self.assertEqual(list(rows), later)
        self.assertGreater(rows[later[0]], 100)

    def test_pid_while_a_command_runs(self):
        """As `perf record -p PID -- sleep 1`: the command is not profiled, but ends the run."""
        load = self.start("=30")
        load.stdin.write(b"\n")
        command = [sys.executable, "-c", "import time; end = time.process_time() + 0.3\n"
                                         "while time.process_time() < end: pass\nraise SystemExit(3)"]
        run = self.record(command, ["-F", str(FREQ_HZ), "-p", str(load.pid)], status=3)
        self.assertEqual(list(self.sampled(run)), [load.pid])
        self.assertIn(f"process {load.pid}, during {sys.executable} -c ", run.stderr)
        self.assertIsNone(load.poll())

    @harness.slow
    def test_ten_thousand_of_a_name(self):
        """They cost no time of the run, and the one that uses CPU time is found among them."""
        other = self.other_program()
        name = os.path.basename(other)
        idle = os.path.join(self.folder, "idle", name)
        os.mkdir(os.path.dirname(idle))
        os.symlink(shutil.which("sleep"), idle)
        sleeping = []

        def end_all():
            for pid in sleeping:
                os.kill(pid, signal.SIGKILL)
            for pid in sleeping:
                os.waitpid(pid, 0)

        self.addCleanup(end_all)
        for _ in range(10_000):
            sleeping.append(os.posix_spawn(idle, [name, "600"], {}))
        load = self.start("=0.3", program=other)
        rows, run = self.run_loads([load], ["-p", name])
        self.assertEqual([pid for pid in rows if pid not in sleeping], [load.pid])
        self.assertGreater(rows[load.pid], 100)
        self.assertEqual(run.summary()["samples"]["lost"], 0)

    def test_name_of_file(self):
        """Of the program's file."""
        other = self.other_program()
        file = os.path.basename(os.path.realpath(sys.executable))
        load = self.start("=0.3", program=other)
        rows, _run = self.run_loads([load], ["-p", file])
        self.assertGreater(rows[load.pid], 100)

    def test_code_of_others(self):
        """Processes that were not chosen have no rows, whatever code they load."""
        engine = subprocess.Popen([harness.ENGINE, "storm", "--slots", "16", "--rate", "200",
                                   "--seconds", "60"], stdout=subprocess.DEVNULL,
                                  env={**os.environ, "INTEL_JIT_PROFILER64": harness.SHIM})
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        load = self.start("=0.3", program=self.other_program())
        rows, run = self.run_loads([load], ["-p", load.args[0].rsplit("/")[-1]])
        self.assertEqual(list(rows), [load.pid])
        self.assertNotIn("jit-engine", run.stderr)
        self.assertNotIn("without samples", run.stderr)

    def test_users(self):
        os.chmod(self.folder, 0o755)
        mine, other = self.start("=0.3"), self.start("=0.3", user=61234)
        rows, _run = self.run_loads([mine, other], ["-u", "61234"])
        self.assertEqual(list(rows), [other.pid])
        self.assertGreater(rows[other.pid], 100)

    def test_exclude_self(self):
        """None of the processes of the recorder's session is sampled."""
        load, own = self.start("=0.3"), set()

        def have_run():
            if not load.stdin.closed:
                load.stdin.write(b"\n")
                load.stdin.close()
            own.update(self.descendants(os.getpid()) - {load.pid})
            return load.poll() is not None

        run = self.record_until(have_run, ["-F", str(FREQ_HZ), "-a", "--exclude-self"],
                                (".jitbpf",))
        rows = self.sampled(run)
        self.assertGreater(rows[load.pid], 100)
        self.assertGreater(len(own), 2)
        self.assertFalse(own & set(rows), {(p["pid"], p["comm"], p["samples"]["taken"])
                                           for p in run.summary()["processes"] if p["pid"] in own})

    def descendants(self, pid):
        try:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as text:
                children = {int(child) for child in text.read().split()}
        except OSError:
            return set()
        return children.union(*(self.descendants(child) for child in children))

    def test_wrong_values(self):
        for options, words in (
                (["-p", "1,bash"], "pids and names cannot be combined"),
                (["-p", ","], "a pid or a name is missing"),
                (["-p", "x" * 64], "at most 63 bytes"),
                (["-p", ",".join("abcdefghi")], "at most 8 names"),
                (["-u", "nobody-has-this"], "there is no such user"),
                (["-u", "4294967295"], "there is no such user")):
            with self.subTest(options):
                run = self.record(["true"], options, status=2)
                self.assertIn(words, run.stderr)


class Cgroups(Loads):
    def setUp(self):
        super().setUp()
        mount = mount_of_cgroups()
        if not mount:
            self.skipTest("cgroup version 2 is not mounted")
        self.names = [f"jitbpf-test-{os.getpid()}-{name}" for name in "ab"]
        self.cgroups = [os.path.join(mount, name) for name in self.names]
        for cgroup in self.cgroups:
            os.mkdir(cgroup)
            self.addCleanup(lambda cgroup=cgroup: os.path.exists(cgroup) and os.rmdir(cgroup))

    def usage(self, cgroup):
        """Returns the CPU time of a cgroup, in seconds."""
        with open(os.path.join(cgroup, "cpu.stat"), encoding="ascii") as stat:
            return int(stat.read().split("usage_usec ")[1].split()[0]) / 1e6

    def test_same_program(self):
        """Samples are as many as the cgroup's own CPU time says, and none are of another one."""
        loads = [self.start(f"{cgroup}=1.5") for cgroup in self.cgroups]
        rows, run = self.run_loads(loads, ["-G", self.names[0]])
        self.assertEqual(list(rows), [loads[0].pid])
        self.assertAlmostEqual(rows[loads[0].pid] / FREQ_HZ / self.usage(self.cgroups[0]), 1,
                               delta=0.06)
        self.assertIn(f"process in cgroup /{self.names[0]}\n", run.stderr)

    def test_process_that_moves(self):
        """It counts while it is in the cgroup, or in one below it."""
        below = os.path.join(self.cgroups[0], "below")
        os.mkdir(below)
        self.addCleanup(os.rmdir, below)
        load = self.start(f"{self.cgroups[1]}=0.6", f"{below}=1", f"{self.cgroups[1]}=0.6")
        rows, _run = self.run_loads([load], ["-G", self.cgroups[0]])
        self.assertEqual(list(rows), [load.pid])
        self.assertAlmostEqual(rows[load.pid] / FREQ_HZ / self.usage(self.cgroups[0]), 1,
                               delta=0.08)

    def test_exclude_self_at_its_end(self):
        """Nor are processes of jitbpf sampled while they exit, which takes a part of a run."""
        procs = os.path.join(self.cgroups[0], "cgroup.procs")
        other = os.path.join(self.folder, "other.jitbpf")
        script = (f"echo $$ >'{procs}'\n"
                  f"for i in 1 2 3; do {harness.JITBPF} record -o {other} -- true; done")
        runs = []

        def have_run():
            if not runs:
                runs.append(subprocess.run(["sh", "-c", script], capture_output=True, check=False))
            with open(procs, encoding="ascii") as pids:
                return not pids.read()

        run = self.record_until(have_run, ["-F", "9999", "-a", "--exclude-self", "-G", self.names[0]],
                                (".jitbpf",))
        self.assertEqual(runs[0].returncode, 0, runs[0].stderr)
        rows = self.check_ledger(run)["processes"]
        names = {row["comm"] for row in rows if row["samples"]["taken"]}
        self.assertIn("sh", names)
        self.assertFalse({name for name in names if name.startswith("jitbpf-")})

    def test_removed(self):
        """A cgroup that is removed during the run has what came before. Its name may be odd."""
        odd = self.cgroups[0] + "\x1b[31m"
        os.mkdir(odd)
        load = self.start(f"{odd}=0.3")

        def removed():
            if not load.stdin.closed:
                load.stdin.write(b"\n")
                load.stdin.close()
            if load.poll() is None:
                return False
            os.rmdir(odd)
            return True

        run = self.record_until(removed, ["-F", str(FREQ_HZ), "-G", odd], (".jitbpf",))
        self.assertEqual(list(self.sampled(run)), [load.pid])
        self.assertNotIn("\x1b", run.stderr)

    def test_container(self):
        """By the ID in the name of its cgroup."""
        ids = [secrets.token_hex(32) for _ in range(2)]
        scopes = [os.path.join(self.cgroups[0], f"docker-{name}.scope") for name in ids]
        for scope in scopes:
            os.mkdir(scope)
            self.addCleanup(os.rmdir, scope)
        loads = [self.start(f"{scope}=0.3") for scope in scopes]
        rows, _run = self.run_loads(loads, ["--container", ids[1][:12]])
        self.assertEqual(list(rows), [loads[1].pid])

    def test_wrong_names(self):
        for options, words in (
                (["-G", ""], "-G '': a cgroup or unit is missing"),
                (["--container", ""], "--container '': an ID or a name is missing"),
                (["-G", "no\x1b[31m\nsuch"], "-G no?[31m?such: there is no such cgroup"),
                (["-G", "no-such-cgroup"], "there is no such cgroup or unit"),
                (["-G", self.folder], "that is no cgroup of version 2"),
                (["-G", "/dev/null"], "that is no cgroup of version 2"),
                (["--container", "no-such-container"], "no running container")):
            with self.subTest(options):
                self.assertIn(words, self.record(["true"], options, status=2).stderr)

