# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""wasmtime_mixed.py SECONDS PHASES (of CPU time): modules in turn, by an engine that publishes its code and by one
that does not. The memory of a module is freed at its end, and the next one gets it.

Prints for each phase: the module's number, whether it is published, start and end (CLOCK_MONOTONIC,
ns). The names of functions end in the number.
"""

import sys
import time

import wasmtime
from wasmtime_engines import new_engine

MODULE = """(module
  (func $spin_{number} (param i32) (result i32) (local i32)
    (loop $again
      (local.set 1 (i32.add (i32.mul (local.get 1) (i32.const {number})) (local.get 0)))
      (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get 1))
  (func $outer_{number} (export "run") (param i32) (result i32)
    (call $spin_{number} (local.get 0))))"""


def phase(engine, number, published, seconds):
    store = wasmtime.Store(engine)
    module = wasmtime.Module(engine, MODULE.format(number=number))
    run = wasmtime.Instance(store, module, []).exports(store)["run"]
    began = time.monotonic_ns()
    end = time.process_time() + seconds
    while time.process_time() < end:
        run(store, 1000000)
    print(number, int(published), began, time.monotonic_ns(), flush=True)
    module.close()
    store.close()


def main(seconds, phases):
    publishing, silent = new_engine(), wasmtime.Engine()
    for number in range(1, phases + 1):
        published = number % 2 == 1
        phase(publishing if published else silent, number, published, seconds / phases)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
