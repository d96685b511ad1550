# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The JDKs of this machine."""

import glob
import os
import re
import shutil
import unittest


def major(jdk):
    """Returns the feature release of the JDK in a folder, such as 17."""
    with open(os.path.join(jdk, "release"), encoding="utf-8") as file:
        return int(re.search(r'^JAVA_VERSION="(\d+)', file.read(), re.M)[1])


def distribution():
    """Returns the folder of the JDK whose javac is in PATH, or None."""
    javac = shutil.which("javac")
    jdk = javac and os.path.dirname(os.path.dirname(os.path.realpath(javac)))
    return jdk if jdk and os.path.exists(os.path.join(jdk, "lib/server/libjvm.so")) else None


def of(version):
    """Returns the folder of a JDK of that feature release, or None."""
    for path in sorted(glob.glob("/usr/lib/jvm/*/release")):
        jdk = os.path.dirname(path)
        if os.path.exists(os.path.join(jdk, "bin/javac")) and major(jdk) == version:
            return jdk
    return None


JDK = distribution()
JDK_25 = of(25)
needs_jdk = unittest.skipUnless(JDK, "there is no JDK: no javac in PATH")
needs_jdk_25 = unittest.skipUnless(JDK_25, "there is no JDK 25 below /usr/lib/jvm")
