# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Unusual lives of processes: their code keeps its names, and all samples are counted."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import harness
import recording
import runtime_truth

AS_SUDO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "as_sudo.py")

# The main thread exits alone; the process lives on longer than an exited one is remembered, and until
# it has taken some CPU time.
LEADER_EXITS = """
import ctypes, os, threading, time
def burn():
    end = time.monotonic() + 7
    while time.monotonic() < end or time.process_time() < 2:
        sum(range(100000))
    os._exit(0)
threading.Thread(target=burn).start()
ctypes.CDLL(None).syscall(60, 0)
"""

EXEC_IN_A_THREAD = """
import os, sys, threading
threading.Thread(target=lambda: os.execv(sys.argv[1], sys.argv[1:])).start()
threading.Event().wait()
"""

# 5,000 mappings of a file with a path of nearly 4 KB: 20 MB of /proc/PID/maps.
MANY_MAPPINGS = """
import ctypes, os, sys, time
os.chdir(sys.argv[1])
for _ in range(15):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
file = os.open("f", os.O_RDWR | os.O_CREAT)
os.ftruncate(file, 10000 * 4096)
mmap = ctypes.CDLL(None).mmap
mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
for page in range(0, 10000, 2):
    mmap(None, 4096, 5, 1, file, page * 4096)
print("mapped", flush=True)
while True:
    sum(range(100000))
"""

# Its exit takes time: many pages have to be freed one by one.
LARGE = """
import mmap, os
m = mmap.mmap(-1, 512 << 20)
m.madvise(15)  # MADV_NOHUGEPAGE
for at in range(0, len(m), 4096):
    m[at] = 1
os._exit(0)
"""


# Becomes one user after another without an exec. Waits between them, so that samples see each.
CHANGES_USER = """
import ctypes, os, sys, time
def burn():
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        pass
burn()
os.setresuid(12345, 12345, 0)
burn()
os.setresuid(0, 0, 0)
ready, go = os.pipe(), os.pipe()
child = os.fork()
if not child:
    # In a user namespace of user 12345, whose uid 5 is 100005.
    os.setresgid(12345, 12345, 12345)
    os.setresuid(12345, 12345, 12345)
    ctypes.CDLL(None).prctl(4, 1)
    assert not ctypes.CDLL(None).unshare(0x10000000)
    os.close(go[1])
    os.write(ready[1], b"x")
    assert os.read(go[0], 1)
    os.setresuid(5, 5, 5)
    burn()
    os._exit(0)
os.read(ready[0], 1)
with open(f"/proc/{child}/uid_map", "w") as uid_map:
    uid_map.write("0 100000 65536")
os.write(go[1], b"x")
os.wait()
"""

# User 12345 in as many nested user namespaces as the argument says.
NESTED_USER = """
import ctypes, os, sys, time
libc, user = ctypes.CDLL(None), 12345
os.setresgid(user, user, user)
os.setresuid(user, user, user)
libc.prctl(4, 1)
for _ in range(int(sys.argv[1])):
    assert not libc.unshare(0x10000000)
    for name, text in ("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {user} 1"):
        with open("/proc/self/" + name, "w") as file:
            file.write(text)
    user = 0
end = time.thread_time() + 0.3
while time.thread_time() < end:
    pass
"""


class Owners(harness.KernelTest):
    def owners(self, run):
        return recording.owners(run.path(".jitbpf"))

    def test_owner_of_a_process_and_its_changes(self):
        run = self.record([sys.executable, "-c", CHANGES_USER], ["-F", "499"])
        owners = self.owners(run)
        users = [(owner.uid, owner.charged_uid, owner.fs_uid) for owner in owners]
        self.assertIn((0, 0, 0), users)
        self.assertIn((12345, 12345, 12345), users)
        # The user who made the namespace answers for the uids in it.
        self.assertIn((100005, 12345, 100005), users)
        self.assertLess(len(owners), 15)
        self.assertEqual({owner.cgroup for owner in owners},
                         {os.stat("/sys/fs/cgroup" + line[3:].strip()).st_ino
                          for line in open("/proc/self/cgroup") if line.startswith("0::")})

    def test_nested_namespaces(self):
        for levels, charged in (8, 12345), (9, 0xfffffffe):
            run = self.record([sys.executable, "-c", NESTED_USER, str(levels)], ["-F", "499"])
            owners = [owner.charged_uid for owner in self.owners(run)]
            self.assertEqual(owners[-1], charged)
            self.assertLessEqual(set(owners), {0, 12345, charged})  # 12345: on the way there

    def test_owner_of_a_running_process(self):
        with subprocess.Popen(["setpriv", "--reuid", "12345", "sleep", "60"]) as process:
            self.addCleanup(process.kill)
            run = self.record(options=["-p", str(process.pid), "-d", "0.5"])
            process.kill()
        self.assertEqual([(owner.pid, owner.uid) for owner in self.owners(run)],
                         [(process.pid, 12345)])


