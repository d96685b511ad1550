# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""jitbpf list: processes with JIT code, and how they publish it."""

import json
import os
import subprocess
import sys

import harness
from stuck_fs import StuckFilesystem

ENVIRONMENT = {**os.environ, "INTEL_JIT_PROFILER64": harness.SHIM}
NOBODY = 65534

# Executable memory of a given size; file names of older tools.
GENERATED = """
import ctypes, mmap, os, sys, time
memory = mmap.mmap(-1, int(sys.argv[1]), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                   mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
for path in sys.argv[2:]:
    path = path.replace("PID", str(os.getpid()))
    with open(path, "w+b") as file:
        file.write(bytes(4096))
        file.flush()
        if path.endswith(".dump"):
            dump = mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE,
                             mmap.PROT_READ | mmap.PROT_EXEC)
print(flush=True)
time.sleep(60)
"""


PYTHON = {"name": "CPython", "version": "{}.{}.{}".format(*sys.version_info[:3])}


class List(harness.KernelTest):
    def start(self, command, wait=True, **kwargs):
        process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, **kwargs)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        if wait:
            process.stdout.readline()
        return process

    def list(self, *args, status=0, **kwargs):
        done = subprocess.run([harness.JITBPF, "list", *args], capture_output=True, check=False,
                              **kwargs)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def rows(self, pid, **kwargs):
        rows = json.loads(self.list("--json", "-p", str(pid), **kwargs)[0])["engines"]
        own = ("container", "unit", "cgroup") # of the test
        return [{key: row[key] for key in row if key not in own} for row in rows]

    def test_engine(self):
        """Counts live methods only."""
        process = self.start([harness.ENGINE, "storm", "--slots", "16", "--rate", "2000",
                              "--seconds", "60"], wait=False)
        row = self.wait_for(lambda: [r for r in self.rows(process.pid)
                                     if r.get("methods") == 16])[0]
        self.assertEqual(row, {"pid": process.pid, "comm": "jit-engine", "publishes": "journal",
                               "engine": "jit-engine", "methods": 16, "code_bytes": 16 * 64})

    def test_while_the_journal_is_compacted(self):
        """The journal is compacted all the time; dead methods are not counted."""
        process = self.start([harness.ENGINE, "loads", "--slots", "1000", "--rate", "0",
                              "--seconds", "60"], wait=False)
        self.wait_for(lambda: [r for r in self.rows(process.pid) if r.get("methods") == 1000])
        for _ in range(20):
            self.assertEqual([(r["publishes"], r.get("methods")) for r in self.rows(process.pid)],
                             [("journal", 1000)])

    @harness.needs_php_api
    def test_php(self):
        php = self.start(harness.php("tracing", 60), wait=False)
        row = self.wait_for(lambda: [r for r in self.rows(php.pid) if r.get("methods", 0) > 20])[0]
        self.assertEqual((row["engine"], row["publishes"]), ("opcache.so", "journal"))
        self.assertRegex(self.list()[0], rf"\n *{php.pid} +php +opcache.so +\d+ +[\d.]+ KB  .*shim, "
                                         "with a journal")

    def test_onednn(self):
        onednn = self.start([harness.ONEDNN, "60"], wait=False)
        row = self.wait_for(lambda: [r for r in self.rows(onednn.pid) if r.get("methods")])[0]
        self.assertRegex(row["engine"], r"^libdnnl\.so")
        self.assertRegex(self.list()[0], rf"\n *{onednn.pid} +onednn +libdnnl")

    def test_without_journal(self):
        process = subprocess.Popen([harness.ENGINE, "hot", "--seconds", "60"],
                                   env={**ENVIRONMENT, "JITBPF_JOURNAL_MB": "0"},
                                   stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        rows = self.wait_for(lambda: self.rows(process.pid))
        self.assertEqual([(r["publishes"], "methods" in r) for r in rows], [("shim", False)])

    def test_container(self):
        outer = self.start(["unshare", "-p", "-f", "--kill-child", harness.ENGINE, "hot",
                            "--seconds", "60"], wait=False)
        children = f"/proc/{outer.pid}/task/{outer.pid}/children"
        inner = int(self.wait_for(lambda: open(children, encoding="ascii").read()))
        row = self.wait_for(lambda: [r for r in self.rows(inner) if r.get("methods")])[0]
        self.assertEqual((row["pid_inside"], row["methods"]), (1, 1))
        self.assertRegex(self.list()[0], rf"\n *{inner} +\(1\) +jit-engine ")

    def test_jitdump(self):
        """Live methods, also those that are in the process's buffer only."""
        process = self.start([harness.ENGINE, "storm", "--slots", "16", "--rate", "2000",
                              "--seconds", "60", "--no-api", "--dump", self.folder], wait=False)
        row = self.wait_for(lambda: [r for r in self.rows(process.pid)
                                     if r.get("methods") == 16])[0]
        self.assertEqual(row, {"pid": process.pid, "comm": "jit-engine", "publishes": "jitdump",
                               "methods": 16, "code_bytes": 16 * 64})
        process = self.start([harness.ENGINE, "hot", "--seconds", "60", "--no-api", "--dump",
                              self.folder], wait=False)
        self.wait_for(lambda: [r for r in self.rows(process.pid) if r.get("methods") == 1])

    def test_node(self):
        process = self.start(["node", "--perf-prof", "-e", "while (true) ;"], wait=False,
                             cwd=self.folder)
        row = self.wait_for(lambda: [r for r in self.rows(process.pid)
                                     if r.get("methods", 0) > 500])[0]
        self.assertEqual((row["publishes"], row["engine"]), ("jitdump", "V8"))

    def test_that_publish_otherwise(self):
        files = ["/tmp/perf-PID.map", os.path.join(self.folder, "jit-PID.dump")]
        process = self.start([sys.executable, "-c", GENERATED, str(1 << 20), *files])
        self.addCleanup(os.unlink, f"/tmp/perf-{process.pid}.map")
        self.assertEqual([r["publishes"] for r in self.rows(process.pid)],
                         ["jitdump", "perf_map"])

    def test_perf_map_of_somebody_else(self):
        """Files of another user, links, and files older than the process do not count."""
        process = self.start([sys.executable, "-c", GENERATED, str(1 << 20)])
        path = f"/tmp/perf-{process.pid}.map"
        self.addCleanup(os.unlink, path)
        with open(path, "wb") as file:
            os.fchown(file.fileno(), NOBODY, NOBODY)
        self.assertEqual([r["publishes"] for r in self.rows(process.pid)], ["nothing"])
        os.chown(path, 0, 0)
        self.assertEqual([r["publishes"] for r in self.rows(process.pid)], ["perf_map"])
        os.utime(path, (1, 1))
        self.assertEqual([r["publishes"] for r in self.rows(process.pid)], ["nothing"])
        os.unlink(path)
        os.symlink("/etc/hostname", path)
        self.assertEqual([r["publishes"] for r in self.rows(process.pid)], ["nothing"])

    def test_that_publish_nothing(self):
        process = self.start([sys.executable, "-c", GENERATED, str(1 << 20)])
        small = self.start([sys.executable, "-c", GENERATED, "4096"])
        row = self.rows(process.pid)[0]
        self.assertEqual(row["publishes"], "nothing")
        self.assertGreaterEqual(row["executable_bytes"], 1 << 20)
        self.assertIn("jitbpf env", self.list("-p", str(process.pid))[1])
        # It has no JIT code; its functions need no publisher.
        row, = self.rows(small.pid)
        self.assertEqual(row["publishes"], "functions")
        self.assertEqual(row["runtimes"], [{**PYTHON, "functions": "shown"}])
        out = self.list("-p", str(small.pid))[0]
        self.assertRegex(out, rf"CPython +CPython {PYTHON['version']}: shown +-")
        idle = self.start(["sleep", "60"], wait=False)
        self.assertIn("no JIT code found", self.list("-p", str(idle.pid))[1])

    def test_functions(self):
        """Functions of a program with another name are found; a file system that does not answer
        takes nothing from other processes."""
        python = "/usr/bin/python3"  # Debian's has the interpreter in the program
        version = subprocess.check_output([python, "-V"], text=True).split()[1]
        with open(python, "rb") as file:
            program = file.read()
        folder = os.path.join(self.folder, "stuck")
        os.mkdir(folder)
        files = StuckFilesystem(folder, {"python3": program})
        self.addCleanup(files.close)
        renamed = os.path.join(self.folder, "renamed")
        with open(renamed, "wb") as file:
            file.write(program)
        os.chmod(renamed, 0o755)
        script = "import sys, time; print(flush=True); time.sleep(60)"
        stuck, other = (self.start(["env", "PYTHONHOME=/usr", path, "-c", script])
                        for path in (f"{folder}/python3", renamed))
        files.hang("open", stuck.pid)
        seen = self.list("--json", "-p", f"{stuck.pid},{other.pid}")[0]
        functions = {row["pid"]: row["runtimes"] for row in json.loads(seen)["engines"]}
        self.assertEqual(functions[other.pid],
                         [{"name": "CPython", "version": version, "functions": "shown"}])
        self.assertNotEqual(functions[stuck.pid][0].get("functions"), "shown")

    def test_without_root(self):
        """A user sees their own processes and journals; the others are counted."""
        engine, shim, jitbpf = self.copy_for_others(harness.ENGINE, harness.SHIM, harness.JITBPF)
        process = subprocess.Popen([engine, "hot", "--seconds", "60"], user=NOBODY, group=NOBODY,
                                   env={**os.environ, "INTEL_JIT_PROFILER64": shim},
                                   stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        row = self.wait_for(lambda: [r for r in self.rows(process.pid) if r.get("methods")])[0]
        nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "capture_output": True}
        done = subprocess.run([jitbpf, "list", "--json"], check=False, **nobody)
        self.assertEqual(done.returncode, 77)
        seen = json.loads(done.stdout)
        self.assertIn(row, seen["engines"])
        self.assertGreater(seen["processes_hidden"], 0)
        self.assertIn({"pid": 1, "why": "not permitted"}, seen["hidden"])
        done = subprocess.run([jitbpf, "list"], check=False, **nobody)
        self.assertEqual(done.returncode, 77)
        self.assertRegex(done.stderr.decode(), r"jitbpf: \d+ processes of other users, .*: use sudo to see them\n")
        done = subprocess.run([jitbpf, "list", "-p", "1"], check=False, **nobody)
        self.assertEqual((done.returncode, done.stdout), (77, b""))
        self.assertIn("jitbpf: process 1 could not be inspected: not permitted\n", done.stderr.decode())
        done = subprocess.run([jitbpf, "list", "-p", str(process.pid)], check=False, **nobody)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_names(self):
        """Names that processes choose are printed without control characters."""
        program = "import ctypes; ctypes.CDLL(None).prctl(15, b'a\\x1b[2J\\nb')\n" + GENERATED
        process = self.start([sys.executable, "-c", program, str(1 << 20)])
        self.assertEqual(self.rows(process.pid)[0]["comm"], "a\x1b[2J\nb")
        self.assertNotIn("\x1b", self.list("-p", str(process.pid))[0])

    def test_processes_of_a_name(self):
        """As `record -p NAME`: by name or program file, several processes."""
        (engine,) = self.copy_for_others(harness.ENGINE)
        named = os.path.join(os.path.dirname(engine), "a name of more than 15")
        os.rename(engine, named)
        pids = [self.start([named, "hot", "--seconds", "60"], wait=False).pid for _ in range(2)]
        for name in ("a name of more than 15", "a name of more "):
            rows = self.wait_for(lambda name=name: [row for row in self.rows(name) if row.get("methods")][1:] and self.rows(name))
            self.assertEqual(sorted(row["pid"] for row in rows), sorted(pids))
        self.assertIn("no process of the name 'a name' runs", self.list("-p", "a name", status=1)[1])

    def test_wrong_calls(self):
        self.assertIn("does not exist", self.list("-p", "4194304", status=1)[1])
        self.assertIn("select processes with -p", self.list("1", status=2)[1])
