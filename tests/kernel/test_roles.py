# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The processes of a recording and their privileges, as /proc shows them."""

import contextlib
import ctypes
import os
import re
import signal
import socket
import subprocess
import time

import run_for
from harness import ENGINE, JITBPF, WITH_CODE, KernelTest
from stuck_fs import StuckFilesystem

CAPABILITIES = {"CAP_DAC_OVERRIDE": 1, "CAP_DAC_READ_SEARCH": 2, "CAP_FOWNER": 3, "CAP_KILL": 5,
                "CAP_SETGID": 6, "CAP_SETUID": 7, "CAP_SYS_PTRACE": 19, "CAP_SYS_ADMIN": 21,
                "CAP_BPF": 39, "CAP_CHECKPOINT_RESTORE": 40}
OPENER = {"CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH", "CAP_CHECKPOINT_RESTORE"}

ROOT, RECORDER, FILES, ATTACH, SIGNAL, SERVE = 0, *range(2147480000, 2147480005)

# The user and group ID of each process when root has started it (user/agent/roles/identity.h).
IDS = {
    "jitbpf": RECORDER, "jitbpf-broker": ROOT, "jitbpf-files": FILES, "jitbpf-attach": ATTACH,
    "jitbpf-load": ROOT, "jitbpf-signal": SIGNAL, "jitbpf-read": RECORDER, "jitbpf-fetch": ROOT,
    "jitbpf-serve": SERVE, "jitbpf-top": RECORDER, "jitbpf-sources": RECORDER,
    "jitbpf-outputs": ROOT,
}

# The user is in the request for the process.
OF_USERS = {"jitbpf-as-user"}

# What each process may have, by its name, and the mode of seccomp.
ALLOWED = {
    "jitbpf": (set(), 2),
    "jitbpf-broker": (OPENER | {"CAP_SYS_ADMIN", "CAP_KILL", "CAP_SETUID", "CAP_SETGID"}, 0),
    "jitbpf-files": (OPENER, 2),
    "jitbpf-as-user": (set(), 2),
    "jitbpf-attach": ({"CAP_SYS_ADMIN"}, 2),
    "jitbpf-load": ({"CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH", "CAP_SETUID", "CAP_SETGID"}, 2),
    "jitbpf-signal": ({"CAP_KILL"}, 2),
    "jitbpf-read": (set(), 2),
    "jitbpf-fetch": (set(), 2),
    "jitbpf-serve": (set(), 2),
    "jitbpf-top": (set(), 2),
    "jitbpf-sources": ({"CAP_DAC_READ_SEARCH"}, 2),  # of root
    "jitbpf-outputs": ({"CAP_DAC_OVERRIDE", "CAP_FOWNER"}, 2),  # of root
}

# Those that every live recording of all has.
LIVE = {"jitbpf", "jitbpf-broker", "jitbpf-files", "jitbpf-serve", "jitbpf-sources", "jitbpf-read"}


def mask(names):
    return sum(1 << CAPABILITIES[name] for name in names)


