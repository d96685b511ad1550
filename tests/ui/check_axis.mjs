// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The axis below the time line (user/sink/page/time_axis.ts), for runs of all lengths.
//   node check_axis.mjs
import assert from 'node:assert';
import { load } from './page_modules.mjs';

const { axisTimes, timeText } = await load('time_axis');
const texts = (seconds, width) => axisTimes(seconds, width).map(timeText);

assert.deepEqual(texts(.5, 1000), ['0 s', '0.05 s', '0.1 s', '0.15 s', '0.2 s', '0.25 s', '0.3 s', '0.35 s', '0.4 s', '0.45 s']);
assert.deepEqual(texts(2.5, 300), ['0 s', '0.5 s', '1 s', '1.5 s', '2 s']);
assert.deepEqual(texts(95, 300), ['0 s', '30 s', '1:00']);
assert.deepEqual(texts(4200, 700), ['0 s', '10:00', '20:00', '30:00', '40:00', '50:00', '1:00 h']);
assert.deepEqual(texts(86400, 700), ['0 s', '3:00 h', '6:00 h', '9:00 h', '12:00 h', '15:00 h', '18:00 h', '21:00 h']);
assert.deepEqual(axisTimes(10, 0), []);

/** A live run grows: a label stays the same, and disappears at most once, when it gets too close to the next one. */
for (const width of [300, 700, 1060]) {
	const gone = new Set();
	let before = [];
	for (let seconds = .05; seconds < 10 * 86400; seconds = Math.round((seconds * 1.01 + .05) * 20) / 20) {
		const times = axisTimes(seconds, width).map(time => Math.round(time * 100)), labels = times.map(time => timeText(time / 100));
		assert(times[0] === 0, `${seconds} s on ${width} pixels: ${labels}`);
		assert(seconds < 1 || times.length > 1, `${seconds} s on ${width} pixels: ${labels}`);
		assert(times.length < 25 && new Set(labels).size === labels.length, `${seconds} s: ${labels}`);
		for (const time of before)
			if (!times.includes(time))
				gone.add(time);
		assert(!times.some(time => gone.has(time)), `${seconds} s on ${width} pixels: ${labels} has come again`);
		before = times;
	}
}
console.log('axis: ok');
