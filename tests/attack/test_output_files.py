# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Whom the outputs belong to, and which files a run of root writes."""

import os
import pwd
import stat
import subprocess
import sys
import time

import attack
import harness

AS_SUDO = os.path.join(harness.ROOT, "tests/kernel/as_sudo.py")
KEPT = b"what was there before"
USER = "nobody"


class OutputsTest(attack.AttackTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.uid = pwd.getpwnam(USER).pw_uid

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def make_folder(self, name, owner=0, mode=0o755):
        os.mkdir(self.path(name))
        os.chown(self.path(name), owner, owner)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def put(self, path, owner=0, mode=0o644):
        with open(path, "wb") as file:
            file.write(KEPT)
        os.chown(path, owner, owner)
        os.chmod(path, mode)
        return path

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def check_kept(self, path, owner=0, mode=0o644):
        self.assertEqual(self.read(path), KEPT)
        self.check_owner(path, owner, mode)

    def check_owner(self, path, owner, mode=0o600):
        st = os.lstat(path)
        self.assertTrue(stat.S_ISREG(st.st_mode))
        self.assertEqual((st.st_uid, st.st_gid, oct(st.st_mode & 0o7777)),
                         (owner, owner, oct(mode)))

    def run_jitbpf(self, *argv, user=None, **kwargs):
        """As root, or through sudo by a user."""
        before = [sys.executable, AS_SUDO, user] if user else []
        return subprocess.run([*before, harness.JITBPF, *argv], capture_output=True, timeout=60,
                              check=False, **kwargs)

    def run_record(self, *outputs, command=("true",), **kwargs):
        argv = [word for path in outputs for word in ("-o", path)]
        return self.run_jitbpf("record", "-q", *argv, "--", *command, **kwargs)


class PreviousFile(OutputsTest):
    """Tries: a user owns the files that root's outputs replace, readable by all and open.
    Must hold: the outputs are root's with mode 0600, and open descriptors have the old contents."""

    def test_root(self):
        folder = self.make_folder("sticky", mode=0o1777)
        paths = [os.path.join(folder, "out" + ending) for ending in (".jitbpf", ".html")]
        files = [open(self.put(path, attack.ATTACKER, 0o666), "rb") for path in paths]
        done = self.run_record(*paths)
        self.assertEqual(done.returncode, 0, done.stderr)
        for path, file in zip(paths, files):
            with file:
                self.assertEqual(file.read(), KEPT)
            self.check_owner(path, 0)

    def test_sudo(self):
        folder = self.make_folder("theirs", self.uid)
        paths = [os.path.join(folder, "out" + ending) for ending in (".jitbpf", ".html")]
        for path in paths:
            self.put(path, self.uid, 0o666)
        done = self.run_record(*paths, user=USER)
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in paths:
            self.check_owner(path, self.uid)

    def test_sticky(self):
        """A user cannot replace another user's file: the run is refused at its start."""
        folder = self.make_folder("sticky", mode=0o1777)
        path = self.put(os.path.join(folder, "out.html"), attack.ATTACKER, 0o666)
        done = self.run_record(path, user=USER, command=["touch", self.path("ran")])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"another user", done.stderr)
        self.check_kept(path, attack.ATTACKER, 0o666)

    def test_new(self):
        """Files that were not there: recordings hold addresses of the kernel."""
        folder = self.make_folder("theirs", self.uid)
        paths = [os.path.join(folder, "out" + ending) for ending in (".jitbpf", ".folded")]
        for user, owner in ((None, 0), (USER, self.uid)):
            done = self.run_record(*paths, user=user)
            self.assertEqual(done.returncode, 0, done.stderr)
            for path in paths:
                self.check_owner(path, owner)
                os.unlink(path)

    def test_rotated(self):
        folder = self.make_folder("theirs", self.uid)
        argv = ["record", "-q", "--rotate", "1", "--keep", "2", "-d", "4", "-o",
                os.path.join(folder, "r.jitbpf")]
        done = self.run_jitbpf(*argv, user=USER)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(os.listdir(folder)), 2)
        for name in os.listdir(folder):
            self.check_owner(os.path.join(folder, name), self.uid)

    def test_report(self):
        self.assertEqual(self.run_record(self.path("r.jitbpf")).returncode, 0)
        folder = self.make_folder("theirs", self.uid)
        for user, owner in ((None, 0), (USER, self.uid)):
            path = os.path.join(folder, f"{owner}.html")
            done = self.run_jitbpf("report", "-o", path, self.path("r.jitbpf"), user=user)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check_owner(path, owner)


