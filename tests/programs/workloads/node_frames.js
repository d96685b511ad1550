/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * node_frames.js SECONDS: calls of known callers. A function NAME__CALLER is called by CALLER only.
 * Objects, closures and scripts are made anew all the time, so V8 moves and frees them.
 */
"use strict";
const vm = require("vm");

let kept = [];

function spin__price(n) {
	let sum = 0;

	for (let i = 0; i < n; i++)
		sum = (sum + i * n) % 1000003;
	return sum;
}

class Shop {
	price__main(n) {
		return spin__price(n) + spin__price(n + 1);
	}

	static open__main(n) {
		return [n, n + 1].map(each__open).length;
	}

	get stock__main() {
		return count__stock(60);
	}
}

function each__open(n) {
	const bound__each = () => scan__bound(n);

	return bound__each();
}

function scan__bound(n) {
	const all = [];

	for (let i = 0; i < n; i++)
		all.push({ i, text: "text" + i });
	kept.push(all);
	if (kept.length > 50)
		kept = [];
	return all.length;
}

function count__stock(n) {
	let text = "";

	for (let i = 0; i < n; i++)
		text += String.fromCharCode(65 + i % 26);
	return text.replace(/[AEIOU]/g, "-").length;
}

function* walk__main(n) {
	for (let i = 0; i < n; i++)
		yield step__walk(i);
}

function step__walk(n) {
	let product = 1;

	for (let i = 1; i < 40; i++)
		product = product * (i + n) % 9973;
	return product;
}

function fresh__main(n) {
	const made = new Function("n", "let s = 0; for (let i = 0; i < n; i++) s += i ^ n; return s;");

	return made(n);
}

function context__main() {
	return vm.runInThisContext("(function () { return 1; })")();
}

async function wait__main(n) {
	await null;
	return after__wait(n);
}

function after__wait(n) {
	return JSON.stringify({ n, list: [n, n, n] }).length;
}

async function main() {
	const end = process.cpuUsage().user + Number(process.argv[2]) * 1e6;
	const shop = new Shop();

	for (let turn = 0; process.cpuUsage().user < end; turn++) {
		for (let i = 0; i < 20; i++) {
			shop.price__main(200 + i);
			Shop.open__main(40 + i);
			shop.stock__main;
			for (const one of walk__main(20))
				kept.push(one);
			await wait__main(i);
		}
		fresh__main(1000 + turn % 7);
		context__main();
	}
}

main();