class Lives(harness.KernelTest):
    def test_process_outlives_its_first_thread(self):
        run = self.record([sys.executable, "-c", LEADER_EXITS], ["-F", "199"])
        samples = run.script()
        self.assertGreater(len(samples), 200)
        self.assertLess(sum(map(recording.is_unknown, samples)), 0.01 * len(samples))
        self.check_ledger(run)

    @staticmethod
    def state(tid):
        with open(f"/proc/{tid}/task/{tid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0]

    def test_process_met_without_its_first_thread(self):
        with subprocess.Popen([sys.executable, "-c", LEADER_EXITS]) as process:
            self.wait_for(lambda: self.state(process.pid) == "Z")
            run = self.record_process(process.pid, 0.5, ["-F", "999"])
        samples = run.script()
        self.assertGreater(len(samples), 100)
        self.assertLess(sum(map(recording.is_unknown, samples)), 0.01 * len(samples))

    def test_thread_is_no_process(self):
        program = "import threading, time; " \
                  "threading.Thread(target=time.sleep, args=[20]).start(); print(flush=True)"
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        process.stdout.readline()
        thread = max(map(int, os.listdir(f"/proc/{process.pid}/task")))
        done = subprocess.run([harness.JITBPF, "record", "-p", str(thread), "-d", "1"],
                              capture_output=True, check=False, cwd=self.folder)
        process.kill()
        process.communicate()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.decode(), f"jitbpf: {thread} is a thread of process "
                                               f"{process.pid}: use that pid\n")

    def test_program_begun_by_a_thread(self):
        run = self.record([sys.executable, "-c", EXEC_IN_A_THREAD, harness.ENGINE, "hot",
                           "--seconds", "6", "--name", "hot_code"], ["-F", "199"])
        leaves = [harness.leaf_jit(s) for s in run.script() if s.comm == "jit-engine"]
        named = sum(1 for leaf in leaves if leaf and leaf.name == "hot_code")
        self.assertGreater(named, 0.95 * len(leaves))
        self.check_ledger(run)

    def test_end_of_a_large_process(self):
        run = self.record([sys.executable, "-c", LARGE], ["-F", "999"])
        ending = [s for s in run.script() if any(f.name == "exit_mmap" for f in s.frames)
                  and s.comm.startswith("python")]
        self.assertGreater(len(ending), 0)
        self.check_ledger(run)

    def test_exec_that_loads_its_program(self):
        """The registers are those of the program before, and say nothing of this one, until the
        kernel's start_thread() sets them: from there on they are at the entry of ld.so."""
        loop = "i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i + 1)); done"
        run = self.record(["sh", "-c", loop], ["-F", "9999"])
        loading = 0
        for comm, frames in runtime_truth.stacks(run.path(".txt")):
            names = [frame.name for frame in frames]
            if comm != "true" or "load_elf_binary" not in names:
                continue
            loading += 1
            user = [frame for frame in frames if frame.module != "[kernel.kallsyms]"]
            if user and names[0].startswith("start_thread"):
                self.assertIn("/ld-linux", user.pop().module, frames)
            self.assertEqual(user, [], frames)
        self.assertGreater(loading, 10)

    def test_short_processes_have_no_unknown_code(self):
        run = self.record(["sh", "-c", "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done"],
                          ["-F", "4999"])
        samples = run.script()
        self.assertGreater(len(samples), 500)
        self.assertLess(sum(map(recording.is_unknown, samples)), 0.01 * len(samples))
        self.assertEqual(self.check_ledger(run)["samples"]["lost"], 0)


