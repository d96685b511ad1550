// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The processes that have a heat map of their own (user/sink/page/process_maps.ts), while samples are added;
// and the list of processes, after a choice beside a map.
//   node check_process_maps.mjs
import assert from 'node:assert';
import { load, randoms } from './page_modules.mjs';

const { ThreadList, chooseProcesses, processesOf, sumsOf } = await load('process_maps', 'threads');
const sums = numbers => new Map(Object.entries(numbers).map(([pid, samples]) => [Number(pid), { row: 0, samples }]));

assert.deepEqual(chooseProcesses([], sums({})), []);
assert.deepEqual(chooseProcesses([], sums({ 1: 9 })), [], 'one process is what the heat map of all is of');
assert.deepEqual(chooseProcesses([], sums({ 1: 9, 2: 0 })), [], 'a process without samples does not count');
assert.deepEqual(chooseProcesses([], sums({ 1: 9, 2: 3, 7: 50 })), [7, 1, 2], 'at first, those with most samples come first');
assert.deepEqual(chooseProcesses([], sums({ 1: 9, 2: 3, 3: 10, 4: 8, 5: 7 })), [3, 1, 4, 5]);
assert.deepEqual(chooseProcesses([1, 2], sums({ 1: 9, 2: 30, 3: 100 })), [1, 2, 3], 'a new one comes last');
assert.deepEqual(chooseProcesses([1, 2, 3, 4], sums({ 1: 9, 2: 5, 3: 6, 4: 7, 5: 10 })), [1, 2, 3, 4], 'a few samples more move nothing');
assert.deepEqual(chooseProcesses([1, 2, 3, 4], sums({ 1: 9, 2: 5, 3: 6, 4: 7, 5: 11 })), [1, 5, 3, 4], 'many more take the place of the fewest');
assert.deepEqual(chooseProcesses([1, 2, 3, 4], sums({ 1: 9, 2: 5, 3: 6, 4: 7, 5: 11, 6: 90, 7: 13 })), [1, 6, 7, 4]);
assert.deepEqual(chooseProcesses([1, 2, 3, 4], sums({ 1: 9, 4: 7 })), [1, 4], 'another run has other processes');

// Threads in order of their first samples: the sample from before an exec came last. Process 8 has no sample of its main thread.
const rowsOf = samples => [...sumsOf({ threads: { rows: 5, pid: [7, 7, 8, 7, 8], tid: [9, 7, 5, 7, 6] } }, samples)].map(([pid, { row }]) => [pid, row]);
assert.deepEqual(rowsOf([90, 50, 1, 1, 2]), [[7, 1], [8, 2]], 'the name that a process had in most samples');
assert.deepEqual(rowsOf([90, 50, 1, 60, 2]), [[7, 3], [8, 2]]);
assert.deepEqual(rowsOf([0, 0, 0, 0, 0]), [[7, 3], [8, 2]]);

// A thread that was renamed: rows are in the order in which its samples come, not in that of their time.
const threadsOf = samples => [...processesOf({ strings: ['new', 'old'], threads: { rows: 3, pid: [7, 7, 7], tid: [9, 9, 7], comm: [0, 1, 0] } }, samples)[0].threads.values()]
	.map(({ text, samples: own }) => [text, own]);
assert.deepEqual(threadsOf([50, 3, 1]), [['new 9', 53], ['new 7', 1]], 'the name of most samples');
assert.deepEqual(threadsOf([3, 50, 1]), [['old 9', 53], ['new 7', 1]]);

// Processes with equal shares of the samples: as long as each is within a factor of two, none moves.
const random = randoms(), taken = Object.fromEntries([1, 2, 3, 4, 5, 6].map(pid => [pid, 100]));
let shown = chooseProcesses([], sums(taken));
const first = shown;
for (let second = 0; second < 1000; second++) {
	for (let i = 0; i < 100; i++)
		taken[1 + random(6)]++;
	shown = chooseProcesses(shown, sums(taken));
	assert.deepEqual(shown, first, `after ${second} seconds`);
}
/** A profile with so many processes, of which each has a sample. */
function profileOf(rows) {
	const pid = Uint32Array.from({ length: rows }, (_, i) => 1000 + i), zeros = new Uint32Array(rows);
	return { threads: { rows, pid, tid: pid, comm: zeros, container: zeros }, strings: ['engine'] };
}

/** The samples of the threads from `first` on, each with one. */
const counts = (first, rows) => ({ rows: rows - first, group: Uint32Array.from({ length: rows - first }, (_, i) => first + i),
	samples: new Float64Array(rows - first).fill(1) });

/** A long list of processes is filled before it is opened. A choice elsewhere on the page fills it, too. */
function checkLongList() {
	const select = { options: [], value: '', addEventListener() {}, append(...more) { this.options.push(...more); },
		replaceChildren(...options) { this.options = options; } };
	globalThis.document = { activeElement: null, createElement: () => ({ append() {} }) };
	const list = new ThreadList(select), textOf = key => select.options.find(option => option.value === key)?.textContent;
	list.refresh(profileOf(300), counts(0, 300));
	list.refresh(profileOf(301), counts(300, 301));
	assert(textOf('1299').startsWith('engine 1299 – ') && textOf('1300') === undefined);
	assert.deepEqual(list.processes.get(1300), { row: 300, samples: 1 });
	list.choose('1300');
	assert.equal(select.value, '1300');
	assert(textOf('1300').startsWith('engine 1300 – 0.3'), textOf('1300'));
	list.choose('7');
	assert.equal(textOf('7'), '7 – no samples');
}

checkLongList();
console.log('process maps: ok');
