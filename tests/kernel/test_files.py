# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Files that do not answer, and files that are hard to find: no sample is lost."""

import collections
import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import run_for
from harness import BUILD, JITBPF, KernelTest, leaf_jit, run_tests
from stuck_fs import StuckFilesystem

NARROW = os.path.join(BUILD, "tests/programs/stacks/narrow")
PROGRAM = """
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
volatile unsigned long count;
__attribute__((noinline)) void busy_in_stuck_file(void) { for (;;) count++; }
static void rest(int signal) { for (;;) pause(); }
int main(void)
{
	/* The recorder takes less CPU time to begin, and much longer to give up files. */
	signal(SIGVTALRM, rest);
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value.tv_sec = 5}, 0);
	alarm(60);
	busy_in_stuck_file();
}
"""
CLOCK = """
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) void ask_the_clock(void)
{
	struct timespec now;
	for (;;)
		clock_gettime(CLOCK_MONOTONIC, &now);
}
int main(void) { alarm(60); ask_the_clock(); }
"""
MAPPER = """
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
volatile unsigned long count;
__attribute__((noinline)) void busy_in_mapped_file(void) { for (;;) count++; }
int main(int argc, char **argv)
{
	while (--argc)
		mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(argv[argc], O_RDONLY), 0);
	alarm(60);
	busy_in_mapped_file();
}
"""
# Copies its text to anonymous memory at the same addresses, as programs do that want large pages.
# "changed": the copy has other bytes in a function that is not called.
COPIER = """
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

volatile unsigned long count;
static char *start, *copy;
static size_t bytes;
__attribute__((noinline)) void busy_in_copied_text(void) { for (;;) count++; }
__attribute__((noinline)) void first_function(void) { count++; }
__attribute__((section("mover"), noinline)) void move(void)
{
	long result;
	register long flags __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	register long fd __asm__("r8") = -1;
	register long offset __asm__("r9") = 0;

	__asm__ volatile("syscall" : "=a"(result) : "0"(9l), "D"(start), "S"(bytes), "d"(7l),
			 "r"(flags), "r"(fd), "r"(offset) : "rcx", "r11", "memory");
	for (size_t i = 0; i < bytes; i++)
		((volatile char *)start)[i] = copy[i];
	__asm__ volatile("syscall" : "=a"(result) : "0"(10l), "D"(start), "S"(bytes), "d"(5l)
			 : "rcx", "r11", "memory");
}
int main(int argc, char **argv)
{
	start = (char *)strtoul(argv[1], 0, 16);
	bytes = strtoul(argv[2], 0, 16);
	copy = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(copy, start, bytes);
	if (argc > 3)
		copy[strtoul(argv[3], 0, 16)] ^= 1;
	move();
	alarm(60);
	busy_in_copied_text();
}
"""
FAR = 4 << 20  # bytes between what the program has read of itself and its section headers


