/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* node_code.js ROUNDS: functions, a method and a map. Prints the CPU time of the rounds in seconds. */
"use strict";

function fib(n) {
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

class Sum {
	factor = 3;

	step(n) {
		let sum = 0;

		for (let i = 0; i < n; i++)
			sum = (sum + i * this.factor) % 1000003;
		return sum;
	}
}

function words(n) {
	const counts = new Map();

	for (let i = 0; i < n; i++) {
		const word = "word" + i % 97;

		counts.set(word, (counts.get(word) || 0) + word.length);
	}
	return counts.size;
}

const sum = new Sum(), begin = process.cpuUsage().user;

for (let round = 0; round < Number(process.argv[2]); round++)
	fib(20) + sum.step(20000) + words(5000);
console.log((process.cpuUsage().user - begin) / 1e6);
