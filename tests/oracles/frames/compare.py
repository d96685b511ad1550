#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""compare.py ROWS FILE...: compares our unwind rows of all code of ELF files with readelf's output
of their call frame information. Expressions are read from llvm-dwarfdump."""
import re
import subprocess
import sys

ENTRY = re.compile(r"^([0-9a-f]{8,}) [0-9a-f]{8,} [0-9a-f]{8,} (CIE|FDE)"
                   r"(?: cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.\.?([0-9a-f]+))?")
SECTION = re.compile(r"^(?:Contents of the )?\.z?(eh|debug)_frame (?:section|contents)")
INSTRUCTION = re.compile(r"^  DW_CFA_(\w+):(?: (.*))?$")
REGISTER = re.compile(r"^(RSP|RBP)([+-]\d+)?$")
SAVED_CFA = re.compile(r"^DW_OP_breg6 RBP([+-]\d+), DW_OP_deref$")
SAVED_RSP = re.compile(r"^DW_OP_breg7 RSP([+-]\d+), DW_OP_deref, DW_OP_plus_uconst 0x8$")
AT_RBP = re.compile(r"^\[DW_OP_breg6 RBP([+-]\d+)\]$")
AT_RSP = re.compile(r"^\[DW_OP_breg7 RSP([+-]\d+)\]$")
AT_CFA = re.compile(r"^\[CFA([+-]\d+)\]$")
PLT = ("DW_OP_breg7 RSP+8, DW_OP_breg16 RIP+0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, "
       "DW_OP_lit3, DW_OP_shl, DW_OP_plus")
GUESS, UNKNOWN = "frame-pointer", "unknown"


def fits(offset):
    return offset % 8 == 0 and -(1 << 30) <= offset <= 1 << 30


def is_signal(cfa, of):
    return (cfa == "DW_OP_breg7 RSP+160, DW_OP_deref" and of["RIP"] == "[DW_OP_breg7 RSP+168]"
            and of.get("RBP") == "[DW_OP_breg7 RSP+120]")


def rule(cfa, of):
    """Returns our rule for a CFA and the registers' rules `of`."""
    ra, rbp = of.get("RIP"), of.get("RBP", "same")
    if ra == "undefined":
        return "root"
    if ra and is_signal(cfa, of):
        return "signal"
    if ra != "[CFA-8]" or of.get("RSP", "same") not in ("same", "CFA", "CFA+0"):
        return UNKNOWN
    if cfa == PLT:
        return "plt" if rbp == "same" else UNKNOWN
    register, saved, saved_rsp = (at.match(cfa) for at in (REGISTER, SAVED_CFA, SAVED_RSP))
    if register:
        base, offset = register[1], int(register[2] or 0)
        said = "%s%+d" % (base.lower(), offset)
    elif saved:
        base, offset = None, int(saved[1])
        said = "*(rbp%+d)" % offset
    elif saved_rsp:
        base, offset = "memory", int(saved_rsp[1])
        said = "*(rsp%+d)+8" % offset
    else:
        return UNKNOWN
    if not fits(offset):
        return UNKNOWN
    if rbp == "same":
        return said
    at_cfa, at_rbp, at_rsp = AT_CFA.match(rbp), AT_RBP.match(rbp), AT_RSP.match(rbp)
    if base and at_cfa:
        place, of_what = int(at_cfa[1]), "cfa"
    elif base == "RBP" and at_rbp:
        place, of_what = int(at_rbp[1]) - offset, "cfa"
    elif base == "RSP" and at_rsp:
        place, of_what = int(at_rsp[1]) - offset, "cfa"
    elif not base and at_rbp:
        place, of_what = int(at_rbp[1]), "rbp"
    else:
        return UNKNOWN
    if place % 8 or not -(1 << 18) <= place < (1 << 18) - 8:
        return UNKNOWN
    return "%s %s%+d" % (said, of_what, place)