class Endings(harness.KernelTest):
    def start(self, *args, **kwargs):
        return subprocess.Popen([harness.JITBPF, "record", *args], stderr=subprocess.PIPE,
                                cwd=self.folder, **kwargs)

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_publishing_without_pause_does_not_keep_it(self):
        run = self.record([harness.ENGINE, "loads", "--rate", "0", "--threads", "2", "--seconds",
                           "60"], ["-d", "2", "--code-ring", "1M"])
        summary = run.summary()
        self.assertGreater(summary["jit"]["methods"], 1000)
        self.check_ledger(run)

    def signal_the_start(self, number, *args):
        """Signals a run that catches signals and has not taken a sample yet. Returns its exit
        status and its messages."""
        def catches():
            with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                blocked = int(re.search(r"^SigBlk:\t(\w+)", file.read(), re.MULTILINE)[1], 16)
            return process.poll() is not None or blocked & 1 << number - 1

        for _ in range(10):
            process = self.start(*args, stdout=subprocess.PIPE)
            self.wait_for(catches, pause=0.001)
            process.send_signal(signal.SIGSTOP)
            began = os.path.exists(self.path("out.jitbpf"))  # so it has after the first sample
            process.send_signal(number)
            process.send_signal(signal.SIGCONT)
            out, messages = process.communicate()
            if not began:
                self.assertEqual(out, b"", "the command ran")
                return process.returncode, messages.decode()
            os.unlink(self.path("out.jitbpf"))
        return self.fail("no run was met before its first sample")

    def test_signal_before_the_first_sample(self):
        """With thousands of processes, the start takes seconds. A signal ends it, as it would have
        failed: no output is written, and older ones stay."""
        with open(self.path("out.folded"), "wb") as file:
            file.write(b"before")
        for number in (signal.SIGINT, signal.SIGTERM):
            status, messages = self.signal_the_start(
                number, "-o", "out.jitbpf", "-o", "out.folded", "--", "sh", "-c", "echo ran")
            self.assertEqual((status, messages), (
                1, "jitbpf: interrupted before the first sample: nothing is written\n"))
            self.assertEqual(sorted(os.listdir(self.folder)), ["out.folded"])
            with open(self.path("out.folded"), "rb") as file:
                self.assertEqual(file.read(), b"before")

    def test_second_interrupt_aborts(self):
        """The first interrupt writes the outputs; the second one abandons a command that does
        not end."""
        command = "import os, signal, time; signal.signal(15, signal.SIG_IGN); " \
                  "signal.signal(2, signal.SIG_IGN); print(os.getpid(), flush=True); time.sleep(60)"
        process = self.start("-o", "out.html", "--", sys.executable, "-c", command,
                             stdout=subprocess.PIPE)
        self.addCleanup(os.kill, int(process.stdout.readline()), signal.SIGKILL)
        process.send_signal(signal.SIGINT)
        self.wait_for(lambda: os.path.exists(self.path("out.html")))
        self.assertGreater(os.path.getsize(self.path("out.html")), 0)
        process.send_signal(signal.SIGINT)
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), -signal.SIGINT)
        process.stdout.close()

    @harness.alone
    def test_second_interrupt_keeps_what_is_complete(self):
        """One output goes to a reader that does not read; what was written before stays."""
        with open(self.path("later.txt"), "wb") as file:
            file.write(b"before")
        os.mkfifo(self.path("stuck.html"))
        reader = os.open(self.path("stuck.html"), os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
        process = self.start("-q", "-o", "out.jitbpf", "-o", "out.folded", "-o", "stuck.html",
                             "-o", "later.txt", "-a", "-d", "60")
        self.wait_for(lambda: os.path.exists(self.path("out.jitbpf")))
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        self.wait_for(lambda: os.path.exists(self.path("out.folded")))
        process.send_signal(signal.SIGINT)
        stderr = process.communicate()[1].decode()
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual(stderr.splitlines(), [
            "jitbpf: stuck.html is incomplete: interrupted",
            "jitbpf: later.txt is incomplete: interrupted; an older file of this name is unchanged"])
        with open(self.path("later.txt"), "rb") as file:
            self.assertEqual(file.read(), b"before")
        report = subprocess.run([harness.JITBPF, "report", "-f", "folded", self.path("out.jitbpf")],
                                capture_output=True, check=False)
        self.assertEqual((report.returncode, report.stderr), (0, b""))
        with open(self.path("out.folded"), "rb") as file:
            self.assertEqual(file.read(), report.stdout)
        self.assertEqual(sorted(os.listdir(self.folder)), ["later.txt", "out.folded", "out.jitbpf",
                                                           "stuck.html"])

    def test_hangup_under_nohup(self):
        process = self.start("-d", "2", "-o", "out.jitbpf", "-q", "-p", str(os.getpid()),
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        for _ in range(10):
            time.sleep(0.1)
            process.send_signal(signal.SIGHUP)
        stderr = process.communicate()[1]
        self.assertEqual((process.returncode, stderr), (0, b""))
        summary = harness.Run(self.folder, 0, b"", "").summary()
        self.assertGreater(summary["run"]["duration_ns"], 1900000000)

    def test_reader_that_goes_away(self):
        """Its output fails with a message; the other outputs are complete."""
        os.mkfifo(self.path("gone.txt"))
        process = self.start("-q", "-F", "999", "-o", "gone.txt", "-o", "out.folded", "--",
                             harness.ENGINE, "hot", "--seconds", "3", stdout=subprocess.DEVNULL)
        open(self.path("gone.txt"), "rb").close()
        stderr = process.communicate()[1]
        self.assertEqual((process.returncode, stderr),
                         (1, b"jitbpf: gone.txt is incomplete: Broken pipe; "
                             b"write elsewhere with -o\n"))
        self.assertGreater(os.path.getsize(self.path("out.folded")), 0)

    def test_full_disk(self):
        """Reported once, with the reason and the exit status; the other outputs are complete."""
        os.symlink("/dev/full", self.path("full.jitbpf"))
        process = self.start("-q", "-F", "499", "-o", "full.jitbpf", "-o", "out.folded", "--",
                             harness.ENGINE, "hot", "--seconds", "1", stdout=subprocess.DEVNULL)
        stderr = process.communicate()[1]
        self.assertEqual((process.returncode, stderr),
                         (1, b"jitbpf: full.jitbpf is incomplete: No space left on device; "
                             b"'jitbpf report' shows what it holds so far; free space there, or "
                             b"write elsewhere with -o\n"))
        self.assertGreater(os.path.getsize(self.path("out.folded")), 0)

    def test_report_writes_no_recording(self):
        run = self.record(["true"])
        before = open(run.path(".jitbpf"), "rb").read()
        done = run.report("-o", run.path(".jitbpf"))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"unknown extension of the output", done.stderr)
        self.assertEqual(open(run.path(".jitbpf"), "rb").read(), before)

    def test_under_sudo(self):
        """The command runs as the invoking user, who also owns the outputs."""
        os.chmod(self.folder, 0o777)
        shim = self.path("libjitbpf.so")
        shutil.copy(harness.SHIM, shim)
        os.chmod(shim, 0o600)
        process = subprocess.Popen([sys.executable, AS_SUDO, "nobody", harness.JITBPF, "record",
                                    "-q", "--shim", shim, "-o", "out.folded", "--", "sh", "-c",
                                    "id -u; id -G"], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        stdout, stderr = process.communicate()
        self.assertEqual((process.returncode, stdout), (0, b"65534\n65534\n"))
        self.assertIn(b"cannot read " + shim.encode(), stderr)
        self.assertEqual(os.stat(self.path("out.folded")).st_uid, 65534)

    def test_more_mappings_than_are_read(self):
        process = subprocess.Popen([sys.executable, "-c", MANY_MAPPINGS, self.folder],
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"mapped\n")
        run = self.record(options=["-F", "499", "-p", str(process.pid), "-d", "1"])
        self.assertEqual(self.check_ledger(run)["counters"]["maps_cut"], 1)
        self.assertIn("1  processes with mappings not read at the start", run.stderr)

    def test_status_of_the_command(self):
        for command, status in ((["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -9 $$"], 137),
                                (["/nonexistent"], 127), (["/etc/passwd"], 126)):
            self.record(command, ["-q"], status=status)
