// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// When the panel of methods of a live page asks the server, and what it has then (user/sink/page/live_methods.ts), with a
// clock and a server of our own: check_methods.mjs
import assert from 'node:assert/strict';
import { load } from './page_modules.mjs';

const { LiveMethods, methodText } = await load('live_methods', 'lives');
const MOST = 4294967295;
let clock = 1000, timers = new Map(), answer = null, asked = [], pending = null;

globalThis.document = { hidden: false };
Object.defineProperty(performance, 'now', { value: () => clock });   // Node 18 allows no assignment
globalThis.setTimeout = action => {
	timers.set(timers.size + 1, action);
	return timers.size;
};
globalThis.clearTimeout = timer => { timers.delete(timer); };
globalThis.fetch = async address => {
	asked.push(address);
	const now = pending ? await pending : answer;
	if (now === null)
		throw new Error('no connection');
	return { ok: now !== 503, text: async () => now };
};

const column = values => btoa(String.fromCharCode(...values));

/** An answer with methods {name: [number, samples]}, all of module "m". */
function text(methods) {
	const names = Object.keys(methods), rows = names.length, of = value => column(names.map((name, i) => value(methods[name], i)));
	return JSON.stringify({ total: 9, strings: ['', 'm', 'php', ...names], lives: { rows, left_lives: 4, left_bytes: 5, forgotten_lives: 0,
		forgotten_bytes: 0, name: of((_, i) => 3 + i), module: of(() => 1), comm: of(() => 2), pid: of(() => 7), address: of(() => 64), bytes: of(() => 16),
		loaded: of(() => 2), ended: of(() => 0), samples: of(([, samples]) => samples), number: of(([number]) => number) } });
}

const settle = () => new Promise(done => setImmediate(done));

function made() {
	const shown = { epoch: 3, still: false, ended: false }, methods = new LiveMethods(() => shown);
	clock += 100_000;
	timers = new Map();
	asked = [];
	answer = text({ hot: [77, 5], cold: [78, 0] });
	return { methods, shown };
}

async function checkPeriod() {
	const { methods } = made();
	let changes = 0;
	methods.changed = () => { changes++; };
	methods.want([20, 40], '');
	methods.want([20, 40], '');             // the first one is under way
	await settle();
	assert.deepEqual(asked, ['methods/3/20/40/0']);
	assert.equal(changes, 1);
	const { lives } = methods;
	assert.deepEqual([...lives.number], [77, 78]);
	assert.equal(lives.strings[lives.name[0]], 'hot');
	assert.equal(lives.leftOut.lives, 4);
	clock += 1000;
	methods.want([20, 40], '');
	await settle();
	assert.equal(asked.length, 1);          // too early
	assert.equal(timers.size, 1);
	clock += 1100;
	answer = text({ hot: [77, 6] });
	methods.want([20, 40], '');
	assert.equal(timers.size, 0);
	await settle();
	assert.equal(asked.length, 2);
	assert.deepEqual([...methods.lives.samples], [6]);
	methods.want([0, Infinity], '');        // another range
	assert.equal(methods.lives, null);
	clock += 200;
	methods.want([-5, 1e12], '');
	await settle();
	assert.equal(asked[2], `methods/3/0/${MOST}/0`);
	assert.equal(methods.lives.rows, 1);
}

/** An answer that takes long is asked for less often. */
async function checkSlow() {
	const { methods } = made();
	let arrive;
	pending = new Promise(done => { arrive = done; });
	methods.want([0, 9], '');
	clock += 3000;
	arrive(answer);
	pending = null;
	await settle();
	for (const [after, count] of [[11_000, 1], [1100, 2]]) {
		clock += after;
		methods.want([0, 9], '');
		await settle();
		assert.equal(asked.length, count);
	}
}

async function checkMethod() {
	const { methods } = made();
	methods.want([20, 40], '');
	await settle();
	const method = methodText(methods.lives, 0);
	clock += 200;
	answer = text({ hot: [90, 8] });
	methods.want([20, 40], method);
	assert.equal(methods.lives, null);
	await settle();
	assert.equal(asked[1], `methods/3/0/${MOST}/77`);
	assert.deepEqual([...methods.lives.samples], [8]);
	// Its life is forgotten: another one is looked for in the range.
	clock += 3000;
	answer = '';
	methods.want([20, 40], method);
	await settle();
	assert.equal(asked[2], `methods/3/0/${MOST}/90`);
	assert.deepEqual([...methods.lives.samples], [8], 'what is known stays');
	clock += 3000;
	answer = text({ hot: [91, 9] });
	methods.want([20, 40], method);
	await settle();
	assert.equal(asked[3], 'methods/3/20/40/0');
	clock += 3000;
	methods.want([20, 40], method);
	await settle();
	assert.equal(asked[4], `methods/3/0/${MOST}/91`);
	// An address has a method that the range lacks.
	clock += 3000;
	methods.want([20, 40], 'gone~1');
	await settle();
	assert.equal(asked[5], 'methods/3/20/40/0');
	assert.equal(methods.lives.rows, 1);
}

/** The methods of a recording that was closed stay; others are asked for on demand. */
async function checkEpochs() {
	const { methods, shown } = made();
	methods.changed = () => methods.want([20, 40], '');
	methods.want([20, 40], '');
	await settle();
	const method = methodText(methods.lives, 0);
	assert.equal(methods.isOld, false);
	shown.epoch = 4;
	clock += 10_000;
	methods.want([20, 40], '');
	methods.want([20, 40], method);         // of the list that there is
	await settle();
	assert.equal(asked.length, 1);
	assert.equal(methods.isOld, true);
	assert.equal(methods.lives.rows, 2);
	answer = text({ other: [99, 1] });
	methods.renew();
	await settle();
	assert.deepEqual(asked.slice(1), ['methods/4/20/40/0']);
	assert.equal(methods.isOld, false);
	clock += 3000;
	methods.want([20, 40], method);         // numbers of lives of before are not used
	await settle();
	assert.equal(asked[2], 'methods/4/20/40/0');
}

async function checkTrouble() {
	const { methods, shown } = made();
	answer = null;
	methods.want([20, 40], '');
	await settle();
	assert.equal(methods.silent, true);
	assert.equal(methods.lives, null);
	clock += 3000;
	answer = 503;
	methods.want([20, 40], '');
	await settle();
	assert.equal(methods.silent, true);
	clock += 3000;
	answer = text({ hot: [77, 5] });
	methods.want([20, 40], '');
	await settle();
	assert.equal(methods.silent, false);
	clock += 3000;
	answer = null;
	methods.want([20, 40], '');
	await settle();
	assert.equal(methods.lives.rows, 1, 'what is known stays');
	const count = asked.length;
	clock += 30_000;
	shown.still = true;                     // paused
	methods.want([20, 40], '');
	shown.still = false;
	document.hidden = true;
	methods.want([20, 40], '');
	document.hidden = false;
	await settle();
	assert.equal(asked.length, count);
}

await checkPeriod();
await checkSlow();
await checkMethod();
await checkEpochs();
await checkTrouble();
console.log('methods: ok');
