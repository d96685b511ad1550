# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runtimes that pass the self-check, and then lie about their frames and functions. Must hold: the
functions of another user's processes of the same runtime have their true shares, their callers, and
no other names; the attacker's samples are all counted; memory, CPU time and descriptors of the
recorder are bounded."""

import glob
import os
import shutil
import subprocess
import unittest

import attack
from attack import ATTACKER, AttackTest, SHARES, Victim, sample

BYSTANDER = 61235  # user ID
PROGRAMS = os.path.join(attack.HERE, "programs")
PYTHON = "/usr/bin/python3"
USERFAULTFD = "/proc/sys/vm/unprivileged_userfaultfd"
MEMORY = 300 << 20  # of all processes of the recorder
RUNTIMES = ("[python]", "[php]")
LIBRARY = next(iter(glob.glob("/usr/lib/*/libpython3.*.so.1.0")), None)


def runtime_names(stack):
    """Names of the runtime's frames of a script sample, innermost first."""
    return [frame.name for frame in stack.frames if frame.module in RUNTIMES]


class RuntimeVictim(Victim):
    def names(self):
        return {frame.name for stack in self.samples for frame in stack.frames}

    def functions(self):
        counts = attack.collections.Counter()
        for stack in self.samples:
            counts[next(iter(runtime_names(stack)), "[none]")] += 1
        return counts

    def impossible(self):
        """Stacks of its functions that have other callers."""
        for stack in self.samples:
            names = runtime_names(stack)
            if names and names[0] in SHARES and (
                    names[1:3] != ["calls_" + names[0], "main"] or len(names) != 4):
                yield names


class RuntimeTest(AttackTest):
    victim_class = RuntimeVictim

    def python(self, *arguments):
        return [PYTHON, "-S", "-E", *arguments]

    def script(self, name):
        os.chmod(self.folder, 0o755)
        return shutil.copy(os.path.join(PROGRAMS, name), self.folder)

    def allow_userfaultfd(self):
        with open(USERFAULTFD, encoding="ascii") as file:
            before = file.read()
        self.addCleanup(self.write, USERFAULTFD, before)
        self.write(USERFAULTFD, "1")

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)

    def folder_of_attacker(self):
        folder = os.path.join(self.folder, "attacker")
        os.mkdir(folder)
        os.chown(folder, ATTACKER, ATTACKER)
        return folder

    def check_torn(self, victim, name, file, *command):
        """Attacks with what torn_files.py does to a file. Processes that run it are sampled."""
        torn = self.script("torn_files.py")
        self.check(self.python(torn, self.folder_of_attacker(), file, *command), victim,
                   accepted=False, sampled=name)

    def check(self, argv, victim, accepted=True, sampled=None):
        """Attacks with a process. accepted: its functions are shown, too. sampled: a name of
        processes of which there are samples."""
        victim = ["setpriv", f"--reuid={BYSTANDER}", f"--regid={BYSTANDER}", "--clear-groups",
                  *victim]
        profile = self.check_victim(argv=victim, during=lambda: self.attack(argv))
        self.assertEqual(list(profile.impossible())[:5], [])
        summary = self.check_ledger(profile.run)
        hostile = {attacker.pid for attacker in self.attackers}
        stacks = [stack for stack in profile.run.script() if stack.pid in hostile]
        if accepted:
            self.assertGreater(sum(bool(runtime_names(stack)) for stack in stacks), 20)
        if sampled:
            self.assertGreater(sum(stack.comm == sampled for stack in profile.run.script()), 20)
        self.assertNotIn("\x1b", profile.run.stderr)
        self.assertLess(profile.watch.memory, MEMORY)
        self.assertLess(profile.watch.files, 1000)
        # Of the time that the samples stand for, little is the recorder's.
        self.assertLess(profile.watch.cpu, summary["samples"]["taken"] / 999 / 3)


# Replaces the program that it runs, again and again.
REPLACE = """
echo
cd "$0"
while :; do
    cp "$1" runtime-$$
    ./runtime-$$ -S -E "$2" texts > out-$$ &
    sleep 0.$(($RANDOM % 3))
    case $(($RANDOM % 3)) in
    0) head -c 100000 /dev/urandom > other-$$ ;;
    1) head -c 3000000 "$1" > other-$$ ;;
    2) cp /bin/true other-$$ ;;
    esac
    chmod 755 other-$$
    mv -f other-$$ runtime-$$
    sleep 0.3
    kill -9 $!
done
"""


class Python(RuntimeTest):
    """Tries: what hostile_python.py says."""

    def check_python(self, *kinds):
        self.check(self.python(self.script("hostile_python.py"), *kinds),
                   self.python(self.script("runtime_victim.py")))

    @sample
    def test_all(self):
        self.allow_userfaultfd()
        self.check_python(*KINDS, "stuck")

    @sample
    def test_stuck_children(self):
        self.allow_userfaultfd()
        self.check_python("stuck_children", "lists")

    def test_huge(self):
        self.check_python("huge")

    def test_replaced(self):
        script = self.script("hostile_python.py")
        self.check(["bash", "-c", REPLACE, self.folder_of_attacker(), os.path.realpath(PYTHON),
                    script],
                   self.python(self.script("runtime_victim.py")), accepted=False)

    def test_torn_program(self):
        self.check_torn(self.python(self.script("runtime_victim.py")),
                        os.path.basename(os.path.realpath(PYTHON)), os.path.realpath(PYTHON),
                        "@", "-S", "-E", self.script("hostile_python.py"), "texts")

    def test_torn_library(self):
        if not LIBRARY:
            self.skipTest("the library of Python is not installed")
        self.check_torn(self.python(self.script("runtime_victim.py")), "library_host", LIBRARY,
                        self.program("library_host"), "@", "-S", "-E",
                        self.script("hostile_python.py"), "texts")


KINDS = ("frames", "chain", "names", "lines", "rewrite", "texts", "many", "pages")
for name in KINDS:
    setattr(Python, f"test_{name}", lambda self, kind=name: self.check_python(kind))


class Php(RuntimeTest):
    """Tries: what hostile_php.php says."""

    def php(self, script, *arguments):
        return ["php", "-d", "opcache.enable_cli=0", "-d", "memory_limit=-1", "-d",
                "zend.enable_gc=0", self.script(script), *arguments]

    def check_php(self, *kinds):
        modules = subprocess.run(["php", "-m"], capture_output=True, check=False).stdout.split()
        if b"FFI" not in modules:
            self.skipTest("no PHP with FFI")
        self.check(self.php("hostile_php.php", *kinds), self.php("runtime_victim.php"))

    @sample
    def test_all(self):
        self.allow_userfaultfd()
        self.check_php(*PHP_KINDS, "stuck")

    def test_torn_program(self):
        php = shutil.which("php")
        if not php:
            self.skipTest("no PHP")
        php = os.path.realpath(php)
        self.check_torn(self.php("runtime_victim.php"), os.path.basename(php)[:15], php,
                        "@", *self.php("runtime_victim.php")[1:])


PHP_KINDS = ("frames", "chain", "names", "code", "rewrite", "many", "pages")
for name in PHP_KINDS:
    setattr(Php, f"test_{name}", lambda self, kind=name: self.check_php(kind))

if __name__ == "__main__":
    unittest.main()
