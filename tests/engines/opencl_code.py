# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""opencl_code.py ROUNDS FILE: kernels of Intel's OpenCL; their binaries are written to FILE.

Prints the CPU time of the rounds in seconds.
"""

import glob
import os
import sys
import time
import warnings

os.environ["PYOPENCL_NO_CACHE"] = "1"

import numpy as np
import pyopencl as cl

KERNELS = """
float half_root(float x) { return sqrt(x) * 0.5f + 1.0f; }
__kernel void spin(__global float *a) {
    int i = get_global_id(0);
    for (int k = 0; k < 64; k++)
        a[i] = half_root(a[i]) / (1.0f + a[i]);
}
__kernel void pass_on(__global float *a) {
    __local float shared_[64];
    int i = get_global_id(0), own = get_local_id(0);
    shared_[own] = a[i];
    for (int k = 0; k < 64; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        float next = shared_[(own + 1) % 64];
        barrier(CLK_LOCAL_MEM_FENCE);
        shared_[own] = next * 0.5f + k;
    }
    a[i] = shared_[own];
}"""


def find_runtime():
    """Makes the loader of pyopencl find the runtime, whose own entry has a path of its maker."""
    (runtime,) = glob.glob(os.path.join(sys.prefix, "lib/libintelocl.so"))
    folder = os.path.join(os.path.dirname(cl.__file__), ".libs")
    with open(os.path.join(folder, "intel.icd"), "w", encoding="utf-8") as entry:
        entry.write(runtime)


def main(rounds, path):
    find_runtime()
    warnings.simplefilter("ignore")  # about output of the compiler
    (platform,) = cl.get_platforms()
    context = cl.Context(platform.get_devices()[:1])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, KERNELS).build()
    data = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR,
                     hostbuf=np.ones(1 << 16, np.float32))
    kernels = [cl.Kernel(program, name) for name in ("spin", "pass_on")]
    begin = time.process_time()
    for _ in range(rounds):
        for kernel in kernels:
            kernel.set_args(data)
            cl.enqueue_nd_range_kernel(queue, kernel, (1 << 16,), (64,)).wait()
    print(time.process_time() - begin)
    with open(path, "wb") as out:
        out.write(b"".join(program.get_info(cl.program_info.BINARIES)))


main(int(sys.argv[1]), sys.argv[2])