def expressions(path):
    """Returns the expressions by section, FDE and register, with their start addresses."""
    found, section, key = {}, None, None
    at, texts, remembered = 0, {}, []
    dump = subprocess.Popen(["llvm-dwarfdump", "--eh-frame", path], stdout=subprocess.PIPE,
                            text=True, errors="replace")
    for line in dump.stdout:
        if match := SECTION.match(line):
            section = match[1]
        elif match := ENTRY.match(line):
            key, texts, remembered = (section, int(match[1], 16)), {}, []
            at = int(match[4] or "0", 16)
        elif match := INSTRUCTION.match(line):
            name, operands = match[1], match[2]
            if name.startswith("advance_loc"):
                at += int(operands.split()[0])  # newer ones add "to 0x1234"
            elif name == "remember_state":
                remembered.append(dict(texts))
            elif name == "restore_state":
                texts = remembered.pop()
            elif name == "def_cfa_expression":
                texts["CFA"] = operands
            elif name == "expression":
                register, text = operands.split(" ", 1)
                texts[register] = text
            found.setdefault(key, []).append((at, dict(texts)))
    if dump.wait():
        sys.exit(f"llvm-dwarfdump fails on {path}")
    return found


class Dump:
    """The functions of each section of a file: (start, end, [(address, rule)])."""

    def __init__(self, path):
        self.path = path
        self.texts = None
        self.common = {}
        self.rules = {}
        self.sections = {"eh": [], "debug": []}
        self.read()

    def expression(self, key, address, register):
        """Returns the text of the expression at an address."""
        if self.texts is None:
            self.texts = expressions(self.path)
        held = [texts for at, texts in self.texts.get(key, ()) if at <= address]
        return held[-1].get(register, "(none)") if held else "(none)"

    def rule_of(self, key, address, values):
        """values: a row that readelf prints, by column."""
        cfa = values["CFA"].upper()
        if cfa == "EXP":
            cfa = self.expression(key, address, "CFA")
        of = {}
        for column, register in (("rbp", "RBP"), ("rsp", "RSP"), ("ra", "RIP")):
            value = values.get(column, "s")
            if value == "exp":
                of[register] = "[%s]" % self.expression(key, address, register)
            elif value[0] == "c":
                of[register] = "[CFA%s]" % value[1:]
            elif value == "v+0":
                of[register] = "CFA"
            elif value == "u":
                of[register] = "undefined" if column == "ra" else "same"
            else:
                of[register] = "same" if value == "s" else "(other)"
        return rule(cfa, of)

    def read(self):
        dump = subprocess.Popen(["readelf", "--debug-dump=frames-interp,no-follow-links", self.path],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        section, entry, cie, columns, rows = "eh", None, None, (), None
        for line in dump.stdout:
            words = re.sub(r" \(\w+\)", "", line).split()
            if not words:
                continue
            if match := SECTION.match(line):
                section = match[1]
            elif match := ENTRY.match(line):
                entry, cie, rows = int(match[1], 16), match[3], []
                if match[2] == "CIE":
                    self.common[section, entry] = rows
                else:
                    start, end = int(match[4], 16), int(match[5], 16)
                    of_cie = self.common.get((section, int(cie, 16)), ())
                    rows += [(start, said) for _, said in of_cie[-1:]]
                    self.sections[section].append((start, end, rows))
            elif words[0] == "LOC":
                columns = words[1:]
            elif len(words) == len(columns) + 1 and re.fullmatch("[0-9a-f]{16}", words[0]):
                address, values = int(words[0], 16), dict(zip(columns, words[1:]))
                key = (line if "exp" in line else tuple(words[1:] + columns))
                if key not in self.rules:
                    self.rules[key] = self.rule_of((section, entry), address, values)
                rows.append((address, self.rules[key]))
        if dump.wait():
            sys.exit(f"readelf fails on {self.path}")


def dumped(path):
    sections = Dump(path).sections
    return [sorted(sections[name], key=lambda function: function[0]) for name in ("eh", "debug")]


def code(path):
    """Returns the executable segments: (start, end) by address."""
    text = subprocess.run(["readelf", "-lW", path], check=True, capture_output=True,
                          text=True).stdout
    found = re.findall(r"^  LOAD +\S+ (\S+) \S+ (\S+) \S+ (..E)", text, re.M)
    return [(int(at, 16), int(at, 16) + int(size, 16)) for at, size, _ in found]


def fill(gap, sections, add):
    """Adds the rules of [start, end): of the first section, and of the next one in its gaps."""
    start, end = gap
    if not sections:
        add(start, GUESS)
        return
    at = start
    functions = sections[0]
    for i, (low, high, rows) in enumerate(functions):
        if i + 1 < len(functions):
            high = min(high, functions[i + 1][0])
        low, high = max(low, at), min(high, end)
        if low >= high:
            continue
        if low > at:
            fill((at, low), sections[1:], add)
        held = [row for row in rows if row[0] <= low][-1:]
        for address, said in held + [row for row in rows if low < row[0] < high]:
            add(max(address, low), said)
        at = high
    if at < end:
        fill((at, end), sections[1:], add)


def expected(path):
    rows, sections = [], dumped(path)

    def add(address, said):
        if not rows or rows[-1][1] != said:
            rows.append((address, said))
    for segment in code(path):
        rows.append((segment[0], None))
        fill(segment, sections, add)
        rows = [row for row in rows if row[1]]
    return rows


def matches(path, code):
    """Yields the start and the end of each match of a regular expression in the file's code, and the
    byte before it. Addresses."""
    with open(path, "rb") as file:
        data = file.read()
    text = subprocess.run(["readelf", "-lW", path], check=True, capture_output=True,
                          text=True).stdout
    for offset, address, size in re.findall(r"^  LOAD +(\S+) (\S+) \S+ (\S+) \S+ ..E", text, re.M):
        start, move = int(offset, 16), int(address, 16) - int(offset, 16)
        for found in re.compile(code, re.S).finditer(data, start, start + int(size, 16)):
            yield found.start() + move, found.end() + move, data[found.start() - 1:found.start()]


def signal_returns(path):
    """Returns the signal trampolines, whose call frame information is not used, with a byte of the padding behind."""
    code = rb"(?:\x48\xc7\xc0|\xb8)\x0f\0\0\0\x0f\x05"
    padding = rb"[\x90\xcc\xf4]|\x0f[\x0b\x1f]|\x66(?:[\x90\x2e\x66]|\x0f\x1f)"
    padded = {start for start, _end, _before in matches(path, code + b"(?:" + padding + b")")}
    for start, end, _before in matches(path, code):
        yield start - 1, end + (start in padded)


def context_starts(path):
    """Returns where contexts of glibc and of Boost begin: up to a hlt, without a caller."""
    for start, end, before in matches(path, rb"\x48\x89\xdc\x48\x8b\x3c\x24\x48\x85\xff\x74.*?\xf4"):
        yield start - (before != b"\xc3"), end
    for start, end, _before in matches(path, rb"\xff\xe3\x48\x31\xff\xe8....\xf4"):
        yield start, end


def overlay(rows, start, end, said):
    """Returns the rows with [start, end) replaced by `said`."""
    behind = [row for row in rows if row[0] <= end][-1][1]
    new = [row for row in rows if row[0] < start] + [(start, said), (end, behind)] + \
        [row for row in rows if row[0] > end]
    return [row for i, row in enumerate(new) if not i or row[1] != new[i - 1][1]]


def ours(program, path):
    run = subprocess.run([program, path], check=True, capture_output=True, text=True)
    rows = []
    for line in run.stdout.splitlines():
        address, said = line.split(" ", 1)
        if not rows or rows[-1][1] != said:
            rows.append((int(address, 16), said))
    return rows, run.stderr.strip()


def shares(path, rows):
    """Returns the bytes of code by kind of rule."""
    ends = [row[0] for row in rows[1:]] + [max(end for _, end in code(path))]
    total = {}
    for (address, said), end in zip(rows, ends):
        total[said] = total.get(said, 0) + max(end - address, 0)
    return total


def compare(program, path):
    rows, figures = ours(program, path)
    theirs = expected(path)
    for start, end in signal_returns(path):
        theirs = overlay(theirs, start, end, "signal")
    for start, end in context_starts(path):
        theirs = overlay(theirs, start, end, "root")
    wrong = sorted(set(rows) ^ set(theirs))
    total = shares(path, rows)
    size = sum(total.values())
    print("%s: %d rows, %d differ; unknown %.2f%%, guessed %.2f%%; %s" % (
        path, len(rows), len(wrong), 100 * total.get(UNKNOWN, 0) / size,
        100 * total.get(GUESS, 0) / size, figures))
    for address, said in wrong[:10]:
        print("  %x: %s %s" % (address, "ours:" if (address, said) in set(rows) else "theirs:", said))
    return not wrong and len(rows) > 1


def main():
    results = [compare(sys.argv[1], path) for path in sys.argv[2:]]
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
