# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""wasmtime_engines.py SECONDS PHASES: modules in turn, by two engines, then by one engine.

The second engine is closed after its only module. Prints the start and end of each phase
(CLOCK_MONOTONIC, ns); its functions have its number in their names.
"""

import sys
import time

import wasmtime
from wasmtime import _bindings

VTUNE = 2
MODULE = """(module
  (func $spin_{number} (param i32) (result i32) (local i32)
    {padding}
    (loop $again
      (local.set 1 (i32.add (i32.mul (local.get 1) (i32.const {number})) (local.get 0)))
      (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get 1))
  (func $outer_{number} (export "run") (param i32) (result i32)
    (call $spin_{number} (local.get 0))))"""
PADDING = "(local.set 1 (i32.xor (i32.mul (local.get 1) (i32.const 77)) (local.get 0)))\n"


def new_engine():
    config = wasmtime.Config()
    _bindings.wasmtime_config_profiler_set(config.ptr(), VTUNE)
    return wasmtime.Engine(config)


def phase(engine, number, seconds):
    store = wasmtime.Store(engine)
    # Of another size than the previous module, so that it overlaps two old ones.
    text = MODULE.format(number=number, padding=PADDING * (number % 3 * 20))
    run = wasmtime.Instance(store, wasmtime.Module(engine, text), []).exports(store)["run"]
    began = time.monotonic_ns()
    while time.monotonic_ns() - began < seconds * 1e9:
        run(store, 1000000)
    print(number, began, time.monotonic_ns(), flush=True)


def main(seconds, phases):
    first, second = new_engine(), new_engine()
    phase(first, 1, seconds / phases)
    phase(second, 2, seconds / phases)
    second.close()
    for number in range(3, phases + 1):
        phase(first, number, seconds / phases)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