class StuckFiles(KernelTest):
    user = None  # who alone can open the files

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        source, program = (os.path.join(self.folder, name) for name in ("busy.c", "busy"))
        with open(source, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        subprocess.run(["cc", "-O1", "-fno-omit-frame-pointer", "-static", "-Wl,--build-id", "-o",
                        program, source], check=True)
        with tempfile.NamedTemporaryFile() as padding:
            padding.truncate(FAR)
            subprocess.run(["objcopy", "--add-section", f".padding={padding.name}", program],
                           check=True)
        self.mount = os.path.join(self.folder, "mnt")
        os.mkdir(self.mount)
        with open(program, "rb") as file:
            self.files = StuckFilesystem(self.mount, {"busy": file.read()}, self.user)
        self.addCleanup(self.files.close)
        self.program = os.path.join(self.mount, "busy")

    def start(self):
        busy = subprocess.Popen([self.program], user=self.user, group=self.user)
        self.addCleanup(busy.wait)
        self.addCleanup(busy.kill)
        # It is in its loop, and has read what it needs.
        self.wait_for(lambda: run_for.cpu_seconds(busy.pid) > 0.1)
        return busy

    def record_for_a_second(self, pid, **kwargs):
        """Records a process for so long, and until it has taken some CPU time."""
        begin = []

        def took():
            begin[:] = begin or (time.monotonic(), run_for.cpu_seconds(pid))
            return time.monotonic() - begin[0] > 1 and run_for.cpu_seconds(pid) - begin[1] > 0.2

        return self.record_until(took, ["-F", "499", "-p", str(pid)], **kwargs)

    def check_named_by_file(self, run, pid, named):
        self.check_ledger(run)
        samples = [sample for sample in run.script() if sample.pid == pid]
        self.assertGreater(len(samples), 10)
        text = open(run.path(".txt"), encoding="utf-8", errors="replace").read()
        self.assertIn(self.program, text)
        self.assertEqual("busy_in_stuck_file" in text, named)

    def test_answers(self):
        """The file system answers: its files are read."""
        busy = self.start()
        run = self.record_for_a_second(busy.pid)
        self.check_named_by_file(run, busy.pid, True)
        self.assertNotIn("no answer", run.stderr)
        self.assertEqual(run.summary()["counters"]["files_unanswered"], 0)

    def check_hang(self, what, **kwargs):
        busy = self.start()
        self.files.hang(what, busy.pid)
        run = self.record_for_a_second(busy.pid, **kwargs)
        self.check_named_by_file(run, busy.pid, False)
        self.assertTrue(self.files.hung, "no access hung, so the test shows nothing")
        said = run.stderr.count("jitbpf: no answer in time from " + self.program)
        self.assertEqual(said, 1)  # one message, from any of the threads
        if what != "read":  # otherwise the page cache has what another thread has read
            self.assertGreaterEqual(run.summary()["counters"]["files_unanswered"], 1)

    def test_hanging_lookup(self):
        """The file is opened by its mapping, without a look-up of its path. Those of its debug
        file hang. Each takes its whole time limit, so the name comes late in the run."""
        busy = self.start()
        self.files.hang("lookup", busy.pid)
        run = self.record(options=["-F", "499", "-p", str(busy.pid), "-d", "3"])
        self.check_named_by_file(run, busy.pid, True)

    def test_hanging_open(self):
        self.check_hang("open")

    def test_ends_where_alarms_were_ignored(self):
        """A helper that hangs is abandoned after a second, even if SIGALRM was ignored."""
        self.check_hang("open", preexec_fn=lambda: signal.signal(signal.SIGALRM, signal.SIG_IGN))

    def test_hanging_read(self):
        self.check_hang("read")

    def test_hanging_close(self):
        self.check_hang("flush")


class FilesOfAUser(StuckFiles):
    """The same without allow_other, as AppImages are mounted: the kernel refuses the files to
    root."""

    user = 61234


class FilesOfRoot(StuckFiles):
    """The same of root: no opener has root's ID."""

    user = 0


class DirectFiles(KernelTest):
    """Which files jitbpf reads itself, and which only through a helper process."""

    def setUp(self):
        super().setUp()
        self.program = os.path.join(self.folder, "busy")
        subprocess.run(["cc", "-x", "c", "-O1", "-static", "-o", self.program, "-"],
                       input=PROGRAM.encode(), check=True)

    def mount(self, name, *options):
        """Returns a directory with a mounted file system."""
        folder = os.path.join(self.folder, name)
        os.makedirs(folder)
        subprocess.run(["mount", *options, folder], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", folder], check=True)
        return folder

    def is_direct(self, program):
        """Returns whether jitbpf keeps a running program open for reading, not with O_PATH."""
        busy = subprocess.Popen([program])
        self.addCleanup(busy.wait)
        self.addCleanup(busy.kill)
        path = os.path.join(self.folder, "out.jitbpf")
        with subprocess.Popen([JITBPF, "record", "-p", str(busy.pid), "-o", path],
                              stderr=subprocess.DEVNULL) as recorder:
            try:
                flags = self.flags_of(recorder, program)
                self.wait_for(self.takes_samples)
            finally:
                recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.returncode, 0)
        self.assertEqual(flags & os.O_ACCMODE, os.O_RDONLY)
        return not flags & os.O_PATH

    def flags_of(self, recorder, program):
        """Returns the flags of the recorder's descriptor of the program, once it is open. While
        the file is looked for, there is one with O_PATH: another may follow within a second."""
        folder, flags = f"/proc/{recorder.pid}/", None
        patience = run_tests.Patience(30)
        while patience.left() > 0:
            for fd in os.listdir(folder + "fd"):
                with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                    if os.readlink(f"{folder}fd/{fd}") == program:
                        with open(f"{folder}fdinfo/{fd}", encoding="ascii") as info:
                            found = int(re.search(r"flags:\s*(\d+)", info.read())[1], 8)
                        if not found & os.O_PATH:
                            return found
                        patience = run_tests.Patience(1) if flags is None else patience
                        flags = found
            time.sleep(0.01)
        self.assertIsNotNone(flags, "the program was never met")
        return flags

    def test_memory(self):
        self.assertTrue(self.is_direct(shutil.copy(self.program, self.mount(
            "memory", "-t", "tmpfs", "none"))))

    def test_fuse(self):
        folder = os.path.join(self.folder, "fuse")
        os.mkdir(folder)
        with open(self.program, "rb") as file:
            files = StuckFilesystem(folder, {"busy": file.read()})
        self.addCleanup(files.close)
        self.assertFalse(self.is_direct(os.path.join(folder, "busy")))

    def test_overlay(self):
        """overlayfs does not tell its lower file system, even if that is in memory."""
        memory = self.mount("memory", "-t", "tmpfs", "none")
        lowest, lower = (os.path.join(memory, name) for name in ("lowest", "lower"))
        os.mkdir(lowest)
        os.mkdir(lower)
        shutil.copy(self.program, lower)
        folder = self.mount("overlay", "-t", "overlay", "none", "-o", f"lowerdir={lower}:{lowest}")
        self.assertFalse(self.is_direct(os.path.join(folder, "busy")))

    def test_loop_device(self):
        """The backing file may be on a hanging file system."""
        image = os.path.join(self.folder, "image")
        with open(image, "wb") as file:
            file.truncate(16 << 20)
        subprocess.run(["mkfs.ext4", "-q", image], check=True)
        folder = self.mount("loop", "-o", "loop", image)
        self.assertFalse(self.is_direct(shutil.copy(self.program, folder)))

    def test_disk(self):
        """In the directory of temporary files, wherever that is."""
        kind = subprocess.run(["stat", "-f", "-c", "%T", self.program], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
        device = os.stat(self.program).st_dev
        disk = os.path.realpath(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
        parts = os.path.join(disk, "slaves")
        on_disk = os.path.exists(disk) and ("/virtual/" not in disk or
                                            (os.path.exists(parts) and bool(os.listdir(parts))))
        self.assertEqual(self.is_direct(self.program),
                         kind == "tmpfs" or (kind in ("ext2/ext3", "xfs") and on_disk))


class StrayDebugInfo(KernelTest):
    """A program whose debug info path hangs, beside a program with proper debug info."""

    def setUp(self):
        super().setUp()
        self.stuck = os.path.join(self.folder, "stuck")
        os.mkdir(self.stuck)
        self.files = StuckFilesystem(self.stuck, {"some.debug": b"none"})
        self.addCleanup(self.files.close)
        self.files.hang("lookup", None)

    def build(self, name):
        """With a build ID of its own: tests that run beside this one install debug info, too."""
        path = os.path.join(self.folder, name)
        source = PROGRAM.replace("__attribute__", "static __attribute__") \
                        .replace("busy_in_stuck_file", f"busy_{name}") + \
            f'const char folder[] = "{self.folder}";\n'
        subprocess.run(["cc", "-x", "c", "-O1", "-g", "-static", "-Wl,--build-id", "-o", path, "-"],
                       input=source.encode(), check=True)
        return path

    def install_debug_info(self, program):
        """Installs the debug info at its regular path; the program's names are only there."""
        notes = subprocess.run(["readelf", "-n", program], check=True, text=True,
                               stdout=subprocess.PIPE).stdout
        build_id = re.search("Build ID: ([0-9a-f]+)", notes)[1]
        path = f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run(["objcopy", "--only-keep-debug", program, path], check=True)
        self.addCleanup(os.unlink, path)
        subprocess.run(["strip", program], check=True)

    def check_others_are_named(self, stray):
        honest = self.build("honest")
        self.install_debug_info(honest)
        # In the root of that program there is no debug info, so ours is used.
        # Each runs until it has taken one second of CPU time.
        wait = f"{sys.executable} {os.path.join(os.path.dirname(__file__), 'takes.py')} $! 1; "
        script = f"{stray} & {wait}" \
                 f"unshare --mount sh -c 'mount -t tmpfs none /usr/lib/debug; exec {honest}' & " \
                 f"{wait} kill $(jobs -p)"
        run = self.record(["bash", "-c", script], ["-F", "999"])
        self.check_ledger(run)
        with open(run.path(".txt"), encoding="utf-8", errors="replace") as file:
            text = file.read()
        self.assertIn(stray, text)
        self.assertTrue(self.files.hung, "no access hung, so the test shows nothing")
        self.assertIn("jitbpf: no answer in time from", run.stderr)
        self.assertTrue("busy_honest" in text, "/usr/lib/debug was given up, too")

    def check_stray(self, before):
        stray = self.build("stray")
        section = os.path.join(self.folder, "section")
        with open(section, "wb") as file:
            file.write(f"{before}{self.stuck}/some.debug".encode() + bytes(1) + bytes(range(20)))
        subprocess.run(["objcopy", "--add-section", f".gnu_debugaltlink={section}", stray],
                       check=True)
        self.check_others_are_named(stray)

    def test_elsewhere(self):
        self.check_stray("")

    def test_by_climbing(self):
        """The start of a path with ".." does not matter."""
        self.check_stray("/usr/lib/debug/../../..")


class FoundFiles(KernelTest):
    """Files that are not at their path, and more files than may be open."""

    def setUp(self):
        super().setUp()
        self.program = self.build("busy", PROGRAM)

    def build(self, name, source):
        path = os.path.join(self.folder, name)
        subprocess.run(["cc", "-x", "c", "-O1", "-fno-omit-frame-pointer", "-Wl,--build-id", "-o",
                        path, "-"], input=source.encode(), check=True)
        return path

    def start(self, *command):
        """Returns the process once it has taken so much CPU time that it is in its loop."""
        busy = subprocess.Popen(command)
        self.addCleanup(busy.wait)
        self.addCleanup(busy.kill)
        self.wait_for(lambda: run_for.cpu_seconds(busy.pid) > 0.3)
        return busy

    def check_named(self, pid, name, **kwargs):
        """Each user frame of the process is in the function of that name."""
        run = self.record_process(pid, 0.5, ["-F", "499"], **kwargs)
        self.check_ledger(run)
        leaves = collections.Counter(frame.name for frame in map(leaf_jit, run.script()) if frame)
        self.assertGreater(leaves[name], 50)
        self.assertEqual(set(leaves), {name}, leaves)

    def test_deleted(self):
        busy = self.start(self.program)
        os.unlink(self.program)
        self.check_named(busy.pid, "busy_in_stuck_file")

    def test_replaced(self):
        busy = self.start(self.program)
        os.unlink(self.program)
        self.build("busy", PROGRAM.replace("busy_in_stuck_file", "another_program"))
        self.check_named(busy.pid, "busy_in_stuck_file")

    def test_in_another_mount_namespace(self):
        busy = self.start("unshare", "--mount", "sh", "-c",
                          f"mount -t tmpfs none /mnt && cp {self.program} /mnt/busy && "
                          "exec /mnt/busy")
        self.assertFalse(os.path.exists("/mnt/busy"))
        self.check_named(busy.pid, "busy_in_stuck_file")

    def test_of_others(self):
        """Short processes of another mount namespace, whose file is another one here: that is no
        replaced file, whichever processes are chosen."""
        other = os.path.join(self.folder, "other")
        shutil.copy("/bin/true", other)
        shutil.copy("/bin/true", self.program)
        self.start("unshare", "--mount", "sh", "-c",
                   f"mount --bind {other} {self.program} && while :; do {self.program}; done")
        for choice in ((), ("-p", "sleep"), ("-a",)):
            with self.subTest(choice):
                run = self.record(["sleep", "1"], choice)
                self.assertEqual(run.summary()["counters"]["files_unverified"], 0, run.stderr)

    def test_few_descriptors(self):
        """Fewer descriptors than files: the latest files are found again by path."""
        names = [os.path.join(self.folder, f"{number}") for number in range(300)]
        for name in names:
            with open(name, "wb") as file:
                file.write(bytes(4096))
        busy = self.start(self.build("mapper", MAPPER), self.program, *names)
        few = 90 + 10 * os.cpu_count()
        self.check_named(busy.pid, "busy_in_mapped_file",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                               (few, few)))

    def test_vdso(self):
        busy = self.start(self.build("clock", CLOCK))
        run = self.record_process(busy.pid, 0.5, ["-F", "499"])
        inside = [line.split()[1] for line in open(run.path(".txt"), encoding="utf-8")
                  if line.startswith("\t") and line.rstrip().endswith("([vdso])")]
        self.assertGreater(len(inside), 3)
        self.assertTrue(all("clock_gettime" in name for name in inside), set(inside))


class Narrow(KernelTest):
    """A 32-bit program: its functions, and those of the vDSO of such programs, have names."""

    def test_names(self):
        run = self.record([NARROW], ["-F", "999", "-d", "1"])
        frames = [line.split(None, 1)[1] for line in open(run.path(".txt"), encoding="utf-8")
                  if line.startswith("\t") and NARROW in line or "([vdso" in line]
        names = {frame.split("+")[0] for frame in frames if NARROW in frame}
        self.assertLessEqual(names, {"_start", "begin", "act", "outer", "recurse", "realigned",
                                     "call_back", "leaf", "ask", "system_call", "on_tick", "on_old",
                                     "on_own", "handle", "restore", "restorer"})
        self.assertGreaterEqual(names, {"_start", "begin", "outer", "handle"})
        inside = {frame.split("+")[0] for frame in frames if NARROW not in frame}
        # The byte before a signal trampoline, where handlers return to, belongs to no function.
        self.assertLessEqual(inside, {"__kernel_vsyscall", "__kernel_sigreturn",
                                      "__kernel_rt_sigreturn", "[unknown] ([vdso32])\n"})
        self.assertIn("__kernel_vsyscall", inside)


class CopiedText(KernelTest):
    """A program whose text is a copy in anonymous memory, at the same addresses. If one byte
    differs, its code is unknown."""

    def setUp(self):
        super().setUp()
        self.program = os.path.join(self.folder, "copier")
        with open(self.program + ".c", "w", encoding="ascii") as file:
            file.write(COPIER)
        # The function that copies has a segment of its own, so that it is not replaced.
        subprocess.run(["cc", "-O1", "-no-pie", "-static", "-Wl,--build-id", "-Wl,-z,separate-code",
                        "-Wl,--section-start=mover=0x8000000", "-o", self.program,
                        self.program + ".c"], check=True)
        headers = subprocess.run(["readelf", "-lW", self.program], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
        text = next(line.split() for line in headers.splitlines()
                    if line.split()[:1] == ["LOAD"] and " R E " in line)
        start, size = int(text[2], 16), int(text[4], 16)
        self.start_address, self.size = start, (size + 4095) & ~4095
        # One byte, of code that does not run, and at neither end.
        self.changed = hex(self.size // 3)

    def argv(self, offset, size, *more):
        return [self.program, hex(self.start_address + offset), hex(size), *more]

    def check_run(self, run, pid, is_named):
        self.check_ledger(run)
        leaves = collections.Counter(
            "busy_in_copied_text" in str(sample) for sample in run.script() if sample.pid == pid)
        self.assertGreater(sum(leaves.values()), 10)
        named = leaves[True] / sum(leaves.values())
        if is_named:
            self.assertGreater(named, 0.8, run.stderr)
        else:
            self.assertEqual(named, 0, run.stderr)

    def is_moved(self, pid):
        with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
            return any(line.startswith(f"{self.start_address:08x}-") and " r-xp " in line and
                       self.program not in line for line in file)

    def late(self, *argv):
        busy = subprocess.Popen(argv)
        self.addCleanup(busy.wait)
        self.addCleanup(busy.kill)
        self.wait_for(lambda: run_for.cpu_seconds(busy.pid) > 0.1 and self.is_moved(busy.pid))
        return busy, self.record_process(busy.pid, 0.3, ["-F", "499"])

    def test_late(self):
        """All of the text was copied before the run: no other text of the file is near."""
        busy, run = self.late(*self.argv(0, self.size))
        self.check_run(run, busy.pid, True)

    def test_late_changed(self):
        busy, run = self.late(*self.argv(0, self.size, self.changed))
        self.check_run(run, busy.pid, False)

    def live(self, *argv):
        run = self.record([sys.executable, run_for.__file__, "1", *argv], ["-F", "499"])
        return run, next(sample.pid for sample in run.script() if sample.comm == "copier")

    def test_live(self):
        run, pid = self.live(*self.argv(0, self.size))
        self.check_run(run, pid, True)

    def test_live_changed(self):
        run, pid = self.live(*self.argv(0, self.size, self.changed))
        self.check_run(run, pid, False)