def status(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def statuses(pids):
    """The status of each of these processes that has not ended meanwhile."""
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            yield status(pid)


def children(pid):
    try:
        tids = os.listdir(f"/proc/{pid}/task")
    except FileNotFoundError:
        return
    for tid in tids:
        begun = []
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
                open(f"/proc/{pid}/task/{tid}/children", encoding="ascii") as file:
            begun = [int(child) for child in file.read().split()]
        for child in begun:
            yield child
            yield from children(child)


class Exits:
    """Traces a process, and yields the status of each child that it starts, when this child exits:
    a child that lives for a millisecond is seen for certain, with its last privileges."""

    CONT, GETEVENTMSG, SEIZE = 7, 0x4201, 0x4206
    TRACE_FORK, TRACE_EXIT = 2, 0x40
    FORKED, EXITS = 1, 6  # events
    WALL = 0x40000000

    def __init__(self, pid):
        self.traced, self.pid = {pid}, pid
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.ptrace(self.SEIZE, pid, self.TRACE_FORK | self.TRACE_EXIT)

    def ptrace(self, request, pid, data):
        if self.libc.ptrace(request, pid, ctypes.c_void_p(0), ctypes.c_void_p(data)):
            raise OSError(ctypes.get_errno(), f"ptrace({request:#x}, {pid})")

    def stopped(self, pid, wait_status):
        """Continues a process. Returns its status if it is a child that exits."""
        event, number, seen = wait_status >> 16, os.WSTOPSIG(wait_status), None
        if event == self.FORKED:
            child = ctypes.c_ulong()
            self.ptrace(self.GETEVENTMSG, pid, ctypes.addressof(child))
            self.traced.add(child.value)
        if event == self.EXITS and pid != self.pid:
            seen = status(pid)
        with contextlib.suppress(ProcessLookupError):  # killed meanwhile
            self.ptrace(self.CONT, pid, 0 if event else number)
        return seen

    def until_end(self):
        """Goes on until the process and these children have ended."""
        while self.traced:
            for pid in list(self.traced):
                ended, wait_status = os.waitpid(pid, os.WNOHANG | self.WALL)
                if ended and os.WIFSTOPPED(wait_status):
                    seen = self.stopped(pid, wait_status)
                    if seen:
                        yield seen
                elif ended:
                    self.traced.remove(pid)
            time.sleep(0.001)


class Recording(KernelTest):
    """Starts and ends recordings whose processes are looked at."""

    def start(self, command=(), options=(), **kwargs):
        """Starts a recording, and returns it once it takes samples."""
        argv = self.record_argv(options, (".jitbpf",))
        recorder = subprocess.Popen([*argv, *(["--", *command] if command else [])],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        self.wait_for(self.takes_samples)
        return recorder

    def finish(self, recorder):
        recorder.send_signal(signal.SIGINT)
        stdout, stderr = recorder.communicate()
        return self.finished(recorder.returncode, stdout, stderr)

    def readers(self, recorder):
        """Waits until there are readers, and returns their pids."""
        return self.named(recorder, "jitbpf-read")

    def named(self, recorder, name):
        """Waits until the recorder has processes of a name, and returns their pids."""
        return self.wait_for(lambda: [int(one["Pid"]) for one in statuses(children(recorder.pid))
                                      if one["Name"] == name])


    def broker(self, recorder):
        """Waits for the broker. A process that it starts has its name at first."""
        return self.wait_for(lambda: next((int(one["Pid"]) for one in statuses(children(recorder.pid))
                                           if one["Name"] == "jitbpf-broker" and
                                           int(one["PPid"]) == recorder.pid), None))


class Roles(Recording):
    def check(self, seen, user=None):
        name = seen["Name"]
        self.assertIn(name, ALLOWED)
        capabilities, seccomp = ALLOWED[name]
        for field in ("CapPrm", "CapEff", "CapBnd"):
            extra = int(seen[field], 16) & ~mask(capabilities)
            self.assertEqual(extra, 0, f"{name}: {field} {seen[field]}")
        self.assertEqual(int(seen["CapInh"], 16) | int(seen["CapAmb"], 16), 0, name)
        for field in ("Uid", "Gid"):  # real, effective, saved, of the file system
            ids = seen[field].split()
            # Whose files another test has on FUSE is not known here.
            wanted = IDS.get(name, ids[0] if user is None else user)
            self.assertEqual(ids, [str(wanted)] * 4, f"{name}: {field}")
        if name in OF_USERS or IDS[name]:
            self.assertEqual(seen["Groups"].split(), [], name)
        self.assertEqual(int(seen["NoNewPrivs"]), 1, name)
        self.assertEqual(int(seen["Seccomp"]), seccomp, name)

    def complete(self, recorder):
        """Returns the status of each process of a live recording of all, or None before the last
        of them has begun and has dropped its privileges."""
        seen = list(statuses([recorder.pid, *children(recorder.pid)]))
        begun = all(int(one["Seccomp"]) == ALLOWED[one["Name"]][1] for one in seen)
        return seen if begun and LIVE <= {one["Name"] for one in seen} else None

    def test_privileges(self):
        """Each process has the privileges of its role, and no more."""
        engine = subprocess.Popen([ENGINE, "hot", "--seconds", "20", "--name", "hot"],
                                  stdout=subprocess.DEVNULL)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        recorder = self.start(options=["-a", "-F", "499", "--live"])
        seen = self.wait_for(lambda: self.complete(recorder))
        for one in seen:
            self.check(one)
        self.assertGreater(self.finish(recorder).summary()["samples"]["taken"], 0)

    def test_threads(self):
        """The threads of the recorder have no more than itself."""
        recorder = self.start(options=["-a"])
        for tid in os.listdir(f"/proc/{recorder.pid}/task"):
            self.check({**status(f"{recorder.pid}/task/{tid}"), "Name": "jitbpf"})
        self.finish(recorder)

    def test_hidden_processes(self):
        """With hidepid, the recorder keeps CAP_SYS_PTRACE: other users' processes have names."""
        program, = self.copy_for_others(ENGINE)
        engine = subprocess.Popen([program, "hot", "--seconds", "20", "--name", "hot"],
                                  stdout=subprocess.DEVNULL, user=1000, group=1000,
                                  extra_groups=[])
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        argv = ["unshare", "-m", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"',
                "sh", *self.record_argv(["-a", "-F", "499", "-d", "1"], (".jitbpf",))]
        done = subprocess.run(argv, capture_output=True, check=False)
        run = self.finished(done.returncode, done.stdout, done.stderr)
        process = next(one for one in run.summary()["processes"] if one["pid"] == engine.pid)
        self.assertEqual(process["comm"], "jit-engine")
        self.assertGreater(process["samples"]["taken"], 50)

    def test_command_of_another_user(self):
        """The command keeps the user's rights; jitbpf may end it, which root without CAP_KILL
        may not."""
        os.chmod(self.folder, 0o777)
        recorder = self.start(["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups",
                               "sleep", "60"], options=["-d", "1"])
        command, = self.named(recorder, "sleep")
        self.assertEqual(int(status(command)["NoNewPrivs"]), 0)
        self.assertEqual(status(command)["Seccomp"], "0")
        stdout, stderr = recorder.communicate()
        self.finished(recorder.returncode, stdout, stderr)
        self.assertFalse(os.path.exists(f"/proc/{command}"))

    def test_openers_of_users(self):
        """For files that the kernel refuses to all others, also if they are root's."""
        os.chmod(self.folder, 0o755)
        for user in (61234, 0):
            folder = os.path.join(self.folder, f"of_{user}")
            os.mkdir(folder)
            with open(ENGINE, "rb") as engine:
                files = StuckFilesystem(folder, {"engine": engine.read()}, user)
            self.addCleanup(files.close)
            busy = subprocess.Popen([f"{folder}/engine", "hot", "--seconds", "20"], user=user,
                                    group=user, stdout=subprocess.DEVNULL)
            self.addCleanup(busy.wait)
            self.addCleanup(busy.kill)
            recorder = self.start(options=["-p", str(busy.pid), "-F", "499"])
            for one in statuses(self.named(recorder, "jitbpf-as-user")):
                self.check(one, user)
            self.finish(recorder)

    def test_signaller(self):
        """It ends a command of another user, and lives no longer than that takes."""
        os.chmod(self.folder, 0o777)
        recorder = self.start(["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups",
                               "sleep", "60"])
        self.named(recorder, "sleep")
        exits = Exits(self.broker(recorder))
        recorder.send_signal(signal.SIGINT)
        seen = [one for one in exits.until_end() if one["Name"] == "jitbpf-signal"]
        self.assertEqual(len(seen), 1)
        self.check(seen[0])
        self.assertEqual(int(seen[0]["CapPrm"], 16), mask(["CAP_KILL"]))
        stdout, stderr = recorder.communicate()
        self.finished(recorder.returncode, stdout, stderr)

    def test_fetcher(self):
        """While it waits for a debuginfod server, which has accepted its connection."""
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        server.settimeout(60)
        program = os.path.join(self.folder, "busy")
        subprocess.run(["cc", "-x", "c", "-O1", "-s", "-Wl,--build-id", "-o", program, "-"],
                       check=True, input=LeastCapabilities.PROGRAM.encode())
        env = {**os.environ, "DEBUGINFOD_CACHE_PATH": os.path.join(self.folder, "cache"),
               "DEBUGINFOD_URLS": f"http://127.0.0.1:{server.getsockname()[1]}"}
        recorder = self.start([program], options=["-F", "999"], env=env)
        connection, _address = server.accept()
        seen = list(statuses(self.named(recorder, "jitbpf-fetch")))
        connection.close()
        server.close()
        self.assertTrue(seen)
        for one in seen:
            self.check(one)
        self.finish(recorder)


class Readers(Recording):
    """A reader that dies or hangs is replaced."""

    BUSY = ["python3", "-c", "import time\nwhile True:\n"
            "    for _ in range(10): sorted(str(i) for i in range(1000))\n"
            "    time.sleep(0.004)"]  # not all of the processor: there is a wait of seconds

    def left(self, recorder, readers):
        """Returns which readers live."""
        return {int(one["Pid"]) for one in statuses(children(recorder.pid))
                if one["State"][0] != "Z"} & set(readers)

    def check_named(self, recorder, failures):
        """Waits for samples that the next readers serve."""
        busy, = self.named(recorder, "python3")
        begin = run_for.cpu_seconds(busy)
        self.wait_for(lambda: run_for.cpu_seconds(busy) > begin + 1)
        run = self.finish(recorder)
        summary = self.check_ledger(run)
        self.assertGreaterEqual(summary["counters"]["readers_failed"], failures)
        self.assertIn("processes that parse files and failed", run.stderr)
        self.assertGreater(summary["samples"]["resolved"], 50)
        names = run.report("-f", "folded", *WITH_CODE).stdout.decode()
        self.assertIn("PyEval_EvalCode", names)

    def test_killed(self):
        recorder = self.start(self.BUSY, options=["-F", "499"])
        readers = self.readers(recorder)
        for pid in readers:
            os.kill(pid, signal.SIGKILL)
        self.wait_for(lambda: not self.left(recorder, readers))
        self.check_named(recorder, 1)

    def test_stopped(self):
        recorder = self.start(self.BUSY, options=["-F", "499"])
        readers = self.readers(recorder)
        for pid in readers:
            os.kill(pid, signal.SIGSTOP)
        # That of runtimes may be asked nothing more: then it is not missed.
        self.wait_for(lambda: len(self.left(recorder, readers)) <= 1)
        self.check_named(recorder, 1)


class LeastCapabilities(KernelTest):
    """What the openers' capabilities are for: a program of another user that is readable, or in a
    folder that only its owner may enter, or deleted."""

    PROGRAM = """
    #include <unistd.h>
    volatile unsigned long count;
    __attribute__((noinline)) void busy_in_file(void) { for (;;) count++; }
    int main(void) { alarm(30); busy_in_file(); }
    """
    NEEDED = ("SYS_ADMIN", "SYS_PTRACE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE")

    def start(self, name, mode, deleted):
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        program = os.path.join(folder, "busy")
        subprocess.run(["cc", "-x", "c", "-O1", "-static", "-o", program, "-"], check=True,
                       input=self.PROGRAM.encode())
        os.chown(folder, 1000, 1000)
        os.chmod(folder, mode)
        busy = subprocess.Popen([program], user=1000, group=1000, extra_groups=[])
        self.addCleanup(busy.wait)
        self.addCleanup(busy.kill)
        self.wait_for(lambda: status(busy.pid)["Name"] == "busy")
        if deleted:
            os.unlink(program)
        return busy.pid

    def named(self, without):
        """Returns which programs have names in a recording without a capability."""
        bounds = ",".join(f"+{name.lower()}" for name in self.NEEDED if name != without)
        output = os.path.join(self.folder, f"{without}.jitbpf")
        pids = ",".join(map(str, self.pids.values()))
        argv = ["setpriv", "--inh-caps=-all", f"--bounding-set=-all,{bounds}", JITBPF]
        subprocess.run([*argv, "record", "-q", "-F", "199", "-d", "1", "-p", pids, "-o", output],
                       check=True, timeout=60)
        folded = subprocess.run([JITBPF, "report", "-f", "folded", output], check=True,
                                stdout=subprocess.PIPE).stdout.decode()
        script = subprocess.run([JITBPF, "report", "-f", "script", output], check=True,
                                stdout=subprocess.PIPE).stdout.decode()
        self.assertIn("busy", folded)
        return {name for name, pid in self.pids.items()
                if re.search(rf"^busy +{pid}/.*\n([ \t].*\n)*[ \t].*busy_in_file", script,
                             re.MULTILINE)}

    def test_each(self):
        os.chmod(self.folder, 0o755)
        self.pids = {"readable": self.start("readable", 0o755, False),
                     "closed": self.start("closed", 0o700, False),
                     "deleted": self.start("deleted", 0o755, True)}
        self.assertEqual(self.named(None), {"readable", "closed", "deleted"})
        self.assertEqual(self.named("SYS_PTRACE"), set())
        self.assertEqual(self.named("DAC_READ_SEARCH"), {"readable"})
        self.assertEqual(self.named("CHECKPOINT_RESTORE"), {"readable", "closed"})
        doctor = subprocess.run(["setpriv", "--inh-caps=-all",
                                 "--bounding-set=-all,+sys_admin,+sys_ptrace", JITBPF, "doctor"],
                                check=False, stdout=subprocess.PIPE).stdout.decode()
        self.assertIn("missing: CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE", doctor)
