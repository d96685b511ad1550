# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""openvino_kernels.py SECONDS: runs models of several kinds, each for so much CPU time."""

import sys
import time

import numpy as np
import openvino
from openvino import opset13 as op

SETTINGS = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}


def constant(*shape):
    return op.constant(np.full(shape, 0.1, np.float32))


def convolution():
    image = op.parameter([1, 64, 28, 28], np.float32)
    ones = [1, 1]
    node = op.convolution(image, constant(64, 64, 3, 3), ones, ones, ones, ones)
    node = op.group_convolution(op.gelu(node, "erf"), constant(64, 1, 1, 3, 3), ones, ones, ones, ones)
    return [op.softmax(op.swish(node), 1)], [image]


def snippets():
    """Element by element: one kernel, which also calls functions of C."""
    first, second = (op.parameter([1, 64, 40, 40], np.float32) for _ in range(2))
    node = op.multiply(op.add(first, second), op.subtract(first, second))
    node = op.divide(op.exp(op.tanh(node)), op.add(op.sigmoid(second), op.abs(first)))
    node = op.power(op.abs(node), op.constant(np.float32(1.7)))
    return [op.maximum(op.mish(op.hswish(op.erf(node))), first)], [first, second]


def attention():
    """brgemm, and kernels that copy for it."""
    query, key, value = (op.parameter([2, 128, 12, 64], np.float32) for _ in range(3))

    def transposed(node, order):
        return op.transpose(node, op.constant(np.array(order)))

    scores = op.matmul(transposed(query, [0, 2, 1, 3]), transposed(key, [0, 2, 3, 1]), False, False)
    node = op.matmul(op.softmax(scores, -1), transposed(value, [0, 2, 1, 3]), False, False)
    return [transposed(node, [0, 2, 1, 3])], [query, key, value]


def perceptron():
    """brgemm, with functions of its results."""
    data = op.parameter([64, 256], np.float32)
    node = op.matmul(data, constant(256, 512), False, False)
    node = op.gelu(op.add(node, constant(1, 512)), "tanh")
    return [op.swish(op.matmul(node, constant(512, 256), False, False))], [data]


def run(core, make, seconds):
    results, parameters = make()
    model = openvino.Model(results, parameters, make.__name__)
    request = core.compile_model(model, "CPU", SETTINGS).create_infer_request()
    data = {number: np.ones(list(parameter.get_output_shape(0)), np.float32)
            for number, parameter in enumerate(parameters)}
    end = time.process_time() + seconds
    while time.process_time() < end:
        request.infer(data)


for make in (convolution, snippets, attention, perceptron):
    run(openvino.Core(), make, float(sys.argv[1]))
