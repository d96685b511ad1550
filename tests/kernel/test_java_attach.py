# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Java: the agent is loaded into running JVMs, whoever runs them and wherever, and into nothing
else."""

import os
import shutil
import signal
import subprocess
import sys
import unittest

import harness
import jdks
import test_roles

AGENT = os.path.join(os.path.dirname(harness.SHIM), "libjitbpf-jvmti.so")
WORKLOADS = os.path.join(harness.ROOT, "tests/programs/workloads")
FAKE = os.path.join(WORKLOADS, "fake_jvm.py")
SPACE = os.path.join(WORKLOADS, "user_space.py")
TAKES = os.path.join(harness.ROOT, "tests/kernel/takes.py")
USER = 61234  # of nobody else
LOADED = "the agent is loaded"


@unittest.skipUnless(os.path.exists(AGENT), "built without a JDK: there is no libjitbpf-jvmti.so")
@jdks.needs_jdk
class Attached(harness.KernelTest):
    JDK = jdks.JDK
    hides_tmp = True

    def setUp(self):
        # JVMs of tests that run beside this one have files of the same names in theirs.
        self.mount("/tmp", "tmpfs", "-o", "mode=1777")
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.compile_java([os.path.join(WORKLOADS, "Fill.java")])
        self.java = [os.path.join(self.JDK, "bin/java")]
        self.fill = ["-cp", self.folder, "Fill"]

    def start(self, command, output=subprocess.DEVNULL, **kwargs):
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, **kwargs)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_java(self, *options, **kwargs):
        """Starts a JVM that runs for long, and returns it once it is ready."""
        process = self.start([*self.java, *options, *self.fill, "1000000"], **kwargs)
        self.wait_for(lambda: self.has_thread(process.pid, "C2 CompilerThre"))
        return process

    @staticmethod
    def has_thread(pid, name):
        for tid in os.listdir(f"/proc/{pid}/task"):
            try:
                with open(f"/proc/{pid}/task/{tid}/comm", encoding="utf-8") as file:
                    if file.read() == name + "\n":
                        return True
            except OSError:
                pass
        return False

    def attach(self, pid, options=(), **kwargs):
        """Records a JVM. Afterwards it is stopped until its next recording: it would take the
        processors from the tests beside this one."""
        os.kill(pid, signal.SIGCONT)
        run = self.record_process(pid, 0.7, ["-F", "499", "--merge=tables", *options],
                                  endings=(".jitbpf", ".folded"), **kwargs)
        os.kill(pid, signal.SIGSTOP)
        return run

    @staticmethod
    def named(run):
        """Returns the share of samples in which a frame has the name of the program's method."""
        stacks = run.folded()
        return (sum(count for stack, count in stacks.items() if "Fill." in stack) /
                max(sum(stacks.values()), 1))

    def check_named(self, run):
        self.assertIn(LOADED, run.stderr)
        self.assertGreater(self.named(run), 0.95, run.stderr)
        self.assertEqual(self.check_ledger(run)["jit"]["sequence_gaps"], 0)

    @staticmethod
    def left(folder="/tmp"):
        return [name for name in os.listdir(folder)
                if name.startswith((".attach_pid", "libjitbpf-jvmti"))]

    def check_nothing_left(self, folder="/tmp"):
        self.assertEqual(self.left(folder), [])

    def hidden_shim(self):
        """Returns a copy of the shim, with an agent beside it, that other users cannot reach."""
        hidden = os.path.join(self.folder, "hidden")
        os.mkdir(hidden, 0o700)
        shutil.copy(AGENT, hidden)
        return shutil.copy(harness.SHIM, hidden)

    def make_root(self):
        """Makes a root without the agent, and returns it."""
        root = os.path.join(self.folder, "root")
        for name in ("usr", "lib", "lib64", "etc", "dev", "proc", "tmp", "app"):
            os.makedirs(os.path.join(root, name))
            if name not in ("proc", "tmp", "app"):
                subprocess.run(["mount", "--rbind", "/" + name, os.path.join(root, name)],
                               check=True)
                self.addCleanup(subprocess.run, ["umount", "-l", os.path.join(root, name)],
                                check=False)
        os.chmod(os.path.join(root, "tmp"), 0o1777)
        shutil.copy(os.path.join(self.folder, "Fill.class"), os.path.join(root, "app"))
        return root

    def mount(self, folder, kind, *options):
        subprocess.run(["mount", "-t", kind, *options, "none", folder], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", folder], check=False)


class Late(Attached):
    """`record -p` of JVMs that run already."""

    def test_late(self):
        process = self.start_java()
        run = self.attach(process.pid)
        self.check_named(run)
        self.assertIn("few of its inlined methods", run.stderr)
        self.check_nothing_left()
        # The agent stays, and its journal has the code.
        again = self.attach(process.pid)
        self.assertNotIn("agent", again.stderr)
        self.assertGreater(self.named(again), 0.95, again.stderr)

    def test_list(self):
        """Before the agent, `list` says how it comes; then it counts the methods."""
        process = self.start_java()
        listed = self.listed(process.pid)
        self.assertRegex(listed.stdout, rf"(?m)^ *{process.pid} +java +Java +[\d.]+ MB "
                                        r"+Java [\d.]+: shown +nothing\b")
        self.assertIn("Java: a JVM publishes its code with our agent: 'record' loads it",
                      listed.stderr)
        self.attach(process.pid)
        listed = self.listed(process.pid)
        self.assertRegex(listed.stdout,
                         rf"(?m)^ *{process.pid} +java +Java +\d\d\d .* agent for Java$")
        self.assertEqual(listed.stderr, "")
        self.assertGreater(self.methods(process.pid), 200)

    def check_found(self, run):
        """The agent has published nothing: the code was found in the memory of the JVM."""
        self.assertGreater(self.named(run), 0.9, run.stderr)
        jit = run.summary()["jit"]
        self.assertEqual((jit["published_jvmti"], jit["published_memory"]), (0, jit["methods"]))

    @staticmethod
    def listed(pid):
        return subprocess.run([harness.JITBPF, "list", "-p", str(pid)], check=True,
                              capture_output=True, text=True)

    def test_without_attaching(self):
        process = self.start_java()
        run = self.attach(process.pid, ["--no-attach-jvms"])
        self.check_found(run)
        self.assertNotIn(LOADED, run.stderr)
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
            self.assertNotIn("jitbpf", maps.read())

    def test_all_inlined_methods(self):
        process = self.start_java("-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints")
        run = self.attach(process.pid)
        self.check_named(run)
        self.assertNotIn("few of its inlined methods", run.stderr)
        inlined = sum(count for stack, count in run.folded().items()
                      if "Fill.inlinedHelper_[i]" in stack)
        self.assertGreater(inlined, 0.8 * sum(run.folded().values()))

    def test_two_recordings(self):
        """Both load an agent, of two files, at once: the JVM reports its methods once."""
        process = self.start_java(user=USER, group=USER, extra_groups=[])
        other = os.path.join(self.folder, "other.jitbpf")
        with subprocess.Popen([harness.JITBPF, "record", "-p", str(process.pid), "-d", "3", "-F",
                               "99", "--shim", self.hidden_shim(), "-o", other],
                              stderr=subprocess.PIPE, text=True) as beside:
            run = self.record_process(process.pid, 0.7, ["-F", "499"], (".jitbpf", ".folded"))
            self.assertNotIn("not loaded", beside.communicate()[1])
        self.assertGreater(self.named(run), 0.9, run.stderr)
        self.assertEqual(self.check_ledger(run)["jit"]["sequence_gaps"], 0)
        listed = self.listed(process.pid).stdout
        self.assertEqual(listed.count("agent for Java"), 1, listed)
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
            self.assertEqual(len({line.split()[4] for line in maps
                                  if "jitbpf-journal-jvm" in line}), 1)

    def test_signals_not_caught(self):
        """With -Xrs, SIGQUIT would end the JVM. It listens from its start."""
        process = self.start_java("-Xrs")
        self.check_named(self.attach(process.pid))
        self.assertIsNone(process.poll())

    def test_disabled(self):
        output = os.path.join(self.folder, "said")
        with open(output, "wb") as file:
            process = self.start_java("-XX:+DisableAttachMechanism", output=file)
        run = self.attach(process.pid)
        self.assertIn("not loaded: it runs with -XX:+DisableAttachMechanism", run.stderr)
        self.assertIsNone(process.poll())
        with open(output, "rb") as file:
            self.assertEqual(file.read(), b"")  # no dump of its threads

    def test_no_agent(self):
        """As jitbpf is built without a JDK."""
        shim = os.path.join(self.folder, "libjitbpf.so")
        shutil.copy(harness.SHIM, shim)
        process = self.start_java()
        run = self.attach(process.pid, ["--shim", shim])
        self.assertIn("not loaded: libjitbpf-jvmti.so is not beside libjitbpf.so", run.stderr)
        self.check_found(run)

    def test_dynamic_agents_forbidden(self):
        process = self.start_java("-XX:-EnableDynamicAgentLoading")
        run = self.attach(process.pid)
        self.assertRegex(run.stderr, "not loaded: it refused: .*not enabled")
        self.assertIsNone(process.poll())

    def test_frozen_cgroup(self):
        """No signal is sent that the JVM would take for the wish of a dump once it is thawed."""
        cgroups = os.path.join(self.folder, "cgroups")
        os.mkdir(cgroups)
        self.mount(cgroups, "cgroup2")
        cgroup = os.path.join(cgroups, os.path.basename(self.folder))
        os.mkdir(cgroup)
        self.addCleanup(self.wait_for, lambda: not self.remove(cgroup))
        output = os.path.join(self.folder, "said")
        with open(output, "wb") as file:
            process = self.start_java(output=file)
        self.write(cgroup, "cgroup.procs", process.pid)
        self.write(cgroup, "cgroup.freeze", 1)
        self.wait_for(lambda: "frozen 1" in self.read(cgroup, "cgroup.events"))
        self.record_until(lambda: "not loaded: it is stopped" in self.said(),
                          ["-p", str(process.pid), "-F", "99"], (".jitbpf",))
        self.write(cgroup, "cgroup.freeze", 0)
        self.check_named(self.attach(process.pid))
        self.assertNotIn("thread dump", self.read(self.folder, "said"))

    @staticmethod
    def remove(folder):
        """Returns what prevents it, or None."""
        try:
            os.rmdir(folder)
        except OSError as error:
            return error
        return None

    @staticmethod
    def read(folder, name):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.read()

    @staticmethod
    def write(folder, name, value):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(str(value))

    def test_other_user(self):
        process = self.start_java(user=USER, group=USER, extra_groups=[])
        self.check_named(self.attach(process.pid))

    def test_other_user_cannot_reach_the_agent(self):
        shim = self.hidden_shim()
        process = self.start_java(user=USER, group=USER, extra_groups=[])
        self.check_named(self.attach(process.pid,
                                     ["--shim", shim]))
        self.check_nothing_left()
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
            self.assertIn("/tmp/libjitbpf-jvmti-", maps.read())

    def start_in(self, root, enter):
        outer = self.start([*enter, "chroot", root, *self.java, "-cp", "/app", "Fill", "1000000"])
        if enter:
            return self.jvm_below(outer)
        self.wait_for(lambda: self.has_thread(outer.pid, "C2 CompilerThre"))
        return outer.pid

    @staticmethod
    def children_of(pid):
        path = f"/proc/{pid}/task/{pid}/children"
        with open(path, encoding="ascii") as file:
            return path if file.read().strip() else None

    def check_in_root(self, root, pid):
        self.check_named(self.attach(pid))
        self.check_nothing_left(os.path.join(root, "tmp"))

    def test_chroot(self):
        root = self.make_root()
        self.mount(os.path.join(root, "proc"), "proc")
        self.check_in_root(root, self.start_in(root, []))

    def test_namespaces(self):
        root = self.make_root()
        self.check_in_root(root, self.start_in(root, [
            "unshare", "-m", "-p", "-f", "--kill-child",
            f"--mount-proc={os.path.join(root, 'proc')}"]))

    def test_user_namespace(self):
        """Root of a user namespace has all capabilities there, and another user's ID outside."""
        outer = self.start(["unshare", "-U", "-r", "-m", "-p", "-f", "--kill-child",
                            "--mount-proc", *self.java, *self.fill, "1000000"],
                           user=USER, group=USER, extra_groups=[])
        self.check_named(self.attach(self.jvm_below(outer)))

    def test_other_user_of_user_namespace(self):
        """Its /tmp is that of the namespace's root, which is neither the JVM's user nor root."""
        root, root_id = self.make_root(), 3 * USER
        self.mount(os.path.join(root, "proc"), "proc")
        self.mount(os.path.join(root, "dev/shm"), "tmpfs", "-o", "noexec,mode=1777")
        os.chown(os.path.join(root, "tmp"), root_id, root_id)
        process = self.start([sys.executable, SPACE, root, "1000", *self.java, "-cp", "/app",
                              "Fill", "1000000"], stdin=subprocess.PIPE)
        self.wait_for(lambda: self.own_namespace(process.pid))
        for ids in ("uid_map", "gid_map"):
            with open(f"/proc/{process.pid}/{ids}", "w", encoding="ascii") as file:
                file.write(f"0 {root_id} 60000\n")
        process.stdin.write(b"\n")
        process.stdin.close()
        self.wait_for(lambda: self.has_thread(process.pid, "C2 CompilerThre"))
        self.check_in_root(root, process.pid)

    @staticmethod
    def own_namespace(pid):
        return os.readlink(f"/proc/{pid}/ns/user") != os.readlink("/proc/self/ns/user")

    def jvm_below(self, outer):
        """Returns the JVM that is the child of a process."""
        with open(self.wait_for(lambda: self.children_of(outer.pid)), encoding="ascii") as file:
            pid = int(file.read())
        self.wait_for(lambda: self.has_thread(pid, "C2 CompilerThre"))
        return pid

    def test_no_place(self):
        """Its /tmp, /var/tmp and /dev/shm take no code: the JVM goes on, and the reason is
        said."""
        root = self.make_root()
        for name in ("tmp", "dev/shm"):
            self.mount(os.path.join(root, name), "tmpfs", "-o", "noexec,mode=1777")
        self.mount(os.path.join(root, "proc"), "proc")
        run = self.attach(self.start_in(root, []))
        self.assertIn("its /tmp takes no copy that can be executed", run.stderr)


class Launched(Attached):
    """Commands that jitbpf runs: the user sets nothing."""

    ROUNDS = "800"

    def launch(self, command, options=(), **kwargs):
        return self.record(command, ["-F", "499", "--merge=tables", *options], endings=(".jitbpf", ".folded"),
                           **kwargs)

    def shell(self, command, *arguments):
        return ["sh", "-c", f"{command} ; true", "sh", *arguments]

    @staticmethod
    def late(rounds, times):
        """Arguments of Fill in a JVM that gets the agent after its start."""
        return [rounds, "libjitbpf-jvmti", str(times)]

    @staticmethod
    def inlined(run):
        """Returns the share of the program's samples in its inlined method."""
        stacks = {stack: count for stack, count in run.folded().items() if "Fill." in stack}
        return (sum(count for stack, count in stacks.items() if "Fill.inlinedHelper_[i]" in stack) /
                max(sum(stacks.values()), 1))

    def test_java(self):
        """The JVM has the agent from its start: all inlined methods, and no message of anybody."""
        run = self.launch([*self.java, *self.fill, self.ROUNDS])
        self.assertGreater(self.named(run), 0.8, run.stderr)
        self.assertGreater(self.inlined(run), 0.5)
        for words in ("agent", "Picked up", "WARNING"):
            self.assertNotIn(words, run.stderr)
        self.assertEqual(self.check_ledger(run)["jit"]["sequence_gaps"], 0)

    def test_java_by_path(self):
        """The program is found as a shell finds it."""
        run = self.launch(["java", *self.fill, self.ROUNDS],
                          env={**os.environ, "PATH": f"/nowhere:{self.JDK}/bin:/usr/bin:/bin"})
        self.assertGreater(self.inlined(run), 0.5, run.stderr)

    def test_own_agent(self):
        """The user's option stays the only one."""
        run = self.launch([*self.java, f"-agentpath:{AGENT}=signatures", *self.fill, self.ROUNDS])
        self.assertTrue(any("Fill.fillArray(int[], int)" in stack for stack in run.folded()),
                        run.stderr)
        self.assertNotIn(LOADED, run.stderr)

    def archive_options(self):
        """Options with which a JVM writes an archive, and does not start with an agent."""
        return [["-XX:ArchiveClassesAtExit=" + self.archive()], ["-XX:+RecordDynamicDumpInfo"]]

    def archive(self):
        return os.path.join(self.folder, "classes.jsa")

    def check_without_agent(self, *options, **kwargs):
        """The JVM exits with status 0, which launch() checks."""
        jar = os.path.join(self.folder, "fill.jar")  # classes of folders are not archived
        subprocess.run([os.path.join(jdks.JDK, "bin/jar"), "cf", jar, "-C", self.folder,
                        "Fill.class"], check=True, timeout=60)
        run = self.launch([*self.java, *options, "-cp", jar, "Fill", "200"], **kwargs)
        self.assertIn("not loaded: it writes an archive of its classes", run.stderr)

    def test_archive_of_classes(self):
        for options in self.archive_options():
            with self.subTest(options=options):
                self.check_without_agent(*options)
        self.assertTrue(os.path.exists(self.archive()))

    def test_static_archive_of_classes(self):
        self.launch([*self.java, "-Xshare:dump", "-XX:SharedArchiveFile=" + self.archive()])
        self.assertTrue(os.path.exists(self.archive()))

    def test_options_elsewhere(self):
        """In files, which jitbpf does not read, and in variables."""
        option = self.archive_options()[0][0]
        file = os.path.join(self.folder, "options")
        with open(file, "w", encoding="utf-8") as options:
            options.write(option + "\n")
        for first, variable in ((["@" + file], {}), (["-XX:VMOptionsFile=" + file], {}),
                                ([], {"JAVA_TOOL_OPTIONS": f"-Dmine=1 '{option}'"}),
                                ([], {"JDK_JAVA_OPTIONS": "@" + file}),
                                ([], {"_JAVA_OPTIONS": option})):
            with self.subTest(first=first, variable=variable):
                self.check_without_agent(*first, env={**os.environ, **variable})

    def test_script(self):
        run = self.launch(self.shell('"$@"', *self.java, *self.fill, *self.late(self.ROUNDS, 4)))
        self.assertIn(LOADED, run.stderr)
        self.assertNotIn("Picked up", run.stderr)
        self.assertGreater(self.named(run), 0.6, run.stderr)

    def test_script_all_inlined_methods(self):
        run = self.launch(self.shell('"$@"', *self.java, *self.fill, *self.late(self.ROUNDS, 1)),
                          ["--java-debug-nonsafepoints"],
                          env={**os.environ, "JAVA_TOOL_OPTIONS": "-Dmine=1"})
        self.assertIn(LOADED, run.stderr)
        self.assertIn("Picked up JAVA_TOOL_OPTIONS: -Dmine=1 -XX:+Unlock", run.stderr)
        self.assertNotIn("few of its inlined methods", run.stderr)
        self.assertGreater(self.inlined(run), 0.5)

    def test_no_env(self):
        run = self.launch([*self.java, "-XX:+PrintFlagsFinal", "-version"],
                          ["--no-env", "--no-attach-jvms"])
        self.assertNotIn(LOADED, run.stderr)
        self.assertEqual(run.summary()["jit"]["published_jvmti"], 0)

    def test_unloadable(self):
        """A path that an option of the JVM cannot express: the JVM gets the agent later."""
        folder = os.path.join(self.folder, "a=b")
        os.mkdir(folder)
        for file in (harness.SHIM, AGENT):
            shutil.copy(file, folder)
        run = self.launch([*self.java, *self.fill, *self.late(self.ROUNDS, 4)],
                          ["--shim", os.path.join(folder, "libjitbpf.so")])
        self.assertIn(LOADED, run.stderr)
        self.assertGreater(self.named(run), 0.6, run.stderr)

    def test_child_in_another_root(self):
        """A child that cannot see the agent starts, and is given a copy."""
        root = self.make_root()
        self.mount(os.path.join(root, "proc"), "proc")
        run = self.launch(self.shell('"$@"', "chroot", root, *self.java, "-cp", "/app", "Fill",
                                     *self.late(self.ROUNDS, 4)))
        self.assertIn(LOADED, run.stderr)
        self.assertGreater(self.named(run), 0.6, run.stderr)
        self.check_nothing_left(os.path.join(root, "tmp"))

    def test_started_one_after_the_other(self):
        """A JVM takes commands a moment before it takes agents: each of them gets it."""
        run = self.launch(["sh", "-c", 'for i in 1 2 3 4 5 6 7 8; do "$@"; done', "sh", *self.java,
                           *self.fill, *self.late("200", 2)])
        self.assertNotIn("not loaded", run.stderr)
        self.assertEqual(run.stderr.count(LOADED), 8, run.stderr)
        # The same advice is given once.
        self.assertEqual(run.stderr.count("few of its inlined methods"), 1, run.stderr)

    def test_short_lived(self):
        """JVMs that end while they are given the agent."""
        run = self.launch(["sh", "-c", 'for i in 1 2 3 4 5 6 7 8 9 10; do "$@" && echo good; done',
                           "sh", *self.java, *self.fill, "1"])
        self.assertEqual(run.stdout.count(b"good\n"), 10, run.stderr)
        self.assertNotIn(b"Full thread dump", run.stdout)
        self.wait_for(lambda: not self.left())

    @unittest.skipUnless(shutil.which("mvn"), "there is no Maven")
    def test_maven(self):
        run = self.launch(["mvn", "--version"])
        self.assertIn(b"Apache Maven", run.stdout)
        self.assertNotIn("Picked up", run.stderr)


@harness.slow
@jdks.needs_jdk_25
class Launched25(Launched):
    JDK = jdks.JDK_25

    def archive_options(self):
        return [*super().archive_options(),
                ["-XX:+AutoCreateSharedArchive", "-XX:SharedArchiveFile=" + self.archive() + "2"]]

    def test_only_writes_an_archive(self):
        """Its output does not change: a late agent would make it print a warning."""
        cache, made = (os.path.join(self.folder, name) for name in ("app.aotconf", "app.aot"))
        subprocess.run([*self.java, "-XX:AOTMode=record", "-XX:AOTConfiguration=" + cache, "-version"],
                       check=True, stderr=subprocess.DEVNULL, timeout=60)
        for options in (["-Xshare:dump", "-XX:SharedArchiveFile=" + made + ".jsa"],
                        ["-XX:AOTMode=create", "-XX:AOTConfiguration=" + cache,
                         "-XX:AOTCache=" + made]):
            with self.subTest(options=options):
                run = self.launch(["sh", "-c", '"$@" 2>&1; echo ended', "sh", *self.java, *options])
                self.assertIn(b"ended", run.stdout)
                self.assertNotIn(b"loaded dynamically", run.stdout)
                self.assertIn("it writes an archive of its classes", run.stderr)


@harness.slow
@jdks.needs_jdk_25
class Late25(Late):
    JDK = jdks.JDK_25

    def test_warning(self):
        process = self.start_java()
        self.assertIn("Java 25 prints a warning about it", self.attach(process.pid).stderr)


class WholeSystem(Attached):
    def record_beside(self, *options):
        """Records a system of its own, since an agent stays in the JVMs of others. Waits until
        the JVM has taken 2 s of CPU time, and records until it has taken 2 s more."""
        jitbpf = self.record_argv(["-a", "-F", "199", *options], (".jitbpf", ".folded"))
        takes = f"{sys.executable} {TAKES} $java 2"
        argv = ["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc", "sh", "-c",
                f'"$@" > /dev/null & java=$!; {takes}; {" ".join(jitbpf)} -- {takes}', "sh",
                *self.java, *self.fill, "1000000"]
        done = subprocess.run(argv, capture_output=True, check=False)
        return self.finished(done.returncode, done.stdout, done.stderr)

    @harness.alone
    def test_only_if_told(self):
        run = self.record_beside()
        self.assertNotIn(LOADED, run.stderr)
        self.check_java(run)
        self.assertEqual(run.summary()["jit"]["published_jvmti"], 0)
        run = self.record_beside("--attach-jvms")
        self.assertRegex(run.stderr, rf"JVM \d+ \(java\): {LOADED}")
        self.check_java(run)

    def check_java(self, run):
        java = {stack: count for stack, count in run.folded().items() if stack.startswith("java")}
        named = sum(count for stack, count in java.items() if "Fill." in stack)
        self.assertGreater(named, 0.9 * sum(java.values()), run.stderr)


    def test_by_name(self):
        """-p NAME: a JVM of that name gets the agent, and no other one."""
        path = os.path.join(self.folder, f"vm-{os.getpid()}")
        os.symlink(self.java[0], path)
        other = self.start_java()
        self.java = [path]
        chosen = self.start_java()
        run = self.record_until(lambda: LOADED in self.said() and self.takes(chosen, 2),
                                ["-F", "199", "-p", os.path.basename(path)],
                                (".jitbpf", ".folded"))
        self.assertRegex(run.stderr, rf"JVM {chosen.pid} \([^)]*\): {LOADED}")
        self.assertGreater(self.named(run), 0.9, run.stderr)
        self.assertNotIn(f"JVM {other.pid}", run.stderr)
        with open(f"/proc/{other.pid}/maps", encoding="utf-8") as maps:
            self.assertNotIn("jvmti", maps.read())
        again = self.record_until(lambda: self.takes(other, 0.2),
                                  ["-p", "java", "--no-attach-jvms"], (".jitbpf", ".folded"))
        self.assertNotIn(LOADED, again.stderr)

    @staticmethod
    def takes(process, seconds):
        """Waits until the process has taken that much more CPU time."""
        return not subprocess.run([sys.executable, TAKES, str(process.pid), str(seconds)],
                                  check=True, timeout=60).returncode

    @harness.alone
    def test_started_after(self):
        """A JVM that starts after the recording of the whole system has begun."""
        argv = ["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc",
                *self.record_argv(["-a", "-F", "199", "--attach-jvms"], (".jitbpf", ".folded")),
                "--", "sh", "-c", '"$@"; true', "sh", *self.java, *self.fill,
                *Launched.late("800", 4)]
        done = subprocess.run(argv, capture_output=True, check=False)
        run = self.finished(done.returncode, done.stdout, done.stderr)
        self.assertRegex(run.stderr, rf"JVM \d+ \(java\): {LOADED}")
        java = {stack: count for stack, count in run.folded().items() if stack.startswith("java")}
        named = sum(count for stack, count in java.items() if "Fill." in stack)
        self.assertGreater(named, 0.6 * sum(java.values()), run.stderr)


class NoJvm(Attached):
    """Processes that only look like a JVM, or whose JVM is hostile."""

    library = ""  # another one that the process maps

    def start_fake(self, mode, said="said", **kwargs):
        """Starts a process that maps libjvm.so, and returns it with the file of its signals."""
        said = os.path.join(self.folder, said)
        # Other users run it, too, who may not reach the source tree.
        fake = shutil.copy(FAKE, self.folder)
        with open(said, "wb") as file:
            process = self.start([sys.executable, fake, mode,
                                  os.path.join(jdks.JDK, "lib/server/libjvm.so"), str(USER),
                                  self.library],
                                 output=file, **kwargs)
        self.wait_for(lambda: self.text_of(said).startswith("ready"))
        return process, said

    @staticmethod
    def text_of(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def record_fake(self, mode, reason):
        """Records until it is said why the agent is not loaded. Returns the signals."""
        process, signals = self.start_fake(mode)
        run = self.record_until(lambda: f"not loaded: {reason}" in self.said(),
                                ["-p", str(process.pid), "-F", "99"], (".jitbpf",))
        self.assertIsNone(process.poll(), "the process was ended")
        self.assertNotIn(LOADED, run.stderr)
        return self.text_of(signals)

    def test_catches_the_signal(self):
        """A program with a handler of its own, which has loaded libjvm.so: no signal is sent."""
        process, signals = self.start_fake("plain")
        # In one turn, all processes are looked at. This one is asked, and answers.
        other, _said = self.start_fake("garbage", "other")
        run = self.record_until(lambda: "its answer cannot be parsed" in self.said(),
                                ["-p", f"{process.pid},{other.pid}", "-F", "99"], (".jitbpf",))
        self.assertIsNone(process.poll())
        self.assertNotIn(LOADED, run.stderr)
        self.assertEqual(self.text_of(signals), "ready\n")

    def test_never_answers(self):
        signals = self.record_fake("threads", "it did not answer in time")
        self.assertEqual(signals, "ready\nSIGQUIT\n")  # once

    def test_garbage(self):
        self.record_fake("garbage", "its answer cannot be parsed")

    def test_endless(self):
        self.record_fake("endless", "its answer cannot be parsed")

    def test_other_vm(self):
        """OpenJ9 takes SIGQUIT for a request of a dump."""
        self.library = os.path.join(self.folder, "libj9vm29.so")
        shutil.copy(os.path.join(jdks.JDK, "lib/server/libjvm.so"), self.library)
        self.assertEqual(self.record_fake("threads", "it is OpenJ9"), "ready\n")

    def test_many_mappings(self):
        """Where too many mappings hide libjvm.so, the JVM has not ended, but cannot be examined."""
        command = [sys.executable, shutil.copy(FAKE, self.folder), "many",
                   os.path.join(jdks.JDK, "lib/server/libjvm.so"), str(USER)]
        said = os.path.join(self.folder, "said")
        with open(said, "wb") as file, \
                subprocess.Popen([*self.record_argv(["-F", "99"], (".jitbpf",)), "--", *command],
                                 stdout=subprocess.PIPE, stderr=file) as recorder:
            self.addCleanup(recorder.kill)
            self.wait_for(lambda: "not loaded: it has too many mappings" in self.text_of(said))
            with open("/tmp/jitbpf-test-ended", "wb"):
                pass
            self.assertEqual(recorder.communicate()[0], b"ready\n")
        self.assertEqual(recorder.returncode, 0)

    FOREIGN = "its socket or its file in /tmp belongs to another"

    def test_foreign_socket(self):
        self.assertEqual(self.record_fake("foreign", self.FOREIGN), "ready\n")

    def test_foreign_file(self):
        self.assertEqual(self.record_fake("file", self.FOREIGN), "ready\n")

    def test_links(self):
        """Links in place of the files: nothing is written through them."""
        self.assertEqual(self.record_fake("links", self.FOREIGN), "ready\n")
        self.assertFalse(os.path.exists("/tmp/jitbpf-test-planted"))

    def test_dangling_link(self):
        """A link to nowhere in place of the file: HotSpot would print a dump of its threads."""
        self.assertEqual(self.record_fake("link", self.FOREIGN), "ready\n")

    def test_ends_after_the_signal(self):
        """A JVM that handles the signal after jitbpf has ended finds the file."""
        process, said = self.start_fake("slow")
        with subprocess.Popen(self.record_argv(["-p", str(process.pid)], (".jitbpf",)),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as recorder:
            self.addCleanup(recorder.kill)
            self.wait_for(lambda: "SIGQUIT" in self.text_of(said))
            self.wait_for(self.takes_samples)
            recorder.send_signal(signal.SIGINT)
            self.assertEqual(recorder.wait(60), 0)
        with open("/tmp/jitbpf-test-ended", "wb"):
            pass
        self.wait_for(lambda: len(self.text_of(said).split()) == 3)
        self.assertEqual(self.text_of(said), "ready\nSIGQUIT\nasked\n")

    def test_ends_before_the_answer(self):
        process, _said = self.start_fake("silent")
        run = self.record(options=["-p", str(process.pid), "-d", "1"], endings=(".jitbpf",))
        self.assertIn("not loaded: jitbpf ended before it answered", run.stderr)

    def test_stopped(self):
        """A stopped JVM would handle the signal at any time later."""
        process, said = self.start_fake("threads")
        process.send_signal(signal.SIGSTOP)
        run = self.record_until(lambda: "not loaded: it is stopped" in self.said(),
                                ["-p", str(process.pid), "-F", "99"], (".jitbpf",))
        self.assertNotIn(LOADED, run.stderr)
        process.send_signal(signal.SIGCONT)
        self.assertEqual(self.text_of(said), "ready\n")

    def test_beside_a_silent_one(self):
        """A process that never answers does not delay the agent of another JVM."""
        process, _said = self.start_fake("silent")
        java = self.start_java(user=USER, group=USER, extra_groups=[])
        run = self.record_process(java.pid, 0.7, ["-F", "499"], (".jitbpf", ".folded"),
                                  others=(process.pid,))
        stacks = {stack: count for stack, count in run.folded().items()
                  if stack.startswith("java")}
        named = sum(count for stack, count in stacks.items() if "Fill." in stack)
        self.assertGreater(named, 0.95 * sum(stacks.values()), run.stderr)

    @harness.slow
    def test_many_silent_ones(self):
        """JVMs that never answer, of several users, do not delay that of another for long."""
        others = [self.start_fake("silent", user=USER + n, group=USER, extra_groups=[])[0].pid
                  for n in range(1, 9)]
        java = self.start_java(user=USER, group=USER, extra_groups=[])
        loaded, silent = f"JVM {java.pid} (java): {LOADED}", "did not answer in time"
        run = self.record_until(lambda: loaded in self.said() and self.said().count(silent) >= 7,
                                ["-F", "99", "-p", ",".join(map(str, (*others, java.pid)))])
        # At the beginning, JVMs that will not answer may have all loaders, once.
        self.assertLessEqual(run.stderr[:run.stderr.index(loaded)].count(silent), 6)

    def test_rights_of_the_loader(self):
        """While it waits for a JVM, the loader has that user's rights, and no capability."""
        process, _said = self.start_fake("silent", user=USER, group=USER, extra_groups=[])
        with subprocess.Popen(self.record_argv(["-p", str(process.pid)], (".jitbpf",)),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as recorder:
            self.addCleanup(recorder.kill)
            loader = self.wait_for(lambda: next(
                (one for one in test_roles.statuses(test_roles.children(recorder.pid))
                 if one["Name"] == "jitbpf-load" and one["Uid"].split() == [str(USER)] * 4), None))
            self.wait_for(self.takes_samples)
            recorder.send_signal(signal.SIGINT)
            self.assertEqual(recorder.wait(60), 0)
        self.assertEqual(loader["Gid"].split(), [str(USER)] * 4)
        self.assertEqual(loader["Groups"].strip(), "")
        self.assertEqual([int(loader[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd",
                                                             "CapAmb")], [0] * 5)
        self.assertEqual((loader["NoNewPrivs"], loader["Seccomp"]), ("1", "2"))
        # It outlives the recorder only until it notices.
        self.wait_for(lambda: self.has_ended(loader["Pid"]))

    @staticmethod
    def has_ended(pid):
        try:
            return test_roles.status(pid)["State"].startswith("Z")
        except FileNotFoundError:
            return True

    def test_signal_is_not_sent_to_others(self):
        """A process that does not catch SIGQUIT would die of it."""
        process, said = self.start_fake("uncaught")
        with subprocess.Popen(self.record_argv(["-p", str(process.pid)], (".jitbpf",)),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as recorder:
            self.addCleanup(recorder.kill)
            # A JVM that starts would catch it later. So a loader comes again and again.
            loader = self.wait_for(lambda: next(
                (one["Pid"] for one in test_roles.statuses(test_roles.children(recorder.pid))
                 if one["Name"] == "jitbpf-load"), None), pause=0.001)
            self.wait_for(lambda: self.has_ended(loader))
            self.wait_for(self.takes_samples)
            recorder.send_signal(signal.SIGINT)
            self.assertEqual(recorder.wait(60), 0)
        self.assertIsNone(process.poll())
        self.assertEqual(self.text_of(said), "ready\n")
        process.send_signal(signal.SIGQUIT)
        self.assertEqual(process.wait(), -signal.SIGQUIT)


if __name__ == "__main__":
    harness.main()