class SudoVariables(OutputsTest):
    """Tries: SUDO_* in the environment of a jitbpf of root are wrong, or from somewhere else.
    Must hold: it says so and ends. No command runs, no file changes, also not by report."""

    def check_refused(self, variables, said, **kwargs):
        path = self.put(self.path("old.html"))
        env = {name: value for name, value in os.environ.items() if not name.startswith("SUDO_")}
        for argv in (["record", "-q", "-o", path, "--", "touch", self.path("ran")],
                     ["report", "-o", path, self.path("r.jitbpf")]):
            done = self.run_jitbpf(*argv, env={**env, **variables}, **kwargs)
            self.assertEqual(done.returncode, 1, (variables, argv[0], done.stderr))
            self.assertIn(b"SUDO_", done.stderr)
            self.assertIn(said, done.stderr)
            self.check_kept(path)
            self.assertEqual(sorted(os.listdir(self.folder)), ["old.html", "r.jitbpf"])

    def test_wrong(self):
        uid, gid = str(self.uid), str(pwd.getpwnam(USER).pw_gid)
        self.assertEqual(self.run_record(self.path("r.jitbpf")).returncode, 0)
        whole = {"SUDO_UID": uid, "SUDO_GID": gid, "SUDO_USER": USER}
        for name in whole:
            self.check_refused({name: whole[name]}, b"not all")
            self.check_refused({key: whole[key] for key in whole if key != name}, b"not all")
        for wrong in ("abc", "-1", "4294967295", "4294967296", str((1 << 64) + self.uid), "",
                      " " + uid, "+" + uid, uid + " ", "0x1", "0" + uid):
            self.check_refused({**whole, "SUDO_UID": wrong}, b"not a user ID")
            self.check_refused({**whole, "SUDO_GID": wrong}, b"not a group ID")
        self.check_refused({**whole, "SUDO_UID": "0"}, b"user database")
        self.check_refused({**whole, "SUDO_GID": "0"}, b"user database")
        self.check_refused({**whole, "SUDO_USER": "daemon"}, b"user database")
        self.check_refused({**whole, "SUDO_USER": "no-such-user"}, b"user database")

    def test_from_elsewhere(self):
        """The user exists, but is not who started this process."""
        self.assertEqual(self.run_record(self.path("r.jitbpf")).returncode, 0)
        user = pwd.getpwnam("daemon")
        self.check_refused({"SUDO_UID": str(user.pw_uid), "SUDO_GID": str(user.pw_gid),
                            "SUDO_USER": "daemon"}, b"did not start")


class OthersFiles(OutputsTest):
    """Tries: a user names root's files as outputs, through sudo.
    Must hold: their contents, owner and mode stay."""

    def test_others_files(self):
        folder = self.make_folder("roots")
        path = self.put(os.path.join(folder, "config.html"))
        for output in (path, os.path.join(folder, "new.html")):
            done = self.run_record(output, user=USER, command=["touch", self.path("ran")])
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(b"user nobody", done.stderr)
        self.check_kept(path)
        self.assertEqual(os.listdir(folder), ["config.html"])

    def test_command(self):
        """The command has the user's groups, and no capability."""
        done = self.run_record(os.path.join(self.make_folder("theirs", self.uid), "out.html"),
                               user=USER, command=["sh", "-c", "id -u; id -G; id -ru; echo $HOME;"
                                                   "grep -E 'Cap(Inh|Prm|Eff|Amb)' "
                                                   "/proc/self/status"])
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.decode().splitlines()
        self.assertEqual(lines[:4], [str(self.uid), str(pwd.getpwnam(USER).pw_gid),
                                     str(self.uid), pwd.getpwnam(USER).pw_dir])
        self.assertEqual({line.split()[1] for line in lines[4:]}, {"0" * 16})


