# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Memory of a run without end: short processes that load code and exit, with rotation.

200,000 processes of 10 loads each; `build/tests/bench/churn 1000000 10 200` runs longer.
"""

import os
import subprocess

import measure


def report(bench, table):
    measure.make(bench, "tests/bench/churn")
    program = os.path.join(bench.build, "tests/bench/churn")
    lines = subprocess.run([program, "200000", "10", "200"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    rows = [line.split() for line in lines]
    sizes = [float(row[2]) for row in rows if len(row) == 3 and row[0].isdigit()]
    table.heading("Resident memory of the analysis over 200,000 processes and 2,000,000 loads")
    table.add("after a tenth of them", sizes[:1], "MB", 1)
    table.add("at the end", sizes[-1:], "MB", 1, aim="the same")
    table.note(lines[-1])
