/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * replaced.js SECONDS: V8 replaces a frame of optimized code by those of the functions that were
 * inlined in it, when a value has another type than before. The innermost one runs for long.
 */
"use strict";

const source = `(() => {
	function leaf(n, x) {
		let sum = x.value;

		for (let i = 0; i < n; i++)
			sum = (sum + i * n) % 1000003;
		return sum;
	}

	function middle(n, x) {
		return leaf(n, x) + 1;
	}

	function outer(n, x) {
		return middle(n, x) + 1;
	}

	const x = {value: 1};

	%PrepareFunctionForOptimization(leaf);
	%PrepareFunctionForOptimization(middle);
	%PrepareFunctionForOptimization(outer);
	for (let i = 0; i < 10; i++)
		outer(5, x);
	%OptimizeFunctionOnNextCall(outer);
	outer(5, x);
	outer(500000, {other: 2, value: 1});
})()`;

const end = process.cpuUsage().user + Number(process.argv[2]) * 1e6;

/* Another source each time, so that V8 knows nothing of its types. */
for (let i = 0; process.cpuUsage().user < end; i++)
	eval(`${source} // ${i}`);
