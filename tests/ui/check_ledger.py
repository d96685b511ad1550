# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The samples in every format of a recording are those of its ledger, with and without filters.
  check_ledger.py JITBPF RECORDING OTHER_RECORDING
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "kernel"))
import page_data  # noqa: E402
import recording  # noqa: E402


def check(what, said):
    if not what:
        sys.exit("check_ledger: " + said)


def members(data):
    """Yields (number, value) of a protobuf message; fields with a length are bytes."""
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 0x7f) << shift, shift + 7
            if byte < 0x80:
                return value
    at = 0
    while at < len(data):
        tag, value = varint(), varint()
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        yield tag >> 3, value


def pprof(path):
    """Returns the sum of the samples' first values."""
    total = 0
    for number, sample in members(gzip.open(path).read()):
        if number == 2:
            values = next(value for member, value in members(sample) if member == 2)
            total += next(value for _, value in members(b"\x08" + values))
    return total


def speedscope(path):
    profile = json.load(open(path, encoding="utf-8"))
    weights = [weight for one in profile["profiles"] for weight in one["weights"]]
    return sum(weights) // min(weights, default=1)


def firefox(path):
    return sum(thread["samples"]["length"] for thread in json.load(gzip.open(path))["threads"])


def folded(path):
    return sum(recording.folded(path).values())


READERS = {"folded": folded, "script": lambda path: len(recording.script(path)), "pprof": pprof, "firefox": firefox,
           "speedscope": speedscope, "html": lambda path: page_data.PageData(path).total}


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def delivered(jitbpf, path, *filters):
    samples = json.loads(run(jitbpf, "report", "--json", *filters, path))["samples"]
    fates = sum(samples[key] for key in ("resolved", "code_unknown", "stack_cut", "lost"))
    check(samples["taken"] == fates, f"{path} {filters}: the fates add up to {fates}, not to {samples['taken']}")
    check(f" {samples['taken']:,}\n".encode() in run(jitbpf, "report", "-f", "summary", *filters, path),
          f"{path} {filters}: the summary lacks the number of samples taken")
    return samples["taken"] - samples["lost"]


def check_formats(jitbpf, path, filters, out):
    wanted = delivered(jitbpf, path, *filters)
    for name, reader in READERS.items():
        run(jitbpf, "report", "-f", name, "-o", out, *filters, path)
        found = reader(out)
        check(found == wanted, f"{path} {filters}: {name} has {found} samples, not {wanted}")
    return wanted


def check_diff(jitbpf, paths, wanted, out):
    run(jitbpf, "diff", "-f", "folded", "-o", out, *paths)
    lines = [line.rsplit(" ", 2)[1:] for line in open(out, encoding="utf-8")]
    check([sum(int(line[side]) for line in lines) for side in (0, 1)] == wanted, f"diff has other samples than {wanted}")
    run(jitbpf, "diff", "-f", "html", "-o", out, *paths)
    check([page_data.PageData(out, side=side).total for side in (0, 1)] == wanted,
          f"the page of the diff has other samples than {wanted}")


def main():
    jitbpf, paths = sys.argv[1], sys.argv[2:4]
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        wanted = [check_formats(jitbpf, path, (), out) for path in paths]
        check(all(wanted), "there are no samples to count")
        check_diff(jitbpf, paths, wanted, out)
        for path, whole in zip(paths, wanted):
            parts = [check_formats(jitbpf, path, filters, out)
                     for filters in (("--to", "0.3"), ("--from", "0.3"), ("--comm", "nobody"))]
            check(parts[0] + parts[1] == whole and parts[2] == 0, f"{path}: the parts {parts} do not add up to {whole}")
    print("ledger: ok")


if __name__ == "__main__":
    main()
