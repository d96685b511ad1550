# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Calls whose callers are known: NAME__CALLER is called by CALLER, or by itself, only. So a stack in
which another function of this file calls it is impossible.

usage: python_frames.py SECONDS [THREADS]     CPU time of each thread; THREADS 0: the main thread only
"""
import re
import sys
import threading
import time


def spin__plain(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


def plain__main():
    return spin__plain(2000)


def key__sort(value):
    total = value
    for i in range(20):
        total = total * 5 % 1003 + i
    return total


def sort__main():
    return sorted(range(100), key=key__sort)


class Shop:
    def __init__(self):
        self.items = list(range(50))

    def price__total(self, item):
        amount = item
        for i in range(30):
            amount = amount * 3 % 101 + i
        return amount

    def total__main(self):
        total = 0
        for item in self.items:
            total += self.price__total(item)
        return total

    @property
    def value__main(self):
        return spin__value(1500)


def spin__value(count):
    total = 0
    while count:
        count -= 1
        total ^= count
    return total


def deep__recurse(n):
    if n == 0:
        total = 0
        for i in range(500):
            total += i & 3
        return total
    return deep__recurse(n - 1)


def recurse__main():
    return deep__recurse(60)


def generate__consume(count):
    for i in range(count):
        value = i
        for _ in range(10):
            value = value * 7 % 13
        yield value


def consume__main():
    total = 0
    for value in generate__consume(100):
        total += value
    return total


def inner__outer(count):
    total = 0
    for i in range(count):
        total += i % 3
        if i % 100 == 0:
            yield total


def outer__delegate(count):
    yield from inner__outer(count)


def delegate__main():
    return sum(outer__delegate(1000))


async def work__task(count):
    total = 0
    for i in range(count):
        total += i * 3 % 11
    return total


async def task__drive():
    return await work__task(1500)


def drive__main():
    task = task__drive()
    try:
        task.send(None)
    except StopIteration as stop:
        return stop.value


def replace__substitute(match):
    total = 0
    for i in range(200):
        total += i
    return str(total % 10)


def substitute__main():
    return re.sub("a", replace__substitute, "banana")


TEMPLATE = """
def leaf__caller{n}(count):
    total = 0
    for i in range(count):
        total += i % {m}
    return total


def caller{n}__call():
    return leaf__caller{n}(300)
"""
SOURCES = [compile(TEMPLATE.format(n=n, m=n + 2), __file__ + f".made{n}", "exec", dont_inherit=True)
           for n in range(4)]
TEXTS = [(TEMPLATE.format(n=n, m=n + 2), __file__ + f".made{n}") for n in range(4)]


def again__main(n):
    """Code objects of other functions are freed before, and are where these are made now."""
    made = {}
    if n % 3:
        exec(SOURCES[n % 4], made)  # pylint: disable=exec-used
    else:
        exec(compile(*TEXTS[n % 4], "exec"), made)  # pylint: disable=exec-used
    call__again(made[f"caller{n % 4}__call"])


def call__again(function):
    function()


def main(seconds):
    shop, n = Shop(), 0
    while time.thread_time() < seconds:
        plain__main()
        sort__main()
        shop.total__main()
        shop.value__main  # pylint: disable=pointless-statement
        recurse__main()
        consume__main()
        delegate__main()
        drive__main()
        substitute__main()
        for _ in range(4):
            n += 1
            again__main(n)


def run_threads(seconds, count):
    threads = [threading.Thread(target=main, args=(seconds,)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    if len(sys.argv) > 2 and int(sys.argv[2]):
        run_threads(float(sys.argv[1]), int(sys.argv[2]))
    else:
        main(float(sys.argv[1]))
