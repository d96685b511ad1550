# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""wasmtime_code.py ROUNDS FILE PROFILER: a module, which is written to FILE as it was compiled.

PROFILER is wasmtime's number of it: 0 none, 2 the JIT API. Prints the CPU time of the rounds in
seconds.
"""

import sys
import time

import wasmtime
from wasmtime import _bindings

MODULE = """(module
  (func $spin (param i32) (result i32) (local i32)
    (loop $again
      (local.set 1 (i32.add (i32.mul (local.get 1) (i32.const 77)) (local.get 0)))
      (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get 1))
  (func (export "run") (param i32) (result i32) (call $spin (local.get 0))))"""

config = wasmtime.Config()
# pylint: disable=protected-access
_bindings.wasmtime_config_profiler_set(config.ptr(), int(sys.argv[3]))
engine = wasmtime.Engine(config)
module = wasmtime.Module(engine, MODULE)
store = wasmtime.Store(engine)
run = wasmtime.Instance(store, module, []).exports(store)["run"]
begin = time.process_time()
for _ in range(int(sys.argv[1])):
    run(store, 1000000)
print(time.process_time() - begin)
with open(sys.argv[2], "wb") as out:
    out.write(module.serialize())
