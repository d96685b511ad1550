# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""openvino_models.py SECONDS: four threads, each of which compiles and runs models in turn.

oneDNN's kernel cache is off, so that each model has its own kernels, at addresses of earlier ones.
Prints the protection of the kernels' memory at the end.
"""

import os
import sys
import threading
import time

os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] = "0"

import numpy as np
import openvino
from openvino import opset13 as op

THREADS = 4
SETTINGS = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}


def model(channels):
    image = op.parameter([1, channels, 32, 32], np.float32)
    weights = op.constant(np.ones((32, channels, 3, 3), np.float32))
    result = op.convolution(image, weights, [1, 1], [1, 1], [1, 1], [1, 1])
    return openvino.Model([op.softmax(op.relu(result), 1)], [image], f"model_{channels}")


def work(core, number, end):
    while time.monotonic() < end:
        channels = 8 + 8 * (number % 8)
        number += 1
        request = core.compile_model(model(channels), "CPU", SETTINGS).create_infer_request()
        data = np.ones((1, channels, 32, 32), np.float32)
        for _ in range(100):
            request.infer({0: data})


def main(seconds):
    end = time.monotonic() + seconds
    threads = [threading.Thread(target=work, args=(openvino.Core(), number, end))
               for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open("/proc/self/maps", encoding="ascii") as maps:
        print(*{protection for line in maps if "w" in (protection := line.split()[1])
                and "x" in protection})


main(float(sys.argv[1]))
