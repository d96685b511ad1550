# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A recording of some processes holds all of these processes, and nothing of others."""

import os
import shutil
import struct
import subprocess

import harness
import recording
import run_for
import test_choice

# Records that begin with a pid: MAPPING, COMM, FORK, EXIT, LOST_SAMPLES and so on.
OF_PROCESSES = (3, 4, 5, 6, 9, 11, 12, 14, 15, 16, 19)
# A function with inlined ones and lines, as in test_jit_api.py.
LOAD = b"""code @0 1
inline 3 2 chosenLeaf @8 48 - leaf.js
lines 56:70
inline 2 1 chosenMid @4 56 K mid.js
lines 30:7 56:7 64:8
v2 1 chosenTop @0 64 Cls top.js mod
"""


class Recorded(test_choice.Loads):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)

    def content(self, run):
        with open(run.path(".jitbpf"), "rb") as file:
            return b"".join(content for _at, content in recording.segments(file.read()))

    def engine(self, name, *argv, cgroup=None, **kwargs):
        """Starts a copy of the test engine of that name."""
        folder = os.path.join(self.folder, name)
        os.makedirs(folder, exist_ok=True)
        path = shutil.copy(harness.ENGINE, os.path.join(folder, name))
        process = subprocess.Popen([path, *argv], stdout=subprocess.DEVNULL,
                                   env={**os.environ, "INTEL_JIT_PROFILER64": harness.SHIM},
                                   **kwargs)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        if process.stdin:
            self.addCleanup(process.stdin.close)
        if cgroup:
            self.move(process.pid, cgroup)
        return process

    def move(self, pid, cgroup):
        with open(os.path.join(cgroup, "cgroup.procs"), "w", encoding="ascii") as procs:
            procs.write(str(pid))

    def make_cgroup(self, name):
        mount = test_choice.mount_of_cgroups()
        if not mount:
            self.skipTest("cgroup version 2 is not mounted")
        path = os.path.join(mount, name)
        os.mkdir(path)
        self.addCleanup(os.rmdir, path)
        return path

    def has_record_of(self, run, pid):
        return any(kind in OF_PROCESSES and struct.unpack_from("<I", body)[0] == pid
                   for kind, _flags, _time, body in recording.chunks(run.path(".jitbpf")))


class Others(Recorded):
    """An engine that is not chosen, with names of its own, beside a process that is."""

    def setUp(self):
        super().setUp()
        self.word = f"hid{os.getpid()}"  # a comm has 15 bytes
        hidden = self.make_cgroup(self.word + ".service")
        self.hidden = self.engine(self.word, "storm", "--rate", "2000", "--slots", "16", "--name",
                                  self.word + "Method", "--seconds", "100", cgroup=hidden)
        self.mine = self.make_cgroup(f"jitbpf-test-{os.getpid()}-mine")
        self.program = os.path.join(self.folder, f"mine-{os.getpid()}")
        os.symlink(os.path.realpath(shutil.which("python3")), self.program)
        self.wait_for(lambda: self.methods(self.hidden.pid))

    def words(self, run):
        """Returns what a recording has of the other process: of its names, and of its pid."""
        content = self.content(run)
        return [text for text in (self.word + "Method", self.word + ".service", self.word)
                if text.encode() in content], self.has_record_of(run, self.hidden.pid)

    def check(self, rows, run, load):
        self.assertEqual(list(rows), [load.pid], f"{load.returncode} {run.stderr}")
        self.assertEqual(self.words(run), ([], False))
        self.assertNotIn(self.word, run.stderr)
        self.assertEqual(run.summary()["jit"]["methods"], 0)

    def test_nothing_of_others(self):
        user = 1_000_000 + os.getpid()  # of nobody else
        for options in (["-p", os.path.basename(self.program)], ["-u", str(user)],
                        ["-G", os.path.basename(self.mine)]):
            with self.subTest(options):
                moves = options[0] == "-G"
                load = self.start(f"{self.mine}=0.3" if moves else "=0.3", program=self.program,
                                  user=None if moves else user)
                rows, run = self.run_loads([load], options)
                self.check(rows, run, load)
                os.unlink(run.path(".jitbpf"))  # the next one tells that its run has begun

    def test_nothing_of_others_by_pid(self):
        """The run would end with the process."""
        load = self.start("=60", program=self.program)
        load.stdin.write(b"\n")
        run = self.record_process(load.pid, 0.3, ["-F", str(test_choice.FREQ_HZ)], (".jitbpf",))
        self.check(self.sampled(run), run, load)

    def test_all_has_it(self):
        """The words are those that a recording would have."""
        load = self.start("=0.3", program=self.program)
        _rows, run = self.run_loads([load], ["-a"])
        self.assertEqual(self.words(run), ([self.word + "Method", self.word + ".service",
                                            self.word], True))


