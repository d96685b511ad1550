# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the summary and `list` advise where code has no names: the engine's name, and what was not
tried yet."""

import json
import os
import re
import shutil
import subprocess
import unittest

import harness

LOOP = "function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2); } for (;;) f(20);"
NODE_FUNCTIONS = r"Node\.js( \d+\.\d+\.\d+)?: its functions are in"
JIT = [word for word in harness.php_jit("tracing")[:-2] if word != "php"]


DASH = os.path.realpath("/bin/dash")


def package_of_stripped(path):
    """Returns the package of a file without symbols, or None."""
    if not shutil.which("dpkg-query"):
        return None
    has = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=False)
    for spelling in (path, path.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "-S", spelling], capture_output=True, text=True,
                               check=False)
        if not found.returncode and ".symtab" not in has.stdout:
            return found.stdout.rsplit(": ", 1)[0]
    return None


DASH_PACKAGE = package_of_stripped(DASH)


class Hints(harness.KernelTest):
    def advice(self, command):
        """Runs a command that ends by itself, or after a second of CPU time. V8 writes a log to its
        working directory."""
        return self.record(["prlimit", "--cpu=1", *command], ["-F", "499"], status=self.ends_with,
                           cwd=self.folder).stderr

    def setUp(self):
        super().setUp()
        self.ends_with = 137  # SIGKILL: the second is over

    def test_node(self):
        text = self.advice(["node", "-e", LOOP])
        self.assertRegex(text, NODE_FUNCTIONS)
        self.assertNotIn("jitbpf env", text)

    @harness.needs_php_api
    def test_php(self):
        self.ends_with = 0
        self.assertIn("(PHP's JIT is off: -d opcache.enable_cli=1",
                      self.advice(["php", harness.PHP_SCRIPT, "0.5"]))
        text = self.advice(["php", "-n", "-d", "zend_extension=opcache", *JIT, harness.PHP_SCRIPT,
                            "0.5"])
        self.assertIn("PHP: with -n, PHP does not read jitbpf's setting: add "
                      "-d opcache.jit_debug=128", text)

    @harness.needs_php_api
    def test_late_without_the_environment(self):
        with subprocess.Popen(["php", *JIT, harness.PHP_SCRIPT, "60"],
                              stdout=subprocess.DEVNULL) as process:
            self.addCleanup(process.kill)
            # It is listed before it has code: its functions are shown.
            self.wait_for(lambda: "is shown as [unknown]" in self.listed(process.pid).stderr)
            text = self.record_process(process.pid, 0.5, ["-F", "499"]).stderr
            process.kill()
        self.assertIn("PHP: start it with the variables of 'jitbpf env'", text)

    def unnamed(self, shell):
        """Records a shell without symbols. Returns its file's row of the JSON, and the summary."""
        run = self.record(["prlimit", "--cpu=1", shell, "-c", "while :; do :; done"],
                          ["-F", "499"], (".jitbpf", ".html"), status=self.ends_with)
        rows = {row["file"]: row for row in run.summary()["unnamed"]}
        return rows[shell], run

    def runs(self, run):
        """Returns the runtimes of the process with most samples: names and versions."""
        self.assertTrue(run.summary()["processes"], run.stderr)
        return [(one["name"], one.get("version", "")) for one in
                run.summary()["processes"][0].get("runtimes", [])]

    def said_version(self, command, pattern):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return re.search(pattern, done.stdout + done.stderr)[1]

    def called(self, name, command):
        """Returns the path of a link of that name to a program."""
        link = os.path.join(self.folder, name)
        os.symlink(os.path.realpath(shutil.which(command)), link)
        return link

    def test_runtimes(self):
        """Programs as users start them, by the file that they run and not by their names. The
        version is the runtime's own, as far as it is known."""
        script, source = (os.path.join(self.folder, name) for name in ("loop.py", "Loop.java"))
        with open(script, "w", encoding="ascii") as file:
            file.write("while True: sum(range(1000))\n")
        with open(source, "w", encoding="ascii") as file:
            file.write("class Loop { public static void main(String[] a) { for (;;) a = a.clone(); } }\n")
        self.compile_java([source])
        python, php = self.called("php-tool", "python3"), self.called("web", "php")
        java, node = self.called("node-app", "java"), self.called("java-web", "node")
        for command, name, version in (
                ([python, script], "CPython",
                 self.said_version([python, "-V"], r"Python (\d+\.\d+\.\d+)")),
                ([php, "-r", "for (;;) strrev('x');"], "PHP",
                 self.said_version([php, "-v"], r"PHP (\d+\.\d+\.\d+)")),
                ([java, "-cp", self.folder, "Loop"], "Java",
                 self.said_version([java, "-version"], r'version "([0-9.]+)')),
                ([node, "-e", LOOP], "Node.js",
                 self.said_version([node, "-v"], r"v(\d+\.\d+\.\d+)"))):
            with self.subTest(name):
                run = self.record(["prlimit", "--cpu=1", *command], ["-F", "499"],
                                  status=self.ends_with, cwd=self.folder)
                runs = self.runs(run)
                self.assertEqual([one[0] for one in runs], [name], run.stderr)
                self.assertTrue(f"{version}.".startswith(runs[0][1] and runs[0][1] + "."),
                                (runs, version))
                self.assertEqual("(PHP's JIT is off" in run.stderr, name == "PHP", run.stderr)
                if name != "Node.js":
                    self.assertNotIn("of Node.js 18 to 24 need no option", run.stderr)

    def test_title(self):
        """A server that names itself and its threads; it is recorded later."""
        with subprocess.Popen(["node", "-e", "process.title = 'java-web';" + LOOP]) as process:
            self.addCleanup(process.kill)
            self.wait_for(lambda: self.comm(process.pid) == "java-web")
            run = self.record_process(process.pid, 0.5, ["-F", "499"],
                                      (".jitbpf", ".txt", ".summary.json"))
            listed, data = (subprocess.run([harness.JITBPF, "list", *more, "-p", str(process.pid)],
                                           capture_output=True, check=True, text=True)
                            for more in ([], ["--json"]))
            process.kill()
        self.assertEqual([one[0] for one in self.runs(run)], ["Node.js"])
        with open(run.path(".summary.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["processes"], run.summary()["processes"])
        self.assertRegex(run.stderr, NODE_FUNCTIONS)
        self.assertRegex(listed.stdout, r"java-web +V8 ")
        self.assertIn("jitbpf: V8: functions of Node.js 18 to 24 need no option", listed.stderr)
        self.assertEqual(json.loads(data.stdout)["engines"][0]["runtimes"][0]["name"], "Node.js")

    def comm(self, pid):
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            return file.read().strip()

    def test_replaced_program(self):
        """The program was replaced by an upgrade while it runs, so its path has a suffix."""
        program = os.path.join(self.folder, "node")
        shutil.copy(os.path.realpath(shutil.which("node")), program)
        with subprocess.Popen([program, "-e", LOOP]) as process:
            self.addCleanup(process.kill)
            self.wait_for(lambda: self.comm(process.pid) == "node")
            os.unlink(program)
            run = self.record_process(process.pid, 0.5, ["-F", "499"])
            process.kill()
        self.assertEqual([one[0] for one in self.runs(run)], ["Node.js"])

    def test_files_with_such_names(self):
        """Another user's program that is called java, and maps a file called libphp.so: its own
        row says that, the row of another process does not."""
        os.chmod(self.folder, 0o755)
        liar = os.path.join(self.folder, "java")
        library = os.path.join(self.folder, "libphp.so")
        shutil.copy(DASH, liar)
        shutil.copy(os.path.realpath("/lib/x86_64-linux-gnu/libz.so.1"), library)
        with subprocess.Popen([liar, "-c", "while :; do :; done"], user=65534, group=65534,
                              extra_groups=(), env={"LD_PRELOAD": library}) as other, \
                subprocess.Popen(["node", "-e", LOOP]) as node:
            self.addCleanup(other.kill)
            self.addCleanup(node.kill)
            self.wait_for(lambda: self.comm(other.pid) == "java" and self.comm(node.pid) == "node")
            run = self.record_process(node.pid, 0.5, ["-F", "499"], others=[other.pid])
            node.kill()
            other.kill()
        rows = {row["pid"]: [one["name"] for one in row.get("runtimes", [])]
                for row in run.summary()["processes"]}
        self.assertEqual(rows, {node.pid: ["Node.js"], other.pid: ["PHP", "Java"]})

    @unittest.skipUnless(DASH_PACKAGE, "no package of dpkg has a stripped dash")
    def test_package_of_debug_symbols(self):
        """Of the file's package, as dpkg has it."""
        row, run = self.unnamed(DASH)
        self.assertEqual(row.get("package"), DASH_PACKAGE, row)
        self.assertGreater(row["samples"], 250)
        self.assertRegex(row["next"], r"^apt install dash-dbgsym \(needs \S.* in apt's sources\)")
        # prlimit, which starts it, may have a sample of its own.
        self.assertRegex(run.stderr, rf"samples without names of functions\n +in {DASH}( and \d+ others?)?\n +"
                         rf"next: {re.escape(row['next'])}\n")
        with open(run.path(".html"), encoding="utf-8") as page:
            self.assertIn(json.dumps(row["next"])[1:-1], page.read())

    @unittest.skipUnless(DASH_PACKAGE, "no package of dpkg has a stripped dash")
    def test_file_of_no_package(self):
        shell = os.path.join(self.folder, "shell")
        shutil.copy(DASH, shell)
        row, run = self.unnamed(shell)
        self.assertNotIn("package", row)
        self.assertEqual(row["next"], "no package has it: build it with symbols")
        self.assertIn(row["next"], run.report().stdout.decode())
        shutil.copy("/bin/true", shell + ".new")
        os.replace(shell + ".new", shell)
        # The build ID is not known if the file did not answer in time.
        self.assertNotIn("no package has it", run.report().stdout.decode())
        self.assertIn("NAME-dbgsym", run.report("--no-packages").stdout.decode())

    def listed(self, pid):
        done = subprocess.run([harness.JITBPF, "list", "-p", str(pid)], capture_output=True,
                              check=True, text=True)
        if "is shown as" in done.stderr:
            self.assertIn("is shown as [unknown]\njitbpf: PHP: start it with the variables",
                          done.stderr)
        return done


if __name__ == "__main__":
    unittest.main()
