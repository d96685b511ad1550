# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Copies of the shim: in containers, deleted, replaced, and files that only share its name."""

import collections
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys

import harness
import run_for
import test_roles
from stuck_fs import StuckFilesystem

FORKING = os.path.join(harness.ROOT, "tests/programs/workloads/forking.py")
USER = 61234  # of nobody else
SITE = bytes.fromhex("90 0f1f440000 662e0f1f840000000000 c3")
# Maps the files that are its arguments.
MAP_ALL = """
import mmap, os, sys, time
kept = []
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        kept.append(mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE,
                              prot=mmap.PROT_READ | mmap.PROT_EXEC))
time.sleep(float(os.environ.get("HOLD", 0)))
"""


def libraries(program):
    """Returns the files that a program needs to start."""
    told = subprocess.run(["ldd", program], capture_output=True, check=True, text=True).stdout
    return re.findall(r"(/\S+) \(0x", told)


class Containers(harness.KernelTest):
    def setUp(self):
        super().setUp()
        self.shim = os.path.join(self.folder, "libjitbpf.so")
        shutil.copy(harness.SHIM, self.shim)

    def make_root(self, name="root"):
        """Creates a root file system with the engine, its libraries, and its own copy of the
        shim."""
        root = os.path.join(self.folder, name)
        for file in libraries(harness.ENGINE):
            os.makedirs(root + os.path.dirname(file), exist_ok=True)
            shutil.copy(file, root + file)
        os.makedirs(os.path.join(root, "proc"))
        shutil.copy(harness.ENGINE, os.path.join(root, "jit-engine"))
        shutil.copy(harness.SHIM, os.path.join(root, "libjitbpf.so"))
        return root

    def record_with(self, shim, command, options=("-F", "499")):
        return self.record(command, ["--no-env", *options],
                           env={**os.environ, "INTEL_JIT_PROFILER64": shim})

    def start(self, shim, command, inside=False):
        """Starts an engine, and returns the pid once it runs its code. If inside, the engine is the
        child of the command."""
        process = subprocess.Popen(command, env={**os.environ, "INTEL_JIT_PROFILER64": shim},
                                   stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        pid = self.wait_for(lambda: run_for.children_of(process.pid))[0] if inside else process.pid
        self.wait_for(lambda: run_for.cpu_seconds(pid) > 0.2)
        return pid

    def attach(self, pid):
        return self.record_process(pid, 1.2, ["-F", "499"])

    def share(self, run, name, comm="jit-engine"):
        """Returns the share of a process's samples whose leaf has a name."""
        leaves = [leaf.name for leaf in
                  (harness.leaf_jit(s) for s in run.script() if s.comm == comm) if leaf]
        self.assertGreater(len(leaves), 100)
        return leaves.count(name) / len(leaves)

    def process_of(self, run, comm="jit-engine"):
        return next(p for p in run.summary()["processes"] if p["comm"] == comm)

    def probes(self):
        """Returns how many probes of one BPF program are attached, of that which has the most. A
        process that was just forked has those of its parent for a moment: they have the same IDs."""
        found = {}
        for pid in (self.recorder.pid, *test_roles.children(self.recorder.pid)):
            with contextlib.suppress(FileNotFoundError):  # it ends
                for fd in os.listdir(f"/proc/{pid}/fdinfo"):
                    with contextlib.suppress(FileNotFoundError), \
                            open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as file:
                        told = dict(re.findall(r"^(\w+):\t(\S+)", file.read(), re.M))
                        if "link_id" in told:
                            found[told["link_id"]] = told["prog_id"]
        return max(collections.Counter(found.values()).values(), default=0)

    def copies(self, run):
        counters = run.summary()["counters"]
        return counters["shim_copies"], counters["shims_refused"], counters["shims_over_budget"]

    def test_from_its_start(self):
        """The only load comes before the probe can be attached: it is read from the journal."""
        run = self.record_with("/libjitbpf.so", [
            "unshare", "-m", "-p", "-f", "chroot", self.make_root(), "/jit-engine", "hot",
            "--seconds", "2", "--name", "in_container"])
        self.check_ledger(run)
        self.assertGreater(self.share(run, "in_container"), 0.9)
        self.assertEqual(self.copies(run), (1, 0, 0))
        process = self.process_of(run)
        self.assertEqual(process["pid_inside"], 1)
        self.assertNotEqual(process["pid"], 1)
        self.assertEqual(process["jit"]["sequence_gaps"], 0)
        self.assertRegex(run.report("--by", "pid").stdout.decode(), rf" {process['pid']} +\(1\) +jit-engine")
        self.assertEqual(run.report("-f", "summary").stdout.decode(), run.stderr)

    def test_late(self):
        run = self.attach(self.start("/libjitbpf.so", [
            "unshare", "-m", "-p", "-f", "--kill-child", "chroot", self.make_root(), "/jit-engine",
            "hot", "--seconds", "60", "--name", "in_container"], inside=True))
        self.assertGreater(self.share(run, "in_container"), 0.95)
        self.assertEqual(self.copies(run), (1, 0, 0))
        self.assertEqual(self.process_of(run)["pid_inside"], 1)
        self.assertEqual(run.summary()["jit"]["late"], 1)

    def test_two_from_one_image(self):
        """Two overlays of one directory: two files with one inode. Events are not counted twice."""
        lower = self.make_root("lower")
        command = []
        for name in ("one", "two"):
            merged, upper, work = (os.path.join(self.folder, name, part)
                                   for part in ("merged", "upper", "work"))
            for folder in (merged, upper, work):
                os.makedirs(folder)
            subprocess.run(["mount", "-t", "tmpfs", "none", os.path.join(self.folder, name)],
                           check=True)
            # Lazily: attached probes hold the files for a moment longer.
            self.addCleanup(subprocess.run, ["umount", "-l", os.path.join(self.folder, name)],
                            check=True)
            for folder in (merged, upper, work):
                os.makedirs(folder)
            subprocess.run(["mount", "-t", "overlay", "none", merged, "-o",
                            f"lowerdir={lower},upperdir={upper},workdir={work}"], check=True)
            self.addCleanup(subprocess.run, ["umount", "-l", merged], check=True)
            command.append(f"unshare -p -f chroot {merged} /jit-engine loads --rate 500 "
                           "--seconds 2 &")
        run = self.record_with("/libjitbpf.so", ["sh", "-c", " ".join([*command, "wait"])])
        loads = [int(n) for n in re.findall(rb"loads (\d+)", run.stdout)]
        engines = [p for p in run.summary()["processes"] if p["comm"] == "jit-engine"]
        self.assertEqual(sorted(p["jit"]["methods"] for p in engines), sorted(loads))
        self.assertEqual([p["pid_inside"] for p in engines], [1, 1])
        self.assertEqual(run.summary()["jit"]["sequence_gaps"], 0)
        self.assertIn(self.copies(run), ((1, 0, 0), (2, 0, 0)))

    def check_rootless(self, mounts):
        """Events of an engine in a container that a user makes, who is not root. mounts: commands
        that show the folder $lower at $merged. $disk is a folder of the user's on the disk."""
        os.chmod(self.folder, 0o755)
        disk, merged = (os.path.join(self.folder, name) for name in ("disk", "merged"))
        for folder in (disk, merged):
            os.mkdir(folder)
            os.chown(folder, USER, USER)
        lower = self.make_root("lower")
        os.chown(os.path.join(lower, "libjitbpf.so"), USER, USER)
        run = self.record_with("/libjitbpf.so", [
            "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "unshare", "-Urm",
            "sh", "-ec", f"lower={lower} disk={disk} merged={merged}\n{mounts}\n"
            "exec chroot $merged /jit-engine loads --rate 500 --seconds 2"])
        self.check_ledger(run)
        loads, = re.findall(rb"loads (\d+)", run.stdout)
        self.assertEqual(self.process_of(run)["jit"]["methods"], int(loads))
        self.assertEqual(run.summary()["jit"]["sequence_gaps"], 0)
        self.assertEqual(self.copies(run), (1, 0, 0))

    def test_rootless(self):
        self.check_rootless("""
            mkdir $disk/upper $disk/work
            mount -t overlay none $merged \\
                -o userxattr,lowerdir=$lower,upperdir=$disk/upper,workdir=$disk/work""")

    def test_rootless_of_many_layers(self):
        """As of an image with a layer for each of its steps."""
        self.check_rootless("""
            mount -t tmpfs none $disk
            mkdir $disk/upper $disk/work
            cd $disk
            layers=$lower
            for layer in $(seq 100); do mkdir $layer; layers=$layer:$layers; done
            # The newer call limits an option to 255 bytes.
            LIBMOUNT_FORCE_MOUNT2=always mount -t overlay none $merged \\
                -o userxattr,lowerdir=$layers,upperdir=upper,workdir=work""")

    def test_rootless_in_rootless(self):
        """An overlay of overlays; that is as deep as the kernel allows."""
        self.check_rootless("""
            mount -t tmpfs none $disk
            mkdir $disk/upper $disk/work $disk/empty
            mount -t overlay none $merged -o userxattr,lowerdir=$lower:$disk/empty
            mount -t overlay none $merged \\
                -o userxattr,lowerdir=$merged,upperdir=$disk/upper,workdir=$disk/work""")

    def test_rootless_copied_up(self):
        """The copy comes from an image, and was changed in the container."""
        self.check_rootless("""
            mkdir $disk/upper $disk/work
            mount -t overlay none $merged \\
                -o userxattr,lowerdir=$lower,upperdir=$disk/upper,workdir=$disk/work
            printf x >> $merged/libjitbpf.so""")

    def test_same_inode(self):
        """A bind mount in another mount namespace is not another copy."""
        place = os.path.join(self.folder, "place")
        os.mkdir(place)
        run = self.record_with(
            os.path.join(place, "libjitbpf.so"),
            ["unshare", "-m", "sh", "-c", f"mount --bind {harness.BUILD} {place} && exec "
             f"{harness.ENGINE} hot --seconds 1 --name bound"])
        self.assertGreater(self.share(run, "bound"), 0.9)
        self.assertEqual(self.copies(run), (0, 0, 0))
        self.assertEqual(run.summary()["jit"]["recovered"], 0)

    def test_php(self):
        run = self.record_with(self.shim, ["unshare", "-m", "-p", "-f", "--mount-proc",
                                           *harness.php("tracing", 3)],
                               ["-F", "499", *harness.WITH_CODE])
        names = collections.Counter(
            leaf.name.split("$")[0] for leaf in
            (harness.leaf_jit(s) for s in run.script() if s.comm == "php") if leaf)
        self.assertGreater(sum(n for name, n in names.items() if name.startswith("TRACE-")),
                           0.4 * sum(names.values()), names)
        jit = run.summary()["jit"]
        self.assertEqual((jit["sequence_gaps"], jit["unreadable"]), (0, 0))

    def test_children_forked_at_once(self):
        """Children share the mapping without an event for it."""
        process = subprocess.Popen(
            [harness.JITBPF, "record", "--no-env", "-q", "-F", "499", "-o",
             os.path.join(self.folder, "out.jitbpf"), "-o", os.path.join(self.folder, "out.txt"),
             "--", sys.executable, FORKING],
            env={**os.environ, "INTEL_JIT_PROFILER64": self.shim}, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        parent, child = (int(pid) for pid in process.stdout.readline().split())
        pids = [parent, child, *self.wait_for(lambda: run_for.children_of(child))]
        self.wait_for(lambda: run_for.have_taken(pids, 0.7))
        process.send_signal(signal.SIGINT)
        self.assertIn(process.wait(), (0, 128 + signal.SIGTERM))
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        run = harness.Run(self.folder, 0, b"", "")
        for pid in pids:
            leaves = collections.Counter(
                leaf.name for leaf in (harness.leaf_jit(s) for s in run.script() if s.pid == pid)
                if leaf)
            known = sum(leaves[name] for name in ("inherited", "replaced", "of_the_parent",
                                                  "of_the_child"))
            self.assertGreater(known, 0.7 * sum(leaves.values()), (pid, leaves))

    def test_deleted(self):
        pid = self.start(self.shim, [harness.ENGINE, "storm", "--rate", "500", "--seconds", "60"])
        os.unlink(self.shim)
        run = self.attach(pid)
        jit = self.check_ledger(run)["jit"]
        self.assertEqual(self.copies(run), (1, 0, 0))
        self.assertGreater(jit["methods"], jit["late"] + 100)  # at most 600, fewer beside other load
        self.assertEqual((jit["sequence_gaps"], run.summary()["samples"]["code_unknown"]), (0, 0))

    def test_replaced(self):
        """Processes with the old file go on with it; later ones have the new file."""
        engine = f"{harness.ENGINE} storm --rate 500 --seconds"
        run = self.record_with(self.shim, [
            "sh", "-c", f"{engine} 3 & sleep 1; cp {harness.SHIM} {self.shim}.new; "
            f"mv {self.shim}.new {self.shim}; {engine} 2; wait"])
        self.assertEqual(self.copies(run), (2, 0, 0))
        methods = sorted(p["jit"]["methods"] for p in run.summary()["processes"]
                         if p["comm"] == "jit-engine")
        self.assertEqual(methods, sorted(int(n) for n in re.findall(rb"loads (\d+)", run.stdout)))
        self.assertEqual(run.summary()["jit"]["sequence_gaps"], 0)

    def test_that_only_has_the_name(self):
        """A file without a probe, with other code, or damaged. Only regular files can be mapped."""
        with open(harness.SHIM, "rb") as file:
            shim = file.read()
        self.assertEqual(shim.count(SITE), 1)
        made = {
            "libjitbpf-nothing.so": b"x" * 8192,
            "libJitPI.so": shim.replace(SITE, SITE[:1] + b"\x90" * 15 + SITE[-1:]),
            "libjitbpf.so.cut": shim[:4096],
        }
        paths = [os.path.join(self.folder, name) for name in made]
        for path, content in zip(paths, made.values()):
            with open(path, "wb") as file:
                file.write(content)
        run = self.record_with(self.shim, [
            "sh", "-c", f"{sys.executable} -c '{MAP_ALL}' {' '.join(paths)}; "
            f"{harness.ENGINE} hot --seconds 1 --name honest"])
        self.assertEqual(self.copies(run), (1, 3, 0))
        self.assertGreater(self.share(run, "honest"), 0.9)
        self.assertIn("files named like the shim, but not the shim", run.stderr)

    def test_more_than_are_attached(self):
        paths = [os.path.join(self.folder, f"libjitbpf-{i}.so") for i in range(70)]
        for path in paths:
            shutil.copy(harness.SHIM, path)
        installed = sum(os.path.exists(f"{harness.BUILD}/{name}.so")
                        for name in ("libjitbpf", "libjitbpf-jvmti"))
        run = self.record_until(lambda: self.probes() == installed + 64, ["-F", "499"],
                                command=[sys.executable, "-c", MAP_ALL, *paths],
                                env={**os.environ, "HOLD": "1000"})
        self.assertEqual(self.copies(run), (64, 0, 6))
        self.assertIn("mappings of shims skipped: over the budget", run.stderr)

    def check_stuck(self, what, hangs=True):
        """A copy on a FUSE file system is refused, and does not delay the recording."""
        mount = os.path.join(self.folder, "mnt")
        os.mkdir(mount)
        with open(harness.SHIM, "rb") as file:
            files = StuckFilesystem(mount, {"libjitbpf.so": file.read()})
        self.addCleanup(files.close)
        pid = self.start(os.path.join(mount, "libjitbpf.so"),
                         [harness.ENGINE, "hot", "--seconds", "60", "--name", "in_journal"])
        files.hang(what, pid)
        run = self.attach(pid)
        self.check_ledger(run)
        if hangs:
            self.assertTrue(files.hung, "no access hung, so the test shows nothing")
            self.assertIn("no answer in time from", run.stderr)
        self.assertEqual(self.copies(run), (0, 1, 0))
        self.assertGreater(self.share(run, "in_journal"), 0.9)

    def test_lookup_that_hangs(self):
        """It is opened by its mapping, without a look-up of its path, which would hang."""
        self.check_stuck("lookup", hangs=False)

    def test_open_that_hangs(self):
        self.check_stuck("open")
