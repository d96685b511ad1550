# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""As victim.c, in Python: spends 10, 20, 33 and 37 percent of its time in four functions, until it
is ended. Each has a caller of its own."""


def victim_tenth(turns):
    chain = turns
    for _ in range(turns):
        chain = chain * 5 % 1003
    return chain


def victim_fifth(turns):
    chain = turns
    for _ in range(turns):
        chain = chain * 5 % 1003
    return chain


def victim_third(turns):
    chain = turns
    for _ in range(turns):
        chain = chain * 5 % 1003
    return chain


def victim_rest(turns):
    chain = turns
    for _ in range(turns):
        chain = chain * 5 % 1003
    return chain


def calls_victim_tenth(turns):
    return victim_tenth(turns * 10)


def calls_victim_fifth(turns):
    return victim_fifth(turns * 20)


def calls_victim_third(turns):
    return victim_third(turns * 33)


def calls_victim_rest(turns):
    return victim_rest(turns * 37)


def main():
    state = 1
    while True:
        state = state * 1103515245 + 12345 & 0x7fffffff
        turns = 50 + (state >> 16) % 100
        calls_victim_tenth(turns)
        calls_victim_fifth(turns)
        calls_victim_third(turns)
        calls_victim_rest(turns)


main()
