/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* baseline.js SECONDS: calls of known callers, for V8's baseline compiler. */
"use strict";

function leaf(n) {
	let sum = 0;

	for (let i = 0; i < n; i++)
		sum = (sum + i * n) % 1000003;
	return sum;
}

function middle(n) {
	const some = leaf(n), more = leaf(n + 1);

	return some + more;
}

function outer(n) {
	return middle(n) + middle(n + 2);
}

const end = process.cpuUsage().user + Number(process.argv[2]) * 1e6;

while (process.cpuUsage().user < end) {
	for (let i = 0; i < 100; i++)
		outer(50 + i);
}
