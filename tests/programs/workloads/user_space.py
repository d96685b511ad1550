# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""user_space.py ROOT ID COMMAND...: runs a command in a root, as a user of a new user namespace. Waits
for a line first: then the IDs of the namespace are mapped."""

import ctypes
import os
import sys

CLONE_NEWUSER = 0x10000000

ROOT, ID, COMMAND = sys.argv[1], int(sys.argv[2]), sys.argv[3:]

if ctypes.CDLL(None).unshare(CLONE_NEWUSER):
    sys.exit("unshare() failed")
sys.stdin.readline()
os.setgroups([])
os.setresgid(0, 0, 0)
os.setresuid(0, 0, 0)
os.chroot(ROOT)
os.chdir("/")
os.setresgid(ID, ID, ID)
os.setresuid(ID, ID, ID)
os.execv(COMMAND[0], COMMAND)
