# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""numba_lines.py SECONDS OBJECT: two hot lines; numba's object file is written to OBJECT."""

import sys
import time

import numpy as np
from numba import njit


@njit
def hot(a, rounds):
    total = 0.0
    for _ in range(rounds):
        for i in range(a.size):
            total += a[i] / (1.0 + total * total)  # divide
        for i in range(a.size):
            total += np.sqrt(total + a[i])  # root
    return total


data = np.ones(10000)
hot(data, 1)
library = hot.overloads[hot.signatures[0]].library
with open(sys.argv[2], "wb") as out:
    # pylint: disable=protected-access
    out.write(library._codegen._tm.emit_object(library._final_module))
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    hot(data, 50)