class Later(Recorded):
    """Code from before the process is chosen has its names, inlined methods and lines."""

    def check(self, run, pid):
        done = run.report("-f", "script", "--fields=+srcline")
        text = done.stdout.decode(errors="replace")
        for word in ("Cls::chosenTop", "K::chosenMid", "chosenLeaf", "top.js:7", "mid.js:70"):
            self.assertIn(word, text)
        row = next(row for row in self.check_ledger(run)["processes"] if row["pid"] == pid)
        self.assertGreater(row["samples"]["resolved"], 0.7 * row["samples"]["taken"])
        self.assertEqual((row["jit"]["methods"], row["jit"]["inlines"]), (1, 2))
        self.assertEqual(row["jit"]["sequence_gaps"], 0)

    def run_engine(self, name, options, before_run):
        """Loads code during the run, without CPU time; then it runs."""
        engine = self.engine(name, "api", stdin=subprocess.PIPE, bufsize=0)
        stages = [b"run @0 600\n", LOAD]

        def has_run():
            if len(stages) == 2:
                engine.stdin.write(stages.pop())
                self.wait_for(lambda: self.methods(engine.pid))
            if stages:
                before_run(engine.pid)
                engine.stdin.write(stages.pop())
                engine.stdin.close()
            return engine.poll() is not None

        run = self.record_until(has_run, ["-F", str(test_choice.FREQ_HZ), *options], (".jitbpf",))
        self.assertEqual(list(self.sampled(run)), [engine.pid])
        self.check(run, engine.pid)

    def test_moves_into_the_cgroup(self):
        cgroup = self.make_cgroup(f"jitbpf-test-{os.getpid()}-later")
        self.run_engine("engine", ["-G", cgroup], lambda pid: self.move(pid, cgroup))

    def test_of_a_name(self):
        name = f"later-{os.getpid()}"
        self.run_engine(name, ["-p", name], lambda pid: None)

    def test_before_the_run(self):
        """Code that was loaded before the recording began, from the journal."""
        name = f"early-{os.getpid()}"
        engine = self.engine(name, "api", stdin=subprocess.PIPE, bufsize=0)
        engine.stdin.write(LOAD)
        self.wait_for(lambda: self.methods(engine.pid))

        def has_run():
            if not engine.stdin.closed:
                engine.stdin.write(b"run @0 600\n")
                engine.stdin.close()
            return engine.poll() is not None

        run = self.record_until(has_run, ["-F", str(test_choice.FREQ_HZ), "-p", name],
                                (".jitbpf",))
        self.check(run, engine.pid)

    @harness.slow
    def test_executes_the_chosen(self):
        """A shell becomes a program of the name."""
        name = f"exec-{os.getpid()}"
        path = shutil.copy(harness.ENGINE, os.path.join(self.folder, name))
        shell = subprocess.Popen(["sh", "-c", 'read line; exec "$0" api', path],
                                 stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, bufsize=0,
                                 env={**os.environ, "INTEL_JIT_PROFILER64": harness.SHIM})
        self.addCleanup(shell.wait)
        self.addCleanup(shell.kill)

        def has_run():
            if not shell.stdin.closed:
                shell.stdin.write(b"\n" + LOAD + b"run @0 600\n")
                shell.stdin.close()
            return shell.poll() is not None

        run = self.record_until(has_run, ["-F", str(test_choice.FREQ_HZ), "-p", name],
                                (".jitbpf",))
        self.check(run, shell.pid)

    @harness.slow
    def test_rotation(self):
        """Each part has what its samples need, and nothing of others."""
        word = f"oth{os.getpid()}"
        self.engine(word, "storm", "--rate", "1000", "--name", word + "Method", "--seconds", "100")
        name = f"rot-{os.getpid()}"
        engine = self.engine(name, "api", stdin=subprocess.PIPE, bufsize=0)

        def has_run():
            if not engine.stdin.closed:
                engine.stdin.write(LOAD + b"run @0 60000\n")
                engine.stdin.close()
            return run_for.cpu_seconds(engine.pid) > 2.5

        argv = [harness.JITBPF, "record", "-F", "499", "-p", name, "--rotate", "1", "-o",
                os.path.join(self.folder, "out.jitbpf")]
        with subprocess.Popen(argv, stderr=subprocess.PIPE) as process:
            try:
                self.wait_for(lambda: any(file.startswith("out.") for file in
                                          os.listdir(self.folder)))
                self.wait_for(has_run)
            finally:
                process.terminate()
                stderr = process.communicate()[1]
        self.assertEqual(process.returncode, 0, stderr)
        parts = sorted(file for file in os.listdir(self.folder) if file.startswith("out."))
        self.assertGreater(len(parts), 1)
        sampled = 0
        for part in parts:
            run = harness.Run(self.folder, 0, b"", "")
            run.path = lambda _ending, part=part: os.path.join(self.folder, part)
            self.assertFalse(word.encode() in self.content(run))
            if run.summary()["samples"]["taken"] > 50:
                sampled += 1
                text = run.report("-f", "script", "--fields=+srcline").stdout
                for found in (b"Cls::chosenTop", b"chosenLeaf", b"mid.js:70"):
                    self.assertIn(found, text)
        self.assertGreater(sampled, 1)
