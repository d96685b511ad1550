# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fake_jvm.py MODE LIBJVM USER [LIBRARY]: a process that maps libjvm.so, but has no VM. Prints "ready", then
each SIGQUIT."""

import ctypes
import mmap
import os
import signal
import socket
import sys
import threading
import time

MODE, LIBRARY, USER = sys.argv[1], sys.argv[2], int(sys.argv[3])
PR_SET_NAME = 15

libc = ctypes.CDLL(None)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # a shell's background jobs ignore it


def say(text):
    print(text, flush=True)


def thread(name, named):
    libc.prctl(PR_SET_NAME, name, 0, 0, 0)
    named.set()
    time.sleep(1000)


def listen(answer):
    """Listens where a JVM does, and calls answer() with each connection."""
    path = f"/tmp/.java_pid{os.getpid()}"
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(5)

    def serve():
        while True:
            connection, _ = server.accept()
            threading.Thread(target=answer, args=[connection], daemon=True).start()
    threading.Thread(target=serve, daemon=True).start()


def garbage(connection):
    connection.recv(100)
    connection.sendall(b"\xff\x00no number\n" * 10)
    connection.close()


def endless(connection):
    try:
        while True:
            connection.sendall(b"0\n" + b"x" * 4096)
    except OSError:
        pass


def silent(_connection):
    time.sleep(1000)


mapped = []
for path in filter(None, [LIBRARY, *sys.argv[4:]]):
    with open(path, "rb") as library:
        mapped.append(mmap.mmap(library.fileno(), 0, flags=mmap.MAP_PRIVATE,
                                prot=mmap.PROT_READ | mmap.PROT_EXEC))


if MODE == "many":
    # Below libjvm.so, so that it comes behind 16 MB of /proc/PID/maps.
    folder = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), *["x" * 250] * 12)
    os.makedirs(folder)
    with open(os.path.join(folder, "file"), "wb+") as long_path:
        long_path.truncate(4096)
        mapped += [mmap.mmap(long_path.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
                   for _ in range(7000)]


def take_signal(*_):
    say("SIGQUIT")
    if MODE == "slow":
        while not os.path.exists("/tmp/jitbpf-test-ended"):
            time.sleep(0.05)
        time.sleep(0.5)
        say("asked" if os.path.exists(f"/tmp/.attach_pid{os.getpid()}") else "dump")


if MODE != "uncaught":
    signal.signal(signal.SIGQUIT, take_signal)
if MODE not in ("plain", "uncaught"):
    for name in (b"VM Thread", b"Signal Dispatch"):
        named = threading.Event()
        threading.Thread(target=thread, args=[name, named], daemon=True).start()
        named.wait()
if MODE in ("garbage", "endless", "silent"):
    listen({"garbage": garbage, "endless": endless, "silent": silent}[MODE])
if MODE == "foreign":
    listen(garbage)
    os.chown(f"/tmp/.java_pid{os.getpid()}", USER, USER)
if MODE == "file":
    with open(f"/tmp/.attach_pid{os.getpid()}", "wb"):
        os.chown(f"/tmp/.attach_pid{os.getpid()}", USER, USER)
if MODE == "links":
    os.symlink("/tmp/jitbpf-test-planted", f"/tmp/.java_pid{os.getpid()}")
    os.symlink("/tmp/jitbpf-test-planted", f"/tmp/.attach_pid{os.getpid()}")
if MODE == "link":
    os.symlink("/nonexistent", f"/tmp/.attach_pid{os.getpid()}")
say("ready")
while MODE != "many" or not os.path.exists("/tmp/jitbpf-test-ended"):
    end = time.process_time() + 0.01
    while time.process_time() < end:
        pass
    time.sleep(0.02)
