# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs a program as sudo does for a user: a process of the user, whose effective user is root,
starts it as root with the user in SUDO_UID, SUDO_GID and SUDO_USER.

usage: as_sudo.py USER PROGRAM [ARGUMENT...]
"""

import os
import pwd
import sys


def environment(user):
    entry = pwd.getpwnam(user)
    return {"SUDO_UID": str(entry.pw_uid), "SUDO_GID": str(entry.pw_gid), "SUDO_USER": user}


def main(user, *argv):
    os.environ.update(environment(user))
    os.setresuid(pwd.getpwnam(user).pw_uid, 0, 0)
    pid = os.fork()
    if not pid:
        os.setresuid(0, 0, 0)
        os.execvp(argv[0], argv)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


if __name__ == "__main__":
    main(*sys.argv[1:])
