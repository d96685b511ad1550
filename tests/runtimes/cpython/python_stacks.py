# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Calls of many kinds and several threads. In the innermost call, the program writes the stacks of
all threads to a file, as Python itself sees them, and stops.

usage: python_stacks.py FILE     Python 3.9 or later
"""
import functools
import os
import signal
import sys
import threading
import time
import zlib

OUT = sys.argv[1]


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def chain(frame):
    while frame:
        yield f"{name_of(frame.f_code)} {frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back


def dump():
    lines = []
    for ident, frame in sys._current_frames().items():
        lines.append(f"thread {ident}")
        lines += chain(frame)
    # Half of a surrogate pair stands for a byte that is not UTF-8.
    text = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in "\n".join(lines))
    with open(OUT, "w", encoding="utf-8") as out:
        out.write(text + "\n")
    os.kill(os.getpid(), signal.SIGSTOP)


class Shop:
    class Inner:
        def method(self, n):
            return recurse(n)

    @staticmethod
    def static(n):
        return Shop.Inner().method(n)

    @property
    def value(self):
        return Shop.static(5)

    def __getattr__(self, name):
        return self.value


def recurse(n):
    if n:
        return recurse(n - 1)
    return sorted([3, 1, 2], key=by_key)


def by_key(x):
    if x != 1:
        return x
    return list(map(lambda y: functools.partial(with_generator, y)(), [x]))[0]


def generator(x):
    for i in range(3):
        if i == 1:
            through_names()
        yield i + x


def with_generator(x):
    total = 0
    for i in generator(x):
        total += sum(j for j in generator_outer(i))
    return total


def generator_outer(i):
    yield from inner_generator(i)


def inner_generator(i):
    yield i


SOURCE = '''
def été(f):
    def 函数(x):
        try:
            f()
        finally:
            pass

        return x


    return 函数(
        1)

async def coroutine(f):
    return await deeper(f)

async def deeper(f):
    été(f)

class 𝔘nicode:
    def __del__(self):
        self.f()

def run(f):
    try:
        coroutine(f).send(None)
    except StopIteration:
        pass
'''


def through_names():
    space = {}
    exec(compile(SOURCE, "/tmp/файл_\U0001f600_\udcff.py", "exec"), space)
    global done
    if not done:
        done = True
        space["run"](lambda: through_del(space))


done = False


def through_del(space):
    kind = next(v for k, v in space.items() if k.endswith("nicode"))

    def make():
        x = kind()
        x.f = dump

    make()


class Thread(threading.Thread):
    def run(self):
        self.work(3)

    def work(self, n):
        if n:
            return self.work(n - 1)
        ready.release()
        WAITS[self.name]()


def native():
    data = b"x" * (1 << 28)
    while True:
        zlib.crc32(data)


def sleep():
    time.sleep(1000)


def deep():
    deeper(150)


def deeper(n):
    if n:
        deeper(n - 1)
    else:
        stay.acquire()


ready = threading.Semaphore(0)
stay = threading.Lock()
stay.acquire()
WAITS = {"sleep": sleep, "lock": lambda: stay.acquire(), "native": native, "deep": deep}
for name in WAITS:
    Thread(name=name, daemon=True).start()
for name in WAITS:
    ready.acquire()
time.sleep(0.2)


def main():
    getattr(Shop(), "absent")


main()
os._exit(0)
