# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""make install and make uninstall, and what is installed."""

import os
import pathlib
import re
import subprocess

import harness

MULTIARCH = subprocess.run(["gcc", "-print-multiarch"], check=True, capture_output=True,
                           text=True).stdout.strip()
PARTS = f"lib/{MULTIARCH}/jitbpf"


def make(goal, *settings, within=()):
    """Runs make, not as a part of the make that runs this test. Returns its status and output."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    done = subprocess.run([*within, "make", "-C", harness.ROOT, goal,
                           f"B={os.path.relpath(harness.BUILD, harness.ROOT)}", *settings],
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    return done.returncode, done.stdout


def below(folder):
    """Returns the files and folders below a folder."""
    return sorted(path.relative_to(folder).as_posix()
                  for path in pathlib.Path(folder).rglob("*"))


class Installed(harness.KernelTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.prefix = os.path.join(self.folder, "pre fix")

    def install(self, *settings):
        status, output = make("install", *settings)
        self.assertEqual(status, 0, output)

    def uninstall(self, *settings):
        status, output = make("uninstall", *settings)
        self.assertEqual(status, 0, output)

    def test_record_and_remove(self):
        """A command of any user runs with the installed parts; nothing remains."""
        prefix = f"PREFIX={self.prefix}"
        self.install(prefix)
        first = below(self.prefix)
        self.install(prefix)  # over itself
        self.assertEqual(below(self.prefix), first)
        program = os.path.join(self.prefix, "bin/jitbpf")
        output = os.path.join(self.folder, "profile.folded")
        subprocess.run([program, "record", "-q", "-F", "499", *harness.WITH_CODE, "-o", output, "--",
                        *harness.php("tracing", 1)], check=True, stdout=subprocess.DEVNULL)
        self.assertRegex(pathlib.Path(output).read_text(), r"TRACE\$" if
                         harness.php_has_api() else "JIT|TRACE")
        printed = subprocess.run(["setpriv", "--reuid=61234", "--regid=61234", "--clear-groups",
                                  program, "env"], check=True, capture_output=True, text=True).stdout
        self.assertIn(f"'{self.prefix}/{PARTS}/libjitbpf.so'", printed)
        self.assertIn(f"{self.prefix}/{PARTS}/php", printed)
        os.remove(output)
        self.uninstall(prefix)
        self.assertEqual(below(self.folder), [])

    def test_folders_of_others_remain(self):
        os.makedirs(os.path.join(self.prefix, "share/man"))
        os.makedirs(os.path.join(self.prefix, PARTS))
        other = os.path.join(self.prefix, PARTS, "other")
        pathlib.Path(other).touch()
        before = below(self.folder)
        self.install(f"PREFIX={self.prefix}")
        self.uninstall(f"PREFIX={self.prefix}")
        self.assertEqual(below(self.folder), before)

    def test_staged(self):
        """With DESTDIR, for a package: the same files, whose contents have the final paths."""
        stage = os.path.join(self.folder, "stage")
        self.install(f"DESTDIR={stage}", "PREFIX=/usr")
        found = below(stage)
        for name in ("bin/jitbpf", f"{PARTS}/libjitbpf.so", f"{PARTS}/php/jitbpf.ini",
                     "share/man/man1/jitbpf-record.1", "share/zsh/site-functions/_jitbpf",
                     "share/bash-completion/completions/jitbpf",
                     "share/fish/vendor_completions.d/jitbpf.fish", "share/doc/jitbpf/LICENSE",
                     "share/doc/jitbpf/docs/engines/php.md"):
            self.assertIn(f"usr/{name}", found)
        for page in pathlib.Path(stage, "usr/share/doc/jitbpf").rglob("*.md"):
            for target in re.findall(r"\]\(([^):#]+)[^):]*\)", page.read_text()):
                self.assertTrue((page.parent / target).exists(), f"{page}: {target}")
        readme = pathlib.Path(stage, "usr/share/doc/jitbpf/README.md").read_text()
        blocks = re.findall(r"^```sh\n(.*?)^```$", readme, re.M | re.S)
        self.assertTrue(blocks[0].startswith("sudo jitbpf doctor"), blocks[0])
        self.assertNotRegex(readme, r"\bmake\b|build/|^<!--")
        unit = pathlib.Path(stage, "usr/lib/systemd/system/jitbpf.service").read_text()
        self.assertIn('ExecStart="/usr/bin/jitbpf" record ', unit)
        for path in pathlib.Path(stage).rglob("*"):
            self.assertEqual(path.stat().st_mode & 0o7777,
                             0o755 if path.is_dir() or path.name == "jitbpf" and
                             path.parent.name == "bin" else 0o644, path)
        self.uninstall(f"DESTDIR={stage}", "PREFIX=/usr")
        self.assertEqual(below(stage), [])

    def test_documents_need_no_source_tree(self):
        """No installed document has a command that only the source tree has. Names of its files
        in prose say where a measured program is, and remain."""
        stage = os.path.join(self.folder, "stage")
        self.install(f"DESTDIR={stage}", "PREFIX=/usr")
        share = pathlib.Path(stage, "usr/share")
        pages = sorted((share / "doc/jitbpf").rglob("*.md"))
        self.assertEqual({page.relative_to(share / "doc/jitbpf").as_posix() for page in pages},
                         {"README.md", "SECURITY.md", *(
                             path.relative_to(harness.ROOT).as_posix()
                             for path in pathlib.Path(harness.ROOT, "docs").rglob("*.md"))})
        for page in pages:
            text = page.read_text()
            with self.subTest(page.relative_to(share).as_posix()):
                self.assertNotRegex(text, r"(?m)^<!--")
                blocks = re.findall(r"^```(?:sh|console)\n(.*?)^```$", text, re.M | re.S)
                prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
                for code in blocks:
                    self.assertNotRegex(code, r"\bmake\b|\b(build|tools|tests)/")
                for code in re.findall(r"`([^`]+)`", prose):
                    self.assertNotRegex(code, r"^(sudo )?make\b|\b(build|tools)/")
        for page in sorted((share / "man").rglob("*.1")):
            with self.subTest(page.name):
                self.assertNotRegex(page.read_text(), r"build/jitbpf|\bmake (install|test|deb)\b")

    def check_failed(self, prefix, within=()):
        """Nothing changes, and the message names the folder and the reason."""
        was = below(self.folder)
        status, output = make("install", f"PREFIX={prefix}", within=within)
        self.assertNotEqual(status, 0)
        said = re.findall(r"^make install: (.*) cannot be written: .+; nothing was installed$",
                          output, re.M)
        self.assertEqual(len(said), 1, output)
        self.assertIn(prefix, said[0])
        self.assertEqual(below(self.folder), was)

    def test_places_that_take_no_files(self):
        """The mounts are seen by one make alone, and go with it."""
        os.mkdir(self.prefix)
        left = os.path.join(self.folder, "left")
        pathlib.Path(left).touch()
        for options in ("size=1M,ro", "size=300k"):
            self.check_failed(self.prefix, (
                "unshare", "--mount", "sh", "-c",
                f"mount --make-rprivate / && mount -t tmpfs -o {options} tmpfs '{self.prefix}' && "
                f"trap 'find \"{self.prefix}\" -mindepth 1 >\"{left}\"' EXIT && \"$@\"", "sh"))
            self.assertEqual(pathlib.Path(left).read_text(), "")
        pathlib.Path(self.prefix, "share").touch()
        self.check_failed(self.prefix)
        self.check_failed("/proc/nowhere")
