# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""convolutions.py SECONDS: PyTorch on three threads, with kernels that oneDNN generates at first.

Prints "ready" when all kernels exist.
"""

import sys
import time

import torch

torch.set_num_threads(3)
layers = [torch.nn.Conv2d(channels, 32, 3, padding=1) for channels in (8, 16, 32)]
images = [torch.randn(8, layer.in_channels, 32, 32) for layer in layers]


def run():
    for layer, image in zip(layers, images):
        layer(image)


with torch.no_grad():
    run()
    print("ready", flush=True)
    seconds = float(sys.argv[1])
    end, cpu_end = time.monotonic() + seconds, time.process_time() + seconds
    while time.monotonic() < end or time.process_time() < cpu_end:
        run()
