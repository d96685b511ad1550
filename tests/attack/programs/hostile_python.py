# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A real CPython that overwrites its own structures: frames, code objects, names, tables of lines.
It is honest about half of the time, so that a recorder accepts it, again and again.

usage: hostile_python.py KIND...     the functions attack_KIND in turns; it runs until it is ended
"""
import ctypes
import fcntl
import gc
import itertools
import mmap
import os
import struct
import sys
import time

MINOR = sys.version_info[1]
# Offsets: the caller and the function of a frame; first line, file, name and lines of a function.
PREVIOUS, FUNCTION = (24, 32) if MINOR < 11 else (48, 32) if MINOR == 11 else (8, 0)
LINE = 40 if MINOR < 11 else 72 if MINOR == 11 else 68
FILE, NAME, LINES = (104, 112, 120) if MINOR < 11 else (112, 128, 136)
TEXT_BYTES = 40 if MINOR >= 12 else 48  # of an ASCII string, before its characters
THREAD_NEXT, THREAD_INTERPRETER = 8, 16
PAGE = 4096
PIECE = 0.03  # seconds of one lie, and of the truth between two


def word(address):
    return ctypes.c_uint64.from_address(address)


def map_pages(pages):
    """Returns the address of zeroed memory, and a view of it."""
    memory = mmap.mmap(-1, pages * PAGE)
    MAPPED.append(memory)
    return ctypes.addressof(ctypes.c_char.from_buffer(memory)), memoryview(memory).cast("B")


MAPPED = []
GARBAGE, garbage = map_pages(16)
garbage[:] = os.urandom(len(garbage))
ANYWHERE = [1, 8, 0x1000, 0x7fffdeadb000, (1 << 47) - 8, 1 << 47, 1 << 63, 0xffff888000000000,
            0xffffffffff600000, (1 << 64) - 8, (1 << 64) - 1, GARBAGE, GARBAGE + 3,
            GARBAGE + 16 * PAGE - 8, id(gc), id(struct) + 4, ctypes.addressof(ctypes.py_object(0))]


def frame_address(frame):
    return word(id(frame) + 24).value if MINOR >= 11 else id(frame)


def spin(seconds):
    """Its callers' frames are changed while it runs."""
    end = time.monotonic() + seconds
    total = 0
    while time.monotonic() < end:
        for i in range(200):
            total += i * i % 7
    return total


def lie(addresses, values):
    """Spins while the words at the addresses have these values. Restores them."""
    before = [word(address).value for address in addresses]
    for address, value in zip(addresses, values):
        word(address).value = value
    spin(PIECE)
    for address, value in zip(addresses, before):
        word(address).value = value


def holder(make, value):
    """The frames of this function and of its caller may be changed. make() returns what is."""
    lie(*make(frame_address(sys._getframe()), frame_address(sys._getframe(1)), value))


def attack_frames():
    """Lists with loops, frames in the middle of frames, and anywhere."""
    loops = [lambda own, caller, _: ([own + PREVIOUS], [own]),
             lambda own, caller, _: ([caller + PREVIOUS], [own]),
             lambda own, caller, _: ([own + PREVIOUS], [own + 8]),
             lambda own, caller, _: ([own + PREVIOUS], [own - 24]),
             lambda own, caller, _: ([own + PREVIOUS], [caller + 4])]
    pointers = [lambda own, caller, value: ([own + PREVIOUS], [value]),
                lambda own, caller, value: ([caller + FUNCTION], [value]),
                lambda own, caller, value: ([caller + PREVIOUS, caller + FUNCTION], [value, value])]
    for make, value in itertools.cycle([(make, 0) for make in loops] +
                                       list(itertools.product(pointers, ANYWHERE))):
        holder(make, value)
        yield