@attack.sample
class Links(OutputsTest):
    """Tries: links, FIFOs and folders of another user at the path of an output.
    Must hold: no file that a link leads to is changed, and nothing is written for its owner."""

    def setUp(self):
        super().setUp()
        self.roots = self.make_folder("roots")
        self.target = self.put(os.path.join(self.roots, "config.html"))
        self.sticky = self.make_folder("sticky", mode=0o1777)
        self.output = os.path.join(self.sticky, "out.html")

    def check_refused(self, output, said, user=None):
        before = sorted(os.listdir(self.sticky))
        done = self.run_record(output, user=user, command=["touch", self.path("ran")])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(said, done.stderr)
        self.assertFalse(os.path.exists(self.path("ran")))
        self.check_kept(self.target)
        self.assertEqual(os.listdir(self.roots), ["config.html"])
        self.assertEqual(sorted(os.listdir(self.sticky)), before)

    def test_link_to_a_file(self):
        for target in (self.target, os.path.join(self.roots, "new.html")):
            os.symlink(target, self.output)
            os.lchown(self.output, attack.ATTACKER, attack.ATTACKER)
            self.check_refused(self.output, b"link")
            os.unlink(self.output)

    def test_link_to_a_folder(self):
        os.symlink(self.roots, os.path.join(self.sticky, "logs"))
        os.lchown(os.path.join(self.sticky, "logs"), attack.ATTACKER, attack.ATTACKER)
        self.check_refused(os.path.join(self.sticky, "logs", "config.html"), b"link")

    def test_own_link(self):
        """Links of root and of the user who calls sudo are followed."""
        theirs = self.make_folder("theirs", self.uid)
        for owner, user in ((0, None), (0, USER), (self.uid, USER)):
            os.symlink(os.path.join(theirs, "real.html"), self.output)
            os.lchown(self.output, owner, owner)
            done = self.run_record(self.output, user=user)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(os.path.islink(self.output))
            self.check_owner(os.path.join(theirs, "real.html"), self.uid if user else 0)
            os.unlink(self.output)
            os.unlink(os.path.join(theirs, "real.html"))

    def test_hard_link(self):
        os.link(self.target, self.output)
        done = self.run_record(self.output)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_kept(self.target)
        self.check_owner(self.output, 0)

    def test_fifo(self):
        os.mkfifo(self.output)
        os.chown(self.output, attack.ATTACKER, attack.ATTACKER)
        reader = os.open(self.output, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.check_refused(self.output, b"another user")
        self.check_refused(self.output, b"another user", USER)

    def test_folder_is_replaced(self):
        """The folder is the attacker's, who moves it away and puts a link to root's there."""
        theirs = self.make_folder("theirs", attack.ATTACKER)
        inner = self.make_folder("theirs/inner", attack.ATTACKER)
        output = os.path.join(inner, "config.html")
        with subprocess.Popen([harness.JITBPF, "record", "-q", "-d", "2", "-o", output, "-o",
                               os.path.join(theirs, "r.jitbpf")],
                              stderr=subprocess.PIPE) as process:
            self.wait_for(lambda: os.path.exists(os.path.join(theirs, "r.jitbpf")))
            time.sleep(0.2)
            self.attack([sys.executable, "-c", f"""if True:
                import os
                os.rename({inner!r}, {inner + ".moved"!r})
                os.symlink({self.roots!r}, {inner!r})
                print("replaced")"""])
            stderr = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 0, stderr)
        self.check_kept(self.target)
        self.check_owner(os.path.join(inner + ".moved", "config.html"), 0)

    def test_rotated_file_is_replaced(self):
        """Files that --keep deletes: the attacker's folder has links of their names to root's."""
        theirs = self.make_folder("theirs", attack.ATTACKER)
        inner = self.make_folder("theirs/inner", attack.ATTACKER)
        with subprocess.Popen([harness.JITBPF, "record", "-q", "-d", "5", "--rotate", "1",
                               "--keep", "1", "-o", os.path.join(inner, "r.jitbpf")],
                              stderr=subprocess.PIPE) as process:
            names = self.wait_for(lambda: os.listdir(inner))
            decoy = self.put(os.path.join(self.roots, names[0]))
            self.attack([sys.executable, "-c", f"""if True:
                import os
                os.rename({inner!r}, {inner + ".moved"!r})
                os.symlink({self.roots!r}, {inner!r})
                print("replaced")"""])
            stderr = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 0, stderr)
        self.check_kept(decoy)
        self.assertEqual(len(os.listdir(inner + ".moved")), 1)
        self.assertEqual(len(os.listdir(self.roots)), 2)
        self.assertTrue(os.path.isdir(theirs))
