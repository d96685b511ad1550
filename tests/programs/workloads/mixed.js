// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// mixed.js SECONDS [ROUNDS]: recursion, objects, JSON, maps and regular expressions, for an amount of
// CPU time; with ROUNDS, for an amount of work.
'use strict';
class Point {
	constructor(x, y) { this.x = x; this.y = y; }
	distance(other) { return Math.hypot(this.x - other.x, this.y - other.y); }
}
function fibonacci(n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
function points(count) { return Array.from({length: count}, () => new Point(Math.random(), Math.random())); }
function nearest(all) {
	let least = Infinity;
	for (const a of all) for (const b of all) if (a !== b) least = Math.min(least, a.distance(b));
	return least;
}
function json(count) {
	const object = {};
	for (let i = 0; i < count; i++) object['k' + i] = {a: i, b: [i, i + 1], c: 's' + i};
	return JSON.stringify(JSON.parse(JSON.stringify(object))).length;
}
function words(count) {
	const counts = new Map();
	for (let i = 0; i < count; i++) {
		const word = 'w' + (i * 7919 % 997);
		counts.set(word, (counts.get(word) || 0) + 1);
	}
	return [...counts].sort((a, b) => b[1] - a[1]).length;
}
function match(count) {
	let found = 0;
	for (let i = 0; i < count; i++) if (/(\d+)-(\w+)/.test('abc 123-def' + i)) found++;
	return found;
}
const rounds = Number(process.argv[3] || 0);
let sum = 0;
for (let i = 0; rounds ? i < rounds : process.cpuUsage().user < 1e6 * Number(process.argv[2]); i++)
	sum += fibonacci(25) + nearest(points(400)) + json(2000) + words(30000) + match(20000);
console.log(sum);