def attack_chain():
    """A thousand frames, of functions that are new in each sample."""
    count = 1000
    frames, frame_bytes = map_pages(count * 128 // PAGE + 1)
    functions, function_bytes = map_pages(count * 256 // PAGE + 1)
    for i in range(count):
        struct.pack_into("<Q", frame_bytes, i * 128 + PREVIOUS, frames + (i + 1) % count * 128)
        struct.pack_into("<Q", frame_bytes, i * 128 + FUNCTION, functions + i * 256)

    def change(own):
        word(own + PREVIOUS).value, before = frames, word(own + PREVIOUS).value
        for _ in range(100):
            function_bytes[:] = os.urandom(len(function_bytes))
            spin(0.001)
        word(own + PREVIOUS).value = before

    while True:
        change(frame_address(sys._getframe()))
        yield


def text_object(length, state, pointer=0, characters=b""):
    """Returns the address of what looks like a string, with the characters behind its head."""
    address, view = map_pages(1)
    head = struct.pack("<QQqqIIQQ", 1 << 30, word(id("") + 8).value, length, 7, state, 0, pointer, 0)
    head = head[:TEXT_BYTES].ljust(TEXT_BYTES, b"\0") + characters
    view[:len(head)] = head
    for at in (TEXT_BYTES, TEXT_BYTES + 16, TEXT_BYTES + 24):
        if pointer:
            struct.pack_into("<Q", view, at, pointer)
    return address


def lines_object(length, pattern):
    """Returns the address of what looks like bytes: a table of lines."""
    address, view = map_pages(64)
    struct.pack_into("<QQqq", view, 0, 1 << 30, word(id(b"") + 8).value, length, 7)
    view[32:] = (pattern * (len(view) // len(pattern) + 1))[:len(view) - 32]
    return address


def functions_of_lie():
    return [code_of(function) for function in (spin, lie, holder)]


def code_of(function):
    return id(function.__code__)


def lie_about(functions, offset, value):
    lie([function + offset for function in functions], [value] * len(functions))


def attack_names():
    """Names that lie about their lengths, and are anywhere."""
    ascii_compact, one, two, four = 1 << 6 | 1 << 5 | 1 << 2, 1 << 2, 2 << 2, 4 << 2
    texts = ANYWHERE + [text_object(length, state, pointer, b"attacker" * 200)
                        for length in (1 << 30, 1 << 62, -1, 0, 5)
                        for state in (ascii_compact, 1 << 5 | one, 1 << 5 | two, 1 << 5 | four, 0)
                        for pointer in (0,)]
    texts += [text_object(1 << 30, state, pointer) for state in (one, two, four)
              for pointer in ANYWHERE]
    for text, offset in itertools.cycle(itertools.product(texts, (NAME, FILE))):
        lie_about(functions_of_lie(), offset, text)
        yield


def attack_lines():
    """Tables of lines that are endless, huge, or anywhere."""
    patterns = [b"\x80\x00", b"\xff" * 7, b"\xf0" + b"\x7f" * 8, b"\x01\x01", b"\xf8", b"\xe8\x02",
                b"\x02\x80", b"\0", bytes(range(256))]
    tables = ANYWHERE + [lines_object(length, pattern) for pattern in patterns
                         for length in (1 << 62, -1, 1 << 17)]
    for table in itertools.cycle(tables):
        lie_about(functions_of_lie(), LINES, table)
        for code in functions_of_lie():
            ctypes.c_uint32.from_address(code + LINE).value = table & 0xffffffff
        yield


def attack_rewrite():
    """Code objects that change while they are read."""
    codes = functions_of_lie()
    before = [ctypes.string_at(code, 144) for code in codes]
    name = text_object(1 << 30, 1 << 6 | 1 << 5 | 1 << 2, 0, b"attacker" * 100)
    for number in itertools.count():
        for code, words in zip(codes, before):
            word(code + NAME).value = name if number & 1 else struct.unpack_from("<Q", words, NAME)[0]
            ctypes.c_uint32.from_address(code + LINE).value = number & 0xffff
            word(name + 24).value = number
        if not number % 50:
            spin(0.001)
        if not number % 1000:
            yield


def hostile_texts():
    yield from ("attacker;frame", "attacker\nframe 7", "attacker\x1b[2J\x1b]0;attacker\x07",
                "attacker\udcff\udc80\ud800", "attacker\0end", "attacker\u202e\u2066<script>",
                "attacker" * 10000, "\U0001f40d" * 1000, "attacker\r\t(deleted) [unknown]", " ", ";")


def attack_texts():
    """Names that try to be something else where they are shown."""
    while True:
        for text in hostile_texts():
            def burn():
                spin(PIECE)
            named = {"co_qualname": text} if MINOR >= 11 else {}
            burn.__code__ = burn.__code__.replace(co_name=text, co_filename="/attacker/" + text, **named)
            burn()
            yield


def attack_huge():
    """A function whose name really has a gigabyte."""
    text = "attacker" * (1 << 27)

    def burn():
        spin(PIECE)
    named = {"co_qualname": text} if MINOR >= 11 else {}
    burn.__code__ = burn.__code__.replace(co_name=text, **named)
    while True:
        burn()
        yield


def attack_many():
    """Thousands of new functions each second, each with a long name and file of its own."""
    source = "".join(f"def f{i}():\n t = 0\n for i in range(99):\n  t += i\n" +
                     (f" f{i + 1}()\n" if i < 49 else "") for i in range(50))
    module = compile(source, "attacker", "exec")
    for number in itertools.count():
        codes, scope = [], {"range": range}
        for i, code in enumerate(code for code in module.co_consts if hasattr(code, "co_code")):
            text = f"attacker_{os.getpid()}_{number}_{i}_".ljust(900, "x")
            named = {"co_qualname": text} if MINOR >= 11 else {}
            codes.append(code.replace(co_name=text, co_filename="/" + text * 4, **named))
            scope[f"f{i}"] = type(spin)(codes[-1], scope)
        for _ in range(20):
            scope["f0"]()
        if not number % 20:
            yield


def stuck_pages(pages):
    """Returns the address of pages that nobody ever serves. Who reads them waits."""
    address, _view = map_pages(pages)
    libc = ctypes.CDLL(None)
    fd = libc.syscall(ctypes.c_long(323), os.O_CLOEXEC)
    assert fd >= 0, "userfaultfd"
    fcntl.ioctl(fd, 0xc018aa3f, bytearray(struct.pack("<QQQ", 0xaa, 0, 0)))
    fcntl.ioctl(fd, 0xc020aa00, bytearray(struct.pack("<QQQQ", address, pages * PAGE, 1, 0)))
    return address


def stick(pages):
    for number in itertools.count():
        at = pages + number % 60 * PAGE + 8
        for offset in (NAME, FILE, LINES):
            lie_about(functions_of_lie(), offset, at)
        holder(lambda own, caller, value: ([own + PREVIOUS], [value]), at)
        holder(lambda own, caller, value: ([caller + FUNCTION], [value]), at)
        yield


def attack_stuck():
    """Names, tables, frames and functions in memory that does not answer."""
    yield from stick(stuck_pages(64))


def attack_stuck_children():
    """The same of processes that are always new."""
    while True:
        for _ in range(4):
            if not os.fork():
                for _ in zip(range(3), stick(stuck_pages(64))):
                    spin(PIECE)
                os._exit(0)
        for _ in range(4):
            os.wait()
        yield


def attack_pages():
    """Structures in pages that come and go."""
    libc = ctypes.CDLL(None)
    text = text_object(20, 1 << 6 | 1 << 5 | 1 << 2, 0, b"attacker_in_a_page__")
    page = text & -PAGE
    lines = text_object(20, 0)
    changes = [lambda: libc.mprotect(ctypes.c_void_p(page), PAGE, 0),
               lambda: libc.mprotect(ctypes.c_void_p(page), PAGE, 3),
               lambda: libc.madvise(ctypes.c_void_p(lines & -PAGE), PAGE, 4)]
    for number in itertools.count():
        codes = functions_of_lie()
        before = [(word(code + NAME).value, word(code + LINES).value) for code in codes]
        for code in codes:
            word(code + NAME).value, word(code + LINES).value = text, lines
        for _ in range(200):
            for change in changes:
                change()
        for code, (name, table) in zip(codes, before):
            word(code + NAME).value, word(code + LINES).value = name, table
        yield


def attack_lists():
    """Lists of threads and interpreters with loops, in processes that are always new."""
    state = ctypes.pythonapi.PyThreadState_Get
    state.restype = ctypes.c_uint64
    while True:
        for next_at in (lambda own: own, lambda own: own + 8, lambda own: GARBAGE, lambda own: 1 << 63):
            if not os.fork():
                own = state()
                interpreter = word(own + THREAD_INTERPRETER).value
                word(own + THREAD_NEXT).value = next_at(own)
                for at in range(0, 80, 8):  # the next interpreter, too, wherever it is
                    if not word(interpreter + at).value:
                        word(interpreter + at).value = next_at(interpreter)
                end = time.monotonic() + 0.2
                while time.monotonic() < end:
                    pass
                os._exit(0)
            os.wait()
        yield


gc.disable()
print(flush=True)
spin(0.2)
attacks = [globals()["attack_" + kind]() for kind in sys.argv[1:]]
for attack in itertools.cycle(attacks):
    next(attack)
    spin(PIECE)
